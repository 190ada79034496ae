#!/bin/sh
# xml_cut.sh ARCHIVE - prints a C file that stands in for what a static libxml2 calls to convert other encodings (ICU, which
# alone would bring 31 MB), to fetch documents from the network, and to unpack compressed files. Programs that read UTF-8
# from memory never get there; each of these functions fails. Nothing is replaced where ARCHIVE is missing or has no such call.
set -eu
export LC_ALL=C
echo '#include <stddef.h>'
echo 'extern const char xml_cut[];'
echo 'const char xml_cut[] = "";'
[ -e "$1" ] || exit 0
nm -g "$1" 2>/dev/null | awk '
    $1 == "U" && $2 ~ /^(ucnv_|UCNV_|xmlNano(HTTP|FTP)|gz|__libxml2_xz|inflate|deflate|crc32|lzma_)/ { print $2 }' | sort -u |
while read -r name; do
    case $name in
    # U_FILE_ACCESS_ERROR: the tables of the encoding cannot be read.
    ucnv_open | ucnv_open_*)
        printf 'void *%s(const char *name, int *status);\n' "$name"
        printf 'void *%s(const char *name, int *status) { (void)name; *status = 4; return NULL; }\n' "$name" ;;
    *)
        printf 'void *%s(void);\nvoid *%s(void) { return NULL; }\n' "$name" "$name" ;;
    esac
done
