/* The life of a review: every event in every state, its terms, and when it is decided. Only an
 * acceptance approves, and an approval is redeemed once. */
#include "support/unit.h"
#include "support/evidence/value.h"

#include "base/alloc.h"
#include "evidence/record/review.h"
#include "evidence/record/review_terms.h"

#define ARENA_MAX 262144

/* The table again, as the reader of review.tbl.h would say it in words: state, event, next. What is
 * not here must be refused. */
static const struct {
    enum writ_review_state state;
    enum writ_review_event event;
    enum writ_review_state next;
} wanted[] = {
    {WRIT_REVIEW_ABSENT, WRIT_REVIEW_DO_OPEN, WRIT_REVIEW_OPEN},
    {WRIT_REVIEW_OPEN, WRIT_REVIEW_DO_JOIN, WRIT_REVIEW_OPEN},
    {WRIT_REVIEW_OPEN, WRIT_REVIEW_DO_VOTE, WRIT_REVIEW_OPEN},
    {WRIT_REVIEW_OPEN, WRIT_REVIEW_DO_ACCEPT, WRIT_REVIEW_APPROVED},
    {WRIT_REVIEW_OPEN, WRIT_REVIEW_DO_REJECT, WRIT_REVIEW_REJECTED},
    {WRIT_REVIEW_OPEN, WRIT_REVIEW_DO_REVISE, WRIT_REVIEW_REVISED},
    {WRIT_REVIEW_OPEN, WRIT_REVIEW_DO_EXPIRE, WRIT_REVIEW_EXPIRED},
    {WRIT_REVIEW_OPEN, WRIT_REVIEW_DO_WITHDRAW, WRIT_REVIEW_WITHDRAWN},
    {WRIT_REVIEW_OPEN, WRIT_REVIEW_DO_CANCEL, WRIT_REVIEW_CANCELLED},
    {WRIT_REVIEW_OPEN, WRIT_REVIEW_DO_OUTDATE, WRIT_REVIEW_OUTDATED},
    {WRIT_REVIEW_OPEN, WRIT_REVIEW_DO_DRIFT, WRIT_REVIEW_DRIFTED},
    {WRIT_REVIEW_OPEN, WRIT_REVIEW_DO_FAIL, WRIT_REVIEW_FAILED},
    {WRIT_REVIEW_OPEN, WRIT_REVIEW_DO_REVOKE, WRIT_REVIEW_OPEN},
    {WRIT_REVIEW_APPROVED, WRIT_REVIEW_DO_REDEEM, WRIT_REVIEW_REDEEMED},
    {WRIT_REVIEW_APPROVED, WRIT_REVIEW_DO_EXPIRE, WRIT_REVIEW_LAPSED},
    {WRIT_REVIEW_APPROVED, WRIT_REVIEW_DO_WITHDRAW, WRIT_REVIEW_WITHDRAWN},
    {WRIT_REVIEW_APPROVED, WRIT_REVIEW_DO_CANCEL, WRIT_REVIEW_CANCELLED},
    {WRIT_REVIEW_APPROVED, WRIT_REVIEW_DO_OUTDATE, WRIT_REVIEW_OUTDATED},
    {WRIT_REVIEW_APPROVED, WRIT_REVIEW_DO_DRIFT, WRIT_REVIEW_DRIFTED},
};

#define EACH_STATE(state) for (int state = 0; (state) < WRIT_REVIEW_STATE_COUNT; (state)++)
#define EACH_EVENT(event) for (int event = 0; (event) < WRIT_REVIEW_EVENT_COUNT; (event)++)

static bool
move(int state, int event, int *ret)
{
    enum writ_review_state next = WRIT_REVIEW_ABSENT;
    bool moved =
        writ_review_move((enum writ_review_state)state, (enum writ_review_event)event, &next);

    ck_assert(moved || next == WRIT_REVIEW_ABSENT); /* untouched */
    *ret = (int)next;
    return moved;
}

START_TEST(review_next_of_each_state_and_event_follows_the_table)
{
    EACH_STATE(state)
    {
        EACH_EVENT(event)
        {
            int next, want = WRIT_REVIEW_ABSENT;

            for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
                if ((int)wanted[i].state == state && (int)wanted[i].event == event) {
                    want = (int)wanted[i].next;
                }
            }
            ck_assert_int_eq(move(state, event, &next), want != WRIT_REVIEW_ABSENT);
            ck_assert_int_eq(next, want);
        }
    }
}
END_TEST

