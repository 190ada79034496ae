#!/bin/sh
# Made by sbxc 0.1.0 from a policy: review sha256:280b2127e61cfd78bb4252bc62acbfee3792b6c1cd1a5db0e68fe11deedf5e42 exceptions=none
# Edits belong in the .sbx file; this script is then made again.
#
# Runs "$@" in bubblewrap. Beside it lies its seccomp program, of the same name with .bpf.
# SBX_WORK: $WORK; without it $PWD
# SBX_HOME: $HOME; without it ${HOME:-}
# SBX_TMP: $TMP; without it ${TMPDIR:-/tmp}
# Left out: without --env NAME=VALUE these granted variables do not pass in: PATH, HOME, USER, LOGNAME, SHELL, LANG, LANGUAGE, LC_*, TZ, PAGER, LESS, LESSCHARSET, EDITOR, VISUAL, MANPATH, XDG_CONFIG_HOME, XDG_CACHE_HOME, XDG_DATA_HOME, XDG_STATE_HOME, XDG_CONFIG_DIRS, XDG_DATA_DIRS, CC, CXX, CFLAGS, CXXFLAGS, CPPFLAGS, LDFLAGS, AR, MAKEFLAGS, PKG_CONFIG_PATH, CMAKE_PREFIX_PATH, CMAKE_GENERATOR, LD_LIBRARY_PATH, LIBRARY_PATH, CPATH, PYTHONPATH, PYTHONHOME, VIRTUAL_ENV, PYENV_ROOT, PYENV_VERSION, CONDA_PREFIX, CONDA_DEFAULT_ENV, GOPATH, GOROOT, GOFLAGS, CARGO_HOME, RUSTUP_HOME, RUSTUP_TOOLCHAIN, RUSTFLAGS, JAVA_HOME, MAVEN_OPTS, GRADLE_OPTS, NODE_PATH, NODE_ENV, NODE_OPTIONS, NVM_DIR, NVM_BIN, DOTNET_ROOT, VCPKG_ROOT, PSModulePath, GEM_HOME, GEM_PATH, SSL_CERT_FILE, SSL_CERT_DIR, NODE_EXTRA_CA_CERTS, REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE, GIT_SSL_CAINFO, GIT_AUTHOR_NAME, GIT_AUTHOR_EMAIL, GIT_AUTHOR_DATE, GIT_COMMITTER_NAME, GIT_COMMITTER_EMAIL, GIT_COMMITTER_DATE, GIT_EDITOR, GIT_PAGER, GIT_TERMINAL_PROMPT, TERM, COLORTERM, TERMINFO, TERMINFO_DIRS, TERM_PROGRAM, TERM_PROGRAM_VERSION, COLUMNS, LINES, NO_COLOR, FORCE_COLOR, CLICOLOR, CLICOLOR_FORCE, LS_COLORS
# Scratch comes without Unix sockets: accept socket.path on bwrap would open them.
set -eu
LC_ALL=C
# The workspace may have put programs into the caller's PATH; the command gets the policy's own PATH.
PATH=/usr/bin:/bin
export LC_ALL PATH
unset CDPATH
newline='
'
tab=$(printf '\t')
set -f
IFS=$newline
rules='' places='' scratch=no network=closed start='' files=any crossed='' homes=''

refuse() {
    printf '%s: %s\n' "$0" "$1" >&2
    exit 125
}

