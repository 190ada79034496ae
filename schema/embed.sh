#!/bin/sh
# embed.sh SCHEMA - prints a C file that holds the schema of the target windows as a string.
set -eu
export LC_ALL=C
printf '#include "emitters/windows_schema.h"\n\nconst char windows_schema[] =\n'
sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/    "/' -e 's/$/\\n"/' "$1"
printf '    ;\n\nconst int windows_schema_length = sizeof windows_schema - 1;\n'
