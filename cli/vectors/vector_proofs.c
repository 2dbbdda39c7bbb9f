/* writ-proofs/1: trees, inclusions and growth. writ-checkpoints/1: signed notes and their
 * contents. */
#include "cli/vectors/vector.h"
#include "evidence/json/write.h"
#include "evidence/log/checkpoint.h"

#define HEX_MAX  (2 * WRIT_DIGEST_BYTES)
#define TEXT_MAX 128

static const struct writ_json *
get(const struct writ_json *object, const char *name)
{
    return writ_json_get(object, writ_view_str(name));
}

/* ---- trees */

static WRIT_RESULT
read_hex(const struct writ_json *value, struct writ_digest *ret, struct writ_err *err)
{
    if (!writ_is_ok(writ_hex_read(writ_json_string(value), ret->bytes, WRIT_DIGEST_BYTES))) {
        WRIT_FAIL(err, WRIT_E_PARSE, "a digest is not %d hexadecimal digits", HEX_MAX);
    }
    return WRIT_DONE;
}

static void
put_hex(struct writ_write *w, const char *name, const struct writ_digest *digest)
{
    char room[TEXT_MAX];
    struct writ_buf hex = writ_buf_over(room, sizeof room);

    writ_hex_put(&hex, digest->bytes, sizeof digest->bytes);
    writ_write_text(w, name, writ_buf_view(&hex));
}

static WRIT_RESULT
read_count(const struct writ_json *vector, const char *name, uint64_t *ret, struct writ_err *err)
{
    int64_t number;

    if (!writ_is_ok(
            writ_json_integer(get(vector, name), 0, (int64_t)WRIT_TREE_SIZE_MAX, &number))) {
        WRIT_FAIL(err, WRIT_E_PARSE, "%s is not a number of leaves", name);
    }
    *ret = (uint64_t)number;
    return WRIT_DONE;
}

static WRIT_RESULT
read_proof(const struct writ_json *list, struct writ_tree_proof *ret, struct writ_err *err)
{
    ret->count = 0;
    WRIT_JSON_EACH(value, list)
    {
        if (ret->count == WRIT_TREE_PROOF_MAX) {
            WRIT_FAIL(err, WRIT_E_LIMIT, "a proof has more than %d digests", WRIT_TREE_PROOF_MAX);
        }
        WRIT_TRY(read_hex(value, &ret->digests[ret->count++], err));
    }
    return WRIT_DONE;
}

static WRIT_RESULT
put_holds(writ_result held, struct writ_buf *ret, struct writ_err *err)
{
    struct writ_write w = writ_write_to(ret);

    if (!writ_is_ok(held) && held.code != WRIT_E_MISMATCH) {
        return held;
    }
    writ_write_object_begin(&w);
    writ_write_flag(&w, "holds", writ_is_ok(held));
    writ_write_object_end(&w);
    return writ_write_end(&w, err);
}

static WRIT_RESULT
run_tree(const struct writ_json *vector, struct writ_buf *ret, struct writ_err *err)
{
    struct writ_tree_edge edge = {0};
    struct writ_digest leaf, root;
    struct writ_write w;

    WRIT_JSON_EACH(value, get(vector, "leaves"))
    {
        WRIT_TRY(writ_tree_leaf(writ_json_string(value), &leaf, err));
        WRIT_TRY(writ_tree_append(&edge, &leaf, err));
    }
    WRIT_TRY(writ_tree_root(&edge, &root, err));
    w = writ_write_to(ret);
    writ_write_object_begin(&w);
    put_hex(&w, "root", &root);
    writ_write_object_end(&w);
    return writ_write_end(&w, err);
}

static WRIT_RESULT
run_inclusion(const struct writ_json *vector, struct writ_buf *ret, struct writ_err *err)
{
    struct writ_tree_proof proof;
    struct writ_digest leaf, root;
    uint64_t index, size;

    WRIT_TRY(writ_tree_leaf(writ_json_string(get(vector, "leaf")), &leaf, err));
    WRIT_TRY(read_count(vector, "index", &index, err));
    WRIT_TRY(read_count(vector, "size", &size, err));
    WRIT_TRY(read_proof(get(vector, "proof"), &proof, err));
    WRIT_TRY(read_hex(get(vector, "root"), &root, err));
    return put_holds(writ_tree_check_inclusion(&leaf, index, size, &proof, &root, err), ret, err);
}

