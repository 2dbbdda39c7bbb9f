/* Counting the votes of a review. A review is decided exactly when no outstanding vote can change
 * its verdict, and the same votes give the same events. */
#include "support/unit.h"

#include "base/alloc.h"
#include "crew/panel.h"
#include "evidence/record/review_judge.h"
#include "evidence/record/review_terms.h"

#define ARENA_MAX (1 << 20)
#define MOST      4

static struct writ_review_voter voters[MOST];
static const char *const names[MOST] = {"ann", "bob", "eve", "joe"};

#define A WRIT_REVIEW_APPROVE
#define M WRIT_REVIEW_MODIFY
#define R WRIT_REVIEW_REJECT

/* "0" to "5" */
static const struct writ_review_ranking rankings[] = {
    {{A, M, R}, 3}, {{A, R, M}, 3}, {{M, A, R}, 3}, {{M, R, A}, 3}, {{R, A, M}, 3}, {{R, M, A}, 3}};

/* Gives a vote the form that the engine counts: "a", "m" and "r" rank the others too. */
static void
fill_ballot(struct writ_review_voter *voter, char c, const struct writ_review *review)
{
    static const struct writ_review_ranking none = {.n = 0};
    const struct writ_review_ranking *ranking = &none;
    enum writ_review_need need = writ_review_need(review->engine);

    if (voter->vote != WRIT_REVIEW_ABSTAIN && need == WRIT_REVIEW_NEEDS_RANKING) {
        ranking = c >= '0' && c <= '5' ? &rankings[c - '0']
                  : voter->vote == A   ? &rankings[0]
                  : voter->vote == M   ? &rankings[2]
                  : voter->vote == R   ? &rankings[5]
                                       : &none;
    }
    writ_review_cast(voter, ranking->n > 0 ? ranking->list[0] : voter->vote, ranking,
        need == WRIT_REVIEW_NEEDS_CONFIDENCE ? WRIT_LIT("0.5") : writ_view("", 0), voter->voted_us);
}

/* "a", "r", "m", "x" (abstains) or "-" for each voter; a capital letter: the voter has a veto. */
static struct writ_review
review_of(const char *votes, const char *engine, const char *quorum)
{
    size_t n = __builtin_strlen(votes);
    struct writ_review review;

    for (size_t i = 0; i < n; i++) {
        char c = votes[i] | 0x20;

        voters[i] = (struct writ_review_voter){
            .id = writ_view_str(names[i]),
            .weight = 1,
            .veto = votes[i] >= 'A' && votes[i] <= 'Z',
            .vote = c == 'a'   ? WRIT_REVIEW_APPROVE
                    : c == 'r' ? WRIT_REVIEW_REJECT
                    : c == 'm' ? WRIT_REVIEW_MODIFY
                    : c == 'x' ? WRIT_REVIEW_ABSTAIN
                               : WRIT_REVIEW_NO_VOTE,
            .voted_us = 2000000 + (int64_t)i,
        };
    }
    review = (struct writ_review){
        .id = WRIT_LIT("d-1"),
        .name = WRIT_LIT("finance"),
        .engine = writ_view_str(engine),
        .threshold = WRIT_LIT("2/3"),
        .quorum = writ_view_str(quorum),
        .opened_us = 1000000,
        .lifetime_us = 1000000,
        .redeem_us = 1000000,
        .subject = WRIT_LIT("dev"),
        .voters = voters,
        .voters_n = n,
    };
    if (writ_review_need(review.engine) == WRIT_REVIEW_NEEDS_RANKING) {
        review.options = rankings[0];
    }
    for (size_t i = 0; i < n; i++) {
        fill_ballot(&voters[i], votes[i], &review);
    }
    return review;
}

static enum writ_review_event
look(const char *votes, const char *engine, const char *quorum)
{
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);
    struct writ_review review = review_of(votes, engine, quorum);
    struct writ_review_finding finding = {0};

    ck_assert_ok(writ_review_judge_look(&writ_panel_judge, &review, arena, &finding, NULL));
    ck_assert((finding.log_n > 0) == (finding.verdict != WRIT_REVIEW_DO_VOTE));
    writ_arena_free(arena);
    return finding.verdict;
}

