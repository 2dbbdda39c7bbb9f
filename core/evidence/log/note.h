/* note.h - signed notes (c2sp.org/signed-note): a text, an empty line, and lines that each sign the
 * text with one Ed25519 key. Checkpoints and their cosignatures by witnesses are notes.
 *
 * A key has a name, by convention a URL without scheme, and an identifier of four bytes that
 * selects one of the keys with that name; it proves nothing. A verifier uses the keys that it
 * trusts and ignores every other line. As text a key is a "vkey": <name>+<identifier, hex>+<base64
 * of the type and the key>.
 *
 * Pure but for the allocations; thread-safe; nothing blocks. */
#ifndef WRIT_EVIDENCE_NOTE_H
#define WRIT_EVIDENCE_NOTE_H

#include "evidence/jose/signer.h"

#define WRIT_NOTE_BYTES_MAX      ((size_t)65536) /* longest note */
#define WRIT_NOTE_SIGNATURES_MAX 64              /* most signature lines */
#define WRIT_NOTE_NAME_MAX       256             /* longest name of a key */
#define WRIT_NOTE_KEY_TEXT_MAX   512             /* longest vkey */

/** The type of a signature: the identifier byte of c2sp.org/signed-note. NONE verifies nothing. */
enum writ_note_type {
    WRIT_NOTE_NONE = 0,
    WRIT_NOTE_ED25519 = 0x01,     /* of the text itself */
    WRIT_NOTE_COSIGNATURE = 0x04, /* of the text and a time (c2sp.org/tlog-cosignature, v1) */
};

struct writ_note_key;

/** True for a vkey of a type that we do not support, such as ML-DSA-44: it verifies nothing, and it
 * is not an error. `ret_name` is its name; borrowed from `text`. */
bool writ_note_key_is_unknown(struct writ_view text, struct writ_view *ret_name);

/** Reads a vkey. `ret` is new, free with writ_note_key_free; written only on success. WRIT_E_LIMIT,
 * WRIT_E_PARSE when it is malformed, WRIT_E_INVALID for an unsupported type or a bad key,
 * WRIT_E_MISMATCH when its identifier does not match its key, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_note_key_read(
    struct writ_view text, struct writ_note_key **ret, struct writ_err *err);

/** The key under a name. `jwk` is borrowed for the call. WRIT_E_INVALID for a name that
 * writ_note_check_name refuses, the type NONE, or another algorithm than EdDSA; WRIT_E_NOMEM,
 * WRIT_E_CRYPTO. */
WRIT_RESULT writ_note_key_of(struct writ_view name, enum writ_note_type type,
    const struct writ_jwk *jwk, struct writ_note_key **ret, struct writ_err *err);

/** NULL is permitted. */
void writ_note_key_free(struct writ_note_key *key);

/** Frees at the end of the scope: writ_auto_note_key x = NULL; */
#define writ_auto_note_key WRIT_AUTO(struct writ_note_key *, writ_note_key_release)

static inline void
writ_note_key_release(struct writ_note_key **key)
{
    writ_note_key_free(*key);
}

/** Borrowed until the key is freed. */
struct writ_view writ_note_key_name(const struct writ_note_key *key);
enum writ_note_type writ_note_key_type(const struct writ_note_key *key);

/** Appends the vkey. */
void writ_note_key_put(struct writ_buf *buf, const struct writ_note_key *key);

/** WRIT_E_INVALID for a name that is empty, too long, not UTF-8, or has a space of Unicode, a
 * control character or '+'. */
WRIT_RESULT writ_note_check_name(struct writ_view name, struct writ_err *err);

/** The parts of a note, not verified. Borrowed from what was read. */
struct writ_note {
    struct writ_view text;       /* with its last newline */
    struct writ_view signatures; /* the lines, each with its newline */
};

/** Takes a note apart. WRIT_E_LIMIT, WRIT_E_PARSE. */
WRIT_RESULT writ_note_read(struct writ_view bytes, struct writ_note *ret, struct writ_err *err);

/**
 * Verifies every signature of `key` under the note.
 *
 * @param ret_time_s  when a cosigner signed, seconds since 1970, the latest of several; 0 for
 *                    WRIT_NOTE_ED25519. May be NULL
 *
 * @return WRIT_OK          at least one, and all of them hold
 *         WRIT_E_ABSENT    the key did not sign
 *         WRIT_E_MISMATCH  one does not hold: trust nothing in the note
 *         WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_note_verify(const struct writ_note *note, const struct writ_note_key *key,
    uint64_t *ret_time_s, struct writ_err *err);

/**
 * Appends one signature line under a text.
 *
 * @param text    ends with a newline
 * @param key     the public half of `signer`, under the name and as the type to sign with
 * @param time_s  for WRIT_NOTE_COSIGNATURE: when; else ignored
 *
 * @return WRIT_OK
 *         WRIT_E_INVALID  the text cannot be the text of a note
 *         WRIT_E_CRYPTO, and the failures of the buffer
 */
WRIT_RESULT writ_note_sign(struct writ_view text, const struct writ_note_key *key,
    const struct writ_signer *signer, uint64_t time_s, struct writ_buf *buf, struct writ_err *err);

#endif
