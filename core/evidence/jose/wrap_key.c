/* Symmetric keys for the keys of contents. The key of one content exists in the clear only on the
 * stack of the functions that seal and open it, and is wiped there on every path. */
#include "evidence/jose/wrap_key.h"

#include "evidence/json/digest.h"
#include "evidence/json/json.h"
#include "evidence/json/write.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#define ARENA_MAX ((size_t)64 << 10)
#define MEMBERS   5 /* alg, k, kid, kty, use */

struct writ_wrap_key {
    bool secret; /* `bytes` are known */
    uint8_t bytes[WRIT_WRAP_KEY_BYTES];
    char kid[WRIT_WRAP_KID_TEXT];
};

/* A key of one content. */
struct once {
    uint8_t bytes[WRIT_WRAP_KEY_BYTES];
};

static const struct writ_json_limits limits = {
    .bytes = WRIT_WRAP_TEXT_MAX,
    .depth = 2,
    .values = 16,
    .name_bytes = 16,
    .string_bytes = 128,
    .number_bytes = 16,
};

static void
once_wipe(struct once *once)
{
    writ_wipe(once, sizeof *once);
}

static void
ctx_freep(EVP_CIPHER_CTX **ctx)
{
    EVP_CIPHER_CTX_free(*ctx); /* wipes the schedule of the key */
}

static const uint8_t *
bytes_of(struct writ_view view)
{
    return (const uint8_t *)view.ptr;
}

static writ_result
library_failed(struct writ_err *err, const char *what)
{
    ERR_clear_error();
    return writ_fail(err, WRIT_E_CRYPTO, "the library cannot %s", what);
}

/* ---- keys ---- */

/* RFC 7638 3.2: the members `k` and `kty` of the JWK. */
static WRIT_RESULT
make_kid(struct writ_wrap_key *key, struct writ_err *err)
{
    char memory[WRIT_WRAP_TEXT_MAX];
    WRIT_AUTO(struct writ_buf, writ_buf_wipe_secret) text = writ_buf_over(memory, sizeof memory);
    struct writ_buf kid = writ_buf_over(key->kid, sizeof key->kid);
    struct writ_digest digest;

    writ_buf_str(&text, "{\"k\":\"");
    writ_base64url_put(&text, writ_view(key->bytes, sizeof key->bytes));
    writ_buf_str(&text, "\",\"kty\":\"oct\"}");
    WRIT_TRY(writ_buf_check(&text, err));
    WRIT_TRY(writ_digest_bytes(writ_buf_view(&text), &digest, err));
    writ_base64url_put(&kid, writ_view(digest.bytes, sizeof digest.bytes));
    writ_buf_byte(&kid, '\0');
    return writ_buf_check(&kid, err);
}

