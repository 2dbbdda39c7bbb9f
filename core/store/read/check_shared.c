/* A ledger that several gateways write has rows beside the records that guard their turns: the
 * coordinator with size and root of the log, a row for each claim that stands, and what each
 * gateway keeps for its start. Nothing is granted because of them alone, but a row that contradicts
 * the records was edited. */
#include "store/read/check.h"

#include "evidence/log/note.h"
#include "store/disk/disk_postgres.h"

static const char coordinator_text[] =
    "SELECT c.size, c.root, h.size, h.note FROM coordinator AS c "
    "LEFT JOIN head AS h ON h.leaf = (SELECT max(leaf) FROM head) WHERE c.one = 1";

/* A claim is of a granted call with its key, or of a later round of that call (FOLLOWS, 16). */
static const char claims_text[] =
    WRIT_SQL_MANY "SELECT c.leaf, c.key, c.until_us, CAST(CASE WHEN r.kind = 1 "
                  "AND r.boundary = c.boundary AND (r.flags & 1) <> 0 AND ((r.flags & 16) <> 0 "
                  "OR substr(r.claim, 1, 16) = c.key) THEN 1 ELSE 0 END AS BIGINT) "
                  "FROM claim AS c LEFT JOIN record AS r ON r.leaf = c.leaf ORDER BY c.leaf";

/* How many things explain that the row of a claim is not there: it is there, or since the last
 * record that was read a call did not run (NOTHING_RAN, 4) or the claim ended. One statement reads
 * all of it at one moment: gateways may free the key meanwhile. */
static const char lost_text[] =
    "SELECT (SELECT count(*) FROM claim WHERE key = ?1) + (SELECT count(*) FROM record "
    "WHERE leaf > ?2 AND ((kind = 2 AND (flags & 4) <> 0) OR time_us >= ?3))";

/* A gateway signs each group, which others read at once; only a copy (slot 0) has those of a file.
 */
static const char heads_text[] =
    WRIT_SQL_MANY "SELECT h.leaf, g.epoch FROM head AS h LEFT JOIN gateway AS g ON g.epoch = "
                  "h.epoch WHERE g.epoch IS NULL OR (g.slot <> 0 AND NOT " WRIT_HEADS_NOTED ") "
                  "ORDER BY h.leaf";

static const char waits_text[] =
    WRIT_SQL_MANY "SELECT w.leaf FROM wait AS w LEFT JOIN record AS r ON r.leaf = w.leaf "
                  "WHERE r.leaf IS NULL OR r.kind <> 1 OR (r.flags & 1) = 0 ORDER BY w.leaf";

static const char slot_text[] = "SELECT slot FROM segment WHERE slot > ? ORDER BY slot LIMIT 1";

/* Whether the root of the coordinator is the one that the last checkpoint signs. */
static bool
has_root(struct writ_view root, struct writ_view note)
{
    struct writ_checkpoint head = {0};
    struct writ_note parts = {0};

    return writ_is_ok(writ_note_read(note, &parts, NULL)) &&
           writ_is_ok(writ_checkpoint_read(parts.text, &head, NULL)) &&
           writ_view_equal(root, writ_view((const char *)head.root.bytes, sizeof head.root.bytes));
}

static void
check_coordinator(struct writ_check *v, struct writ_sql_statement *s, bool row)
{
    uint64_t size = row ? (uint64_t)writ_sql_int(s, 2) : 0;
    uint64_t last = size > 0 ? size - 1 : 0;

    if (!row) {
        writ_check_problem(v, last, "the ledger has no row of `coordinator`");
    } else if ((uint64_t)writ_sql_int(s, 0) != size ||
               (size > 0 && !has_root(writ_column_bytes(s, 1), writ_column_bytes(s, 3)))) {
        writ_check_problem(v, last,
            "size or root of the log in the row of `coordinator` are not those of the last "
            "checkpoint");
    }
}

