#!/bin/sh
# embed.sh FOLDER - prints a C file that holds each FOLDER/*.sbx as the built-in preset std/NAME, sorted by name.
set -eu
export LC_ALL=C
printf '#include "compiler/presets.h"\n\n#include <stddef.h>\n\n'
printf 'const struct builtin_preset builtin_presets[] = {\n'
for file in "$1"/*.sbx; do
    name=$(basename "$file" .sbx)
    bytes=$(wc -c <"$file")
    printf '    {"std/%s",\n' "$name"
    sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/     "/' -e 's/$/\\n"/' "$file"
    printf '     , %d},\n' "$bytes"
done
printf '    {NULL, NULL, 0},\n};\n'
