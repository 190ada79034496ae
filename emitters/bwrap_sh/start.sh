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
