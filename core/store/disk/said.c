/* A record that no ledger would write is refused, never read approximately: columns made from it
 * would stand for a record that does not say them. */
#include "store/disk/said.h"

#include "evidence/record/duplicates.h"
#include "evidence/record/fact.h"
#include "evidence/record/review_record.h"
#include "evidence/record/seal.h"
#include "store/tables/body.h"
#include "store/tables/entry.h"
#include "store/tables/tag.h"

#define US_PER_S    INT64_C(1000000)
#define SECONDS_MAX (WRIT_TIME_MOST_US / US_PER_S)

#define UNLIKE(err, what) WRIT_FAIL((err), WRIT_E_MISMATCH, "a ledger writes no " what)

static bool
read_time(const struct writ_member_text *member, int64_t *ret_us)
{
    return member->is == WRIT_PRESENT && writ_member_time(member->view, ret_us);
}

static bool
read_number(const struct writ_member_number *member, uint64_t *ret)
{
    if (member->is != WRIT_PRESENT || member->value < 0) {
        return false;
    }
    *ret = (uint64_t)member->value;
    return true;
}

static bool
is_true(const struct writ_member_flag *flag)
{
    return flag->is == WRIT_PRESENT && flag->value;
}

/* ---- decisions ---- */

static WRIT_RESULT
read_tags(const struct writ_decision *decision, const struct writ_extension *extension,
    struct writ_said *said, struct writ_err *err)
{
    struct writ_digest key, call;
    struct writ_tag intent;

    if (extension->state_free.is != WRIT_PRESENT ||
        !writ_is_ok(writ_digest_read(extension->state_free.view, &call, NULL))) {
        UNLIKE(err, "claim without the call that it is for");
    }
    WRIT_TRY(writ_ledger_claim(said->tenant, writ_member_view(&decision->agent_id),
        writ_member_view(&extension->upstream), writ_member_view(&decision->tool),
        writ_member_view(&decision->idempotency_key), &key, err));
    WRIT_TRY(writ_tag_intent(said->tenant, writ_member_view(&decision->intent_ref),
        writ_member_view(&decision->idempotency_key), &intent, err));
    writ_tag_put(writ_tag_of(&key), said->tags);
    writ_tag_put(writ_tag_of(&call), said->tags + WRIT_TAG_BYTES);
    writ_tag_put(intent, said->tags + 2 * WRIT_TAG_BYTES);
    return WRIT_DONE;
}

/* A call has a claim when its record says for how long. */
static WRIT_RESULT
read_claim(const struct writ_decision *decision, const struct writ_extension *extension,
    struct writ_said *said, struct writ_err *err)
{
    bool granted = (said->row.flags & WRIT_ROW_GRANTED) != 0;
    bool many = writ_view_equal(
        writ_member_view(&extension->duplicates), writ_duplicates_word(WRIT_DUPLICATES_ALLOW));
    int64_t seconds = extension->claim_seconds.value;

    if (extension->claim_seconds.is != WRIT_PRESENT) {
        return WRIT_DONE;
    }
    if (!granted || many || seconds < 0 || seconds > SECONDS_MAX) {
        UNLIKE(err, "claim for a call that was not granted, or that may run again");
    }
    WRIT_TRY(read_tags(decision, extension, said, err));
    said->row.flags |= is_true(&extension->key_stated) ? (unsigned)WRIT_ROW_CALLER_STATED : 0U;
    said->row.claim = said->tags;
    said->claimed_us = seconds * US_PER_S;
    return WRIT_DONE;
}

WRIT_RESULT
writ_said_decision(const struct writ_decision *decision, const struct writ_extension *extension,
    struct writ_said *ret, struct writ_err *err)
{
    enum writ_decision_route route = WRIT_DECISION_DENY;

    *ret = (struct writ_said){
        .row = {.kind = WRIT_ROW_DECISION,
            .decision_id = writ_member_view(&decision->decision_id),
            .agent_id = writ_member_view(&decision->agent_id),
            .tool = writ_member_view(&decision->tool)},
        .boundary_id = writ_member_view(&decision->boundary_id),
        .tenant = writ_member_view(&extension->tenant),
        .supersedes = writ_member_view(&decision->supersedes),
    };

    if (!writ_decision_route_of(decision, &route) || !read_number(&decision->seq, &ret->row.seq) ||
        !read_time(&decision->issued_at, &ret->row.time_us)) {
        UNLIKE(err, "decision without verdict, seq or time");
    }
    ret->row.verdict = (int)route;
    if (ret->row.verdict == WRIT_DECISION_ALLOW || is_true(&extension->shadow)) {
        ret->row.flags = WRIT_ROW_GRANTED;
    }
    return read_claim(decision, extension, ret, err);
}

/* ---- outcomes ---- */

