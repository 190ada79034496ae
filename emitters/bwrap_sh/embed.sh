#!/bin/sh
# embed.sh FOLDER - prints a C file that holds the three fixed parts of a bwrap-sh script as strings.
set -eu
export LC_ALL=C
printf '#include "emitters/bwrap_sh.h"\n\n'
for part in rules mounts start; do
    printf 'const char bwrap_sh_%s[] =\n' "$part"
    sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/    "/' -e 's/$/\\n"/' "$1/$part.sh"
    printf '    ;\n\n'
done