START_TEST(panel_decides_once_no_vote_can_change_the_verdict)
{
    static const struct {
        const char *votes, *quorum;
        enum writ_review_event want;
    } rows[] = {
        {"---", "0", WRIT_REVIEW_DO_VOTE}, /* silence never approves */
        {"a--", "0", WRIT_REVIEW_DO_VOTE},
        {"aa-", "0", WRIT_REVIEW_DO_ACCEPT}, /* at worst 2/3 */
        {"aa-", "3", WRIT_REVIEW_DO_VOTE},   /* not without the quorum */
        {"am-", "0", WRIT_REVIEW_DO_VOTE},
        {"aam", "3", WRIT_REVIEW_DO_ACCEPT},
        {"arm", "0", WRIT_REVIEW_DO_REVISE},
        {"rr-", "0", WRIT_REVIEW_DO_REJECT},
        {"r--", "0", WRIT_REVIEW_DO_VOTE},
        {"R--", "3", WRIT_REVIEW_DO_REJECT}, /* a veto ends it, quorum or not */
        {"A--", "0", WRIT_REVIEW_DO_VOTE},   /* a veto is none for */
        {"aaaa", "1/2", WRIT_REVIEW_DO_ACCEPT},
        {"aa--", "1/2", WRIT_REVIEW_DO_VOTE},
        {"aar-", "1/2", WRIT_REVIEW_DO_VOTE},
        {"aarr", "1/2", WRIT_REVIEW_DO_REVISE}, /* a tie does not accept */
        {"a", "1", WRIT_REVIEW_DO_ACCEPT},
        {"m", "1", WRIT_REVIEW_DO_REVISE},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_msg(look(rows[i].votes, "review", rows[i].quorum) == rows[i].want, "%s of %s",
            rows[i].votes, rows[i].quorum);
    }
}
END_TEST

/* The verdict stays the same for every vote that is still outstanding, and for none. */
static void
hold_under_every_later_vote(const char *engine)
{
    static const char letters[] = "-armx";
    unsigned all_votes = 5 * 5 * 5;

    for (unsigned cast = 0; cast < all_votes; cast++) {
        char votes[4] = {letters[cast % 5], letters[cast / 5 % 5], letters[cast / 25], 0};
        enum writ_review_event first = look(votes, engine, "2");

        if (first == WRIT_REVIEW_DO_VOTE) {
            continue;
        }
        for (unsigned later = 0; later < all_votes; later++) {
            char all[4] = {letters[later % 5], letters[later / 5 % 5], letters[later / 25], 0};

            for (unsigned i = 0; i < 3; i++) {
                all[i] = votes[i] == '-' ? all[i] : votes[i];
            }
            ck_assert_msg(look(all, engine, "2") == first, "%s: %s, then %s", engine, votes, all);
        }
    }
}

START_TEST(panel_verdict_holds_under_every_later_vote)
{
#define HOLDS(NAME, word, NEEDS) hold_under_every_later_vote(word);
    WRIT_REVIEW_ENGINES(HOLDS)
#undef HOLDS
}
END_TEST

START_TEST(panel_unanimous_needs_all_and_revises_on_one_objection)
{
    ck_assert_int_eq(look("aaa", "unanimous", "3"), WRIT_REVIEW_DO_ACCEPT);
    ck_assert_int_eq(look("aa-", "unanimous", "3"), WRIT_REVIEW_DO_VOTE);
    ck_assert_int_eq(look("aar", "unanimous", "3"), WRIT_REVIEW_DO_REVISE);
    ck_assert_int_eq(look("rrr", "unanimous", "3"), WRIT_REVIEW_DO_REJECT);
    ck_assert_int_eq(look("a--", "weighted_consensus", "1"), WRIT_REVIEW_DO_VOTE);
    ck_assert_int_eq(look("aar", "weighted_consensus", "2"), WRIT_REVIEW_DO_ACCEPT);
    ck_assert_int_eq(look("rra", "weighted_consensus", "2"), WRIT_REVIEW_DO_REJECT);
}
END_TEST

START_TEST(panel_counts_an_abstention_for_the_quorum_alone)
{
    static const struct {
        const char *votes, *engine, *quorum;
        enum writ_review_event want;
    } rows[] = {
        {"ax-", "review", "2", WRIT_REVIEW_DO_VOTE}, /* the third may still reject */
        {"axx", "review", "3", WRIT_REVIEW_DO_ACCEPT},
        {"rxx", "review", "3", WRIT_REVIEW_DO_REJECT},
        {"xxx", "review", "3", WRIT_REVIEW_DO_REVISE}, /* no vote approves */
        {"xx-", "review", "2", WRIT_REVIEW_DO_VOTE},
        {"axx", "unanimous", "3", WRIT_REVIEW_DO_ACCEPT},
        {"arx", "unanimous", "3", WRIT_REVIEW_DO_REVISE},
        {"aax-", "unanimous", "3", WRIT_REVIEW_DO_VOTE},
        {"axx", "weighted_consensus", "3", WRIT_REVIEW_DO_ACCEPT},
        {"xxx", "unanimous", "3", WRIT_REVIEW_DO_REVISE},
        {"xxx", "weighted_consensus", "3", WRIT_REVIEW_DO_REVISE},
        {"aaX", "review", "3", WRIT_REVIEW_DO_ACCEPT}, /* who may veto does not */
        {"aa-X", "review", "2", WRIT_REVIEW_DO_ACCEPT},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_msg(look(rows[i].votes, rows[i].engine, rows[i].quorum) == rows[i].want,
            "%s by %s", rows[i].votes, rows[i].engine);
    }
}
END_TEST