# Follows $1 to its end, which need not exist: $real is the end, $passed the links on the way, one a line.
follow() {
    real='' passed='' ahead=$1 hops=0
    while [ -n "$ahead" ]; do
        step=${ahead%%/*}
        case $ahead in
        */*) ahead=${ahead#*/} ;;
        *) ahead='' ;;
        esac
        case $step in
        '' | .) continue ;;
        ..)
            real=${real%/*}
            continue
            ;;
        esac
        real=$real/$step
        [ -L "$real" ] || continue
        hops=$((hops + 1))
        [ "$hops" -le 40 ] || refuse "$1: too many symbolic links"
        text=$(readlink -- "$real" && echo .) || refuse "$real: the symbolic link cannot be read"
        text=${text%"$newline".}
        case $text in
        *[[:cntrl:]]*) refuse "$real is a symbolic link to a name with control characters" ;;
        esac
        passed=$passed$real$newline real=${real%/*} ahead=$text/$ahead
        case $text in
        /*) real='' ;;
        esac
    done
    [ -n "$real" ] || real=/
}

# Sets the variable $1 to the real directory that $2 is.
root() {
    case $2 in
    *[[:cntrl:]]*) refuse "a root must not hold control characters" ;;
    /*) ;;
    *) refuse "a root must be an absolute path: $2" ;;
    esac
    follow "$2"
    crossed=$crossed$passed
    eval "$1=\$real"
}

# Whether $1 is the root, a home directory or a directory above one.
case ${HOME:-} in
/*)
    follow "$HOME"
    homes=$real$newline
    ;;
esac
wide() {
    above=${1%/}
    [ -n "$above" ] || return 0
    for below in $homes; do
        case $below/ in
        "$above"/*) return 0 ;;
        esac
    done
    return 1
}

# The rules that follow are kept one a line: path, kind, value, exceptions.
rank() {
    case $1 in
    none) value=0 ;;
    read) value=1 ;;
    write) value=2 ;;
    esac
}
keep() {
    rules=$rules${2%/}$tab$1$tab$value${3:-}$newline
    places=$places$2$newline
}
grant() { rank "$1"; keep grant "$2"; }
auto() { rank "$1"; keep auto "$2"; }
deny() {
    rank "$1"
    denied=$2 lifted=''
    shift 2
    for except in "$@"; do
        lifted=$lifted$tab$except
        places=$places$except$newline
    done
    keep deny "$denied" "$lifted"
}
socket() { value=0; keep socket "$1"; }
deny_socket() { value=0; keep deny_socket "$1"; }
limit_read() { value=0; keep limit_read "$1"; }
limit_write() { value=0; keep limit_write "$1"; }
limits() { rules=$rules$tab"limits_$1"$tab$newline; }
layer() { rules=$rules${tab}layer$tab$newline; }

# The policy.
root SBX_WORK "${SBX_WORK:-$PWD}"
root SBX_HOME "${SBX_HOME:-${HOME:-}}"
homes=$homes$SBX_HOME$newline
[ -n "$(find "$SBX_HOME" -prune -user "$(id -u)")" ] || refuse "$SBX_HOME is not yours"
root SBX_TMP "${SBX_TMP:-${TMPDIR:-/tmp}}"
scratch=yes
start=$SBX_WORK
! wide "$SBX_WORK" || refuse "$SBX_WORK is too wide"
grant read "$SBX_WORK"
auto read "/usr"
auto read "/bin"
auto read "/sbin"
auto read "/lib"
auto read "/lib32"
auto read "/lib64"
auto read "/libx32"
auto read "/nix/store"
auto read "/run/current-system"
auto read "/gnu/store"
auto read "/etc/alternatives"
auto read "/etc/ld.so.cache"
auto read "/etc/ld.so.conf"
auto read "/etc/ld.so.conf.d"
auto read "/etc/passwd"
auto read "/etc/group"
auto read "/etc/nsswitch.conf"
auto read "/etc/shells"
auto read "/etc/hosts"
auto read "/etc/host.conf"
auto read "/etc/hostname"
auto read "/etc/resolv.conf"
auto read "/etc/gai.conf"
auto read "/etc/services"
auto read "/etc/protocols"
auto read "/etc/networks"
auto read "/etc/rpc"
auto read "/etc/ethertypes"
auto read "/etc/localtime"
auto read "/etc/timezone"
auto read "/etc/locale.conf"
auto read "/etc/locale.alias"
auto read "/etc/default/locale"
auto read "/etc/os-release"
auto read "/etc/lsb-release"
auto read "/etc/debian_version"
auto read "/etc/redhat-release"
auto read "/etc/fedora-release"
auto read "/etc/alpine-release"
auto read "/etc/arch-release"
auto read "/etc/profile"
auto read "/etc/profile.d"
auto read "/etc/environment"
auto read "/etc/inputrc"
auto read "/etc/terminfo"
auto read "/etc/bash.bashrc"
auto read "/etc/bashrc"
auto read "/etc/bash_completion.d"
auto read "/etc/zsh"
auto read "/etc/zshrc"
auto read "/etc/zshenv"
auto read "/etc/zprofile"
auto read "/etc/ssl/certs"
auto read "/etc/ssl/cert.pem"
auto read "/etc/ssl/openssl.cnf"
auto read "/etc/pki/ca-trust"
auto read "/etc/pki/tls/certs"
auto read "/etc/pki/tls/cert.pem"
auto read "/etc/pki/tls/openssl.cnf"
auto read "/etc/ca-certificates"
auto read "/etc/ca-certificates.conf"
auto read "/etc/crypto-policies"
auto read "/etc/gnutls"
auto read "/var/lib/ca-certificates"
auto read "/etc/xml"
auto read "/etc/sgml"
auto read "/etc/mime.types"
auto read "/etc/magic"
auto read "/etc/magic.mime"
auto read "/etc/fonts"
auto read "/etc/xdg"
auto read "/etc/papersize"
auto read "/etc/groff"
auto read "/etc/manpath.config"
auto read "/etc/vim"
auto read "/etc/vimrc"
auto read "/etc/nanorc"
auto read "/etc/wgetrc"
auto read "/etc/gitconfig"
auto read "/etc/gitattributes"
auto read "/etc/gdb"
auto read "/etc/lldb"
auto read "/etc/perl"
auto read "/etc/python3"
auto read "/etc/python3.11"
auto read "/etc/python3.12"
auto read "/etc/python3.13"
auto read "/etc/maven"
auto read "/etc/gradle"
auto read "/etc/java"
auto read "/etc/java-8-openjdk"
auto read "/etc/java-11-openjdk"
auto read "/etc/java-17-openjdk"
auto read "/etc/java-21-openjdk"
auto read "/etc/java-25-openjdk"
auto read "/etc/R"
auto read "/etc/texmf"
auto read "/var/lib/texmf"
auto read "/etc/emacs"
auto read "/etc/X11/rgb.txt"
auto read "/etc/ImageMagick-6"
auto read "/etc/ImageMagick-7"
auto read "/etc/OpenCL"
auto read "/etc/vulkan"
auto read "/etc/glvnd"
auto read "/var/cache/fontconfig"
auto read "$SBX_HOME/.terminfo"
auto read "$SBX_HOME/.inputrc"
auto read "/etc/terminfo"
auto read "/lib/terminfo"
auto read "/usr/share/terminfo"

command -v bwrap >/dev/null || refuse "bubblewrap (bwrap) is not installed"
[ $# -gt 0 ] || refuse "usage: $0 COMMAND [ARG ...]"
set +f
for descriptor in "/proc/$$/fd"/*; do
    [ ! -d "$descriptor" ] || refuse "descriptor ${descriptor##*/} is an open directory; close it first"
