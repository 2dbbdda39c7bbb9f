/* The members of a seal, as a table, and the running hash over the decision ids of a run. The hash
 * continues after a restart from its saved state. */
#include "evidence/record/seal.h"

#include "evidence/record/table.h"

#define ROW(member, KIND, NULLS, needed, meaning)                                                  \
    WRIT_TABLE_ROW(writ_seal, member, KIND, NULLS, needed),

static const struct writ_table_row rows[] = {WRIT_SEAL_MEMBERS(ROW)};

static const struct writ_table table = {
    .what = "seal",
    .rows = rows,
    .rows_count = sizeof rows / sizeof rows[0],
    .others = offsetof(struct writ_seal, others),
};

WRIT_RESULT
writ_seal_read(const struct writ_json *value, struct writ_arena *arena, struct writ_seal *ret,
    struct writ_err *err)
{
    struct writ_seal seal = {0};

    WRIT_TRY(writ_table_read(&table, value, arena, &seal, err));
    *ret = seal;
    return WRIT_DONE;
}

WRIT_RESULT
writ_seal_put(const struct writ_seal *seal, struct writ_buf *ret, struct writ_err *err)
{
    return writ_table_put(&table, seal, ret, err);
}

void
writ_seal_validate(const struct writ_seal *seal, struct writ_faults *ret)
{
    writ_table_check(&table, seal, ret);
    if (seal->sealed.is == WRIT_PRESENT && !seal->sealed.value) {
        writ_faults_add(ret, "/sealed", "is not true");
    }
    if (seal->total.is == WRIT_PRESENT && seal->final_seq.is == WRIT_PRESENT &&
        seal->final_seq.value != seal->total.value - 1) {
        writ_faults_add(ret, "/final_seq", "is not total - 1");
    }
}

/* ---- the running hash */

WRIT_RESULT
writ_seal_hash_init(struct writ_seal_hash *ret, struct writ_err *err)
{
    struct writ_seal_hash hash = {0};

    WRIT_TRY(writ_digest_stream_init(&hash.ids, err));
    *ret = hash;
    return WRIT_DONE;
}

void
writ_seal_hash_wipe(struct writ_seal_hash *hash)
{
    writ_digest_stream_wipe(&hash->ids);
    hash->total = 0;
}

WRIT_RESULT
writ_seal_hash_add(struct writ_seal_hash *hash, struct writ_view decision_id, struct writ_err *err)
{
    WRIT_TRY(writ_digest_stream_add(&hash->ids, decision_id, err));
    hash->total++;
    return WRIT_DONE;
}

WRIT_RESULT
writ_seal_hash_now(const struct writ_seal_hash *hash, struct writ_digest *ret, struct writ_err *err)
{
    return writ_digest_stream_now(&hash->ids, ret, err);
}

void
writ_seal_hash_save(const struct writ_seal_hash *hash, uint8_t ret[WRIT_SEAL_HASH_BYTES])
{
    writ_digest_stream_save(&hash->ids, ret);
}

void
writ_seal_hash_restore(
    struct writ_seal_hash *ret, const uint8_t bytes[WRIT_SEAL_HASH_BYTES], uint64_t total)
{
    writ_digest_stream_restore(&ret->ids, bytes);
    ret->total = total;
}

WRIT_RESULT
writ_seal_make(struct writ_view boundary_id, const struct writ_seal_hash *hash,
    int64_t sealed_at_us, struct writ_arena *arena, struct writ_seal *ret, struct writ_err *err)
{
    char *text = writ_arena_get(arena, WRIT_DIGEST_TEXT);
    struct writ_digest digest;
    struct writ_seal seal = {
        .boundary_id = writ_member_text(boundary_id),
        .sealed = writ_member_flag(true),
        .total = writ_member_number((int64_t)hash->total),
        .final_seq = writ_member_number((int64_t)hash->total - 1),
    };

    if (text == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a seal");
    }
    WRIT_TRY(writ_member_time_make(sealed_at_us, arena, &seal.sealed_at, err));
    WRIT_TRY(writ_seal_hash_now(hash, &digest, err));
    writ_digest_text(&digest, text);
    seal.seal_hash = writ_member_text(writ_view(text, WRIT_DIGEST_TEXT - 1));
    *ret = seal;
    return WRIT_DONE;
}
