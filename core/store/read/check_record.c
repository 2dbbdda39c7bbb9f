/* Each record is read strictly from its body, then compared with its columns, its boundary and the
 * decision that it is about. Each problem is reported once. Memory is freed when a call has its
 * outcome and a boundary its seal. */
#include "store/read/check.h"

#include "evidence/json/jcs.h"
#include "evidence/record/archive_fact.h"
#include "evidence/record/derive.h"
#include "evidence/record/duplicates.h"
#include "evidence/record/fact.h"
#include "evidence/record/review_record.h"
#include "store/tables/body.h"
#include "store/tables/charge.h"
#include "store/tables/entry.h"

/** A boundary that is open. */
struct run {
    struct writ_map_node by_id;
    uint64_t id, first_leaf;
    bool partial; /* it began before the first record that is read */
    bool seq_known;
    uint64_t next_seq;
    uint64_t seal_leaf; /* as its row says; UINT64_MAX: none */
    size_t calls;       /* without outcome */
    struct writ_seal_hash hash;
    struct writ_view tenant, name;
    char text[];
};

/** The claim of a call. */
struct claimed {
    bool is;
    struct writ_tag key;
};

/** A decision without outcome. */
struct call {
    struct writ_map_node by_leaf, by_id;
    uint64_t leaf;
    struct run *run;
    bool granted;
    struct claimed claimed;
};

/* ---- what is wrong ---- */

static void
expect_no_faults(struct writ_check *v, const struct writ_faults *faults)
{
    writ_auto_buf text = writ_buf_make(WRIT_ERR_TEXT);

    if (faults->count > 0) {
        writ_faults_put(faults, &text);
        writ_check_problem(v, v->row.leaf, WRIT_VIEW_FMT, WRIT_VIEW_ARG(writ_buf_view(&text)));
    }
}

/* ---- records that are not read ---- */

/* Whether a record was removed, and is not read from an archive. */
static bool
is_unread(const struct writ_check *v, uint64_t leaf)
{
    return v->archive == NULL && leaf < v->first;
}

/* ---- boundaries ---- */

static void
run_free(struct writ_check *v, struct run *run)
{
    writ_map_remove(&v->runs, &run->by_id);
    writ_seal_hash_wipe(&run->hash);
    writ_free(run);
}

static WRIT_RESULT
run_new(struct writ_check *v, struct writ_sql_statement *s, struct run **ret)
{
    struct writ_view tenant = writ_column_bytes(s, 0), name = writ_column_bytes(s, 1);
    struct run *run;
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

static WRIT_RESULT
read_run(struct writ_check *v, struct run **ret)
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
    (*ret)->partial = is_unread(v, (uint64_t)writ_sql_int(s, 2));
    (*ret)->seq_known = !(*ret)->partial;
    writ_check_expect(v,
        (*ret)->partial ? (*ret)->seal_leaf >= v->row.leaf
                        : (uint64_t)writ_sql_int(s, 2) == v->row.leaf,
        "the boundary does not begin where its row says, or goes on after its seal");
    return WRIT_DONE;
}

/* The boundary of the present record; NULL when there is none. */
static WRIT_RESULT
find_run(struct writ_check *v, struct run **ret)
{
    writ_result result;

    *ret =
        WRIT_MAP_OF(writ_map_find(&v->runs, writ_tag_number(v->row.boundary)), struct run, by_id);
    if (*ret != NULL) {
        return WRIT_DONE;
    }
    result = read_run(v, ret);
    writ_sql_reset(v->statements[WRIT_CHECK_SQL_BOUNDARY]);
    return result;
}

/* ---- decisions ---- */

static bool
same_text(const struct writ_member_text *member, struct writ_view text)
{
    return member->is == WRIT_PRESENT ? writ_view_equal(member->view, text) : text.len == 0;
}

