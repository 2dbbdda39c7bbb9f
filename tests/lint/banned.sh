#!/bin/sh
# banned.sh SOURCE - calls that appear in core/base only. Exceptions, each with its reason, are in banned.allow.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"

memory='memcpy|memmove|memcmp|memchr|memmem|malloc|calloc|realloc|reallocarray|free|alloca'
# (strerrordesc_np is fine: it does not allocate, and threads share no state)
text='str[a-z]+|sprintf|vsprintf|sscanf|gets|ato[filq]+|wcs[a-z]+|asprintf'
world='pthread_create|system|popen|mktemp|tmpnam|rand|srand|random|getenv|clock_gettime|gettimeofday|time'
output='printf|fprintf|vfprintf|puts|fputs|putchar|syslog|writ_log_write|WRIT_LOG'

# calls FOLDERS WORDS - prints "file:line: word" for each call in the code of the folders
calls() {
    # shellcheck disable=SC2086 # several folders
    find $1 -name '*.[ch]' 2>/dev/null | sort | xargs awk -f "$here/code.awk" | awk -F '\t' -v words="$2" '
        {
            rest = $3
            while (match(rest, "(^|[^A-Za-z0-9_.>])(" words ")[ ]*[(]")) {
                word = substr(rest, RSTART, RLENGTH - 1)
                gsub(/[^A-Za-z0-9_]/, "", word)
                print $1 ":" $2 ": " word
                rest = substr(rest, RSTART + RLENGTH)
            }
        }'
}

{
    calls "core/evidence core/store policy crew gateway cli include" "$memory|$text|$world"
    # these report by their results; gateway and cli log
    calls "core/base core/evidence core/store policy crew" "$output"
} | awk -v allow="$here/banned.allow" '
    BEGIN {
        while ((getline line < allow) > 0) {
            if (line !~ /^(#|$)/) {
                split(line, part, / +/)
                allowed[part[1] " " part[2]] = 1
            }
        }
    }
    {
        file = $1
        sub(/:.*/, "", file)
        if (!((file " " $2) in allowed)) {
            print $1 " " $2 " is for core/base only (or for tests/lint/banned.allow, with a reason)"
            bad = 1
        }
    }
    END {
        exit bad
    }' && echo "banned: ok"
