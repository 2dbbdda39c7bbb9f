/* failure.h - the errors of the crew library: the reason of a failure, and the findings of a
 * check. */
#ifndef WRIT_CREW_FAILURE_H
#define WRIT_CREW_FAILURE_H

#include "base/bytes.h"
#include "writ/crew.h"

/** Fills `err` (which may be NULL) and returns `code`. */
writ_result writ_failure_set(struct writ_crew_err *err, enum writ_code code,
    enum writ_crew_error error, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/** As writ_failure_set for a failure of a lower layer: MALFORMED, LIMIT_EXCEEDED or NO_MEMORY, by
 * its code. `below` is the error of that layer. */
writ_result writ_failure_below(
    struct writ_crew_err *err, writ_result failed, const struct writ_err *below);

/** No memory. */
writ_result writ_failure_memory(struct writ_crew_err *err);

/** Adds a finding to a list; `code` is static storage, `path` is copied. Does nothing for NULL.
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_failure_find(
    struct writ_crew_findings *findings, const char *code, struct writ_view path);

#endif
