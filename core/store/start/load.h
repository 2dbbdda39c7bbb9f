/* load.h - rebuilds the memory of the writer from the disk. */
#ifndef WRIT_STORE_LOAD_H
#define WRIT_STORE_LOAD_H

#include "store/write/store.h"

/** Rebuilds the memory of the writer from the disk, and writes the outcomes of interrupted calls.
 * WRIT_E_MISMATCH, WRIT_E_LIMIT, WRIT_E_IO, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_load_all(struct writ_ledger *ledger, struct writ_err *err);

#endif
