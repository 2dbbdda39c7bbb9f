/* rows.h - makes a ledger from rows in JSON, also one that no gateway would write, such as the
 * tampered ones of vectors/ledgers.
 *
 *     {"ledger": "<its id>",
 *      "boundary": [{"id", "tenant", "name", "first_leaf", "seal_leaf"}, ...],
 *      "record": [{"leaf", "kind", "boundary", "seq", "time_us", "verdict", "flags", "about",
 *                  "decision_id", "agent_id", "tool", "claim"}, ...],
 *      "body": [{"leaf", "bytes"}, ...],
 *      "head": [{"leaf", "size", "nodes", "note"}, ...]}
 *
 * The members of a row are the columns of its table (disk.tbl.h); an absent one is null. `claim`
 * and `nodes` are base64; `bytes` and `note` stand for their UTF-8. */
#ifndef WRIT_STORE_ROWS_H
#define WRIT_STORE_ROWS_H

#include "base/clock.h"
#include "evidence/json/json.h"

/**
 * Creates a ledger with exactly these rows.
 *
 * @param path    as writ_ledger_create
 * @param tables  the object above; other members are ignored; borrowed for the call
 *
 * When it fails, it may leave files behind. Blocks.
 *
 * @return WRIT_OK
 *         WRIT_E_PARSE    a table or a row is not of its form
 *         WRIT_E_INVALID  as writ_ledger_create; or a table cannot hold such a row
 *         WRIT_E_IO, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_rows_create(const char *path, const struct writ_json *tables,
    const struct writ_clock *clock, struct writ_err *err);

#endif
