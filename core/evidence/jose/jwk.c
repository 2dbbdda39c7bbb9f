/* Public keys.
 *
 * (1) key_make makes every key, from every source: one place refuses, and the text of a key is made
 * from the key, never copied from the input.
 * (2) A key has one algorithm, which follows from its type alone. */
#include "evidence/jose/jwk.h"

#include "evidence/jose/ecdsa.h"
#include "evidence/jose/pkctx.h"
#include "evidence/json/digest.h"
#include "evidence/json/write.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <stdatomic.h>

#define P256_BYTES      32
#define P256_POINT      (1 + 2 * P256_BYTES) /* uncompressed: 04 || x || y */
#define RSA_BYTES_MAX   (WRIT_JWK_RSA_BITS_MOST / 8)
#define RSA_E_LEAST     65537UL
#define RSA_E_BITS_MOST 64   /* the cost of verifying grows with the exponent */
#define TEXT_MAX        4096 /* twice the JWK of the largest key */

struct writ_jwk {
    atomic_uint owners;
    EVP_PKEY *key;
    uint64_t number; /* pkctx.h */
    enum writ_jwk_alg alg;
    size_t signature_bytes;
    char thumbprint[WRIT_JWK_THUMBPRINT_TEXT];
    struct writ_buf kid;
    struct writ_buf text; /* the canonical JWK */
};

/* The public members of a key as base64url; empty where its type has none. */
struct members {
    struct writ_buf e, n, x, y;
};

static void
members_wipe(struct members *members)
{
    writ_buf_wipe(&members->e);
    writ_buf_wipe(&members->n);
    writ_buf_wipe(&members->x);
    writ_buf_wipe(&members->y);
}

static void
pkey_freep(EVP_PKEY **key)
{
    EVP_PKEY_free(*key);
}

static void
bn_freep(BIGNUM **number)
{
    BN_free(*number);
}

/* ---- algorithms */

struct alg_row {
    const char *jose, *kty;
    size_t bytes;
};

static const struct alg_row alg_rows[] = {
    [WRIT_JWK_ALG_NONE] = {"", "", 0},
#define WRIT_ALG_ROW(name, jose, kty, bytes) [WRIT_JWK_ALG_##name] = {(jose), (kty), (bytes)},
#include "evidence/jose/alg.tbl.h"
#undef WRIT_ALG_ROW
};

#define ALG_ROWS (sizeof(alg_rows) / sizeof(alg_rows[0]))

const char *
writ_jwk_alg_name(enum writ_jwk_alg alg)
{
    return (size_t)alg < ALG_ROWS ? alg_rows[alg].jose : "";
}

enum writ_jwk_alg
writ_jwk_alg_named(struct writ_view name)
{
    for (size_t i = WRIT_JWK_ALG_NONE + 1; i < ALG_ROWS; i++) {
        if (writ_view_is(name, alg_rows[i].jose)) {
            return (enum writ_jwk_alg)i;
        }
    }
    return WRIT_JWK_ALG_NONE;
}

/* keeps (2) */
static enum writ_jwk_alg
alg_of(const EVP_PKEY *key)
{
    char group[32] = "";
    size_t len = 0;

    switch (EVP_PKEY_get_base_id(key)) {
    case EVP_PKEY_EC:
        if (EVP_PKEY_get_group_name(key, group, sizeof(group), &len) != 1 ||
            !writ_view_is(writ_view(group, len), SN_X9_62_prime256v1)) {
            return WRIT_JWK_ALG_NONE;
        }
        return WRIT_JWK_ALG_ES256;
    case EVP_PKEY_RSA:
        return WRIT_JWK_ALG_RS256;
    case EVP_PKEY_ED25519:
        return WRIT_JWK_ALG_EDDSA;
    default: /* OpenSSL's key types are an open set */
        return WRIT_JWK_ALG_NONE;
    }
}

