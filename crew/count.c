/* Equal outputs are one group, at the place of its first ballot. Weights are added as integers, and
 * a share of them is compared as a fraction wherever the library that the vectors come from allows
 * it. */
#include "crew/count.h"

#include "base/text.h"
#include "evidence/json/jcs.h"

#define SHOWN_MAX 48 /* bytes of an output in an explanation */

/* An output and the number of ballots with it: one line of an explanation. */
static void
explain_group(const struct writ_count *count, struct writ_tally *tally, size_t at, int64_t weight)
{
    struct writ_view output = count->poll.ballots[at].output;
    char text[SHOWN_MAX * 6];
    struct writ_buf shown = writ_buf_over(text, sizeof text);

    writ_text_safe(&shown, output.ptr != NULL ? output : WRIT_LIT("no output"), SHOWN_MAX);
    writ_tally_explain(tally, "%lld for " WRIT_VIEW_FMT "%s (first from " WRIT_VIEW_FMT ")",
        (long long)weight, WRIT_VIEW_ARG(writ_buf_view(&shown)),
        output.len > SHOWN_MAX ? "..." : "", WRIT_VIEW_ARG(count->poll.ballots[at].agent_id));
}

/* The weight of each group of equal outputs, at the place of its first ballot. NULL: no memory. */
static int64_t *
weigh(const struct writ_count *count, int64_t *ret_all)
{
    int64_t *weights = writ_arena_get(count->arena, count->poll.ballots_n * sizeof *weights);
    int64_t all = 0;

    for (size_t at = 0; weights != NULL && at < count->poll.ballots_n; at++) {
        weights[at] = 0;
        weights[count->ballots[at].first] += count->ballots[at].weight;
        all += count->ballots[at].weight;
    }
    *ret_all = all;
    return weights;
}

WRIT_RESULT
writ_count_first(
    const struct writ_count *count, struct writ_tally *tally, struct writ_crew_err *err)
{
    (void)err;
    writ_tally_explain(tally, "the first valid output is from " WRIT_VIEW_FMT,
        WRIT_VIEW_ARG(count->poll.ballots[0].agent_id));
    writ_tally_ballot(tally, 0);
    return WRIT_DONE;
}

WRIT_RESULT
writ_count_unanimous(
    const struct writ_count *count, struct writ_tally *tally, struct writ_crew_err *err)
{
    (void)err;
    for (size_t at = 1; at < count->poll.ballots_n; at++) {
        if (count->ballots[at].first != 0) {
            writ_tally_explain(tally, WRIT_VIEW_FMT " disagrees with " WRIT_VIEW_FMT,
                WRIT_VIEW_ARG(count->poll.ballots[at].agent_id),
                WRIT_VIEW_ARG(count->poll.ballots[0].agent_id));
            return WRIT_DONE;
        }
    }
    writ_tally_explain(tally, "all %zu agree", count->poll.ballots_n);
    writ_tally_ballot(tally, 0);
    return WRIT_DONE;
}

WRIT_RESULT
writ_count_majority(
    const struct writ_count *count, struct writ_tally *tally, struct writ_crew_err *err)
{
    size_t best = 0, equals = 0;
    size_t *votes = writ_arena_get(count->arena, count->poll.ballots_n * sizeof *votes);

    if (votes == NULL) {
        return writ_failure_memory(err);
    }
    for (size_t at = 0; at < count->poll.ballots_n; at++) {
        votes[at] = 0;
        votes[count->ballots[at].first]++;
    }
    for (size_t at = 0; at < count->poll.ballots_n; at++) {
        if (votes[at] > 0) {
            explain_group(count, tally, at, (int64_t)votes[at]);
        }
        if (votes[at] > votes[best]) {
            best = at;
            equals = 0;
        }
        equals += votes[at] == votes[best];
    }
    if (equals > 1 && count->voting->tie) {
        writ_tally_explain(tally, "a tie of %zu: none wins", equals);
        return WRIT_DONE;
    }
    if (equals > 1) {
        writ_tally_explain(tally, "a tie of %zu: the one that was seen first", equals);
    }
    writ_tally_ballot(tally, best);
    return WRIT_DONE;
}

/* Without weights, and with a threshold written as a number, the comparison is the one of the
 * public library, in doubles (semantics 6); else it is exact (19). */
static bool
reaches(const struct writ_crew_voting *voting, int64_t weight, int64_t all)
{
    if (voting->weights_n == 0 && voting->threshold_number >= 0) {
        return (double)weight / (double)all >= voting->threshold_number;
    }
    return writ_rational_compare(weight, all, voting->threshold) >= 0;
}

WRIT_RESULT
writ_count_weighted(
    const struct writ_count *count, struct writ_tally *tally, struct writ_crew_err *err)
{
    const struct writ_crew_voting *voting = count->voting;
    int64_t all = 0;
    const int64_t *weights = weigh(count, &all);

    if (weights == NULL) {
        return writ_failure_memory(err);
    }
    if (!writ_view_is(voting->weight_function, "equal")) {
        return writ_failure_set(err, WRIT_E_INVALID, WRIT_CREW_NOT_IMPLEMENTED,
            "there is no weight function but \"equal\"; see \"weights\"");
    }
    for (size_t at = 0; at < count->poll.ballots_n; at++) {
        if (count->ballots[at].first != at) {
            continue;
        }
        explain_group(count, tally, at, weights[at]);
        if (all > 0 && tally->winner == WRIT_TALLY_NOBODY && reaches(voting, weights[at], all)) {
            writ_tally_ballot(tally, at);
        }
    }
    writ_tally_explain(tally, "%s of a weight of %lld",
        tally->winner == WRIT_TALLY_NOBODY ? "nothing reaches its share"
                                           : "the first that reaches its share",
        (long long)all);
    return WRIT_DONE;
}

