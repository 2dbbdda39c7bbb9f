/* Constrained Hybrid Borda (semantics 16.5). The poll holds only complete strict rankings. The
 * order of its candidates decides ties: that of UTF-16 code units, or any other one with `names`.
 */
#include "crew/count.h"
#include "evidence/json/jcs.h"

/** What a candidate has. */
struct standing {
    int64_t points; /* m-1 for a first place, 0 for a last one */
    int64_t firsts;
};

static size_t
place_of(const struct writ_count *count, struct writ_view name)
{
    const struct writ_crew_poll *poll = &count->poll;
    size_t low = 0, high = poll->candidates_n;

    if (count->names != NULL) {
        low = high = writ_names_find(count->names, name);
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (writ_jcs_compare(poll->candidates[middle], name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    WRIT_INVARIANT(low < poll->candidates_n && writ_view_equal(poll->candidates[low], name));
    return low;
}

static void
score(const struct writ_count *count, struct standing *standings)
{
    const struct writ_crew_poll *poll = &count->poll;

    for (size_t at = 0; at < poll->candidates_n; at++) {
        standings[at] = (struct standing){0, 0};
    }
    for (size_t at = 0; at < poll->ballots_n; at++) {
        const struct writ_crew_ballot *ballot = &poll->ballots[at];
        for (size_t place = 0; place < ballot->ranking_n; place++) {
            struct standing *standing = &standings[place_of(count, ballot->ranking[place])];
            standing->points += (int64_t)(ballot->ranking_n - 1 - place);
            standing->firsts += place == 0;
        }
    }
}

/* t >= alpha * k and B >= beta * max B */
static bool
eligible(const struct writ_count *count, const struct standing *standing, int64_t most_points)
{
    int64_t voters = (int64_t)count->poll.ballots_n;

    return writ_rational_compare(standing->firsts, voters, count->voting->alpha) >= 0 &&
           (__int128)standing->points * count->voting->beta.denominator >=
               (__int128)count->voting->beta.numerator * most_points;
}

/* H over the common denominator k * (m-1) * lambda's. */
static __int128
hybrid(const struct writ_count *count, const struct standing *standing)
{
    struct writ_rational lambda = count->voting->lambda;

    return (__int128)(lambda.denominator - lambda.numerator) * standing->points +
           (__int128)lambda.numerator * standing->firsts * (int64_t)(count->poll.candidates_n - 1);
}

/* Whether another candidate has the score of the best one. */
static bool
ties(const struct writ_count *count, const struct standing *standings, size_t best)
{
    bool found = false;

    for (size_t at = 0; at < count->poll.candidates_n; at++) {
        found |= at != best && hybrid(count, &standings[at]) == hybrid(count, &standings[best]);
    }
    return found;
}

WRIT_RESULT
writ_count_borda(
    const struct writ_count *count, struct writ_tally *tally, struct writ_crew_err *err)
{
    const struct writ_crew_poll *poll = &count->poll;
    struct standing *standings =
        writ_arena_get(count->arena, (poll->candidates_n + 1) * sizeof *standings);
    size_t most = 0, best = poll->candidates_n;

    if (standings == NULL) {
        return writ_failure_memory(err);
    }
    if (poll->candidates_n == 0) {
        writ_tally_explain(tally, "nothing was ranked");
        return WRIT_DONE;
    }
    score(count, standings);
    for (size_t at = 1; at < poll->candidates_n; at++) {
        most = standings[at].points > standings[most].points ? at : most;
    }
    for (size_t at = 0; at < poll->candidates_n; at++) {
        bool in = eligible(count, &standings[at], standings[most].points);
        writ_tally_explain(tally, WRIT_VIEW_FMT ": %lld points, %lld first places%s",
            WRIT_VIEW_ARG(poll->candidates[at]), (long long)standings[at].points,
            (long long)standings[at].firsts, in ? "" : ", not eligible");
        if (in && (best == poll->candidates_n ||
                      hybrid(count, &standings[at]) > hybrid(count, &standings[best]))) {
            best = at;
        }
    }
    if (best == poll->candidates_n) {
        writ_tally_explain(tally, "nobody is eligible: most points win");
        best = most;
    }
    if (count->voting->tie && ties(count, standings, best)) {
        writ_tally_explain(tally, "a tie: none wins");
        return WRIT_DONE;
    }
    writ_tally_candidate(tally, best);
    return WRIT_DONE;
}
