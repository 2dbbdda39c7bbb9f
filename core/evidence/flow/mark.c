/* mark.c - see mark.h. One call of the library encrypts all blocks of a list. */
#include "evidence/flow/mark.h"

#include "evidence/flow/token.h"
#include "evidence/json/digest.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#define BLOCK      16
#define PADDING    0x80
#define LONG_WORD  0x01 /* last byte of the block of a token by its digest */
#define HOST_ALIAS 0x02
/* the block that separates texts */
#define TEXT_END "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"

struct writ_mark_key {
    EVP_CIPHER *cipher;
    uint8_t bytes[WRIT_MARK_KEY_BYTES];
    char id[WRIT_MARK_KEY_ID + 1];
};

static writ_result
library_failed(struct writ_err *err)
{
    ERR_clear_error();
    WRIT_FAIL(err, WRIT_E_CRYPTO, "the crypto library cannot encrypt blocks with AES-256");
}

/* ---- keys ---- */

static WRIT_RESULT
make_id(struct writ_mark_key *key, struct writ_err *err)
{
    const struct writ_view pieces[] = {
        WRIT_LIT("writ mark key\0"), {(const char *)key->bytes, sizeof key->bytes}};
    struct writ_buf id = writ_buf_over(key->id, sizeof key->id);
    struct writ_digest digest;

    WRIT_TRY(writ_digest_pieces(pieces, 2, &digest, err));
    writ_hex_put(&id, digest.bytes, WRIT_MARK_KEY_ID / 2);
    return writ_buf_check(&id, err);
}

WRIT_RESULT
writ_mark_key_of(struct writ_view bytes, struct writ_mark_key **ret, struct writ_err *err)
{
    struct writ_mark_key *key;
    writ_result r;

    if (bytes.len != WRIT_MARK_KEY_BYTES) {
        WRIT_FAIL(err, WRIT_E_INVALID, "a mark key has %d bytes", WRIT_MARK_KEY_BYTES);
    }
    key = writ_alloc(sizeof *key);
    if (key == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a mark key");
    }
    *key = (struct writ_mark_key){.cipher = EVP_CIPHER_fetch(NULL, "AES-256-ECB", NULL)};
    (void)writ_view_place(bytes, (char *)key->bytes);
    r = key->cipher != NULL ? make_id(key, err) : library_failed(err);
    if (!writ_is_ok(r)) {
        writ_mark_key_free(key);
        return r;
    }
    *ret = key;
    return WRIT_DONE;
}

void
writ_mark_key_free(struct writ_mark_key *key)
{
    if (key != NULL) {
        EVP_CIPHER_free(key->cipher);
        writ_wipe(key, sizeof *key);
        writ_free(key);
    }
}

struct writ_view
writ_mark_key_id(const struct writ_mark_key *key)
{
    return writ_view(key->id, WRIT_MARK_KEY_ID);
}

WRIT_RESULT
writ_mark_key_derive(const struct writ_mark_key *key, struct writ_view label,
    uint8_t ret[WRIT_MARK_DERIVED], struct writ_err *err)
{
    unsigned len = 0;

    if (HMAC(EVP_sha256(), key->bytes, sizeof key->bytes, (const uint8_t *)label.ptr, label.len,
            ret, &len) == NULL ||
        len != WRIT_MARK_DERIVED) {
        ERR_clear_error();
        WRIT_FAIL(err, WRIT_E_CRYPTO, "HMAC-SHA256 failed in the library");
    }
    return WRIT_DONE;
}

/* ---- blocks ---- */