done
set -f

# The script and its program may be read and not changed.
case $0 in
*[[:cntrl:]]*) refuse "the script's name must not hold control characters" ;;
/*) follow "$0" ;;
*) follow "$(pwd -P)/$0" ;;
esac
crossed=$crossed$passed
bpf=${real%.sh}.bpf
for file in "$real" "$bpf"; do
    follow "$file"
    [ -f "$real" ] || refuse "$file is missing"
    crossed=$crossed$passed
    deny read "$real"
done
exec 3<&- 4<&- 5<&- 6<&- 7<&- 8<&- 9<"$bpf"

begin_layer() {
    longest=-1 granted=0 automatic=0 cap=2
    limits_read=no limits_write=no in_read=no in_write=no
}
end_layer() {
    if [ "$limits_write" = yes ] && [ "$in_write" = no ] && [ "$cap" -gt 1 ]; then cap=1; fi
    if [ "$limits_read" = yes ] && [ "$in_read" = no ] && [ "$in_write" = no ]; then cap=0; fi
    if [ "$managed" = no ]; then
        reached=$longest own=$granted
        [ "$longest" -ge 0 ] || granted=$automatic
        level=$granted
    fi
    [ "$cap" -ge "$closest" ] || closest=$cap
    [ "$closest" -ge "$level" ] || level=$closest
}
excepted() {
    IFS=$tab
    for except in $2; do
        case $1/ in
        "$except"/*) IFS=$newline; return 0 ;;
        esac
    done
    IFS=$newline
    return 1
}

# What the rules leave at the path $1: level, and whether it is a socket that may be used.
level_at() {
    level=0 closest=2 managed=no socket=no
    begin_layer
    for rule in $rules "${tab}layer"; do
        path=${rule%%"$tab"*}
        case $1/ in
        "$path"/*) ;;
        *) continue ;;
        esac
        rest=${rule#*"$tab"}
        kind=${rest%%"$tab"*} rest=${rest#*"$tab"}
        value=${rest%%"$tab"*} rest=${rest#"$value"}
        case $kind in
        grant)
            # The longest path decides; at the same path the lower level.
            if [ ${#path} -gt "$longest" ]; then
                longest=${#path} granted=$value
            elif [ ${#path} -eq "$longest" ] && [ "$value" -lt "$granted" ]; then
                granted=$value
            fi
            ;;
        auto) [ "$value" -le "$automatic" ] || automatic=$value ;;
        deny) [ "$value" -ge "$cap" ] || excepted "$1" "$rest" || cap=$value ;;
        socket) [ "$socket" = never ] || socket=yes ;;
        deny_socket) socket=never ;;
        limits_read) limits_read=yes ;;
        limits_write) limits_write=yes ;;
        limit_read) in_read=yes ;;
        limit_write) in_write=yes ;;
        layer)
            end_layer
            begin_layer
            managed=yes
            ;;
        esac
    done
    if [ "$socket" = yes ] && [ "$closest" = 2 ] && [ -S "$1" ]; then level=2; fi
}

# The first of the links $1 that lies where the command may write; empty if there is none.
find_planted() {
    for planted in $1; do
        level_at "${planted%/*}"
        [ "$level" -lt 2 ] || return 0
    done
    planted=''
}

# A deny holds at the end of its path too, wherever links lead on the way. A grant that leads to a place which
# another one opens further would have to lower it there.
hold_behind_links() {
    written=$rules
    for entry in $written; do
        named=${entry%%"$tab"*} tail=${entry#*"$tab"}
        act=${tail%%"$tab"*} tail=${tail#*"$tab"}
        case $act in
        deny | deny_socket | grant) ;;
        *) continue ;;
        esac
        follow "$named"
        [ -n "$passed" ] || continue
        case $act in
        grant)
            level_at "$real"
            [ "$level" -le "${tail%%"$tab"*}" ] || refuse "$named leads to $real, which another rule opens further"
            ;;
        *)
            crossed=$crossed$passed
            rules=${real%/}$tab$act$tab$tail$newline$rules
            places=$places$real$newline
            ;;
        esac
    done
    find_planted "$crossed"
    [ -z "$planted" ] ||
        refuse "$planted is a symbolic link that the command could replace; only sbx-launch can hold a rule behind it"
}

# Whether something may be shown below the denied directory $1.
shown_below() {
    for path in $places; do
        case $path in
        "$1"/*) return 0 ;;
        esac
    done
    return 1
}

# The first symbolic link on the way from $1, without it, down to $2; empty if there is none.
first_link() {
    link=$1 rest=${2#"$1"/}
    while :; do
        link=$link/${rest%%/*}
        [ ! -L "$link" ] || return 0
        case $rest in
        */*) rest=${rest#*/} ;;
        *) break ;;
        esac
    done
    link=''
}

