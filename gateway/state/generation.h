/* generation.h - the state that a reload replaces as a whole. Every request holds the generation
 * with which it began, so that nothing changes during a call. */
#ifndef WRIT_GATEWAY_GENERATION_H
#define WRIT_GATEWAY_GENERATION_H

#include "base/clock.h"
#include "evidence/flow/mark.h"
#include "evidence/jose/keyring.h"
#include "gateway/auth/identity.h"
#include "policy/model/config.h"
#include "store/ledger/ledger.h"
#include "store/trusted/definitions.h"

#include <stdatomic.h>

/** The state that SIGHUP replaces as a whole: policy and agents, the signing keys, the issuers'
 * keys, the accepted definitions of tools. */
struct writ_generation {
    const struct writ_config *config;
    struct writ_keyring *keyring;
    const struct writ_signer *signer; /* the active credential key of the ring */
    struct writ_buf jwks;             /* its public keys, in published form */
    struct writ_identity_keys *issuers;
    struct writ_mark_key *marks;       /* NULL: no rule asks where values came from */
    struct writ_definitions *accepted; /* definitions of pinned tools; NULL: none yet */
    struct writ_generation *shares;    /* the generation whose members except `accepted` it shares,
                                          held; NULL: its own */
    atomic_uint holders;
    struct writ_generation
        *before; /* the replaced one: the main thread keeps it until it is the last holder */
};

/** Makes a generation of a configuration: opens the key directory and reads the issuers' keys. It
 * has no accepted definitions yet. Held once. Blocks for files. As writ_keydir_open and
 * writ_identity_keys_new. `config` is held. */
WRIT_RESULT writ_generation_new(const struct writ_config *config, const struct writ_clock *clock,
    struct writ_log *log, struct writ_generation **ret, struct writ_err *err);

/** Once, before it is used: reads the accepted definitions, and records new ones. Blocks. As
 * writ_accepted_load. */
WRIT_RESULT writ_generation_accept(
    struct writ_generation *generation, struct writ_ledger *ledger, struct writ_err *err);

/** A generation that differs from `current` only in the accepted definitions, read as by
 * writ_generation_accept. Held once. Blocks. Fails as that one; WRIT_E_NOMEM. */
WRIT_RESULT writ_generation_renew(struct writ_generation *current, struct writ_ledger *ledger,
    struct writ_generation **ret, struct writ_err *err);

/** Adds a hold; returns it. Any thread. */
struct writ_generation *writ_generation_hold(struct writ_generation *generation);

/** Drops one hold; the last one frees, with the replaced generations. NULL is permitted. Any
 * thread; may block for a fetch of issuers' keys when it is the last: see writ_generation_reap. */
void writ_generation_drop(struct writ_generation *generation);

/** Frees the replaced generations that no request uses. The main thread calls it from time to time,
 * so that no loop is the last holder and blocks. */
void writ_generation_reap(struct writ_generation *current);

#endif
