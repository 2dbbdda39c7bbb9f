/* Counts votes or rankings from a file with the engines of the crew library. The file only has the
 * inputs: every rule of counting is the library's. */
#include "cli/crew/ballots.h"

#include "evidence/json/jcs.h"
#include "evidence/json/write.h"

#define TEXT_MAX ((size_t)64 << 20)

static writ_result
fail_below(struct writ_err *err, writ_result result, const struct writ_crew_err *below)
{
    return writ_fail(
        err, result.code, "%s: %s", writ_crew_error_name(below->error), below->err.text);
}

/* ---- votes */

/** The entries of a vote, and what they own. */
struct entries {
    struct writ_crew_entry *list;
    struct writ_crew_value **outputs;
    size_t n;
};

static void
entries_wipe(struct entries *entries)
{
    while (entries->n > 0) {
        writ_crew_value_free(entries->outputs[--entries->n]);
    }
}

static WRIT_RESULT
read_entry(const struct writ_json *vote, struct entries *to, struct writ_err *err)
{
    const struct writ_json *output = writ_json_get(vote, WRIT_LIT("output"));
    struct writ_view agent = writ_json_string(writ_json_get(vote, WRIT_LIT("agentId")));
    writ_auto_buf text = writ_buf_make(TEXT_MAX);
    struct writ_crew_err below = {0};

    if (agent.ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_PARSE, "vote %zu has no agentId", to->n);
    }
    to->outputs[to->n] = NULL;
    if (output != NULL) {
        WRIT_TRY(writ_jcs_put_rounded(&text, output, err));
        writ_result read =
            writ_crew_value_read(writ_buf_view(&text), NULL, &to->outputs[to->n], &below);
        if (!writ_is_ok(read)) {
            return fail_below(err, read, &below);
        }
    }
    to->list[to->n] =
        (struct writ_crew_entry){agent, writ_json_string(writ_json_get(vote, WRIT_LIT("roleId"))),
            writ_crew_value_text(to->outputs[to->n]), writ_json_is_true(vote, WRIT_LIT("fault")),
            writ_json_is_true(vote, WRIT_LIT("stalled"))};
    to->n++;
    return WRIT_DONE;
}

/* The voting object: the given members, and the mode. */
static WRIT_RESULT
read_voting(const struct writ_json *given, struct writ_view mode,
    const struct writ_crew_engines *engines, struct writ_crew_voting **ret, struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(TEXT_MAX);
    struct writ_write w = writ_write_to(&text);
    struct writ_crew_findings *faults = writ_crew_findings_new();
    struct writ_crew_err below = {0};
    writ_result read;

    writ_write_object_begin(&w);
    writ_write_text(&w, "mode", mode);
    WRIT_JSON_EACH(name, given)
    {
        writ_write_name(&w, writ_json_string(name));
        if (writ_json_type(writ_json_value(name)) == WRIT_JSON_NUMBER) { /* exactly as written */
            writ_write_raw(&w, writ_json_text(writ_json_value(name)));
        } else {
            writ_write_value(&w, writ_json_value(name));
        }
    }
    writ_write_object_end(&w);
    read = writ_write_end(&w, err);
    if (writ_is_ok(read)) {
        read = writ_crew_voting_read_with(writ_buf_view(&text), engines, faults, ret, &below);
        if (!writ_is_ok(read) && faults != NULL && writ_crew_findings_count(faults) > 0) {
            const struct writ_crew_finding *first = writ_crew_findings_at(faults, 0);
            WRIT_IGNORE(writ_fail(err, read.code, "voting" WRIT_VIEW_FMT ": %s",
                WRIT_VIEW_ARG(first->path), first->code)); /* returns its code */
        } else if (!writ_is_ok(read)) {
            WRIT_IGNORE(fail_below(err, read, &below)); /* likewise */
        }
    }
    writ_crew_findings_free(faults);
    return read;
}