# Descriptors for masked files: 3 to 8 in any shell, more where the shell can name them.
masks=0
mask_descriptor() {
    masks=$((masks + 1))
    descriptor=$((masks + 2))
    [ "$descriptor" -le 8 ] || descriptor=$((masks + 13))
}
open_masks() {
    count=$masks masks=0
    while [ "$masks" -lt "$count" ]; do
        mask_descriptor
        if [ "$descriptor" -gt 9 ] && ! (eval "exec $descriptor</dev/null") 2>/dev/null; then
            refuse "this shell cannot open $count descriptors; run the script with bash"
        fi
        eval "exec $descriptor</dev/null"
    done
}

hold_behind_links

# From here on "$@" is the command, and after it bubblewrap's arguments.
words=$#
set -- "$@" --unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup
[ "$network" = open ] || set -- "$@" --unshare-net
set -- "$@" --cap-drop ALL --die-with-parent --new-session --seccomp 9 --clearenv
set -- "$@" --dev /dev --perms 1777 --tmpfs /dev/shm --proc /proc
for entry in acpi asound bus driver fs irq mtrr pressure scsi sys sysrq-trigger; do
    set -- "$@" --ro-bind-try "/proc/$entry" "/proc/$entry"
done
if [ "$scratch" = yes ]; then
    set -- "$@" --perms 1777 --tmpfs /tmp
    places=$places${SBX_TMP:-}$newline
fi

