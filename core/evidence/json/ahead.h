/* ahead.h - the long string of a JSON text, checked and digested while the text arrives, so that
 * this is done when its last byte is there. What a tool reads, a file or a log, is one such string.
 *
 * A digest is over the canonical form, whose order is known only at the end. So the bytes before
 * the string are guessed, from the members that came before it; the digest is used only where the
 * canonical form has exactly these bytes. A wrong guess costs time and changes no result.
 *
 * A value that owns nothing. What it says holds for the text that it was fed with, while that text
 * stays where it is. */
#ifndef WRIT_EVIDENCE_AHEAD_H
#define WRIT_EVIDENCE_AHEAD_H

#include "evidence/json/digest.h"
#include "evidence/json/spelling.h"

#define WRIT_AHEAD_BYTES  65536 /* of a text for which it is worth the effort */
#define WRIT_AHEAD_BEFORE 256   /* bytes before the string, in both forms */

struct writ_ahead {
    struct writ_view member; /* of the text's object: what will be digested */
    size_t least;            /* bytes of a text from which on it is looked at */
    const char *text;        /* where it was at the last call */
    size_t start;            /* of the string, after its quote; 0: none was found */
    bool looked;
    enum writ_spelling_state state; /* BAD: nothing is known of it */
    struct writ_spelling spelling;
    struct writ_digest_stream digest; /* of `before` and what was read of the string, if begun */
    size_t before_len;
    char before[WRIT_AHEAD_BEFORE]; /* canonical bytes of the member up to the string */
};

/** Before a text whose `member` will be digested; the view is borrowed as long as it is used. */
void writ_ahead_begin(struct writ_ahead *ret, struct writ_view member, size_t least);

/**
 * Reads on.
 *
 * @param so_far  all of the text that is there: the bytes of the last call, perhaps elsewhere, and
 *                more
 */
void writ_ahead_feed(struct writ_ahead *ahead, struct writ_view so_far);

/** As writ_digest_json of the member, which was read by writ_ahead_read, without digesting again
 * what was digested; and the length of the canonical form. `ahead` may be NULL. */
WRIT_RESULT writ_ahead_digest(const struct writ_ahead *ahead, const struct writ_json *member,
    size_t max, struct writ_digest *ret, size_t *ret_bytes, struct writ_err *err);

/** What is known of the string that begins at `start`; NULL: nothing, or it has no end. */
const struct writ_spelling *writ_ahead_string(const struct writ_ahead *ahead, const char *start);

/** As writ_json_read of the whole text, without reading again what was read while it arrived. NULL:
 * nothing was. */
WRIT_RESULT writ_ahead_read(struct writ_view text, const struct writ_json_limits *limits,
    struct writ_ahead *ahead, struct writ_arena *arena, const struct writ_json **ret,
    struct writ_err *err);

#endif
