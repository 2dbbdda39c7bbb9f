#!/bin/sh
# comments.sh SOURCE - comments name only files and sections of pages that are in the source, so that a reader can
# follow every one. A name of a C file may lack the folders in front; that of a page is its path, or it is beside the
# file. Pages name existing paths. No comment cites a document by the number of a section, as RFCs are cited: pages
# have titles. Comments are those of C, and whole lines of JavaScript, Python, CMake and the shell.
set -eu
. "$(dirname "$0")/tracked.inc"
cd "$1"

list=$(mktemp)
trap 'rm -rf "$list"' EXIT
tracked | tr '\0' '\n' | grep -vE '/(corpus|node_modules)/' >"$list"

bad=$(awk -v list="$list" '
    BEGIN {
        while ((getline path < list) > 0) {
            page[path] = path ~ /\.md$/
            for (rest = path; ; sub(/^[^\/]*\//, "", rest)) {
                there[rest] = 1
                if (rest !~ /\//) {
                    break
                }
            }
            if (path ~ /^docs\/.*\.md$/) { # before the sources: their titles
                ARGV[ARGC++] = path
            } else if (path ~ /\.([ch]|mjs|py|cmake|sh|md)$|CMakeLists\.txt$/) {
                sources[++count] = path
            }
        }
        for (i = 1; i <= count; i++) {
            ARGV[ARGC++] = sources[i]
        }
    }

    FNR == 1 {
        check()
        in_comment = fenced = 0
        folder = FILENAME
        sub(/[^\/]*$/, "", folder)
    }

    FILENAME ~ /\.md$/ {
        if (/^```/) {
            fenced = !fenced
        } else if (/^#+ / && !fenced) {
            title = $0
            sub(/^#+ /, "", title)
            titles[FILENAME, title] = 1
        } else if (!fenced && FILENAME !~ /CHANGELOG/) {
            paths($0)
        }
        next
    }

    FILENAME ~ /\.[ch]$/ {
        rest = in_comment || /\/\*/ ? $0 : ""
        while (rest != "") {
            if (in_comment) {
                at = index(rest, "*/")
                add(at ? substr(rest, 1, at - 1) : rest)
                if (!at) {
                    break
                }
                check()
                in_comment = 0
                rest = substr(rest, at + 2)
            } else if (match(rest, /^[^"\047\/]+/) || match(rest, /^"([^"\\]|\\.)*"/) ||
                match(rest, /^\047([^\047\\]|\\.)+\047/)) {
                rest = substr(rest, RLENGTH + 1)
            } else if (substr(rest, 1, 2) == "/*") {
                in_comment = 1
                rest = substr(rest, 3)
            } else {
                rest = substr(rest, 2)
            }
        }
        next
    }

    /^ *(#|\/\/|\/?\*)/ {
        add($0)
        next
    }

    {
        check()
    }

    END {
        check()
        exit
    }

    function add(line) {
        sub(/^ *(#+|\/\/+|\/?\*+) ?/, "", line)
        if (comment == "") {
            file = FILENAME
            begins = FNR
        }
        comment = comment " " line
    }

    # the comment that has ended
    function check(text, name, before) {
        text = comment
        comment = ""
        if (text ~ /(^|[^a-z])[Cc]ontract,? \(?[0-9]|\.md,? (section )?\(?[A-Z]?[0-9]|[Hh]ouse style|threat model/) {
            say("cites a document that is not here, or a number where a title is due")
        }
        while (match(text, /[A-Za-z0-9_.\/-]*[A-Za-z0-9_]\.([ch]|md)($|[^A-Za-z0-9_\/])/)) {
            before = RSTART > 1 ? substr(text, RSTART - 1, 1) : ""
            name = substr(text, RSTART, RLENGTH)
            text = substr(text, RSTART + RLENGTH)
            sub(/[^A-Za-z0-9_]$/, "", name)
            if (name ~ /\.md$/) {
                if (!page[name] && !page[folder name] && !page[flat(folder name)]) {
                    say("there is no page " name)
                } else if (match(text, /^ ?"[^"]+"/) && !((name, substr(text, 3, RLENGTH - 3)) in titles)) {
                    say(name " has no section " substr(text, 2, RLENGTH - 1))
                }
            } else if (before !~ /[<>*}]/ && !(name in there) &&
                name ~ /^([a-z0-9_\/-]+\/)?[a-z][a-z0-9_]*(\.tbl)?\.[ch]$/) {
                say("there is no " name)
            }
        }
    }

    # the names in backquotes that have a folder, in a page
    function paths(text, name) {
        while (match(text, /`[A-Za-z0-9_.\/-]*\/[A-Za-z0-9_.-]*\.([ch]|md|mjs)`/)) {
            name = substr(text, RSTART + 1, RLENGTH - 2)
            text = substr(text, RSTART + RLENGTH)
            if (!(name in there) && !(flat(folder name) in there)) {
                print FILENAME ":" FNR ": there is no " name
            }
        }
    }

    function flat(path) {
        while (sub(/(^|\/)\.\//, "/", path) || sub(/[^\/.][^\/]*\/\.\.\//, "", path)) {
        }
        return path
    }

    function say(what) {
        print file ":" begins ": " what
    }')
[ -z "$bad" ] || {
    echo "$bad"
    exit 1
}
echo "comments: ok"
