/* A call stays in memory from its decision until its outcome, which must join that decision, or
 * until another decision follows it. */
#include "store/read/check_parts.h"

#include "evidence/record/derive.h"
#include "store/tables/body.h"

/* ---- calls without outcome ---- */

WRIT_RESULT
writ_check_parts_await_outcome(
    struct writ_check *v, struct writ_check_run *run, const struct writ_check_claimed *claimed)
{
    bool granted = (v->row.flags & WRIT_ROW_GRANTED) != 0;
    struct writ_check_call *call;

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

void
writ_check_parts_free_call(struct writ_check *v, struct writ_check_call *call)
{
    call->run->calls--;
    writ_map_remove(&v->calls, &call->by_leaf);
    if (v->archive != NULL) {
        writ_map_remove(&v->ids, &call->by_id);
    }
    writ_free(call);
}

struct writ_check_call *
writ_check_parts_find_call(struct writ_check *v, uint64_t leaf)
{
    return WRIT_MAP_OF(
        writ_map_find(&v->calls, writ_tag_number(leaf)), struct writ_check_call, by_leaf);
}

WRIT_RESULT
writ_check_parts_find_named(struct writ_check *v, struct writ_view id, struct writ_check_call **ret)
{
    struct writ_tag tag;

    *ret = NULL;
    if (v->archive != NULL && id.len > 0) {
        WRIT_TRY(writ_tag_name(id, &tag, v->err));
        *ret = WRIT_MAP_OF(writ_map_find(&v->ids, tag), struct writ_check_call, by_id);
    }
    return WRIT_DONE;
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
        complete ? writ_check_parts_same_text(&outcome->receipt_ref, writ_view_str(text))
                 : outcome->receipt_ref.is != WRIT_PRESENT,
        "/receipt_ref does not recompute from its members");
    return WRIT_DONE;
}

static WRIT_RESULT
check_join(
    struct writ_check *v, const struct writ_outcome *outcome, const struct writ_check_call *call)
{
    struct writ_decision decision = {0};
    const struct writ_profile *profile = NULL;
    bool read = false;
    writ_result joined;

    WRIT_TRY(writ_check_parts_read_decision(v, &decision, &read));
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

    WRIT_TRY(writ_check_parts_writable(v, writ_said_outcome(outcome, &said, NULL), &told));
    writ_check_expect(
        v, !told || writ_said_same(&said, &v->row), "the columns beside the record differ from it");
    return WRIT_DONE;
}

WRIT_RESULT
writ_check_parts_outcome(struct writ_check *v, const struct writ_json *value)
{
    struct writ_check_call *call = writ_check_parts_find_call(v, v->row.about);
    struct writ_outcome outcome = {0};
    struct writ_faults faults = {0};
    writ_result result;
    bool read = false;

    v->report->outcomes++;
    WRIT_TRY(
        writ_check_parts_readable(v, writ_outcome_read(value, v->arena, &outcome, NULL), &read));
    if (!read) {
        writ_check_problem(v, v->row.leaf, "it is not an outcome");
        return WRIT_DONE;
    }
    writ_outcome_validate(&outcome, &faults);
    writ_check_parts_expect_no_faults(v, &faults);
    WRIT_TRY(check_outcome_columns(v, &outcome));
    if (call == NULL && writ_check_parts_is_unread(v, v->row.about)) {
        struct writ_check_run *run = NULL;

        WRIT_TRY(writ_check_parts_find_run(v, &run));
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
    writ_check_parts_free_call(v, call);
    return result;
}