/* ---- RSA keys that are too weak */

/* The primes whose product is the M of the ROCA keys: their primes are 65537^a mod M plus a
 * multiple of M, so the modulus is a power of 65537 modulo each of these. A sound modulus passes
 * for all of them once in 2^150 (Nemec et al., CCS 2017, section 2.3). */
static const unsigned roca_primes[] = {3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59,
    61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163,
    167};

static bool
is_power_of_65537(BN_ULONG residue, unsigned prime)
{
    BN_ULONG power = 1;

    for (unsigned i = 0; i < prime; i++) {
        if (power == residue) {
            return true;
        }
        power = power * (RSA_E_LEAST % prime) % prime;
    }
    return false;
}

static bool
is_roca(const BIGNUM *modulus)
{
    for (size_t i = 0; i < sizeof(roca_primes) / sizeof(roca_primes[0]); i++) {
        if (!is_power_of_65537(BN_mod_word(modulus, roca_primes[i]), roca_primes[i])) {
            return false;
        }
    }
    return true;
}

static WRIT_RESULT
check_rsa(const BIGNUM *modulus, const BIGNUM *exponent, struct writ_err *err)
{
    int bits = BN_num_bits(modulus);

    if (bits < WRIT_JWK_RSA_BITS_LEAST) {
        WRIT_FAIL(err, WRIT_E_INVALID, "RSA key has %d bits, fewer than %d", bits,
            WRIT_JWK_RSA_BITS_LEAST);
    }
    if (bits > WRIT_JWK_RSA_BITS_MOST) {
        WRIT_FAIL(
            err, WRIT_E_INVALID, "RSA key has %d bits, more than %d", bits, WRIT_JWK_RSA_BITS_MOST);
    }
    if (!BN_is_odd(exponent) || BN_num_bits(exponent) > RSA_E_BITS_MOST ||
        BN_get_word(exponent) < RSA_E_LEAST) {
        WRIT_FAIL(
            err, WRIT_E_INVALID, "the exponent of an RSA key is even, too small or too large");
    }
    if (is_roca(modulus)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "RSA key is of the weak ROCA family (CVE-2017-15361)");
    }
    return WRIT_DONE;
}

/* ---- the members of a key, from OpenSSL */

static WRIT_RESULT
put_number(const BIGNUM *number, size_t bytes, struct writ_buf *ret, struct writ_err *err)
{
    uint8_t raw[RSA_BYTES_MAX];

    WRIT_INVARIANT(bytes <= sizeof(raw));
    if (BN_bn2binpad(number, raw, (int)bytes) != (int)bytes) {
        WRIT_FAIL(err, WRIT_E_CRYPTO, "a number of a key cannot be written");
    }
    *ret = writ_buf_make(TEXT_MAX);
    writ_base64url_put(ret, writ_view(raw, bytes));
    return writ_buf_check(ret, err);
}

static WRIT_RESULT
ec_members(const EVP_PKEY *key, struct members *ret, struct writ_err *err)
{
    WRIT_AUTO(BIGNUM *, bn_freep) x = NULL;
    WRIT_AUTO(BIGNUM *, bn_freep) y = NULL;

    if (EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_EC_PUB_X, &x) != 1 ||
        EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_EC_PUB_Y, &y) != 1) {
        WRIT_FAIL(err, WRIT_E_INVALID, "EC key has no public point");
    }
    WRIT_TRY(put_number(x, P256_BYTES, &ret->x, err));
    return put_number(y, P256_BYTES, &ret->y, err);
}

static WRIT_RESULT
rsa_members(const EVP_PKEY *key, struct members *ret, struct writ_err *err)
{
    WRIT_AUTO(BIGNUM *, bn_freep) n = NULL;
    WRIT_AUTO(BIGNUM *, bn_freep) e = NULL;

    if (EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_N, &n) != 1 ||
        EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_E, &e) != 1) {
        WRIT_FAIL(err, WRIT_E_INVALID, "RSA key has no modulus or exponent");
    }
    WRIT_TRY(check_rsa(n, e, err));
    WRIT_TRY(put_number(n, (size_t)BN_num_bytes(n), &ret->n, err));
    return put_number(e, (size_t)BN_num_bytes(e), &ret->e, err);
}