static WRIT_RESULT
allocate(struct writ_wrap_key **ret, struct writ_err *err)
{
    *ret = writ_alloc(sizeof **ret);
    if (*ret == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a key of contents");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_wrap_key_new(struct writ_wrap_key **ret, struct writ_err *err)
{
    writ_auto_wrap_key key = NULL;

    WRIT_TRY(allocate(&key, err));
    if (RAND_priv_bytes(key->bytes, sizeof key->bytes) != 1) {
        return library_failed(err, "make a random key");
    }
    key->secret = true;
    WRIT_TRY(make_kid(key, err));
    *ret = WRIT_TAKE(key);
    return WRIT_DONE;
}

WRIT_RESULT
writ_wrap_key_of(struct writ_view bytes, struct writ_wrap_key **ret, struct writ_err *err)
{
    writ_auto_wrap_key key = NULL;

    if (bytes.len != WRIT_WRAP_KEY_BYTES) {
        WRIT_FAIL(err, WRIT_E_INVALID, "a key has %d bytes", WRIT_WRAP_KEY_BYTES);
    }
    WRIT_TRY(allocate(&key, err));
    (void)writ_view_place(bytes, (char *)key->bytes);
    key->secret = true;
    WRIT_TRY(make_kid(key, err));
    *ret = WRIT_TAKE(key);
    return WRIT_DONE;
}

WRIT_RESULT
writ_wrap_key_named(struct writ_view kid, struct writ_wrap_key **ret, struct writ_err *err)
{
    writ_auto_wrap_key key = NULL;
    uint8_t digest[WRIT_DIGEST_BYTES];
    struct writ_buf decoded = writ_buf_over(digest, sizeof digest);

    if (!writ_is_ok(writ_base64url_read(kid, &decoded)) || decoded.len != sizeof digest) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the kid of a key of contents is not a thumbprint");
    }
    WRIT_TRY(allocate(&key, err));
    (void)writ_view_place(kid, key->kid); /* the memory is zeroed */
    *ret = WRIT_TAKE(key);
    return WRIT_DONE;
}

static bool
is_ours(const struct writ_json *value)
{
    return writ_json_type(value) == WRIT_JSON_OBJECT && value->count == MEMBERS &&
           writ_view_is(writ_json_string(writ_json_get(value, WRIT_LIT("alg"))), WRIT_WRAP_ALG) &&
           writ_view_is(writ_json_string(writ_json_get(value, WRIT_LIT("kty"))), "oct") &&
           writ_view_is(writ_json_string(writ_json_get(value, WRIT_LIT("use"))), "enc");
}

static WRIT_RESULT
read_key(struct writ_view text, struct writ_arena *arena, struct writ_wrap_key **ret,
    struct writ_err *err)
{
    writ_auto_wrap_key key = NULL;
    const struct writ_json *value = NULL;
    struct writ_buf bytes;

    WRIT_TRY(writ_json_read(text, &limits, arena, &value, err));
    WRIT_TRY(allocate(&key, err));
    bytes = writ_buf_over(key->bytes, sizeof key->bytes);
    if (!is_ours(value) ||
        !writ_is_ok(
            writ_base64url_read(writ_json_string(writ_json_get(value, WRIT_LIT("k"))), &bytes)) ||
        bytes.len != sizeof key->bytes) {
        WRIT_FAIL(
            err, WRIT_E_INVALID, "not a symmetric key of 32 bytes for " WRIT_WRAP_ALG " (oct)");
    }
    key->secret = true;
    WRIT_TRY(make_kid(key, err));
    if (!writ_view_equal(
            writ_json_string(writ_json_get(value, WRIT_LIT("kid"))), writ_wrap_key_kid(key))) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the kid is not that of the key");
    }
    *ret = WRIT_TAKE(key);
    return WRIT_DONE;
}

WRIT_RESULT
writ_wrap_key_read(struct writ_view text, struct writ_wrap_key **ret, struct writ_err *err)
{
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);

    if (arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to read a key of contents");
    }
    if (writ_view_find(text, '\\') < text.len) { /* it would be copied into the arena, unwiped */
        WRIT_FAIL(err, WRIT_E_INVALID, "a key of contents has no escapes");
    }
    return read_key(text, arena, ret, err);
}

static void
put_key(const struct writ_wrap_key *key, bool secret, struct writ_buf *buf)
{
    writ_buf_str(buf, "{\"alg\":\"" WRIT_WRAP_ALG "\",");
    if (secret) {
        writ_buf_str(buf, "\"k\":\"");
        writ_base64url_put(buf, writ_view(key->bytes, sizeof key->bytes));
        writ_buf_str(buf, "\",");
    }
    writ_buf_str(buf, "\"kid\":\""); /* base64url: it needs no escapes */
    writ_buf_str(buf, key->kid);
    writ_buf_str(buf, "\",\"kty\":\"oct\",\"use\":\"enc\"}");
}

WRIT_RESULT
writ_wrap_key_put(const struct writ_wrap_key *key, struct writ_buf *buf, struct writ_err *err)
{
    if (!key->secret) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the secret of the key of contents is not known");
    }
    put_key(key, true, buf);
    return writ_buf_check(buf, err);
}

void
writ_wrap_key_put_public(const struct writ_wrap_key *key, struct writ_buf *buf)
{
    put_key(key, false, buf);
}

