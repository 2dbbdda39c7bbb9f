#!/bin/sh
# format.sh SOURCE - clang-format decides layout, but that of tables. scripts/format repairs it.
set -eu
cd "$1"

command -v clang-format-14 >/dev/null || {
    echo "format: clang-format-14 is missing: run scripts/deps test"
    exit 1
}
find core policy crew examples gateway cli include tests bench -name node_modules -prune -o \
    -name '*.[ch]' ! -name '*.tbl.h' -print0 2>/dev/null | xargs -0 clang-format-14 --dry-run -Werror 2>&1 | grep error: && {
    echo "format: run scripts/format"
    exit 1
}
echo "format: ok"
