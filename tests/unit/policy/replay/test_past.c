/* A record tells what became of its call, and whether the configuration or something else refused
 * it. */
#include "policy/replay/past.h"

#include "support/evidence/value.h"
#include "support/unit.h"

/* The past of a decision of JSON text; its views live in the arena. */
static struct writ_past
past_of(struct writ_arena *arena, const char *text)
{
    struct writ_decision decision = {0};
    struct writ_extension extension = {0};
    struct writ_past past = {0};

    ck_assert_ok(
        writ_decision_read(writ_value_of(arena, writ_view_str(text)), arena, &decision, NULL));
    ck_assert_ok(writ_extension_read(&decision.extensions, arena, &extension, NULL));
    ck_assert_ok(writ_past_of(&decision, &extension, &past, NULL));
    return past;
}

#define CALL                                                                                       \
    "\"decision_id\":\"d1\",\"agent_id\":\"dev\",\"tool\":\"t\","                                  \
    "\"issued_at\":\"2026-11-21T22:20:00.5Z\""

START_TEST(past_of_a_decision_has_its_caller_and_tool)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_past past = past_of(arena,
        "{" CALL ",\"agent_role\":\"ops\",\"decision\":\"allow\",\"extensions\":{\"writ\":"
        "{\"tenant\":\"acme\",\"upstream\":\"u\"}}}");

    ck_assert_view(past.decision_id, "d1");
    ck_assert_view(past.agent.id, "dev");
    ck_assert_view(past.agent.role, "ops");
    ck_assert_view(past.agent.tenant, "acme");
    ck_assert_view(past.upstream, "u");
    ck_assert_view(past.tool, "t");
    ck_assert_int_eq(past.issued_us, 1795299600500000);
    ck_assert_int_eq(past.effect, WRIT_EFFECT_ALLOWED);
    ck_assert(!past.apart && !past.continues && !past.approved && !past.shadow);
}
END_TEST

struct effect_case {
    const char *members, *writ;
    enum writ_effect effect;
    bool apart, continues, approved;
};

START_TEST(past_of_each_verdict_has_its_effect)
{
    static const struct effect_case cases[] = {
        {"\"decision\":\"allow\"", "", WRIT_EFFECT_ALLOWED, false, false, false},
        {"\"decision\":\"deny\"", "\"reason\":\"constraint_failed\"", WRIT_EFFECT_REFUSED, false,
            false, false},
        {"\"decision\":\"deny\"", "\"reason\":\"budget_exceeded\"", WRIT_EFFECT_REFUSED, false,
            false, false},
        {"\"decision\":\"deny\"", "\"reason\":\"review_unavailable\"", WRIT_EFFECT_REFUSED, false,
            false, false},
        {"\"decision\":\"deny\"", "\"reason\":\"duplicate_outcome\"", WRIT_EFFECT_REFUSED, true,
            false, false},
        {"\"decision\":\"deny\"", "\"reason\":\"killed\"", WRIT_EFFECT_REFUSED, true, false, false},
        {"\"decision\":\"deny\"", "\"reason\":\"target_state_unavailable\"", WRIT_EFFECT_REFUSED,
            true, false, false},
        {"\"decision\":\"deny\"", "\"reason\":\"definition_changed\"", WRIT_EFFECT_REFUSED, true,
            false, false},
        {"\"decision\":\"deny\"", "\"reason\":\"a_reason_of_a_later_version\"", WRIT_EFFECT_REFUSED,
            true, false, false},
        /* shadow: the call was made */
        {"\"decision\":\"deny\"", "\"reason\":\"constraint_failed\",\"shadow\":true",
            WRIT_EFFECT_ALLOWED, false, false, false},
        /* a review: opened, joined, redeemed, rejected */
        {"\"decision\":\"require_approval\",\"continuation_id\":\"d1\"",
            "\"reason\":\"approval_required\"", WRIT_EFFECT_REVIEW, false, false, false},
        {"\"decision\":\"require_approval\",\"continuation_id\":\"d0\"",
            "\"reason\":\"approval_required\"", WRIT_EFFECT_REVIEW, false, true, false},
        {"\"decision\":\"allow\",\"continuation_id\":\"d0\",\"supersedes\":\"d0\"", "",
            WRIT_EFFECT_ALLOWED, false, true, true},
        {"\"decision\":\"deny\",\"continuation_id\":\"d0\",\"supersedes\":\"d0\"",
            "\"reason\":\"approval_rejected\"", WRIT_EFFECT_REFUSED, true, true, false},
        {"\"decision\":\"revise\",\"continuation_id\":\"d0\",\"supersedes\":\"d0\"",
            "\"reason\":\"revision_requested\"", WRIT_EFFECT_REFUSED, true, true, false},
        /* a round of a call that waits for input */
        {"\"decision\":\"allow\",\"supersedes\":\"d0\"", "\"round\":1", WRIT_EFFECT_ALLOWED, false,
            true, false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_arena arena = writ_value_arena();
        writ_auto_buf text = writ_buf_make(4096);
        struct writ_past past;

        writ_buf_fmt(
            &text, "{" CALL ",%s,\"extensions\":{\"writ\":{%s}}}", cases[i].members, cases[i].writ);
        writ_buf_byte(&text, '\0');
        past = past_of(arena, text.ptr);
        ck_assert_msg(past.effect == cases[i].effect && past.apart == cases[i].apart &&
                          past.continues == cases[i].continues &&
                          past.approved == cases[i].approved,
            "%s", text.ptr);
    }
}
END_TEST

START_TEST(past_of_an_incomplete_decision_fails)
{
    static const char *const texts[] = {
        "{\"decision\":\"allow\"}",
        "{" CALL "}",
        "{" CALL ",\"decision\":\"perhaps\"}",
        "{\"decision_id\":\"d1\",\"agent_id\":\"dev\",\"tool\":\"t\",\"decision\":\"allow\"}",
        "{\"decision_id\":\"d1\",\"agent_id\":\"dev\",\"decision\":\"allow\","
        "\"issued_at\":\"2026-11-21T22:20:00Z\"}",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        writ_auto_arena arena = writ_value_arena();
        struct writ_decision decision = {0};
        struct writ_extension extension = {0};
        struct writ_past past = {.issued_us = 7};

        ck_assert_ok(writ_decision_read(
            writ_value_of(arena, writ_view_str(texts[i])), arena, &decision, NULL));
        ck_assert_code(writ_past_of(&decision, &extension, &past, NULL), WRIT_E_MISMATCH);
        ck_assert_int_eq(past.issued_us, 7);
    }
}
END_TEST

WRIT_UNIT_MAIN("past", past_of_a_decision_has_its_caller_and_tool,
    past_of_each_verdict_has_its_effect, past_of_an_incomplete_decision_fails)
