/* The variables of this process, in the form in which a program is started. */
#include "cli/crew/environment.h"

#include "base/bytes.h"

#include <unistd.h>

WRIT_RESULT
writ_environment_inherit(const char *ret[WRIT_ENVIRONMENT_MAX + 1], struct writ_err *err)
{
    size_t n = 0;

    for (char **variable = environ; *variable != NULL; variable++) {
        struct writ_view text = writ_view_str(*variable);
        if (writ_view_find(text, '=') == 0 || writ_view_find(text, '=') == text.len) {
            continue;
        }
        if (n == WRIT_ENVIRONMENT_MAX) {
            WRIT_FAIL(err, WRIT_E_LIMIT,
                "the programs of a crew inherit at most %d variables of the environment",
                WRIT_ENVIRONMENT_MAX);
        }
        ret[n++] = *variable;
    }
    ret[n] = NULL;
    return WRIT_DONE;
}
