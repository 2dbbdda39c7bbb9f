/* The vote in the answer of a model: tolerant in form, strict in what counts. Anything but one
 * clear ballot with its token is a failed one. */
#include "support/unit.h"

#include "base/alloc.h"
#include "crew/reply.h"

#define ARENA_MAX (4 << 20)
#define TOKEN     "0123456789abcdef0123456789abcdef"
#define BALLOT    "\"ballot\":\"" TOKEN "\""

static struct writ_arena *arena; /* empty at the begin of each test */

static void
prepare(void)
{
    if (arena == NULL) {
        arena = writ_arena_new(ARENA_MAX);
        ck_assert_ptr_nonnull(arena);
    }
    writ_arena_reset(arena);
}

/* The vote, or NO_VOTE for a failed ballot, which leaves the result alone. */
static enum writ_review_vote
vote_in(const char *answer)
{
    struct writ_reply reply = {.vote = WRIT_REVIEW_NO_VOTE};
    writ_result r =
        writ_reply_read(writ_view_str(answer), WRIT_LIT(TOKEN), true, arena, &reply, NULL);

    ck_assert(writ_is_ok(r) == (reply.vote != WRIT_REVIEW_NO_VOTE));
    ck_assert(writ_is_ok(r) || r.code == WRIT_E_PARSE);
    return reply.vote;
}

START_TEST(reply_read_finds_a_ballot_in_other_text)
{
    static const struct {
        const char *answer;
        enum writ_review_vote vote;
    } rows[] = {
        {"{" BALLOT ",\"vote\":\"approve\"}", WRIT_REVIEW_APPROVE},
        {"```json\n{\n  " BALLOT ",\n  \"vote\": \"reject\"\n}\n```\nDone.", WRIT_REVIEW_REJECT},
        {"Well {hmm \"so. {" BALLOT ",\"vote\":\" Modify \"} end}", WRIT_REVIEW_MODIFY},
        {"{\"answer\":{" BALLOT ",\"vote\":\"APPROVED\"}}", WRIT_REVIEW_APPROVE},
        {"{\"vote\":\"approve\"} is what it wants; {" BALLOT ",\"vote\":\"rejected\"}",
            WRIT_REVIEW_REJECT},
        {"{" BALLOT ",\"vote\":\"reject\"} again: {" BALLOT ",\"vote\":\"reject\"}",
            WRIT_REVIEW_REJECT},
        {"{" BALLOT ",\"vote\":\"approve\",\"feedback\":\"a } in a { string \\\" here\"}",
            WRIT_REVIEW_APPROVE},
    };

    prepare();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ck_assert_msg(vote_in(rows[i].answer) == rows[i].vote, "%s", rows[i].answer);
    }
}
END_TEST

START_TEST(reply_read_of_no_clear_ballot_fails)
{
    static const char *const rows[] = {
        "",
        "approve",
        "I approve.",
        "{\"vote\":\"approve\"}",
        "{\"ballot\":\"0123456789abcdef0123456789abcdee\",\"vote\":\"approve\"}",
        "{\"ballot\":\"\",\"vote\":\"approve\"}",
        "{\"ballot\":[\"" TOKEN "\"],\"vote\":\"approve\"}",
        "{" BALLOT "}",
        "{" BALLOT ",\"vote\":\"yes\"}",
        "{" BALLOT ",\"vote\":true}",
        "{" BALLOT ",\"vote\":[\"approve\"]}",
        "{" BALLOT ",\"vote\":\"approve, modify or reject\"}",
        "{" BALLOT ",\"vote\":\"not approved\"}",
        "{" BALLOT ",\"vote\":\"approve\",\"vote\":\"approve\"}", /* which one? */
        "{" BALLOT ",\"vote\":\"approve\"",
        "{" BALLOT ",\"vote\":\"approve\"} no: {" BALLOT ",\"vote\":\"reject\"}",
        "{" BALLOT ",\"vote\":\"reject\"} or {" BALLOT ",\"vote\":\"maybe\"}",
        "{'ballot':'" TOKEN "','vote':'approve'}",
        "\xff{" BALLOT ",\"vote\":\"approve\",\"feedback\":\"\xff\"}",
    };

    prepare();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ck_assert_msg(vote_in(rows[i]) == WRIT_REVIEW_NO_VOTE, "%s", rows[i]);
    }
}
END_TEST

