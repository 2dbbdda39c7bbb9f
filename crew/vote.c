/* From entries to a verdict: the valid ballots, the quorum, then the row of voting.tbl.h.
 *
 * 1. An entry that a mode cannot use is left out before the quorum is checked, and the explanation
 * says so: an unusable answer must not count as a ballot.
 * 2. Nothing depends on the order of memory or of a hash: ballots keep the order of the entries,
 * candidates are sorted. */
#include "base/text.h"
#include "crew/count.h"
#include "crew/engines.h"
#include "crew/names.h"
#include "crew/value.h"
#include "evidence/json/jcs.h"
#include "evidence/record/review.h"

#include <stdlib.h>

/** A vote under preparation. */
struct vote {
    const struct writ_crew_voting *voting;
    const struct writ_crew_entry *entries;
    size_t n, electorate;
    size_t abstained; /* entries that count for the quorum alone */
    struct writ_arena *arena;
    struct writ_count count;
    struct writ_crew_ballot *ballots; /* of count.poll, while they can be changed */
    const struct writ_view **sets;    /* the names of each ranking, sorted */
    struct writ_tally tally;
    bool exhausted; /* memory ran out */
};

/* ---- the contents of an entry */

static bool
has_veto(const struct writ_crew_voting *voting, const struct writ_crew_entry *entry)
{
    return writ_names_find(&voting->veto, entry->agent_id) < voting->veto.n ||
           writ_names_find(&voting->veto, entry->role_id) < voting->veto.n;
}

/* By the agent, else by its role, else 1. */
static int64_t
weight_of(const struct writ_crew_voting *voting, const struct writ_crew_entry *entry)
{
    const struct writ_voting_weight *weight = writ_voting_weight_of(voting, entry->agent_id);

    weight = weight != NULL ? weight : writ_voting_weight_of(voting, entry->role_id);
    return weight != NULL ? weight->weight : 1;
}

/* "approve", or an object whose member "vote" says so. */
static enum writ_count_opinion
opinion_of(const struct writ_json *output)
{
    const struct writ_json *vote = writ_json_type(output) == WRIT_JSON_OBJECT
                                       ? writ_json_get(output, WRIT_LIT("vote"))
                                       : output;

    switch (writ_review_vote_find(writ_json_string(vote))) {
    case WRIT_REVIEW_APPROVE:
        return WRIT_COUNT_APPROVE;
    case WRIT_REVIEW_REJECT:
        return WRIT_COUNT_REJECT;
    case WRIT_REVIEW_MODIFY:
        return WRIT_COUNT_MODIFY;
    case WRIT_REVIEW_ABSTAIN:
        return WRIT_COUNT_ABSTAIN;
    case WRIT_REVIEW_NO_VOTE:
#define CANDIDATE(N, name) case WRIT_REVIEW_CANDIDATE_##N:
        WRIT_REVIEW_CANDIDATES(CANDIDATE) /* only in rankings */
#undef CANDIDATE
        break;
    }
    return WRIT_COUNT_NO_OPINION;
}

/* Takes the names of an array of different strings, best first. False: another form, or too
 * long. */
static bool
take_ranking(struct vote *vote, const struct writ_json *output, struct writ_crew_ballot *seen)
{
    size_t n = 0;
    struct writ_view *list, *sorted;

    if (writ_json_type(output) != WRIT_JSON_ARRAY || output->count > WRIT_CREW_CANDIDATES_MAX) {
        return false;
    }
    list = writ_arena_get(vote->arena, (output->count + 1) * sizeof *list);
    sorted = writ_arena_get(vote->arena, (output->count + 1) * sizeof *list);
    if (list == NULL || sorted == NULL) {
        vote->exhausted = true;
        return false;
    }
    WRIT_JSON_EACH(element, output)
    {
        if (writ_json_type(element) != WRIT_JSON_STRING) {
            return false;
        }
        list[n] = writ_json_string(element);
        sorted[n] = list[n];
        n++;
    }
    qsort(sorted, n, sizeof *sorted, writ_names_by_units);
    for (size_t at = 1; at < n; at++) {
        if (writ_view_equal(sorted[at - 1], sorted[at])) {
            return false;
        }
    }
    seen->ranking = list;
    seen->ranking_n = n;
    vote->sets[seen - vote->ballots] = sorted;
    return true;
}

