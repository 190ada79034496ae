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
