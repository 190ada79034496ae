#!/bin/sh
# mutation.sh - shows that the property test can fail.
#
# In a copy of the tree it breaks one rule of the language at a time, builds sbxc, and expects tests/property/run.py to
# find a question that it answers wrongly. A mutation that does not apply, build, or come out is a failure.
#
#     tests/mutation.sh [NAME ...]           the build directory comes from SBX_BUILD, else it is build/
set -u

tree=$(cd "$(dirname "$0")/.." && pwd)
build=${SBX_BUILD:-$tree/build}
copy=$(mktemp -d "${TMPDIR:-/tmp}/sbx-mutation-XXXXXX")
trap 'rm -rf "$copy"' EXIT
trap 'exit 1' HUP INT TERM
passed=0
failed=0

# Objects come along, so that each mutation compiles one file and links.
cp -a "$tree/Makefile" "$tree/base" "$tree/grammar" "$tree/policy" "$tree/compiler" "$tree/emitters" "$tree/runtime" \
    "$tree/tests" "$copy/"
cp -a "$build" "$copy/build"

fail() {
    echo "FAIL $1: $2"
    failed=$((failed + 1))
}

# mutation NAME FILE SED-SCRIPT: what holds without it is NAME; the script must change exactly one line of FILE.
mutation() {
    name=$1 file=$copy/$2 script=$3
    cp -p "$file" "$copy/original"
    sed "$script" "$copy/original" > "$file"
    changed=$(diff "$copy/original" "$file" | grep -c '^>')
    if [ "$changed" != 1 ]; then
        fail "$name" "changes $changed lines of $2, not one"
    elif ! make -C "$copy" build/sbxc > "$copy/log" 2>&1; then
        fail "$name" "does not build"
        cat "$copy/log"
    elif python3 "$copy/tests/property/run.py" --build "$copy/build" --count 20000 > "$copy/log" 2>&1; then
        fail "$name" "not found"
    elif ! grep -q 'sbxc and the oracle disagree' "$copy/log"; then
        fail "$name" "the property test did not run"
        cat "$copy/log"
    else
        echo "found: $name"
        passed=$((passed + 1))
    fi
    cp -p "$copy/original" "$file"
    touch "$file"
}

layers() {
    mutation "the lowest layer decides" policy/decide.c \
        's/level_min(level, \(layer_level([^)]*)\))/level > \1 ? level : \1/'
}
grants() {
    mutation "the longest grant decides" policy/question.c \
        's/if (mark->configured != 0)/if (mark->configured != 0 \&\& opened.configured == 0)/'
}
automatic() {
    mutation "automatic grants only fill gaps" policy/decide.c \
        's/opened.configured != 0 ?/opened.configured > opened.automatic ?/'
}
denies() {
    mutation "no grant lifts a deny" policy/decide.c \
        's/return level_min(allowed, \(index_closed(.*).cap\));/return allowed < LEVEL_WRITE ? allowed : \1;/'
}
exceptions() {
    mutation "an except lifts only its own deny" policy/question.c \
        's/if (index_applies(index, test, question, depth))/if (!index_applies(index, test, question, depth)) closed->cap = LEVEL_WRITE; else/'
}
limits() {
    mutation "limit read leaves what limit write names" policy/decide.c \
        's/(MARK_LIMIT_READ | MARK_LIMIT_WRITE)/MARK_LIMIT_READ/'
}

[ $# -gt 0 ] || set -- layers grants automatic denies exceptions limits
for each; do
    "$each"
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