static WRIT_RESULT
ed_bytes(const EVP_PKEY *key, uint8_t ret[WRIT_JWK_ED25519_BYTES], struct writ_err *err)
{
    size_t len = WRIT_JWK_ED25519_BYTES;

    if (EVP_PKEY_get_raw_public_key(key, ret, &len) != 1 || len != WRIT_JWK_ED25519_BYTES) {
        WRIT_FAIL(err, WRIT_E_INVALID, "Ed25519 key has no public half");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
ed_members(const EVP_PKEY *key, struct members *ret, struct writ_err *err)
{
    uint8_t raw[WRIT_JWK_ED25519_BYTES];

    WRIT_TRY(ed_bytes(key, raw, err));
    ret->x = writ_buf_make(TEXT_MAX);
    writ_base64url_put(&ret->x, writ_view(raw, sizeof(raw)));
    return writ_buf_check(&ret->x, err);
}

static WRIT_RESULT
key_members(const EVP_PKEY *key, enum writ_jwk_alg alg, struct members *ret, struct writ_err *err)
{
    switch (alg) {
    case WRIT_JWK_ALG_NONE:
        break;
    case WRIT_JWK_ALG_ES256:
        return ec_members(key, ret, err);
    case WRIT_JWK_ALG_RS256:
        return rsa_members(key, ret, err);
    case WRIT_JWK_ALG_EDDSA:
        return ed_members(key, ret, err);
    }
    WRIT_FAIL(err, WRIT_E_INVALID, "not a key for ES256, RS256 or EdDSA (Ed25519)");
}

/* ---- writing */

/* The JWK; with `kid` empty only the members of the thumbprint (RFC 7638 3.2). */
static WRIT_RESULT
put_jwk(struct writ_buf *buf, enum writ_jwk_alg alg, const struct members *members,
    struct writ_view kid, struct writ_err *err)
{
    struct writ_write w = writ_write_to(buf);
    const char *crv = alg == WRIT_JWK_ALG_ES256 ? "P-256" : "Ed25519";
    bool whole = kid.len > 0;

    w.sorted = true;
    writ_write_object_begin(&w);
    writ_write_text_if(&w, "alg", writ_view_str(whole ? alg_rows[alg].jose : NULL));
    writ_write_text_if(&w, "crv", writ_view_str(alg != WRIT_JWK_ALG_RS256 ? crv : NULL));
    writ_write_text_if(&w, "e", writ_buf_view(&members->e));
    writ_write_text_if(&w, "kid", kid);
    writ_write_text_if(&w, "kty", writ_view_str(alg_rows[alg].kty));
    writ_write_text_if(&w, "n", writ_buf_view(&members->n));
    writ_write_text_if(&w, "use", writ_view_str(whole ? "sig" : NULL));
    writ_write_text_if(&w, "x", writ_buf_view(&members->x));
    writ_write_text_if(&w, "y", writ_buf_view(&members->y));
    writ_write_object_end(&w);
    return writ_write_end(&w, err);
}

static WRIT_RESULT
make_thumbprint(struct writ_jwk *key, const struct members *members, struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(TEXT_MAX);
    writ_auto_buf encoded = writ_buf_make(WRIT_JWK_THUMBPRINT_TEXT);
    struct writ_digest digest;

    WRIT_TRY(put_jwk(&text, key->alg, members, writ_view(NULL, 0), err));
    WRIT_TRY(writ_digest_bytes(writ_buf_view(&text), &digest, err));
    writ_base64url_put(&encoded, writ_view(digest.bytes, sizeof(digest.bytes)));
    WRIT_TRY(writ_buf_check(&encoded, err));
    WRIT_INVARIANT(encoded.len == WRIT_JWK_THUMBPRINT_TEXT - 1);
    for (size_t i = 0; i < encoded.len; i++) {
        key->thumbprint[i] = encoded.ptr[i];
    }
    return WRIT_DONE;
}

/* ---- making a key: keeps (1) */

static WRIT_RESULT
key_fill(struct writ_jwk *key, struct writ_view kid, struct members *members, struct writ_err *err)
{
    key->alg = alg_of(key->key);
    WRIT_TRY(key_members(key->key, key->alg, members, err));
    WRIT_TRY(make_thumbprint(key, members, err));
    if (kid.len == 0) {
        kid = writ_jwk_thumbprint(key);
    }
    key->kid = writ_buf_make(WRIT_JWK_KID_MAX);
    key->text = writ_buf_make(TEXT_MAX);
    writ_buf_put(&key->kid, kid);
    WRIT_TRY(writ_buf_check(&key->kid, err));
    WRIT_TRY(put_jwk(&key->text, key->alg, members, kid, err));
    key->signature_bytes = alg_rows[key->alg].bytes != 0 ? alg_rows[key->alg].bytes
                                                         : (size_t)EVP_PKEY_get_size(key->key);
    return WRIT_DONE;
}

static WRIT_RESULT
key_make(EVP_PKEY *pkey, struct writ_view kid, struct writ_jwk **ret, struct writ_err *err)
{
    writ_auto_jwk key = writ_alloc(sizeof(*key));
    WRIT_AUTO(struct members, members_wipe) members = {0};

    if (key == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a key");
    }
    atomic_init(&key->owners, 1);
    if (EVP_PKEY_up_ref(pkey) != 1) {
        WRIT_FAIL(err, WRIT_E_CRYPTO, "a key cannot be held");
    }
    key->key = pkey;
    key->number = writ_pkctx_number();
    WRIT_TRY(key_fill(key, kid, &members, err));
    *ret = WRIT_TAKE(key);
    return WRIT_DONE;
}

WRIT_RESULT
writ_jwk_of(EVP_PKEY *key, struct writ_jwk **ret, struct writ_err *err)
{
    writ_result result = key_make(key, writ_view(NULL, 0), ret, err);

    ERR_clear_error();
    return result;
}

struct writ_jwk *
writ_jwk_hold(const struct writ_jwk *key)
{
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): only its count changes */
    struct writ_jwk *held = (struct writ_jwk *)(uintptr_t)key;

    atomic_fetch_add_explicit(&held->owners, 1, memory_order_relaxed);
    return held;
}

void
writ_jwk_free(struct writ_jwk *key)
{
    if (key != NULL && atomic_fetch_sub_explicit(&key->owners, 1, memory_order_acq_rel) == 1) {
        EVP_PKEY_free(key->key);
        writ_buf_wipe(&key->kid);
        writ_buf_wipe(&key->text);
        writ_free(key);
    }
}

/* ---- reading a JWK */

static const char *const private_members[] = {"d", "p", "q", "dp", "dq", "qi", "oth", "k"};

/* A published secret compromises more than this key, so the whole input is refused. */
static WRIT_RESULT
refuse_secrets(const struct writ_json *value, struct writ_err *err)
{
    for (size_t i = 0; i < sizeof(private_members) / sizeof(private_members[0]); i++) {
        if (writ_json_get(value, writ_view_str(private_members[i])) != NULL) {
            WRIT_FAIL(err, WRIT_E_MISMATCH,
                "a verification key contains secret material (member %s)", private_members[i]);
        }
    }
    if (writ_json_is(writ_json_get(value, WRIT_LIT("kty")), WRIT_LIT("oct"))) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "a symmetric key cannot be a verification key");
    }
    return WRIT_DONE;
}