/* In place: most tokens are short. A host is one byte shorter, for the byte that says so. */
static void
put_block(struct writ_buf *ret, struct writ_view token, uint8_t last)
{
    char *block = writ_buf_reserve(ret, BLOCK);
    struct writ_digest digest;

    if (block == NULL) {
        return;
    }
    if (last != LONG_WORD && token.len < BLOCK - (last != 0 ? 1 : 0)) {
        (void)writ_view_place(WRIT_LIT("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), block);
        block[BLOCK - 1] = (char)last;
        (void)writ_view_place(token, block);
        block[token.len] = (char)PADDING;
    } else if (writ_is_ok(writ_digest_bytes(token, &digest, NULL))) {
        (void)writ_view_place(writ_view(digest.bytes, BLOCK - 1), block);
        block[BLOCK - 1] = (char)last;
    } else {
        ret->failed = WRIT_E_CRYPTO;
    }
    ret->len += BLOCK;
}

static void
put_end(struct writ_buf *ret)
{
    char *block = writ_buf_reserve(ret, BLOCK);

    if (block != NULL) {
        (void)writ_view_place(WRIT_LIT(TEXT_END), block);
        ret->len += BLOCK;
    }
}

static uint8_t
last_of(struct writ_view word)
{
    return word.len < BLOCK ? 0 : LONG_WORD;
}

static bool
is_end(const char *block)
{
    return writ_view_load64(block) == UINT64_MAX && writ_view_load64(block + 8) == UINT64_MAX;
}

static void
separate(struct writ_buf *blocks)
{
    if (blocks->len > 0 && !is_end(blocks->ptr + blocks->len - BLOCK)) {
        put_end(blocks);
    }
}

static void
put_token(struct writ_mark_list *list, enum writ_token_kind kind, struct writ_view token)
{
    switch (kind) {
    case WRIT_TOKEN_WORD:
    case WRIT_TOKEN_PLAIN:
        put_block(&list->blocks, token, last_of(token));
        return;
    case WRIT_TOKEN_HOST:
        put_block(&list->aliases, token, HOST_ALIAS);
        put_end(&list->aliases);
        return;
    case WRIT_TOKEN_JOINED:
        put_block(&list->aliases, token, last_of(token));
        put_end(&list->aliases);
        return;
    }
}

static void
take(void *ctx, enum writ_token_kind kind, struct writ_view token, struct writ_view stands)
{
    struct writ_mark_list *list = ctx;

    (void)stands;
    if (kind == WRIT_TOKEN_PLAIN && !list->all) {
        separate(&list->blocks);
    } else if (list->n == list->most) {
        list->cut = true;
    } else {
        list->n++;
        put_token(list, kind, token);
    }
}

struct writ_mark_list
writ_mark_list_make(struct writ_mark_room *room, size_t most, bool all)
{
    size_t blocks = (2 * most + 1) * BLOCK;

    return (struct writ_mark_list){
        .blocks = writ_buf_from(room->blocks, sizeof room->blocks, blocks),
        .aliases = writ_buf_from(room->aliases, sizeof room->aliases, blocks),
        .ciphers = writ_buf_from(room->ciphers, sizeof room->ciphers, blocks),
        .most = most,
        .all = all};
}

void
writ_mark_list_wipe(struct writ_mark_list *list)
{
    writ_buf_wipe_secret(&list->blocks);
    writ_buf_wipe_secret(&list->aliases);
    writ_buf_wipe(&list->ciphers);
}

void
writ_mark_list_add(struct writ_mark_list *list, struct writ_view text)
{
    size_t before = list->blocks.len;

    if (list->n == list->most) {
        list->cut = list->cut || text.len > 0;
        return;
    }
    writ_tokens(text, take, list);
    if (list->blocks.len > before) {
        separate(&list->blocks);
    }
}

/* ---- marks ---- */

struct writ_mark_cipher {
    EVP_CIPHER_CTX *ctx;
};

WRIT_RESULT
writ_mark_cipher_new(
    const struct writ_mark_key *key, struct writ_mark_cipher **ret, struct writ_err *err)
{
    struct writ_mark_cipher *cipher = writ_alloc(sizeof *cipher);

    if (cipher == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for marks");
    }
    cipher->ctx = EVP_CIPHER_CTX_new();
    if (cipher->ctx == NULL ||
        EVP_EncryptInit_ex2(cipher->ctx, key->cipher, key->bytes, NULL, NULL) != 1 ||
        EVP_CIPHER_CTX_set_padding(cipher->ctx, 0) != 1) {
        writ_mark_cipher_free(cipher);
        return library_failed(err);
    }
    *ret = cipher;
    return WRIT_DONE;
}

void
writ_mark_cipher_free(struct writ_mark_cipher *cipher)
{
    if (cipher != NULL) {
        EVP_CIPHER_CTX_free(cipher->ctx); /* wipes the schedule of the key */
        writ_free(cipher);
    }
}

static void
cipher_freep(struct writ_mark_cipher **cipher)
{
    writ_mark_cipher_free(*cipher);
}

/* The mode has no state between blocks. */
static WRIT_RESULT
encrypt(struct writ_mark_cipher *cipher, struct writ_view blocks, char *room, struct writ_err *err)
{
    int len = 0;

    if (blocks.len > INT32_MAX ||
        EVP_EncryptUpdate(cipher->ctx, (uint8_t *)room, &len, (const uint8_t *)blocks.ptr,
            (int)blocks.len) != 1 ||
        (size_t)len != blocks.len) {
        return library_failed(err);
    }
    return WRIT_DONE;
}

/* A mark is never zeros: those separate. */
static void
put_mark(char *to, const char *cipher, const char *block)
{
    if (is_end(block)) {
        (void)writ_view_place(WRIT_LIT("\0\0\0\0\0"), to);
    } else {
        (void)writ_view_place(writ_view(cipher, WRIT_MARK), to);
        to[0] = (char)((to[0] | to[1] | to[2] | to[3] | to[4]) == 0 ? 1 : to[0]);
    }
}

static WRIT_RESULT
put_marks(struct writ_mark_cipher *cipher, const struct writ_buf *blocks, struct writ_buf *ciphers,
    struct writ_buf *ret, struct writ_err *err)
{
    size_t n = blocks->len / BLOCK;
    char *room, *marks;

    WRIT_TRY(writ_buf_check(blocks, err));
    if (n == 0) {
        return WRIT_DONE;
    }
    room = writ_buf_reserve(ciphers, blocks->len);
    if (room == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for marks");
    }
    WRIT_TRY(encrypt(cipher, writ_buf_view(blocks), room, err));
    marks = writ_buf_reserve(ret, n * WRIT_MARK);
    if (marks == NULL) {
        return writ_buf_check(ret, err);
    }
    for (size_t i = 0; i < n; i++) {
        put_mark(marks + i * WRIT_MARK, room + i * BLOCK, blocks->ptr + i * BLOCK);
    }
    ret->len += n * WRIT_MARK;
    return WRIT_DONE;
}

WRIT_RESULT
writ_mark_list_put(struct writ_mark_list *list, const struct writ_mark_key *key,
    struct writ_buf *ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_mark_cipher *, cipher_freep) cipher = NULL;

    WRIT_TRY(writ_mark_cipher_new(key, &cipher, err));
    return writ_mark_cipher_put(cipher, list, ret, err);
}

WRIT_RESULT
writ_mark_cipher_put(struct writ_mark_cipher *cipher, struct writ_mark_list *list,
    struct writ_buf *ret, struct writ_err *err)
{
    writ_result r = put_marks(cipher, &list->blocks, &list->ciphers, ret, err);

    if (writ_is_ok(r)) {
        r = put_marks(cipher, &list->aliases, &list->ciphers, ret, err);
    }
    writ_buf_clear(&list->blocks);
    writ_buf_clear(&list->aliases);
    list->n = 0;
    return r;
}

/* ---- searching ---- */

struct wanting {
    struct writ_buf words, hosts, joined; /* blocks */
    size_t n, hosts_n, joined_n, joined_len, most;
};

static void
want(void *ctx, enum writ_token_kind kind, struct writ_view token, struct writ_view stands)
{
    struct wanting *w = ctx;

    (void)stands;
    switch (kind) {
    case WRIT_TOKEN_WORD:
    case WRIT_TOKEN_PLAIN:
        if (w->n++ < w->most) {
            put_block(&w->words, token, last_of(token));
        }
        return;
    case WRIT_TOKEN_HOST:
        if (w->hosts_n++ == 0) {
            put_block(&w->hosts, token, HOST_ALIAS);
        }
        return;
    case WRIT_TOKEN_JOINED:
        w->joined_len = token.len;
        if (w->joined_n++ == 0) {
            put_block(&w->joined, token, last_of(token));
        }
        return;
    }
}

/* An account number in groups is the whole value: no word beside them, also none too long for a
 * group. */
static bool
is_account(const struct wanting *w, struct writ_view value)
{
    size_t len = 0;

    for (size_t i = 0; i < value.len; i++) {
        char c = value.ptr[i];
        if (!(c >= '0' && c <= '9') && !(c >= 'A' && c <= 'Z') && c != ' ' && c != '-') {
            return false;
        }
        len += c != ' ' && c != '-' ? 1 : 0;
    }
    return w->joined_n == 1 && w->joined_len == len;
}

static WRIT_RESULT
marks_in(struct writ_mark_cipher *cipher, const struct writ_buf *blocks, struct writ_arena *arena,
    struct writ_view *ret, struct writ_err *err)
{
    struct writ_buf marks = writ_buf_in(arena, blocks->len);
    struct writ_buf ciphers = writ_buf_in(arena, blocks->len);

    WRIT_TRY(put_marks(cipher, blocks, &ciphers, &marks, err));
    *ret = writ_buf_view(&marks);
    return WRIT_DONE;
}

WRIT_RESULT
writ_mark_want(const struct writ_mark_key *key, struct writ_view value, bool host, size_t most,
    struct writ_arena *arena, struct writ_mark_wanted *ret, struct writ_err *err)
{
    char room[2][BLOCK], few[16 * BLOCK];
    WRIT_AUTO(struct writ_buf, writ_buf_wipe_secret)
    words = writ_buf_from(few, sizeof few, most * BLOCK);
    struct wanting w = {.words = words,
        .hosts = writ_buf_over(room[0], BLOCK),
        .joined = writ_buf_over(room[1], BLOCK),
        .most = most};
    struct writ_mark_wanted wanted = {.words = {NULL, 0}};
    WRIT_AUTO(struct writ_mark_cipher *, cipher_freep) cipher = NULL;

    writ_tokens(value, want, &w);
    words = w.words;
    if (w.n > most) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "a value has more than %zu words", most);
    }
    if (w.n == 1 && !writ_token_is_bare(value)) {
        w.words.len = 0;
    }
    WRIT_TRY(writ_mark_cipher_new(key, &cipher, err));
    if (host) {
        w.words.len = 0;
        if (w.n == 1 && w.hosts_n == 1 && writ_token_is_bare(value)) {
            WRIT_TRY(marks_in(cipher, &w.hosts, arena, &wanted.words, err));
        }
    } else {
        WRIT_TRY(marks_in(cipher, &w.words, arena, &wanted.words, err));
        if (is_account(&w, value)) {
            WRIT_TRY(marks_in(cipher, &w.joined, arena, &wanted.joined, err));
        }
    }
    *ret = wanted;
    return WRIT_DONE;
}

bool
writ_mark_contains(struct writ_view marks, struct writ_view wanted)
{
    for (size_t i = 0; wanted.len > 0 && i + wanted.len <= marks.len; i += WRIT_MARK) {
        if (marks.ptr[i] == wanted.ptr[0] &&
            writ_view_equal(writ_view_sub(marks, i, wanted.len), wanted)) {
            return true;
        }
    }
    return false;
}
