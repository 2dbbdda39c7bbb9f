/* mark.h - tokens as marks: keyed hashes that tell whether a token was seen, and nothing else.
 *
 * A mark is the first WRIT_MARK bytes of AES-256 (FIPS 197) of one block under the mark key of a
 * ledger. The block of a token of at most 15 bytes, or of a host of at most 14, is the token,
 * padded (ISO/IEC 9797-1, method 2); of a longer one the first 15 bytes of its SHA-256. The last
 * byte is another one for words, long words and hosts. A guess about a token can be tested with the
 * key alone. One in 2^40 unequal tokens has the same mark.
 *
 * The marks of a text keep the order of its words, so that a value of several words is found as it
 * stands there. Marks of zeros separate texts, and aliases. */
#ifndef WRIT_EVIDENCE_MARK_H
#define WRIT_EVIDENCE_MARK_H

#include "base/bytes.h"

#define WRIT_MARK           5  /* bytes */
#define WRIT_MARK_KEY_BYTES 32 /* of the key */
#define WRIT_MARK_KEY_ID    8  /* characters that name a key in records */

struct writ_mark_key;

/** A key of these bytes, which must be as good as random. Immutable: any thread may use it. Free
 * with writ_mark_key_free. WRIT_E_INVALID: another length; WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_mark_key_of(
    struct writ_view bytes, struct writ_mark_key **ret, struct writ_err *err);

/** Wipes and frees. NULL is permitted. */
void writ_mark_key_free(struct writ_mark_key *key);

/** Frees at the end of the scope: writ_auto_mark_key x = NULL; */
#define writ_auto_mark_key WRIT_AUTO(struct writ_mark_key *, writ_mark_key_release)

static inline void
writ_mark_key_release(struct writ_mark_key **key)
{
    writ_mark_key_free(*key);
}

/** The name of the key: hexadecimal digits that do not reveal it. Borrowed until it is freed. */
struct writ_view writ_mark_key_id(const struct writ_mark_key *key);

#define WRIT_MARK_DERIVED 32 /* bytes */

/** Another key that reveals nothing of this one: HMAC-SHA256 (RFC 2104) of a label, which is that
 * of no other key. Wipe it. WRIT_E_CRYPTO. */
WRIT_RESULT writ_mark_key_derive(const struct writ_mark_key *key, struct writ_view label,
    uint8_t ret[WRIT_MARK_DERIVED], struct writ_err *err);

/** Memory of a list for most results; longer ones use the heap. */
struct writ_mark_room {
    char blocks[4096], aliases[1024], ciphers[4096];
};

/** Collects the tokens of texts as blocks. */
struct writ_mark_list {
    struct writ_buf blocks; /* of 16 bytes */
    struct writ_buf aliases;
    struct writ_buf ciphers; /* the blocks, encrypted */
    size_t n, most;          /* tokens; further ones are not taken */
    bool all;                /* also words of a to z alone; else these only separate the others */
    bool cut;                /* some were not */
};

/** A list of at most `most` tokens, all or without plain words. The room outlives it; it need not
 * be initialised. Wipe the list with writ_mark_list_wipe. */
struct writ_mark_list writ_mark_list_make(struct writ_mark_room *room, size_t most, bool all);
void writ_mark_list_wipe(struct writ_mark_list *list);

/** Adds the tokens of one text. */
void writ_mark_list_add(struct writ_mark_list *list, struct writ_view text);

/** Appends the marks of everything in the list, texts first, and empties it. WRIT_E_NOMEM,
 * WRIT_E_LIMIT (of `ret`), WRIT_E_CRYPTO. */
WRIT_RESULT writ_mark_list_put(struct writ_mark_list *list, const struct writ_mark_key *key,
    struct writ_buf *ret, struct writ_err *err);

/** A key that is ready for the marks of many lists. One thread at a time. */
struct writ_mark_cipher;

/** Free with writ_mark_cipher_free. WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_mark_cipher_new(
    const struct writ_mark_key *key, struct writ_mark_cipher **ret, struct writ_err *err);
/** NULL is permitted. */
void writ_mark_cipher_free(struct writ_mark_cipher *cipher);

/** As writ_mark_list_put. */
WRIT_RESULT writ_mark_cipher_put(struct writ_mark_cipher *cipher, struct writ_mark_list *list,
    struct writ_buf *ret, struct writ_err *err);

/** A value that is searched for, as marks. Both may be empty: nothing can be found. */
struct writ_mark_wanted {
    struct writ_view words;  /* of all its words, in their order */
    struct writ_view joined; /* of an account number in groups, without their separators */
};

/**
 * The marks of a value that is searched for, in the arena.
 *
 * A value of one word must be that word and nothing else (but white space): punctuation around it
 * may mean something to a tool.
 *
 * @param host  of the host alone: the value must be one URL or address of mail
 *
 * WRIT_E_NOMEM, WRIT_E_LIMIT (longer than `most` tokens), WRIT_E_CRYPTO.
 */
WRIT_RESULT writ_mark_want(const struct writ_mark_key *key, struct writ_view value, bool host,
    size_t most, struct writ_arena *arena, struct writ_mark_wanted *ret, struct writ_err *err);

/** Whether `marks` has `wanted` (one or more marks, none of them zeros) in one piece. */
bool writ_mark_contains(struct writ_view marks, struct writ_view wanted);

#endif
