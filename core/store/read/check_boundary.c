/* A boundary stays in memory from its first record until its seal, which must count and hash all of
 * its decisions. */
#include "store/read/check_parts.h"

/* ---- open boundaries ---- */

void
writ_check_parts_free_run(struct writ_check *v, struct writ_check_run *run)
{
    writ_map_remove(&v->runs, &run->by_id);
    writ_seal_hash_wipe(&run->hash);
    writ_free(run);
}

static WRIT_RESULT
run_new(struct writ_check *v, struct writ_sql_statement *s, struct writ_check_run **ret)
{
    struct writ_view tenant = writ_column_bytes(s, 0), name = writ_column_bytes(s, 1);
    struct writ_check_run *run;
    writ_result hashed;

    if (v->runs.count >= WRIT_VERIFY_LIVE_MAX) {
        WRIT_FAIL(v->err, WRIT_E_LIMIT, "more than %d boundaries are open at one time",
            WRIT_VERIFY_LIVE_MAX);
    }
    run = writ_alloc(sizeof *run + tenant.len + name.len);
    if (run == NULL) {
        WRIT_FAIL(v->err, WRIT_E_NOMEM, "no memory for a boundary");
    }
    hashed = writ_seal_hash_init(&run->hash, v->err);
    if (!writ_is_ok(hashed)) {
        writ_free(run);
        return hashed;
    }
    run->tenant = writ_view_place(tenant, run->text);
    run->name = writ_view_place(name, run->text + tenant.len);
    run->id = v->row.boundary;
    run->first_leaf = (uint64_t)writ_sql_int(s, 2);
    run->seal_leaf = writ_sql_is_null(s, 3) ? UINT64_MAX : (uint64_t)writ_sql_int(s, 3);
    writ_map_add(&v->runs, &run->by_id, writ_tag_number(v->row.boundary));
    *ret = run;
    return WRIT_DONE;
}

/* The index must find it by its name: else the same run would begin once more, after its seal. */
static WRIT_RESULT
check_name(struct writ_check *v, const struct writ_check_run *run)
{
    struct writ_sql_statement *s = v->statements[WRIT_CHECK_SQL_NAMED];
    bool row = false;
    writ_result result;

    writ_sql_bind_text(s, 1, run->name);
    writ_sql_bind_text(s, 2, run->tenant);
    result = writ_check_next(v, WRIT_CHECK_SQL_NAMED, &row, v->err);
    if (writ_is_ok(result)) {
        writ_check_expect(v, row && (uint64_t)writ_sql_int(s, 0) == run->id,
            "the index of boundaries does not lead to its boundary, or to another one of that "
            "name");
    }
    writ_sql_reset(s);
    return result;
}

static WRIT_RESULT
read_run(struct writ_check *v, struct writ_check_run **ret)
{
    struct writ_sql_statement *s = v->statements[WRIT_CHECK_SQL_BOUNDARY];
    bool row = false;

    writ_sql_bind_int(s, 1, (int64_t)v->row.boundary);
    WRIT_TRY(writ_check_next(v, WRIT_CHECK_SQL_BOUNDARY, &row, v->err));
    if (!row) {
        writ_check_problem(v, v->row.leaf, "it belongs to a boundary that has no row");
        return WRIT_DONE;
    }
    WRIT_TRY(run_new(v, s, ret));
    v->report->boundaries++;
    (*ret)->partial = writ_check_parts_is_unread(v, (uint64_t)writ_sql_int(s, 2));
    (*ret)->seq_known = !(*ret)->partial;
    writ_check_expect(v,
        (*ret)->partial ? (*ret)->seal_leaf >= v->row.leaf
                        : (uint64_t)writ_sql_int(s, 2) == v->row.leaf,
        "the boundary does not begin where its row says, or goes on after its seal");
    return check_name(v, *ret);
}

WRIT_RESULT
writ_check_parts_find_run(struct writ_check *v, struct writ_check_run **ret)
{
    writ_result result;

    *ret = WRIT_MAP_OF(
        writ_map_find(&v->runs, writ_tag_number(v->row.boundary)), struct writ_check_run, by_id);
    if (*ret != NULL) {
        return WRIT_DONE;
    }
    result = read_run(v, ret);
    writ_sql_reset(v->statements[WRIT_CHECK_SQL_BOUNDARY]);
    return result;
}

/* ---- seals ---- */

/* Reads the leaf of the seal from the row of the boundary, as of now. */
static WRIT_RESULT
read_seal_leaf(struct writ_check *v, uint64_t *ret)
{
    struct writ_sql_statement *s = v->statements[WRIT_CHECK_SQL_BOUNDARY];
    bool row = false;
    writ_result result;

    writ_sql_bind_int(s, 1, (int64_t)v->row.boundary);
    result = writ_check_next(v, WRIT_CHECK_SQL_BOUNDARY, &row, v->err);
    *ret = writ_is_ok(result) && row && !writ_sql_is_null(s, 3) ? (uint64_t)writ_sql_int(s, 3)
                                                                : UINT64_MAX;
    writ_sql_reset(s);
    return result;
}

WRIT_RESULT
writ_check_parts_seal(struct writ_check *v, const struct writ_json *value)
{
    char text[WRIT_DIGEST_TEXT];
    struct writ_seal seal = {0};
    struct writ_faults faults = {0};
    struct writ_digest digest;
    struct writ_check_run *run = NULL;
    uint64_t seal_leaf = 0;
    bool read = false;

    v->report->seals++;
    WRIT_TRY(writ_check_parts_find_run(v, &run));
    WRIT_TRY(read_seal_leaf(v, &seal_leaf));
    WRIT_TRY(writ_check_parts_readable(v, writ_seal_read(value, v->arena, &seal, NULL), &read));
    if (!read || run == NULL) {
        writ_check_expect(v, read, "it is not a seal");
        return WRIT_DONE;
    }
    writ_seal_validate(&seal, &faults);
    writ_check_parts_expect_no_faults(v, &faults);
    WRIT_TRY(writ_seal_hash_now(&run->hash, &digest, v->err));
    writ_digest_text(&digest, text);
    writ_check_expect(v,
        writ_check_parts_same_text(&seal.boundary_id, run->name) &&
            writ_check_parts_same_number(&seal.total, v->row.seq) &&
            writ_check_parts_same_time(&seal.sealed_at, v->row.time_us) && seal_leaf == v->row.leaf,
        "the columns beside the seal differ from it");
    writ_check_expect(v,
        (!run->seq_known || writ_check_parts_same_number(&seal.total, run->next_seq)) &&
            (run->partial || writ_check_parts_same_text(&seal.seal_hash, writ_view_str(text))),
        "the seal does not count or hash the decisions that are there");
    writ_check_expect(v, run->calls == 0, "a decision of the sealed boundary has no outcome");
    v->report->sealed++;
    run->seal_leaf = UINT64_MAX;
    if (run->calls == 0) {
        writ_check_parts_free_run(v, run);
    }
    return WRIT_DONE;
}
