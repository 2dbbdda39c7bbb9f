/* faults.h - a trial for every step of the file system that can fail. */
#ifndef WRIT_TESTS_FAULTS_H
#define WRIT_TESTS_FAULTS_H

#include "support/store/kit.h"
#include "support/store/vfs.h"

/** One way in which a step fails. */
struct writ_vfs_fault {
    const char *name;
    enum writ_vfs_step step;
    enum writ_vfs_action action;
    int code; /* of SQLite */
};

/** Arms the n-th step of `fault`, once or from then on (`persistent`). True when it was reached. */
typedef bool writ_fault_trial(const struct writ_vfs_fault *fault, long nth, bool persistent);

/** Runs `trial` for every fault, n = 1, 2, ... until it is not reached. Fails the test when `most`
 * trials of a fault do not suffice. */
void writ_faults_try(writ_fault_trial *trial, bool persistent, long most);

/** Fails the test, naming `where` and `nth`, unless the closed ledger of `kit` verifies. */
void writ_faults_sound(const struct writ_kit *kit, const char *where, long nth);

#endif