void
writ_wrap_key_free(struct writ_wrap_key *key)
{
    if (key != NULL) {
        writ_wipe(key, sizeof *key);
        writ_free(key);
    }
}

struct writ_view
writ_wrap_key_kid(const struct writ_wrap_key *key)
{
    return writ_view_str(key->kid);
}

bool
writ_wrap_key_is_secret(const struct writ_wrap_key *key)
{
    return key->secret;
}

/* ---- wrapping (RFC 3394) ---- */

static WRIT_RESULT
wrap(const struct writ_wrap_key *key, const struct once *once, uint8_t ret[WRIT_WRAPPED_BYTES],
    struct writ_err *err)
{
    WRIT_AUTO(EVP_CIPHER_CTX *, ctx_freep) ctx = EVP_CIPHER_CTX_new();
    int len = 0;

    if (ctx == NULL) {
        return library_failed(err, "encrypt a key");
    }
    EVP_CIPHER_CTX_set_flags(ctx, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW);
    if (EVP_EncryptInit_ex(ctx, EVP_aes_256_wrap(), NULL, key->bytes, NULL) != 1 ||
        EVP_EncryptUpdate(ctx, ret, &len, once->bytes, sizeof once->bytes) != 1 ||
        len != WRIT_WRAPPED_BYTES) {
        return library_failed(err, "encrypt a key");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
unwrap(const struct writ_wrap_key *key, struct writ_view wrapped, struct once *ret,
    struct writ_err *err)
{
    WRIT_AUTO(EVP_CIPHER_CTX *, ctx_freep) ctx = EVP_CIPHER_CTX_new();
    uint8_t out[WRIT_WRAPPED_BYTES]; /* the library may write so many before it checks */
    int len = 0;
    bool right;

    if (wrapped.len != WRIT_WRAPPED_BYTES) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the wrapped key of a content has another length");
    }
    if (ctx == NULL) {
        return library_failed(err, "decrypt a key");
    }
    EVP_CIPHER_CTX_set_flags(ctx, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW);
    if (EVP_DecryptInit_ex(ctx, EVP_aes_256_wrap(), NULL, key->bytes, NULL) != 1) {
        return library_failed(err, "decrypt a key");
    }
    right = EVP_DecryptUpdate(ctx, out, &len, bytes_of(wrapped), WRIT_WRAPPED_BYTES) == 1 &&
            len == WRIT_WRAP_KEY_BYTES;
    if (right) {
        (void)writ_view_place(writ_view(out, sizeof ret->bytes), (char *)ret->bytes);
    }
    writ_wipe(out, sizeof out);
    if (!right) {
        ERR_clear_error();
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the key of a content is not wrapped under this key");
    }
    return WRIT_DONE;
}

/* ---- contents (AES-256-GCM) ---- */

static bool
encrypt(const struct once *once, struct writ_view aad, struct writ_view plain, uint8_t *nonce,
    uint8_t *out, uint8_t *tag)
{
    WRIT_AUTO(EVP_CIPHER_CTX *, ctx_freep) ctx = EVP_CIPHER_CTX_new();
    int len = 0, rest = 0;

    return ctx != NULL &&
           EVP_EncryptInit_ex(ctx, EVP_aes_256_gcm(), NULL, once->bytes, nonce) == 1 &&
           EVP_EncryptUpdate(ctx, NULL, &len, bytes_of(aad), (int)aad.len) == 1 &&
           (plain.len == 0 ||
               EVP_EncryptUpdate(ctx, out, &len, bytes_of(plain), (int)plain.len) == 1) &&
           EVP_EncryptFinal_ex(ctx, out + plain.len, &rest) == 1 && rest == 0 &&
           EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, WRIT_WRAP_TAG, tag) == 1;
}

/* *ret_right is false when the tag does not hold. */
static bool
decrypt(const struct once *once, struct writ_view aad, struct writ_view nonce,
    struct writ_view cipher, struct writ_view tag, uint8_t *out, bool *ret_right)
{
    WRIT_AUTO(EVP_CIPHER_CTX *, ctx_freep) ctx = EVP_CIPHER_CTX_new();
    uint8_t wanted[WRIT_WRAP_TAG];
    int len = 0, rest = 0;

