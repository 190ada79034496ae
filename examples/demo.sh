#!/bin/sh
# demo.sh BUILD - compiles examples/acme-web/project.sbx and shows what holds when a command runs under it.
set -eu
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/sbx-demo.XXXXXX")
trap 'rm -rf "$work"' EXIT
cp -R "$here/acme-web/." "$work"
cd "$work"
mkdir -p secrets src
echo 'DATABASE_PASSWORD=hunter2' >.env
echo 'a private key' >secrets/database.key
failures=0

# try MESSAGE yes|no COMMAND: runs COMMAND under the policy and says whether it could do what it tried.
try() {
    message=$1 wanted=$2
    shift 2
    printf '\n$ sbx-launch policy.bin -- sh -c "%s"\n' "$*"
    status=0
    "$build/sbx-launch" policy.bin -- sh -c "$*" || status=$?
    answer=no
    [ "$status" -eq 0 ] && answer=yes
    if [ "$status" -eq 125 ]; then
        answer='the launcher refused'
    fi
    printf '%s: %s\n' "$message" "$answer"
    [ "$answer" = "$wanted" ] || failures=$((failures + 1))
}

echo '$ sbxc project.sbx -o policy.bin'
"$build/sbxc" project.sbx -o policy.bin

try 'a write in the workspace' yes 'echo hello > src/hello.txt && cat src/hello.txt'
try 'a write outside of it' no 'echo hello > /usr/hello.txt'
try 'a write to what the policy protects' no 'mkdir -p .github/workflows && echo evil > .github/workflows/ci.yml'
try 'reading the secret .env' no 'cat .env'
try 'reading a key in secrets/' no 'cat secrets/database.key'
try 'moving secrets/ away and reading it there' no 'mv secrets s && cat s/database.key'
try 'finding a way to the network' no "bash -c 'exec 3<>/dev/udp/192.0.2.1/53'"

printf '\n$ sbxc why project.sbx read %s\n' "'\$WORK/.env'"
# shellcheck disable=SC2016 # $WORK is sbxc's, not the shell's
"$build/sbxc" why project.sbx read '$WORK/.env' || true

[ -f src/hello.txt ] || failures=$((failures + 1))
[ ! -e .github ] || failures=$((failures + 1))
printf '\n'
if [ "$failures" -gt 0 ]; then
    echo "demo: $failures of the answers above are not what the policy says" >&2
    exit 1
fi
echo 'demo: every answer above is what the policy says; nothing was left behind'
