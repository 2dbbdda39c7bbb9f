/* Writes, reads and judges checkpoints and proofs. Every byte of a note or a proof counts: a line
 * too many, another spelling of a number or a wrong signature of a known key refuses the whole. */
#include "evidence/log/checkpoint.h"

#include "base/text.h"

#define PROOF_HEAD WRIT_LIT("c2sp.org/tlog-proof@v1")
#define EXTRA      WRIT_LIT("extra ")
#define INDEX      WRIT_LIT("index ")

/* Takes a line off the front of `rest`, without its newline; false when none ends. */
static bool
take_line(struct writ_view *rest, struct writ_view *ret)
{
    size_t len = writ_view_find(*rest, '\n');

    if (len == rest->len) {
        return false;
    }
    *ret = writ_view_sub(*rest, 0, len);
    *rest = writ_view_sub(*rest, len + 1, rest->len);
    return true;
}

static void
put_line(struct writ_buf *buf, struct writ_view line)
{
    writ_buf_put(buf, line);
    writ_buf_byte(buf, '\n');
}

static void
put_digest(struct writ_buf *buf, const struct writ_digest *digest)
{
    writ_base64_put(buf, writ_view(digest->bytes, sizeof digest->bytes));
    writ_buf_byte(buf, '\n');
}

static bool
read_digest(struct writ_view line, struct writ_digest *ret)
{
    char room[WRIT_DIGEST_BYTES];
    struct writ_buf bytes = writ_buf_over(room, sizeof room);

    if (!writ_is_ok(writ_base64_read(line, &bytes)) || bytes.len != WRIT_DIGEST_BYTES) {
        return false;
    }
    (void)writ_view_place(writ_buf_view(&bytes), (char *)ret->bytes);
    return true;
}

/* ---- Checkpoints */

void
writ_checkpoint_origin_put(struct writ_buf *buf, struct writ_view ledger_id)
{
    writ_buf_str(buf, "writ-ledger/");
    writ_buf_put(buf, ledger_id);
}

WRIT_RESULT
writ_checkpoint_key(struct writ_view origin, const struct writ_jwk *jwk, struct writ_note_key **ret,
    struct writ_err *err)
{
    return writ_note_key_of(origin, WRIT_NOTE_ED25519, jwk, ret, err);
}

/* The keys in one state. Keys of another purpose or algorithm do not sign checkpoints. */
static WRIT_RESULT
put_keys(const struct writ_keyring *ring, enum writ_key_state state, struct writ_view origin,
    struct writ_buf *buf, struct writ_err *err)
{
    for (size_t i = 0; i < writ_keyring_count(ring); i++) {
        const struct writ_keyring_key *key = writ_keyring_key(ring, i);
        writ_auto_note_key named = NULL;

        if (key->purpose != WRIT_KEY_PURPOSE_LEDGER || key->state != state ||
            writ_jwk_alg(key->public) != WRIT_JWK_ALG_EDDSA) {
            continue;
        }
        WRIT_TRY(writ_checkpoint_key(origin, key->public, &named, err));
        writ_note_key_put(buf, named);
        writ_buf_byte(buf, '\n');
    }
    return writ_buf_check(buf, err);
}

WRIT_RESULT
writ_checkpoint_keys(const struct writ_keyring *ring, struct writ_view origin, bool history,
    struct writ_buf *buf, struct writ_err *err)
{
    WRIT_TRY(put_keys(ring, WRIT_KEY_STATE_ACTIVE, origin, buf, err));
    WRIT_TRY(put_keys(ring, WRIT_KEY_STATE_VERIFYING, origin, buf, err));
    return history ? put_keys(ring, WRIT_KEY_STATE_RETIRED, origin, buf, err) : WRIT_DONE;
}

void
writ_checkpoint_put(struct writ_buf *buf, const struct writ_checkpoint *checkpoint)
{
    put_line(buf, checkpoint->origin);
    writ_buf_u64(buf, checkpoint->size);
    writ_buf_byte(buf, '\n');
    put_digest(buf, &checkpoint->root);
    writ_buf_put(buf, checkpoint->extensions);
}

static bool
are_lines(struct writ_view lines)
{
    struct writ_view line;

    while (lines.len > 0) {
        if (!take_line(&lines, &line) || line.len == 0) {
            return false;
        }
    }
    return true;
}