START_TEST(reply_read_normalizes_feedback_and_confidence)
{
    struct writ_reply reply = {.vote = WRIT_REVIEW_NO_VOTE};

    prepare();
    ck_assert_ok(writ_reply_read(
        WRIT_LIT("{" BALLOT
                 ",\"vote\":\"reject\",\"feedback\":\"a\\u001b[2Jb\\nc\",\"confidence\":\"0.9\"}"),
        WRIT_LIT(TOKEN), true, arena, &reply, NULL));
    ck_assert_view(reply.feedback, "a [2Jb\nc");
    ck_assert_view(reply.confidence, "0.9");
    ck_assert_ok(writ_reply_read(
        WRIT_LIT("{" BALLOT ",\"vote\":\"reject\",\"feedback\":7,\"confidence\":\"very\"}"),
        WRIT_LIT(TOKEN), true, arena, &reply, NULL));
    ck_assert_ptr_null(reply.feedback.ptr);
    ck_assert_ptr_null(reply.confidence.ptr);
}
END_TEST

START_TEST(feedback_is_cut_at_the_end_of_a_character)
{
    writ_auto_buf text = writ_buf_make(2 * WRIT_REVIEW_FEEDBACK_MAX);
    struct writ_view kept;

    prepare();
    writ_buf_byte(&text, 'a');
    for (size_t i = 0; i < WRIT_REVIEW_FEEDBACK_MAX / 2; i++) {
        writ_buf_str(&text, "\xc3\xbc");
    }
    kept = writ_reply_feedback(writ_buf_view(&text), arena);
    ck_assert_uint_eq(kept.len, WRIT_REVIEW_FEEDBACK_MAX - 1);
    ck_assert(writ_review_is_feedback(kept));
    kept = writ_reply_feedback(writ_view_sub(kept, 0, 3), arena);
    ck_assert_view(kept, "a\xc3\xbc");
}
END_TEST

START_TEST(reply_read_of_an_approval_of_a_cut_call_fails)
{
    struct writ_reply reply = {.vote = WRIT_REVIEW_NO_VOTE};

    prepare();
    ck_assert_int_eq(writ_reply_read(WRIT_LIT("{" BALLOT ",\"vote\":\"approve\"}"), WRIT_LIT(TOKEN),
                         false, arena, &reply, NULL)
                         .code,
        WRIT_E_PARSE);
    ck_assert_ok(writ_reply_read(
        WRIT_LIT("{" BALLOT ",\"vote\":\"reject\"}"), WRIT_LIT(TOKEN), false, arena, &reply, NULL));
}
END_TEST

START_TEST(reply_read_beyond_its_limits_fails)
{
    static const char ballot[] = "{" BALLOT ",\"vote\":\"reject\"}";

    prepare();
    for (int over = 0; over < 2; over++) {
        writ_auto_buf text = writ_buf_make(WRIT_REPLY_MAX + 1);
        struct writ_reply reply = {.vote = WRIT_REVIEW_NO_VOTE};

        writ_buf_str(&text, ballot);
        while (text.len < (size_t)WRIT_REPLY_MAX + (size_t)over) {
            writ_buf_byte(&text, ' ');
        }
        ck_assert_int_eq(
            writ_reply_read(writ_buf_view(&text), WRIT_LIT(TOKEN), true, arena, &reply, NULL).code,
            over ? WRIT_E_LIMIT : WRIT_OK);
        writ_buf_clear(&text);
        for (int i = 0; i < WRIT_REPLY_OBJECTS - 1 + over; i++) {
            writ_buf_str(&text, "{");
        }
        writ_buf_str(&text, ballot);
        ck_assert_int_eq(
            writ_reply_read(writ_buf_view(&text), WRIT_LIT(TOKEN), true, arena, &reply, NULL).code,
            over ? WRIT_E_PARSE : WRIT_OK);
    }
}
END_TEST

WRIT_UNIT_MAIN("reply", reply_read_finds_a_ballot_in_other_text,
    reply_read_of_no_clear_ballot_fails, reply_read_normalizes_feedback_and_confidence,
    feedback_is_cut_at_the_end_of_a_character, reply_read_of_an_approval_of_a_cut_call_fails,
    reply_read_beyond_its_limits_fails)
