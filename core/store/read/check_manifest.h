/* check_manifest.h - what the ledger keeps for its start (manifest.h), of a verification: the note,
 * the bytes under it, and every block of every segment that they name.
 *
 * A gateway may write another one meanwhile; what the former one named is then not looked at any
 * further. Whether it says what the records say is not looked at: it is signed by who said it. */
#ifndef WRIT_STORE_CHECK_MANIFEST_H
#define WRIT_STORE_CHECK_MANIFEST_H

#include "store/read/check.h"

/** WRIT_OK whatever is wrong with it, or when there is none. WRIT_E_BUSY: `progress` (may be NULL)
 * stopped it; WRIT_E_IO, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_check_manifest(
    struct writ_check *v, bool (*progress)(void *ctx, uint64_t done, uint64_t all), void *ctx);

#endif
