/* Whether the present votes decide a review. It is decided only when no missing vote can change the
 * verdict. */
#include "evidence/record/review_judge.h"

static WRIT_RESULT
copy_voters(const struct writ_review *review, struct writ_arena *arena, struct writ_review *ret,
    struct writ_err *err)
{
    struct writ_review copy = *review;

    copy.voters = writ_arena_get(arena, review->voters_n * sizeof *review->voters);
    if (copy.voters == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to count votes");
    }
    for (size_t i = 0; i < review->voters_n; i++) {
        copy.voters[i] = review->voters[i];
    }
    *ret = copy;
    return WRIT_DONE;
}

/* A copy in which each voter has the vote of its speaker. */
static WRIT_RESULT
speak(const struct writ_review *review, struct writ_arena *arena, struct writ_review *ret,
    struct writ_err *err)
{
    WRIT_TRY(copy_voters(review, arena, ret, err));
    for (size_t i = 0; i < review->voters_n; i++) {
        const struct writ_review_voter *speaker = writ_review_speaker(review, &review->voters[i]);

        writ_review_cast(&ret->voters[i], speaker->vote, &speaker->ranking,
            writ_view_str(speaker->confidence), speaker->voted_us);
    }
    return WRIT_DONE;
}

/* A ballot with the option at `first` before all others, and that at `last` behind them. */
static struct writ_review_ranking
rank_between(const struct writ_review_ranking *options, size_t first, size_t last)
{
    struct writ_review_ranking ranking = {{options->list[first]}, 1};

    for (size_t i = 0; i < options->n; i++) {
        if (i != first && i != last) {
            ranking.list[ranking.n++] = options->list[i];
        }
    }
    if (last != first) {
        ranking.list[ranking.n++] = options->list[last];
    }
    return ranking;
}

/* Counts with all missing votes cast like this. */
static WRIT_RESULT
count_as(const struct writ_review_judge *judge, const struct writ_review *review,
    const struct writ_review_ranking *vote, struct writ_arena *arena,
    struct writ_review_finding *ret, struct writ_err *err)
{
    static const struct writ_review_ranking none = {.n = 0};
    struct writ_review_finding finding = {.verdict = WRIT_REVIEW_DO_VOTE};
    struct writ_review other;

    WRIT_TRY(copy_voters(review, arena, &other, err));
    for (size_t i = 0; i < other.voters_n; i++) {
        if (other.voters[i].vote == WRIT_REVIEW_NO_VOTE) {
            writ_review_cast(&other.voters[i], vote->list[0], review->options.n > 0 ? vote : &none,
                WRIT_LIT("1"), 0);
        }
    }
    WRIT_TRY(judge->count(judge->ctx, &other, false, arena, &finding, err));
    *ret = finding;
    return WRIT_DONE;
}

static bool
same_finding(const struct writ_review_finding *a, const struct writ_review_finding *b)
{
    return a->verdict == b->verdict && a->elected == b->elected;
}

/* The option that a verdict stands for; NO_VOTE: no single one, as after a tie. */
static enum writ_review_vote
winner_of(const struct writ_review_finding *finding)
{
    if (finding->verdict == WRIT_REVIEW_DO_REJECT) {
        return WRIT_REVIEW_REJECT;
    }
    if (finding->verdict == WRIT_REVIEW_DO_ACCEPT) {
        return finding->elected != WRIT_REVIEW_NO_VOTE ? finding->elected : WRIT_REVIEW_APPROVE;
    }
    return WRIT_REVIEW_NO_VOTE;
}

/* Counts with each option in turn before all others on the missing ballots, and the winner behind
 * them: no ballot is better for that option against the winner, so a winner of all these counts
 * wins whatever is missing. A revision can have several reasons: it waits for all votes. */
static WRIT_RESULT
count_rankings(const struct writ_review_judge *judge, const struct writ_review *review,
    struct writ_arena *arena, struct writ_review_finding *ret, struct writ_err *err)
{
    const struct writ_review_ranking *options = &review->options;
    struct writ_review_ranking ballot = rank_between(options, 0, options->n - 1);
    struct writ_review_finding found = {.verdict = WRIT_REVIEW_DO_VOTE}, other;
    size_t winner = 0;