/* use and key_ops, if present, must permit verifying (RFC 7517 4.2, 4.3). */
static WRIT_RESULT
check_use(const struct writ_json *value, struct writ_err *err)
{
    const struct writ_json *use = writ_json_get(value, WRIT_LIT("use"));
    const struct writ_json *ops = writ_json_get(value, WRIT_LIT("key_ops"));
    bool verifies = ops == NULL;

    if (use != NULL && !writ_json_is(use, WRIT_LIT("sig"))) {
        WRIT_FAIL(err, WRIT_E_INVALID, "a key is not for signatures (use)");
    }
    WRIT_JSON_EACH(op, writ_json_type(ops) == WRIT_JSON_ARRAY ? ops : NULL)
    {
        verifies = verifies || writ_json_is(op, WRIT_LIT("verify"));
    }
    if (!verifies) {
        WRIT_FAIL(err, WRIT_E_INVALID, "a key is not for verifying (key_ops)");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
read_kid(const struct writ_json *value, struct writ_view *ret, struct writ_err *err)
{
    const struct writ_json *kid = writ_json_get(value, WRIT_LIT("kid"));
    struct writ_view text = writ_json_string(kid);

    if (kid != NULL && (text.len == 0 || text.len > WRIT_JWK_KID_MAX)) {
        WRIT_FAIL(
            err, WRIT_E_INVALID, "a key's kid is not a string of 1 to %d bytes", WRIT_JWK_KID_MAX);
    }
    *ret = text;
    return WRIT_DONE;
}

/* A member that is base64url of least..most bytes, without leading zero bytes where it is a number
 * of no fixed length (RFC 7518 2, Base64urlUInt). */
static WRIT_RESULT
read_bytes(const struct writ_json *value, const char *name, size_t least, size_t most,
    struct writ_buf *ret, struct writ_err *err)
{
    struct writ_view text = writ_json_string(writ_json_get(value, writ_view_str(name)));
    size_t before = ret->len;
    writ_result read = writ_base64url_read(text, ret);

    if (read.code == WRIT_E_NOMEM) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a key"); /* does not mean that the key is bad */
    }
    if (!writ_is_ok(read) || ret->len - before < least || ret->len - before > most ||
        (least != most && ret->ptr[before] == '\0')) {
        WRIT_FAIL(err, WRIT_E_INVALID, "member %s of a key is missing or malformed", name);
    }
    return WRIT_DONE;
}

static void
bld_freep(OSSL_PARAM_BLD **build)
{
    OSSL_PARAM_BLD_free(*build);
}

static void
params_freep(OSSL_PARAM **params)
{
    OSSL_PARAM_free(*params);
}

static void
ctx_freep(EVP_PKEY_CTX **ctx)
{
    EVP_PKEY_CTX_free(*ctx);
}

/* Makes a public key and checks it: a point that is not on the curve, a modulus with small factors
 * (SP 800-56A 5.6.2.3, 800-56B 6.4.2.2). */
static WRIT_RESULT
pkey_make(const char *type, OSSL_PARAM_BLD *build, EVP_PKEY **ret, struct writ_err *err)
{
    WRIT_AUTO(OSSL_PARAM *, params_freep) params = OSSL_PARAM_BLD_to_param(build);
    WRIT_AUTO(EVP_PKEY_CTX *, ctx_freep) ctx = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    WRIT_AUTO(EVP_PKEY_CTX *, ctx_freep) check = NULL;
    WRIT_AUTO(EVP_PKEY *, pkey_freep) key = NULL;

    if (params == NULL || ctx == NULL || EVP_PKEY_fromdata_init(ctx) != 1) {
        WRIT_FAIL(err, WRIT_E_CRYPTO, "the library cannot make a key of type %s", type);
    }
    if (EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_PUBLIC_KEY, params) != 1) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the numbers of a key do not form a %s key", type);
    }
    check = EVP_PKEY_CTX_new(key, NULL);
    if (check == NULL || EVP_PKEY_public_check(check) != 1) {
        WRIT_FAIL(err, WRIT_E_INVALID, "a %s key fails the checks of the library", type);
    }
    *ret = WRIT_TAKE(key);
    return WRIT_DONE;
}

