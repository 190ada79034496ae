#!/bin/bash
# run.sh [TARGET ...] - the README's commands (`./bootstrap demo` and `./bootstrap check`, or TARGETs) on a fresh clone of HEAD,
# on a machine that has nothing but git and a shell: a root made by debootstrap and entered by pivot_root, first as root, then
# as an ordinary user. On a bare machine an ordinary user without sudo is told what to run as root, and one with sudo gets
# all set up (`demo`). Needs root, debootstrap and a package mirror. SBX_FRESH_BASE=DIR keeps the base system there.
set -euo pipefail
cd "$(dirname "$0")/../.."

suite=${SBX_FRESH_SUITE:-bookworm}
targets=("$@")
[[ ${#targets[@]} -gt 0 ]] || targets=(demo check)
folder=$(mktemp -d /var/tmp/sbx-fresh.XXXXXX)
trap 'rm -rf --one-file-system "$folder"' EXIT

command -v debootstrap >/dev/null || { apt-get update && apt-get install -y --no-install-recommends debootstrap; }
base=${SBX_FRESH_BASE:-$folder/base}
if [[ ! -e $base/usr/bin/git ]]; then
    debootstrap --variant=minbase --include=ca-certificates,git "$suite" "$base"
fi

# machine NAME: a bare root called NAME, with a clone for root and one for an ordinary user; it is the one that `inside` enters.
machine() {
    root=$folder/$1
    cp -a "$base" "$root"
    cp -L /etc/resolv.conf "$root/etc/resolv.conf"
    for setting in /etc/apt/apt.conf.d/99*; do
        [[ -e $setting ]] && cp "$setting" "$root/etc/apt/apt.conf.d/"
    done
    useradd --root "$root" --create-home --uid 1234 newcomer
    git clone --quiet --no-hardlinks . "$root/root/sbx"
    git clone --quiet --no-hardlinks . "$root/home/newcomer/sbx"
    chown -R 1234:1234 "$root/home/newcomer"
}

# inside COMMAND: runs it in the fresh root, in mount and process namespaces of its own.
inside() {
    # shellcheck disable=SC2016 # the inner shell expands them
    unshare --mount --pid --fork --propagation private bash -c '
        set -euo pipefail
        mount --bind "$1" "$1"
        cd "$1"
        mount -t proc proc proc
        mount --rbind /dev dev
        mkdir -p before
        pivot_root . before
        umount -l /before
        rmdir /before
        export HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8
        unset TMPDIR
        cd /
        exec sh -c "$2"' bash "$root" "$1"
}

# as_user COMMAND: the same as the ordinary user, in its clone.
as_user() {
    inside "exec setpriv --reuid=1234 --regid=1234 --init-groups --inh-caps=-all env HOME=/home/newcomer USER=newcomer \
        LOGNAME=newcomer sh -c 'cd ~/sbx && $1'"
}

machine plain
echo "== an ordinary user without sudo: ./bootstrap demo"
if said=$(as_user "./bootstrap demo" 2>&1) || [[ $said != *"as root, run: "* ]]; then
    echo "an ordinary user without sudo is not told what to run as root: $said" >&2
    exit 1
fi
for target in "${targets[@]}"; do
    echo "== root: ./bootstrap $target"
    inside "cd /root/sbx && ./bootstrap $target"
    echo "== an ordinary user: ./bootstrap $target"
    as_user "./bootstrap $target"
done

machine sudo
inside "apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends sudo"
echo "newcomer ALL=(ALL) NOPASSWD: ALL" > "$root/etc/sudoers.d/newcomer"
chmod 440 "$root/etc/sudoers.d/newcomer"
echo "== an ordinary user with sudo: ./bootstrap demo"
as_user "./bootstrap demo"
echo "fresh machine: passed"