WRIT_RESULT
writ_checkpoint_read(struct writ_view text, struct writ_checkpoint *ret, struct writ_err *err)
{
    struct writ_checkpoint checkpoint;
    struct writ_view size, root;
    writ_result result;

    if (!take_line(&text, &checkpoint.origin) || checkpoint.origin.len == 0 ||
        !take_line(&text, &size) || !take_line(&text, &root) || !are_lines(text)) {
        WRIT_FAIL(err, WRIT_E_PARSE, "a checkpoint is not the lines origin, size and root");
    }
    result = writ_text_u64(size, 0, WRIT_TREE_SIZE_MAX, &checkpoint.size);
    if (!writ_is_ok(result)) {
        WRIT_FAIL(err, result.code, "the size of a checkpoint is not a number up to %llu",
            (unsigned long long)WRIT_TREE_SIZE_MAX);
    }
    if (!read_digest(root, &checkpoint.root)) {
        WRIT_FAIL(err, WRIT_E_PARSE, "the root of a checkpoint is not 32 bytes in base64");
    }
    checkpoint.extensions = text;
    *ret = checkpoint;
    return WRIT_DONE;
}

/* The first of the keys that signed. */
static WRIT_RESULT
find_signer(const struct writ_note *note, const struct writ_note_key *const *keys, size_t n,
    const struct writ_note_key **ret, struct writ_err *err)
{
    for (size_t i = 0; i < n; i++) {
        writ_result result = writ_note_verify(note, keys[i], NULL, err);

        if (result.code != WRIT_E_ABSENT) {
            *ret = keys[i];
            return result;
        }
    }
    WRIT_FAIL(err, WRIT_E_ABSENT, "the checkpoint is signed by none of the %zu keys", n);
}

WRIT_RESULT
writ_checkpoint_verify(struct writ_view bytes, const struct writ_note_key *const *keys, size_t n,
    struct writ_checkpoint *ret, struct writ_err *err)
{
    const struct writ_note_key *key = NULL;
    struct writ_checkpoint checkpoint;
    struct writ_note note;

    WRIT_TRY(writ_note_read(bytes, &note, err));
    WRIT_TRY(find_signer(&note, keys, n, &key, err));
    WRIT_TRY(writ_checkpoint_read(note.text, &checkpoint, err));
    if (!writ_view_equal(checkpoint.origin, writ_note_key_name(key))) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the checkpoint is of another log");
    }
    *ret = checkpoint;
    return WRIT_DONE;
}

/* ---- Witnesses */

/* Whether one of the keys before it has its name. */
static bool
is_named_before(const struct writ_note_key *const *keys, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (writ_view_equal(writ_note_key_name(keys[i]), writ_note_key_name(keys[at]))) {
            return true;
        }
    }
    return false;
}

size_t
writ_checkpoint_witnesses(const struct writ_note_key *const *keys, size_t n)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        count += is_named_before(keys, i) ? 0 : 1;
    }
    return count;
}

/* Whether a witness signed, with any of its keys. A wrong signature of one of its keys is an
 * error. */
static WRIT_RESULT
find_cosigned(const struct writ_note *note, const struct writ_checkpoint_trust *trust,
    struct writ_view name, bool *ret, struct writ_err *err)
{
    bool found = false;

    for (size_t i = 0; i < trust->witnesses_n; i++) {
        const struct writ_note_key *key = trust->witnesses[i];
        writ_result result;

        if (writ_note_key_type(key) != WRIT_NOTE_COSIGNATURE ||
            !writ_view_equal(writ_note_key_name(key), name)) {
            continue;
        }
        result = writ_note_verify(note, key, NULL, err);
        if (writ_is_ok(result)) {
            found = true;
        } else if (result.code != WRIT_E_ABSENT) {
            return result;
        }
    }
    *ret = found;
    return WRIT_DONE;
}

static WRIT_RESULT
count_cosigned(struct writ_view bytes, const struct writ_checkpoint_trust *trust, size_t *ret,
    struct writ_err *err)
{
    struct writ_note note;
    size_t count = 0;

    WRIT_TRY(writ_note_read(bytes, &note, err));
    for (size_t i = 0; i < trust->witnesses_n; i++) {
        bool signed_it = false;

        if (!is_named_before(trust->witnesses, i)) {
            WRIT_TRY(find_cosigned(
                &note, trust, writ_note_key_name(trust->witnesses[i]), &signed_it, err));
        }
        count += signed_it ? 1 : 0;
    }
    *ret = count;
    return WRIT_DONE;
}

/* The reason against a checkpoint, from the result of its verification. */
static enum writ_reason
reason_of(writ_result result)
{
    return writ_is_ok(result)               ? WRIT_REASON_EVIDENCE_OK
           : result.code == WRIT_E_ABSENT   ? WRIT_REASON_CHECKPOINT_UNSIGNED
           : result.code == WRIT_E_MISMATCH ? WRIT_REASON_CHECKPOINT_INVALID
                                            : WRIT_REASON_EVIDENCE_MALFORMED;
}

