set -eu
LC_ALL=C
export LC_ALL
newline='
'
tab=$(printf '\t')
rules='' places='' scratch=no network=closed start='' files=any

refuse() {
    printf '%s: %s\n' "$0" "$1" >&2
    exit 125
}

# The real directory that $1 is; a directory that does not exist stays as written.
canonical() {
    case $1 in
    *[[:cntrl:]]*) refuse "a root must not hold control characters" ;;
    /*) ;;
    *) refuse "a root must be an absolute path: $1" ;;
    esac
    if [ -d "$1" ]; then
        (cd -P -- "$1" && pwd -P)
    else
        printf '%s\n' "$1"
    fi
}

# Whether $1 is the root, the home directory or a directory above it.
wide() {
    above=${1%/}
    case ${HOME:-}/ in
    "$above"/*) return 0 ;;
    esac
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
    rules=$rules$2$tab$1$tab$value${3:-}$newline
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