WRIT_RESULT
writ_said_outcome(const struct writ_outcome *outcome, struct writ_said *ret, struct writ_err *err)
{
    enum writ_outcome_kind kind = WRIT_OUTCOME_ERROR;
    struct writ_said said = {
        .row = {.kind = WRIT_ROW_OUTCOME, .decision_id = writ_member_view(&outcome->decision_id)},
        .boundary_id = writ_member_view(&outcome->boundary_id),
    };

    if (!writ_outcome_kind_of(outcome, &kind) ||
        !read_time(&outcome->completed_at, &said.row.time_us)) {
        UNLIKE(err, "outcome without kind or time");
    }
    said.row.verdict = (int)kind;
    (void)read_number(&outcome->seq, &said.row.seq);
    said.row.flags = writ_outcome_nothing_ran(outcome) ? WRIT_ROW_NOTHING_RAN : 0U;
    if (writ_view_is(writ_member_view(&outcome->error_type), WRIT_OUTCOME_INTERRUPTED)) {
        said.row.flags |= WRIT_ROW_INTERRUPTED;
    }
    *ret = said;
    return WRIT_DONE;
}

/* ---- any record ---- */

static WRIT_RESULT
read_decision(const struct writ_json *value, struct writ_arena *arena, struct writ_said *ret,
    struct writ_err *err)
{
    struct writ_decision decision = {0};
    struct writ_extension extension = {0};

    WRIT_TRY(writ_decision_read(value, arena, &decision, err));
    WRIT_TRY(writ_extension_read(&decision.extensions, arena, &extension, err));
    return writ_said_decision(&decision, &extension, ret, err);
}

static WRIT_RESULT
read_outcome(const struct writ_json *value, struct writ_arena *arena, struct writ_said *ret,
    struct writ_err *err)
{
    struct writ_outcome outcome = {0};

    WRIT_TRY(writ_outcome_read(value, arena, &outcome, err));
    return writ_said_outcome(&outcome, ret, err);
}

static WRIT_RESULT
read_seal(const struct writ_json *value, struct writ_arena *arena, struct writ_said *ret,
    struct writ_err *err)
{
    struct writ_seal seal = {0};

    WRIT_TRY(writ_seal_read(value, arena, &seal, err));
    *ret = (struct writ_said){
        .row = {.kind = WRIT_ROW_SEAL}, .boundary_id = writ_member_view(&seal.boundary_id)};
    if (!read_number(&seal.total, &ret->row.seq) ||
        !read_time(&seal.sealed_at, &ret->row.time_us)) {
        UNLIKE(err, "seal without total or time");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
read_review(const struct writ_json *value, struct writ_arena *arena, struct writ_said *ret,
    struct writ_err *err)
{
    struct writ_review_record record = {0};

    WRIT_TRY(writ_review_record_read(value, arena, &record, err));
    *ret = (struct writ_said){
        .row = {.kind = WRIT_ROW_REVIEW, .decision_id = writ_member_view(&record.decision_id)},
        .boundary_id = writ_member_view(&record.boundary_id)};
    if (!read_time(&record.at, &ret->row.time_us)) {
        UNLIKE(err, "event of a review without time");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
read_fact(const struct writ_json *value, struct writ_said *ret, struct writ_err *err)
{
    struct writ_fact fact = {0};

    WRIT_TRY(writ_fact_read(value, &fact, err));
    *ret = (struct writ_said){.row = {.kind = WRIT_ROW_FACT, .seq = fact.n, .time_us = fact.at_us}};
    return WRIT_DONE;
}

static WRIT_RESULT
read_value(const struct writ_json *value, struct writ_arena *arena, struct writ_said *ret,
    struct writ_err *err)
{
    if (writ_json_get(value, WRIT_LIT("decision")) != NULL) {
        return read_decision(value, arena, ret, err);
    }
    if (writ_json_get(value, WRIT_LIT("outcome")) != NULL) {
        return read_outcome(value, arena, ret, err);
    }
    if (writ_json_get(value, WRIT_LIT("sealed")) != NULL) {
        return read_seal(value, arena, ret, err);
    }
    if (writ_json_get(value, WRIT_LIT("data")) != NULL) {
        return read_fact(value, ret, err);
    }
    return read_review(value, arena, ret, err);
}

WRIT_RESULT
writ_said_read(
    struct writ_view body, struct writ_arena *arena, struct writ_said *ret, struct writ_err *err)
{
    const struct writ_json *value = NULL;
    writ_result read = writ_body_json(body, arena, &value, err);

    if (writ_is_ok(read)) {
        read = read_value(value, arena, ret, err);
    }
    if (read.code == WRIT_E_PARSE || read.code == WRIT_E_LIMIT || read.code == WRIT_E_INVALID) {
        UNLIKE(err, "such record");
    }
    return read;
}

/* Several members of a writ_said point into the struct itself: compare it where it was made. */
bool
writ_said_same(const struct writ_said *said, const struct writ_row *row)
{
    const struct writ_row *told = &said->row;
    bool claims = told->claim != NULL;

    return told->kind == row->kind && told->verdict == row->verdict &&
           told->time_us == row->time_us &&
           (told->kind == WRIT_ROW_REVIEW || told->seq == row->seq) &&
           told->flags == (row->flags & ~(unsigned)WRIT_ROW_FOLLOWS) &&
           writ_view_equal(told->decision_id, row->decision_id) &&
           writ_view_equal(told->agent_id, row->agent_id) &&
           writ_view_equal(told->tool, row->tool) && claims == (row->claim != NULL) &&
           (!claims || writ_view_equal(writ_view(said->tags, sizeof said->tags),
                           writ_view(row->claim, WRIT_DISK_CLAIM_BYTES)));
}
