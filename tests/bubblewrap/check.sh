#!/bin/bash
# check.sh BUILD - runs what depends on the engine with bubblewrap as it is installed and with each newer version that build.sh
# makes, as root and as an ordinary user. Needs root: each version stands in the place of the installed one, in a mount
# namespace of its own.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(realpath "$1")
installed=$(command -v bwrap)

tests/bubblewrap/build.sh "$build/bubblewrap"
passed=0
failed=0
for program in "$installed" "$build"/bubblewrap/*/bwrap; do
    version=$("$program" --version)
    echo "== $version"
    # shellcheck disable=SC2016 # the inner shell expands them
    output=$(unshare --mount --propagation private bash -c '
        set -e
        mount --bind "$1" "$2"
        [[ $("$2" --version) == "$3" ]]
        exec tests/run "$4" --bubblewrap' bash "$program" "$installed" "$version" "$build" 2>&1 | tee >(cat >&2)) || true
    closing=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' <<<"$output" | tail -n 1)
    if [[ -z $closing ]]; then
        failed=$((failed + 1))
        continue
    fi
    passed=$((passed + ${closing%% *}))
    rest=${closing#*, }
    failed=$((failed + ${rest%% *}))
done
echo "$passed passed, $failed failed"
[[ $failed -eq 0 ]]
