/* definition_cache.h - keeps the learned definitions of tools in the file of seen definitions
 * beside the ledger, where `writ tools` finds them. Only for the main thread: it blocks for
 * files. */
#ifndef WRIT_GATEWAY_DEFINITION_CACHE_H
#define WRIT_GATEWAY_DEFINITION_CACHE_H

#include "gateway/state/gateway.h"
#include "store/trusted/definitions.h"

struct writ_definition_cache {
    struct writ_definitions *definitions;  /* in the form of the file */
    uint64_t versions[WRIT_UPSTREAMS_MAX]; /* of the snapshots in it */
    char kid[WRIT_JWK_THUMBPRINT_TEXT];    /* of the key that signed it; empty: as found */
};

/** Reads the file; a missing file is an empty one. As writ_definitions_load. */
WRIT_RESULT writ_definition_cache_open(const struct writ_gateway *gateway,
    const struct writ_keyring *keys, struct writ_definition_cache *ret, struct writ_err *err);

/** Writes the file, signed by the ledger's active key, when there is a new definition or that key
 * has changed (a start refuses a file that a revoked key signed). Logs which definitions changed,
 * and failures. */
void writ_definition_cache_keep(const struct writ_gateway *gateway, const struct writ_keyring *keys,
    struct writ_definition_cache *cache);

/** A zeroed one is fine. */
void writ_definition_cache_wipe(struct writ_definition_cache *cache);

#endif