START_TEST(review_next_leaves_no_final_state_and_can_end_each_live_one)
{
    EACH_STATE(state)
    {
        enum writ_review_phase phase = writ_review_phase((enum writ_review_state)state);
        bool left = false, ends = false;

        EACH_EVENT(event)
        {
            int next;

            if (move(state, event, &next)) {
                left = true;
                ends = ends || writ_review_phase((enum writ_review_state)next) == WRIT_REVIEW_OVER;
            }
        }
        ck_assert_int_eq(left, phase != WRIT_REVIEW_OVER);
        ck_assert(phase != WRIT_REVIEW_LIVE || ends);
    }
}
END_TEST

START_TEST(review_next_approves_by_acceptance_only_and_redeems_once)
{
    EACH_STATE(state)
    {
        EACH_EVENT(event)
        {
            int next;

            if (!move(state, event, &next)) {
                continue;
            }
            if (next == WRIT_REVIEW_APPROVED) {
                ck_assert(state == WRIT_REVIEW_OPEN && event == WRIT_REVIEW_DO_ACCEPT);
            }
            if (next == WRIT_REVIEW_REDEEMED) {
                ck_assert(state == WRIT_REVIEW_APPROVED && event == WRIT_REVIEW_DO_REDEEM);
            }
            /* a review opens once, and is never opened again */
            ck_assert((event == WRIT_REVIEW_DO_OPEN) == (state == WRIT_REVIEW_ABSENT));
            /* votes count while it is open */
            ck_assert(event != WRIT_REVIEW_DO_VOTE || state == WRIT_REVIEW_OPEN);
            /* every end is possible from any live state */
            ck_assert(event != WRIT_REVIEW_DO_JOIN || next == state);
        }
    }
}
END_TEST

START_TEST(review_next_ends_open_and_approved_reviews_alike)
{
    static const enum writ_review_event ends[] = {WRIT_REVIEW_DO_EXPIRE, WRIT_REVIEW_DO_WITHDRAW,
        WRIT_REVIEW_DO_CANCEL, WRIT_REVIEW_DO_OUTDATE, WRIT_REVIEW_DO_DRIFT};

    EACH_STATE(state)
    {
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
            int next;
            bool live = writ_review_phase((enum writ_review_state)state) == WRIT_REVIEW_LIVE;

            ck_assert_int_eq(move(state, (int)ends[i], &next), live);
            ck_assert(!live || writ_review_phase((enum writ_review_state)next) == WRIT_REVIEW_OVER);
        }
    }
}
END_TEST

START_TEST(review_table_reaches_every_state_and_uses_every_event)
{
    EACH_STATE(state)
    {
        bool reached = state == WRIT_REVIEW_ABSENT;

        EACH_STATE(from)
        {
            EACH_EVENT(event)
            {
                int next;

                reached = reached || (move(from, event, &next) && next == state);
            }
        }
        ck_assert_msg(reached, "state %d", state);
    }
    EACH_EVENT(event)
    {
        bool happens = false;

        EACH_STATE(state)
        {
            int next;

            happens = happens || move(state, event, &next);
        }
        ck_assert_msg(happens, "event %d", event);
    }
}
END_TEST

START_TEST(review_end_has_its_own_reason_and_name)
{
    EACH_STATE(state)
    {
        enum writ_review_state found = WRIT_REVIEW_STATE_COUNT;
        enum writ_review_state self = (enum writ_review_state)state;

        ck_assert_int_ne(writ_review_reason(self), WRIT_REASON_NONE);
        ck_assert(writ_review_state_find(writ_review_state_name(self), &found));
        ck_assert_int_eq(found, state);
        EACH_STATE(other)
        {
            if (other != state && writ_review_phase(self) == WRIT_REVIEW_OVER) {
                ck_assert_int_ne(
                    writ_review_reason(self), writ_review_reason((enum writ_review_state)other));
            }
        }
    }
    EACH_EVENT(event)
    {
        ck_assert_uint_gt(writ_review_event_name((enum writ_review_event)event).len, 0);
    }
}
END_TEST

