#!/bin/sh
# unused.sh SOURCE - the product uses every function that has a prototype: its name occurs outside of
# its prototype and its definition. unused.allow lists functions for tests, each with the reason.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"

bad=$(find core policy crew gateway cli include -name '*.[ch]' 2>/dev/null | sort | xargs awk -f "$here/code.awk" |
    awk -F '\t' -v allow="$here/unused.allow" '
        BEGIN {
            while ((getline line < allow) > 0) {
                if (line !~ /^#/) {
                    split(line, part, / +/)
                    allowed[part[1]] = 1
                }
            }
        }
        {
            header = $1 ~ /\.h$/
            text = $3
            while (match(text, /writ_[a-z0-9_]+/)) {
                name = substr(text, RSTART, RLENGTH)
                text = substr(text, RSTART + RLENGTH)
                count[name]++
                if (header && text ~ /^\(/ && !(name in place)) {
                    place[name] = $1
                    own[name]++
                } else if (text ~ /^\(/ && $3 ~ ("^" name "\\(")) {
                    own[name]++ # the definition; its return type is on the line before
                }
            }
        }
        END {
            for (name in place) {
                if (count[name] <= own[name] && !(name in allowed)) {
                    print place[name] ": " name " is used nowhere"
                }
                if (count[name] > own[name] && name in allowed) {
                    print "unused.allow: " name " is used"
                }
            }
            for (name in allowed) {
                if (!(name in place)) {
                    print "unused.allow: there is no " name
                }
            }
        }' | sort)

if [ -n "$bad" ]; then
    echo "$bad"
    exit 1
fi
echo "unused: ok"