static bool
same_time(const struct writ_member_text *member, int64_t time_us)
{
    int64_t read_us = 0;

    return member->is == WRIT_PRESENT && writ_member_time(member->view, &read_us) &&
           read_us == time_us;
}

static bool
same_number(const struct writ_member_number *member, uint64_t number)
{
    return member->is == WRIT_PRESENT && member->value >= 0 && (uint64_t)member->value == number;
}

/* A granted call has a claim, unless it may run again or continues a call that has one: what its
 * record says of the claim decides. */
static void
check_due(
    struct writ_check *v, const struct writ_said *said, const struct writ_extension *extension)
{
    bool granted = (said->row.flags & WRIT_ROW_GRANTED) != 0;
    bool follows = (v->row.flags & WRIT_ROW_FOLLOWS) != 0;
    struct writ_view duplicates = writ_member_view(&extension->duplicates);
    bool many = writ_view_equal(duplicates, writ_duplicates_word(WRIT_DUPLICATES_ALLOW));

    if (granted) {
        writ_check_expect(v,
            many || writ_view_equal(duplicates, writ_duplicates_word(WRIT_DUPLICATES_FORBID)) ||
                writ_view_equal(duplicates, writ_duplicates_word(WRIT_DUPLICATES_REPLAY)),
            "it was granted and does not say what a second call gets");
    }
    writ_check_expect(v, (said->row.claim != NULL) == (granted && !follows && !many),
        "it has a claim that is not due, or none where one is");
}

static void
check_columns(struct writ_check *v, struct run *run, const struct writ_decision *decision,
    const struct writ_said *said)
{
    if (!run->seq_known) {
        run->next_seq = v->row.seq;
        run->seq_known = true;
    }
    writ_check_expect(v,
        writ_said_same(said, &v->row) && writ_view_equal(said->boundary_id, run->name) &&
            writ_view_equal(said->tenant, run->tenant),
        "the columns beside the record differ from it");
    writ_check_expect(v, same_number(&decision->seq, run->next_seq), "its seq does not follow");
    writ_check_expect(v, same_number(&decision->running_count, v->row.seq + 1),
        "its running_count is not seq + 1");
}

/* Reports a record that a ledger would not write; any other failure is an error. */
static WRIT_RESULT
tell(struct writ_check *v, writ_result said, bool *ret)
{
    if (said.code != WRIT_E_MISMATCH) {
        WRIT_TRY(said);
    }
    *ret = writ_is_ok(said);
    writ_check_expect(v, *ret, "a ledger does not write such a record");
    return WRIT_DONE;
}

/* Separates a record that cannot be read from a lack of memory. */
static WRIT_RESULT
readable(struct writ_check *v, writ_result result, bool *ret)
{
    if (result.code == WRIT_E_NOMEM) {
        WRIT_FAIL(
            v->err, WRIT_E_NOMEM, "no memory for record %llu", (unsigned long long)v->row.leaf);
    }
    *ret = writ_is_ok(result);
    return WRIT_DONE;
}

static WRIT_RESULT
read_archived(struct writ_check *v, struct writ_decision *ret)
{
    struct writ_view body;

    WRIT_TRY(writ_archive_read_record(v->archive, v->row.about, &body, NULL));
    body = writ_view_copy(body, v->arena);
    return body.ptr == NULL ? (writ_result){WRIT_E_NOMEM}
                            : writ_body_decision(body, v->arena, ret, NULL);
}

/* Reads the decision that the present record is about; false when it is not readable, which was
 * reported. */
