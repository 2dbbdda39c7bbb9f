#!/bin/sh
# tracked.sh SOURCE - proves that lints read the files that git tracks or would track: they skip the data of
# a quickstart and an installed package, and read a new file; and that they work without git.
set -eu
lints=$(cd "$1/tests/lint" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE

lint() {
    sh "$lints/words.sh" "$work" >"$work/build/log" 2>&1
}
fail() {
    cat "$work/build/log"
    echo "tracked: $*"
    exit 1
}

cd "$work"
mkdir build .writ data docs
echo "project(made_up)" >CMakeLists.txt
printf '/build/\n/.writ/\n/data/\n' >.gitignore
# in pieces, for this file is looked at like every other
printf 'keys: /%s/me/keys\n' root >.writ/quickstart.yaml
lint || fail "without git, a folder with a dot is looked at"
cp .writ/quickstart.yaml docs/
! lint || fail "without git, words.sh finds nothing"
rm docs/quickstart.yaml

git init -q .
git add CMakeLists.txt .gitignore
cp .writ/quickstart.yaml data/
lint || fail "what git ignores is looked at"
cp .writ/quickstart.yaml docs/
! lint || fail "a new file is passed over"
git add docs/quickstart.yaml
! lint || fail "a tracked file is passed over"
rm docs/quickstart.yaml
lint || fail "a file that is gone is looked at"
echo "tracked: ok"
