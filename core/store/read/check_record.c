/* Each record is read strictly from its body, then compared with its columns, its boundary and the
 * decision that it is about, by the file of its kind. A record of an archive has no columns: they
 * are made from its body first. Each problem is reported once. */
#include "store/read/check_parts.h"

#include "evidence/json/jcs.h"
#include "evidence/record/review_record.h"
#include "store/tables/body.h"

/* ---- records of reviews ---- */

/* `writ review replay` counts the votes again; this check does not. */
static WRIT_RESULT
check_review(struct writ_check *v, const struct writ_json *value, struct writ_view body)
{
    struct writ_review_record record = {0};
    struct writ_faults faults = {0};
    struct writ_check_run *run = NULL;
    struct writ_check_first first = {0};
    bool read = false, removed;

    v->report->reviews++;
    if (!v->archived) {
        WRIT_TRY(writ_check_parts_find_run(v, &run));
        WRIT_TRY(writ_check_parts_find_first(v, v->row.decision_id, &first));
    }
    removed = v->archived || (!first.is_decision && run != NULL && run->first_leaf < v->first);
    WRIT_TRY(writ_check_parts_readable(
        v, writ_review_record_read(value, v->arena, &record, NULL), &read));
    if (!read) {
        writ_check_problem(v, v->row.leaf, "it is not a record of a review");
        return WRIT_DONE;
    }
    writ_review_record_validate(&record, &faults);
    writ_check_parts_expect_no_faults(v, &faults);
    writ_check_expect(v,
        writ_check_parts_same_text(&record.decision_id, v->row.decision_id) &&
            writ_check_parts_same_time(&record.at, v->row.time_us) &&
            (v->archived || (run != NULL && (removed || v->row.seq == first.seq) &&
                                writ_check_parts_same_text(&record.boundary_id, run->name))),
        "the columns beside the record differ from it");
    return writ_check_story_hear(v, body, removed && v->archive == NULL);
}

/* ---- any record ---- */

/* Reads the value of the present record, when its bytes are canonical. */
static WRIT_RESULT
read_value(struct writ_check *v, struct writ_view body, const struct writ_json **ret)
{
    bool read = false, canonical = false;

    WRIT_TRY(writ_check_parts_readable(v, writ_body_json(body, v->arena, ret, NULL), &read));
    if (!read) {
        writ_check_problem(v, v->row.leaf, "its bytes are not strict JSON");
        return WRIT_DONE;
    }
    writ_buf_clear(&v->scratch);
    WRIT_TRY(writ_check_parts_readable(v, writ_jcs_put(&v->scratch, *ret, NULL), &canonical));
    if (!canonical || !writ_view_equal(writ_buf_view(&v->scratch), body)) {
        writ_check_problem(v, v->row.leaf, "its bytes are not in canonical form");
    }
    return WRIT_DONE;
}

/* Every line of a row of bodies is that of a record. */
static void
check_bodies(struct writ_check *v)
{
    if (v->read.has_row && v->read.leaf != v->bodies) {
        writ_check_expect(
            v, v->read.leaf == v->bodies_end, "there are more bodies than records before it");
        v->bodies = v->read.leaf;
        v->bodies_end = v->read.leaf + v->read.lines;
    }
}

/* A seal or a review has no columns of a decision. */
static void
expect_bare(struct writ_check *v)
{
    writ_check_expect(v,
        v->row.verdict == 0 && v->row.flags == 0 && v->row.claim == NULL &&
            v->row.agent_id.len == 0 && v->row.tool.len == 0,
        "there are columns beside the record that it cannot have");
}