/* Whether another output has the score of the best one. */
static bool
ties(const struct writ_count *count, size_t best)
{
    bool found = false;

    for (size_t at = 0; at < count->poll.ballots_n; at++) {
        found |= count->ballots[at].score == count->ballots[best].score &&
                 count->ballots[at].first != count->ballots[best].first;
    }
    return found;
}

WRIT_RESULT
writ_count_best(const struct writ_count *count, struct writ_tally *tally, struct writ_crew_err *err)
{
    size_t best = 0;

    if (count->voting->score.ptr == NULL) {
        return writ_failure_set(err, WRIT_E_INVALID, WRIT_CREW_NOT_IMPLEMENTED,
            "best_of_n needs \"score\", a JSON Pointer into the outputs");
    }
    for (size_t at = 0; at < count->poll.ballots_n; at++) {
        char score[WRIT_JCS_NUMBER_TEXT];
        size_t len = writ_jcs_number_text(count->ballots[at].score, score);
        writ_tally_explain(tally, WRIT_VIEW_FMT " scores " WRIT_VIEW_FMT,
            WRIT_VIEW_ARG(count->poll.ballots[at].agent_id), WRIT_VIEW_ARG(writ_view(score, len)));
        if (count->ballots[at].score > count->ballots[best].score) {
            best = at;
        }
    }
    if (count->voting->tie && ties(count, best)) {
        writ_tally_explain(tally, "different outputs have the highest score: none wins");
        return WRIT_DONE;
    }
    writ_tally_ballot(tally, best);
    return WRIT_DONE;
}

WRIT_RESULT
writ_count_engine(
    const struct writ_count *count, struct writ_tally *tally, struct writ_crew_err *err)
{
    size_t before = tally->why.len;
    int refused;

    tally->engine = count->engine;
    refused = count->engine->count(&count->poll, &tally->face);
    if (refused != 0) {
        struct writ_view why = writ_view_sub(writ_buf_view(&tally->why), before, SIZE_MAX);
        why = writ_view_sub(why, 0, writ_view_find(why, '\n'));
        return writ_failure_set(err, WRIT_E_INVALID, WRIT_CREW_INVALID_BALLOT,
            "engine %s refuses these ballots%s" WRIT_VIEW_FMT, count->engine->name,
            why.len > 0 ? ": " : "", WRIT_VIEW_ARG(why));
    }
    if ((tally->winner == WRIT_TALLY_BALLOT && tally->index >= count->poll.ballots_n) ||
        (tally->winner == WRIT_TALLY_CANDIDATE && tally->index >= count->poll.candidates_n)) {
        return writ_failure_set(err, WRIT_E_INVALID, WRIT_CREW_INVALID_BALLOT,
            "engine %s names a winner that there is not", count->engine->name);
    }
    return WRIT_DONE;
}

/* ---- review (semantics 17) */

WRIT_RESULT
writ_count_review(
    const struct writ_count *count, struct writ_tally *tally, struct writ_crew_err *err)
{
    struct writ_rational threshold = count->voting->threshold;
    int64_t approve = 0, reject = 0, modify = 0, all = 0, tenths;

    (void)err;
    tally->winner = WRIT_TALLY_WORD;
    for (size_t at = 0; at < count->poll.ballots_n; at++) {
        const struct writ_count_ballot *ballot = &count->ballots[at];
        approve += ballot->opinion == WRIT_COUNT_APPROVE ? ballot->weight : 0;
        reject += ballot->opinion == WRIT_COUNT_REJECT ? ballot->weight : 0;
        modify += ballot->opinion == WRIT_COUNT_MODIFY ? ballot->weight : 0;
        if (ballot->veto && ballot->opinion == WRIT_COUNT_REJECT) {
            writ_tally_explain(tally, WRIT_VIEW_FMT " has a veto and rejects",
                WRIT_VIEW_ARG(count->poll.ballots[at].agent_id));
            tally->word = "REJECT";
            return WRIT_DONE;
        }
    }
    all = approve + reject + modify;
    tally->word = "REQUEST_REVISION";
    if (all == 0) {
        writ_tally_explain(tally, "no votes received: approval 0.0 %%");
        return WRIT_DONE;
    }
    if (writ_rational_compare(2 * approve + modify, 2 * all, threshold) >= 0) {
        tally->word = "ACCEPT";
    } else if (writ_rational_compare(reject, all, threshold) >= 0) {
        tally->word = "REJECT";
    }
    tenths = ((2 * approve + modify) * 1000 + all) / (2 * all);
    writ_tally_explain(tally,
        "%lld approve, %lld reject, %lld modify: approval %lld.%lld %%, threshold %lld/%lld",
        (long long)approve, (long long)reject, (long long)modify, (long long)(tenths / 10),
        (long long)(tenths % 10), (long long)threshold.numerator, (long long)threshold.denominator);
    return WRIT_DONE;
}
