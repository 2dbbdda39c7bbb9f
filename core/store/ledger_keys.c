#include "store/ledger_keys.h"

WRIT_RESULT
writ_ledger_keys_new(struct writ_keyring *ring, struct writ_ledger_keys **ret, struct writ_err *err)
{
    const struct writ_signer *signer = writ_keyring_active(ring, WRIT_KEY_PURPOSE_LEDGER);
    struct writ_ledger_keys *keys;

    if (signer == NULL || writ_jwk_alg(writ_signer_jwk(signer)) != WRIT_JWK_ALG_EDDSA) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the ledger has no active Ed25519 key");
    }
    keys = writ_alloc(sizeof *keys);
    if (keys == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the keys of the ledger");
    }
    keys->ring = ring;
    *ret = keys;
    return WRIT_DONE;
}

void
writ_ledger_keys_free(struct writ_ledger_keys *keys)
{
    if (keys != NULL) {
        writ_keyring_free(keys->ring);
        writ_free(keys);
    }
}
