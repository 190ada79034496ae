#!/bin/sh
# mutation.sh - shows that the property test and `sbxc verify` can fail.
#
# In a copy of the tree it breaks one rule of the language at a time, builds sbxc, and expects tests/property/run.py to
# find a question that it answers wrongly; then one protective measure of Seatbelt profiles and of specifications for
# Windows at a time, and expects verify to find the artifact that sbxc just wrote different. A mutation that does not
# apply, build, or come out is a failure.
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
finds=property_finds

# Objects come along, so that each mutation compiles one file and links.
cp -a "$tree/Makefile" "$tree/base" "$tree/grammar" "$tree/policy" "$tree/compiler" "$tree/emitters" "$tree/runtime" \
    "$tree/schema" "$tree/tests" "$copy/"
cp -a "$build" "$copy/build"

fail() {
    echo "FAIL $1: $2"
    failed=$((failed + 1))
}

# Whether the oracle contradicts the sbxc that was just built.
property_finds() {
    if python3 "$copy/tests/property/run.py" --build "$copy/build" --count 20000 > "$copy/log" 2>&1; then
        fail "$name" "not found"
    elif ! grep -q 'sbxc and the oracle disagree' "$copy/log"; then
        fail "$name" "the property test did not run"
        cat "$copy/log"
    else
        return 0
    fi
    return 1
}

# Whether verify says that an artifact with something of everything is another than its policy, or sbxc does so itself.
verify_finds() {
    # shellcheck disable=SC2086 # `given` is several words
    "$copy/build/sbxc" "$copy/$policy.sbx" -q --pure $given -o "$copy/$policy.$suffix" > "$copy/log" 2>&1 &&
        "$copy/build/sbxc" verify "$copy/$policy.$suffix" "$copy/$policy.sbx" -q --pure $given > "$copy/log" 2>&1
    case $?:$(cat "$copy/log") in
    1:different*|2:*'cannot be read'*|2:*SBX352*) return 0 ;;
    0:*) fail "$name" "not found" ;;
    *) fail "$name" "verify did not run"; cat "$copy/log" ;;
    esac
    return 1
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
    elif "$finds"; then
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

profiles() {
    finds=verify_finds policy=profile suffix=sb given="--root WORK=/Users/u/app"
    long=$(printf '%0200d' 0)
    cat > "$copy/profile.sbx" <<POLICY
sbx 1
policy "profile"
grant read /usr, /var/data
grant write \$WORK
grant read \$WORK/vendor/fixed
deny \$WORK/.env, \$WORK/deep/er/key, /var/data/hidden, \$WORK/café, \$WORK/é/ü
deny \$WORK/**/*.pem except \$WORK/tests/fixtures
deny \$WORK/*.key except \$WORK/test-?.key
deny write \$WORK/.github/workflows
deny exec \$WORK/bin
deny \$WORK/$long/$long/$long/$long/$long/$long
grant network loopback port 3000
grant socket \$WORK/agent.sock
POLICY
    mutation "denies name each single operation" emitters/seatbelt_files.c \
        's/? "deny " READ_OPERATIONS .*/? "deny file-read* file-write* network*"/'
    mutation "directories above a deny stay in place" emitters/seatbelt_pins.c \
        's/pin_above(profile, &set, deny->place);/(void)deny;/'
    mutation "no further names of files" emitters/seatbelt_base.c 's/"(deny file-link)"/"(allow file-link)"/'
    mutation "no clones of files" emitters/seatbelt_base.c 's/"(deny file-clone)"/"(allow file-clone)"/'
    mutation "other processes stay unseen" emitters/seatbelt_base.c 's/"(deny process-info\*)"/"(allow process-info*)"/'
    mutation "places are denied as the kernel names them" emitters/seatbelt_path.c \
        's/add_name(out, &count, place, canonical.rest);/(void)canonical;/'
    mutation "patterns deny in every case" emitters/seatbelt_pattern.c \
        's/if (fold \&\& isalpha/if (!fold \&\& isalpha/'
    mutation "an exception opens one character for each ?" emitters/seatbelt_pattern.c \
        's/closes ? "\[^\/\]\[^ -~\]\*" : .*;/"[^\/][^ -~]*");/'
    mutation "names beyond ASCII are denied in every form" emitters/seatbelt_path.c \
        's/if (is_ascii(place.rest))/if (true || is_ascii(place.rest))/'
    mutation "strings stay as short as macOS reads them" emitters/seatbelt_write.c \
        's/STRING_LIMIT = 900,/STRING_LIMIT = 9000,/'
    mutation "denies come after grants" emitters/seatbelt.c 's/^    profile_denies(profile, rules);/    (void)0;/'
    mutation "connections stay on this machine" emitters/seatbelt_network.c \
        's/"deny network-outbound", "remote", "localhost"/"deny network-outbound", "local", "localhost"/'
    finds=property_finds
}

