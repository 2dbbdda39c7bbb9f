#!/bin/sh
# hardening.sh SOURCE - the built programs (WRIT_BIN, and writ-vectors beside it) have the protections of
# WritFlags.cmake.
set -eu
failed=0

# has WHAT PATTERN TEXT
has() {
    echo "$3" | grep -qE "$2" || {
        echo "hardening: $program is built without $1"
        failed=1
    }
}

for program in "${WRIT_BIN:?}" "$WRIT_BIN-vectors"; do
    headers=$(readelf -hlW "$program")
    dynamic=$(readelf -dW "$program")
    symbols=$(readelf -W --dyn-syms "$program")
    has "position independence" 'Type: +DYN' "$headers"
    has "read-only relocations" 'GNU_RELRO' "$headers"
    has "a stack that is not executable" 'GNU_STACK .* RW +0x' "$headers"
    has "binding at start" 'BIND_NOW|Flags:.* NOW' "$dynamic"
    has "stack protector" '__stack_chk_(fail|guard)' "$symbols"
    # sanitizers wrap the same functions themselves
    echo "$symbols" | grep -qE '__(asan|tsan|ubsan)_' ||
        has "fortified calls" '__[a-z_]+_chk@' "$symbols"
done

[ $failed -eq 0 ] && echo "hardening: ok"
