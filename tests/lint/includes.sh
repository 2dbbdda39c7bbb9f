#!/bin/sh
# includes.sh SOURCE - a layer includes itself and the layers below it. Linking finds a call
# upwards (cmake/WritLayers.cmake); this finds a type or a macro.
set -eu
cd "$1"
failed=0

# below FOLDER ALLOWED - the folders whose headers files of FOLDER may include, besides the public ones
below() {
    bad=$(grep -rnE '^ *# *include +"' --include='*.[ch]' --exclude-dir=plugins "$1" 2>/dev/null |
        grep -vE "include +\"(writ|$2)/") || return 0
    echo "$bad"
    failed=1
}

# the layers, rooms and programs of CMakeLists.txt, one to a line: the folder, and those that it may use
table=$(mktemp)
trap 'rm -f "$table"' EXIT
awk '
    {
        sub(/#.*/, "")
        text = text " " $0
    }
    END {
        while (match(text, /(set|writ_layer|writ_program|writ_room)\([^)]*\)/)) {
            entry = substr(text, RSTART, RLENGTH - 1)
            text = substr(text, RSTART + RLENGTH)
            sub(/ USES .*/, "", entry)
            sub(/ BELOW /, " ", entry)
            count = split(entry, part, /[( ]+/)
            first = part[1] == "set" ? 3 : 4
            if (part[1] == "writ_room") {
                house = part[2]
                sub(/.*\//, "", house)
                add(part[3], part[2] "/" part[3], set[house "_rooms"] " " set[house "_below"])
                set[house "_rooms"] = part[3] " " set[house "_rooms"]
                continue
            }
            list = ""
            for (i = first; i <= count; i++) {
                name = part[i]
                list = list " " (gsub(/[${}]/, "", name) ? set[name] : name)
            }
            if (part[1] == "set") {
                set[part[2]] = list
            } else {
                add(part[2], part[3], list)
            }
        }
        for (i = 1; i <= rows; i++) {
            may = short(folder[row[i]])
            count = split(uses[row[i]], part, / +/)
            for (n = 1; n <= count; n++) {
                if (part[n] in folder) {
                    may = may "|" short(folder[part[n]])
                }
            }
            print folder[row[i]], may
        }
    }

    function add(name, at, list) {
        row[++rows] = name
        folder[name] = at
        uses[name] = list
    }

    function short(at) {
        sub(/^core\//, "", at)
        return at
    }' CMakeLists.txt >"$table"
while read -r folder may; do
    below "$folder" "$may"
done <"$table"
below include 'writ'

# acyclic FOLDER - no module of FOLDER includes itself by way of another one; NAME.c and NAME.h are one module, a
# table NAME.tbl.h another
acyclic() {
    grep -noE "^ *# *include +\"${1#core/}/[^\"/]+\"" -r --include='*.[ch]' "$1" |
        sed -E "s#^$1/([a-z0-9_]+(\.tbl)?)[^:]*:[0-9]+:.*\"${1#core/}/([a-z0-9_]+(\.tbl)?).*#\1 \3#" | tsort >/dev/null
}
while read -r folder may; do
    [ -d "$folder" ] || continue
    acyclic "$folder" || {
        echo "$folder has an include cycle of modules"
        failed=1
    }
done <"$table"

[ $failed -eq 0 ] && echo "includes: ok"
