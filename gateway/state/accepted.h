/* accepted.h - the definitions of tools that an operator accepted: facts of the ledger, one for
 * each definition. `writ tools accept` puts them into a signed file beside the ledger
 * (store/trusted/definitions.h), because only a running gateway writes to its ledger. A gateway
 * records definitions that are newer there than in the ledger, and from then on the ledger has
 * them. A missing or older file revokes nothing. */
#ifndef WRIT_GATEWAY_ACCEPTED_H
#define WRIT_GATEWAY_ACCEPTED_H

#include "policy/model/config.h"
#include "store/ledger/ledger.h"
#include "store/trusted/definitions.h"

/**
 * Reads the facts, then the file; the newer definition wins. A definition that is not in the file
 * has no text.
 *
 * @param store   path of the ledger, NUL-terminated
 * @param keys    with the keys of the ledger
 * @param ledger  open: newer definitions of the file are recorded before they count; NULL: not
 *                recorded
 * @param ret     new, free with writ_definitions_free
 *
 * As writ_reader_open, writ_reader_facts, writ_definitions_load (a missing file is empty) and
 * writ_ledger_record. Blocks. Not on the writer's thread.
 */
WRIT_RESULT writ_accepted_load(const struct writ_config *config, const struct writ_keyring *keys,
    struct writ_ledger *ledger, struct writ_definitions **ret, struct writ_err *err);

#endif