/* Takes each row of a statement. */
static WRIT_RESULT
each_row(struct writ_check *v, const char *text,
    void (*take)(struct writ_check *v, struct writ_sql_statement *s))
{
    struct writ_sql_statement *s = NULL;
    bool row = false;
    writ_result result;

    WRIT_TRY(writ_sql_prepare(v->sql, text, &s, v->err));
    result = writ_sql_step(s, &row, v->err);
    while (writ_is_ok(result) && row) {
        take(v, s);
        result = writ_sql_step(s, &row, v->err);
    }
    writ_sql_reset(s);
    writ_sql_finalize(s);
    return result;
}

static WRIT_RESULT
check_coordinator_row(struct writ_check *v)
{
    struct writ_sql_statement *s = NULL;
    bool row = false;
    writ_result result;

    WRIT_TRY(writ_sql_prepare(v->sql, coordinator_text, &s, v->err));
    result = writ_sql_step(s, &row, v->err);
    if (writ_is_ok(result)) {
        check_coordinator(v, s, row);
    }
    writ_sql_reset(s);
    writ_sql_finalize(s);
    return result;
}

static void
take_claim(struct writ_check *v, struct writ_sql_statement *s)
{
    uint64_t leaf = (uint64_t)writ_sql_int(s, 0);
    struct writ_view key = writ_column_bytes(s, 1);

    if (key.len != WRIT_TAG_BYTES || writ_sql_int(s, 3) == 0) {
        writ_check_problem(
            v, leaf, "the row of a claim is not that of a call that was granted under it");
        return;
    }
    writ_check_once_row(v, writ_tag_read((const uint8_t *)key.ptr), leaf, writ_sql_int(s, 2));
}

static void
take_head(struct writ_check *v, struct writ_sql_statement *s)
{
    writ_check_problem(v, (uint64_t)writ_sql_int(s, 0), "%s",
        writ_sql_is_null(s, 1)
            ? "its group is of an epoch that no gateway had (column `epoch` of `head`)"
            : "its group has no checkpoint, and gateways that share a ledger sign each");
}

static void
take_wait(struct writ_check *v, struct writ_sql_statement *s)
{
    writ_check_problem(
        v, (uint64_t)writ_sql_int(s, 0), "a row of `wait` is not of a call that was granted");
}

static WRIT_RESULT
check_claims(struct writ_check *v)
{
    struct writ_sql_statement *lost = NULL;
    writ_result result;

    WRIT_TRY(each_row(v, claims_text, take_claim));
    WRIT_TRY(writ_sql_prepare(v->sql, lost_text, &lost, v->err));
    result = writ_check_once_rows(v, lost);
    writ_sql_finalize(lost);
    return result;
}

/* ---- what each gateway keeps for its start ---- */

/* The next gateway that keeps anything. */
static WRIT_RESULT
next_slot(struct writ_check *v, int64_t *slot, bool *ret)
{
    struct writ_sql_statement *s = NULL;
    writ_result result;

    WRIT_TRY(writ_sql_prepare(v->sql, slot_text, &s, v->err));
    writ_sql_bind_int(s, 1, *slot);
    result = writ_sql_step(s, ret, v->err);
    *slot = writ_is_ok(result) && *ret ? writ_sql_int(s, 0) : *slot;
    writ_sql_reset(s);
    writ_sql_finalize(s);
    return result;
}

static WRIT_RESULT
check_manifests(
    struct writ_check *v, bool (*progress)(void *ctx, uint64_t done, uint64_t all), void *ctx)
{
    int64_t slot = INT64_MIN;
    bool more = false;

    WRIT_TRY(next_slot(v, &slot, &more));
    while (more) {
        WRIT_TRY(writ_disk_postgres_name(v->sql, (uint64_t)slot, 0, v->err));
        WRIT_TRY(writ_check_manifest(v, progress, ctx));
        WRIT_TRY(next_slot(v, &slot, &more));
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_check_shared(
    struct writ_check *v, bool (*progress)(void *ctx, uint64_t done, uint64_t all), void *ctx)
{
    WRIT_TRY(check_coordinator_row(v));
    WRIT_TRY(check_claims(v));
    WRIT_TRY(each_row(v, heads_text, take_head));
    WRIT_TRY(each_row(v, waits_text, take_wait));
    return check_manifests(v, progress, ctx);
}
