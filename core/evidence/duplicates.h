/* duplicates.h - what becomes of the second call of an identical pair. It stands here because
 * policy (which configures it) and store (which does it) do not know each other. */
#ifndef WRIT_EVIDENCE_DUPLICATES_H
#define WRIT_EVIDENCE_DUPLICATES_H

enum writ_duplicates {
    WRIT_DUPLICATES_FORBID = 0, /* refused with what became of the first */
    WRIT_DUPLICATES_REPLAY,     /* answered with the first one's stored result */
    WRIT_DUPLICATES_ALLOW,      /* runs: for tools that only read */
};

#endif