START_TEST(review_next_of_an_invalid_value_changes_nothing)
{
    enum writ_review_state state = WRIT_REVIEW_LAPSED;

    ck_assert(!writ_review_move(WRIT_REVIEW_STATE_COUNT, WRIT_REVIEW_DO_OPEN, &state));
    ck_assert(!writ_review_move(WRIT_REVIEW_OPEN, WRIT_REVIEW_EVENT_COUNT, &state));
    ck_assert(!writ_review_state_find(WRIT_LIT("Open"), &state));
    ck_assert_int_eq(state, WRIT_REVIEW_LAPSED);
    ck_assert_int_eq(writ_review_vote_find(WRIT_LIT("approved")), WRIT_REVIEW_NO_VOTE);
    ck_assert_int_eq(writ_review_vote_find(WRIT_LIT("")), WRIT_REVIEW_NO_VOTE);
    ck_assert_int_eq(writ_review_vote_find(WRIT_LIT("modify")), WRIT_REVIEW_MODIFY);
    ck_assert_str_eq(WRIT_REVIEW_VOTE_WORDS, "approve, reject, modify, abstain");
}
END_TEST

/* ---- terms */

static struct writ_review_voter three[3];

static struct writ_review
sample(void)
{
    static const struct writ_review_voter fresh[3] = {
        {.id = WRIT_LIT("ann"), .weight = 1},
        {.id = WRIT_LIT("bob"), .weight = 2},
        {.id = WRIT_LIT("eve"), .weight = 1, .veto = true},
    };

    for (size_t i = 0; i < 3; i++) {
        three[i] = fresh[i];
    }
    return (struct writ_review){
        .id = WRIT_LIT("d-1"),
        .name = WRIT_LIT("finance"),
        .engine = WRIT_LIT("review"),
        .threshold = WRIT_LIT("2/3"),
        .quorum = WRIT_LIT("2"),
        .lifetime_us = 900000000,
        .redeem_us = 60000000,
        .subject = WRIT_LIT("dev"),
        .agent_id = WRIT_LIT("dev"),
        .intent_digest = WRIT_LIT("sha256:00"),
        .voters = three,
        .voters_n = 3,
    };
}

START_TEST(review_terms_read_back_and_the_digest_covers_all)
{
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);
    struct writ_review review = sample(), back;
    writ_auto_buf text = writ_buf_make(WRIT_REVIEW_TERMS_MAX);
    writ_auto_buf again = writ_buf_make(WRIT_REVIEW_TERMS_MAX);
    const struct writ_json *value = NULL;
    struct writ_digest one, other;

    ck_assert_ok(writ_review_terms_put(&review, &text, NULL));
    ck_assert_ok(
        writ_json_read(writ_buf_view(&text), &writ_json_limits_default, arena, &value, NULL));
    ck_assert_ok(writ_review_terms_read(value, arena, &back, NULL));
    ck_assert_ok(writ_review_terms_put(&back, &again, NULL));
    ck_assert(writ_view_equal(writ_buf_view(&text), writ_buf_view(&again)));
    ck_assert_ok(writ_review_terms_digest(&review, &one, NULL));
    back.voters[2].veto = false;
    ck_assert_ok(writ_review_terms_digest(&back, &other, NULL));
    ck_assert(!writ_digest_equal(&one, &other));
    /* a vote does not change the terms */
    review.voters[0].vote = WRIT_REVIEW_APPROVE;
    ck_assert_ok(writ_review_terms_digest(&review, &other, NULL));
    ck_assert(writ_digest_equal(&one, &other));
    writ_arena_free(arena);
}
END_TEST

START_TEST(terms_of_a_plugin_have_its_digest_and_options)
{
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);
    struct writ_review review = sample(), back;
    writ_auto_buf text = writ_buf_make(WRIT_REVIEW_TERMS_MAX);
    const struct writ_json *value = NULL;

    review.engine = WRIT_LIT("tally.so");
    review.options = (struct writ_review_ranking){{WRIT_REVIEW_APPROVE, WRIT_REVIEW_REJECT}, 2};
    ck_assert_code(writ_review_terms_check(&review, NULL), WRIT_E_INVALID);
    review.engine_digest = WRIT_LIT("sha256:00");
    ck_assert_code(writ_review_terms_check(&review, NULL), WRIT_E_INVALID);
    review.engine_digest =
        WRIT_LIT("sha256:0000000000000000000000000000000000000000000000000000000000000000");
    ck_assert_ok(writ_review_terms_put(&review, &text, NULL));
    ck_assert_ok(
        writ_json_read(writ_buf_view(&text), &writ_json_limits_default, arena, &value, NULL));
    ck_assert_ok(writ_review_terms_read(value, arena, &back, NULL));
    ck_assert(writ_view_equal(back.engine_digest, review.engine_digest));
    review.options.n = 0;
    ck_assert_code(writ_review_terms_check(&review, NULL), WRIT_E_INVALID);
    review = sample();
    review.engine_digest = back.engine_digest; /* of no plug-in */
    ck_assert_code(writ_review_terms_check(&review, NULL), WRIT_E_INVALID);
    writ_arena_free(arena);
}
END_TEST

