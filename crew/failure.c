/* A failure is formatted once and cut to its field. Without a place for it only the code is
 * returned. A list of findings only grows; the paths in it live as long as the list. */
#include "crew/failure.h"

#include "crew/vec.h"

#include <stdarg.h>
#include <stdio.h>

struct writ_crew_findings {
    struct writ_crew_finding *list;
    size_t n, cap;
    struct writ_arena *paths;
};

/* ---- one failure */

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

/* ---- findings */

struct writ_crew_findings *
writ_crew_findings_new(void)
{
    struct writ_crew_findings *findings = writ_alloc(sizeof *findings);

    if (findings != NULL && (findings->paths = writ_arena_new(SIZE_MAX)) == NULL) {
        writ_free(findings);
        return NULL;
    }
    return findings;
}

void
writ_crew_findings_free(struct writ_crew_findings *findings)
{
    if (findings != NULL) {
        writ_arena_free(findings->paths);
        writ_free(findings->list);
        writ_free(findings);
    }
}

size_t
writ_crew_findings_count(const struct writ_crew_findings *findings)
{
    return findings->n;
}

const struct writ_crew_finding *
writ_crew_findings_at(const struct writ_crew_findings *findings, size_t at)
{
    WRIT_INVARIANT(at < findings->n);
    return &findings->list[at];
}

WRIT_RESULT
writ_failure_find(struct writ_crew_findings *findings, const char *code, struct writ_view path)
{
    struct writ_view copy;

    if (findings == NULL) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_vec_room(&findings->list, &findings->cap, findings->n, sizeof *findings->list));
    copy = writ_view_copy(path, findings->paths);
    if (copy.ptr == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    findings->list[findings->n++] = (struct writ_crew_finding){code, copy};
    return WRIT_DONE;
}
