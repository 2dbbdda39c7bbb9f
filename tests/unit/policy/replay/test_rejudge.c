/* A past call is decided as the gateway would decide it by the configuration; what a record does
 * not have is no change. */
#include "policy/replay/rejudge.h"

#include "support/evidence/value.h"
#include "support/policy/ruling.h"
#include "support/unit.h"

#define DEV                                                                                        \
    "agents:\n"                                                                                    \
    "  - {id: dev, tenant: acme, role: operator, bearer_sha256: "                                  \
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08}\n"

#define REVIEWS                                                                                    \
    "reviewers: {ann: {}}\nreviews:\n  desk: {voters: [{id: ann}]}\n"                              \
    "  own: {voters: [{id: dev}]}\n"

/* What became of a call of dev with `arguments`, by the configuration. */
static struct writ_rejudge_verdict
decide(const struct writ_config *config, const struct writ_past *past, const char *arguments,
    bool in_part, struct writ_arena *arena)
{
    struct writ_rejudge_side side = {.config = config};
    struct writ_rejudge_call call = {.past = past,
        .arguments = writ_value_of(arena, writ_view_str(arguments)),
        .in_part = in_part};
    struct writ_rejudge_verdict verdict;

    writ_rejudge_decide(&side, &call, arena, &verdict);
    return verdict;
}

static struct writ_past
call_of(const char *agent, const char *tool)
{
    return (struct writ_past){.decision_id = WRIT_LIT("d1"),
        .agent = {.id = writ_view_str(agent),
            .tenant = WRIT_LIT("acme"),
            .role = WRIT_LIT("operator")},
        .upstream = WRIT_LIT("u"),
        .tool = writ_view_str(tool),
        .effect = WRIT_EFFECT_ALLOWED};
}

struct effect_case {
    const char *rule, *arguments;
    enum writ_effect effect;
    enum writ_reason reason;
    const char *constraint;
    bool shadowed, annotated;
};

