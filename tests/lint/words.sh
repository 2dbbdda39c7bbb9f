#!/bin/sh
# words.sh SOURCE - the text has no open ends and no path of one machine, and the folders whose English
# was revised keep it: no people-words for processes, plain test names, and sources that open with their idea.
set -eu
. "$(dirname "$0")/tracked.inc"
cd "$1"

left='TODO|FIXME|XXX|HACK'
places='(^|[^A-Za-z0-9_./-])/(work|farm|root|home/[a-z]+)/|"resolved": "http'
bad=$(tracked | grep -zvE '^(vectors|tests/lint|build)/|/(corpus|node_modules)/' |
    xargs -0 grep -nsIE "\\b($left)\\b|$places") || bad=

# Folders whose comments, messages and titles were revised; mint-* has names that vectors/ repeats.
revised='bench bindings certs cli cmake config core crew docker docs examples gateway include policy scripts tests'
revised="CHANGELOG.md CONTRIBUTING.md README.md SECURITY.md $revised"
kept='^docs/writ\.1$|^tests/lint/|^tests/support/mint/|/test_config\.c$|/(corpus|node_modules)/'
# docs/writ.1 is made from cli. A name in quotes, in a path or after "key: " is data, not prose.
people='(?<!['\''"`/.>_-])(?<!: )(?<!bool )\b([Ww]hoever|[Nn]obody|[Ss]omebody|[Aa]nybody|[Aa]new)\b(?!['\''"`/_-])'
prose=$(tracked $revised | grep -zvE "$kept" | xargs -0 grep -nsIP "$people") || prose=
# The same for verbs, in comments, strings and pages.
phrases='\b(is|are) (told|heard)\b|\bwho asks\b|(?<!there )\bis no (answer|message|notification|request)\b'
phrases="$phrases|\\bcannot (be looked|look) at\\b|\\b(is|are) not believed\\b|\\ball is looked at\\b"
phrases="$phrases|\\bgoes on later\\b|\\bwent on as\\b|\\bwho is calling\\b|\\bnone of ours\\b"
phrases=$(tracked $revised | grep -zE '\.([ch]|mjs|md)$' | grep -zvE "$kept" |
    xargs -0 grep -nsIP "$phrases") || phrases=
# A test is named <function>_<condition>_<result>.
riddles='what|who|whom|whoever|whatever|nobody|told|heard|one_that|ours|goes_on'
riddles="START_TEST\\(((a|an|the)_|(\\w+_)?($riddles)(_\\w+)?\\))"
riddles=$(tracked tests | grep -zE '/test_[^/]*\.c$' | xargs -0 grep -nsE "$riddles") || riddles=
# Idioms that the comments of the product no longer have.
idioms='\b(go|goes|going|gone) on with\b|\b(for|by) who\b|\bto be told\b|\bin the stead\b'
idioms="$idioms"'|\bon no memory\b|\bNULL is fine\b|\b(himself|his)\b'
idioms=$(tracked cli core crew gateway include policy | grep -zE '\.[ch]$' |
    xargs -0 grep -nsIP "$idioms") || idioms=
# Names that gave way to terms of the field.
names='\bwrit_(lanes?|leg|held)\b|\bstruct (asked|held|seen)\b|\berrands?\b|\bSTEP_LEARN\b'
names=$(tracked cli core crew gateway include policy | grep -zE '\.[ch]$' |
    xargs -0 grep -nsIP "$names") || names=
# The first comment of a source says what it does and what must hold in it.
headless=$(tracked cli core crew gateway policy tests | grep -zE '\.c$' |
    xargs -0 awk 'FNR == 1 && !/^\/\*/ { print FILENAME ":1: begins without a comment" }')

all=$(printf '%s\n' "$bad" "$prose" "$phrases" "$idioms" "$names" "$riddles" "$headless" | grep .) || {
    echo "words: ok"
    exit 0
}
echo "$all"
exit 1
