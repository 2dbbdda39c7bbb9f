/* The low-level SHA-256 of libcrypto, which OpenSSL 3 deprecates in favour of EVP. It is the same
 * code underneath, and cannot fail. EVP looks for an engine, counts references and asks a provider
 * for each text, and most of ours are short: a governed call makes two dozen digests of some
 * hundred bytes, and EVP itself took 5 of its microseconds. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "evidence/json/digest.h"

#include "evidence/json/jcs.h"

#define PREFIX         "sha256:"
#define ORDINARY_BYTES 2048 /* canonical bytes of most values */

static writ_result
crypto_failed(struct writ_err *err)
{
    WRIT_FAIL(err, WRIT_E_CRYPTO, "SHA-256 failed in the crypto library");
}

static writ_result
finish(SHA256_CTX *state, struct writ_digest *ret, struct writ_err *err)
{
    struct writ_digest digest;

    if (SHA256_Final(digest.bytes, state) != 1) { /* wipes the state */
        return crypto_failed(err);
    }
    *ret = digest;
    return WRIT_DONE;
}

WRIT_RESULT
writ_digest_pieces(
    const struct writ_view *pieces, size_t n, struct writ_digest *ret, struct writ_err *err)
{
    SHA256_CTX state;

    if (SHA256_Init(&state) != 1) {
        return crypto_failed(err);
    }
    for (size_t i = 0; i < n; i++) {
        if (SHA256_Update(&state, pieces[i].ptr, pieces[i].len) != 1) {
            return crypto_failed(err);
        }
    }
    return finish(&state, ret, err);
}

WRIT_RESULT
writ_digest_bytes(struct writ_view bytes, struct writ_digest *ret, struct writ_err *err)
{
    return writ_digest_pieces(&bytes, 1, ret, err);
}

struct digester {
    struct writ_drain drain;
    SHA256_CTX state;
    size_t bytes;
    bool failed;
    const struct writ_digest_begun *begun; /* while all bytes so far are its first ones */
};

/* Whether the bytes so far and these are what was digested before. */
static bool
is_begun(struct digester *digester, struct writ_view bytes)
{
    const struct writ_digest_begun *begun = digester->begun;
    struct writ_view before;

    if (begun == NULL) {
        return false;
    }
    if (digester->bytes == begun->before.len && bytes.ptr == begun->string.ptr) {
        return bytes.len == begun->string.len;
    }
    before = writ_view_sub(begun->before, digester->bytes, begun->before.len);
    if (!writ_view_has_prefix(before, bytes)) {
        digester->begun = NULL;
    }
    return false;
}

static void
digest_piece(struct writ_drain *drain, struct writ_view bytes)
{
    struct digester *digester = (struct digester *)drain;

    if (is_begun(digester, bytes)) {
        digester->state = digester->begun->stream->state;
        digester->begun = NULL;
    } else {
        digester->failed =
            SHA256_Update(&digester->state, bytes.ptr, bytes.len) != 1 || digester->failed;
    }
    digester->bytes += bytes.len;
}

WRIT_RESULT
writ_digest_json_sized(const struct writ_json *value, size_t max,
    const struct writ_digest_begun *begun, struct writ_digest *ret, size_t *ret_bytes,
    struct writ_err *err)
{
    char room[ORDINARY_BYTES];
    struct digester digester = {.drain = {digest_piece}, .begun = begun};
    struct writ_buf canonical = writ_buf_drained(room, sizeof room, max, &digester.drain);

    if (SHA256_Init(&digester.state) != 1) {
        return crypto_failed(err);
    }
    WRIT_TRY(writ_jcs_put(&canonical, value, err));
    writ_buf_flush(&canonical);
    if (digester.failed) {
        return crypto_failed(err);
    }
    WRIT_TRY(finish(&digester.state, ret, err));
    *ret_bytes = digester.bytes;
    return WRIT_DONE;
}

WRIT_RESULT
writ_digest_json(
    const struct writ_json *value, size_t max, struct writ_digest *ret, struct writ_err *err)
{
    size_t bytes;

    return writ_digest_json_sized(value, max, NULL, ret, &bytes, err);
}

WRIT_RESULT
writ_digest_json_lossless(
    const struct writ_json *value, size_t max, struct writ_digest *ret, struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(max);

    WRIT_TRY(writ_jcs_put_lossless(&text, value, err));
    return writ_digest_bytes(writ_buf_view(&text), ret, err);
}

void
writ_digest_put(struct writ_buf *buf, const struct writ_digest *digest)
{
    writ_buf_put(buf, WRIT_LIT(PREFIX));
    writ_hex_put(buf, digest->bytes, sizeof digest->bytes);
}