static WRIT_RESULT
read_ec(const struct writ_json *value, EVP_PKEY **ret, struct writ_err *err)
{
    WRIT_AUTO(OSSL_PARAM_BLD *, bld_freep) build = OSSL_PARAM_BLD_new();
    writ_auto_buf point = writ_buf_make(P256_POINT);

    if (!writ_json_is(writ_json_get(value, WRIT_LIT("crv")), WRIT_LIT("P-256"))) {
        WRIT_FAIL(err, WRIT_E_INVALID, "an EC key is not on the curve P-256");
    }
    writ_buf_byte(&point, 0x04); /* uncompressed, SEC 1 2.3.3 */
    WRIT_TRY(read_bytes(value, "x", P256_BYTES, P256_BYTES, &point, err));
    WRIT_TRY(read_bytes(value, "y", P256_BYTES, P256_BYTES, &point, err));
    WRIT_TRY(writ_buf_check(&point, err));
    if (build == NULL ||
        OSSL_PARAM_BLD_push_utf8_string(
            build, OSSL_PKEY_PARAM_GROUP_NAME, SN_X9_62_prime256v1, 0) != 1 ||
        OSSL_PARAM_BLD_push_octet_string(build, OSSL_PKEY_PARAM_PUB_KEY, point.ptr, point.len) !=
            1) {
        WRIT_FAIL(err, WRIT_E_CRYPTO, "no memory for an EC key");
    }
    return pkey_make("EC", build, ret, err);
}

