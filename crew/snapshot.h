/* snapshot.h - writes the complete state of a machine as one canonical value, and reads it back. */
#ifndef WRIT_CREW_SNAPSHOT_H
#define WRIT_CREW_SNAPSHOT_H

#include "crew/machine.h"

/** WRIT_E_NOMEM, or a failure of the memory. */
WRIT_RESULT writ_snapshot_take(struct writ_machine *m, struct writ_crew_value **ret);

/**
 * Fills an idle machine.
 *
 * @param m         new; unusable after a failure
 * @param snapshot  a value of writ_snapshot_take
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE    not a snapshot of such a crew (MALFORMED)
 *         WRIT_E_INVALID  CREW_ID_MISMATCH, CANNOT_RESTORE_NESTED
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_snapshot_restore(
    struct writ_machine *m, const struct writ_json *snapshot, struct writ_crew_err *err);

#endif