    (void)writ_view_place(tag, (char *)wanted);
    if (ctx == NULL ||
        EVP_DecryptInit_ex(ctx, EVP_aes_256_gcm(), NULL, once->bytes, bytes_of(nonce)) != 1 ||
        EVP_DecryptUpdate(ctx, NULL, &len, bytes_of(aad), (int)aad.len) != 1 ||
        (cipher.len > 0 &&
            EVP_DecryptUpdate(ctx, out, &len, bytes_of(cipher), (int)cipher.len) != 1) ||
        EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, WRIT_WRAP_TAG, wanted) != 1) {
        return false;
    }
    *ret_right = EVP_DecryptFinal_ex(ctx, out + cipher.len, &rest) == 1;
    return true;
}

static WRIT_RESULT
check_secret(const struct writ_wrap_key *key, struct writ_err *err)
{
    if (!key->secret) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "the key of contents %s has no secret here: it was retired or revoked, or its file was "
            "not read",
            key->kid);
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_wrap_key_seal(const struct writ_wrap_key *key, struct writ_view aad, struct writ_view plain,
    uint8_t ret_wrapped[WRIT_WRAPPED_BYTES], struct writ_buf *ret, struct writ_err *err)
{
    WRIT_AUTO(struct once, once_wipe) once;
    size_t len = plain.len + WRIT_WRAP_OVERHEAD;
    uint8_t *out;

    WRIT_TRY(check_secret(key, err));
    if (plain.len > WRIT_WRAP_SEALED_MAX) {
        WRIT_FAIL(
            err, WRIT_E_LIMIT, "a content is longer than %zu bytes", (size_t)WRIT_WRAP_SEALED_MAX);
    }
    out = (uint8_t *)writ_buf_reserve(ret, len);
    if (out == NULL) {
        return writ_buf_check(ret, err);
    }
    if (RAND_priv_bytes(once.bytes, sizeof once.bytes) != 1 ||
        RAND_bytes(out, WRIT_WRAP_NONCE) != 1) {
        return library_failed(err, "make a random key");
    }
    WRIT_TRY(wrap(key, &once, ret_wrapped, err));
    if (!encrypt(&once, aad, plain, out, out + WRIT_WRAP_NONCE, out + len - WRIT_WRAP_TAG)) {
        return library_failed(err, "encrypt a content");
    }
    ret->len += len;
    return WRIT_DONE;
}

WRIT_RESULT
writ_wrap_key_open(const struct writ_wrap_key *key, struct writ_view aad, struct writ_view wrapped,
    struct writ_view sealed, struct writ_buf *ret, struct writ_err *err)
{
    WRIT_AUTO(struct once, once_wipe) once;
    bool right = false;
    size_t len;
    uint8_t *out;

    WRIT_TRY(check_secret(key, err));
    if (sealed.len < WRIT_WRAP_OVERHEAD || sealed.len > WRIT_WRAP_SEALED_MAX + WRIT_WRAP_OVERHEAD) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "a kept content has a length that none has");
    }
    WRIT_TRY(unwrap(key, wrapped, &once, err));
    len = sealed.len - WRIT_WRAP_OVERHEAD;
    out = (uint8_t *)writ_buf_reserve(ret, len + 1); /* one more: of none there is an address too */
    if (out == NULL) {
        return writ_buf_check(ret, err);
    }
    if (!decrypt(&once, aad, writ_view_sub(sealed, 0, WRIT_WRAP_NONCE),
            writ_view_sub(sealed, WRIT_WRAP_NONCE, len),
            writ_view_sub(sealed, WRIT_WRAP_NONCE + len, WRIT_WRAP_TAG), out, &right)) {
        writ_wipe(out, len);
        return library_failed(err, "decrypt a content");
    }
    if (!right) {
        writ_wipe(out, len); /* what does not hold is not plain text */
        ERR_clear_error();
        WRIT_FAIL(err, WRIT_E_MISMATCH, "a kept content is not the one that was encrypted");
    }
    ret->len += len;
    return WRIT_DONE;
}