specifications() {
    finds=verify_finds policy=windows suffix=xml given=
    cat > "$copy/windows.sbx" <<'POLICY'
sbx 1
policy "windows"
grant read ~/tools
grant write $WORK
grant read $WORK/vendor
grant write $WORK/vendor/patches
auto grant write $CACHE/tool
deny $WORK/.env, $WORK/deep/er/key, $WORK/café, ~/.ssh
deny $WORK/**/*.pem except $WORK/tests/fixtures
deny write $WORK/.github/workflows
deny exec $WORK/bin/tool.exe
grant network internet
grant env CI, NODE_*
deny env *_TOKEN
POLICY
    mutation "what is denied below another root has an entry" emitters/windows_entries.c \
        's/cap == LEVEL_NONE ? WINDOWS_DENY_ALL : WINDOWS_DENY_WRITE/WINDOWS_DENY_WRITE/'
    given="--root WORK=C:/projects/web --root HOME=C:/Users/u --root CACHE=D:/cache"
    mutation "what is lowered cannot be written" emitters/windows_entries.c \
        's/    if (place->around == LEVEL_WRITE) {$/    if (place->around > LEVEL_WRITE) {/'
    given=
    mutation "what is writable keeps its name" emitters/windows_entries.c \
        's/^        windows_object_add(build, \&object, true, WINDOWS_DENY_DELETE);/        (void)0;/'
    mutation "directories above a deny stay in place" emitters/windows_entries.c \
        's/if (place->around == LEVEL_WRITE)$/if (place->around > LEVEL_WRITE)/'
    mutation "names beyond ASCII are denied in both forms" emitters/windows_places.c \
        's/^        if ((unsigned char)\*at >= 0x80) {/        if ((unsigned char)*at >= 0x80 \&\& false) {/'
    mutation "matches are denied" emitters/windows_matches.c 's/if (name != NULL \&\& may_bite(build, rule))/if (name != NULL \&\& !may_bite(build, rule))/'
    # shellcheck disable=SC2016 # a root of the language, no variable
    mutation "exceptions of a pattern are no more than that" emitters/windows_matches.c \
        's/        if (name != NULL \&\& !holds(\&excepts, name))/        if (name != NULL \&\& !holds(\&excepts, name = "$WORK\\\\**"))/'
    mutation "programs that are denied do not start" emitters/windows_entries.c \
        's/            add_program(build, rule, path);/            (void)add_program;/'
    mutation "roots stay out of each other" emitters/windows_requires.c \
        's/            if (windows_may_nest(reads.items\[j\], place->path))/            if (!windows_may_nest(reads.items[j], place->path))/'
    mutation "the internet is not the local network" emitters/windows_network.c \
        's/    return network == WINDOWS_NETWORK_INTERNET ? WINDOWS_INTERNET_CLIENT : 0;/    return network == WINDOWS_NETWORK_INTERNET ? WINDOWS_PRIVATE_NETWORK | WINDOWS_INTERNET_CLIENT : 0;/'
    mutation "denied variables stay out" emitters/windows_environment.c \
        's/RULE_DENY_ENV/RULE_LIMIT_ENV/'
    policy=low
    cat > "$copy/low.sbx" <<'POLICY'
sbx 1
policy "low"
grant write $WORK
deny ~/.ssh, ~/**/*.key
accept fs.closed on windows because "a test"
accept net.closed on windows because "a test"
POLICY
    mutation "labels close what is denied" emitters/windows_entries.c \
        's/        \[LEVEL_NONE\] = WINDOWS_NO_WRITE_UP | WINDOWS_NO_READ_UP | WINDOWS_NO_EXECUTE_UP,/        [LEVEL_NONE] = WINDOWS_NO_WRITE_UP,/'
    mutation "what is denied has a label where nothing is granted" emitters/windows_entries.c \
        's/        add_label(build, rule, path, opens);/        (void)add_label;/'
    mutation "what labels hold stays out of what is writable" emitters/windows_requires.c \
        's/        require_for_labels(build);/        (void)require_for_labels;/'
    finds=property_finds
}

[ $# -gt 0 ] || set -- layers grants automatic denies exceptions limits profiles specifications
for each; do
    "$each"
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
