/* The fact is found first and the checkpoint read after it, so a gateway that writes meanwhile only
 * makes the tree larger than needed. */
#include "store/disk/removal_fact.h"

#include "evidence/record/archive_fact.h"
#include "evidence/record/fact.h"
#include "store/disk/heads.h"
#include "store/tables/body.h"

#define ARENA (8 << 20) /* to read one fact, or one checkpoint */

struct finding {
    uint64_t before;
    bool found;
    uint64_t leaf;
    struct writ_digest digest;
};

/* A text that no ledger writes is not the fact; the checkpoint decides about one that looks like
 * it. */
static WRIT_RESULT
look_at(struct finding *f, uint64_t leaf, struct writ_view body, struct writ_arena *arena,
    struct writ_err *err)
{
    const struct writ_json *value = NULL;
    struct writ_fact fact = {0};
    struct writ_archive_fact archived;

    if (!writ_is_ok(writ_body_json(body, arena, &value, NULL)) ||
        !writ_is_ok(writ_fact_read(value, &fact, NULL)) || fact.event != WRIT_FACT_ARCHIVED ||
        !writ_is_ok(writ_archive_fact_read(fact.data, &archived, NULL)) ||
        archived.before != f->before) {
        return WRIT_DONE;
    }
    f->found = true;
    f->leaf = leaf;
    return writ_tree_leaf(body, &f->digest, err);
}

static WRIT_RESULT
find(struct writ_disk *disk, struct finding *f, struct writ_arena *arena, struct writ_err *err)
{
    bool row = false;
    writ_result result = writ_disk_query(disk, WRIT_SQL_FACTS, &row, err, "");

    while (writ_is_ok(result) && row) {
        writ_arena_reset(arena);
        result = look_at(f, (uint64_t)writ_disk_int(disk, WRIT_SQL_FACTS, 0),
            writ_disk_bytes(disk, WRIT_SQL_FACTS, 1), arena, err);
        if (writ_is_ok(result)) {
            result = writ_disk_next(disk, WRIT_SQL_FACTS, &row, err);
        }
    }
    writ_disk_end(disk, WRIT_SQL_FACTS);
    return result;
}

static WRIT_RESULT
check_covered(struct writ_heads *heads, const struct writ_heads_trust *trust,
    const struct finding *f, struct writ_arena *arena, struct writ_err *err)
{
    struct writ_tree_source source = writ_heads_source(heads);
    struct writ_head head = {0};
    struct writ_checkpoint checkpoint;
    struct writ_tree_proof proof;

    writ_arena_reset(arena);
    WRIT_TRY(writ_heads_last(heads, arena, &head, err));
    WRIT_TRY(writ_heads_believe(trust, head.note, true, &checkpoint, err));
    WRIT_TRY(writ_tree_prove_inclusion(&source, f->leaf, checkpoint.size, &proof, err));
    return writ_tree_check_inclusion(
        &f->digest, f->leaf, checkpoint.size, &proof, &checkpoint.root, err);
}

static WRIT_RESULT
check_signed(struct writ_disk *disk, const struct writ_keyring *ring, const struct finding *f,
    struct writ_arena *arena, struct writ_err *err)
{
    WRIT_AUTO(struct writ_heads_trust, writ_heads_trust_wipe) trust = {.sql = NULL};
    WRIT_AUTO(struct writ_heads, writ_heads_close) heads = {.sql = NULL};
    writ_result result;

    WRIT_TRY(writ_heads_trust(disk->sql, ring, &trust, err));
    WRIT_TRY(writ_heads_open(disk->sql, &heads, err));
    result = check_covered(&heads, &trust, f, arena, err);
    if (result.code == WRIT_E_MISMATCH || result.code == WRIT_E_INVALID ||
        result.code == WRIT_E_ABSENT) {
        WRIT_FAIL(err, WRIT_E_MISMATCH,
            "record %llu, which lets records go, is not signed: see `writ ledger verify`",
            (unsigned long long)f->leaf);
    }
    return result;
}

WRIT_RESULT
writ_removal_fact_check(
    struct writ_disk *disk, const struct writ_keyring *ring, uint64_t before, struct writ_err *err)
{
    writ_auto_arena arena = writ_arena_new(ARENA);
    struct finding f = {.before = before};

    if (arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to read the facts of the ledger");
    }
    WRIT_TRY(find(disk, &f, arena, err));
    if (!f.found) {
        WRIT_FAIL(err, WRIT_E_MISMATCH,
            "this database does not have the record that lets records before %llu go, so none is "
            "removed: pass the database that the gateway writes",
            (unsigned long long)before);
    }
    return check_signed(disk, ring, &f, arena, err);
}
