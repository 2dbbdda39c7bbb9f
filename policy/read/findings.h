/* findings.h - all errors and warnings about a file, collected to its end: a person who repairs a
 * configuration needs all faults, not only the first. */
#ifndef WRIT_POLICY_FINDINGS_H
#define WRIT_POLICY_FINDINGS_H

#include "base/bytes.h"

#define WRIT_FINDINGS_MAX     64  /* findings that are kept; more are only counted */
#define WRIT_FINDING_TEXT_MAX 400 /* longest message */

enum writ_severity {
    WRIT_SEVERITY_ERROR = 0,
    WRIT_SEVERITY_WARNING,
    WRIT_SEVERITY_NOTE, /* true, and perhaps as it was meant */
};

/** One error, warning or note. */
struct writ_finding {
    enum writ_severity severity;
    struct writ_view file;    /* an included file; empty = the file that was read */
    size_t line;              /* 1-based; 0 = the file as a whole */
    struct writ_view pointer; /* JSON Pointer of the place; empty = the whole */
    struct writ_view message; /* one line, no control characters */
};

/** The findings of one reading. Owned by the caller: zero-initialise, wipe to free. For one
 * thread. */
struct writ_findings {
    struct writ_arena *arena;
    struct writ_view file;      /* of the findings to come; empty = the file that is read */
    struct writ_finding *items; /* in the order of files and lines after writ_findings_sort */
    size_t n;
    size_t max; /* that are kept; 0: WRIT_FINDINGS_MAX. Set it before the first is added */
    size_t errors, warnings, notes; /* in all, those that were dropped included */
};

/** Adds one. A finding without memory is still counted. */
void writ_findings_add(struct writ_findings *findings, enum writ_severity severity, size_t line,
    struct writ_view pointer, const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/** The severity as a word. Static storage. */
const char *writ_findings_severity(enum writ_severity severity);

/** Sorts them by file, included ones last, and by line; findings of one line keep their order. */
void writ_findings_sort(struct writ_findings *findings);

/** Appends "file:line: /pointer: message" lines ("warning: " or "note: " before such a message),
 * each ended by a newline; control characters become '?'. */
void writ_findings_put(
    const struct writ_findings *findings, struct writ_view file, struct writ_buf *ret);

/** Frees; a zeroed value is permitted. */
void writ_findings_wipe(struct writ_findings *findings);

#endif