START_TEST(plugin_name_is_that_of_a_file_in_one_folder)
{
    static const char *const names[] = {"tally.so", "ranked-pairs.so", "a_1.2.so"};
    static const char *const others[] = {
        "", ".so", "so", "borda", "../a.so", "a/b.so", ".a.so", "a b.so", "a\"b.so", "a.so.1"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ck_assert_msg(writ_review_is_plugin(writ_view_str(names[i])), "%s", names[i]);
        ck_assert_int_eq(writ_review_need(writ_view_str(names[i])), WRIT_REVIEW_NEEDS_RANKING);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        ck_assert_msg(!writ_review_is_plugin(writ_view_str(others[i])), "%s", others[i]);
    }
}
END_TEST

/* Two candidates, then reject. */
static struct writ_review
of_candidates(struct writ_review_candidate *two)
{
    static const struct writ_review_ranking others = {{WRIT_REVIEW_REJECT}, 1};
    struct writ_review review = sample();

    for (size_t i = 0; i < 2; i++) {
        two[i] = (struct writ_review_candidate){.option = writ_review_candidate_at(2 * i),
            .state_free_digest = i == 0 ? WRIT_LIT("sha256:a") : WRIT_LIT("sha256:b"),
            .intent_digest = i == 0 ? WRIT_LIT("sha256:00") : WRIT_LIT("sha256:01"),
            .target_state_digest = writ_view("", 0)};
    }
    review.engine = WRIT_LIT("borda");
    review.candidates = two;
    review.candidates_n = 2;
    writ_review_offer(&review, &others);
    return review;
}

START_TEST(terms_with_candidates_read_back_and_the_digest_covers_each)
{
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);
    struct writ_review_candidate two[2];
    struct writ_review review = of_candidates(two), back;
    writ_auto_buf text = writ_buf_make(WRIT_REVIEW_TERMS_MAX);
    const struct writ_json *value = NULL;
    struct writ_digest one, other;

    ck_assert_ok(writ_review_terms_put(&review, &text, NULL));
    ck_assert_ok(
        writ_json_read(writ_buf_view(&text), &writ_json_limits_default, arena, &value, NULL));
    ck_assert_ok(writ_review_terms_read(value, arena, &back, NULL));
    ck_assert_uint_eq(back.candidates_n, 2);
    ck_assert_int_eq(back.candidates[1].option, WRIT_REVIEW_CANDIDATE_3);
    ck_assert(writ_review_ranking_equal(&back.options, &review.options));
    ck_assert_ok(writ_review_terms_digest(&review, &one, NULL));
    ck_assert_ok(writ_review_terms_digest(&back, &other, NULL));
    ck_assert(writ_digest_equal(&one, &other));
    back.candidates[1].intent_digest = WRIT_LIT("sha256:02");
    ck_assert_ok(writ_review_terms_digest(&back, &other, NULL));
    ck_assert(!writ_digest_equal(&one, &other));
    writ_arena_free(arena);
}
END_TEST

START_TEST(terms_with_inconsistent_candidates_are_refused)
{
    struct writ_review_candidate two[2];
    struct writ_review review = of_candidates(two);

    ck_assert_ok(writ_review_terms_check(&review, NULL));
    review.candidates_n = 1; /* "3" is an option, and is no candidate */
    ck_assert_code(writ_review_terms_check(&review, NULL), WRIT_E_INVALID);
    review = of_candidates(two);
    review.options.n = 1; /* the second one and reject are no options */
    ck_assert_code(writ_review_terms_check(&review, NULL), WRIT_E_INVALID);
    review = of_candidates(two);
    review.options.list[2] = WRIT_REVIEW_APPROVE;
    ck_assert_code(writ_review_terms_check(&review, NULL), WRIT_E_INVALID);
    review = of_candidates(two);
    two[1].state_free_digest = two[0].state_free_digest;
    ck_assert_code(writ_review_terms_check(&review, NULL), WRIT_E_INVALID);
    review = of_candidates(two);
    two[1].intent_digest = writ_view("", 0);
    ck_assert_code(writ_review_terms_check(&review, NULL), WRIT_E_INVALID);
    review = of_candidates(two);
    review.intent_digest = WRIT_LIT("sha256:01");
    ck_assert_code(writ_review_terms_check(&review, NULL), WRIT_E_INVALID);
    review = of_candidates(two);
    review.candidates_n = 0;
    review.candidates = NULL;
    ck_assert_code(writ_review_terms_check(&review, NULL), WRIT_E_INVALID);
}
END_TEST