START_TEST(decide_gives_the_effect_of_a_rule)
{
    static const struct effect_case cases[] = {
        {"scope: s, arguments: [{arg: a, op: le, value: 5}]", "{\"a\":5}", WRIT_EFFECT_ALLOWED,
            WRIT_REASON_NONE, "", false, false},
        {"scope: s, arguments: [{arg: a, op: le, value: 5}]", "{\"a\":6}", WRIT_EFFECT_REFUSED,
            WRIT_REASON_CONSTRAINT_FAILED, "a le", false, false},
        {"scope: s, arguments: [{arg: a, op: le, value: 5}]", "{\"a\":1,\"b\":2}",
            WRIT_EFFECT_REFUSED, WRIT_REASON_ARGUMENT_NOT_LISTED, "", false, false},
        {"scope: s, shadow: true, arguments: [{arg: a, op: le, value: 5}]", "{\"a\":6}",
            WRIT_EFFECT_ALLOWED, WRIT_REASON_CONSTRAINT_FAILED, "a le", true, false},
        {"scope: \"s/{b}\", shadow: true, arguments: [{arg: a, op: le, value: 5}]", "{\"a\":6}",
            WRIT_EFFECT_REFUSED, WRIT_REASON_CONSTRAINT_FAILED, "a le", false, false},
        {"scope: s, arguments: [{arg: a, op: le, value: 5}], approval: {review: desk}", "{\"a\":1}",
            WRIT_EFFECT_REVIEW, WRIT_REASON_APPROVAL_REQUIRED, "desk", false, false},
        {"scope: s, arguments: [{arg: a, op: le, value: 5}], approval: {review: own}", "{\"a\":1}",
            WRIT_EFFECT_REFUSED, WRIT_REASON_REVIEW_UNAVAILABLE, "own", false, false},
        {"scope: s, shadow: true, arguments: [{arg: a, op: le, value: 5}], approval: {review: "
         "desk}",
            "{\"a\":1}", WRIT_EFFECT_ALLOWED, WRIT_REASON_APPROVAL_REQUIRED, "desk", true, false},
        {"scope: s, arguments: [{arg: a, op: le, value: 5}], "
         "approval: {review: desk, annotations: {destructiveHint: true}}",
            "{\"a\":1}", WRIT_EFFECT_REVIEW, WRIT_REASON_APPROVAL_REQUIRED, "desk", false, true},
        {"scope: s, agents: [ann], arguments: []", "{}", WRIT_EFFECT_REFUSED,
            WRIT_REASON_AGENT_NOT_PERMITTED, "", false, false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_arena arena = writ_value_arena();
        writ_auto_buf yaml = writ_buf_make(8192);
        struct writ_past past = call_of("dev", "t");
        struct writ_rejudge_verdict verdict;
        struct writ_config *config;

        writ_buf_fmt(&yaml, "%s%stools:\n  u/t: {%s}\n", DEV, REVIEWS, cases[i].rule);
        writ_buf_byte(&yaml, '\0');
        config = writ_ruling_config(yaml.ptr);
        verdict = decide(config, &past, cases[i].arguments, false, arena);
        ck_assert_msg(verdict.effect == cases[i].effect && verdict.reason == cases[i].reason,
            "%s of %s: %s, " WRIT_VIEW_FMT, cases[i].arguments, cases[i].rule,
            writ_past_effect_word(verdict.effect).ptr,
            WRIT_VIEW_ARG(writ_reason_name(verdict.reason)));
        ck_assert_view(verdict.constraint, cases[i].constraint);
        ck_assert_msg(verdict.shadowed == cases[i].shadowed &&
                          verdict.annotated == cases[i].annotated && !verdict.in_part,
            "%s", cases[i].rule);
        writ_config_drop(config);
    }
}
END_TEST

START_TEST(decide_takes_the_caller_from_the_configuration)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_config *static_agents =
        writ_ruling_config(DEV "tools:\n  u/t: {scope: s, roles: [operator], arguments: []}\n");
    struct writ_config *no_agents =
        writ_ruling_config("tools:\n  u/t: {scope: s, roles: [operator], arguments: []}\n");
    struct writ_config *issuer =
        writ_ruling_config(DEV "  - {issuer: i, audience: a, jwks: k}\n"
                               "tools:\n  u/t: {scope: s, roles: [operator], arguments: []}\n");
    struct writ_past dev = call_of("dev", "t"), gone = call_of("gone", "t");

    dev.agent.role = WRIT_LIT("intern"); /* its entry has another role now */
    ck_assert_int_eq(decide(static_agents, &dev, "{}", false, arena).effect, WRIT_EFFECT_ALLOWED);
    ck_assert_int_eq(
        decide(no_agents, &dev, "{}", false, arena).reason, WRIT_REASON_AGENT_NOT_PERMITTED);
    ck_assert_int_eq(
        decide(static_agents, &gone, "{}", false, arena).reason, WRIT_REASON_UNAUTHENTICATED);
    ck_assert_int_eq(decide(no_agents, &gone, "{}", false, arena).effect, WRIT_EFFECT_ALLOWED);
    ck_assert_int_eq(decide(issuer, &gone, "{}", false, arena).effect, WRIT_EFFECT_ALLOWED);
    dev.agent.tenant = WRIT_LIT("other"); /* a token of the issuer, in another tenant */
    ck_assert_int_eq(
        decide(issuer, &dev, "{}", false, arena).reason, WRIT_REASON_AGENT_NOT_PERMITTED);
    writ_config_drop(static_agents);
    writ_config_drop(no_agents);
    writ_config_drop(issuer);
}
END_TEST

START_TEST(decide_lends_scopes_unless_the_record_missed_them)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_config *config = writ_ruling_config(
        "tools:\n  u/t: {scope: s, scopes: [files:read, files:write], arguments: []}\n");
    struct writ_config *static_agents =
        writ_ruling_config(DEV "tools:\n  u/t: {scope: s, scopes: [files:read], arguments: []}\n");
    struct writ_past past = call_of("dev", "t");

    ck_assert_int_eq(decide(config, &past, "{}", false, arena).effect, WRIT_EFFECT_ALLOWED);
    ck_assert_int_eq(
        decide(static_agents, &past, "{}", false, arena).reason, WRIT_REASON_INSUFFICIENT_SCOPE);
    past.reason = WRIT_REASON_INSUFFICIENT_SCOPE;
    ck_assert_int_eq(
        decide(config, &past, "{}", false, arena).reason, WRIT_REASON_INSUFFICIENT_SCOPE);
    writ_config_drop(config);
    writ_config_drop(static_agents);
}
END_TEST

