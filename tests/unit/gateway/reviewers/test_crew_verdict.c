/* The vote that an output of a crew is: every form, and what is near one. */
#include "gateway/reviewers/crew_verdict.h"
#include "support/unit.h"

#define DIGEST "sha256:000000000000000000000000000000000000000000000000000000000000beef"

static writ_result
read_output(const char *output, struct writ_arena *arena, struct writ_entry_review *ret)
{
    return writ_crew_verdict_read(
        writ_view_str(output), WRIT_LIT(DIGEST), WRIT_LIT("panel"), arena, ret, NULL);
}

START_TEST(crew_verdict_read_of_a_vote_gives_it)
{
    static const struct {
        const char *output;
        enum writ_review_vote vote;
        size_t ranked;
        const char *feedback, *confidence;
    } cases[] = {
        {"\"approve\"", WRIT_REVIEW_APPROVE, 0, NULL, NULL},
        {"\"reject\"", WRIT_REVIEW_REJECT, 0, NULL, NULL},
        {"\"modify\"", WRIT_REVIEW_MODIFY, 0, NULL, NULL},
        {"\"abstain\"", WRIT_REVIEW_ABSTAIN, 0, NULL, NULL},
        {"\"ACCEPT\"", WRIT_REVIEW_APPROVE, 0, NULL, NULL},
        {"\"REJECT\"", WRIT_REVIEW_REJECT, 0, NULL, NULL},
        {"\"REQUEST_REVISION\"", WRIT_REVIEW_MODIFY, 0, NULL, NULL},
        {"{\"vote\":\"reject\",\"feedback\":\"no\",\"confidence\":0.5}", WRIT_REVIEW_REJECT, 0,
            "no", "0.5"},
        {"{\"ranking\":[\"modify\",\"approve\"]}", WRIT_REVIEW_MODIFY, 2, NULL, NULL},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        writ_auto_arena arena = writ_arena_new(1 << 22);
        struct writ_entry_review vote = {.event = WRIT_REVIEW_DO_CANCEL};

        ck_assert_msg(
            writ_is_ok(read_output(cases[i].output, arena, &vote)), "%s", cases[i].output);
        ck_assert_int_eq(vote.event, WRIT_REVIEW_DO_VOTE);
        ck_assert_msg(vote.vote == cases[i].vote, "%s", cases[i].output);
        ck_assert_uint_eq(vote.ranking.n, cases[i].ranked);
        ck_assert(writ_view_is(vote.by, "panel") && writ_view_is(vote.digest, DIGEST));
        ck_assert((vote.feedback.ptr == NULL) == (cases[i].feedback == NULL));
        ck_assert(cases[i].feedback == NULL || writ_view_is(vote.feedback, cases[i].feedback));
        ck_assert((vote.confidence.ptr == NULL) == (cases[i].confidence == NULL));
        ck_assert(
            cases[i].confidence == NULL || writ_view_is(vote.confidence, cases[i].confidence));
        ck_assert(vote.signature.ptr == NULL && vote.via.ptr == NULL);
    }
}
END_TEST

START_TEST(crew_verdict_read_of_anything_else_is_refused)
{
    static const char *const outputs[] = {"null", "true", "1", "\"\"", "\"Approve\"", "\"accept\"",
        "\"approve \"", "[\"approve\"]", "{}", "{\"vote\":\"ACCEPT\"}", "{\"vote\":null}",
        "{\"vote\":\"approve\",\"ranking\":[\"approve\",\"reject\"]}",
        "{\"vote\":\"approve\",\"review_digest\":\"" DIGEST "\"}",
        "{\"vote\":\"approve\",\"bulk\":\"r\"}", "{\"answer\":\"approve\"}",
        "{\"signed\":\"a.b.c\"}", "{\"vote\":\"approve\",\"comment\":\"yes\"}",
        "{\"vote\":\"approve\",\"confidence\":2}",
        "{\"vote\":\"approve\",\"feedback\":\"a\\u0000b\"}",
        "{\"ranking\":[\"approve\",\"approve\"]}", "approve", ""};

    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
        writ_auto_arena arena = writ_arena_new(1 << 22);
        struct writ_entry_review vote = {.event = WRIT_REVIEW_DO_CANCEL};

        ck_assert_msg(!writ_is_ok(read_output(outputs[i], arena, &vote)), "%s", outputs[i]);
        ck_assert_int_eq(vote.event, WRIT_REVIEW_DO_CANCEL);
    }
}
END_TEST

WRIT_UNIT_MAIN("crew_verdict", crew_verdict_read_of_a_vote_gives_it,
    crew_verdict_read_of_anything_else_is_refused)
