/* For every text, a vkey in its first line and a note or a proof behind it: whatever reads back
 * writes as the very same bytes, and a note verifies under a key only with its signature in it. */
#include "support/fuzz.h"

#include "evidence/log/checkpoint.h"

#define AGAIN_MAX (2 * WRIT_NOTE_BYTES_MAX)

static void
check_key(struct writ_view text, const struct writ_note_key *key)
{
    writ_auto_buf again = writ_buf_make(AGAIN_MAX);

    writ_note_key_put(&again, key);
    WRIT_INVARIANT(writ_view_equal(writ_buf_view(&again), text));
}

static void
check_note(struct writ_view bytes, const struct writ_note_key *key)
{
    writ_auto_buf again = writ_buf_make(AGAIN_MAX);
    struct writ_checkpoint checkpoint;
    struct writ_note note;

    if (!writ_is_ok(writ_note_read(bytes, &note, NULL))) {
        return;
    }
    writ_buf_put(&again, note.text);
    writ_buf_byte(&again, '\n');
    writ_buf_put(&again, note.signatures);
    WRIT_INVARIANT(writ_view_equal(writ_buf_view(&again), bytes));
    if (writ_is_ok(writ_checkpoint_read(note.text, &checkpoint, NULL))) {
        writ_buf_clear(&again);
        writ_checkpoint_put(&again, &checkpoint);
        WRIT_INVARIANT(writ_view_equal(writ_buf_view(&again), note.text));
    }
    if (key != NULL && writ_is_ok(writ_note_verify(&note, key, NULL, NULL))) {
        struct writ_view name = writ_note_key_name(key);

        WRIT_INVARIANT(writ_view_search(note.signatures, name) < note.signatures.len);
    }
}

static void
check_proof(struct writ_view bytes)
{
    writ_auto_buf again = writ_buf_make(AGAIN_MAX);
    struct writ_checkpoint_proof proof;

    if (writ_is_ok(writ_checkpoint_proof_read(bytes, &proof, NULL))) {
        writ_checkpoint_proof_put(&again, &proof);
        WRIT_INVARIANT(writ_view_equal(writ_buf_view(&again), bytes));
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_view text = writ_view(data, size), line;
    struct writ_note_key *key = NULL;
    size_t end = writ_view_find(text, '\n');

    line = writ_view_sub(text, 0, end);
    text = writ_view_sub(text, end + 1, text.len);
    if (writ_is_ok(writ_note_key_read(line, &key, NULL))) {
        check_key(line, key);
    }
    check_note(text, key);
    check_proof(text);
    writ_note_key_free(key);
    return 0;
}