void
writ_digest_text(const struct writ_digest *digest, char ret[WRIT_DIGEST_TEXT])
{
    struct writ_buf text = writ_buf_over(ret, WRIT_DIGEST_TEXT);

    writ_digest_put(&text, digest);
    writ_buf_byte(&text, '\0');
    WRIT_INVARIANT(text.len == WRIT_DIGEST_TEXT && text.failed == WRIT_E_UNSET);
}

bool
writ_digest_is(struct writ_view text)
{
    return text.len == WRIT_DIGEST_TEXT - 1 && writ_view_has_prefix(text, WRIT_LIT(PREFIX)) &&
           writ_hex_is(writ_view_sub(text, sizeof PREFIX - 1, text.len));
}

WRIT_RESULT
writ_digest_read(struct writ_view text, struct writ_digest *ret, struct writ_err *err)
{
    struct writ_digest digest;
    struct writ_view digits = writ_view_sub(text, sizeof PREFIX - 1, text.len);

    if (!writ_view_has_prefix(text, WRIT_LIT(PREFIX)) ||
        !writ_is_ok(writ_hex_read(digits, digest.bytes, sizeof digest.bytes))) {
        WRIT_FAIL(err, WRIT_E_PARSE, "not a digest: \"sha256:\" and 64 lower-case hex digits");
    }
    *ret = digest;
    return WRIT_DONE;
}

bool
writ_digest_equal(const struct writ_digest *a, const struct writ_digest *b)
{
    return writ_view_equal_secret(
        writ_view(a->bytes, sizeof a->bytes), writ_view(b->bytes, sizeof b->bytes));
}

/* ---- in steps */

WRIT_RESULT
writ_digest_stream_init(struct writ_digest_stream *ret, struct writ_err *err)
{
    if (SHA256_Init(&ret->state) != 1) {
        return crypto_failed(err);
    }
    ret->begun = true;
    return WRIT_DONE;
}

WRIT_RESULT
writ_digest_stream_add(
    struct writ_digest_stream *stream, struct writ_view bytes, struct writ_err *err)
{
    if (!stream->begun || SHA256_Update(&stream->state, bytes.ptr, bytes.len) != 1) {
        return crypto_failed(err);
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_digest_stream_end(
    struct writ_digest_stream *stream, struct writ_digest *ret, struct writ_err *err)
{
    if (!stream->begun) {
        return crypto_failed(err);
    }
    stream->begun = false;
    return finish(&stream->state, ret, err);
}

WRIT_RESULT
writ_digest_stream_now(
    const struct writ_digest_stream *stream, struct writ_digest *ret, struct writ_err *err)
{
    SHA256_CTX copy = stream->state;

    return stream->begun ? finish(&copy, ret, err) : crypto_failed(err);
}

#define STATE_WORDS 8
#define AT_LENGTH   32
#define AT_BLOCK    40
#define AT_FILLED   104

static void
put_word(uint32_t word, uint8_t *ret)
{
    uint32_t bytes = htobe32(word);

    (void)writ_view_place(writ_view(&bytes, sizeof bytes), (char *)ret);
}

static uint32_t
read_word(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

void
writ_digest_stream_save(
    const struct writ_digest_stream *stream, uint8_t ret[WRIT_DIGEST_STREAM_BYTES])
{
    for (size_t i = 0; i < STATE_WORDS; i++) {
        put_word(stream->state.h[i], ret + i * 4);
    }
    put_word(stream->state.Nh, ret + AT_LENGTH);
    put_word(stream->state.Nl, ret + AT_LENGTH + 4);
    for (size_t i = 0; i < SHA256_CBLOCK; i++) { /* the bytes after them are of an earlier block */
        ret[AT_BLOCK + i] = 0;
    }
    (void)writ_view_place(writ_view(stream->state.data, stream->state.num), (char *)ret + AT_BLOCK);
    ret[AT_FILLED] = (uint8_t)stream->state.num;
}

void
writ_digest_stream_restore(
    struct writ_digest_stream *ret, const uint8_t bytes[WRIT_DIGEST_STREAM_BYTES])
{
    *ret = (struct writ_digest_stream){.begun = true};
    for (size_t i = 0; i < STATE_WORDS; i++) {
        ret->state.h[i] = read_word(bytes + i * 4);
    }
    ret->state.Nh = read_word(bytes + AT_LENGTH);
    ret->state.Nl = read_word(bytes + AT_LENGTH + 4);
    (void)writ_view_place(writ_view(bytes + AT_BLOCK, SHA256_CBLOCK), (char *)ret->state.data);
    ret->state.num = bytes[AT_FILLED] % SHA256_CBLOCK;
    ret->state.md_len = SHA256_DIGEST_LENGTH;
}

void
writ_digest_stream_wipe(struct writ_digest_stream *stream)
{
    *stream = (struct writ_digest_stream){0};
}