static WRIT_RESULT
read_decision(struct writ_check *v, struct writ_decision *ret, bool *ret_read)
{
    struct writ_sql_statement *s = v->statements[WRIT_CHECK_SQL_BODY];
    struct writ_view body = {NULL, 0};
    bool row = false;
    writ_result result;

    if (v->archive != NULL && v->row.about < v->first) {
        return readable(v, read_archived(v, ret), ret_read);
    }
    writ_sql_bind_int(s, 1, (int64_t)v->row.about);
    result = writ_check_next(v, WRIT_CHECK_SQL_BODY, &row, v->err);
    if (writ_is_ok(result) && row) {
        body = writ_view_copy(writ_column_bytes(s, 0), v->arena);
    }
    writ_sql_reset(s);
    WRIT_TRY(result);
    if (!row) {
        *ret_read = false;
        return WRIT_DONE;
    }
    if (body.ptr == NULL) {
        WRIT_FAIL(v->err, WRIT_E_NOMEM, "no memory for a decision");
    }
    return readable(v, writ_body_decision(body, v->arena, ret, NULL), ret_read);
}

static void
call_free(struct writ_check *v, struct call *call)
{
    call->run->calls--;
    writ_map_remove(&v->calls, &call->by_leaf);
    if (v->archive != NULL) {
        writ_map_remove(&v->ids, &call->by_id);
    }
    writ_free(call);
}

/* The decision of that id, when it has no outcome; only with an archive, else NULL. */
static WRIT_RESULT
find_named(struct writ_check *v, struct writ_view id, struct call **ret)
{
    struct writ_tag tag;

    *ret = NULL;
    if (v->archive != NULL && id.len > 0) {
        WRIT_TRY(writ_tag_name(id, &tag, v->err));
        *ret = WRIT_MAP_OF(writ_map_find(&v->ids, tag), struct call, by_id);
    }
    return WRIT_DONE;
}

/* The index must find each decision that follows another one: the history of a call would miss one
 * that the index hides. */
static WRIT_RESULT
check_successor(struct writ_check *v)
{
    struct writ_sql_statement *s = v->statements[WRIT_CHECK_SQL_SUCCESSOR];
    bool row = false;
    writ_result result;

    if (v->archived) {
        return WRIT_DONE; /* no index has it */
    }
    v->successors++;
    writ_sql_bind_int(s, 1, (int64_t)v->row.about);
    writ_sql_bind_int(s, 2, (int64_t)v->row.leaf);
    result = writ_check_next(v, WRIT_CHECK_SQL_SUCCESSOR, &row, v->err);
    if (writ_is_ok(result)) {
        writ_check_expect(
            v, row && writ_sql_int(s, 0) == 1, "the decision that it follows does not lead to it");
    }
    writ_sql_reset(s);
    return result;
}

/* A decision that continues no other one supersedes none that waits: it supersedes a call that was
 * not granted. */
static WRIT_RESULT
check_first(struct writ_check *v, const struct writ_decision *decision)
{
    struct writ_sql_statement *s = v->statements[WRIT_CHECK_SQL_FIRST];
    struct writ_view before = writ_member_view(&decision->supersedes);
    struct call *call = NULL;
    bool row = false;
    writ_result result;

    if (before.len == 0) {
        return WRIT_DONE;
    }
    if (v->archive != NULL) {
        WRIT_TRY(find_named(v, before, &call));
        writ_check_expect(v, call == NULL || !call->granted,
            "it replaces a call that is under way, and its columns do not say so");
        return WRIT_DONE;
    }
    writ_sql_bind_text(s, 1, before);
    result = writ_check_next(v, WRIT_CHECK_SQL_FIRST, &row, v->err);
    if (writ_is_ok(result) && row) {
        call = WRIT_MAP_OF(writ_map_find(&v->calls, writ_tag_number((uint64_t)writ_sql_int(s, 0))),
            struct call, by_leaf);
    }
    writ_sql_reset(s);
    writ_check_expect(v, call == NULL || !call->granted,
        "it replaces a call that is under way, and its columns do not say so");
    return result;
}

/* A round continues a call of its boundary that was granted and has no outcome; that call will have
 * none. */
static WRIT_RESULT
check_round(struct writ_check *v, const struct run *run, const struct writ_decision *decision,
    struct claimed *claimed)
{
    struct writ_decision before = {0};
    struct call *call;
    bool read = false;

