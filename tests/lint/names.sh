#!/bin/sh
# names.sh SOURCE - a function with a prototype in <file>.h is named writ_<file>_<verb>, or
# writ_<file>s_<verb> for a set of them. names.allow lists headers that hold several small modules,
# with those modules.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"

bad=$(find core policy crew gateway cli include -name '*.h' ! -name '*.tbl.h' 2>/dev/null | sort |
    xargs awk -f "$here/code.awk" | awk -F '\t' -v allow="$here/names.allow" '
        BEGIN {
            while ((getline line < allow) > 0) {
                count = line ~ /^#/ ? 0 : split(line, part, / +/)
                for (i = 2; i <= count; i++) {
                    more[part[1]] = more[part[1]] "|" part[i]
                }
            }
        }

        $1 != file {
            look()
            file = $1
            text = ""
            continued = 0
        }
        # the file as one line, without the preprocessor
        $3 ~ /^[ ]*#/ || continued {
            continued = $3 ~ /\\$/
            next
        }
        {
            text = text " " $3
        }

        END {
            look()
        }

        function look(piece, depth, statement, i, c) {
            module = file
            sub(/.*\//, "", module)
            sub(/\.h$/, "", module)
            while (match(text, /__attribute__ *\(\([^;{]*\)\)/)) {
                piece = substr(text, RSTART, RLENGTH)
                sub(/\)\).*/, "))", piece)
                while (gsub(/\(/, "(", piece) > gsub(/\)/, ")", piece)) {
                    piece = substr(text, RSTART, length(piece) + 1)
                }
                text = substr(text, 1, RSTART - 1) substr(text, RSTART + length(piece))
            }
            depth = 0
            statement = ""
            for (i = 1; i <= length(text); i++) {
                c = substr(text, i, 1)
                if (c == "{" && depth++ == 0) {
                    judge(statement)
                    statement = ""
                } else if (c == "}" && --depth == 0) {
                    statement = ""
                } else if (depth == 0 && c == ";") {
                    judge(statement)
                    statement = ""
                } else if (depth == 0) {
                    statement = statement c
                }
            }
        }

        function judge(statement, name) {
            if (statement ~ /^ *(typedef|_Static_assert)/ || !match(statement, /[A-Za-z_0-9]+ *\(/)) {
                return
            }
            name = substr(statement, RSTART, RLENGTH - 1)
            sub(/ +$/, "", name)
            if (name !~ "^writ_(" module "|" module "s" more[file] ")(_[a-z0-9_]+)?$") {
                print file ": " name " is not writ_" module "_<verb>"
            }
        }')
[ -z "$bad" ] || {
    echo "$bad"
    exit 1
}
echo "names: ok"