static WRIT_RESULT
read_rsa(const struct writ_json *value, EVP_PKEY **ret, struct writ_err *err)
{
    WRIT_AUTO(OSSL_PARAM_BLD *, bld_freep) build = OSSL_PARAM_BLD_new();
    WRIT_AUTO(BIGNUM *, bn_freep) n = NULL;
    WRIT_AUTO(BIGNUM *, bn_freep) e = NULL;
    writ_auto_buf modulus = writ_buf_make(2 * RSA_BYTES_MAX);
    writ_auto_buf exponent = writ_buf_make(2 * RSA_BYTES_MAX);

    WRIT_TRY(read_bytes(value, "n", 1, RSA_BYTES_MAX, &modulus, err));
    WRIT_TRY(read_bytes(value, "e", 1, RSA_E_BITS_MOST / 8, &exponent, err));
    n = BN_bin2bn((const unsigned char *)modulus.ptr, (int)modulus.len, NULL);
    e = BN_bin2bn((const unsigned char *)exponent.ptr, (int)exponent.len, NULL);
    if (build == NULL || n == NULL || e == NULL ||
        OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_N, n) != 1 ||
        OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_E, e) != 1) {
        WRIT_FAIL(err, WRIT_E_CRYPTO, "no memory for an RSA key");
    }
    WRIT_TRY(check_rsa(n, e, err)); /* before the costly checks of a key that is too large */
    return pkey_make("RSA", build, ret, err);
}

static WRIT_RESULT
ed_pkey(struct writ_view bytes, EVP_PKEY **ret, struct writ_err *err)
{
    *ret = bytes.len != WRIT_JWK_ED25519_BYTES ? NULL
                                               : EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL,
                                                     (const unsigned char *)bytes.ptr, bytes.len);
    if (*ret == NULL) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the bytes of a key do not form an Ed25519 key");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