    if ((v->row.flags & WRIT_ROW_FOLLOWS) == 0) {
        return check_first(v, decision);
    }
    WRIT_TRY(check_successor(v));
    call =
        WRIT_MAP_OF(writ_map_find(&v->calls, writ_tag_number(v->row.about)), struct call, by_leaf);
    if (call == NULL && is_unread(v, v->row.about) && run->partial) {
        return WRIT_DONE;
    }
    if (call == NULL || !call->granted || call->run != run) {
        writ_check_problem(v, v->row.leaf, "it follows a decision that does not wait");
        return WRIT_DONE;
    }
    *claimed = call->claimed;
    call_free(v, call);
    WRIT_TRY(read_decision(v, &before, &read));
    writ_check_expect(v,
        !read || (decision->supersedes.is == WRIT_PRESENT &&
                     same_text(&before.decision_id, decision->supersedes.view)),
        "it does not name the decision that it follows");
    return WRIT_DONE;
}

static WRIT_RESULT
await_outcome(struct writ_check *v, struct run *run, const struct claimed *claimed)
{
    bool granted = (v->row.flags & WRIT_ROW_GRANTED) != 0;
    struct call *call;

    if (!granted && v->row.verdict == WRIT_DECISION_REQUIRE_APPROVAL) {
        return WRIT_DONE; /* a `revise` is followed only by another decision */
    }
    if (v->calls.count >= WRIT_VERIFY_LIVE_MAX) {
        WRIT_FAIL(v->err, WRIT_E_LIMIT, "more than %d calls have no outcome at one time",
            WRIT_VERIFY_LIVE_MAX);
    }
    call = writ_alloc(sizeof *call);
    if (call == NULL) {
        WRIT_FAIL(v->err, WRIT_E_NOMEM, "no memory for a call");
    }
    call->run = run;
    call->leaf = v->row.leaf;
    call->granted = granted;
    call->claimed = *claimed;
    if (v->archive != NULL) {
        writ_result tagged = writ_tag_name(v->row.decision_id, &call->by_id.tag, v->err);

        if (!writ_is_ok(tagged)) {
            writ_free(call);
            return tagged;
        }
        writ_map_add(&v->ids, &call->by_id, call->by_id.tag);
    }
    run->calls++;
    writ_map_add(&v->calls, &call->by_leaf, writ_tag_number(v->row.leaf));
    return WRIT_DONE;
}

/* Leaf and seq of the first record with the present decision_id; UINT64_MAX both: there is none.
 * *ret_is_decision is false when it is of another kind. */
static WRIT_RESULT
find_first(struct writ_check *v, uint64_t *ret_leaf, uint64_t *ret_seq, bool *ret_is_decision)
{
    struct writ_sql_statement *s = v->statements[WRIT_CHECK_SQL_FIRST];
    struct writ_view id = v->row.decision_id;
    bool row = false;
    writ_result result;

    writ_sql_bind_text(s, 1, id);
    result = writ_check_next(v, WRIT_CHECK_SQL_FIRST, &row, v->err);
    row = writ_is_ok(result) && row;
    *ret_leaf = row ? (uint64_t)writ_sql_int(s, 0) : UINT64_MAX;
    *ret_seq = row ? (uint64_t)writ_sql_int(s, 1) : UINT64_MAX;
    *ret_is_decision = row && writ_sql_int(s, 2) == WRIT_ROW_DECISION;
    writ_sql_reset(s);
    return result;
}

/* Every decision is found by its id, and no other one has that id. */
static WRIT_RESULT
check_index(struct writ_check *v)
{
    uint64_t leaf = 0, seq = 0;
    bool is_decision = false;

    if (v->archived) {
        return WRIT_DONE; /* no index has it */
    }
    WRIT_TRY(find_first(v, &leaf, &seq, &is_decision));
    writ_check_expect(
        v, leaf == v->row.leaf, "its decision_id is another record's too, or does not lead to it");
    return WRIT_DONE;
}