static enum writ_review_event
look_at(const struct writ_review *review)
{
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);
    struct writ_review_finding finding = {0}, again = {0};

    ck_assert_ok(writ_review_terms_check(review, NULL));
    ck_assert_ok(writ_review_judge_look(&writ_panel_judge, review, arena, &finding, NULL));
    if (finding.verdict != WRIT_REVIEW_DO_VOTE) {
        ck_assert_ok(writ_review_judge_recount(&writ_panel_judge, review, arena, &again, NULL));
        ck_assert_int_eq(again.verdict, finding.verdict);
        ck_assert_uint_eq(again.log_n, finding.log_n);
    }
    writ_arena_free(arena);
    return finding.verdict;
}

START_TEST(panel_adds_weights_as_exact_fractions)
{
    static const struct {
        const char *votes, *weights[3];
        enum writ_review_event want;
    } rows[] = {
        /* 1/3 + 1/3 of 1 reach 2/3 exactly; with decimals they would not */
        {"aar", {"1/3", "1/3", "1/3"}, WRIT_REVIEW_DO_ACCEPT},
        {"aar", {"0.333", "0.333", "1/3"}, WRIT_REVIEW_DO_REVISE},
        {"ar-", {"1.5", "1/2", "0"}, WRIT_REVIEW_DO_ACCEPT},
        {"ara", {"1/2", "1.5", "1/2"}, WRIT_REVIEW_DO_REVISE},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct writ_review review = review_of(rows[i].votes, "review", "2");

        for (size_t j = 0; j < 3; j++) {
            ck_assert(writ_review_weight_read(writ_view_str(rows[i].weights[j]), &voters[j]));
        }
        ck_assert_msg(look_at(&review) == rows[i].want, "row %zu", i);
    }
}
END_TEST

START_TEST(panel_gives_the_vote_of_a_delegate_until_the_voter_votes)
{
    struct writ_review review = review_of("-a-", "review", "2");

    ck_assert_int_eq(look_at(&review), WRIT_REVIEW_DO_VOTE);
    voters[0].delegate = WRIT_LIT("bob");
    ck_assert_int_eq(look_at(&review), WRIT_REVIEW_DO_ACCEPT); /* two of three */
    voters[0].veto = true;
    ck_assert_int_eq(look_at(&review), WRIT_REVIEW_DO_ACCEPT);
    voters[0].vote = WRIT_REVIEW_REJECT; /* its own vote counts, and the veto is its own */
    ck_assert_int_eq(look_at(&review), WRIT_REVIEW_DO_REJECT);

    review = review_of("--a", "review", "3");
    voters[0].delegate = WRIT_LIT("bob");
    voters[1].delegate = WRIT_LIT("eve"); /* a chain */
    ck_assert_int_eq(look_at(&review), WRIT_REVIEW_DO_ACCEPT);
}
END_TEST

#define DIGEST "sha256:0000000000000000000000000000000000000000000000000000000000000000"

START_TEST(panel_counts_no_vote_that_was_cast_after_the_end_of_a_delegation)
{
    struct writ_review review = review_of("-a-", "review", "2");

    voters[0].delegate = WRIT_LIT("bob");
    voters[0].delegation = WRIT_LIT("first");
    voters[0].delegation_digest = writ_view_str(DIGEST);
    voters[0].delegated_until_us = 1000;
    voters[1].voted_us = 999;
    ck_assert_int_eq(look_at(&review), WRIT_REVIEW_DO_ACCEPT);
    voters[1].voted_us = 1000;
    ck_assert_int_eq(look_at(&review), WRIT_REVIEW_DO_VOTE);
    voters[1].voted_us = 999;
    voters[0].revoked = true;
    ck_assert_int_eq(look_at(&review), WRIT_REVIEW_DO_VOTE);

    review = review_of("--a", "review", "3"); /* a chain ends with its shortest part */
    voters[0].delegate = WRIT_LIT("bob");
    voters[0].delegation = WRIT_LIT("first");
    voters[0].delegation_digest = writ_view_str(DIGEST);
    voters[0].delegated_until_us = 1000;
    voters[1].delegate = WRIT_LIT("eve");
    voters[1].delegation = WRIT_LIT("second");
    voters[1].delegation_digest = writ_view_str(DIGEST);
    voters[1].delegated_until_us = 2000;
    voters[2].voted_us = 999;
    ck_assert_int_eq(look_at(&review), WRIT_REVIEW_DO_ACCEPT);
    voters[2].voted_us = 1500;
    ck_assert(writ_review_speaker(&review, &voters[0]) == &voters[0]);
    ck_assert(writ_review_speaker(&review, &voters[1]) == &voters[2]);
    ck_assert_int_eq(look_at(&review), WRIT_REVIEW_DO_VOTE);
}
END_TEST

