#!/bin/sh
# functions.sh SOURCE - no function is longer than 80 lines (house style, "Comments").
set -eu
cd "$1"

find core policy crew gateway cli tests bench -name node_modules -prune -o -name '*.c' -print 2>/dev/null |
    sort | xargs awk '
    /^[a-z_0-9]+\(/ {
        name = $0
        sub(/\(.*/, "", name)
    }
    /^\{/ {
        from = FNR
    }
    /^}/ && from > 0 {
        if (FNR - from + 1 > 80) {
            print FILENAME ":" from ": " name " has " FNR - from + 1 " lines"
            bad = 1
        }
        from = 0
    }
    END {
        exit bad
    }' && echo "functions: ok"
