/* faults.h - everything that is wrong with a record, not only the first thing (contract 3). */
#ifndef WRIT_EVIDENCE_FAULTS_H
#define WRIT_EVIDENCE_FAULTS_H

#include "base/bytes.h"

#define WRIT_FAULTS_MAX 64

/** One thing that is wrong: where (a JSON Pointer) and what. Both are static storage, never a value
 * of the record. */
struct writ_fault {
    const char *pointer; /* "/policy_refs" */
    const char *what;    /* "is missing" */
};

/** Everything that is wrong with one record. Zero-initialise before use. */
struct writ_faults {
    size_t count; /* 0: nothing is wrong */
    struct writ_fault list[WRIT_FAULTS_MAX];
    bool more; /* there were more than WRIT_FAULTS_MAX */
};

/** Adds one; over WRIT_FAULTS_MAX it is only noted that there are more. */
void writ_faults_add(struct writ_faults *faults, const char *pointer, const char *what);

/** Appends all of them as one line: "/tool is missing; /seq is not an integer from 0". */
void writ_faults_put(const struct writ_faults *faults, struct writ_buf *buf);

#endif
