/* fleet_epoch.h - the epochs of the gateways of a fleet (fleet.h): that of this gateway begins, and
 * those of gateways that are not live end. For the parts of the fleet alone. */
#ifndef WRIT_STORE_FLEET_EPOCH_H
#define WRIT_STORE_FLEET_EPOCH_H

#include "store/write/store.h"

/** Reads the last epoch, the last number of rows of `segment`, and the one that this gateway, by
 * its name, has had; each stays as it is when there is none. WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM.
 */
WRIT_RESULT writ_fleet_epoch_last(struct writ_ledger *ledger, uint64_t *ret_epoch,
    uint64_t *ret_slot, uint64_t *ret_own, struct writ_err *err);

/** Takes a new epoch, in a turn of its own. As writ_fleet_join. */
WRIT_RESULT writ_fleet_epoch_add(struct writ_ledger *ledger, struct writ_err *err);

/** Extends the lease, ends the epochs whose leases have passed, and keeps an end for each call of a
 * gateway that is not live: for a part of them when there are many. As writ_turn_enter; also
 * WRIT_E_LIMIT. */
WRIT_RESULT writ_fleet_epochs_end_dead(struct writ_ledger *ledger, struct writ_err *err);

#endif
