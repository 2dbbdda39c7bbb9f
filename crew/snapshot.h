/* snapshot.h - all there is to know about a machine, as one canonical value; and back. */
#ifndef WRIT_CREW_SNAPSHOT_H
#define WRIT_CREW_SNAPSHOT_H

#include "crew/machine.h"

/** WRIT_E_NOMEM, or what the memory says. */
WRIT_RESULT writ_snapshot_take(struct writ_machine *m, struct writ_crew_value **ret);

/**
 * Fills an idle machine.
 *
 * @param m         new; of no use after a failure
 * @param snapshot  what writ_snapshot_take wrote
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE    not a snapshot of such a crew (MALFORMED)
 *         WRIT_E_INVALID  CREW_ID_MISMATCH, CANNOT_RESTORE_NESTED
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_snapshot_restore(
    struct writ_machine *m, const struct writ_json *snapshot, struct writ_crew_err *err);

#endif
