/* docs/evidence.md: the call that the guide follows from its arguments to its seal is recorded as
 * Writ records it. The page has four JSON texts: arguments, decision, outcome, seal. */
#include "evidence/record/derive.h"
#include "support/evidence/governance.h"
#include "support/unit.h"
#include "support/evidence/value.h"

#include "base/text.h"

#define PAGE_MAX 65536

/* The n-th block of the page that is marked as JSON. */
static const struct writ_json *
example(struct writ_arena *arena, size_t n)
{
    writ_auto_buf page = writ_buf_make(PAGE_MAX);
    struct writ_view begin = WRIT_LIT("```json\n"), end = WRIT_LIT("\n```"), rest;
    size_t at;

    ck_assert_ok(writ_text_file(WRIT_SOURCE_DIR "/docs/evidence.md", PAGE_MAX, &page, NULL));
    rest = writ_buf_view(&page);
    for (size_t i = 0; i <= n; i++) {
        at = writ_view_search(rest, begin);
        ck_assert_msg(at < rest.len, "docs/evidence.md has no JSON text %zu", n);
        rest = writ_view_sub(rest, at + begin.len, rest.len);
    }
    return writ_value_of(arena, writ_view_sub(rest, 0, writ_view_search(rest, end)));
}

static void
expect_no_faults(const struct writ_faults *faults)
{
    writ_auto_buf line = writ_buf_make(8192);

    writ_faults_put(faults, &line);
    ck_assert_msg(faults->count == 0, WRIT_VIEW_FMT, WRIT_VIEW_ARG(writ_buf_view(&line)));
}

START_TEST(guide_records_are_valid_and_recompute)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_profile *profile = writ_profile_default();
    struct writ_decision decision = writ_governance_decision(arena, example(arena, 1));
    struct writ_outcome outcome = writ_governance_outcome(arena, example(arena, 2));
    struct writ_seal seal = writ_governance_seal(arena, example(arena, 3));
    struct writ_member_text params = writ_governance_hash(arena, example(arena, 0));
    struct writ_member_text receipt = writ_governance_derive(
        arena, profile, WRIT_PROFILE_OUTCOME_RECEIPT_REF, &decision, &outcome);
    struct writ_faults faults = {0};

    writ_decision_validate(&decision, &faults);
    writ_outcome_validate(&outcome, &faults);
    writ_seal_validate(&seal, &faults);
    ck_assert_ok(writ_decision_recompute(&decision, profile, &faults, NULL));
    expect_no_faults(&faults);
    ck_assert(writ_member_text_equal(&decision.params_hash, &params, false));
    ck_assert(writ_member_text_equal(&outcome.receipt_ref, &receipt, false));
    ck_assert_ok(writ_outcome_join(&outcome, &decision, profile, NULL));
}
END_TEST

START_TEST(guide_implicit_key_is_that_of_the_call)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_decision decision = writ_governance_decision(arena, example(arena, 1));
    struct writ_extension extension;
    struct writ_member_text key;
    struct writ_digest call;
    char text[WRIT_DIGEST_TEXT];

    ck_assert_ok(writ_extension_read(&decision.extensions, arena, &extension, NULL));
    ck_assert_ok(writ_decision_state_free(
        &decision, extension.tenant.view, extension.upstream.view, &call, NULL));
    writ_digest_text(&call, text);
    ck_assert_view(extension.state_free.view, text);
    ck_assert_ok(writ_decision_auto_key(decision.boundary_id.view, &call, arena, &key, NULL));
    ck_assert(writ_member_text_equal(&decision.idempotency_key, &key, false));
    ck_assert_view(extension.profile.view, writ_profile_default()->name.ptr);
}
END_TEST

START_TEST(guide_run_is_complete)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_completeness_set *set = writ_completeness_new(1);
    struct writ_decision decision = writ_governance_decision(arena, example(arena, 1));
    struct writ_seal seal = writ_governance_seal(arena, example(arena, 3));
    struct writ_completeness report;

    ck_assert_ok(writ_completeness_add(set, &decision, NULL));
    writ_completeness_seal(set, &seal);
    ck_assert_ok(writ_completeness_report(set, arena, &report, NULL));
    writ_completeness_free(set);
    ck_assert(report.whole);
}
END_TEST

WRIT_UNIT_MAIN("evidence_guide", guide_records_are_valid_and_recompute,
    guide_implicit_key_is_that_of_the_call, guide_run_is_complete)