static WRIT_RESULT
count_votes(const struct writ_json *ballots, const struct writ_json *votes, struct writ_view mode,
    const struct writ_crew_engines *engines, struct writ_ballots_result *ret, struct writ_err *err)
{
    writ_auto_arena arena = writ_arena_new(TEXT_MAX);
    WRIT_AUTO(struct entries, entries_wipe) entries = {0};
    const struct writ_json *electorate = writ_json_get(ballots, WRIT_LIT("electorate"));
    struct writ_crew_voting *voting = NULL;
    struct writ_crew_verdict verdict = {0};
    struct writ_crew_err below = {0};
    int64_t voters = votes->count;
    writ_result counted;

    if (arena != NULL) {
        entries.list = writ_arena_get(arena, (votes->count + 1) * sizeof *entries.list);
        entries.outputs = writ_arena_get(arena, (votes->count + 1) * sizeof *entries.outputs);
    }
    if (entries.list == NULL || entries.outputs == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    if (electorate != NULL &&
        !writ_is_ok(writ_json_integer(electorate, votes->count, INT32_MAX, &voters))) {
        WRIT_FAIL(err, WRIT_E_PARSE, "electorate must be a number, at least that of the votes");
    }
    WRIT_JSON_EACH(vote, votes)
    {
        WRIT_TRY(read_entry(vote, &entries, err));
    }
    WRIT_TRY(read_voting(writ_json_get(ballots, WRIT_LIT("voting")), mode, engines, &voting, err));
    counted =
        writ_crew_vote(voting, engines, entries.list, entries.n, (size_t)voters, &verdict, &below);
    writ_crew_voting_free(voting);
    if (!writ_is_ok(counted)) {
        return fail_below(err, counted, &below);
    }
    *ret = (struct writ_ballots_result){verdict.resolved, verdict.value, verdict.why};
    return WRIT_DONE;
}

/* ---- rankings */

static const struct writ_view *
read_names(struct writ_arena *arena, const struct writ_json *array, size_t *ret_n)
{
    size_t n = 0;
    struct writ_view *list = writ_json_type(array) == WRIT_JSON_ARRAY
                                 ? writ_arena_get(arena, (array->count + 1) * sizeof *list)
                                 : NULL;

    WRIT_JSON_EACH(name, list != NULL ? array : NULL)
    {
        if (writ_json_type(name) != WRIT_JSON_STRING) {
            return NULL;
        }
        list[n++] = writ_json_string(name);
    }
    *ret_n = n;
    return list;
}

static WRIT_RESULT
count_rankings(const struct writ_json *ballots, const struct writ_json *rankings,
    struct writ_view engine, const struct writ_crew_engines *engines,
    struct writ_ballots_result *ret, struct writ_err *err)
{
    writ_auto_arena arena = writ_arena_new(TEXT_MAX);
    writ_auto_buf winner = writ_buf_make(TEXT_MAX);
    struct writ_crew_ranking *list =
        arena != NULL ? writ_arena_get(arena, (rankings->count + 1) * sizeof *list) : NULL;
    const struct writ_view *candidates;
    struct writ_crew_err below = {0};
    struct writ_write w = writ_write_to(&winner);
    size_t candidates_n = 0, n = 0, elected = 0;
    writ_result counted;

    if (list == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    candidates = read_names(arena, writ_json_get(ballots, WRIT_LIT("candidates")), &candidates_n);
    if (candidates == NULL) {
        WRIT_FAIL(err, WRIT_E_PARSE, "candidates must be a list of names");
    }
    WRIT_JSON_EACH(voter, rankings)
    {
        list[n].voter = writ_json_string(voter);
        list[n].list = read_names(arena, writ_json_value(voter), &list[n].n);
        if (list[n++].list == NULL) {
            WRIT_FAIL(err, WRIT_E_PARSE, "each ranking must be a list of names, best first");
        }
    }
    counted = writ_crew_elect(
        engine, engines, candidates, candidates_n, list, n, &elected, &ret->why, &below);
    if (!writ_is_ok(counted)) {
        return fail_below(err, counted, &below);
    }
    ret->resolved = true;
    writ_write_string(&w, candidates[elected]);
    WRIT_TRY(writ_write_end(&w, err));
    counted = writ_crew_value_read(writ_buf_view(&winner), NULL, &ret->value, &below);
    return writ_is_ok(counted) ? counted : fail_below(err, counted, &below);
}

WRIT_RESULT
writ_ballots_count(const struct writ_json *ballots, struct writ_view engine,
    const struct writ_crew_engines *engines, struct writ_ballots_result *ret, struct writ_err *err)
{
    const struct writ_json *votes = writ_json_type(ballots) == WRIT_JSON_ARRAY
                                        ? ballots
                                        : writ_json_get(ballots, WRIT_LIT("votes"));
    const struct writ_json *rankings = writ_json_get(ballots, WRIT_LIT("rankings"));

    if (writ_json_type(rankings) == WRIT_JSON_OBJECT) {
        return count_rankings(ballots, rankings, engine, engines, ret, err);
    }
    if (writ_json_type(votes) != WRIT_JSON_ARRAY) {
        WRIT_FAIL(err, WRIT_E_PARSE, "neither votes nor rankings: see writ help crew vote");
    }
    return count_votes(ballots, votes, engine, engines, ret, err);
}
