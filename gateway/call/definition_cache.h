/* definition_cache.h - keeps what was learned of tools in the file of seen definitions beside the
 * ledger, where `writ tools` finds it. For the main thread alone: it blocks for files. */
#ifndef WRIT_GATEWAY_DEFINITION_CACHE_H
#define WRIT_GATEWAY_DEFINITION_CACHE_H

#include "gateway/state/gateway.h"
#include "store/trusted/definitions.h"

struct writ_definition_cache {
    struct writ_definitions *definitions;  /* as the file has them */
    uint64_t versions[WRIT_UPSTREAMS_MAX]; /* of the shelves that are in it */
    char kid[WRIT_JWK_THUMBPRINT_TEXT];    /* of the key that signed it; empty: as it was found */
};

/** Reads the file; none is there at first. As writ_definitions_load. */
WRIT_RESULT writ_definition_cache_open(const struct writ_gateway *gateway,
    const struct writ_keyring *keys, struct writ_definition_cache *ret, struct writ_err *err);

/** Writes the file, signed by the ledger's active key, when something was learned since or that key
 * is another one (a start refuses what a revoked key signed). Logs which definitions are others
 * than before, and that it could not be written. */
void writ_definition_cache_keep(const struct writ_gateway *gateway, const struct writ_keyring *keys,
    struct writ_definition_cache *seen);

/** A zeroed one is fine. */
void writ_definition_cache_wipe(struct writ_definition_cache *seen);

#endif