/* Whether it allows its call under a review. */
static bool
is_approved(const struct writ_check *v, const struct writ_decision *decision)
{
    return (v->row.flags & WRIT_ROW_GRANTED) != 0 && (v->row.flags & WRIT_ROW_FOLLOWS) == 0 &&
           writ_decision_is(decision, WRIT_DECISION_ALLOW) &&
           writ_member_text_equal(&decision->continuation_id, &decision->supersedes, false);
}

static WRIT_RESULT
check_decision(struct writ_check *v, const struct writ_json *value)
{
    struct writ_decision decision = {0};
    struct writ_extension extension = {0};
    struct writ_faults faults = {0};
    const struct writ_profile *profile = NULL;
    struct run *run = NULL;
    struct claimed claimed = {0};
    struct writ_said said;
    bool read = false, told = false;

    v->report->decisions++;
    WRIT_TRY(find_run(v, &run));
    WRIT_TRY(readable(v, writ_decision_read(value, v->arena, &decision, NULL), &read));
    if (!read || run == NULL) {
        writ_check_expect(v, read, "it is not a decision");
        return WRIT_DONE;
    }
    WRIT_TRY(
        readable(v, writ_extension_read(&decision.extensions, v->arena, &extension, NULL), &read));
    writ_check_expect(v, read, "its extension exceeds a limit");
    writ_decision_validate(&decision, &faults);
    WRIT_TRY(writ_body_profile(&decision, v->arena, &profile, v->err));
    WRIT_TRY(writ_decision_recompute(&decision, profile, &faults, v->err));
    expect_no_faults(v, &faults);
    writ_check_expect(v, writ_charge_all_good(&extension, v->row.time_us),
        "its charges are not readable, or of another time");
    WRIT_TRY(tell(v, writ_said_decision(&decision, &extension, &said, NULL), &told));
    if (told) {
        check_columns(v, run, &decision, &said);
        check_due(v, &said, &extension);
        WRIT_TRY(writ_check_once_claim(v, &said));
        claimed = (struct claimed){said.row.claim != NULL, writ_tag_read(said.tags)};
    }
    WRIT_TRY(check_index(v));
    WRIT_TRY(check_round(v, run, &decision, &claimed));
    if (is_approved(v, &decision)) {
        WRIT_TRY(writ_check_story_grant(v, &decision));
    }
    WRIT_TRY(await_outcome(v, run, &claimed));
    run->next_seq++;
    return writ_seal_hash_add(&run->hash, v->row.decision_id, v->err);
}

/* ---- outcomes ---- */

static WRIT_RESULT
check_receipt(struct writ_check *v, const struct writ_outcome *outcome,
    const struct writ_decision *decision, const struct writ_profile *profile)
{
    char text[WRIT_DIGEST_TEXT];
    struct writ_digest digest;
    bool complete = false;

    WRIT_TRY(writ_profile_derive(profile, WRIT_PROFILE_OUTCOME_RECEIPT_REF, decision, outcome,
        &v->scratch, &digest, &complete, v->err));
    if (complete) {
        writ_digest_text(&digest, text);
    }
    writ_check_expect(v,
        complete ? same_text(&outcome->receipt_ref, writ_view_str(text))
                 : outcome->receipt_ref.is != WRIT_PRESENT,
        "/receipt_ref does not recompute from its members");
    return WRIT_DONE;
}

static WRIT_RESULT
check_join(struct writ_check *v, const struct writ_outcome *outcome, const struct call *call)
{
    struct writ_decision decision = {0};
    const struct writ_profile *profile = NULL;
    bool read = false;
    writ_result joined;

    WRIT_TRY(read_decision(v, &decision, &read));
    if (!read) {
        return WRIT_DONE; /* reported with the decision */
    }
    WRIT_TRY(writ_body_profile(&decision, v->arena, &profile, v->err));
    joined = writ_outcome_join(outcome, &decision, profile, v->err);
    if (joined.code != WRIT_E_MISMATCH) {
        WRIT_TRY(joined);
    }
    writ_check_expect(v, writ_is_ok(joined), "it does not join its decision");
    writ_check_expect(v, call->granted || writ_outcome_is(outcome, WRIT_OUTCOME_BLOCKED),
        "the call was refused and yet ran");
    return check_receipt(v, outcome, &decision, profile);
}

