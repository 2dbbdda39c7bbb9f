/* How reviewers are asked for votes, and the reviewer that is a policy. An approval needs every
 * condition to hold; a rejection needs that none clearly fails. */
#include "policy/decide/opinion.h"
#include "policy/read/load.h"
#include "support/unit.h"
#include "support/evidence/value.h"

#include "policy/decide/approval.h"

#define KEY "{kty: OKP, crv: Ed25519, x: 11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo}"
#define REVIEWS                                                                                    \
    "reviews:\n  finance: {voters: [{id: a}, {id: b}]}\n"                                          \
    "tools:\n  up/pay: {scope: s, arguments: [], approval: {review: finance}}\n"

static struct writ_config *
config_of(const char *reviewers)
{
    writ_auto_buf text = writ_buf_make(8192);
    struct writ_config *config = NULL;
    struct writ_err err = {0};
    writ_result r;

    writ_buf_fmt(&text, "reviewers:\n  a: %s\n" REVIEWS, reviewers);
    r = writ_load_text(writ_buf_view(&text), "t.yaml", NULL, &config, &err);
    ck_assert_msg(writ_is_ok(r), "%s", err.text);
    return config;
}

START_TEST(reviewer_read_takes_each_kind)
{
    struct writ_config *config =
        config_of("{webhook: \"https://judge.example\", secret: s.txt, key: " KEY
                  ", instructions: no more than 500, timeout: 5s}");
    const struct writ_reviewer_config *a = writ_config_reviewer(config, WRIT_LIT("a"));

    ck_assert_ptr_nonnull(a);
    ck_assert_ptr_null(writ_config_reviewer(config, WRIT_LIT("b")));
    ck_assert_int_eq(a->kind, WRIT_REVIEWER_WEBHOOK);
    ck_assert_view(a->path, "/");
    ck_assert_int_eq(a->timeout_us, 5000000);
    ck_assert_uint_gt(a->key.len, 0);
    /* the key is a part of the terms */
    ck_assert(writ_view_equal(config->reviews[0].voters[0].key, a->key));
    ck_assert_uint_eq(config->reviews[0].voters[1].key.len, 0);
    writ_config_drop(config);

    config = config_of("{worker: [python3, judge.py], environment: {A: b}, directory: /tmp}");
    ck_assert_int_eq(config->reviewers[0].kind, WRIT_REVIEWER_WORKER);
    ck_assert_uint_eq(config->reviewers[0].argv.n, 2);
    writ_config_drop(config);

    config = config_of("{instructions: be strict}");
    ck_assert_int_eq(config->reviewers[0].kind, WRIT_REVIEWER_ASKS);
    writ_config_drop(config);
}
END_TEST

