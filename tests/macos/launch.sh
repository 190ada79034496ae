#!/bin/sh
# launch.sh BUILD - on a Mac: launches under the system's own sandbox-exec, and looks at what was held. Ends by the line
# `N passed, N failed`.
set -eu
build=$(cd "$1" && pwd -P)
top=$(cd "$(mktemp -d)" && pwd -P)
trap 'rm -rf "$top"' EXIT
mkdir "$top/work" "$top/outside"
cd "$top/work"
echo secret >.env
echo secret >"$top/outside/file"
echo plain >file
cat >"$top/policy.sbx" <<'POLICY'
sbx 1
policy "launch"
use std/system
grant write $WORK
grant env PATH, HOME
grant scratch
deny $WORK/.env
deny $WORK/later
POLICY
"$build/sbxc" "$top/policy.sbx" --os macos -o "$top/policy.bin"

passed=0 failed=0
# expect CODE WHAT COMMAND...: the launch ends with CODE; `not 0` for CODE x means any other.
expect() {
    wanted=$1 what=$2
    shift 2
    code=0
    "$build/sbx-launch" "$top/policy.bin" -- "$@" >"$top/output" 2>&1 || code=$?
    if [ "$code" = "$wanted" ] || { [ "$wanted" = x ] && [ "$code" != 0 ] && [ "$code" != 125 ]; }; then
        passed=$((passed + 1))
        echo "ok $what"
    else
        failed=$((failed + 1))
        echo "FAIL $what: exit $code"
        cat "$top/output"
    fi
}

expect 0 "a command runs" /usr/bin/true
expect 7 "the exit code is the command's own" /bin/sh -c 'exit 7'
expect 127 "a missing command is 127" no-such-command
expect 0 "a granted file can be read" /bin/cat file
expect 0 "a granted directory can be written" /usr/bin/touch new
expect x "a denied file cannot be read" /bin/cat .env
expect x "a denied file cannot be moved away" /bin/mv .env seen
expect x "a denied file gets no further name" /bin/ln .env seen
expect x "a missing denied path cannot be made" /usr/bin/touch later
expect x "what no rule grants cannot be read" /bin/cat "$top/outside/file"
expect x "what no rule grants cannot be written" /usr/bin/touch "$top/outside/new"
expect x "the network is closed" /usr/bin/nc -z -w 2 1.1.1.1 443
# shellcheck disable=SC2016 # the shell inside expands it
expect 0 "scratch can be written" /bin/sh -c 'echo x >"$TMPDIR/x"'
expect x "no second sandbox can be made inside" /usr/bin/sandbox-exec -p '(version 1)(allow default)' /usr/bin/true
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
