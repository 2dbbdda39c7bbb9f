/* Elects one of several candidates by rankings (semantics 16.1). The built-in ways are rows of a
 * table; added engines come before them, so that a plug-in can replace a built-in. */
#include "crew/elect.h"

#include "base/text.h"
#include "crew/count.h"
#include "crew/engines.h"
#include "crew/names.h"
#include "crew/value.h"

#include <stdlib.h>

/** An election. */
struct election {
    const struct writ_view *candidates;
    size_t candidates_n;
    const struct writ_crew_ranking *rankings;
    size_t rankings_n;
    bool by_order;
    struct writ_arena *arena;
    struct writ_names names; /* of the candidates */
    struct writ_tally tally;
    struct writ_crew_err *err;
};

/* ---- before the count */

/* The first candidate of this name; candidates_n: there is none. */
static size_t
candidate_of(const struct election *e, struct writ_view name)
{
    return writ_names_find(&e->names, name);
}

/* Names the entries of a ranking that are not candidates, sorted. */
static writ_result
refuse_unknown(const struct election *e, const struct writ_crew_ranking *ranking)
{
    struct writ_view *unknown = writ_arena_get(e->arena, (ranking->n + 1) * sizeof *unknown);
    writ_auto_buf names = writ_buf_make(WRIT_ERR_TEXT);
    size_t n = 0;

    if (unknown == NULL) {
        return writ_failure_memory(e->err);
    }
    for (size_t at = 0; at < ranking->n; at++) {
        if (candidate_of(e, ranking->list[at]) == e->candidates_n) {
            unknown[n++] = ranking->list[at];
        }
    }
    qsort(unknown, n, sizeof *unknown, writ_names_by_bytes);
    for (size_t at = 0; at < n; at++) {
        writ_buf_str(&names, at > 0 ? ", " : "");
        writ_buf_put(&names, unknown[at]);
    }
    return writ_failure_set(e->err, WRIT_E_INVALID, WRIT_CREW_INVALID_BALLOT,
        "voter " WRIT_VIEW_FMT " ranks what are no candidates: " WRIT_VIEW_FMT,
        WRIT_VIEW_ARG(ranking->voter), WRIT_VIEW_ARG(writ_buf_view(&names)));
}

