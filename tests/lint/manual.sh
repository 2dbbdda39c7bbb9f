#!/bin/sh
# docs/<program>.1 is what `<program> help --manual` prints: made from the table of commands, never by hand.
# Usage: tests/lint/manual.sh SOURCE_DIR [--write]   (WRIT_BIN names `writ`; the other program is beside it)
set -eu
cd "$1"
writ=${WRIT_BIN:-build/dev/writ}
failed=0
for program in "$writ" "$writ-vectors"; do
    page=docs/$(basename "$program").1
    if [ "${2:-}" = --write ]; then
        "$program" help --manual >"$page"
        continue
    fi
    "$program" help --manual | diff -u "$page" - || {
        echo "$page is out of date: sh tests/lint/manual.sh . --write" >&2
        failed=1
    }
done
exit $failed
