/* pool_fact.h - what the ledger records about insights that agents share: who put or removed one,
 * and digests. The data of WRIT_FACT_POOL_PUT and WRIT_FACT_POOL_REMOVED; nothing that was said. */
#ifndef WRIT_EVIDENCE_POOL_FACT_H
#define WRIT_EVIDENCE_POOL_FACT_H

#include "evidence/json/digest.h"

#define WRIT_POOL_FACT_BYTES_MAX (1 << 20) /* canonical bytes of an insight */

/** An insight that was put or removed. */
struct writ_pool_fact {
    struct writ_view tenant;
    struct writ_view agent_id; /* who did it */
    struct writ_digest digest; /* of the insight, as it is kept */
    struct writ_digest tags;   /* of the list of its tags */
    struct writ_view key;      /* a put: digest of its key, as text; empty: none */
    int64_t expires_us;        /* a put: wall time at which it ends */
    uint64_t insight;          /* a removal: the record of the put */
};

/** Digests an insight, a canonical object that may have `tags`: sets digest and tags. `arena` is
 * for one reading. WRIT_E_PARSE: not such an object; WRIT_E_LIMIT, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_pool_fact_digest(struct writ_view bytes, struct writ_arena *arena,
    struct writ_pool_fact *ret, struct writ_err *err);

/** Appends the data of the fact, a canonical object. WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_pool_fact_put(
    const struct writ_pool_fact *fact, bool removed, struct writ_buf *ret, struct writ_err *err);

/** Reads the data; `ret` borrows from `data`. WRIT_E_MISMATCH: not of this form. */
WRIT_RESULT writ_pool_fact_read(
    const struct writ_json *data, bool removed, struct writ_pool_fact *ret, struct writ_err *err);

#endif
