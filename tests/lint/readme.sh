#!/bin/sh
# readme.sh SOURCE - every folder has a README.md (house style, "The tree"). Those of the code name
# each header of their folder, and each source without a header, and no missing file. The folders
# below tests/unit mirror the code, and those below tests/support are in its README.md. Helm renders
# every file of templates/.
set -eu
. "$(dirname "$0")/tracked.inc"
cd "$1"

missing=$(tracked | tr '\0' '\n' |
    grep -vE '^\.|/corpus/|/templates/|^vectors/[^/]*/[^/]*/|^tests/(unit|support)/[^/]*/' |
    sed 's|^[^/]*$|./&|; s|/[^/]*$||' | sort -u | while read -r folder; do
    [ -f "$folder/README.md" ] || echo "$folder"
done)
[ -z "$missing" ] || {
    echo "$missing" | sed 's/$/: README.md is missing/'
    exit 1
}

# by the file's name without its ending: `jwk.h` covers jwk.c too
stem() { sed -E 's|.*/||; s/\.(tbl\.h|h|c)$//' | sort -u; }

there=$(tracked | tr '\0' '\n' | grep '\.[ch]$' | sed 's|.*/||' | sort -u)
wrong=$(for folder in core/base core/evidence core/evidence/* core/store core/store/* core/verify core/jansson \
    policy policy/* crew crew/plugins gateway gateway/* cli/* include/writ tests/support; do
    # the sources of cli/commands are commands, which its first lines tell how to find
    [ -d "$folder" ] || continue
    kind='*.[ch]'
    [ "$folder" != cli/commands ] || kind='*.h'
    named=$(grep -oE '[a-z0-9_]+(\.tbl)?\.[ch]\b' "$folder/README.md" | sort -u)
    depth=1
    [ "$folder" != tests/support ] || depth=2
    find "$folder" -maxdepth $depth -name "$kind" | stem | while read -r file; do
        echo "$named" | stem | grep -qx "$file" || echo "$folder/README.md: does not name $file"
    done
    echo "$named" | while read -r file; do
        echo "$there" | grep -qx "$file" || echo "$folder/README.md: there is no $file"
    done
done)
[ -z "$wrong" ] || {
    echo "$wrong"
    exit 1
}
echo "readme: ok"