START_TEST(terms_with_a_forbidden_voter_are_refused)
{
    struct writ_review review = sample();

    ck_assert_ok(writ_review_terms_check(&review, NULL));
    review.subject = WRIT_LIT("bob");
    ck_assert_code(writ_review_terms_check(&review, NULL), WRIT_E_INVALID);
    review = sample();
    review.voters[2].id = WRIT_LIT("ann");
    ck_assert_code(writ_review_terms_check(&review, NULL), WRIT_E_INVALID);
    review = sample();
    review.voters_n = 0;
    ck_assert_code(writ_review_terms_check(&review, NULL), WRIT_E_INVALID);
    review = sample();
    review.voters[0].weight = -1;
    ck_assert_code(writ_review_terms_check(&review, NULL), WRIT_E_INVALID);
    review.voters[0].weight = WRIT_REVIEW_WEIGHT_MAX;
    ck_assert_ok(writ_review_terms_check(&review, NULL));
    review.voters[0].weight = WRIT_REVIEW_WEIGHT_MAX + 1;
    ck_assert_code(writ_review_terms_check(&review, NULL), WRIT_E_INVALID);
    review = sample();
    for (size_t i = 0; i < 3; i++) {
        review.voters[i].weight = 0;
    }
    ck_assert_code(writ_review_terms_check(&review, NULL), WRIT_E_INVALID);
    review = sample();
    review.lifetime_us = 0;
    ck_assert_code(writ_review_terms_check(&review, NULL), WRIT_E_INVALID);
    review = sample();
    review.voters_n = WRIT_REVIEW_VOTERS_MAX + 1;
    ck_assert_code(writ_review_terms_check(&review, NULL), WRIT_E_LIMIT);
}
END_TEST

START_TEST(review_vote_limits_feedback_and_confidence)
{
    static char most[WRIT_REVIEW_FEEDBACK_MAX + 1];

    for (size_t i = 0; i < sizeof most; i++) {
        most[i] = 'a';
    }
    ck_assert(writ_review_is_feedback(writ_view(most, WRIT_REVIEW_FEEDBACK_MAX)));
    ck_assert(!writ_review_is_feedback(writ_view(most, sizeof most)));
    ck_assert(writ_review_is_feedback(WRIT_LIT("<b>too much</b>\n\tsee <script>")));
    ck_assert(!writ_review_is_feedback(WRIT_LIT("\x1b[2J")));
    ck_assert(!writ_review_is_feedback(WRIT_LIT("\xff")));
    ck_assert(!writ_review_is_feedback(WRIT_LIT("\xc2\x80")));
    ck_assert(!writ_review_is_feedback(WRIT_LIT("a\xc2\x9b"
                                                "31m")));
    ck_assert(writ_review_is_feedback(WRIT_LIT("\xc2\xa0\xc3\xa9")));
    ck_assert(writ_review_is_confidence(WRIT_LIT("0")));
    ck_assert(writ_review_is_confidence(WRIT_LIT("0.75")));
    ck_assert(writ_review_is_confidence(WRIT_LIT("1.0")));
    ck_assert(!writ_review_is_confidence(WRIT_LIT("1.01")));
    ck_assert(!writ_review_is_confidence(WRIT_LIT("-0.1")));
    ck_assert(!writ_review_is_confidence(WRIT_LIT("high")));
    ck_assert(!writ_review_is_confidence(WRIT_LIT("")));
}
END_TEST

WRIT_UNIT_MAIN("review", terms_of_a_plugin_have_its_digest_and_options,
    plugin_name_is_that_of_a_file_in_one_folder,
    review_next_of_each_state_and_event_follows_the_table,
    review_next_leaves_no_final_state_and_can_end_each_live_one,
    review_next_approves_by_acceptance_only_and_redeems_once,
    review_next_ends_open_and_approved_reviews_alike,
    review_table_reaches_every_state_and_uses_every_event, review_end_has_its_own_reason_and_name,
    review_next_of_an_invalid_value_changes_nothing,
    review_terms_read_back_and_the_digest_covers_all,
    terms_with_candidates_read_back_and_the_digest_covers_each,
    terms_with_inconsistent_candidates_are_refused, terms_with_a_forbidden_voter_are_refused,
    review_vote_limits_feedback_and_confidence)
