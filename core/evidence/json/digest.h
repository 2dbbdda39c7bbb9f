/* digest.h - SHA-256 over bytes and over canonical JSON. Every reference in a credential or a
 * ledger record is made here. Values that JCS (RFC 8785) considers equal have equal digests.
 *
 * As text a digest is "sha256:" and 64 lower-case hex digits, and only that. A zeroed digest
 * matches no input. All functions are thread-safe. */
#ifndef WRIT_EVIDENCE_DIGEST_H
#define WRIT_EVIDENCE_DIGEST_H

#include "evidence/json/json.h"

#include <openssl/sha.h>

#define WRIT_DIGEST_BYTES 32
#define WRIT_DIGEST_TEXT  72 /* "sha256:" and 64 digits and NUL */

struct writ_digest {
    uint8_t bytes[WRIT_DIGEST_BYTES];
};

/** SHA-256 of bytes. WRIT_E_CRYPTO when the library fails (`ret` is then untouched). */
WRIT_RESULT writ_digest_bytes(
    struct writ_view bytes, struct writ_digest *ret, struct writ_err *err);

/** SHA-256 of the concatenation of `n` pieces, without joining them first. WRIT_E_CRYPTO. */
WRIT_RESULT writ_digest_pieces(
    const struct writ_view *pieces, size_t n, struct writ_digest *ret, struct writ_err *err);

/**
 * Digests one JSON value: H(x) of the contract.
 *
 * @param value  any JSON value; borrowed for the call, not modified
 * @param max    most canonical bytes to accept
 * @param ret    written only on success
 * @param err    filled on failure; may be NULL
 *
 * @return WRIT_OK
 *         WRIT_E_LIMIT   the canonical form is longer than `max` bytes
 *         WRIT_E_PARSE   a number has no canonical form (jcs.h)
 *         WRIT_E_CRYPTO
 *
 * Needs no memory: the canonical form is digested while it is written.
 */
WRIT_RESULT writ_digest_json(
    const struct writ_json *value, size_t max, struct writ_digest *ret, struct writ_err *err);

/** As writ_digest_json over the lossless form (writ_jcs_put_lossless), for the definition of a
 * tool. Equals writ_digest_json where every number is exact. WRIT_E_LIMIT, WRIT_E_NOMEM,
 * WRIT_E_CRYPTO. */
WRIT_RESULT writ_digest_json_lossless(
    const struct writ_json *value, size_t max, struct writ_digest *ret, struct writ_err *err);

/** Writes "sha256:<hex>" and NUL. */
void writ_digest_text(const struct writ_digest *digest, char ret[WRIT_DIGEST_TEXT]);

/** Appends "sha256:<hex>", without quotes. */
void writ_digest_put(struct writ_buf *buf, const struct writ_digest *digest);

/** True for exactly what writ_digest_text writes. */
bool writ_digest_is(struct writ_view text);

/** Reads exactly what writ_digest_text writes. WRIT_E_PARSE for anything else. */
WRIT_RESULT writ_digest_read(struct writ_view text, struct writ_digest *ret, struct writ_err *err);

/** Constant-time equality. */
bool writ_digest_equal(const struct writ_digest *a, const struct writ_digest *b);

/** SHA-256 in steps, for input that is not in memory at once. A value that owns nothing. */
struct writ_digest_stream {
    SHA256_CTX state;
    bool begun;
};

/** Starts. WRIT_E_CRYPTO. */
WRIT_RESULT writ_digest_stream_init(struct writ_digest_stream *ret, struct writ_err *err);
/** WRIT_E_CRYPTO. */
WRIT_RESULT writ_digest_stream_add(
    struct writ_digest_stream *stream, struct writ_view bytes, struct writ_err *err);
/** Gives the digest of all input; afterwards the stream takes no more input. WRIT_E_CRYPTO. */
WRIT_RESULT writ_digest_stream_end(
    struct writ_digest_stream *stream, struct writ_digest *ret, struct writ_err *err);
/** Gives the digest of the input so far; more may follow. WRIT_E_CRYPTO. */
WRIT_RESULT writ_digest_stream_now(
    const struct writ_digest_stream *stream, struct writ_digest *ret, struct writ_err *err);
/* Eight words of the state, the length in bits, the bytes of the incomplete block, and their
 * number. */
#define WRIT_DIGEST_STREAM_BYTES (32 + 8 + 64 + 1)

/** Writes the state of a stream that was started; a restored stream continues from it. The state
 * reveals up to 63 bytes of the input. */
void writ_digest_stream_save(
    const struct writ_digest_stream *stream, uint8_t ret[WRIT_DIGEST_STREAM_BYTES]);
/** Every state is accepted: a wrong one only gives other digests. */
void writ_digest_stream_restore(
    struct writ_digest_stream *ret, const uint8_t bytes[WRIT_DIGEST_STREAM_BYTES]);
/** Ends the stream: it takes no more input. A zeroed stream is permitted. */
void writ_digest_stream_wipe(struct writ_digest_stream *stream);

/** What was digested of a canonical form before the whole of it was known: its first bytes and the
 * string after them, whose bytes are in one place. */
struct writ_digest_begun {
    struct writ_view before, string;
    const struct writ_digest_stream *stream;
};

/** As writ_digest_json, and the length of the canonical form. `begun`: taken over where the form
 * has exactly these bytes; NULL: nothing was. */
WRIT_RESULT writ_digest_json_sized(const struct writ_json *value, size_t max,
    const struct writ_digest_begun *begun, struct writ_digest *ret, size_t *ret_bytes,
    struct writ_err *err);

#endif