START_TEST(reviewer_read_of_an_invalid_one_is_refused_with_its_place)
{
    static const struct {
        const char *reviewer, *fault;
    } rows[] = {
        {"{webhook: \"http://judge.example/\", secret: s}", "/reviewers/a/webhook"},
        {"{webhook: \"https://u:p@judge.example/\", secret: s}", "/reviewers/a/webhook"},
        {"{webhook: \"https://judge.example/#x\", secret: s}", "/reviewers/a/webhook"},
        {"{webhook: \"file:///etc/passwd\", secret: s}", "/reviewers/a/webhook"},
        {"{webhook: \"https://judge.example/\"}", "/reviewers/a"},
        {"{webhook: \"http://127.0.0.1:1/\", secret: s, ca: c}", "/reviewers/a/ca"},
        {"{webhook: \"https://j.example/\", secret: s, worker: [x]}", "/reviewers/a"},
        {"{worker: []}", "/reviewers/a/worker"},
        {"{worker: [x], secret: s}", "/reviewers/a/secret"},
        {"{opinions: []}", "/reviewers/a/opinions"},
        {"{opinions: [{vote: maybe}]}", "/reviewers/a/opinions/0/vote"},
        {"{opinions: [{vote: approve, when: [{arg: x, op: near, value: 1}]}]}",
            "/reviewers/a/opinions/0/when/0"},
        {"{opinions: [{vote: approve}], key: " KEY "}", "/reviewers/a/key"},
        {"{opinions: [{vote: approve}], directory: /tmp}", "/reviewers/a/directory"},
        {"{key: {kty: OKP, crv: Ed25519, x: AAAA}}", "/reviewers/a/key"},
        {"{key: {kty: oct, k: AAAA}}", "/reviewers/a/key/k"},
        {"{key: {kty: EC, crv: P-256, x: AA, d: BB}}", "/reviewers/a/key/d"},
        {"{timeout: 0s}", "/reviewers/a/timeout"},
        {"{hook: x}", "/reviewers/a/hook"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        writ_auto_buf text = writ_buf_make(4096);
        struct writ_config *config = NULL;
        struct writ_err err = {0};

        writ_buf_fmt(&text, "reviewers:\n  a: %s\n", rows[i].reviewer);
        ck_assert_msg(writ_load_text(writ_buf_view(&text), "t.yaml", NULL, &config, &err).code ==
                          WRIT_E_INVALID,
            "%s", rows[i].reviewer);
        ck_assert_msg(writ_view_search(writ_view_str(err.text), writ_view_str(rows[i].fault)) <
                          writ_view_str(err.text).len,
            "%s: %s", rows[i].reviewer, err.text);
        ck_assert_ptr_null(config);
    }
}
END_TEST

START_TEST(opinion_approves_if_all_hold_and_rejects_unless_one_clearly_fails)
{
    static const struct {
        const char *arguments;
        enum writ_review_vote vote;
    } rows[] = {
        {"{\"n\":50,\"to\":\"x\"}", WRIT_REVIEW_APPROVE},
        {"{\"n\":100,\"to\":\"x\"}", WRIT_REVIEW_MODIFY},
        {"{\"n\":501,\"to\":\"x\"}", WRIT_REVIEW_REJECT},
        {"{\"n\":\"50\",\"to\":\"x\"}", WRIT_REVIEW_REJECT}, /* not a number: it may be more */
        {"{\"to\":\"x\"}", WRIT_REVIEW_REJECT},
        {"{}", WRIT_REVIEW_REJECT},
        {"{\"n\":50}", WRIT_REVIEW_MODIFY}, /* not every condition of an approval */
        {"{\"n\":300,\"to\":\"x\"}", WRIT_REVIEW_NO_VOTE},
    };
    struct writ_config *config = config_of(
        "{opinions: ["
        "{vote: reject, when: [{arg: n, op: gt, value: 500}], feedback: too much}, "
        "{vote: approve, when: [{arg: n, op: lt, value: 100}, {arg: to, op: eq, value: x}]}, "
        "{vote: modify, when: [{arg: n, op: lt, value: 200}]}]}");

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        writ_auto_arena arena = writ_value_arena();
        const struct writ_opinion *opinion = writ_opinion_of(
            &config->reviewers[0], writ_value_of(arena, writ_view_str(rows[i].arguments)), arena);

        ck_assert_msg((opinion != NULL ? opinion->vote : WRIT_REVIEW_NO_VOTE) == rows[i].vote, "%s",
            rows[i].arguments);
    }
    ck_assert_view(config->reviewers[0].opinions[0].feedback, "too much");
    writ_config_drop(config);
}
END_TEST

START_TEST(reviewer_change_changes_the_policy_digest)
{
    struct writ_config *one = config_of("{opinions: [{vote: approve}]}");
    struct writ_config *other = config_of("{opinions: [{vote: reject}]}");

    ck_assert(!writ_digest_equal(&one->reviews[0].digest, &other->reviews[0].digest));
    ck_assert(!writ_digest_equal(&one->policy_digest, &other->policy_digest));
    writ_config_drop(one);
    writ_config_drop(other);
}
END_TEST

START_TEST(policy_text_of_reviewers_has_no_secret)
{
    static const struct {
        const char *reviewer, *shown;
    } cases[] = {
        {"{webhook: \"https://judge.example/s3cret?s3cret\", secret: s.txt}",
            "\"webhook\":\"https://judge.example\""},
        {"{worker: [python3, judge.py, --key=s3cret], environment: {A: s3cret}}",
            "\"environment\":{\"A\":\"...\"},\"worker\":[\"python3\"]"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct writ_config *config = config_of(cases[i].reviewer);
        struct writ_view text = config->policy_text;

        ck_assert_uint_eq(writ_view_search(text, WRIT_LIT("s3cret")), text.len);
        ck_assert_msg(writ_view_search(text, writ_view_str(cases[i].shown)) < text.len,
            WRIT_VIEW_FMT, WRIT_VIEW_ARG(text));
        writ_config_drop(config);
    }
}
END_TEST

WRIT_UNIT_MAIN("reviewer", reviewer_read_takes_each_kind,
    reviewer_read_of_an_invalid_one_is_refused_with_its_place,
    opinion_approves_if_all_hold_and_rejects_unless_one_clearly_fails,
    reviewer_change_changes_the_policy_digest, policy_text_of_reviewers_has_no_secret)
