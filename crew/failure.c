/* A failure is formatted once and cut to its field. Without a place for it only the code is
 * returned. */
#include "crew/failure.h"

#include "base/bytes.h"

#include <stdarg.h>
#include <stdio.h>

const char *
writ_crew_error_name(enum writ_crew_error error)
{
    static const char *const names[] = {
#define ERROR_NAME(name, text) [WRIT_CREW_##name] = (text),
        WRIT_CREW_ERRORS(ERROR_NAME)
#undef ERROR_NAME
    };

    return error < sizeof names / sizeof *names ? names[error] : "none";
}

writ_result
writ_failure_set(struct writ_crew_err *err, enum writ_code code, enum writ_crew_error error,
    const char *fmt, ...)
{
    char text[WRIT_ERR_TEXT];
    va_list args;

    if (err == NULL) {
        return (writ_result){code};
    }
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    err->error = error;
    return writ_fail(&err->err, code, "%s", text);
}

writ_result
writ_failure_below(struct writ_crew_err *err, writ_result failed, const struct writ_err *below)
{
    if (err != NULL) {
        err->error = failed.code == WRIT_E_LIMIT   ? WRIT_CREW_LIMIT_EXCEEDED
                     : failed.code == WRIT_E_NOMEM ? WRIT_CREW_NO_MEMORY
                                                   : WRIT_CREW_MALFORMED;
        err->err = *below;
    }
    return failed;
}

writ_result
writ_failure_memory(struct writ_crew_err *err)
{
    return writ_failure_set(err, WRIT_E_NOMEM, WRIT_CREW_NO_MEMORY, "no memory");
}
