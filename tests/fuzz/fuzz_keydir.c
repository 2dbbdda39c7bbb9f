/* A key directory that was in other hands. The first byte says which private half lies beside
 * keys.json: the right one, another one, or the bytes behind the first NUL; the rest up to there
 * is keys.json.
 *
 * For every input: the listing says what the text says and is written as the same ring again; a
 * ring is loaded only with the private half of each of its active keys and of no other; a
 * directory that was opened and saved without a change has the ring that it had. */
#include "support/fuzz.h"
#include "support/shelter.h"

#include "store/trusted/keydir.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdio.h>

#define SEED_BYTES    32
#define PEM_MAX       4096
#define FILE_NAME_MAX 128

enum beside {
    BESIDE_RIGHT = 0,
    BESIDE_ANOTHER,
    BESIDE_INPUT,
    BESIDE_COUNT,
};

/* Keys of the test alone: made of one byte, as often as a seed is long. */
struct known {
    struct writ_buf pem;
    struct writ_signer *signer;
};

static struct known right, another;

static void
make(unsigned char seed, struct known *ret)
{
    unsigned char bytes[SEED_BYTES];
    BIO *bio = BIO_new(BIO_s_mem());
    EVP_PKEY *key;
    char *text;
    long n;

    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = seed;
    }
    key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, bytes, sizeof bytes);
    WRIT_INVARIANT(key != NULL && bio != NULL);
    WRIT_INVARIANT(PEM_write_bio_PKCS8PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL) == 1);
    n = BIO_get_mem_data(bio, &text);
    ret->pem = writ_buf_make(PEM_MAX);
    writ_buf_put(&ret->pem, writ_view(text, (size_t)n));
    WRIT_INVARIANT(writ_is_ok(writ_signer_read(writ_buf_view(&ret->pem), &ret->signer, NULL)));
    EVP_PKEY_free(key);
    BIO_free(bio);
}

static struct writ_view
kid_of(const struct known *known)
{
    return writ_jwk_kid(writ_signer_jwk(known->signer));
}

static struct writ_view
pem_of(enum beside beside, struct writ_view input)
{
    switch (beside) {
    case BESIDE_RIGHT:
        return writ_buf_view(&right.pem);
    case BESIDE_ANOTHER:
        return writ_buf_view(&another.pem);
    case BESIDE_INPUT:
    case BESIDE_COUNT:
        break;
    }
    return input;
}

/* ---- what must hold */

static void
put(const struct writ_keyring *ring, struct writ_buf *ret)
{
    writ_buf_clear(ret);
    writ_keyring_put(ret, ring);
    WRIT_INVARIANT(writ_is_ok(writ_buf_check(ret, NULL)));
}

/* The private half of every active key beside it. */
static void
put_halves(const struct writ_keyring *ring, struct writ_view pem)
{
    char name[FILE_NAME_MAX];

    for (size_t i = 0; i < writ_keyring_count(ring); i++) {
        const struct writ_keyring_key *key = writ_keyring_key(ring, i);

        if (key->state == WRIT_KEY_STATE_ACTIVE) {
            (void)snprintf(
                name, sizeof name, WRIT_VIEW_FMT ".pem", WRIT_VIEW_ARG(writ_jwk_kid(key->public)));
            shelter_put(name, pem);
        }
    }
}

static void
check_loaded(const struct writ_keyring *ring, enum beside beside)
{
    for (size_t i = 0; i < writ_keyring_count(ring); i++) {
        const struct writ_keyring_key *key = writ_keyring_key(ring, i);
        struct writ_view kid = writ_jwk_kid(key->public);

        WRIT_INVARIANT((key->signer != NULL) == (key->state == WRIT_KEY_STATE_ACTIVE));
        WRIT_INVARIANT(key->signer == NULL ||
                       writ_view_equal(writ_jwk_kid(writ_signer_jwk(key->signer)), kid));
        WRIT_INVARIANT(
            key->signer == NULL || beside != BESIDE_RIGHT || writ_view_equal(kid, kid_of(&right)));
    }
}

static bool
has_only(const struct writ_keyring *ring, const struct known *known)
{
    for (size_t i = 0; i < writ_keyring_count(ring); i++) {
        const struct writ_keyring_key *key = writ_keyring_key(ring, i);

        if (key->state == WRIT_KEY_STATE_ACTIVE &&
            !writ_view_equal(writ_jwk_kid(key->public), kid_of(known))) {
            return false;
        }
    }
    return true;
}

static void
check_saved(struct writ_view before)
{
    writ_auto_buf text = writ_buf_make(2 * WRIT_KEYRING_BYTES_MAX);
    writ_auto_keyring ring = NULL;
    struct writ_keydir *dir = NULL;

    if (!writ_is_ok(writ_keydir_open(shelter_path(), false, &dir, NULL))) {
        WRIT_INVARIANT(dir == NULL);
        return;
    }
    WRIT_INVARIANT(writ_is_ok(writ_keydir_save(dir, NULL)));
    writ_keydir_close(dir);
    WRIT_INVARIANT(writ_is_ok(writ_keydir_load(shelter_path(), &ring, NULL)));
    put(ring, &text);
    WRIT_INVARIANT(writ_view_equal(writ_buf_view(&text), before));
}

static void
check(const struct writ_keyring *listed, enum beside beside)
{
    writ_auto_buf text = writ_buf_make(2 * WRIT_KEYRING_BYTES_MAX), again = {0};
    writ_auto_keyring same = NULL;
    writ_auto_keyring loaded = NULL;
    bool is_loaded;

    again = writ_buf_make(text.max);
    put(listed, &text);
    WRIT_INVARIANT(writ_is_ok(writ_keyring_read(writ_buf_view(&text), &same, NULL)));
    put(same, &again);
    WRIT_INVARIANT(writ_view_equal(writ_buf_view(&text), writ_buf_view(&again)));

    is_loaded = writ_is_ok(writ_keydir_load(shelter_path(), &loaded, NULL));
    WRIT_INVARIANT(is_loaded == (loaded != NULL));
    WRIT_INVARIANT(beside == BESIDE_INPUT ||
                   is_loaded == has_only(listed, beside == BESIDE_RIGHT ? &right : &another));
    if (is_loaded) {
        check_loaded(loaded, beside);
        check_saved(writ_buf_view(&text));
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum beside beside = (enum beside)(size > 0 ? data[0] % BESIDE_COUNT : 0);
    struct writ_view input = writ_view_sub(writ_view(data, size), 1, size);
    size_t end = writ_view_find(input, '\0');
    writ_auto_keyring ring = NULL;

    if (right.signer == NULL) {
        make(1, &right);
        make(2, &another);
    }
    shelter_clear();
    shelter_put("keys.json", writ_view_sub(input, 0, end));
    if (writ_is_ok(writ_keydir_list(shelter_path(), &ring, NULL))) {
        put_halves(ring, pem_of(beside, writ_view_sub(input, end + 1, input.len)));
        check(ring, beside);
    }
    return 0;
}