static WRIT_RESULT
check_outcome_columns(struct writ_check *v, const struct writ_outcome *outcome)
{
    struct writ_said said;
    bool told = false;

    WRIT_TRY(tell(v, writ_said_outcome(outcome, &said, NULL), &told));
    writ_check_expect(
        v, !told || writ_said_same(&said, &v->row), "the columns beside the record differ from it");
    return WRIT_DONE;
}

static WRIT_RESULT
check_outcome(struct writ_check *v, const struct writ_json *value)
{
    struct call *call =
        WRIT_MAP_OF(writ_map_find(&v->calls, writ_tag_number(v->row.about)), struct call, by_leaf);
    struct writ_outcome outcome = {0};
    struct writ_faults faults = {0};
    writ_result result;
    bool read = false;

    v->report->outcomes++;
    WRIT_TRY(readable(v, writ_outcome_read(value, v->arena, &outcome, NULL), &read));
    if (!read) {
        writ_check_problem(v, v->row.leaf, "it is not an outcome");
        return WRIT_DONE;
    }
    writ_outcome_validate(&outcome, &faults);
    expect_no_faults(v, &faults);
    WRIT_TRY(check_outcome_columns(v, &outcome));
    if (call == NULL && is_unread(v, v->row.about)) {
        struct run *run = NULL;

        WRIT_TRY(find_run(v, &run));
        writ_check_expect(v, run != NULL && run->partial,
            "its decision was removed, and its boundary began later");
        return WRIT_DONE;
    }
    if (call == NULL) {
        writ_check_problem(v, v->row.leaf, "its decision does not exist or has an outcome already");
        return WRIT_DONE;
    }
    writ_check_expect(v, writ_tag_equal(call->run->by_id.tag, writ_tag_number(v->row.boundary)),
        "it stands in another boundary than its decision");
    result = check_join(v, &outcome, call);
    if (call->claimed.is && writ_outcome_nothing_ran(&outcome)) {
        writ_check_once_release(v, call->claimed.key);
    }
    call_free(v, call);
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

static WRIT_RESULT
check_seal(struct writ_check *v, const struct writ_json *value)
{
    char text[WRIT_DIGEST_TEXT];
    struct writ_seal seal = {0};
    struct writ_faults faults = {0};
    struct writ_digest digest;
    struct run *run = NULL;
    uint64_t seal_leaf = 0;
    bool read = false;

    v->report->seals++;
    WRIT_TRY(find_run(v, &run));
    WRIT_TRY(read_seal_leaf(v, &seal_leaf));
    WRIT_TRY(readable(v, writ_seal_read(value, v->arena, &seal, NULL), &read));
    if (!read || run == NULL) {
        writ_check_expect(v, read, "it is not a seal");
        return WRIT_DONE;
    }
    writ_seal_validate(&seal, &faults);
    expect_no_faults(v, &faults);
    WRIT_TRY(writ_seal_hash_now(&run->hash, &digest, v->err));
    writ_digest_text(&digest, text);
    writ_check_expect(v,
        same_text(&seal.boundary_id, run->name) && same_number(&seal.total, v->row.seq) &&
            same_time(&seal.sealed_at, v->row.time_us) && seal_leaf == v->row.leaf,
        "the columns beside the seal differ from it");
    writ_check_expect(v,
        (!run->seq_known || same_number(&seal.total, run->next_seq)) &&
            (run->partial || same_text(&seal.seal_hash, writ_view_str(text))),
        "the seal does not count or hash the decisions that are there");
    writ_check_expect(v, run->calls == 0, "a decision of the sealed boundary has no outcome");
    v->report->sealed++;
    run->seal_leaf = UINT64_MAX;
    if (run->calls == 0) {
        run_free(v, run);
    }
    return WRIT_DONE;
}

/* ---- reviews ---- */

/* `writ review replay` counts the votes again; this check does not. */
static WRIT_RESULT
check_review(struct writ_check *v, const struct writ_json *value, struct writ_view body)
{
    struct writ_review_record record = {0};
    struct writ_faults faults = {0};
    struct run *run = NULL;
    uint64_t leaf = 0, seq = 0;
    bool read = false, is_decision = false, removed;

    v->report->reviews++;
    if (!v->archived) {
        WRIT_TRY(find_run(v, &run));
        WRIT_TRY(find_first(v, &leaf, &seq, &is_decision));
    }
    removed = v->archived || (!is_decision && run != NULL && run->first_leaf < v->first);
    WRIT_TRY(readable(v, writ_review_record_read(value, v->arena, &record, NULL), &read));
    if (!read) {
        writ_check_problem(v, v->row.leaf, "it is not a record of a review");
        return WRIT_DONE;
    }
    writ_review_record_validate(&record, &faults);
    expect_no_faults(v, &faults);
    writ_check_expect(v,
        same_text(&record.decision_id, v->row.decision_id) &&
            same_time(&record.at, v->row.time_us) &&
            (v->archived || (run != NULL && (removed || v->row.seq == seq) &&
                                same_text(&record.boundary_id, run->name))),
        "the columns beside the record differ from it");
    return writ_check_story_hear(v, body, removed && v->archive == NULL);
}

/* ---- facts ---- */

/* Records before the one that it names may be missing from now on. */
static WRIT_RESULT
check_archived(struct writ_check *v, const struct writ_json *data)
{
    struct writ_tree_source source = writ_heads_source(&v->heads);
    struct writ_archive_fact fact;
    struct writ_tree_edge edge;
    struct writ_digest root = {0}, runs;
    bool read = writ_is_ok(writ_archive_fact_read(data, &fact, NULL)) &&
                fact.before <= v->row.leaf && fact.before > v->until;

    if (!read) {
        writ_check_problem(v, v->row.leaf, "it is not a fact that a ledger writes");
        return WRIT_DONE;
    }
    WRIT_TRY(writ_runs_digest(
        v->statements[WRIT_CHECK_SQL_RUNS_BETWEEN], v->until, fact.before, &runs, v->err));
    writ_check_expect(v, writ_digest_equal(&runs, &fact.runs),
        "the runs whose records were moved to an archive have other rows");
    v->until = fact.before;
    if (!v->lost) {
        WRIT_TRY(writ_tree_edge_of(&source, fact.before, &edge, v->err));
        WRIT_TRY(writ_tree_root(&edge, &root, v->err));
        writ_check_expect(v, writ_digest_equal(&root, &fact.root),
            "the records that were moved to an archive are others");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
check_fact(struct writ_check *v, const struct writ_json *value)
{
    struct writ_fact fact = {0};

    v->report->facts++;
    if (!writ_is_ok(writ_fact_read(value, &fact, NULL))) {
        writ_check_problem(v, v->row.leaf, "it is not a fact that a ledger writes");
        return WRIT_DONE;
    }
    writ_check_expect(v,
        fact.at_us == v->row.time_us && fact.n == v->row.seq && v->row.boundary == 0 &&
            v->row.verdict == 0 && v->row.flags == 0 && v->row.about == 0 &&
            v->row.decision_id.ptr == NULL && v->row.agent_id.ptr == NULL &&
            v->row.tool.ptr == NULL && v->row.claim == NULL,
        "the columns beside the fact differ from it");
    writ_check_expect(v, fact.n == v->facts, "a fact before it is missing");
    v->facts = fact.n + 1;
    if (fact.event == WRIT_FACT_POOL_PUT || fact.event == WRIT_FACT_POOL_REMOVED) {
        return writ_check_pool_fact(v, &fact);
    }
    if (fact.event == WRIT_FACT_DELEGATED || fact.event == WRIT_FACT_DELEGATION_REVOKED) {
        return writ_check_delegation_fact(v, &fact);
    }
    if (fact.event == WRIT_FACT_RESUMED) {
        v->macs = 0; /* an operator has taken the records before it, also under a lost mark.key */
    }
    return fact.event == WRIT_FACT_ARCHIVED ? check_archived(v, fact.data) : WRIT_DONE;
}

/* ---- any record ---- */

/* Reads the value of the present record, when its bytes are canonical. */
static WRIT_RESULT
read_value(struct writ_check *v, struct writ_view body, const struct writ_json **ret)
{
    bool read = false, canonical = false;

    WRIT_TRY(readable(v, writ_body_json(body, v->arena, ret, NULL), &read));
    if (!read) {
        writ_check_problem(v, v->row.leaf, "its bytes are not strict JSON");
        return WRIT_DONE;
    }
    writ_buf_clear(&v->scratch);
    WRIT_TRY(readable(v, writ_jcs_put(&v->scratch, *ret, NULL), &canonical));
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
        return check_decision(v, value);
    case WRIT_ROW_OUTCOME:
        return check_outcome(v, value);
    case WRIT_ROW_SEAL:
        expect_bare(v);
        return check_seal(v, value);
    case WRIT_ROW_REVIEW:
        expect_bare(v);
        return check_review(v, value, body);
    case WRIT_ROW_FACT:
        return check_fact(v, value);
    case WRIT_ROW_NONE:
        break;
    }
    return WRIT_DONE;
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
    struct call *call = NULL;

    switch (v->row.kind) {
    case WRIT_ROW_DECISION:
        WRIT_TRY(find_named(v, v->said.supersedes, &call));
        if (call != NULL && call->granted) {
            v->row.about = call->leaf;
            v->row.flags |= WRIT_ROW_FOLLOWS;
        }
        return find_boundary(v, WRIT_CHECK_SQL_NAMED);
    case WRIT_ROW_OUTCOME:
        WRIT_TRY(find_named(v, v->row.decision_id, &call));
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

void
writ_check_record_rest(struct writ_check *v, uint64_t last, uint64_t last_now)
{
    writ_check_tree_end(v);
    for (size_t i = 0; i < v->runs.bucket_count; i++) {
        for (struct writ_map_node *at = v->runs.buckets[i]; at != NULL; at = at->next) {
            const struct run *run = WRIT_MAP_OF(at, struct run, by_id);

            if (run->seal_leaf <= last ||
                (run->seal_leaf > last_now && run->seal_leaf != UINT64_MAX)) {
                writ_check_problem(
                    v, run->seal_leaf, "a boundary's seal should be here, and is not");
            }
        }
    }
    for (size_t i = 0; i < v->calls.bucket_count; i++) {
        for (struct writ_map_node *at = v->calls.buckets[i]; at != NULL; at = at->next) {
            struct call *call = WRIT_MAP_OF(at, struct call, by_leaf);

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
            struct call *call = WRIT_MAP_OF(v->calls.buckets[i], struct call, by_leaf);

            writ_map_remove(&v->calls, &call->by_leaf);
            writ_free(call);
        }
    }
    for (size_t i = 0; i < v->runs.bucket_count; i++) {
        while (v->runs.buckets[i] != NULL) {
            run_free(v, WRIT_MAP_OF(v->runs.buckets[i], struct run, by_id));
        }
    }
    writ_check_story_wipe(v);
    writ_check_once_wipe(v);
    writ_map_wipe(&v->calls);
    writ_map_wipe(&v->ids);
    writ_map_wipe(&v->runs);
}
