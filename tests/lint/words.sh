#!/bin/sh
# words.sh SOURCE - nothing is left to do in the text, and nothing names one machine.
set -eu
. "$(dirname "$0")/tracked.inc"
cd "$1"

left='TODO|FIXME|XXX|HACK'
places='(^|[^A-Za-z0-9_./-])/(work|farm|root|home/[a-z]+)/|"resolved": "http'
bad=$(tracked | grep -zvE '^(vectors|tests/lint|build)/|/(corpus|node_modules)/' |
    xargs -0 grep -nsIE "\\b($left)\\b|$places") || {
    echo "words: ok"
    exit 0
}
echo "$bad"
exit 1
