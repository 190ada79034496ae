#!/bin/sh
# portable.sh OBJECTS_DIRECTORY SOURCE ... - fails if what macOS builds calls a function or includes a header that only
# Linux has, or names a member of struct stat that macOS calls otherwise. That the rest is declared, compiling has shown.
set -eu
objects=$1
shift
headers='#include <(linux/.*|sys/(prctl|syscall|signalfd|timerfd|eventfd|epoll|inotify|auxv|sendfile|sysmacros)\.h|sched\.h)>'
calls='getrandom|getauxval|syscall|prctl|explicit_bzero|reallocarray|sigtimedwait|sigwaitinfo|sigqueue|timer_create|
clock_nanosleep|pthread_condattr_setclock|pthread_clockjoin_np|fexecve|fdatasync|posix_fallocate|sem_timedwait|signalfd|
epoll_.*|timerfd_.*|inotify_.*|eventfd|memfd_create|mremap|pipe2|accept4|dup3|setres[ug]id|execvpe|secure_getenv|
strchrnul|mempcpy|rawmemchr|scandirat|openat2|statx|renameat2|getdents64|fopencookie|ppoll|unshare|setns|mount|umount2'
found=0
if grep -nE "$headers|st_[acm]tim\\b" "$@"; then
    found=1
fi
pattern=" U ($(printf '%s' "$calls" | tr -d '\n'))(@.*)?\$"
if find "$objects" -name '*.o' -exec nm -A -u {} + | grep -E "$pattern"; then
    found=1
fi
if [ "$found" = 1 ]; then
    echo "portable: the lines above need Linux" >&2
    exit 1
fi
