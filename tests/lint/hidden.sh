#!/bin/sh
# hidden.sh SOURCE - the program and the page have one table of hidden characters.
set -eu
cd "$1"
ranges() { # first last kind, one to a line
    grep -oE "[X[]\(?0x[0-9a-f]+, 0x[0-9a-f]+, '?[A-Za-z]+" "$1" | tr -d "X[(',\"" | tr '[:upper:]' '[:lower:]'
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ranges core/base/hidden.tbl.h >"$work/program"
ranges gateway/admin/page/hidden.js >"$work/page"
test -s "$work/program" || { echo "hidden: core/base/hidden.tbl.h has no rows" >&2; exit 1; }
diff -u "$work/program" "$work/page" || { echo "hidden: the page has another table: scripts/hidden" >&2; exit 1; }
echo "hidden: ok"