/* The part of an output that the mode needs; false: it is missing, with the reason. */
static bool
usable(struct vote *vote, const struct writ_json *output, struct writ_count_ballot *ballot,
    struct writ_crew_ballot *seen, const char **why)
{
    const struct writ_json *score = NULL;

    switch (vote->voting->mode) {
    case WRIT_VOTING_BEST_OF_N:
        score = writ_json_pointer(output, vote->voting->score);
        ballot->score = writ_json_type(score) == WRIT_JSON_NUMBER ? score->number : 0;
        *why = "has no score";
        return vote->voting->score.ptr == NULL || writ_json_type(score) == WRIT_JSON_NUMBER;
    case WRIT_VOTING_REVIEW:
        ballot->opinion = opinion_of(output);
        *why = "is not one of " WRIT_REVIEW_VOTE_WORDS;
        return ballot->opinion != WRIT_COUNT_NO_OPINION && ballot->opinion != WRIT_COUNT_ABSTAIN;
    case WRIT_VOTING_BORDA:
        *why = "is no ranking, or too long";
        return take_ranking(vote, output, seen);
    case WRIT_VOTING_ENGINE:
        (void)take_ranking(vote, output, seen); /* the engine checks it */
        return true;
    case WRIT_VOTING_NONE:
    case WRIT_VOTING_FIRST_VALID:
    case WRIT_VOTING_UNANIMOUS:
    case WRIT_VOTING_WEIGHTED:
    case WRIT_VOTING_MAJORITY:
        break;
    }
    return true;
}

/* Whether the mode reads outputs, and does not only compare them. */
static bool
reads_outputs(const struct writ_crew_voting *voting)
{
    return voting->mode >= WRIT_VOTING_BEST_OF_N || voting->abstain;
}

static bool
abstains(const struct writ_crew_voting *voting, const struct writ_json *output)
{
    return voting->abstain && opinion_of(output) == WRIT_COUNT_ABSTAIN;
}

static WRIT_RESULT
take_entry(struct vote *vote, const struct writ_crew_entry *entry)
{
    size_t at = vote->count.poll.ballots_n;
    const struct writ_json *output = NULL;
    const char *why = entry->fault ? "is faulted" : "has stalled";

    vote->ballots[at] =
        (struct writ_crew_ballot){entry->agent_id, entry->role_id, entry->output, NULL, 0};
    vote->count.ballots[at] = (struct writ_count_ballot){
        .weight = weight_of(vote->voting, entry),
        .veto = has_veto(vote->voting, entry),
    };
    if (entry->fault || entry->stalled) {
        writ_tally_explain(&vote->tally, "left out: the entry of " WRIT_VIEW_FMT " %s",
            WRIT_VIEW_ARG(entry->agent_id), why);
        return WRIT_DONE;
    }
    if (entry->output.ptr != NULL && reads_outputs(vote->voting)) {
        WRIT_TRY(writ_value_parse(entry->output, entry->output.len, vote->arena, &output, NULL));
    }
    if (abstains(vote->voting, output)) {
        vote->abstained++;
        writ_tally_explain(&vote->tally, WRIT_VIEW_FMT " abstains", WRIT_VIEW_ARG(entry->agent_id));
        return WRIT_DONE;
    }
    if (!usable(vote, output, &vote->count.ballots[at], &vote->ballots[at], &why)) {
        writ_tally_explain(&vote->tally, "left out: the output of " WRIT_VIEW_FMT " %s",
            WRIT_VIEW_ARG(entry->agent_id), why);
        return WRIT_DONE;
    }
    vote->count.poll.ballots_n++;
    return WRIT_DONE;
}

/* ---- equal outputs */