START_TEST(panel_counts_a_stand_in_only_for_others)
{
    struct writ_review review = review_of("---a", "review", "2");

    voters[3].stand_in = true;
    voters[3].weight = 0;
    ck_assert_int_eq(look_at(&review), WRIT_REVIEW_DO_VOTE);
    voters[0].delegate = voters[1].delegate = WRIT_LIT("joe");
    ck_assert_int_eq(look_at(&review), WRIT_REVIEW_DO_ACCEPT);
    voters[1].vote = voters[2].vote = WRIT_REVIEW_REJECT;
    ck_assert_int_eq(look_at(&review), WRIT_REVIEW_DO_REJECT);
}
END_TEST

START_TEST(panel_of_majority_never_approves_in_a_tie)
{
    ck_assert_int_eq(look("aar", "majority", "2"), WRIT_REVIEW_DO_ACCEPT);
    ck_assert_int_eq(look("rra", "majority", "2"), WRIT_REVIEW_DO_REJECT);
    ck_assert_int_eq(look("mma", "majority", "2"), WRIT_REVIEW_DO_REVISE);
    ck_assert_int_eq(look("aarr", "majority", "2"), WRIT_REVIEW_DO_REVISE);
    ck_assert_int_eq(look("arm", "majority", "2"), WRIT_REVIEW_DO_REVISE);
    ck_assert_int_eq(look("aa-", "majority", "2"), WRIT_REVIEW_DO_ACCEPT);
    ck_assert_int_eq(look("aa--", "majority", "2"), WRIT_REVIEW_DO_VOTE);
    ck_assert_int_eq(look("a--", "majority", "1"), WRIT_REVIEW_DO_VOTE);
    ck_assert_int_eq(look("aaR", "majority", "2"), WRIT_REVIEW_DO_REJECT); /* a veto */
    ck_assert_int_eq(look("axx", "majority", "3"), WRIT_REVIEW_DO_ACCEPT);
}
END_TEST

START_TEST(panel_of_best_of_n_takes_the_highest_confidence)
{
    static const struct {
        const char *votes, *confidence[3];
        enum writ_review_event want;
    } rows[] = {
        {"arr", {"0.9", "0.8", "0.8"}, WRIT_REVIEW_DO_ACCEPT},
        {"arr", {"0.8", "0.9", "0.1"}, WRIT_REVIEW_DO_REJECT},
        {"arm", {"0.8", "0.80", "0.1"}, WRIT_REVIEW_DO_REVISE}, /* a tie */
        {"aar", {"0.8", "0.8", "0.1"}, WRIT_REVIEW_DO_ACCEPT},  /* they agree */
        {"aar", {"0.8", "0.80", "8e-2"}, WRIT_REVIEW_DO_ACCEPT},
        {"aa-", {"0.9", "0.9", ""}, WRIT_REVIEW_DO_VOTE},
        {"ax-", {"1", "1", ""}, WRIT_REVIEW_DO_VOTE}, /* the third may be as sure */
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct writ_review review = review_of(rows[i].votes, "best_of_n", "2");

        for (size_t j = 0; j < 3; j++) {
            writ_review_cast(&voters[j], voters[j].vote, &voters[j].ranking,
                writ_view_str(rows[i].confidence[j]), voters[j].voted_us);
        }
        ck_assert_msg(look_at(&review) == rows[i].want, "row %zu", i);
    }
}
END_TEST

/* Borda by itself, in the arithmetic of its definition: half points, half first places. */
static enum writ_review_event
borda_of(const char *votes)
{
    int score[WRIT_REVIEW_ABSTAIN + 1] = {0}, most = 0, best = WRIT_REVIEW_NO_VOTE, tied = 0;

    for (size_t i = 0; votes[i] != '\0'; i++) {
        if (votes[i] < '0' || votes[i] > '5') {
            continue;
        }
        for (int place = 0; place < 3; place++) {
            score[rankings[votes[i] - '0'].list[place]] += 2 - place + (place == 0 ? 2 : 0);
        }
    }
    for (int vote = A; vote <= M; vote++) {
        tied = score[vote] == most ? tied + 1 : score[vote] > most ? 0 : tied;
        best = score[vote] > most ? vote : best;
        most = score[vote] > most ? score[vote] : most;
    }
    return tied > 0 || best == M || most == 0 ? WRIT_REVIEW_DO_REVISE
           : best == A                        ? WRIT_REVIEW_DO_ACCEPT
                                              : WRIT_REVIEW_DO_REJECT;
}

