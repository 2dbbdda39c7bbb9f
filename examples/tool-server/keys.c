/* A set of keys is a JWKS (RFC 7517). jansson reads it for libjwt, which needs PEM; Writ parses
 * it itself. A failed fetch changes nothing: the set before is valid until its minute is over. */
#include "keys.h"

#include <curl/curl.h>
#include <jansson.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SET_MAX       (256 * 1024) /* bytes; writ_verify_keys takes no more */
#define SET_GOOD_S    60
#define FETCH_EVERY_S 1
#define COORDINATE    32 /* bytes of x and of y of a point of P-256 */

struct keys {
    const char *url;
    int64_t asked_s, fetched_s; /* 0: never */
    json_t *set;
    struct writ_verify *verify;
};

struct keys *
keys_new(const char *url)
{
    struct keys *keys = calloc(1, sizeof *keys);

    if (keys != NULL) {
        keys->url = url;
    }
    return keys;
}

void
keys_free(struct keys *keys)
{
    if (keys != NULL) {
        json_decref(keys->set);
        writ_verify_free(keys->verify);
        free(keys);
    }
}

const struct writ_verify *
keys_verify(const struct keys *keys)
{
    return keys->verify;
}

/* ---- fetching */

struct text {
    size_t len;
    char bytes[SET_MAX];
};

static size_t
append(char *bytes, size_t size, size_t n, void *ctx)
{
    struct text *text = ctx;
    size_t len = size * n;

    if (len > sizeof text->bytes - text->len) {
        return CURL_WRITEFUNC_ERROR;
    }
    memcpy(text->bytes + text->len, bytes, len);
    text->len += len;
    return len;
}

static bool
fetch(const char *url, struct text *ret)
{
    CURL *curl = curl_easy_init();
    CURLcode code = CURLE_OUT_OF_MEMORY;

    ret->len = 0;
    if (curl != NULL) {
        curl_easy_setopt(curl, CURLOPT_URL, url);
        curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https,file");
        curl_easy_setopt(curl, CURLOPT_PROXY, ""); /* whatever the environment says */
        curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
        curl_easy_setopt(curl, CURLOPT_TIMEOUT, 5L);
        curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, append);
        curl_easy_setopt(curl, CURLOPT_WRITEDATA, ret);
        code = curl_easy_perform(curl);
        curl_easy_cleanup(curl);
    }
    if (code != CURLE_OK) {
        fprintf(stderr, "keys: %s: %s\n", url, curl_easy_strerror(code));
    }
    return code == CURLE_OK;
}

/* Replaces the set. */
static bool
take(struct keys *keys, const struct text *text)
{
    struct writ_verify *verify = NULL;
    struct writ_err err = {"no memory", 0, 0};
    json_t *set = json_loadb(text->bytes, text->len, JSON_REJECT_DUPLICATES, NULL);

    if (set == NULL || writ_verify_new(&verify, &err).code != WRIT_OK ||
        writ_verify_keys(verify, (struct writ_view){text->bytes, text->len}, &err).code !=
            WRIT_OK) {
        fprintf(stderr, "keys: %s: %s\n", keys->url, set == NULL ? "not JSON" : err.text);
        writ_verify_free(verify);
        json_decref(set);
        return false;
    }
    writ_verify_free(keys->verify);
    json_decref(keys->set);
    keys->verify = verify;
    keys->set = set;
    return true;
}

static const json_t *
find(const struct keys *keys, const char *kid)
{
    const json_t *key;
    size_t i;

    json_array_foreach(json_object_get(keys->set, "keys"), i, key)
    {
        const char *name = json_string_value(json_object_get(key, "kid"));
        if (name != NULL && strcmp(name, kid) == 0) {
            return key;
        }
    }
    return NULL;
}

bool
keys_refresh(struct keys *keys, const char *kid, int64_t now_s)
{
    static struct text text;
    bool is_good = now_s < keys->fetched_s + SET_GOOD_S;

    if ((is_good && find(keys, kid) != NULL) || now_s < keys->asked_s + FETCH_EVERY_S) {
        return is_good;
    }
    keys->asked_s = now_s;
    if (fetch(keys->url, &text) && take(keys, &text)) {
        keys->fetched_s = now_s;
        return true;
    }
    return is_good;
}

/* ---- PEM */

/* 43 digits of base64url without padding; EVP reads 44 of base64 with it. */
static bool
read_coordinate(const json_t *text, unsigned char ret[COORDINATE])
{
    char base64[4 * (COORDINATE + 1) / 3 + 1] = {0};
    unsigned char bytes[COORDINATE + 1];

    if (json_string_length(text) != sizeof base64 - 2) {
        return false;
    }
    memcpy(base64, json_string_value(text), sizeof base64 - 2);
    base64[sizeof base64 - 2] = '=';
    for (char *at = base64; *at != '\0'; at++) {
        *at = *at == '-' ? '+' : *at == '_' ? '/' : *at;
    }
    if (EVP_DecodeBlock(bytes, (unsigned char *)base64, sizeof base64 - 1) != sizeof bytes) {
        return false;
    }
    memcpy(ret, bytes, COORDINATE);
    return true;
}

static EVP_PKEY *
public_key(unsigned char *point, size_t len)
{
    char group[] = "P-256";
    const OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, group, 0),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, point, len),
        OSSL_PARAM_construct_end(),
    };
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    EVP_PKEY *key = NULL;

    if (ctx != NULL && EVP_PKEY_fromdata_init(ctx) == 1) {
        EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_PUBLIC_KEY, (OSSL_PARAM *)params);
    }
    EVP_PKEY_CTX_free(ctx);
    return key;
}

static char *
pem_of(EVP_PKEY *key)
{
    BIO *bio = BIO_new(BIO_s_mem());
    char *pem = NULL, *bytes;

    if (bio != NULL && PEM_write_bio_PUBKEY(bio, key) == 1) {
        long len = BIO_get_mem_data(bio, &bytes);
        pem = strndup(bytes, (size_t)len);
    }
    BIO_free(bio);
    return pem;
}

char *
keys_pem(const struct keys *keys, const char *kid)
{
    unsigned char point[1 + 2 * COORDINATE] = {POINT_CONVERSION_UNCOMPRESSED};
    const json_t *jwk = find(keys, kid);
    const char *alg = json_string_value(json_object_get(jwk, "alg"));
    EVP_PKEY *key;
    char *pem = NULL;

    if (alg == NULL || strcmp(alg, "ES256") != 0 ||
        !read_coordinate(json_object_get(jwk, "x"), point + 1) ||
        !read_coordinate(json_object_get(jwk, "y"), point + 1 + COORDINATE)) {
        return NULL;
    }
    key = public_key(point, sizeof point);
    if (key != NULL) {
        pem = pem_of(key);
    }
    EVP_PKEY_free(key);
    return pem;
}
