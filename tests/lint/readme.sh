#!/bin/sh
# readme.sh SOURCE - every folder has a README.md (house style, "The tree").
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
echo "readme: ok"