static WRIT_RESULT
check_value(struct writ_check *v, struct writ_view body)
{
    const struct writ_json *value = NULL;

    writ_check_expect(
        v, v->row.time_us > v->before_us, "its time is not after that of the record before");
    v->before_us = v->row.time_us;
    WRIT_TRY(read_value(v, body, &value));
    if (value == NULL) {
        return WRIT_DONE;
    }
    switch (v->row.kind) {
    case WRIT_ROW_DECISION:
        return writ_check_parts_decision(v, value);
    case WRIT_ROW_OUTCOME:
        return writ_check_parts_outcome(v, value);
    case WRIT_ROW_SEAL:
        expect_bare(v);
        return writ_check_parts_seal(v, value);
    case WRIT_ROW_REVIEW:
        expect_bare(v);
        return check_review(v, value, body);
    case WRIT_ROW_FACT:
        return writ_check_parts_fact(v, value);
    case WRIT_ROW_NONE:
        break;
    }
    return WRIT_DONE;
}

/* The index must find each record of a call: one that it hides, such as the end of a review, would
 * be missing in the memory of the next start, and in what is shown. check_decision.c does it for
 * decisions, with their uniqueness. */
static WRIT_RESULT
check_index(struct writ_check *v)
{
    struct writ_sql_statement *s = v->statements[WRIT_CHECK_SQL_INDEXED];

    if (v->row.decision_id.len == 0 || v->row.kind == WRIT_ROW_DECISION) {
        return WRIT_DONE;
    }
    writ_sql_bind_text(s, 1, v->row.decision_id);
    writ_sql_bind_int(s, 2, (int64_t)v->row.leaf);
    return writ_check_parts_found(
        v, WRIT_CHECK_SQL_INDEXED, "the index of decision_ids does not lead to it");
}

WRIT_RESULT
writ_check_record(
    struct writ_check *v, struct writ_sql_statement *s, uint64_t leaf, struct writ_view body)
{
    struct writ_err why = {0};

    v->report->records++;
    v->archived = false;
    v->row.leaf = leaf;
    check_bodies(v);
    if (writ_is_ok(writ_disk_row(s, &v->row, &why))) {
        WRIT_TRY(check_value(v, body));
        WRIT_TRY(check_index(v));
    } else {
        writ_check_problem(v, leaf, "it is not one that a ledger writes");
    }
    return writ_check_tree_add(v, body, leaf);
}

/* ---- records without columns ---- */

static WRIT_RESULT
find_boundary(struct writ_check *v, enum writ_check_statement which)
{
    struct writ_sql_statement *s = v->statements[which];
    bool row = false;
    writ_result result;

    writ_sql_bind_text(s, 1, v->said.boundary_id);
    if (which == WRIT_CHECK_SQL_NAMED) {
        writ_sql_bind_text(s, 2, v->said.tenant);
    } else {
        writ_sql_bind_int(s, 2, (int64_t)v->row.leaf);
    }
    result = writ_check_next(v, which, &row, v->err);
    if (writ_is_ok(result) && row) {
        v->row.boundary = (uint64_t)writ_sql_int(s, 0);
    }
    writ_sql_reset(s);
    return result;
}

/* Its boundary, and the decision that it is about, which its columns had. */
static WRIT_RESULT
place_row(struct writ_check *v)
{
    struct writ_check_call *call = NULL;

    switch (v->row.kind) {
    case WRIT_ROW_DECISION:
        WRIT_TRY(writ_check_parts_find_named(v, v->said.supersedes, &call));
        if (call != NULL && call->granted) {
            v->row.about = call->leaf;
            v->row.flags |= WRIT_ROW_FOLLOWS;
        }
        return find_boundary(v, WRIT_CHECK_SQL_NAMED);
    case WRIT_ROW_OUTCOME:
        WRIT_TRY(writ_check_parts_find_named(v, v->row.decision_id, &call));
        v->row.about = call == NULL ? UINT64_MAX : call->leaf;
        v->row.boundary = call == NULL ? 0 : call->run->id;
        return WRIT_DONE;
    case WRIT_ROW_SEAL:
        return find_boundary(v, WRIT_CHECK_SQL_ENDED);
    case WRIT_ROW_REVIEW:
    case WRIT_ROW_FACT:
    case WRIT_ROW_NONE:
        break;
    }
    return WRIT_DONE;
}