START_TEST(decide_follows_a_renamed_upstream)
{
    static const struct writ_pair renamed[] = {{{"u", 1}, {"files", 5}}};
    writ_auto_arena arena = writ_value_arena();
    struct writ_config *config =
        writ_ruling_config("upstreams:\n  files: {http: \"http://127.0.0.1:1/mcp\"}\n"
                           "tools:\n  files/t: {scope: s, arguments: []}\n");
    struct writ_past past = call_of("dev", "t");
    struct writ_rejudge_side side = {.config = config};
    struct writ_rejudge_call call = {
        .past = &past, .arguments = writ_value_of(arena, WRIT_LIT("{}"))};
    struct writ_rejudge_verdict verdict;

    writ_rejudge_decide(&side, &call, arena, &verdict);
    ck_assert_int_eq(verdict.reason, WRIT_REASON_UPSTREAM_NOT_LISTED);
    side.renamed = renamed;
    side.renamed_n = 1;
    writ_rejudge_decide(&side, &call, arena, &verdict);
    ck_assert_int_eq(verdict.effect, WRIT_EFFECT_ALLOWED);
    ck_assert_view(verdict.upstream, "files");
    writ_config_drop(config);
}
END_TEST

START_TEST(decide_without_secret_members_is_certain_only_of_other_refusals)
{
    static const struct {
        const char *arguments;
        enum writ_effect effect;
        bool in_part;
        const char *constraint;
    } cases[] = {
        {"{\"a\":1}", WRIT_EFFECT_REFUSED, true, "pin min_length"},
        {"{\"a\":6}", WRIT_EFFECT_REFUSED, false, "a le"},
        {"{\"a\":1,\"b\":1}", WRIT_EFFECT_REFUSED, false, ""},
    };
    struct writ_config *config = writ_ruling_config(
        "tools:\n  u/t: {scope: s, arguments: [{arg: pin, op: min_length, value: 4}, "
        "{arg: a, op: le, value: 5}]}\n  u/o: {scope: s, arguments: ["
        "{arg: pin, op: min_length, value: 4, optional: true}, {arg: a, op: le, value: 5}]}\n");
    writ_auto_arena arena = writ_value_arena();
    struct writ_past past = call_of("dev", "t"), other = call_of("dev", "o");
    struct writ_rejudge_verdict verdict;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        verdict = decide(config, &past, cases[i].arguments, true, arena);
        ck_assert_msg(
            verdict.effect == cases[i].effect && verdict.in_part == cases[i].in_part, "%zu", i);
        ck_assert_view(verdict.constraint, cases[i].constraint);
    }
    verdict = decide(config, &other, "{\"a\":1}", true, arena);
    ck_assert(verdict.effect == WRIT_EFFECT_ALLOWED && verdict.in_part);
    writ_config_drop(config);
}
END_TEST

START_TEST(exceed_refuses_a_call_that_would_draw)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_config *config =
        writ_ruling_config("tools:\n  u/t: {scope: s, arguments: [], budgets: "
                           "[{name: few, calls: 2, window: 1h}]}\n"
                           "  u/s: {scope: s, shadow: true, arguments: [], budgets: "
                           "[{name: few, calls: 2, window: 1h}]}\n");
    struct writ_past past = call_of("dev", "t"), shadow = call_of("dev", "s");
    struct writ_rejudge_verdict verdict = decide(config, &past, "{}", false, arena);

    ck_assert(writ_rejudge_draws(&past, &verdict));
    writ_rejudge_exceed(0, &verdict);
    ck_assert_int_eq(verdict.effect, WRIT_EFFECT_REFUSED);
    ck_assert_int_eq(verdict.reason, WRIT_REASON_BUDGET_EXCEEDED);
    ck_assert_view(verdict.constraint, "few");
    ck_assert(!writ_rejudge_draws(&past, &verdict));
    verdict = decide(config, &shadow, "{}", false, arena);
    writ_rejudge_exceed(0, &verdict);
    ck_assert(verdict.effect == WRIT_EFFECT_ALLOWED && verdict.shadowed);
    writ_config_drop(config);
}
END_TEST

START_TEST(draws_counts_a_call_once_and_when_it_is_made)
{
    static const struct {
        bool apart, continues, approved;
        enum writ_effect effect;
        bool draws;
    } cases[] = {
        {false, false, false, WRIT_EFFECT_ALLOWED, true},
        {false, false, false, WRIT_EFFECT_REFUSED, false},
        {false, false, false, WRIT_EFFECT_REVIEW, false},
        {true, false, false, WRIT_EFFECT_ALLOWED, false},
        {false, true, false, WRIT_EFFECT_ALLOWED, false},
        {false, true, true, WRIT_EFFECT_ALLOWED, false},
        {false, true, true, WRIT_EFFECT_REVIEW, true},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct writ_past past = {.apart = cases[i].apart,
            .continues = cases[i].continues,
            .approved = cases[i].approved};
        struct writ_rejudge_verdict verdict = {
            .effect = cases[i].effect, .policy = {.reservations_n = 1}};

        ck_assert_msg(writ_rejudge_draws(&past, &verdict) == cases[i].draws, "%zu", i);
    }
}
END_TEST

