#!/bin/sh
# layers.sh SOURCE - proves that the closed_<layer> checks fail when they must: the layer table of
# CMakeLists.txt builds with made-up sources, and does not build with any one forbidden reference.
set -eu
source=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

folder() {
    case $1 in
    base) echo "core/$1" ;;
    trusted | tables | write | ledger) echo "core/store/$1" ;;
    json | record) echo "core/evidence/$1" ;;
    policy_*) echo "policy/${1#policy_}" ;;
    io | http | request | call | service) echo "gateway/$1" ;;
    *) echo "$1" ;;
    esac
}

# layer NAME CALLED - writes the only source of a layer, which calls the layer CALLED (or none)
layer() {
    mkdir -p "$work/tree/$(folder "$1")"
    {
        echo "int writ_$1_made_up(void);"
        [ "$2" = none ] || echo "int writ_$2_made_up(void);"
        echo "int writ_$1_made_up(void) {"
        [ "$2" = none ] || echo "    return writ_$2_made_up();"
        [ "$2" != none ] || echo "    return 0;"
        echo "}"
    } >"$work/tree/$(folder "$1")/made_up.c"
}

build() {
    ninja -C "$work/build" "closed_$1" >"$work/log" 2>&1
}

fail() {
    cat "$work/log"
    echo "layers: $*"
    exit 1
}

layers="base json record trusted tables write ledger policy_model policy_decide policy_read crew io http request call"
layers="$layers service"
mkdir -p "$work/tree"
cp -r "$source/CMakeLists.txt" "$source/cmake" "$source/LICENSE" "$work/tree"
for name in $layers; do
    layer "$name" none
done
cmake -G Ninja -S "$work/tree" -B "$work/build" -DWRIT_TESTS=OFF >"$work/log" 2>&1 ||
    fail "the tree does not configure"

# refused LAYER CALLED...
refused() {
    caller=$1
    shift
    build "$caller" || fail "closed_$caller fails without any reference"
    for called in "$@"; do
        layer "$caller" "$called"
        if build "$caller"; then
            fail "closed_$caller allows a reference to $called"
        fi
        grep -q "writ_${called}_made_up" "$work/log" || fail "closed_$caller failed for another reason"
    done
    layer "$caller" none
}

refused base json record trusted policy_model crew io
refused json record tables policy_model crew io
refused record ledger policy_model crew io
refused tables write ledger policy_model
refused write ledger policy_model crew io
refused ledger policy_model crew io
refused policy_model policy_decide policy_read trusted crew io
refused policy_decide policy_read trusted crew io
refused policy_read tables crew io
refused crew trusted policy_model io
refused io http request service
refused http request call
refused call service
layer call ledger
build call || fail "closed_call refuses the layers below it"
layer service request
build service || fail "closed_service refuses the rooms below it"
echo "layers: ok"