static int
compare_outputs(const void *a, const void *b, void *user)
{
    const struct writ_crew_ballot *ballots = user;
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    struct writ_view one = ballots[left].output, other = ballots[right].output;
    int order = (one.ptr != NULL) - (other.ptr != NULL);

    order = order != 0 ? order : writ_view_compare(one, other);
    return order != 0 ? order : (left > right) - (left < right);
}

/* Notes for each ballot the first one with the same output. */
static WRIT_RESULT
group_outputs(struct vote *vote)
{
    size_t n = vote->count.poll.ballots_n, first = 0;
    size_t *order = writ_arena_get(vote->arena, (n + 1) * sizeof *order);

    if (order == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    for (size_t at = 0; at < n; at++) {
        order[at] = at;
    }
    qsort_r(order, n, sizeof *order, compare_outputs, vote->ballots);
    for (size_t at = 0; at < n; at++) {
        struct writ_view now = vote->ballots[order[at]].output;
        struct writ_view was = vote->ballots[order[first]].output;
        if ((now.ptr != NULL) != (was.ptr != NULL) || !writ_view_equal(now, was)) {
            first = at;
        }
        vote->count.ballots[order[at]].first = order[first];
    }
    return WRIT_DONE;
}

/* ---- candidates */

/* All names of all rankings, sorted, each once. */
static WRIT_RESULT
list_candidates(struct vote *vote)
{
    struct writ_crew_poll *poll = &vote->count.poll;
    size_t all = 0, n = 0;
    struct writ_view *list;

    for (size_t at = 0; at < poll->ballots_n; at++) {
        all += vote->ballots[at].ranking != NULL ? vote->ballots[at].ranking_n : 0;
    }
    list = writ_arena_get(vote->arena, (all + 1) * sizeof *list);
    if (list == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    for (size_t at = 0; at < poll->ballots_n; at++) {
        for (size_t i = 0; vote->ballots[at].ranking != NULL && i < vote->ballots[at].ranking_n;
             i++) {
            list[n++] = vote->ballots[at].ranking[i];
        }
    }
    qsort(list, n, sizeof *list, writ_names_by_units);
    poll->candidates_n = 0;
    for (size_t at = 0; at < n; at++) {
        if (at == 0 || !writ_view_equal(list[at - 1], list[at])) {
            list[poll->candidates_n++] = list[at];
        }
    }
    poll->candidates = list;
    return WRIT_DONE;
}

static int
compare_sets(const void *a, const void *b, void *user)
{
    const struct vote *vote = user;
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    size_t n = vote->ballots[left].ranking_n, m = vote->ballots[right].ranking_n;
    int order = (n > m) - (n < m);

    for (size_t at = 0; at < n && order == 0; at++) {
        order = writ_jcs_compare(vote->sets[left][at], vote->sets[right][at]);
    }
    return order;
}

static int
compare_sets_first(const void *a, const void *b, void *user)
{
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    int order = compare_sets(a, b, user);

    return order != 0 ? order : (left > right) - (left < right);
}

/* Borda needs complete rankings of the same candidates: those that most ballots rank (tie: the
 * first ones), so that one voter who adds a name does not exclude the others. */
static WRIT_RESULT
keep_complete(struct vote *vote)
{
    struct writ_crew_poll *poll = &vote->count.poll;
    size_t n = poll->ballots_n, best = 0, best_n = 0, kept = 0;
    size_t *order = writ_arena_get(vote->arena, (n + 1) * sizeof *order);

    if (order == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    for (size_t at = 0; at < n; at++) {
        order[at] = at;
    }
    qsort_r(order, n, sizeof *order, compare_sets_first, vote);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && compare_sets(&order[from], &order[to], vote) == 0;) {
            to++;
        }
        if (to - from > best_n || (to - from == best_n && order[from] < best)) {
            best = order[from];
            best_n = to - from;
        }
    }
    poll->candidates = n > 0 ? vote->sets[best] : NULL;
    poll->candidates_n = n > 0 ? vote->ballots[best].ranking_n : 0;
    for (size_t at = 0; at < n; at++) {
        if (compare_sets(&best, &at, vote) != 0) {
            writ_tally_explain(&vote->tally,
                "left out: " WRIT_VIEW_FMT " ranks other candidates than most",
                WRIT_VIEW_ARG(vote->ballots[at].agent_id));
            continue;
        }
        vote->ballots[kept] = vote->ballots[at];
        vote->sets[kept] = vote->sets[at];
        vote->count.ballots[kept] = vote->count.ballots[at];
        best = at == best ? kept : best;
        kept++;
    }
    poll->ballots_n = kept;
    return WRIT_DONE;
}

/* ---- the vote */

/* Semantics 19: a count, or a share of the electorate. */
static bool
has_quorum(struct vote *vote)
{
    const struct writ_crew_voting *voting = vote->voting;
    int64_t valid = (int64_t)(vote->count.poll.ballots_n + vote->abstained);
    int64_t electorate = vote->electorate > 0 ? (int64_t)vote->electorate : 1;

    if (voting->quorum_share) {
        if (writ_rational_compare(valid, electorate, voting->quorum) >= 0) {
            return true;
        }
        writ_tally_explain(&vote->tally, "no quorum: %lld valid of %zu, needed are %lld/%lld",
            (long long)valid, vote->electorate, (long long)voting->quorum.numerator,
            (long long)voting->quorum.denominator);
        return false;
    }
    if (valid >= voting->quorum.numerator) {
        return true;
    }
    writ_tally_explain(&vote->tally, "no quorum: %lld valid of %zu, needed are %lld",
        (long long)valid, vote->electorate, (long long)voting->quorum.numerator);
    return false;
}

static WRIT_RESULT
prepare(struct vote *vote)
{
    vote->ballots = writ_arena_get(vote->arena, (vote->n + 1) * sizeof *vote->ballots);
    vote->count.ballots = writ_arena_get(vote->arena, (vote->n + 1) * sizeof *vote->count.ballots);
    vote->sets = writ_arena_get(vote->arena, (vote->n + 1) * sizeof *vote->sets);
    if (vote->ballots == NULL || vote->count.ballots == NULL || vote->sets == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    vote->count.poll.ballots = vote->ballots;
    for (size_t at = 0; at < vote->n; at++) {
        WRIT_TRY(take_entry(vote, &vote->entries[at]));
    }
    if (vote->exhausted) {
        return (writ_result){WRIT_E_NOMEM};
    }
    if (vote->voting->mode == WRIT_VOTING_ENGINE) {
        WRIT_TRY(list_candidates(vote));
    } else if (vote->voting->mode == WRIT_VOTING_BORDA) {
        WRIT_TRY(keep_complete(vote));
    }
    return group_outputs(vote);
}

static WRIT_RESULT
run_mode(struct vote *vote, struct writ_crew_err *err)
{
    const struct writ_count *count = &vote->count;

    switch (vote->voting->mode) {
    case WRIT_VOTING_NONE:
        break;
#define RUN_MODE(name, text, function, what)                                                       \
    case WRIT_VOTING_##name:                                                                       \
        return function(count, &vote->tally, err);
        WRIT_VOTING_MODES(RUN_MODE)
#undef RUN_MODE
    }
    WRIT_INVARIANT(!"a vote has a mode");
    return WRIT_DONE;
}

/* The winner's value; NULL for an absent output. */
static WRIT_RESULT
winning_value(struct vote *vote, struct writ_crew_value **ret)
{
    struct writ_view output = writ_view(NULL, 0);
    writ_auto_buf buf = writ_buf_make(SIZE_MAX);

    switch (vote->tally.winner) {
    case WRIT_TALLY_NOBODY:
        break;
    case WRIT_TALLY_BALLOT:
        output = vote->ballots[vote->tally.index].output;
        break;
    case WRIT_TALLY_CANDIDATE:
        writ_text_json(&buf, vote->count.poll.candidates[vote->tally.index]);
        break;
    case WRIT_TALLY_WORD:
        writ_text_json(&buf, writ_view_str(vote->tally.word));
        break;
    }
    WRIT_TRY(writ_buf_check(&buf, NULL));
    output = buf.len > 0 ? writ_buf_view(&buf) : output;
    *ret = NULL;
    return output.ptr != NULL ? writ_value_of_text(output, ret) : WRIT_DONE;
}

static WRIT_RESULT
vote_run(struct vote *vote, struct writ_crew_verdict *ret, struct writ_crew_err *err)
{
    bool empty, quorum;

    if (!writ_is_ok(prepare(vote))) {
        return writ_failure_memory(err);
    }
    if (vote->count.poll.candidates_n > WRIT_CREW_CANDIDATES_MAX) {
        return writ_failure_set(err, WRIT_E_INVALID, WRIT_CREW_INVALID_BALLOT,
            "the ballots have %zu candidates; there may be %d", vote->count.poll.candidates_n,
            WRIT_CREW_CANDIDATES_MAX);
    }
    quorum = has_quorum(vote);
    empty = vote->count.poll.ballots_n == 0;
    if (empty) {
        writ_tally_explain(&vote->tally, "no entry is valid");
    }
    /* without votes a review asks for a revision (semantics 17); other modes need at least one */
    if (quorum && (!empty || vote->voting->mode == WRIT_VOTING_REVIEW)) {
        WRIT_TRY(run_mode(vote, err));
    }
    if (!writ_is_ok(winning_value(vote, &ret->value)) ||
        !writ_is_ok(writ_tally_why(&vote->tally, &ret->why))) {
        return writ_failure_memory(err);
    }
    ret->resolved = vote->tally.winner != WRIT_TALLY_NOBODY;
    return WRIT_DONE;
}

static writ_result
refuse_engine(const struct writ_crew_voting *voting, const struct writ_crew_engines *engines,
    struct writ_crew_err *err)
{
    writ_auto_buf known = writ_buf_make(WRIT_ERR_TEXT);

    writ_engines_list(engines, &known);
    return writ_failure_set(err, WRIT_E_INVALID, WRIT_CREW_UNKNOWN_ENGINE,
        "there is no voting engine " WRIT_VIEW_FMT "; there %s" WRIT_VIEW_FMT,
        WRIT_VIEW_ARG(voting->engine), known.len > 0 ? "are" : "is none",
        WRIT_VIEW_ARG(writ_view_sub(writ_buf_view(&known), 1, known.len)));
}

WRIT_RESULT
writ_crew_vote(const struct writ_crew_voting *voting, const struct writ_crew_engines *engines,
    const struct writ_crew_entry *entries, size_t n, size_t electorate,
    struct writ_crew_verdict *ret, struct writ_crew_err *err)
{
    writ_auto_arena arena = writ_arena_new(SIZE_MAX);
    struct writ_crew_verdict verdict = {0};
    struct vote vote = {
        .voting = voting, .entries = entries, .n = n, .electorate = electorate, .arena = arena};
    writ_result ran;

    if (n > WRIT_CREW_BALLOTS_MAX) {
        return writ_failure_set(err, WRIT_E_LIMIT, WRIT_CREW_LIMIT_EXCEEDED,
            "%zu entries; there may be %d", n, WRIT_CREW_BALLOTS_MAX);
    }
    if (arena == NULL) {
        return writ_failure_memory(err);
    }
    vote.tally = writ_tally_make();
    vote.count.voting = voting;
    vote.count.arena = arena;
    if (voting->mode == WRIT_VOTING_ENGINE) {
        vote.count.engine = writ_engines_find(engines, voting->engine);
        if (vote.count.engine == NULL) {
            return refuse_engine(voting, engines, err);
        }
    }
    ran = vote_run(&vote, &verdict, err);
    writ_buf_wipe(&vote.tally.why);
    if (writ_is_ok(ran)) {
        *ret = verdict;
    } else {
        writ_crew_verdict_wipe(&verdict);
    }
    return ran;
}

void
writ_crew_verdict_wipe(struct writ_crew_verdict *verdict)
{
    writ_crew_value_free(verdict->value);
    writ_crew_text_wipe(&verdict->why);
    *verdict = (struct writ_crew_verdict){0};
}
