/* mark_key.h - the file with the mark key of a ledger (evidence/flow/mark.h), in the key
 * directory. Gateways that share a ledger need the same file. */
#ifndef WRIT_GATEWAY_MARK_KEY_H
#define WRIT_GATEWAY_MARK_KEY_H

#include "evidence/flow/mark.h"
#include "store/write/options.h"

#define WRIT_MARK_KEY_FILE  "mark.key" /* 64 hexadecimal digits and a line feed */
#define WRIT_MARK_KEY_LOOKS 256        /* newest decisions that are searched for marks */

/** Reads the key of a key directory; makes it first when there is none. Blocks on the disk.
 * WRIT_E_INVALID (not private, or other content), WRIT_E_IO, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_mark_key_open(const char *keys, struct writ_mark_key **ret, struct writ_err *err);

/** The same, but WRIT_E_ABSENT when there is none: nothing is made. */
WRIT_RESULT writ_mark_key_read(const char *keys, struct writ_mark_key **ret, struct writ_err *err);

/** The key for the tail of a ledger (store/write/options.h), which follows from the mark key. Wipe
 * it. WRIT_E_CRYPTO. */
WRIT_RESULT writ_mark_key_tail(
    const struct writ_mark_key *key, uint8_t ret[WRIT_LEDGER_TAIL_KEY], struct writ_err *err);

/** The id of the key of the newest decision with marks, among the newest WRIT_MARK_KEY_LOOKS of a
 * ledger; empty: none has. Blocks. WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM, and those of
 * writ_reader_open. */
WRIT_RESULT writ_mark_key_newest(
    const char *store, char ret[WRIT_MARK_KEY_ID + 1], struct writ_err *err);

#endif