static WRIT_RESULT
run_consistency(const struct writ_json *vector, struct writ_buf *ret, struct writ_err *err)
{
    struct writ_tree_proof proof;
    struct writ_digest older_root, root;
    uint64_t older, size;

    WRIT_TRY(read_count(vector, "older", &older, err));
    WRIT_TRY(read_count(vector, "size", &size, err));
    WRIT_TRY(read_hex(get(vector, "older_root"), &older_root, err));
    WRIT_TRY(read_hex(get(vector, "root"), &root, err));
    WRIT_TRY(read_proof(get(vector, "proof"), &proof, err));
    return put_holds(
        writ_tree_check_consistency(older, &older_root, size, &root, &proof, err), ret, err);
}

writ_result
writ_vector_proofs(const struct writ_json *set, const struct writ_json *vector,
    struct writ_arena *arena, struct writ_buf *ret, struct writ_err *err)
{
    const struct writ_json *kind = get(vector, "kind");

    (void)set;
    (void)arena;
    if (writ_json_is(kind, WRIT_LIT("tree"))) {
        return run_tree(vector, ret, err);
    }
    if (writ_json_is(kind, WRIT_LIT("inclusion"))) {
        return run_inclusion(vector, ret, err);
    }
    if (writ_json_is(kind, WRIT_LIT("consistency"))) {
        return run_consistency(vector, ret, err);
    }
    WRIT_FAIL(err, WRIT_E_PARSE, "kind is neither tree nor inclusion nor consistency");
}

/* ---- checkpoints */

/* "ok", with the time of a cosignature; or why not. */
static WRIT_RESULT
put_signature(struct writ_write *w, const struct writ_note *note, const struct writ_json *vkey,
    struct writ_err *err)
{
    writ_auto_note_key key = NULL;
    char room[TEXT_MAX];
    struct writ_buf text = writ_buf_over(room, sizeof room);
    uint64_t time_s = 0;
    writ_result held;

    WRIT_TRY(writ_note_key_read(writ_json_string(vkey), &key, err));
    held = writ_note_verify(note, key, &time_s, err);
    if (held.code == WRIT_E_NOMEM || held.code == WRIT_E_CRYPTO) {
        return held;
    }
    writ_buf_str(&text, writ_code_name(held.code));
    if (writ_is_ok(held) && writ_note_key_type(key) == WRIT_NOTE_COSIGNATURE) {
        writ_buf_fmt(&text, " %llu", (unsigned long long)time_s);
    }
    writ_write_string(w, writ_buf_view(&text));
    return WRIT_DONE;
}

static void
put_checkpoint(struct writ_write *w, const struct writ_note *note)
{
    struct writ_checkpoint checkpoint;

    writ_write_name(w, WRIT_LIT("checkpoint"));
    if (!writ_is_ok(writ_checkpoint_read(note->text, &checkpoint, NULL))) {
        writ_write_null(w);
        return;
    }
    writ_write_object_begin(w);
    writ_write_text(w, "origin", checkpoint.origin);
    writ_write_count(w, "size", checkpoint.size);
    put_hex(w, "root", &checkpoint.root);
    writ_write_text(w, "extensions", checkpoint.extensions);
    writ_write_object_end(w);
}

writ_result
writ_vector_checkpoints(const struct writ_json *set, const struct writ_json *vector,
    struct writ_arena *arena, struct writ_buf *ret, struct writ_err *err)
{
    struct writ_write w = writ_write_to(ret);
    struct writ_note note;
    writ_result read = writ_note_read(writ_json_string(get(vector, "note")), &note, err);

    (void)set;
    (void)arena;
    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("signatures"));
    if (!writ_is_ok(read)) {
        writ_write_null(&w);
        writ_write_name(&w, WRIT_LIT("checkpoint"));
        writ_write_null(&w);
    } else {
        writ_write_array_begin(&w);
        WRIT_JSON_EACH(vkey, get(vector, "keys"))
        {
            WRIT_TRY(put_signature(&w, &note, vkey, err));
        }
        writ_write_array_end(&w);
        put_checkpoint(&w, &note);
    }
    writ_write_object_end(&w);
    return writ_write_end(&w, err);
}
