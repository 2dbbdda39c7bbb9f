/* accepted.h - which definitions of tools an operator accepted: facts of the ledger, one for each
 * definition. `writ tools accept` leaves what it accepts in a signed file beside the ledger
 * (store/definitions.h), because a running gateway alone writes to its ledger; a gateway records
 * what is newer there than in the ledger, and from then on the ledger says it. A file that is gone,
 * or that is an older one, takes nothing back. */
#ifndef WRIT_GATEWAY_ACCEPTED_H
#define WRIT_GATEWAY_ACCEPTED_H

#include "store/ledger/ledger.h"
#include "store/trusted/definitions.h"

/**
 * Reads the facts, then the file, which wins where it is newer. A definition that the file does not
 * have has no text.
 *
 * @param store   path of the ledger, NUL-terminated
 * @param keys    with the keys of the ledger
 * @param ledger  open: what is newer in the file is recorded before it counts; NULL: it is not
 * @param ret     new, free with writ_definitions_free
 *
 * As writ_reader_open, writ_reader_facts, writ_definitions_load (but no file is none) and
 * writ_ledger_record. Blocks. Not on the writer's thread.
 */
WRIT_RESULT writ_accepted_load(const char *store, const struct writ_keyring *keys,
    struct writ_ledger *ledger, struct writ_definitions **ret, struct writ_err *err);

#endif
