#!/bin/sh
# readme.sh SOURCE - every folder has a README.md (house style, "The tree"). Those of the code name
# each header of their folder, and each source without a header; what they name is there.
set -eu
cd "$1"

missing=$(find . -type d \( -name '.?*' -o -name build -o -name node_modules -o -name corpus \
    -o -path './vectors/*/*' \) -prune -o -type d -print | while read -r folder; do
    # a folder without files of its own has nothing to tell
    [ -f "$folder/README.md" ] || [ -z "$(find "$folder" -maxdepth 1 -type f)" ] || echo "$folder"
done)
[ -z "$missing" ] || {
    echo "$missing" | sed 's/$/: README.md is missing/'
    exit 1
}

# by what the file is called without its ending: `jwk.h` tells of jwk.c too
stem() { sed -E 's|.*/||; s/\.(tbl\.h|h|c)$//' | sort -u; }

there=$(find . \( -name '.?*' -o -name build -o -name node_modules \) -prune -o -name '*.[ch]' -print |
    sed 's|.*/||' | sort -u)
wrong=$(for folder in core/base core/evidence core/store core/verify policy crew crew/plugins gateway \
    cli include/writ tests/support; do
    # the sources of cli are commands, which its first lines tell how to find
    kind='*.[ch]'
    [ "$folder" != cli ] || kind='*.h'
    named=$(grep -oE '[a-z0-9_]+(\.tbl)?\.[ch]\b' "$folder/README.md" | sort -u)
    find "$folder" -maxdepth 1 -name "$kind" | stem | while read -r file; do
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
