/* duplicates.h - the treatment of the second call of an identical pair. Policy configures it, store
 * applies it and the record states it, so it is defined here. */
#ifndef WRIT_EVIDENCE_DUPLICATES_H
#define WRIT_EVIDENCE_DUPLICATES_H

#include "base/bytes.h"

/** X(NAME, "word"): the word of the configuration, and of a record's extensions.writ.duplicates.
 * FORBID: refused with the outcome of the first; REPLAY: answered with the first one's stored
 * result; ALLOW: runs, for tools that only read. */
#define WRIT_DUPLICATES(X)                                                                         \
    X(FORBID, "forbid")                                                                            \
    X(REPLAY, "replay")                                                                            \
    X(ALLOW, "allow")

enum writ_duplicates {
#define WRIT_DUPLICATES_ENUM(NAME, word) WRIT_DUPLICATES_##NAME,
    WRIT_DUPLICATES(WRIT_DUPLICATES_ENUM)
#undef WRIT_DUPLICATES_ENUM
};

/** The word of a record's extensions.writ.duplicates. */
static inline struct writ_view
writ_duplicates_word(enum writ_duplicates duplicates)
{
    static const struct writ_view words[] = {
#define WRIT_DUPLICATES_WORD(NAME, word) WRIT_LIT(word),
        WRIT_DUPLICATES(WRIT_DUPLICATES_WORD)
#undef WRIT_DUPLICATES_WORD
    };

    WRIT_INVARIANT((size_t)duplicates < sizeof words / sizeof words[0]);
    return words[duplicates];
}

#endif
