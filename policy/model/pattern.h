/* pattern.h - regular expressions of the op `matches` and of redactions (PCRE2), bounded.
 *
 * A pattern of `matches` must match the whole text, from the first byte to the last: `ok` does not
 * match "ok\nevil", whatever its anchors and newlines. Texts and patterns are UTF-8. A match that
 * reaches a limit has no answer, which denies. */
#ifndef WRIT_POLICY_PATTERN_H
#define WRIT_POLICY_PATTERN_H

#include "base/bytes.h"
#include "base/clock.h"

#define WRIT_PATTERN_MAX       4096               /* bytes of a pattern */
#define WRIT_PATTERN_TEXT_MAX  65536              /* bytes of a text that is matched */
#define WRIT_PATTERN_MATCH_MAX 200000             /* PCRE2's match limit */
#define WRIT_PATTERN_DEPTH_MAX 2000               /* PCRE2's depth limit */
#define WRIT_PATTERN_HEAP_KIB  1024               /* PCRE2's heap limit */
#define WRIT_PATTERN_FIND_MAX  (16 * 1024 * 1024) /* bytes of a text that is searched */
#define WRIT_PATTERN_SLICE                                                                         \
    1024 /* bytes of a text in which a search begins before it checks the time */

enum writ_pattern_answer {
    WRIT_PATTERN_LIMIT = 0, /* a limit was reached, or memory ran out: neither yes nor no */
    WRIT_PATTERN_NO,
    WRIT_PATTERN_YES,
};

struct writ_pattern;

/**
 * Compiles a pattern.
 *
 * @param ret  new, free with writ_pattern_free; safe to match with from many threads at once
 * @return WRIT_OK, WRIT_E_PARSE (err has the fault and its offset), WRIT_E_LIMIT, WRIT_E_NOMEM
 */
WRIT_RESULT writ_pattern_new(
    struct writ_view text, struct writ_pattern **ret, struct writ_err *err);

/** Matches the whole of `text`, which is UTF-8. Its memory comes from `arena`. */
enum writ_pattern_answer writ_pattern_match(
    const struct writ_pattern *pattern, struct writ_view text, struct writ_arena *arena);

/** As writ_pattern_new, for a pattern that is searched anywhere in a text. One that can match the
 * empty text is refused (WRIT_E_INVALID): it would match everywhere. */
WRIT_RESULT writ_pattern_new_search(
    struct writ_view text, struct writ_pattern **ret, struct writ_err *err);

/** The total cost that all searches with one budget may have. */
struct writ_pattern_budget {
    size_t matches; /* matches that may still be found; counted down */
    const struct writ_clock *clock;
    int64_t until_us; /* monotonic; a search that is then unfinished has no answer */
};

/** Takes one match. False: no more are wanted. */
typedef bool writ_pattern_fn(void *ctx, size_t offset, size_t length);

/** Calls `each` for the matches of a pattern for searching, from the first on, none within another.
 * YES: at least one; NO; LIMIT: a limit was reached, possibly of the budget, or memory ran out. */
enum writ_pattern_answer writ_pattern_each(const struct writ_pattern *pattern,
    struct writ_view text, struct writ_pattern_budget *budget, writ_pattern_fn *each, void *ctx);

/**
 * Appends `text`, which is UTF-8, with every match of a pattern for searching replaced by `with`.
 *
 * @param budget  what it draws on
 * @param ret     unusable without an answer
 *
 * @return YES    at least one match
 *         NO     no match, and `ret` has the text as it is
 *         LIMIT  a limit was reached, possibly of the budget, or memory ran out
 */
enum writ_pattern_answer writ_pattern_replace(const struct writ_pattern *pattern,
    struct writ_view text, struct writ_view with, struct writ_pattern_budget *budget,
    struct writ_buf *ret);

/** NULL is permitted. */
void writ_pattern_free(struct writ_pattern *pattern);

/** Keeps a compiled pattern alive; freed by writ_pattern_list_free. */
struct writ_pattern_list {
    struct writ_pattern *pattern; /* NULL: something else, and how it is freed: */
    void *other;
    void (*release)(void *other);
    struct writ_pattern_list *next;
};

/** Frees the patterns. NULL is permitted. */
void writ_pattern_list_free(struct writ_pattern_list *patterns);

#endif
