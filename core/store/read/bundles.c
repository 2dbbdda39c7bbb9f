/* Records are read in the order of the log, in batches, so that no snapshot is held for long:
 * appended records do not change. */
#include "store/read/bundles.h"

#include "base/clock.h"
#include "evidence/log/tree.h"
#include "store/disk/disk.h"
#include "store/read/column.h"
#include "store/read/joined.h"
#include "store/read/proofs.h"
#include "store/tables/body.h"

#define BATCH        1024
#define OUT_MAX      ((size_t)1 << 30) /* the last lines come at once */
#define KEYS_MAX     ((size_t)65536)
#define RECORD_ARENA ((size_t)128 << 20)

/* Parameters: last leaf before, size, tenant, boundary, agent, since, until, how many. PostgreSQL
 * takes the type of one from its comparison, which must come before IS NULL. */
static const char select_text[] = WRIT_SQL_MANY
    "SELECT r.leaf, r.kind, line_at(y.bytes, r.leaf - y.leaf) FROM record AS r "
    "JOIN body AS y ON y.leaf = (SELECT max(leaf) FROM body WHERE leaf <= r.leaf) "
    "JOIN boundary AS b ON b.id = r.boundary WHERE r.leaf > ?1 AND r.leaf < ?2 "
    "AND (b.tenant = ?3 OR ?3 IS NULL) AND (b.name = ?4 OR ?4 IS NULL) "
    "AND ((r.kind = 1 AND r.agent_id = ?5) OR ?5 IS NULL OR (r.kind IN (2, 4) AND EXISTS "
    "(SELECT 1 FROM record AS d WHERE d.decision_id = r.decision_id AND d.kind = 1 "
    "AND d.agent_id = ?5))) "
    "AND (r.time_us >= ?6 OR ?6 IS NULL) AND (r.time_us < ?7 OR ?7 IS NULL) "
    "ORDER BY r.leaf LIMIT ?8";

/* The first record that is there and its time; the first one of a boundary, if one is selected. */
static const char first_text[] =
    "SELECT r.leaf, r.time_us, (SELECT min(b.first_leaf) FROM boundary AS b WHERE b.name = ?1 "
    "AND (b.tenant = ?2 OR ?2 IS NULL)) FROM record AS r ORDER BY r.leaf LIMIT 1";

struct making {
    const struct writ_bundles_order *order;
    struct writ_sql *sql;
    struct writ_sql_statement *select;
    struct writ_proofs *proofs;
    struct writ_tree_source source;
    struct writ_checkpoint head;
    struct writ_bundle *bundle;
    struct writ_buf out;
    struct writ_arena *arena; /* one record */
    bool (*put)(void *ctx, struct writ_view lines);
    void *ctx;
    struct writ_err *err;
};

static void
making_wipe(struct making *m)
{
    writ_bundle_free(m->bundle);
    writ_proofs_close(m->proofs);
    writ_sql_finalize(m->select);
    writ_sql_close(m->sql);
    writ_buf_wipe(&m->out);
    writ_arena_free(m->arena);
}

static WRIT_RESULT
hand_over(struct making *m)
{
    bool goes_on = m->out.len == 0 || m->put(m->ctx, writ_buf_view(&m->out));

    writ_buf_clear(&m->out);
    if (!goes_on) {
        WRIT_FAIL(m->err, WRIT_E_BUSY, "the bundle was not taken");
    }
    return WRIT_DONE;
}

/* The largest subtree that begins at `from` and ends at or before `to`. */
static unsigned
level_between(uint64_t from, uint64_t to)
{
    unsigned most = 63 - (unsigned)__builtin_clzll(to - from);
    unsigned aligned = from == 0 ? WRIT_TREE_LEVELS - 1 : (unsigned)__builtin_ctzll(from);

    return aligned < most ? aligned : most;
}

/* Skips leaves up to `to`, which are not in the bundle. */
static WRIT_RESULT
skip_to(struct making *m, uint64_t to)
{
    uint64_t at;

    while ((at = writ_bundle_next(m->bundle)) < to) {
        unsigned level = level_between(at, to);
        struct writ_digest digest;

        WRIT_TRY(m->source.node(m->source.ctx, level, at >> level, &digest, m->err));
        WRIT_TRY(writ_bundle_node(m->bundle, level, &digest, &m->out, m->err));
    }
    return hand_over(m);
}

static bool
is_redacted(const struct making *m, const struct writ_json *record)
{
    for (size_t i = 0; i < m->order->redacted_n; i++) {
        enum writ_json_type type = writ_json_type(writ_json_get(record, m->order->redacted[i]));

        if (type != WRIT_JSON_NONE && type != WRIT_JSON_NULL) {
            return true;
        }
    }
    return false;
}

