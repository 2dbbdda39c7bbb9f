#!/bin/sh
# format.sh SOURCE - clang-format decides the layout of everything but tables. scripts/format repairs it. It
# joins an overlong line of a comment with the next one, so keep the lines of a list of codes short.
# Scripts of the tests keep to 120 columns; only a regular expression may be longer.
set -eu
. "$(dirname "$0")/tracked.inc"
cd "$1"

if command -v clang-format-14 >/dev/null; then
    check=clang-format-14
elif grep -qx VERSION_CODENAME=bookworm /etc/os-release; then
    echo "format: clang-format-14 is missing: run scripts/deps test"
    exit 1
else
    check=true # other versions lay out differently; the layout is checked on Debian 12
fi
tracked bindings core policy crew examples gateway cli include tests bench | grep -zE '\.[ch]$' | grep -zv '\.tbl\.h$' |
    xargs -0 "$check" --dry-run -Werror 2>&1 | grep error: && {
    echo "format: run scripts/format"
    exit 1
}
find core policy crew gateway cli include -name '*.h' -print0 | xargs -0 awk '
    FNR == 1 || /^ \* *$/ || /\*\/ *$/ { in_codes = 0 }
    in_codes && /^ \* [^ ]/ {
        print FILENAME ":" FNR ": a line of the list after @return begins at the margin"
        bad = 1
    }
    / @return / { in_codes = 1 }
    END { exit bad }'
# characters, not bytes: those that continue one in UTF-8 do not count
tracked tests | grep -zE '\.(mjs|sh|inc)$' | grep -zv '/node_modules/' | LC_ALL=C xargs -0 awk '
    { gsub(/[\200-\277]/, "") }
    length($0) > 120 && !/^ *\/.*\/[a-z]*[,;)]*$/ {
        print FILENAME ":" FNR ": a line of " length($0) " columns; the most is 120"
        bad = 1
    }
    END { exit bad }'
echo "format: ok"
