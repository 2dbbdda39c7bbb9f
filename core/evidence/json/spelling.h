/* spelling.h - the source text of one JSON string, checked piece by piece without unescaping it. A
 * long string whose escapes are those of the canonical form (RFC 8785 3.2.2.2) is digested as it
 * was spelled, and one whose value is not read is never unescaped. */
#ifndef WRIT_EVIDENCE_SPELLING_H
#define WRIT_EVIDENCE_SPELLING_H

#include "base/bytes.h"

enum writ_spelling_state {
    WRIT_SPELLING_BAD = 0, /* not a string: json.h says why, reading it from its start */
    WRIT_SPELLING_MORE,    /* valid so far */
    WRIT_SPELLING_CLOSED,  /* at the closing quote */
};

/** What was read of a string. Begin with writ_spelling_begin: a zeroed one is not canonical. */
struct writ_spelling {
    size_t source;  /* bytes read, from the first after the opening quote */
    size_t bytes;   /* of the same, unescaped */
    bool escaped;   /* it has an escape */
    bool canonical; /* every escape is spelled as in the canonical form */
};

static inline struct writ_spelling
writ_spelling_begin(void)
{
    return (struct writ_spelling){.canonical = true};
}

/**
 * Reads on. After MORE call again with more bytes; after another state do not.
 *
 * @param rest  the text from the first byte that was not read yet
 */
enum writ_spelling_state writ_spelling_read(struct writ_spelling *spelling, struct writ_view rest);

/**
 * Unescapes a whole string that was found valid.
 *
 * @param source  from the first byte after the opening quote to the closing one
 * @param to      room for source.len bytes
 *
 * @return the bytes at `to`
 */
struct writ_view writ_spelling_unescape(struct writ_view source, char *to);

#endif
