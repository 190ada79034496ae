#!/bin/bash
# build.sh FOLDER - builds the newer versions of bubblewrap that the launch suites must also pass with, each from the upstream
# archive of Debian's source package, as FOLDER/VERSION/bwrap. What is built already stays.
set -euo pipefail

# Version and SHA-256 of bubblewrap_VERSION.orig.tar.xz, as Debian's Sources index states it.
versions=(
    "0.12.0 9760d007363e3abba7c747489910f9f82d9fca53ba3bd3282e396fa3c97a3314"
    "0.13.0 4734237473c0e5d695e4e9034a34e43b2dbf5164655bd13fa59ae376b2b7a765"
)
# The mirror that this machine installs its packages from.
# shellcheck disable=SC2016 # apt-get expands it
mirror=${SBX_DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep '/debian/*$' | head -n 1)}
pool=${mirror%/}/pool/main/b/bubblewrap

folder=$(realpath -m "$1")
missing=()
for package in meson ninja-build libcap-dev gcc curl ca-certificates xz-utils pkg-config; do
    dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package")
done
if [[ ${#missing[@]} -gt 0 ]]; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
fi

for entry in "${versions[@]}"; do
    read -r version checksum <<<"$entry"
    target=$folder/$version
    [[ -x $target/bwrap ]] && continue
    source=$target/source
    mkdir -p "$source"
    curl -fsS --retry 3 -o "$target/source.tar.xz" "$pool/bubblewrap_$version.orig.tar.xz"
    echo "$checksum  $target/source.tar.xz" | sha256sum --check --quiet
    tar -C "$source" -xf "$target/source.tar.xz" --strip-components=1
    meson setup "$target/objects" "$source" --buildtype=release -Dman=disabled -Dtests=false -Dselinux=disabled \
        -Dbash_completion=disabled -Dzsh_completion=disabled >/dev/null
    ninja -C "$target/objects" >/dev/null
    install -m 755 "$target/objects/bwrap" "$target/bwrap"
    rm -rf "$source" "$target/objects" "$target/source.tar.xz"
done