/* All rankings of three voters, present, missing or abstaining: with all votes the verdict is that
 * of the definition; without all of them there is one only if every completion has it. */
START_TEST(panel_of_borda_gives_the_verdict_of_every_completion)
{
    static const char letters[] = "012345x-";

    for (unsigned cast = 0; cast < 512; cast++) {
        char votes[4] = {letters[cast & 7], letters[cast >> 3 & 7], letters[cast >> 6], 0};
        enum writ_review_event found = look(votes, "borda", "1"), first = WRIT_REVIEW_DO_VOTE;
        bool same = true, missing = false;

        for (unsigned later = 0; later < 343; later++) {
            char all[4] = {letters[later % 7], letters[later / 7 % 7], letters[later / 49], 0};
            enum writ_review_event verdict;

            for (unsigned i = 0; i < 3; i++) {
                missing |= votes[i] == '-';
                all[i] = votes[i] == '-' ? all[i] : votes[i];
            }
            verdict = borda_of(all);
            first = later == 0 ? verdict : first;
            same &= verdict == first;
        }
        if (!missing) {
            ck_assert_msg(found == first, "%s", votes);
        } else if (found != WRIT_REVIEW_DO_VOTE) {
            ck_assert_msg(same && found == first, "%s", votes);
        } else {
            ck_assert_msg(!same || first == WRIT_REVIEW_DO_REVISE, "%s could be decided", votes);
        }
    }
}
END_TEST

#define FEW 4 /* candidates 1 to 3, and reject */

/* The `nth` order of 1, 2, 3 and reject. */
static struct writ_review_ranking
order_of(unsigned nth)
{
    static const enum writ_review_vote all[FEW] = {WRIT_REVIEW_CANDIDATE_1, WRIT_REVIEW_CANDIDATE_2,
        WRIT_REVIEW_CANDIDATE_3, WRIT_REVIEW_REJECT};
    struct writ_review_ranking ranking = {.n = 0};
    bool used[FEW] = {false};

    for (unsigned left = FEW; left > 0; left--) {
        unsigned skip = nth % left, at = 0;

        nth /= left;
        while (used[at] || skip-- > 0) {
            at++;
        }
        used[at] = true;
        ranking.list[ranking.n++] = all[at];
    }
    return ranking;
}

/* Points and first places of the definition; NO_VOTE: a tie. */
static enum writ_review_vote
best_of(const struct writ_review_ranking *ballots, size_t n)
{
    int score[WRIT_REVIEW_CANDIDATE_8 + 1] = {0}, most = -1;
    enum writ_review_vote best = WRIT_REVIEW_NO_VOTE;

    for (size_t i = 0; i < n; i++) {
        for (int place = 0; place < FEW; place++) {
            score[ballots[i].list[place]] += FEW - 1 - place + (place == 0 ? FEW - 1 : 0);
        }
    }
    for (int option = 0; option <= WRIT_REVIEW_CANDIDATE_8; option++) {
        best = score[option] > most    ? (enum writ_review_vote)option
               : score[option] == most ? WRIT_REVIEW_NO_VOTE
                                       : best;
        most = score[option] > most ? score[option] : most;
    }
    return best;
}

/* Two votes of three: the verdict is certain exactly when each third vote gives it. With all three
 * it is that of the definition. */
