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

below core/base 'base'
below core/evidence 'base|evidence'
below core/verify 'base|evidence|verify'
below core/jansson 'base|evidence'
below core/store 'base|evidence|store'
below policy 'base|evidence|policy'
below crew 'base|evidence|crew'
below crew/plugins 'base|evidence|store|crew'
below gateway 'base|evidence|store|policy|crew|gateway'
below cli 'base|evidence|store|policy|crew|gateway|cli'
below include 'writ'

[ $failed -eq 0 ] && echo "includes: ok"
