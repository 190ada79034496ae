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
