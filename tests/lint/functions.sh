#!/bin/sh
# functions.sh SOURCE - no function is longer than 80 lines. The rows of a table inside a function do not count.
set -eu
. "$(dirname "$0")/tracked.inc"
cd "$1"

tracked core policy crew gateway cli tests bench | grep -zE '\.c$' | sort -z | xargs -0 awk '
    /^[A-Za-z_0-9]+\(/ {
        name = $0
        sub(/^START_TEST\(/, "", name)
        sub(/[()].*/, "", name)
    }
    /^\{/ {
        from = FNR
        lines = 0
        in_table = 0
    }
    /^    };/ {
        in_table = 0
    }
    {
        lines += !in_table
    }
    /^    .* = \{$/ || /^    static const struct \{$/ {
        in_table = 1
    }
    /^}/ && from > 0 {
        if (lines > 80) {
            print FILENAME ":" from ": " name " has " lines " lines"
            bad = 1
        }
        from = 0
    }
    END {
        exit bad
    }' && echo "functions: ok"
