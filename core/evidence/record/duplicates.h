/* duplicates.h - the treatment of the second call of an identical pair. It is here because policy
 * (which configures it), store (which applies it) and the record (which states it) share it. */
#ifndef WRIT_EVIDENCE_DUPLICATES_H
#define WRIT_EVIDENCE_DUPLICATES_H

#include "base/bytes.h"

enum writ_duplicates {
    WRIT_DUPLICATES_FORBID = 0, /* refused with the outcome of the first */
    WRIT_DUPLICATES_REPLAY,     /* answered with the first one's stored result */
    WRIT_DUPLICATES_ALLOW,      /* runs: for tools that only read */
};

/** The word of a record's extensions.writ.duplicates. */
static inline struct writ_view
writ_duplicates_word(enum writ_duplicates duplicates)
{
    return duplicates == WRIT_DUPLICATES_ALLOW    ? WRIT_LIT("allow")
           : duplicates == WRIT_DUPLICATES_REPLAY ? WRIT_LIT("replay")
                                                  : WRIT_LIT("forbid");
}

#endif