START_TEST(compare_gives_the_change_of_the_effect)
{
    static const struct {
        struct writ_rejudge_verdict before, after;
        enum writ_rejudge_change change;
    } cases[] = {
        {{.effect = WRIT_EFFECT_ALLOWED}, {.effect = WRIT_EFFECT_ALLOWED}, WRIT_REJUDGE_SAME},
        {{.effect = WRIT_EFFECT_REFUSED, .reason = WRIT_REASON_CONSTRAINT_FAILED},
            {.effect = WRIT_EFFECT_REFUSED, .reason = WRIT_REASON_TOOL_NOT_LISTED},
            WRIT_REJUDGE_SAME},
        {{.effect = WRIT_EFFECT_ALLOWED}, {.effect = WRIT_EFFECT_REFUSED}, WRIT_REJUDGE_REFUSED},
        {{.effect = WRIT_EFFECT_REFUSED}, {.effect = WRIT_EFFECT_ALLOWED}, WRIT_REJUDGE_ALLOWED},
        {{.effect = WRIT_EFFECT_REFUSED}, {.effect = WRIT_EFFECT_REVIEW}, WRIT_REJUDGE_REVIEW},
        {{.effect = WRIT_EFFECT_ALLOWED}, {.effect = WRIT_EFFECT_REVIEW}, WRIT_REJUDGE_REVIEW},
        {{.effect = WRIT_EFFECT_ALLOWED}, {.effect = WRIT_EFFECT_REVIEW, .annotated = true},
            WRIT_REJUDGE_UNKNOWN},
        {{.effect = WRIT_EFFECT_REVIEW, .annotated = true}, {.effect = WRIT_EFFECT_ALLOWED},
            WRIT_REJUDGE_UNKNOWN},
        {{.effect = WRIT_EFFECT_REFUSED}, {.effect = WRIT_EFFECT_REVIEW, .annotated = true},
            WRIT_REJUDGE_REVIEW},
        {{.effect = WRIT_EFFECT_ALLOWED}, {.effect = WRIT_EFFECT_REFUSED, .in_part = true},
            WRIT_REJUDGE_UNKNOWN},
        {{.effect = WRIT_EFFECT_ALLOWED}, {.effect = WRIT_EFFECT_ALLOWED, .in_part = true},
            WRIT_REJUDGE_SAME},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ck_assert_msg(
            writ_rejudge_compare(&cases[i].before, &cases[i].after) == cases[i].change, "%zu", i);
    }
    ck_assert_view(writ_rejudge_change_name(WRIT_REJUDGE_REFUSED), "refused");
    ck_assert_view(writ_rejudge_change_title(WRIT_REJUDGE_ALLOWED), "newly allowed");
    ck_assert_uint_eq(writ_rejudge_change_name(WRIT_REJUDGE_SAME).len, 0);
}
END_TEST

START_TEST(recorded_gives_the_verdict_of_the_record)
{
    struct writ_past past = call_of("dev", "t");
    struct writ_rejudge_verdict verdict;

    past.effect = WRIT_EFFECT_REFUSED;
    past.reason = WRIT_REASON_CONSTRAINT_FAILED;
    past.argument = WRIT_LIT("/a");
    past.constraint = WRIT_LIT("a le");
    writ_rejudge_recorded(&past, &verdict);
    ck_assert_int_eq(verdict.effect, WRIT_EFFECT_REFUSED);
    ck_assert_int_eq(verdict.reason, WRIT_REASON_CONSTRAINT_FAILED);
    ck_assert_view(verdict.argument, "/a");
    ck_assert_view(verdict.constraint, "a le");
    ck_assert(!verdict.annotated && !verdict.in_part);
}
END_TEST

WRIT_UNIT_MAIN("rejudge", decide_gives_the_effect_of_a_rule,
    decide_takes_the_caller_from_the_configuration,
    decide_lends_scopes_unless_the_record_missed_them, decide_follows_a_renamed_upstream,
    decide_without_secret_members_is_certain_only_of_other_refusals,
    exceed_refuses_a_call_that_would_draw, draws_counts_a_call_once_and_when_it_is_made,
    compare_gives_the_change_of_the_effect, recorded_gives_the_verdict_of_the_record)
