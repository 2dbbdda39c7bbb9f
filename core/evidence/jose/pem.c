/* Reads PEM by OpenSSL. A passphrase is never requested, because a daemon has no terminal: an
 * encrypted key is an error. */
#include "evidence/jose/pem.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

static void
bio_freep(BIO **bio)
{
    (void)BIO_free(*bio);
}

static void
pkey_freep(EVP_PKEY **key)
{
    EVP_PKEY_free(*key);
}

int
writ_pem_refuse_passphrase(char *buf, int size, int writing, void *asked)
{
    (void)buf;
    (void)size;
    (void)writing;
    if (asked != NULL) {
        *(bool *)asked = true;
    }
    return -1;
}

WRIT_RESULT
writ_pem_read_key(struct writ_view text, struct writ_jwk **ret, struct writ_err *err)
{
    WRIT_AUTO(BIO *, bio_freep) bio = NULL;
    WRIT_AUTO(EVP_PKEY *, pkey_freep) key = NULL;

    if (text.len > WRIT_PEM_BYTES_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "a public key is longer than %zu bytes", WRIT_PEM_BYTES_MAX);
    }
    bio = BIO_new_mem_buf(text.ptr != NULL ? text.ptr : "", (int)text.len);
    if (bio == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to read a public key");
    }
    key = PEM_read_bio_PUBKEY(bio, NULL, writ_pem_refuse_passphrase, NULL);
    ERR_clear_error();
    if (key == NULL) {
        WRIT_FAIL(err, WRIT_E_PARSE, "not a PEM public key");
    }
    return writ_jwk_of(key, ret, err);
}