# Each place in order, from shallow to deep: the level that it has, and the mount in which it lies.
top='' given=0 over=base stack='' pins=$newline links=$newline
for place in $(printf '%s' "$places" | tr / '\001' | sort -u | tr '\001' /) /; do
    while :; do
        case $place/ in
        "$top"/*) break ;;
        esac
        [ "$over" != mask ] || set -- "$@" --remount-ro "$top"
        entry=${stack%%"$newline"*} stack=${stack#*"$newline"}
        over=${entry%% *} entry=${entry#* }
        given=${entry%% *} top=${entry#* }
    done
    case $place in
    / | /dev | /dev/null | /dev/zero | /dev/full | /dev/random | /dev/urandom) continue ;;
    /dev/pts | /dev/pts/* | /dev/ptmx | /dev/tty | /dev/shm | /proc) continue ;;
    esac
    [ -e "$place" ] || [ -L "$place" ] || continue
    level_at "$place"
    if [ "$scratch" = yes ]; then
        [ "$place" != /tmp ] || continue
        [ "$place" != "${SBX_TMP:-/tmp}" ] || level=0
    fi
    first_link "$top" "$place"
    if [ -n "$link" ] && [ "$over" = host ]; then
        # A link inside a granted directory grants nothing; what lies behind it cannot be hidden from here.
        [ "$level" -lt "$given" ] || continue
        refuse "$link is a symbolic link; only sbx-launch can hold a rule behind it"
    elif [ -n "$link" ]; then
        # A denied directory's links are left out: an earlier run may have put them there.
        [ "$level" -gt 0 ] || continue
        [ "$over" != mask ] || continue
        if [ "$link" = "$place" ] && [ -f "$place" ]; then
            wanted=$level
            follow "$place"
            case $real in
            /dev/* | /proc/*) continue ;;
            esac
            find_planted "$passed"
            [ -z "$planted" ] || continue
            level_at "$real"
            [ "$closest" -ge "$wanted" ] || wanted=$closest
            [ "$reached" -lt "${#real}" ] || [ "$own" -ge "$wanted" ] || wanted=$own
            [ "$wanted" -gt 0 ] || continue
            option=--ro-bind
            [ "$wanted" = 1 ] || option=--bind
            set -- "$@" "$option" "$real" "$place"
        else
            case $links in
            *"$newline$link$newline"*) ;;
            *) set -- "$@" --symlink "$(readlink -- "$link")" "$link" ;;
            esac
            links=$links$link$newline
        fi
        continue
    fi
    case $place in
    /proc/*)
        [ "$closest" = 0 ] || continue
        ;;
    *) [ "$level" != "$given" ] || continue ;;
    esac
    if [ "$given" = 2 ]; then
        # A directory above it that is renamed would take the mount along; a mount point cannot be renamed.
        pin=$top rest=${place#"$top"/}
        while :; do
            case $rest in
            */*) ;;
            *) break ;;
            esac
            pin=$pin/${rest%%/*} rest=${rest#*/}
            case $pins in
            *"$newline$pin$newline"*) continue ;;
            esac
            pins=$pins$pin$newline
            set -- "$@" --bind "$pin" "$pin"
        done
    fi
    if [ "$level" = 0 ] && [ ! -d "$place" ]; then
        mask_descriptor
        set -- "$@" --perms 0000 --ro-bind-data "$descriptor" "$place"
        continue
    fi
    stack="$over $given $top$newline$stack" top=$place given=$level over=host
    if [ "$level" = 0 ]; then
        over=mask mode=0000
        ! shown_below "$place" || mode=0111
        set -- "$@" --perms "$mode" --tmpfs "$place"
    else
        option=--ro-bind
        [ "$level" = 1 ] || option=--bind
        case $option$place in
        --bind/dev/*) option=--dev-bind ;;
        esac
        set -- "$@" "$option" "$place" "$place"
    fi
done
set -- "$@" --remount-ro /dev --remount-ro /
set -- "$@" --setenv TMPDIR "/tmp"
set -- "$@" --setenv TMP "/tmp"
set -- "$@" --setenv TEMP "/tmp"
if [ -n "$start" ]; then
    level_at "$start"
    [ "$level" = 0 ] || set -- "$@" --chdir "$start"
fi
open_masks
set -- "$@" --
while [ "$words" -gt 0 ]; do
    set -- "$@" "$1"
    shift
    words=$((words - 1))
done
# shellcheck disable=SC3045 # every shell in use has it
[ "$files" = any ] || ulimit -n "$files"
exec bwrap "$@"
