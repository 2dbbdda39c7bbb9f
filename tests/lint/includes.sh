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

# prefix LAYER... - the folders of these layers as they stand in an include, for a regular expression
prefix() {
    for name; do
        folder=gateway # for ${gateway_rooms}, of a program
        [ "$name" = '${gateway_rooms}' ] || folder=$(sed -nE "s/^writ_layer\\($name +([^ ]+).*/\\1/p" CMakeLists.txt)
        printf '%s|' "${folder:-gateway/$name}" | sed 's|^core/||' # not a layer: a room
    done
}

# the layers and programs of CMakeLists.txt, and its rooms
table=$(mktemp)
trap 'rm -f "$table"' EXIT
layers=$(tr '\n' ' ' <CMakeLists.txt | grep -oE 'writ_(layer|program)\([^)]*\)' | tr -s ' ')
echo "$layers" | sed -E 's/writ_(layer|program)\(([^ )]+) ([^ )]+)/\2 \3/; s/ USES.*//; s/\)$//; s/ BELOW//' >"$table"
while read -r _ folder allowed; do
    # shellcheck disable=SC2086 # several names
    below "$folder" "$(prefix $allowed)${folder#core/}"
done <"$table"
rooms=
core=$(sed -nE 's/^set\(gateway_below (.*)\)/\1/p' CMakeLists.txt)
for room in $(sed -nE 's/^writ_room\(([a-z]+).*/\1/p' CMakeLists.txt); do
    rooms="$rooms|gateway/$room"
    # shellcheck disable=SC2086 # several names
    below "gateway/$room" "$(prefix $core)${rooms#|}"
done
below include 'writ'

[ $failed -eq 0 ] && echo "includes: ok"
