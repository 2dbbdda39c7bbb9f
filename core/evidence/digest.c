/* One fetched SHA-256 for the process, one context for each thread: the one-shot calls of OpenSSL
 * look the algorithm up each time, which costs more than hashing a short text. */
#include "evidence/digest.h"

#include "evidence/jcs.h"

#include <openssl/evp.h>
#include <pthread.h>

#define PREFIX         "sha256:"
#define ORDINARY_BYTES 2048 /* canonical bytes of most values */

static pthread_once_t shared_once = PTHREAD_ONCE_INIT;
static EVP_MD *sha256;
static pthread_key_t ctx_key; /* frees a thread's context when the thread ends */
static bool ctx_key_made;
static _Thread_local EVP_MD_CTX *thread_ctx;

static void
ctx_destroy(void *ctx)
{
    EVP_MD_CTX_free(ctx);
}

static void
make_shared(void)
{
    sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
    ctx_key_made = pthread_key_create(&ctx_key, ctx_destroy) == 0;
}

static writ_result
crypto_failed(struct writ_err *err)
{
    WRIT_FAIL(err, WRIT_E_CRYPTO, "SHA-256 failed in the crypto library");
}

static writ_result
ctx_start(EVP_MD_CTX *ctx, struct writ_err *err)
{
    (void)pthread_once(&shared_once, make_shared);
    if (sha256 == NULL || ctx == NULL || EVP_DigestInit_ex2(ctx, sha256, NULL) != 1) {
        return crypto_failed(err);
    }
    return WRIT_DONE;
}

/* The context of this thread, started. */
static writ_result
thread_start(EVP_MD_CTX **ret, struct writ_err *err)
{
    (void)pthread_once(&shared_once, make_shared);
    if (thread_ctx == NULL && ctx_key_made) {
        EVP_MD_CTX *ctx = EVP_MD_CTX_new();
        if (ctx != NULL && pthread_setspecific(ctx_key, ctx) != 0) {
            EVP_MD_CTX_free(ctx);
            ctx = NULL;
        }
        thread_ctx = ctx;
    }
    WRIT_TRY(ctx_start(thread_ctx, err));
    *ret = thread_ctx;
    return WRIT_DONE;
}

static writ_result
ctx_finish(EVP_MD_CTX *ctx, struct writ_digest *ret, struct writ_err *err)
{
    struct writ_digest digest;
    unsigned len = 0;

    if (EVP_DigestFinal_ex(ctx, digest.bytes, &len) != 1 || len != sizeof digest.bytes) {
        return crypto_failed(err);
    }
    *ret = digest;
    return WRIT_DONE;
}

WRIT_RESULT
writ_digest_pieces(
    const struct writ_view *pieces, size_t n, struct writ_digest *ret, struct writ_err *err)
{
    EVP_MD_CTX *ctx;

    WRIT_TRY(thread_start(&ctx, err));
    for (size_t i = 0; i < n; i++) {
        if (EVP_DigestUpdate(ctx, pieces[i].ptr, pieces[i].len) != 1) {
            return crypto_failed(err);
        }
    }
    return ctx_finish(ctx, ret, err);
}

WRIT_RESULT
writ_digest_bytes(struct writ_view bytes, struct writ_digest *ret, struct writ_err *err)
{
    return writ_digest_pieces(&bytes, 1, ret, err);
}

WRIT_RESULT
writ_digest_json(
    const struct writ_json *value, size_t max, struct writ_digest *ret, struct writ_err *err)
{
    char room[ORDINARY_BYTES];
    writ_auto_buf canonical = writ_buf_from(room, sizeof room, max);

    WRIT_TRY(writ_jcs_put(&canonical, value, err));
    return writ_digest_bytes(writ_buf_view(&canonical), ret, err);
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
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    writ_result result = ctx_start(ctx, err);

    if (!writ_is_ok(result)) {
        EVP_MD_CTX_free(ctx);
        return result;
    }
    ret->ctx = ctx;
    return WRIT_DONE;
}

WRIT_RESULT
writ_digest_stream_add(
    struct writ_digest_stream *stream, struct writ_view bytes, struct writ_err *err)
{
    if (stream->ctx == NULL || EVP_DigestUpdate(stream->ctx, bytes.ptr, bytes.len) != 1) {
        return crypto_failed(err);
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_digest_stream_end(
    struct writ_digest_stream *stream, struct writ_digest *ret, struct writ_err *err)
{
    writ_result result = (writ_result){WRIT_E_CRYPTO};

    if (stream->ctx != NULL) {
        result = ctx_finish(stream->ctx, ret, err);
    }
    writ_digest_stream_wipe(stream);
    return result;
}

WRIT_RESULT
writ_digest_stream_now(
    const struct writ_digest_stream *stream, struct writ_digest *ret, struct writ_err *err)
{
    EVP_MD_CTX *copy = EVP_MD_CTX_new();
    writ_result result;

    if (copy != NULL && stream->ctx != NULL && EVP_MD_CTX_copy_ex(copy, stream->ctx) == 1) {
        result = ctx_finish(copy, ret, err);
    } else {
        result = crypto_failed(err);
    }
    EVP_MD_CTX_free(copy);
    return result;
}

void
writ_digest_stream_wipe(struct writ_digest_stream *stream)
{
    EVP_MD_CTX_free(stream->ctx);
    stream->ctx = NULL;
}
