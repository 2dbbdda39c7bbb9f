/* Ranked pairs (Tideman) as a voting engine: a Condorcet method.
 *
 * Each pair of candidates is a contest; the contests are locked in from the widest margin on,
 * unless one would close a circle; the candidate without a locked defeat wins. Ballots
 * may be partial: unranked candidates are below ranked ones. Equal margins are decided by the order
 * of the candidates, so that the result is the same wherever it is computed.
 *
 *     cc -shared -fPIC -o ranked-pairs.so ranked_pairs.c $(pkg-config --cflags writ) */
#include <writ/crew.h>

#include <stdlib.h>
#include <string.h>

#define CANDIDATES_MAX 256

/** One contest that `winner` has won. */
struct contest {
    size_t winner, loser;
    size_t margin;
};

static size_t
place_of(const struct writ_crew_ballot *ballot, struct writ_view candidate)
{
    size_t place = 0;

    while (place < ballot->ranking_n &&
           (ballot->ranking[place].len != candidate.len ||
               memcmp(ballot->ranking[place].ptr, candidate.ptr, candidate.len) != 0)) {
        place++;
    }
    return place; /* not ranked: behind all */
}

/* Widest margin first; then by the order of the candidates. */
static int
compare(const void *a, const void *b)
{
    const struct contest *left = a, *right = b;

    if (left->margin != right->margin) {
        return left->margin > right->margin ? -1 : 1;
    }
    if (left->winner != right->winner) {
        return left->winner < right->winner ? -1 : 1;
    }
    return (left->loser > right->loser) - (left->loser < right->loser);
}

/* Whether locked contests lead from `from` to `to`. */
static int
reaches(const char *locked, size_t n, size_t from, size_t to, char *seen)
{
    if (from == to) {
        return 1;
    }
    seen[from] = 1;
    for (size_t at = 0; at < n; at++) {
        if (locked[from * n + at] && !seen[at] && reaches(locked, n, at, to, seen)) {
            return 1;
        }
    }
    return 0;
}

static size_t
list_contests(const struct writ_crew_poll *poll, const size_t *places, struct contest *ret)
{
    size_t n = poll->candidates_n, count = 0;

    for (size_t one = 0; one < n; one++) {
        for (size_t other = one + 1; other < n; other++) {
            size_t first = 0, second = 0;
            for (size_t at = 0; at < poll->ballots_n; at++) {
                first += places[at * n + one] < places[at * n + other];
                second += places[at * n + one] > places[at * n + other];
            }
            if (first > second) {
                ret[count++] = (struct contest){one, other, first - second};
            } else if (second > first) {
                ret[count++] = (struct contest){other, one, second - first};
            }
        }
    }
    return count;
}

static void
lock_in(const struct contest *contests, size_t count, size_t n, char *locked, char *seen)
{
    for (size_t at = 0; at < count; at++) {
        memset(seen, 0, n);
        if (!reaches(locked, n, contests[at].loser, contests[at].winner, seen)) {
            locked[contests[at].winner * n + contests[at].loser] = 1;
        }
    }
}

static size_t
unbeaten(const char *locked, size_t n)
{
    for (size_t at = 0; at < n; at++) {
        int beaten = 0;
        for (size_t other = 0; other < n; other++) {
            beaten |= locked[other * n + at];
        }
        if (!beaten) {
            return at;
        }
    }
    return 0; /* locked contests have no circle, so one candidate is unbeaten */
}

static int
count(const struct writ_crew_poll *poll, struct writ_crew_tally *tally)
{
    size_t n = poll->candidates_n <= CANDIDATES_MAX ? poll->candidates_n : 0, contests_n;
    size_t *places = calloc(poll->ballots_n * n + 1, sizeof *places);
    struct contest *contests = calloc(n * n + 1, sizeof *contests);
    char *locked = calloc(n * n + 1, 1), *seen = calloc(n + 1, 1);
    int failed = places == NULL || contests == NULL || locked == NULL || seen == NULL || n == 0;

    for (size_t at = 0; at < poll->ballots_n && !failed; at++) {
        for (size_t one = 0; one < n; one++) {
            places[at * n + one] = place_of(&poll->ballots[at], poll->candidates[one]);
        }
    }
    if (failed) {
        tally->explain(tally, "nothing is ranked, or more than %d candidates", CANDIDATES_MAX);
    } else {
        contests_n = list_contests(poll, places, contests);
        qsort(contests, contests_n, sizeof *contests, compare);
        lock_in(contests, contests_n, n, locked, seen);
        for (size_t at = 0; at < contests_n; at++) {
            struct writ_view winner = poll->candidates[contests[at].winner];
            struct writ_view loser = poll->candidates[contests[at].loser];
            tally->explain(tally, "%.*s beats %.*s by %zu%s", (int)winner.len, winner.ptr,
                (int)loser.len, loser.ptr, contests[at].margin,
                locked[contests[at].winner * n + contests[at].loser] ? ""
                                                                     : ", which would be a circle");
        }
        tally->candidate(tally, unbeaten(locked, n));
    }
    free(places);
    free(contests);
    free(locked);
    free(seen);
    return failed;
}

__attribute__((visibility("default"))) const struct writ_crew_engine writ_crew_engine = {
    .abi = WRIT_CREW_ENGINE_ABI,
    .name = "ranked-pairs",
    .about = "Ranked pairs (Tideman): a Condorcet method over rankings",
    .count = count,
};