read_okp(const struct writ_json *value, EVP_PKEY **ret, struct writ_err *err)
{
    writ_auto_buf raw = writ_buf_make(WRIT_JWK_ED25519_BYTES);

    if (!writ_json_is(writ_json_get(value, WRIT_LIT("crv")), WRIT_LIT("Ed25519"))) {
        WRIT_FAIL(err, WRIT_E_INVALID, "an OKP key is not on the curve Ed25519");
    }
    WRIT_TRY(read_bytes(value, "x", WRIT_JWK_ED25519_BYTES, WRIT_JWK_ED25519_BYTES, &raw, err));
    return ed_pkey(writ_buf_view(&raw), ret, err);
}

static WRIT_RESULT
read_pkey(const struct writ_json *value, EVP_PKEY **ret, struct writ_err *err)
{
    struct writ_view kty = writ_json_string(writ_json_get(value, WRIT_LIT("kty")));

    if (writ_view_is(kty, "EC")) {
        return read_ec(value, ret, err);
    }
    if (writ_view_is(kty, "RSA")) {
        return read_rsa(value, ret, err);
    }
    if (writ_view_is(kty, "OKP")) {
        return read_okp(value, ret, err);
    }
    WRIT_FAIL(err, WRIT_E_INVALID, "a key is not of type EC, RSA or OKP (kty)");
}

static WRIT_RESULT
read_key(const struct writ_json *value, struct writ_jwk **ret, struct writ_err *err)
{
    WRIT_AUTO(EVP_PKEY *, pkey_freep) pkey = NULL;
    writ_auto_jwk key = NULL;
    const struct writ_json *alg = writ_json_get(value, WRIT_LIT("alg"));
    struct writ_view kid;

    if (writ_json_type(value) != WRIT_JSON_OBJECT) {
        WRIT_FAIL(err, WRIT_E_INVALID, "a key is not an object");
    }
    WRIT_TRY(refuse_secrets(value, err));
    WRIT_TRY(check_use(value, err));
    WRIT_TRY(read_kid(value, &kid, err));
    if (alg != NULL && writ_jwk_alg_named(writ_json_string(alg)) == WRIT_JWK_ALG_NONE) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the alg of a key is not ES256, RS256 or EdDSA");
    }
    WRIT_TRY(read_pkey(value, &pkey, err));
    WRIT_TRY(key_make(pkey, kid, &key, err));
    if (alg != NULL && !writ_json_is(alg, writ_view_str(writ_jwk_alg_name(key->alg)))) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the alg of a key does not match its type");
    }
    *ret = WRIT_TAKE(key);
    return WRIT_DONE;
}

WRIT_RESULT
writ_jwk_read(const struct writ_json *value, struct writ_jwk **ret, struct writ_err *err)
{
    writ_result result = read_key(value, ret, err);

    ERR_clear_error(); /* OpenSSL's errors about a bad key must not reach its next caller */
    return result;
}

/* ---- using a key */

enum writ_jwk_alg
writ_jwk_alg(const struct writ_jwk *key)
{
    return key->alg;
}

struct writ_view
writ_jwk_kid(const struct writ_jwk *key)
{
    return writ_buf_view(&key->kid);
}

struct writ_view
writ_jwk_thumbprint(const struct writ_jwk *key)
{
    return writ_view(key->thumbprint, WRIT_JWK_THUMBPRINT_TEXT - 1);
}

struct writ_view
writ_jwk_text(const struct writ_jwk *key)
{
    return writ_buf_view(&key->text);
}

void
writ_jwk_put(struct writ_buf *buf, const struct writ_jwk *key)
{
    writ_buf_put(buf, writ_jwk_text(key));
}

/* OpenSSL returns 0 for a wrong signature, and a negative value for some that are chosen so that
 * its arithmetic fails (a point at infinity): neither verifies. */
static WRIT_RESULT
verdict(int verified, struct writ_err *err)
{
    if (verified == 1) {
        return WRIT_DONE;
    }
    ERR_clear_error();
    WRIT_FAIL(err, WRIT_E_MISMATCH, "the signature does not hold");
}