    WRIT_TRY(count_as(judge, review, &ballot, arena, &found, err));
    *ret = found;
    if (writ_review_all_spoke(review)) {
        return WRIT_DONE;
    }
    while (winner < options->n && options->list[winner] != winner_of(&found)) {
        winner++;
    }
    for (size_t i = 0; winner < options->n && i < options->n; i++) {
        if (i != winner) {
            ballot = rank_between(options, i, winner);
            WRIT_TRY(count_as(judge, review, &ballot, arena, &other, err));
            winner = same_finding(&other, &found) ? winner : options->n;
        }
    }
    if (winner == options->n) {
        *ret = (struct writ_review_finding){.verdict = WRIT_REVIEW_DO_VOTE};
    }
    return WRIT_DONE;
}

/* Counts with each vote on all that is missing: a vote moves a share, or a difference of points, in
 * one direction only, so votes in between change nothing. */
static WRIT_RESULT
count_votes(const struct writ_review_judge *judge, const struct writ_review *review,
    struct writ_arena *arena, struct writ_review_finding *ret, struct writ_err *err)
{
    static const enum writ_review_vote words[] = {
        WRIT_REVIEW_REJECT, WRIT_REVIEW_APPROVE, WRIT_REVIEW_MODIFY};
    size_t n = writ_review_all_spoke(review) ? 1 : sizeof words / sizeof words[0];
    struct writ_review_finding certain = {.verdict = WRIT_REVIEW_DO_VOTE};

    for (size_t i = 0; i < n; i++) { /* with all votes, each is the same */
        const struct writ_review_ranking vote = {{words[i]}, 1};
        struct writ_review_finding found = {.verdict = WRIT_REVIEW_DO_VOTE};

        WRIT_TRY(count_as(judge, review, &vote, arena, &found, err));
        if (i > 0 && !same_finding(&found, &certain)) {
            *ret = (struct writ_review_finding){.verdict = WRIT_REVIEW_DO_VOTE};
            return WRIT_DONE;
        }
        certain = found;
    }
    *ret = certain;
    return WRIT_DONE;
}

/* `ret`: the verdict whatever the missing votes are; VOTE: there is none. */
static WRIT_RESULT
count_certain(const struct writ_review_judge *judge, const struct writ_review *review,
    struct writ_arena *arena, struct writ_review_finding *ret, struct writ_err *err)
{
    return review->options.n > 0 ? count_rankings(judge, review, arena, ret, err)
                                 : count_votes(judge, review, arena, ret, err);
}

/* By a plug-in, of which nothing is known: no vote is missing, or a veto makes the count idle. */
static WRIT_RESULT
look_whole(const struct writ_review_judge *judge, const struct writ_review *review,
    struct writ_arena *arena, struct writ_review_finding *ret, struct writ_err *err)
{
    if (writ_review_is_vetoed(review) || writ_review_all_spoke(review)) {
        return judge->count(judge->ctx, review, true, arena, ret, err);
    }
    *ret = (struct writ_review_finding){.verdict = WRIT_REVIEW_DO_VOTE};
    return WRIT_DONE;
}

WRIT_RESULT
writ_review_judge_recount(const struct writ_review_judge *judge, const struct writ_review *review,
    struct writ_arena *arena, struct writ_review_finding *ret, struct writ_err *err)
{
    struct writ_review spoken;

    WRIT_TRY(speak(review, arena, &spoken, err));
    return judge->count(judge->ctx, &spoken, true, arena, ret, err);
}

WRIT_RESULT
writ_review_judge_look(const struct writ_review_judge *judge, const struct writ_review *review,
    struct writ_arena *arena, struct writ_review_finding *ret, struct writ_err *err)
{
    struct writ_review_finding cast = {.verdict = WRIT_REVIEW_DO_VOTE};
    struct writ_review_finding certain = {.verdict = WRIT_REVIEW_DO_VOTE};
    struct writ_review spoken;

    WRIT_TRY(speak(review, arena, &spoken, err));
    if (writ_review_is_plugin(review->engine)) {
        return look_whole(judge, &spoken, arena, ret, err);
    }
    WRIT_TRY(count_certain(judge, &spoken, arena, &certain, err));
    if (certain.verdict != WRIT_REVIEW_DO_VOTE) {
        WRIT_TRY(judge->count(judge->ctx, &spoken, true, arena, &cast, err));
    }
    if (!same_finding(&cast, &certain)) { /* without a quorum, or still open */
        cast = (struct writ_review_finding){.verdict = WRIT_REVIEW_DO_VOTE};
    }
    *ret = cast;
    return WRIT_DONE;
}
