#!/bin/bash
# build_libraries.sh FOLDER - cross-builds what the programs for Windows are linked with: static libxml2, utf8proc and
# jansson, each from the upstream archive of Debian's source package with Debian's patches, into FOLDER/lib and
# FOLDER/include. What is built already stays. The compiler, and what else is missing, is installed first.
set -euo pipefail
unset MAKEFLAGS MAKELEVEL # those of the make that starts this

compiler=x86_64-w64-mingw32-gcc-posix
# Source package, its folder in the pool, and its files with their SHA-256, as Debian's Sources index states them.
libraries=(
    "libxml2 libx/libxml2
     libxml2_2.9.14+dfsg.orig.tar.xz 4fe913dec8b1ab89d13b489b419a8203176ea39e931eaa0d25b17eafb9c279e9
     libxml2_2.9.14+dfsg-1.3~deb12u6.debian.tar.xz f33a99a0018cbb94aadc3bf26661e401cb90dff856aa170faf7239151ee9b9ac"
    "utf8proc u/utf8proc
     utf8proc_2.8.0.orig.tar.gz a0a60a79fe6f6d54e7d411facbfcc867a6e198608f2cd992490e46f04b1bcecc
     utf8proc_2.8.0-1.debian.tar.xz eae4af835e46ccd258d3eebb501b3610330a434ec6194a0d11c0569fe4c8480b"
    "jansson j/jansson
     jansson_2.14.orig.tar.gz c739578bf6b764aa0752db9a2fdadcfe921c78f1228c7ec0bb47fa804c55d17b
     jansson_2.14-2.debian.tar.xz e89fe4fd8221f6934ddb50f2e7f8404311928d0e23e49a5599f3d3d14ee8cb88"
)
# Nothing that a specification does not need: no network, no compression, no other encodings. Threads stay, since
# 2.9.14 does not compile without.
declare -A options=(
    [libxml2]="LIBXML2_WITH_THREADS=ON"
    [utf8proc]=""
    [jansson]="JANSSON_BUILD_DOCS=OFF JANSSON_WITHOUT_TESTS=ON JANSSON_EXAMPLES=OFF"
)
for option in CATALOG DEBUG DOCB FTP HTML HTTP ICONV ICU LEGACY LZMA MEM_DEBUG MODULES PROGRAMS PYTHON RUN_DEBUG TESTS \
    XINCLUDE XPTR ZLIB; do
    options[libxml2]+=" LIBXML2_WITH_$option=OFF"
done

folder=$(realpath -m "$1")
self=$(sha256sum <"$0")
missing=()
for package in gcc-mingw-w64-x86-64-posix cmake make patch curl ca-certificates xz-utils; do
    dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package")
done
if [[ ${#missing[@]} -gt 0 ]]; then
    become=()
    if [[ $(id -u) -ne 0 ]]; then
        become=(sudo)
        command -v sudo >/dev/null || {
            echo "build_libraries.sh: as root, run: apt-get install --no-install-recommends ${missing[*]}" >&2
            exit 1
        }
    fi
    "${become[@]}" apt-get update -qq
    "${become[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
fi
# The mirror that this machine installs its packages from.
# shellcheck disable=SC2016 # apt-get expands it
mirror=${SBX_DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep '/debian/*$' | head -n 1)}

# fetch POOL FILE SHA256: into the current directory.
fetch() {
    curl -fsS --retry 3 -o "$2" "${mirror%/}/pool/main/$1/$2"
    echo "$3  $2" | sha256sum --check --quiet
}

# build NAME SOURCE: with the options of that name.
build() {
    local -a chosen
    read -r -a chosen <<<"${options[$1]}"
    cmake -S "$2" -B "$2/objects" -DCMAKE_SYSTEM_NAME=Windows -DCMAKE_C_COMPILER="$compiler" \
        -DCMAKE_RC_COMPILER=x86_64-w64-mingw32-windres -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
        -DCMAKE_C_FLAGS="-D_WIN32_WINNT=0x0601 -fstack-protector-strong -ffile-prefix-map=$2=." \
        --no-warn-unused-cli -DCMAKE_INSTALL_PREFIX="$folder" -DCMAKE_INSTALL_LIBDIR=lib "${chosen[@]/#/-D}" >/dev/null
    cmake --build "$2/objects" -j 2 >/dev/null
    cmake --install "$2/objects" >/dev/null
}

mkdir -p "$folder"
for entry in "${libraries[@]}"; do
    read -r -d '' name pool archive archive_sum patches patches_sum <<<"$entry" || true
    # A change of what is built, or of how, builds it again.
    stamp=$folder/$name.built
    built="$self $archive_sum $patches_sum"
    [[ -e $stamp && $(<"$stamp") == "$built" ]] && continue
    source=$folder/$name
    rm -rf "$source" "$stamp"
    mkdir -p "$source"
    cd "$source"
    fetch "$pool" "$archive" "$archive_sum"
    fetch "$pool" "$patches" "$patches_sum"
    tar -xf "$archive" --strip-components=1
    tar -xf "$patches"
    if [[ -e debian/patches/series ]]; then
        grep -v '^ *\(#\|$\)' debian/patches/series | while read -r change _; do
            patch -p1 --quiet --no-backup-if-mismatch <"debian/patches/$change"
        done
    fi
    build "$name" "$source"
    cd "$folder"
    rm -rf "$source"
    echo "$built" >"$stamp"
done