WRIT_RESULT
writ_checkpoint_judge(struct writ_view bytes, const struct writ_checkpoint_trust *trust,
    struct writ_checkpoint *ret, enum writ_reason *ret_why, struct writ_err *err)
{
    struct writ_checkpoint checkpoint = {0};
    size_t count = 0;
    writ_result result =
        writ_checkpoint_verify(bytes, trust->keys, trust->keys_n, &checkpoint, err);

    if (writ_is_ok(result)) {
        result = count_cosigned(bytes, trust, &count, err);
    }
    if (result.code == WRIT_E_NOMEM || result.code == WRIT_E_CRYPTO) {
        return result;
    }
    *ret_why = reason_of(result);
    if (*ret_why == WRIT_REASON_EVIDENCE_OK && count < trust->quorum) {
        (void)writ_fail(err, WRIT_E_ABSENT,
            "the checkpoint is signed by %zu witnesses, %zu are required", count, trust->quorum);
        *ret_why = WRIT_REASON_CHECKPOINT_UNWITNESSED;
    }
    if (*ret_why == WRIT_REASON_EVIDENCE_OK) {
        *ret = checkpoint;
    }
    return WRIT_DONE;
}

/* ---- Proofs */

void
writ_checkpoint_proof_put(struct writ_buf *buf, const struct writ_checkpoint_proof *proof)
{
    put_line(buf, PROOF_HEAD);
    if (proof->extra.len > 0) {
        writ_buf_put(buf, EXTRA);
        put_line(buf, proof->extra);
    }
    writ_buf_put(buf, INDEX);
    writ_buf_u64(buf, proof->index);
    writ_buf_byte(buf, '\n');
    for (size_t i = 0; i < proof->inclusion.count; i++) {
        put_digest(buf, &proof->inclusion.digests[i]);
    }
    writ_buf_byte(buf, '\n');
    writ_buf_put(buf, proof->note);
}

static bool
is_base64(struct writ_view text)
{
    writ_auto_buf bytes = writ_buf_make(WRIT_NOTE_BYTES_MAX);

    return writ_is_ok(writ_base64_read(text, &bytes));
}

/* The lines before the digests. */
static WRIT_RESULT
read_head(struct writ_view *text, struct writ_checkpoint_proof *ret, struct writ_err *err)
{
    struct writ_view line;

    if (!take_line(text, &line) || !writ_view_equal(line, PROOF_HEAD)) {
        WRIT_FAIL(err, WRIT_E_PARSE, "a proof does not begin with " WRIT_VIEW_FMT,
            WRIT_VIEW_ARG(PROOF_HEAD));
    }
    if (writ_view_has_prefix(*text, EXTRA)) {
        if (!take_line(text, &line) ||
            !is_base64(ret->extra = writ_view_sub(line, EXTRA.len, line.len))) {
            WRIT_FAIL(err, WRIT_E_PARSE, "the extra data of a proof is not base64");
        }
    }
    if (!take_line(text, &line) || !writ_view_has_prefix(line, INDEX) ||
        !writ_is_ok(writ_text_u64(
            writ_view_sub(line, INDEX.len, line.len), 0, WRIT_TREE_SIZE_MAX, &ret->index))) {
        WRIT_FAIL(err, WRIT_E_PARSE, "a proof lacks the line with the index of its leaf");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_checkpoint_proof_read(
    struct writ_view text, struct writ_checkpoint_proof *ret, struct writ_err *err)
{
    struct writ_checkpoint_proof proof = {0};
    struct writ_view line;
    bool has_line;

    if (text.len > WRIT_NOTE_BYTES_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "a proof is longer than %zu bytes", WRIT_NOTE_BYTES_MAX);
    }
    WRIT_TRY(read_head(&text, &proof, err));
    while ((has_line = take_line(&text, &line)) && line.len > 0) {
        if (proof.inclusion.count == WRIT_TREE_PROOF_MAX) {
            WRIT_FAIL(err, WRIT_E_LIMIT, "a proof has more than %d digests", WRIT_TREE_PROOF_MAX);
        }
        if (!read_digest(line, &proof.inclusion.digests[proof.inclusion.count++])) {
            WRIT_FAIL(err, WRIT_E_PARSE, "digest %zu of a proof is not 32 bytes in base64",
                proof.inclusion.count);
        }
    }
    if (!has_line || text.len == 0) {
        WRIT_FAIL(err, WRIT_E_PARSE, "a proof lacks a checkpoint behind an empty line");
    }
    proof.note = text;
    *ret = proof;
    return WRIT_DONE;
}
