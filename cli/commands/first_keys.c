/* A purpose gets its first key once: a second one is a rotation, which has an order of its own. */
#include "cli/commands/first_keys.h"

#include "store/trusted/keydir.h"

static void
dir_freep(struct writ_keydir **dir)
{
    writ_keydir_close(*dir);
}

static void
signer_freep(struct writ_signer **signer)
{
    writ_signer_free(*signer);
}

enum writ_jwk_alg
writ_first_keys_alg(enum writ_key_purpose purpose)
{
    return purpose == WRIT_KEY_PURPOSE_LEDGER ? WRIT_JWK_ALG_EDDSA : WRIT_JWK_ALG_ES256;
}

WRIT_RESULT
writ_first_keys_add(struct writ_keyring *ring, enum writ_key_purpose purpose, enum writ_jwk_alg alg,
    const struct writ_clock *clock, struct writ_err *err)
{
    WRIT_AUTO(struct writ_signer *, signer_freep) signer = NULL;

    WRIT_TRY(writ_signer_new(alg, &signer, err));
    WRIT_TRY(writ_keyring_add(ring, purpose, signer, writ_clock_wall_us(clock), err));
    (void)WRIT_TAKE(signer);
    return WRIT_DONE;
}

WRIT_RESULT
writ_first_keys_make(const char *path, const struct writ_clock *clock, struct writ_err *err)
{
    static const enum writ_key_purpose purposes[] = {
        WRIT_KEY_PURPOSE_CREDENTIAL, WRIT_KEY_PURPOSE_LEDGER};
    WRIT_AUTO(struct writ_keydir *, dir_freep) dir = NULL;

    WRIT_TRY(writ_keydir_open(path, true, &dir, err));
    if (writ_keyring_count(writ_keydir_ring(dir)) > 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "%s: has keys already", path);
    }
    for (size_t i = 0; i < sizeof purposes / sizeof purposes[0]; i++) {
        WRIT_TRY(writ_first_keys_add(
            writ_keydir_ring(dir), purposes[i], writ_first_keys_alg(purposes[i]), clock, err));
    }
    return writ_keydir_save(dir, err);
}
