/* glob.h - patterns of the op `glob` and of tool names.
 *
 * `*` is any run of characters but `/`, `**` any run at all, `?` one character but `/`, `[a-z_]`
 * one of a set, `[!...]` one that is not in it (and not `/`), `\` takes the next character
 * literally. Everything else matches itself; the whole text must match. Characters are code
 * points. */
#ifndef WRIT_POLICY_GLOB_H
#define WRIT_POLICY_GLOB_H

#include "base/bytes.h"

#define WRIT_GLOB_MAX       1024    /* longest pattern */
#define WRIT_GLOB_TEXT_MAX  65536   /* longest text */
#define WRIT_GLOB_STEPS_MAX 1000000 /* of one match */

enum writ_glob_answer {
    WRIT_GLOB_LIMIT = 0, /* a limit was reached: neither yes nor no */
    WRIT_GLOB_NO,
    WRIT_GLOB_YES,
};

/** NULL, or the fault of the pattern. */
const char *writ_glob_fault(struct writ_view pattern);

/** True when the pattern can match across `/`. */
bool writ_glob_spans(struct writ_view pattern);

/** Matches UTF-8 text with a pattern without faults. */
enum writ_glob_answer writ_glob_match(struct writ_view pattern, struct writ_view text);

#endif
