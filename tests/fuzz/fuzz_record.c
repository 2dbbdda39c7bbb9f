/* For every JSON value: reading it as a record and writing it again gives its canonical form, for
 * decisions, outcomes and seals alike (nothing is lost or repaired); and whatever was read can be
 * validated, recomputed, joined, bound and counted. */
#include "evidence/record/derive.h"
#include "support/fuzz.h"

#include "evidence/json/jcs.h"
#include "evidence/proof/completeness.h"
#include "evidence/record/binding.h"
#include "evidence/record/profile.h"
#include "evidence/record/record.h"

#define ARENA_MAX ((size_t)1 << 26)

static struct writ_arena *arena;

/* The written text is the canonical form of the text that was read, or neither exists. */
static void
check_written(writ_result put, const struct writ_buf *got, const struct writ_json *value)
{
    writ_auto_buf want = writ_buf_make(WRIT_RECORD_MAX_BYTES);
    writ_result canonical = writ_jcs_put(&want, value, NULL);

    WRIT_INVARIANT(put.code == canonical.code);
    WRIT_INVARIANT(!writ_is_ok(put) || writ_view_equal(writ_buf_view(got), writ_buf_view(&want)));
}

static void
check_round_trips(const struct writ_json *value, const struct writ_decision *decision,
    const struct writ_outcome *outcome, const struct writ_seal *seal)
{
    writ_auto_buf text = writ_buf_make(WRIT_RECORD_MAX_BYTES);

    check_written(writ_decision_put(decision, &text, NULL), &text, value);
    writ_buf_clear(&text);
    check_written(writ_outcome_put(outcome, &text, NULL), &text, value);
    writ_buf_clear(&text);
    check_written(writ_seal_put(seal, &text, NULL), &text, value);
}

static void
check_faults(const struct writ_decision *decision, const struct writ_outcome *outcome,
    const struct writ_seal *seal)
{
    writ_auto_buf line = writ_buf_make(65536);
    struct writ_faults faults = {0};

    writ_decision_validate(decision, &faults);
    writ_outcome_validate(outcome, &faults);
    writ_seal_validate(seal, &faults);
    for (size_t i = 0; writ_profile_at(i) != NULL; i++) {
        WRIT_INVARIANT(
            writ_is_ok(writ_decision_recompute(decision, writ_profile_at(i), &faults, NULL)));
    }
    writ_faults_put(&faults, &line);
    WRIT_INVARIANT((faults.count == 0) == (line.len == 0));
}

/* An outcome joins only a decision with its id, and never one whose own digests are wrong. */
static void
check_join(const struct writ_decision *decision, const struct writ_outcome *outcome)
{
    writ_result joined = writ_outcome_join(outcome, decision, writ_profile_default(), NULL);
    struct writ_faults faults = {0};

    WRIT_INVARIANT(joined.code == WRIT_OK || joined.code == WRIT_E_MISMATCH);
    if (writ_is_ok(joined) && decision->intent_ref.is == WRIT_PRESENT) {
        WRIT_INVARIANT(
            writ_is_ok(writ_decision_recompute(decision, writ_profile_default(), &faults, NULL)));
        for (size_t i = 0; i < faults.count; i++) {
            WRIT_INVARIANT(!writ_view_is(writ_view_str(faults.list[i].pointer), "/intent_ref"));
        }
    }
}

/* Whatever a record says, only a whole and living allow binds its own call. */
static void
check_binding(const struct writ_decision *decision)
{
    struct writ_binding_set none = {NULL, 0};
    struct writ_candidate candidate = {
        .agent_id = decision->agent_id,
        .tool = decision->tool,
        .target = decision->target,
        .normalized_scope = decision->normalized_scope,
        .params_hash = decision->params_hash,
        .continuation_id = decision->continuation_id,
        .idempotency_key = decision->idempotency_key,
        .target_state_digest = decision->target_state_digest,
    };
    struct writ_binding binding;
    int64_t now_us = 0;

    WRIT_INVARIANT(
        writ_is_ok(writ_binding_derive(&candidate, decision, writ_profile_default(), arena, NULL)));
    if (decision->issued_at.is == WRIT_PRESENT) {
        (void)writ_member_time(decision->issued_at.view, &now_us);
    }
    binding = writ_binding_check(decision, &candidate, now_us, writ_binding_outcomes(&none));
    WRIT_INVARIANT(binding.reason != WRIT_REASON_NONE);
    WRIT_INVARIANT((binding.verdict == WRIT_BINDING_ALLOW) ==
                   (binding.reason == WRIT_REASON_CONTRACT_BINDING_OK));
    if (binding.verdict == WRIT_BINDING_ALLOW) {
        WRIT_INVARIANT(writ_decision_is(decision, WRIT_DECISION_ALLOW));
        WRIT_INVARIANT(decision->normalized_scope.is == WRIT_PRESENT);
    }
}

static void
check_completeness(const struct writ_decision *decision, const struct writ_seal *seal)
{
    struct writ_completeness_set *set = writ_completeness_new(2);
    struct writ_completeness report;

    WRIT_INVARIANT(set != NULL);
    WRIT_INVARIANT(writ_is_ok(writ_completeness_add(set, decision, NULL)));
    WRIT_INVARIANT(writ_is_ok(writ_completeness_report(set, arena, &report, NULL)));
    WRIT_INVARIANT(!report.whole || report.expected == 1);
    WRIT_INVARIANT(writ_is_ok(writ_completeness_add(set, decision, NULL)));
    writ_completeness_seal(set, seal);
    WRIT_INVARIANT(writ_is_ok(writ_completeness_report(set, arena, &report, NULL)));
    WRIT_INVARIANT(!report.whole); /* the same record twice */
    writ_completeness_free(set);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct writ_json *value = NULL;
    struct writ_decision decision;
    struct writ_outcome outcome;
    struct writ_seal seal;
    struct writ_extension extension;

    if (arena == NULL) {
        arena = writ_arena_new(ARENA_MAX);
        WRIT_INVARIANT(arena != NULL);
    }
    writ_arena_reset(arena);
    if (!writ_is_ok(writ_json_read(
            writ_view(data, size), &writ_json_limits_default, arena, &value, NULL)) ||
        !writ_is_ok(writ_decision_read(value, arena, &decision, NULL)) ||
        !writ_is_ok(writ_outcome_read(value, arena, &outcome, NULL)) ||
        !writ_is_ok(writ_seal_read(value, arena, &seal, NULL))) {
        return 0;
    }
    check_round_trips(value, &decision, &outcome, &seal);
    check_faults(&decision, &outcome, &seal);
    check_join(&decision, &outcome);
    check_binding(&decision);
    check_completeness(&decision, &seal);
    if (!writ_is_ok(writ_extension_read(&decision.extensions, arena, &extension, NULL))) {
        WRIT_INVARIANT(writ_json_type(decision.extensions.value) == WRIT_JSON_OBJECT);
    }
    return 0;
}
