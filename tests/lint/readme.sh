#!/bin/sh
# readme.sh SOURCE - every folder has a README.md. Those of the code name each header of their
# folder, and each source without a header, and no missing file. The folders below tests/unit mirror
# the code, and those below tests/support are in its README.md. Helm renders every file of templates/.
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

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# as "folder file"; the name without its ending: `jwk.h` covers jwk.c too
stem() { sed -E 's/\.(tbl\.h|h|c)$//' | sort -u; }

folders=$(ls -d core/base core/evidence core/evidence/* core/store core/store/* core/verify core/jansson policy \
    policy/* crew crew/plugins gateway gateway/* cli/* include/writ tests/support 2>/dev/null | while read -r folder; do
    [ ! -d "$folder" ] || echo "$folder"
done)
# shellcheck disable=SC2086 # several folders
(
    # the sources of cli/commands are commands, which its first lines tell how to find
    find $folders -maxdepth 1 -name '*.[ch]' | grep -v '^cli/commands/.*\.c$'
    find tests/support -mindepth 2 -maxdepth 2 -name '*.[ch]' | sed 's|^tests/support/[^/]*|tests/support|'
) | sed -E 's|/([^/]*)$| \1|' | stem >"$work/files"
for folder in $folders; do
    echo "$folder/README.md"
done | xargs grep -oHE '[a-z0-9_]+(\.tbl)?\.[ch]\b' | sed 's|/README.md:| |' | sort -u >"$work/named"
tracked | tr '\0' '\n' | grep '\.[ch]$' | sed 's|.*/||' | sort -u >"$work/there"

wrong=$(
    stem <"$work/named" | comm -23 "$work/files" - | sed 's|\(.*\) |\1/README.md: does not name |'
    awk 'NR == FNR { there[$1] = 1; next } !($2 in there) { print $1 "/README.md: there is no " $2 }' \
        "$work/there" "$work/named"
)
[ -z "$wrong" ] || {
    echo "$wrong"
    exit 1
}
echo "readme: ok"