static WRIT_RESULT
verify_digest(const struct writ_jwk *key, struct writ_view input, struct writ_view signature,
    struct writ_err *err)
{
    EVP_PKEY_CTX *ctx = writ_pkctx_get(key->number, key->key, WRIT_PKCTX_VERIFY);
    struct writ_digest digest;
    int verified;

    if (ctx == NULL) {
        WRIT_FAIL(err, WRIT_E_CRYPTO, "the library cannot verify with a key");
    }
    WRIT_TRY(writ_digest_bytes(input, &digest, err));
    verified = EVP_PKEY_verify(ctx, (const unsigned char *)signature.ptr, signature.len,
        digest.bytes, sizeof(digest.bytes));
    if (verified < 0) {
        writ_pkctx_drop(key->number, WRIT_PKCTX_VERIFY);
    }
    return verdict(verified, err);
}

static WRIT_RESULT
verify_ecdsa(const struct writ_jwk *key, struct writ_view input, struct writ_view signature,
    struct writ_err *err)
{
    uint8_t der[WRIT_ECDSA_DER_MAX];
    size_t len = writ_ecdsa_to_der((const uint8_t *)signature.ptr, der);

    return verify_digest(key, input, writ_view(der, len), err);
}

static void
mdctx_freep(EVP_MD_CTX **ctx)
{
    EVP_MD_CTX_free(*ctx);
}

static WRIT_RESULT
verify_ed25519(const struct writ_jwk *key, struct writ_view input, struct writ_view signature,
    struct writ_err *err)
{
    WRIT_AUTO(EVP_MD_CTX *, mdctx_freep) ctx = EVP_MD_CTX_new();
    int verified;

    if (ctx == NULL || EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, key->key) != 1) {
        WRIT_FAIL(err, WRIT_E_CRYPTO, "the library cannot verify with a key");
    }
    verified = EVP_DigestVerify(ctx, (const unsigned char *)signature.ptr, signature.len,
        (const unsigned char *)input.ptr, input.len);
    return verdict(verified, err);
}

WRIT_RESULT
writ_jwk_verify(const struct writ_jwk *key, struct writ_view input, struct writ_view signature,
    struct writ_err *err)
{
    if (signature.len != key->signature_bytes) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the length of the signature is not that of its algorithm");
    }
    switch (key->alg) {
    case WRIT_JWK_ALG_ES256:
        return verify_ecdsa(key, input, signature, err);
    case WRIT_JWK_ALG_RS256:
        return verify_digest(key, input, signature, err);
    case WRIT_JWK_ALG_EDDSA:
        return verify_ed25519(key, input, signature, err);
    case WRIT_JWK_ALG_NONE:
        break;
    }
    WRIT_FAIL(err, WRIT_E_MISMATCH, "a key without algorithm verifies nothing");
}

WRIT_RESULT
writ_jwk_of_ed25519(struct writ_view bytes, struct writ_jwk **ret, struct writ_err *err)
{
    WRIT_AUTO(EVP_PKEY *, pkey_freep) pkey = NULL;
    writ_result result = ed_pkey(bytes, &pkey, err);

    if (writ_is_ok(result)) {
        result = writ_jwk_of(pkey, ret, err);
    }
    ERR_clear_error();
    return result;
}

WRIT_RESULT
writ_jwk_put_ed25519(const struct writ_jwk *key, struct writ_buf *buf, struct writ_err *err)
{
    uint8_t raw[WRIT_JWK_ED25519_BYTES];

    if (key->alg != WRIT_JWK_ALG_EDDSA) {
        WRIT_FAIL(
            err, WRIT_E_INVALID, "the key is for %s, not Ed25519", writ_jwk_alg_name(key->alg));
    }
    WRIT_TRY(ed_bytes(key->key, raw, err));
    writ_buf_put(buf, writ_view(raw, sizeof(raw)));
    return writ_buf_check(buf, err);
}
