/* A checkpoint on its way from a log and two witnesses to a verifier, in hostile hands. In the
 * input `$T` stands for the text of the one checkpoint that the log has signed, `$L` for the log's
 * line under it, `$A` and `$B` for the witnesses', `$a` for a signature of the first one at
 * another time, `$O` for the log's line under an older checkpoint.
 *
 * For every input: it verifies only when it is that text with the log's line and those of as many
 * witnesses as required; requiring fewer never makes the verdict worse. */
#include "support/fuzz.h"

#include "evidence/log/checkpoint.h"

#define ORIGIN    WRIT_LIT("log.example/one")
#define KEYS      3
#define PIECE_MAX ((size_t)1024)
#define NOW_S     1782363630

enum piece { TEXT, LOG, FIRST, SECOND, LATER, OLD, PIECES };

static struct writ_note_key *keys[KEYS]; /* the log, two witnesses */
static struct writ_signer *signers[KEYS];
static struct writ_buf pieces[PIECES];

static void
make_key(int i, struct writ_view name, enum writ_note_type type)
{
    WRIT_INVARIANT(writ_is_ok(writ_signer_new(WRIT_JWK_ALG_EDDSA, &signers[i], NULL)));
    WRIT_INVARIANT(
        writ_is_ok(writ_note_key_of(name, type, writ_signer_jwk(signers[i]), &keys[i], NULL)));
}

static void
sign(enum piece piece, struct writ_view text, int key, uint64_t time_s)
{
    WRIT_INVARIANT(
        writ_is_ok(writ_note_sign(text, keys[key], signers[key], time_s, &pieces[piece], NULL)));
}

static void
prepare(void)
{
    struct writ_checkpoint checkpoint = {.origin = ORIGIN, .size = 7, .root = {{1}}};
    writ_auto_buf old = writ_buf_make(PIECE_MAX);

    if (keys[0] != NULL) {
        return;
    }
    make_key(0, ORIGIN, WRIT_NOTE_ED25519);
    make_key(1, WRIT_LIT("witness.example/first"), WRIT_NOTE_COSIGNATURE);
    make_key(2, WRIT_LIT("witness.example/second"), WRIT_NOTE_COSIGNATURE);
    for (int i = 0; i < PIECES; i++) {
        pieces[i] = writ_buf_make(PIECE_MAX);
    }
    writ_checkpoint_put(&pieces[TEXT], &checkpoint);
    checkpoint.size--;
    writ_checkpoint_put(&old, &checkpoint);
    sign(LOG, writ_buf_view(&pieces[TEXT]), 0, 0);
    sign(FIRST, writ_buf_view(&pieces[TEXT]), 1, NOW_S);
    sign(SECOND, writ_buf_view(&pieces[TEXT]), 2, NOW_S);
    sign(LATER, writ_buf_view(&pieces[TEXT]), 1, NOW_S + 1);
    sign(OLD, writ_buf_view(&old), 0, 0);
}

static void
expand(struct writ_view input, struct writ_buf *ret)
{
    static const struct writ_view names = WRIT_LIT("TLABaO");

    for (size_t i = 0; i < input.len; i++) {
        size_t piece = input.ptr[i] == '$' && i + 1 < input.len
                           ? writ_view_find(names, input.ptr[i + 1])
                           : names.len;

        if (piece < names.len) {
            writ_buf_put(ret, writ_buf_view(&pieces[piece]));
            i++;
        } else {
            writ_buf_byte(ret, input.ptr[i]);
        }
    }
}

static bool
has(struct writ_view note, enum piece piece)
{
    return writ_view_search(note, writ_buf_view(&pieces[piece])) < note.len;
}

static enum writ_reason
judge(struct writ_view note, size_t quorum, struct writ_checkpoint *ret)
{
    const struct writ_note_key *const log[] = {keys[0]}, *const witnesses[] = {keys[1], keys[2]};
    const struct writ_checkpoint_trust trust = {
        .keys = log, .keys_n = 1, .witnesses = witnesses, .witnesses_n = 2, .quorum = quorum};
    enum writ_reason why = WRIT_REASON_NONE;

    WRIT_INVARIANT(writ_is_ok(writ_checkpoint_judge(note, &trust, ret, &why, NULL)));
    WRIT_INVARIANT(why != WRIT_REASON_NONE);
    return why;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    writ_auto_buf text = writ_buf_make(2 * WRIT_NOTE_BYTES_MAX);
    struct writ_view note;
    bool worse = false;

    prepare();
    expand(writ_view(data, size), &text);
    note = writ_buf_view(&text);
    for (size_t quorum = 0; quorum <= 3; quorum++) {
        struct writ_checkpoint checkpoint = {.size = 0};
        bool good = judge(note, quorum, &checkpoint) == WRIT_REASON_EVIDENCE_OK;

        WRIT_INVARIANT(!good || !worse);
        worse = !good;
        if (good) {
            size_t first = has(note, FIRST) || has(note, LATER) ? 1 : 0;

            WRIT_INVARIANT(checkpoint.size == 7 && writ_view_equal(checkpoint.origin, ORIGIN));
            WRIT_INVARIANT(writ_view_has_prefix(note, writ_buf_view(&pieces[TEXT])));
            WRIT_INVARIANT(has(note, LOG) && first + (has(note, SECOND) ? 1 : 0) >= quorum);
        }
    }
    return 0;
}
