/* Every problem is counted, and kept while there is room; none ends the verification. */
#include "store/read/check.h"

#include <stdarg.h>
#include <stdio.h>

void
writ_check_problem(struct writ_check *v, uint64_t leaf, const char *fmt, ...)
{
    struct writ_verify_report *report = v->report;
    va_list args;

    if (report->problems < WRIT_VERIFY_PROBLEMS) {
        struct writ_verify_problem *at = &report->list[report->problems];

        at->leaf = leaf;
        va_start(args, fmt);
        (void)vsnprintf(at->what, sizeof at->what, fmt, args);
        va_end(args);
    }
    report->problems++;
}

void
writ_check_expect(struct writ_check *v, bool holds, const char *what)
{
    if (!holds) {
        writ_check_problem(v, v->row.leaf, "%s", what);
    }
}

WRIT_RESULT
writ_check_next(
    struct writ_check *v, enum writ_check_statement which, bool *ret, struct writ_err *err)
{
    writ_result result = writ_sql_step(v->statements[which], ret, err);

    if (!writ_is_ok(result)) {
        writ_sql_reset(v->statements[which]);
    }
    return result;
}
