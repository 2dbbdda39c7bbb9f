#!/bin/sh
# docs/writ.1 is what `writ help --manual` prints: made from the table of commands, never by hand.
# Usage: tests/lint/manual.sh SOURCE_DIR [--write]   (WRIT_BIN names the program)
set -eu
cd "$1"
writ=${WRIT_BIN:-build/dev/writ}
if [ "${2:-}" = --write ]; then
    "$writ" help --manual >docs/writ.1
    exit 0
fi
"$writ" help --manual | diff -u docs/writ.1 - && exit 0
echo "docs/writ.1 is out of date: sh tests/lint/manual.sh . --write" >&2
exit 1