static WRIT_RESULT
withhold(struct making *m, enum writ_detached_record_kind kind, const struct writ_json *record)
{
    struct writ_bundle_withheld w = {.kind = kind};
    enum writ_reason why = WRIT_REASON_NONE;
    struct writ_detached_record detached;

    WRIT_TRY(writ_detached_record_read(record, kind, m->arena, &detached, &why, m->err));
    if (why != WRIT_REASON_EVIDENCE_OK) {
        WRIT_FAIL(m->err, WRIT_E_MISMATCH, "record %llu is not valid: see writ ledger verify",
            (unsigned long long)writ_bundle_next(m->bundle));
    }
    w.leaf = detached.leaf;
    if (kind != WRIT_DETACHED_RECORD_SEAL) {
        w.decision_id = writ_detached_record_decision_id(&detached);
    }
    if (kind == WRIT_DETACHED_RECORD_DECISION) {
        w.tenant = writ_json_string(writ_json_pointer(record, WRIT_LIT("/extensions/writ/tenant")));
        w.boundary_id = detached.decision.boundary_id.view;
        w.seq = (uint64_t)detached.decision.seq.value;
        if (w.tenant.ptr == NULL) {
            w.tenant = WRIT_LIT("");
        }
    }
    return writ_bundle_withhold(m->bundle, &w, &m->out, m->err);
}

static WRIT_RESULT
add_record(
    struct making *m, uint64_t leaf, enum writ_detached_record_kind kind, struct writ_view body)
{
    enum writ_reason why = WRIT_REASON_NONE;
    const struct writ_json *value = NULL;

    WRIT_TRY(skip_to(m, leaf));
    if (m->order->redacted_n > 0) {
        writ_arena_reset(m->arena);
        if (writ_is_ok(writ_body_json(body, m->arena, &value, NULL)) && is_redacted(m, value)) {
            return withhold(m, kind, value);
        }
    }
    WRIT_TRY(writ_bundle_record(m->bundle, kind, body, &m->out, &why, m->err));
    if (why != WRIT_REASON_EVIDENCE_OK) {
        WRIT_FAIL(m->err, WRIT_E_MISMATCH, "record %llu: " WRIT_VIEW_FMT ": see writ ledger verify",
            (unsigned long long)leaf, WRIT_VIEW_ARG(writ_reason_sentence(why)));
    }
    return WRIT_DONE;
}

/* ---- selecting ---- */

static void
bind(struct making *m, int64_t after)
{
    const struct writ_bundle_select *s = &m->order->select;
    const struct writ_view texts[] = {s->tenant, s->boundary_id, s->agent_id};
    const struct writ_view times[] = {s->since, s->until};
    int64_t time_us = 0;

    writ_sql_bind_int(m->select, 1, after);
    writ_sql_bind_int(m->select, 2, (int64_t)m->head.size);
    for (int i = 0; i < 3; i++) {
        writ_sql_bind_text_or_null(m->select, 3 + i, texts[i]);
    }
    for (int i = 0; i < 2; i++) { /* writ_bundle_begin has checked that they are times */
        if (times[i].ptr != NULL && writ_is_ok(writ_time_read(times[i], &time_us))) {
            writ_sql_bind_int(m->select, 6 + i, time_us);
        }
    }
    writ_sql_bind_int(m->select, 8, BATCH);
}

/* Adds the next records; *last is the leaf of the last one. */
static WRIT_RESULT
add_batch(struct making *m, int64_t *last, bool *ret_more)
{
    bool row = false;

    *ret_more = false;
    bind(m, *last);
    WRIT_TRY(writ_sql_step(m->select, &row, m->err));
    while (row) {
        *last = writ_sql_int(m->select, 0);
        *ret_more = true;
        WRIT_TRY(add_record(m, (uint64_t)*last,
            (enum writ_detached_record_kind)writ_sql_int(m->select, 1),
            writ_column_bytes(m->select, 2)));
        if (m->order->progress != NULL &&
            !m->order->progress(m->order->progress_ctx, (uint64_t)*last + 1, m->head.size)) {
            WRIT_FAIL(m->err, WRIT_E_BUSY, "the bundle was given up");
        }
        WRIT_TRY(writ_sql_step(m->select, &row, m->err));
    }
    return WRIT_DONE;
}

/* Whether no record that was removed can be one of the selection. */
static bool
begins_later(struct making *m, struct writ_sql_statement *s)
{
    const struct writ_bundle_select *select = &m->order->select;
    int64_t since_us = 0;

    return writ_sql_int(s, 0) == 0 ||
           (select->since.ptr != NULL && writ_is_ok(writ_time_read(select->since, &since_us)) &&
               since_us >= writ_sql_int(s, 1)) ||
           (select->boundary_id.ptr != NULL && writ_sql_int(s, 2) >= writ_sql_int(s, 0));
}