START_TEST(panel_elects_the_candidate_of_every_completion)
{
    static const struct writ_review_ranking none = {.n = 0}, others = {{R}, 1};
    static struct writ_review_candidate candidates[3] = {
        {WRIT_REVIEW_CANDIDATE_1, WRIT_LIT("a"), WRIT_LIT("i"), {"", 0}},
        {WRIT_REVIEW_CANDIDATE_2, WRIT_LIT("b"), WRIT_LIT("j"), {"", 0}},
        {WRIT_REVIEW_CANDIDATE_3, WRIT_LIT("c"), WRIT_LIT("k"), {"", 0}}};
    struct writ_review review = review_of("---", "borda", "1");

    review.candidates = candidates;
    review.candidates_n = 3;
    review.intent_digest = candidates[0].intent_digest;
    writ_review_offer(&review, &others);
    ck_assert_ok(writ_review_terms_check(&review, NULL));
    for (unsigned cast = 0; cast < 24 * 24 * 2; cast += 3) { /* each first and second vote */
        struct writ_review_ranking ballots[3] = {order_of(cast % 24), order_of(cast / 24 % 24)};
        bool whole = cast >= 24 * 24, same = true;
        enum writ_review_vote first = WRIT_REVIEW_NO_VOTE, best;
        struct writ_arena *arena = writ_arena_new(ARENA_MAX);
        struct writ_review_finding finding = {0};

        for (unsigned i = 0; i < 3; i++) {
            bool votes = i < 2 || whole;

            ballots[2] = order_of(cast * 7 % 24);
            writ_review_cast(&voters[i], votes ? ballots[i].list[0] : WRIT_REVIEW_NO_VOTE,
                votes ? &ballots[i] : &none, writ_view("", 0), 0);
        }
        ck_assert_ok(writ_review_judge_look(&writ_panel_judge, &review, arena, &finding, NULL));
        for (unsigned later = 0; !whole && later < 24; later++) {
            ballots[2] = order_of(later);
            best = best_of(ballots, 3);
            first = later == 0 ? best : first;
            same &= best == first;
        }
        best = whole ? best_of(ballots, 3) : same ? first : WRIT_REVIEW_NO_VOTE;
        ck_assert_int_eq(finding.verdict, best == R                     ? WRIT_REVIEW_DO_REJECT
                                          : best != WRIT_REVIEW_NO_VOTE ? WRIT_REVIEW_DO_ACCEPT
                                          : whole                       ? WRIT_REVIEW_DO_REVISE
                                                                        : WRIT_REVIEW_DO_VOTE);
        ck_assert_int_eq(finding.elected, best == R ? WRIT_REVIEW_NO_VOTE : best);
        writ_arena_free(arena);
    }
}
END_TEST

static writ_result
count_calls(void *ctx, const struct writ_review *review, bool with_log, struct writ_arena *arena,
    struct writ_review_finding *ret, struct writ_err *err)
{
    ++*(size_t *)ctx;
    return writ_panel_judge.count(writ_panel_judge.ctx, review, with_log, arena, ret, err);
}

START_TEST(panel_of_many_candidates_is_decided_early_with_one_count_for_each)
{
    static const struct writ_review_ranking others = {{R, M}, 2};
    static struct writ_review_candidate candidates[WRIT_REVIEW_CANDIDATES_MAX];
    static const char digests[WRIT_REVIEW_CANDIDATES_MAX][2] = {
        "a", "b", "c", "d", "e", "f", "g", "h"};
    struct writ_review review = review_of("-----", "borda", "1");
    size_t calls = 0;
    const struct writ_review_judge judge = {count_calls, &calls};
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);
    struct writ_review_finding finding = {0};

    for (size_t i = 0; i < WRIT_REVIEW_CANDIDATES_MAX; i++) {
        candidates[i] = (struct writ_review_candidate){.option = writ_review_candidate_at(i),
            .state_free_digest = writ_view_str(digests[i]),
            .intent_digest = writ_view_str(digests[i])};
    }
    review.candidates = candidates;
    review.candidates_n = WRIT_REVIEW_CANDIDATES_MAX;
    review.intent_digest = candidates[0].intent_digest;
    writ_review_offer(&review, &others);
    ck_assert_ok(writ_review_terms_check(&review, NULL));
    for (size_t voted = 1; voted < review.voters_n; voted++) { /* all for the first of them */
        writ_review_cast(&review.voters[voted - 1], review.options.list[0], &review.options,
            writ_view("", 0), 0);
        calls = 0;
        ck_assert_ok(writ_review_judge_look(&judge, &review, arena, &finding, NULL));
        ck_assert_uint_le(calls, review.options.n + 1);
    }
    ck_assert_int_eq(finding.verdict, WRIT_REVIEW_DO_ACCEPT);
    ck_assert_int_eq(finding.elected, WRIT_REVIEW_CANDIDATE_1);
    writ_arena_free(arena);
}
END_TEST

START_TEST(panel_with_an_order_dependent_engine_is_refused)
{
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);
    struct writ_review review = review_of("aa", "first_valid", "0");
    struct writ_review_finding finding = {.log_n = 7};

    ck_assert_code(
        writ_review_judge_look(&writ_panel_judge, &review, arena, &finding, NULL), WRIT_E_INVALID);
    ck_assert_uint_eq(finding.log_n, 7);
    writ_arena_free(arena);
}
END_TEST

/* ---- plug-ins */