static WRIT_RESULT
check_sizes(const struct election *e)
{
    if (e->candidates_n > WRIT_CREW_CANDIDATES_MAX) {
        return writ_failure_set(e->err, WRIT_E_LIMIT, WRIT_CREW_LIMIT_EXCEEDED,
            "%zu candidates; there may be %d", e->candidates_n, WRIT_CREW_CANDIDATES_MAX);
    }
    if (e->rankings_n > WRIT_CREW_BALLOTS_MAX) {
        return writ_failure_set(e->err, WRIT_E_LIMIT, WRIT_CREW_LIMIT_EXCEEDED,
            "%zu rankings; there may be %d", e->rankings_n, WRIT_CREW_BALLOTS_MAX);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
check_rankings(const struct election *e)
{
    if (e->rankings_n == 0) {
        return writ_failure_set(
            e->err, WRIT_E_INVALID, WRIT_CREW_INVALID_BALLOT, "there are no rankings");
    }
    for (size_t at = 0; at < e->rankings_n; at++) {
        const struct writ_crew_ranking *ranking = &e->rankings[at];
        if (ranking->n == 0) {
            return writ_failure_set(e->err, WRIT_E_INVALID, WRIT_CREW_INVALID_BALLOT,
                "the ranking of voter " WRIT_VIEW_FMT " is empty", WRIT_VIEW_ARG(ranking->voter));
        }
        for (size_t place = 0; place < ranking->n; place++) {
            if (candidate_of(e, ranking->list[place]) == e->candidates_n) {
                return refuse_unknown(e, ranking);
            }
        }
    }
    return WRIT_DONE;
}

/* ---- the built-in ways */

/* The number of first places of each candidate, explained. */
static WRIT_RESULT
count_firsts(struct election *e, size_t **ret)
{
    size_t *firsts = writ_arena_get(e->arena, (e->candidates_n + 1) * sizeof *firsts);

    if (firsts == NULL) {
        return writ_failure_memory(e->err);
    }
    for (size_t at = 0; at < e->candidates_n; at++) {
        firsts[at] = 0;
    }
    for (size_t at = 0; at < e->rankings_n; at++) {
        firsts[candidate_of(e, e->rankings[at].list[0])]++;
    }
    for (size_t at = 0; at < e->candidates_n; at++) {
        writ_tally_explain(&e->tally, WRIT_VIEW_FMT ": %zu first places",
            WRIT_VIEW_ARG(e->candidates[at]), firsts[at]);
    }
    *ret = firsts;
    return WRIT_DONE;
}

static WRIT_RESULT
elect_majority(struct election *e)
{
    size_t *firsts = NULL, best = 0;

    WRIT_TRY(count_firsts(e, &firsts));
    for (size_t at = 0; at < e->candidates_n; at++) {
        best = firsts[at] > firsts[best] ? at : best;
    }
    writ_tally_candidate(&e->tally, best);
    return WRIT_DONE;
}

static WRIT_RESULT
elect_first(struct election *e)
{
    writ_tally_explain(&e->tally, "the first ranking is that of " WRIT_VIEW_FMT,
        WRIT_VIEW_ARG(e->rankings[0].voter));
    writ_tally_candidate(&e->tally, candidate_of(e, e->rankings[0].list[0]));
    return WRIT_DONE;
}

/* The first candidate with a share of the first places that is large enough, if any. */
static WRIT_RESULT
elect_by_share(struct election *e, struct writ_rational least)
{
    size_t *firsts = NULL;

    WRIT_TRY(count_firsts(e, &firsts));
    for (size_t at = 0; at < e->candidates_n && e->tally.winner == WRIT_TALLY_NOBODY; at++) {
        if (writ_rational_compare((int64_t)firsts[at], (int64_t)e->rankings_n, least) >= 0) {
            writ_tally_candidate(&e->tally, at);
        }
    }
    return WRIT_DONE;
}

static WRIT_RESULT
elect_unanimous(struct election *e)
{
    return elect_by_share(e, (struct writ_rational){1, 1});
}

static WRIT_RESULT
elect_weighted(struct election *e)
{
    return elect_by_share(e, writ_voting_default.threshold);
}

/* The rankings as a poll. */
static WRIT_RESULT
make_poll(struct election *e, struct writ_crew_poll *ret)
{
    struct writ_crew_ballot *ballots =
        writ_arena_get(e->arena, (e->rankings_n + 1) * sizeof *ballots);

    if (ballots == NULL) {
        return writ_failure_memory(e->err);
    }
    for (size_t at = 0; at < e->rankings_n; at++) {
        ballots[at] = (struct writ_crew_ballot){.agent_id = e->rankings[at].voter,
            .ranking = e->rankings[at].list,
            .ranking_n = e->rankings[at].n};
    }
    *ret = (struct writ_crew_poll){ballots, e->rankings_n, e->candidates, e->candidates_n};
    return WRIT_DONE;
}

/* Whether a ranking has every candidate once. `marks`, one for each candidate, must not equal
 * `mark` yet. */
static bool
is_complete(
    const struct election *e, const struct writ_crew_ranking *ranking, size_t *marks, size_t mark)
{
    if (ranking->n != e->candidates_n) {
        return false;
    }
    for (size_t place = 0; place < ranking->n; place++) {
        size_t candidate = candidate_of(e, ranking->list[place]);
        if (marks[candidate] == mark) {
            return false;
        }
        marks[candidate] = mark;
    }
    return true;
}

static WRIT_RESULT
check_complete(const struct election *e)
{
    size_t *marks = writ_arena_get(e->arena, (e->candidates_n + 1) * sizeof *marks);

    if (marks == NULL) {
        return writ_failure_memory(e->err);
    }
    for (size_t at = 0; at < e->candidates_n; at++) {
        marks[at] = 0;
    }
    for (size_t at = 0; at < e->rankings_n; at++) {
        if (!is_complete(e, &e->rankings[at], marks, at + 1)) {
            return writ_failure_set(e->err, WRIT_E_INVALID, WRIT_CREW_INVALID_BALLOT,
                "borda needs complete rankings; that of voter " WRIT_VIEW_FMT " is none",
                WRIT_VIEW_ARG(e->rankings[at].voter));
        }
    }
    return WRIT_DONE;
}

/* Complete strict rankings only; ties by the order of UTF-16 code units, or of the candidates. */
static WRIT_RESULT
elect_borda(struct election *e)
{
    struct writ_view *sorted = writ_arena_get(e->arena, (e->candidates_n + 1) * sizeof *sorted);
    struct writ_count count = {.voting = &writ_voting_default, .arena = e->arena};

    if (sorted == NULL) {
        return writ_failure_memory(e->err);
    }
    WRIT_TRY(check_complete(e));
    WRIT_TRY(make_poll(e, &count.poll));
    for (size_t at = 0; at < e->candidates_n; at++) {
        sorted[at] = e->candidates[at];
    }
    if (e->by_order) {
        count.names = &e->names;
    } else {
        qsort(sorted, e->candidates_n, sizeof *sorted, writ_names_by_units);
    }
    count.poll.candidates = sorted;
    WRIT_TRY(writ_count_borda(&count, &e->tally, e->err));
    if (e->tally.winner == WRIT_TALLY_CANDIDATE) {
        e->tally.index = candidate_of(e, sorted[e->tally.index]);
    }
    return WRIT_DONE;
}

static const struct built_in {
    const char *name;
    writ_result (*elect)(struct election *e);
} built_in[] = {
    {"majority", elect_majority},
    {"borda", elect_borda},
    {"first_valid", elect_first},
    {"unanimous", elect_unanimous},
    {"weighted_consensus", elect_weighted},
};

/* ---- the count */

static WRIT_RESULT
elect_by_engine(struct election *e, const struct writ_crew_engine *engine)
{
    struct writ_count count = {.engine = engine, .arena = e->arena};

    WRIT_TRY(make_poll(e, &count.poll));
    WRIT_TRY(writ_count_engine(&count, &e->tally, e->err));
    if (e->tally.winner == WRIT_TALLY_BALLOT) { /* its first choice */
        writ_tally_candidate(&e->tally, candidate_of(e, e->rankings[e->tally.index].list[0]));
    }
    return WRIT_DONE;
}

/* Lists the known engines: the built-in ones, then the added ones. */
static writ_result
refuse_engine(
    const struct election *e, struct writ_view name, const struct writ_crew_engines *engines)
{
    writ_auto_buf known = writ_buf_make(WRIT_ERR_TEXT);

    if (name.len == 0) {
        return writ_failure_set(
            e->err, WRIT_E_INVALID, WRIT_CREW_UNKNOWN_ENGINE, "the name of an engine is empty");
    }
    for (size_t at = 0; at < sizeof built_in / sizeof *built_in; at++) {
        writ_buf_fmt(&known, "%s%s", at > 0 ? ", " : "", built_in[at].name);
    }
    writ_engines_list(engines, &known);
    return writ_failure_set(e->err, WRIT_E_INVALID, WRIT_CREW_UNKNOWN_ENGINE,
        "there is no engine " WRIT_VIEW_FMT "; there are " WRIT_VIEW_FMT, WRIT_VIEW_ARG(name),
        WRIT_VIEW_ARG(writ_buf_view(&known)));
}

static const struct built_in *
find_built_in(struct writ_view name)
{
    for (size_t at = 0; at < sizeof built_in / sizeof *built_in; at++) {
        if (writ_view_is(name, built_in[at].name)) {
            return &built_in[at];
        }
    }
    return NULL;
}

/* An added engine of this name; the spelling of older shapes names one too. */
static const struct writ_crew_engine *
find_added(struct writ_view name, const struct writ_crew_engines *engines)
{
    bool prefixed = writ_view_has_prefix(name, WRIT_LIT(WRIT_ENGINES_PREFIX));

    return writ_engines_find(
        engines, prefixed ? writ_view_sub(name, sizeof WRIT_ENGINES_PREFIX - 1, name.len) : name);
}

bool
writ_elect_knows(struct writ_view engine, const struct writ_crew_engines *engines)
{
    return find_added(engine, engines) != NULL || find_built_in(engine) != NULL;
}

/* The lookup of the engine comes first: without one the rankings are not judged. */
static WRIT_RESULT
run_election(struct election *e, struct writ_view name, const struct writ_crew_engines *engines)
{
    const struct writ_crew_engine *added = find_added(name, engines);
    const struct built_in *own = find_built_in(name);

    if (added == NULL && own == NULL) {
        return refuse_engine(e, name, engines);
    }
    WRIT_TRY(check_sizes(e));
    if (!writ_is_ok(writ_names_make(&e->names, e->candidates, e->candidates_n, e->arena))) {
        return writ_failure_memory(e->err);
    }
    WRIT_TRY(check_rankings(e));
    return added != NULL ? elect_by_engine(e, added) : own->elect(e);
}

WRIT_RESULT
writ_elect_run(struct writ_view engine, const struct writ_crew_engines *engines,
    const struct writ_elect *rankings, size_t *ret, struct writ_crew_text *why,
    struct writ_crew_err *err)
{
    writ_auto_arena arena = writ_arena_new(SIZE_MAX);
    struct writ_crew_text text = {NULL, 0};
    struct election e = {.candidates = rankings->candidates,
        .candidates_n = rankings->candidates_n,
        .rankings = rankings->rankings,
        .rankings_n = rankings->rankings_n,
        .by_order = rankings->by_order,
        .arena = arena,
        .tally = writ_tally_make(),
        .err = err};
    writ_result ran;

    if (arena == NULL) {
        return writ_failure_memory(err);
    }
    ran = run_election(&e, engine, engines);
    if (writ_is_ok(ran) && why != NULL) {
        ran = writ_is_ok(writ_tally_why(&e.tally, &text)) ? ran : writ_failure_memory(err);
    }
    writ_buf_wipe(&e.tally.why);
    WRIT_TRY(ran);
    if (e.tally.winner != WRIT_TALLY_CANDIDATE) {
        writ_crew_text_wipe(&text);
        return writ_failure_set(
            err, WRIT_E_INVALID, WRIT_CREW_NOT_IMPLEMENTED, "the engine elects nobody");
    }
    if (why != NULL) {
        *why = text;
    }
    *ret = e.tally.index;
    return WRIT_DONE;
}

WRIT_RESULT
writ_crew_elect(struct writ_view engine, const struct writ_crew_engines *engines,
    const struct writ_view *candidates, size_t candidates_n,
    const struct writ_crew_ranking *rankings, size_t rankings_n, size_t *ret,
    struct writ_crew_text *why, struct writ_crew_err *err)
{
    const struct writ_elect election = {candidates, candidates_n, rankings, rankings_n, false};

    return writ_elect_run(engine, engines, &election, ret, why, err);
}