/* A selection of which some records were removed would look complete. */
static WRIT_RESULT
check_begins(struct making *m)
{
    struct writ_sql_statement *s = NULL;
    char since[WRIT_TIME_TEXT] = "";
    uint64_t first = 0;
    bool row = false, later = true;
    writ_result result;

    WRIT_TRY(writ_sql_prepare(m->sql, first_text, &s, m->err));
    writ_sql_bind_text_or_null(s, 1, m->order->select.boundary_id);
    writ_sql_bind_text_or_null(s, 2, m->order->select.tenant);
    result = writ_sql_step(s, &row, m->err);
    if (writ_is_ok(result) && row) {
        later = begins_later(m, s);
        first = (uint64_t)writ_sql_int(s, 0);
        writ_time_format(writ_sql_int(s, 1), since);
    }
    writ_sql_reset(s);
    writ_sql_finalize(s);
    WRIT_TRY(result);
    if (!later) {
        WRIT_FAIL(m->err, WRIT_E_ABSENT,
            "records before %llu, of before %s, are in an archive, and some may be selected: "
            "select "
            "later ones with --since",
            (unsigned long long)first, since);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
add_all(struct making *m)
{
    int64_t last = -1;
    bool more = true;

    while (more) {
        writ_result result = add_batch(m, &last, &more);

        writ_sql_reset(m->select);
        WRIT_TRY(result);
    }
    if (last < 0) {
        WRIT_FAIL(m->err, WRIT_E_ABSENT, "the ledger has no such records");
    }
    return skip_to(m, m->head.size);
}

/* ---- around it ---- */

static WRIT_RESULT
connect_joined(struct making *m)
{
    const struct writ_joined_order joined = {
        .path = m->order->path,
        .folder = m->order->archive,
        .boundary_id = m->order->select.boundary_id,
        .tenant = m->order->select.tenant,
    };

    return writ_joined_connect(&joined, &m->sql, m->err);
}

/* After the checkpoint was read: the records that it covers are there. */
static WRIT_RESULT
connect(struct making *m)
{
    WRIT_TRY(m->order->archive == NULL ? writ_disk_connect_reader(m->order->path, &m->sql, m->err)
                                       : connect_joined(m));
    return writ_sql_prepare(m->sql, select_text, &m->select, m->err);
}

static WRIT_RESULT
open_all(struct making *m)
{
    WRIT_TRY(writ_proofs_open(m->order->path, m->order->ring, &m->proofs, m->err));
    writ_proofs_await(m->proofs, !m->order->signs_not);
    m->source = writ_proofs_source(m->proofs);
    m->arena = writ_arena_new(RECORD_ARENA);
    m->out = writ_buf_make(OUT_MAX);
    if (m->arena == NULL) {
        WRIT_FAIL(m->err, WRIT_E_NOMEM, "no memory for a bundle");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
begin(struct making *m)
{
    writ_auto_buf keys = writ_buf_make(KEYS_MAX);
    struct writ_view note;

    if (m->order->checkpoint.len > 0) {
        WRIT_TRY(writ_fail_in(
            m->err, writ_proofs_pin(m->proofs, m->order->checkpoint, m->err), "the checkpoint"));
    }
    WRIT_TRY(writ_proofs_head(m->proofs, &m->head, &note, m->err));
    if (m->head.size < m->order->least) {
        WRIT_FAIL(m->err, WRIT_E_MISMATCH,
            "record %llu is not in the checkpoint, which is of %llu records",
            (unsigned long long)(m->order->least - 1), (unsigned long long)m->head.size);
    }
    WRIT_TRY(writ_checkpoint_keys(m->order->ring, m->head.origin, false, &keys, m->err));
    return writ_bundle_begin(
        &m->order->select, writ_buf_view(&keys), note, &m->head, &m->out, &m->bundle, m->err);
}

static WRIT_RESULT
end(struct making *m, struct writ_bundle_report *ret)
{
    enum writ_reason why = WRIT_REASON_NONE;
    struct writ_bundle_report report = {0};

    WRIT_TRY(writ_bundle_end(m->bundle, &m->out, &report, &why, m->err));
    if (why != WRIT_REASON_EVIDENCE_OK) {
        WRIT_FAIL(m->err, WRIT_E_MISMATCH,
            "the records are not those of the last checkpoint: see writ ledger verify");
    }
    WRIT_TRY(hand_over(m));
    *ret = report;
    return WRIT_DONE;
}

WRIT_RESULT
writ_bundles_make(const struct writ_bundles_order *order,
    bool (*put)(void *ctx, struct writ_view lines), void *ctx, struct writ_bundle_report *ret,
    struct writ_err *err)
{
    WRIT_AUTO(struct making, making_wipe)
    m = {.order = order, .put = put, .ctx = ctx, .err = err};

    WRIT_TRY(open_all(&m));
    WRIT_TRY(begin(&m));
    WRIT_TRY(connect(&m));
    if (order->archive == NULL) {
        WRIT_TRY(check_begins(&m));
    }
    WRIT_TRY(add_all(&m));
    return end(&m, ret);
}