/* Makes the row of a record without columns from what it states; false when no ledger writes it,
 * which is reported. */
static WRIT_RESULT
make_row(struct writ_check *v, uint64_t leaf, struct writ_view body, bool *ret)
{
    struct writ_err why = {0};
    writ_result result = writ_said_read(body, v->arena, &v->said, &why);

    *ret = writ_is_ok(result);
    if (result.code == WRIT_E_MISMATCH) {
        writ_check_problem(v, leaf, "it is not one that a ledger writes");
        return WRIT_DONE;
    }
    WRIT_TRY(result);
    v->row = v->said.row;
    v->row.leaf = leaf;
    return place_row(v);
}

WRIT_RESULT
writ_check_record_archived(struct writ_check *v, uint64_t leaf, struct writ_view body)
{
    bool made = false;

    v->report->records++;
    v->archived = true;
    v->row = (struct writ_row){.leaf = leaf};
    WRIT_TRY(make_row(v, leaf, body, &made));
    if (made) {
        v->moved += v->row.kind == WRIT_ROW_FACT;
        WRIT_TRY(check_value(v, body));
    }
    return writ_check_tree_add(v, body, leaf);
}

WRIT_RESULT
writ_check_record_moved(struct writ_check *v, uint64_t leaf, struct writ_view body)
{
    bool made = false;

    v->archived = true;
    v->row = (struct writ_row){.leaf = leaf};
    WRIT_TRY(make_row(v, leaf, body, &made));
    writ_check_expect(
        v, !made || v->row.kind == WRIT_ROW_FACT, "it is kept as a fact, and is none");
    if (made && v->row.kind == WRIT_ROW_FACT) {
        v->moved++;
        return check_value(v, body);
    }
    return WRIT_DONE;
}

/* ---- the end ---- */

void
writ_check_record_rest(struct writ_check *v, uint64_t last, uint64_t last_now)
{
    writ_check_tree_end(v);
    for (size_t i = 0; i < v->runs.bucket_count; i++) {
        for (struct writ_map_node *at = v->runs.buckets[i]; at != NULL; at = at->next) {
            const struct writ_check_run *run = WRIT_MAP_OF(at, struct writ_check_run, by_id);

            if (run->seal_leaf <= last ||
                (run->seal_leaf > last_now && run->seal_leaf != UINT64_MAX)) {
                writ_check_problem(
                    v, run->seal_leaf, "a boundary's seal should be here, and is not");
            }
        }
    }
    for (size_t i = 0; i < v->calls.bucket_count; i++) {
        for (struct writ_map_node *at = v->calls.buckets[i]; at != NULL; at = at->next) {
            struct writ_check_call *call = WRIT_MAP_OF(at, struct writ_check_call, by_leaf);

            if (call->granted) {
                v->report->in_flight++;
            } else {
                writ_check_problem(v, call->by_leaf.tag.low, "the refused call has no outcome");
            }
        }
    }
}

void
writ_check_record_wipe(struct writ_check *v)
{
    for (size_t i = 0; i < v->calls.bucket_count; i++) {
        while (v->calls.buckets[i] != NULL) {
            struct writ_check_call *call =
                WRIT_MAP_OF(v->calls.buckets[i], struct writ_check_call, by_leaf);

            writ_map_remove(&v->calls, &call->by_leaf);
            writ_free(call);
        }
    }
    for (size_t i = 0; i < v->runs.bucket_count; i++) {
        while (v->runs.buckets[i] != NULL) {
            writ_check_parts_free_run(
                v, WRIT_MAP_OF(v->runs.buckets[i], struct writ_check_run, by_id));
        }
    }
    writ_check_story_wipe(v);
    writ_check_once_wipe(v);
    writ_map_wipe(&v->calls);
    writ_map_wipe(&v->ids);
    writ_map_wipe(&v->runs);
}
