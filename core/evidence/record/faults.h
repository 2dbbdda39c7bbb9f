/* faults.h - everything that is wrong with a record, not only the first fault. */
#ifndef WRIT_EVIDENCE_FAULTS_H
#define WRIT_EVIDENCE_FAULTS_H

#include "base/bytes.h"

#define WRIT_FAULTS_MAX 64

/** One fault: its place (a JSON Pointer) and a sentence. Both are static storage, never a value of
 * the record. */
struct writ_fault {
    const char *pointer; /* "/policy_refs" */
    const char *what;    /* "is missing" */
};

/** All faults of one record. Zero-initialise before use. */
struct writ_faults {
    size_t count; /* 0: the record is valid */
    struct writ_fault list[WRIT_FAULTS_MAX];
    bool more; /* more than WRIT_FAULTS_MAX */
};

/** Adds one; over WRIT_FAULTS_MAX it only notes that there are more. */
void writ_faults_add(struct writ_faults *faults, const char *pointer, const char *what);

/** Appends all of them as one line: "/tool is missing; /seq is not an integer from 0". */
void writ_faults_put(const struct writ_faults *faults, struct writ_buf *buf);

#endif