/** What a plug-in does; `asked` counts its calls. */
struct deed {
    enum { ELECTS, BALLOT, TIE, FORGES, REFUSES, FAILS, RUNS_OUT } what;
    size_t winner; /* of the candidates in their order: approve, modify, reject */
    size_t asked;
};

static writ_result
do_deed(void *ctx, const struct writ_crew_poll *poll, struct writ_crew_tally *tally,
    bool *ret_refused, struct writ_err *err)
{
    struct deed *deed = ctx;

    deed->asked++;
    ck_assert_uint_eq(poll->candidates_n, 3);
    *ret_refused = deed->what == REFUSES;
    if (deed->what == ELECTS || deed->what == REFUSES) {
        tally->candidate(tally, deed->winner);
    } else if (deed->what == BALLOT) {
        tally->ballot(tally, poll->ballots_n - 1);
    } else if (deed->what == FORGES) {
        tally->candidate(tally, 3);
    } else if (deed->what == FAILS) {
        WRIT_FAIL(err, WRIT_E_IO, "its process was ended by signal 11 \033[31m");
    } else if (deed->what == RUNS_OUT) {
        return (writ_result){WRIT_E_NOMEM};
    }
    return WRIT_DONE;
}

static struct writ_review
plugin_review(const char *votes)
{
    struct writ_review review = review_of(votes, "tally.so", "1/2");

    review.engine_digest =
        WRIT_LIT("sha256:0000000000000000000000000000000000000000000000000000000000000000");
    return review;
}

static enum writ_review_event
look_with(
    const char *votes, struct deed *deed, struct writ_arena *arena, struct writ_review_finding *ret)
{
    struct writ_review review = plugin_review(votes);
    const struct writ_panel_plugin plugin = {do_deed, deed};
    struct writ_review_judge judge = writ_panel_judge_with(&plugin);

    ck_assert_ok(writ_review_judge_look(&judge, &review, arena, ret, NULL));
    return ret->verdict;
}

START_TEST(plugin_counts_once_when_all_have_voted_and_its_winner_is_the_verdict)
{
    static const enum writ_review_event verdicts[] = {
        WRIT_REVIEW_DO_ACCEPT, WRIT_REVIEW_DO_REVISE, WRIT_REVIEW_DO_REJECT};
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);
    struct writ_review_finding finding, again;

    for (size_t i = 0; i < 3; i++) {
        struct deed deed = {.what = ELECTS, .winner = i};

        ck_assert_int_eq(look_with("aam", &deed, arena, &finding), verdicts[i]);
        ck_assert_uint_eq(deed.asked, 1);
        ck_assert_uint_gt(finding.log_n, 0);
        ck_assert_int_eq(look_with("aam", &deed, arena, &again), verdicts[i]);
        ck_assert_uint_eq(again.log_n, finding.log_n);
        for (size_t at = 0; at < again.log_n; at++) {
            ck_assert(writ_view_equal(again.log[at], finding.log[at]));
        }
    }
    for (size_t i = 0; i < 3; i++) {
        static const char *const missing[] = {"aa-", "---", "a-A"};
        struct deed deed = {.what = ELECTS};

        ck_assert_int_eq(look_with(missing[i], &deed, arena, &finding), WRIT_REVIEW_DO_VOTE);
        ck_assert_uint_eq(deed.asked, 0);
    }
    writ_arena_free(arena);
}
END_TEST

START_TEST(plugin_gives_no_verdict_of_its_own_but_that_of_a_tie)
{
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);
    struct writ_review_finding finding;
    struct deed deed = {.what = TIE};

    ck_assert_int_eq(look_with("aaa", &deed, arena, &finding), WRIT_REVIEW_DO_REVISE);
    deed.what = BALLOT; /* its first choice */
    ck_assert_int_eq(look_with("aar", &deed, arena, &finding), WRIT_REVIEW_DO_REJECT);
    ck_assert_int_eq(look_with("rra", &deed, arena, &finding), WRIT_REVIEW_DO_ACCEPT);
    writ_arena_free(arena);
}
END_TEST

START_TEST(plugin_that_fails_refuses_or_forges_fails_the_count)
{
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);
    struct writ_review_finding finding;
    struct deed deed = {.what = FAILS};

    ck_assert_int_eq(look_with("aaa", &deed, arena, &finding), WRIT_REVIEW_DO_FAIL);
    ck_assert_view(finding.fault, "its process was ended by signal 11 ?[31m");
    ck_assert_uint_eq(finding.log_n, 0);
    deed.what = REFUSES;
    ck_assert_int_eq(look_with("aaa", &deed, arena, &finding), WRIT_REVIEW_DO_FAIL);
    ck_assert_view(finding.fault, "it refuses the ballots");
    deed.what = FORGES;
    ck_assert_int_eq(look_with("aaa", &deed, arena, &finding), WRIT_REVIEW_DO_FAIL);
    ck_assert_view(finding.fault, "it names a winner that there is not");
    writ_arena_free(arena);
}
END_TEST

