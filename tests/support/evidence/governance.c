/* Reads records from vectors and compares digests. Expected values come from the vectors alone. */
#include "support/evidence/governance.h"

#include "support/unit.h"
#include "support/evidence/value.h"

#define SET_MAX 10000

struct writ_decision
writ_governance_decision(struct writ_arena *arena, const struct writ_json *value)
{
    struct writ_decision decision;

    ck_assert_ok(writ_decision_read(value, arena, &decision, NULL));
    return decision;
}

struct writ_outcome
writ_governance_outcome(struct writ_arena *arena, const struct writ_json *value)
{
    struct writ_outcome outcome;

    ck_assert_ok(writ_outcome_read(value, arena, &outcome, NULL));
    return outcome;
}

struct writ_seal
writ_governance_seal(struct writ_arena *arena, const struct writ_json *value)
{
    struct writ_seal seal;

    ck_assert_ok(writ_seal_read(value, arena, &seal, NULL));
    return seal;
}

static struct writ_member_text
digest_text(struct writ_arena *arena, const struct writ_digest *digest)
{
    char *text = writ_arena_get(arena, WRIT_DIGEST_TEXT);

    ck_assert_ptr_nonnull(text);
    writ_digest_text(digest, text);
    return writ_member_text(writ_view_str(text));
}

struct writ_member_text
writ_governance_hash(struct writ_arena *arena, const struct writ_json *value)
{
    struct writ_digest digest;

    if (writ_json_type(value) == WRIT_JSON_NULL) {
        return (struct writ_member_text){WRIT_NULL, {0}};
    }
    ck_assert_ok(writ_digest_json(value, WRIT_RECORD_MAX_BYTES, &digest, NULL));
    return digest_text(arena, &digest);
}

struct writ_member_text
writ_governance_derive(struct writ_arena *arena, const struct writ_profile *profile,
    enum writ_profile_field field, const struct writ_decision *decision,
    const struct writ_outcome *outcome)
{
    writ_auto_buf scratch = writ_buf_make(WRIT_PROFILE_MAX_PREIMAGE);
    struct writ_digest digest;
    bool complete = false;

    ck_assert_ok(
        writ_profile_derive(profile, field, decision, outcome, &scratch, &digest, &complete, NULL));
    return complete ? digest_text(arena, &digest) : (struct writ_member_text){WRIT_ABSENT, {0}};
}

void
writ_governance_expect(const char *id, const struct writ_json *vector, const char *name,
    const struct writ_member_text *got)
{
    const struct writ_json *want = writ_value_get(vector, name);

    if (writ_json_type(want) == WRIT_JSON_NULL) {
        ck_assert_msg(
            got->is == WRIT_NULL || got->is == WRIT_ABSENT, "%s: %s is not null", id, name);
        return;
    }
    ck_assert_msg(got->is == WRIT_PRESENT && writ_json_is(want, got->view),
        "%s: %s is " WRIT_VIEW_FMT, id, name, WRIT_VIEW_ARG(got->view));
}

const char *
writ_governance_id(struct writ_arena *arena, const struct writ_json *vector)
{
    return writ_view_copy(writ_json_string(writ_value_get(vector, "id")), arena).ptr;
}

static void
set_free(struct writ_completeness_set **set)
{
    writ_completeness_free(*set);
}

struct writ_completeness
writ_governance_report(
    struct writ_arena *arena, const struct writ_json *decisions, const struct writ_json *seal)
{
    WRIT_AUTO(struct writ_completeness_set *, set_free) set = writ_completeness_new(SET_MAX);
    struct writ_completeness report;

    ck_assert_ptr_nonnull(set);
    WRIT_JSON_EACH(value, decisions)
    {
        struct writ_decision decision = writ_governance_decision(arena, value);
        ck_assert_ok(writ_completeness_add(set, &decision, NULL));
    }
    if (writ_json_type(seal) == WRIT_JSON_OBJECT) {
        struct writ_seal held = writ_governance_seal(arena, seal);
        writ_completeness_seal(set, &held);
    }
    ck_assert_ok(writ_completeness_report(set, arena, &report, NULL));
    return report;
}