START_TEST(plugin_without_memory_is_counted_again_later)
{
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);
    struct writ_review review = plugin_review("aaa");
    struct deed deed = {.what = RUNS_OUT};
    const struct writ_panel_plugin plugin = {do_deed, &deed};
    struct writ_review_judge judge = writ_panel_judge_with(&plugin);
    struct writ_review_finding finding = {.log_n = 7};

    ck_assert_code(writ_review_judge_look(&judge, &review, arena, &finding, NULL), WRIT_E_NOMEM);
    ck_assert_uint_eq(finding.log_n, 7);
    writ_arena_free(arena);
}
END_TEST

START_TEST(veto_and_abstentions_need_no_plugin)
{
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);
    struct writ_review_finding finding;
    struct writ_review review;
    struct deed deed = {.what = ELECTS};

    ck_assert_int_eq(look_with("aR-", &deed, arena, &finding), WRIT_REVIEW_DO_REJECT);
    ck_assert_int_eq(look_with("xxx", &deed, arena, &finding), WRIT_REVIEW_DO_REVISE);
    ck_assert_uint_eq(deed.asked, 0);
    review = plugin_review("aaa"); /* where no plug-in can be asked there is no verdict */
    ck_assert_ok(writ_review_judge_look(&writ_panel_judge, &review, arena, &finding, NULL));
    ck_assert_int_eq(finding.verdict, WRIT_REVIEW_DO_VOTE);
    review = plugin_review("Raa");
    ck_assert_ok(writ_review_judge_look(&writ_panel_judge, &review, arena, &finding, NULL));
    ck_assert_int_eq(finding.verdict, WRIT_REVIEW_DO_REJECT);
    writ_arena_free(arena);
}
END_TEST

START_TEST(count_with_each_engine_of_the_table_gives_a_verdict)
{
#define LOOKS(NAME, word, NEEDS) ck_assert_int_eq(look("aaa", (word), "2"), WRIT_REVIEW_DO_ACCEPT);
    WRIT_REVIEW_ENGINES(LOOKS)
#undef LOOKS
}
END_TEST

START_TEST(panel_of_the_same_votes_gives_the_same_events)
{
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);
    struct writ_review review = review_of("aa-", "review", "2");
    struct writ_review_finding one, other;
    struct writ_view last;

    ck_assert_ok(writ_review_judge_look(&writ_panel_judge, &review, arena, &one, NULL));
    ck_assert_ok(writ_review_judge_look(&writ_panel_judge, &review, arena, &other, NULL));
    ck_assert_uint_eq(one.log_n, other.log_n);
    for (size_t i = 0; i < one.log_n; i++) {
        ck_assert(writ_view_equal(one.log[i], other.log[i]));
    }
    last = one.log[one.log_n - 1];
    ck_assert_view(last, "{\"finalOutput\":\"ACCEPT\",\"ts\":2000,\"type\":\"crew.completed\"}");
    writ_arena_free(arena);
}
END_TEST

WRIT_UNIT_MAIN("panel", plugin_counts_once_when_all_have_voted_and_its_winner_is_the_verdict,
    plugin_gives_no_verdict_of_its_own_but_that_of_a_tie,
    plugin_that_fails_refuses_or_forges_fails_the_count,
    plugin_without_memory_is_counted_again_later, veto_and_abstentions_need_no_plugin,
    panel_decides_once_no_vote_can_change_the_verdict, panel_verdict_holds_under_every_later_vote,
    panel_unanimous_needs_all_and_revises_on_one_objection,
    panel_counts_an_abstention_for_the_quorum_alone, panel_adds_weights_as_exact_fractions,
    panel_gives_the_vote_of_a_delegate_until_the_voter_votes,
    panel_counts_no_vote_that_was_cast_after_the_end_of_a_delegation,
    panel_counts_a_stand_in_only_for_others, panel_of_majority_never_approves_in_a_tie,
    panel_of_best_of_n_takes_the_highest_confidence,
    panel_of_borda_gives_the_verdict_of_every_completion,
    panel_of_many_candidates_is_decided_early_with_one_count_for_each,
    panel_elects_the_candidate_of_every_completion, panel_with_an_order_dependent_engine_is_refused,
    count_with_each_engine_of_the_table_gives_a_verdict,
    panel_of_the_same_votes_gives_the_same_events)
