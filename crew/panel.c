/* A review is a crew of a proposer, one agent for each voter, and a facilitator. The clock of the
 * session is the times of the votes, so a replay gives the same events. A silent voter counts for
 * nothing; a stand-in is no agent, because it only votes for others. */
#include "crew/panel.h"

#include "base/text.h"
#include "crew/panel_plugin.h"
#include "crew/value.h"
#include "evidence/json/write.h"
#include "evidence/record/review_judge.h"
#include "evidence/record/review_terms.h"

#include <stdlib.h>

#define TEXT_MAX    65536 /* a shape with WRIT_REVIEW_VOTERS_MAX reviewers; an event */
#define AGENT_MAX   32    /* "reviewer-64" */
#define LOG_MAX     (2 * WRIT_REVIEW_VOTERS_MAX + 16)
#define ID_LEN      16
#define US_PER_MS   1000
#define ACCEPTED    "\"ACCEPT\""
#define REJECTED    "\"REJECT\""
#define REVISED     "\"REQUEST_REVISION\""
#define OUTPUT_TEXT 96
#define ESCAPED_MAX 6 /* bytes that one byte of a text can become */

/* ---- the shape */

static void
put_agent(struct writ_buf *text, size_t at)
{
    writ_buf_fmt(text, "reviewer-%zu", at + 1);
}

/* A share is a string, a number is itself. */
static void
put_share(struct writ_buf *text, const char *name, struct writ_view share)
{
    bool fraction = writ_view_find(share, '/') < share.len;

    writ_buf_fmt(text, ",\"%s\":%s" WRIT_VIEW_FMT "%s", name, fraction ? "\"" : "",
        WRIT_VIEW_ARG(share), fraction ? "\"" : "");
}

static bool
abstains(const struct writ_review *review)
{
    for (size_t i = 0; i < writ_review_electors(review); i++) {
        if (review->voters[i].vote == WRIT_REVIEW_ABSTAIN) {
            return true;
        }
    }
    return false;
}

/* A tie has no winner: it must not depend on an order whether a call is approved. */
static void
put_parameters(struct writ_buf *text, const struct writ_review *review)
{
    if (!writ_view_is(review->engine, "unanimous") && !writ_review_is_plugin(review->engine)) {
        writ_buf_str(text, ",\"tie\":\"none\"");
    }
    if (writ_review_need(review->engine) == WRIT_REVIEW_NEEDS_CONFIDENCE) {
        writ_buf_str(text, ",\"score\":\"/confidence\"");
    }
}

static void
put_voting(struct writ_buf *text, const struct writ_review *review)
{
    int64_t unit = writ_review_unit(review);
    const char *before = "";

    if (writ_review_is_plugin(review->engine)) {
        writ_buf_str(text, "{\"mode\":\"engine:" WRIT_PANEL_PLUGIN_NAME "\"");
    } else {
        writ_buf_fmt(text, "{\"mode\":\"" WRIT_VIEW_FMT "\"", WRIT_VIEW_ARG(review->engine));
    }
    put_share(text, "quorum", review->quorum);
    if (abstains(review)) {
        writ_buf_str(text, ",\"abstain\":true");
    }
    if (!writ_review_weighs(review->engine)) {
        put_parameters(text, review);
        writ_buf_byte(text, '}');
        return;
    }
    put_share(text, "threshold", review->threshold);
    writ_buf_str(text, ",\"weights\":{");
    for (size_t i = 0; i < writ_review_electors(review); i++) {
        writ_buf_fmt(text, "%s\"", before);
        put_agent(text, i);
        writ_buf_fmt(text, "\":%lld", (long long)writ_review_units(&review->voters[i], unit));
        before = ",";
    }
    writ_buf_str(text, "}}");
}

static void
put_shape(struct writ_buf *text, const struct writ_review *review)
{
    writ_buf_str(text,
        "{\"name\":\"review\",\"roles\":["
        "{\"amount\":1,\"first_input\":true,\"permissions\":{},\"role\":\"proposer\"},"
        "{\"execution\":{\"voting\":");
    put_voting(text, review);
    writ_buf_fmt(text, "},\"amount\":%zu,\"permissions\":{},\"role\":\"reviewer\"},",
        writ_review_electors(review));
    writ_buf_str(text,
        "{\"amount\":1,\"final_output\":true,\"permissions\":{},\"role\":\"facilitator\"}],"
        "\"schema_version\":\"1.0\"}");
}

/* ---- what a count says */

static size_t
cast(const struct writ_review *review)
{
    size_t n = 0;

    for (size_t i = 0; i < writ_review_electors(review); i++) {
        n += review->voters[i].vote != WRIT_REVIEW_NO_VOTE;
    }
    return n;
}

/* "approve", or an object whose last member is such a vote. */
static bool
elects(struct writ_view value, const char *vote)
{
    char text[OUTPUT_TEXT];
    struct writ_buf object = writ_buf_over(text, sizeof text);
    struct writ_view end;

    writ_buf_fmt(&object, "\"vote\":\"%s\"}", vote);
    end = writ_buf_view(&object);
    return writ_view_has_suffix(value, end) ||
           (writ_view_has_prefix(value, WRIT_LIT("\"")) &&
               writ_view_is(writ_view_sub(value, 1, value.len - 2), vote));
}

/* The candidate that the votes elect; NO_VOTE: none. */
static enum writ_review_vote
elected_of(const struct writ_review *review, struct writ_view value)
{
    for (size_t i = 0; i < review->candidates_n; i++) {
        enum writ_review_vote option = review->candidates[i].option;

        if (elects(value, writ_review_vote_name(option).ptr)) {
            return option;
        }
    }
    return WRIT_REVIEW_NO_VOTE;
}

/* `value`: the result of the votes; ptr NULL: none. With a quorum and without a value the voters
 * disagree. */
static enum writ_review_event
verdict_of(const struct writ_review *review, struct writ_view value)
{
    if (writ_review_is_vetoed(review)) {
        return WRIT_REVIEW_DO_REJECT;
    }
    if (cast(review) == 0) {
        return WRIT_REVIEW_DO_VOTE;
    }
    if (writ_view_is(value, ACCEPTED) || elects(value, "approve") ||
        elected_of(review, value) != WRIT_REVIEW_NO_VOTE) {
        return WRIT_REVIEW_DO_ACCEPT;
    }
    if (writ_view_is(value, REJECTED) || elects(value, "reject")) {
        return WRIT_REVIEW_DO_REJECT;
    }
    if (writ_view_is(value, REVISED) || elects(value, "modify")) {
        return WRIT_REVIEW_DO_REVISE;
    }
    /* other modes report a missing quorum and disagreement alike: only with all votes is it
     * clear */
    return cast(review) == writ_review_electors(review) ? WRIT_REVIEW_DO_REVISE
                                                        : WRIT_REVIEW_DO_VOTE;
}

/* The output of the facilitator; of an elected candidate also its option. */
static void
put_verdict(struct writ_buf *text, const struct writ_review_finding *finding)
{
    enum writ_review_event verdict = finding->verdict;
    const char *word = verdict == WRIT_REVIEW_DO_ACCEPT   ? ACCEPTED
                       : verdict == WRIT_REVIEW_DO_REJECT ? REJECTED
                       : verdict == WRIT_REVIEW_DO_REVISE ? REVISED
                                                          : "null";

    if (finding->elected == WRIT_REVIEW_NO_VOTE) {
        writ_buf_str(text, word);
        return;
    }
    writ_buf_fmt(text, "{\"elected\":\"" WRIT_VIEW_FMT "\",\"verdict\":%s}",
        WRIT_VIEW_ARG(writ_review_vote_name(finding->elected)), word);
}

/* The output of a reviewer, in the form that the engine counts. */
static void
put_vote(
    struct writ_buf *text, const struct writ_review *review, const struct writ_review_voter *voter)
{
    bool scored = writ_review_need(review->engine) == WRIT_REVIEW_NEEDS_CONFIDENCE &&
                  voter->confidence[0] != '\0';

    if (voter->ranking.n > 0) {
        for (size_t i = 0; i < voter->ranking.n; i++) {
            writ_buf_fmt(text, "%s\"" WRIT_VIEW_FMT "\"", i == 0 ? "[" : ",",
                WRIT_VIEW_ARG(writ_review_vote_name(voter->ranking.list[i])));
        }
        writ_buf_byte(text, ']');
        return;
    }
    writ_buf_byte(text, '{');
    if (scored) {
        writ_buf_fmt(text, "\"confidence\":%s,", voter->confidence);
    }
    writ_buf_fmt(
        text, "\"vote\":\"" WRIT_VIEW_FMT "\"}", WRIT_VIEW_ARG(writ_review_vote_name(voter->vote)));
}

static void
engines_freep(struct writ_crew_engines **engines)
{
    writ_crew_engines_free(*engines);
}

/* ---- counting without a session */

/* The output as a session would have it: 0.9 and 0.90 are one confidence. */
static WRIT_RESULT
make_output(const struct writ_review *review, const struct writ_review_voter *voter,
    struct writ_arena *arena, struct writ_view *ret)
{
    writ_auto_buf text = writ_buf_make(OUTPUT_TEXT);
    writ_auto_value value = NULL;

    put_vote(&text, review, voter);
    WRIT_TRY(writ_buf_check(&text, NULL));
    WRIT_TRY(writ_crew_value_read(writ_buf_view(&text), NULL, &value, NULL));
    *ret = writ_view_copy(writ_crew_value_text(value), arena);
    return ret->ptr != NULL ? WRIT_DONE : (writ_result){WRIT_E_NOMEM};
}

static WRIT_RESULT
make_entries(
    const struct writ_review *review, struct writ_arena *arena, struct writ_crew_entry **ret)
{
    struct writ_crew_entry *entries =
        writ_arena_get(arena, (writ_review_electors(review) + 1) * sizeof *entries);

    if (entries == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    for (size_t i = 0; i < writ_review_electors(review); i++) {
        struct writ_buf agent = writ_buf_in(arena, AGENT_MAX);
        struct writ_view output = {NULL, 0};

        put_agent(&agent, i);
        WRIT_TRY(writ_buf_check(&agent, NULL));
        WRIT_TRY(make_output(review, &review->voters[i], arena, &output));
        entries[i] = (struct writ_crew_entry){
            .agent_id = writ_buf_view(&agent),
            .role_id = WRIT_LIT("reviewer"),
            .output = output,
            .fault = review->voters[i].vote == WRIT_REVIEW_NO_VOTE,
        };
    }
    *ret = entries;
    return WRIT_DONE;
}

static void
voting_freep(struct writ_crew_voting **voting)
{
    writ_crew_voting_free(*voting);
}

static WRIT_RESULT
count_votes(const struct writ_review *review, const struct writ_crew_engines *engines,
    struct writ_arena *arena, struct writ_review_finding *ret, struct writ_err *err)
{
    writ_auto_buf text = writ_buf_make(TEXT_MAX);
    WRIT_AUTO(struct writ_crew_voting *, voting_freep) voting = NULL;
    WRIT_AUTO(struct writ_crew_verdict, writ_crew_verdict_wipe) verdict = {0};
    struct writ_crew_entry *entries = NULL;
    size_t n = writ_review_electors(review);

    put_voting(&text, review);
    WRIT_TRY(writ_buf_check(&text, err));
    WRIT_TRY(writ_crew_voting_read(writ_buf_view(&text), NULL, &voting, NULL));
    WRIT_TRY(make_entries(review, arena, &entries));
    WRIT_TRY(writ_crew_vote(voting, engines, entries, n, n, &verdict, NULL));
    *ret = (struct writ_review_finding){
        .verdict = verdict_of(review, writ_crew_value_text(verdict.value))};
    if (ret->verdict == WRIT_REVIEW_DO_ACCEPT) { /* and no veto */
        ret->elected = elected_of(review, writ_crew_value_text(verdict.value));
    }
    return WRIT_DONE;
}

/* ---- counting by a session */

/** A session and its events so far. */
struct panel {
    const struct writ_review *review;
    const struct writ_crew_engines *engines; /* NULL: the built-in ones */
    struct writ_arena *arena;
    struct writ_crew_shape *shape;
    struct writ_crew_agents *agents;
    struct writ_crew_graph *graph;
    struct writ_crew_session *session;
    double now_ms;
    struct writ_view log[LOG_MAX];
    size_t log_n;
    struct writ_err *err;
};

static void
panel_wipe(struct panel *panel)
{
    writ_crew_session_free(panel->session);
    writ_crew_graph_free(panel->graph);
    writ_crew_agents_free(panel->agents);
    writ_crew_shape_free(panel->shape);
}

static double
now_of(void *user)
{
    const struct panel *panel = user;

    return panel->now_ms;
}

static WRIT_RESULT
keep(struct panel *panel, const struct writ_crew_events *events)
{
    for (size_t i = 0; i < events->n; i++) {
        struct writ_view event = writ_view_copy(events->list[i], panel->arena);

        if (event.ptr == NULL) {
            WRIT_FAIL(panel->err, WRIT_E_NOMEM, "no memory for the log of a review");
        }
        if (panel->log_n == LOG_MAX) {
            WRIT_FAIL(panel->err, WRIT_E_LIMIT, "the log of a review is too long");
        }
        panel->log[panel->log_n++] = event;
    }
    return WRIT_DONE;
}

static WRIT_RESULT
open_session(struct panel *panel)
{
    writ_auto_buf text = writ_buf_make(TEXT_MAX);
    struct writ_crew_plan plan = {0};
    struct writ_crew_options options = {
        .crew_id = panel->review->id,
        .clock = {now_of, panel},
    };

    put_shape(&text, panel->review);
    WRIT_TRY(writ_buf_check(&text, panel->err));
    WRIT_TRY(writ_crew_shape_read_with(
        writ_buf_view(&text), panel->engines, NULL, NULL, &panel->shape, NULL));
    WRIT_TRY(writ_crew_agents_read(
        WRIT_LIT("{\"agents\":[],\"name\":\"review\",\"schema_version\":\"1.0\"}"), NULL, NULL,
        &panel->agents, NULL));
    plan.shape = panel->shape;
    plan.agents = panel->agents;
    plan.engines = panel->engines;
    WRIT_TRY(writ_crew_graph_build(&plan, &panel->graph, NULL));
    options.graph = panel->graph;
    return writ_crew_session_new(&options, &panel->session, NULL);
}

/* One step of one agent ends. `output` is JSON, or absent: it failed. */
static WRIT_RESULT
answer(struct panel *panel, struct writ_view role, struct writ_view agent, struct writ_view output)
{
    writ_auto_buf event = writ_buf_make(TEXT_MAX);
    struct writ_crew_events events = {0};
    char id[ID_LEN];

    WRIT_TRY(writ_crew_correlation(panel->review->id, role, agent, 1, id));
    writ_buf_fmt(&event, "{\"correlationId\":\"%.*s\",", ID_LEN, id);
    if (output.ptr != NULL) {
        writ_buf_str(&event, "\"output\":");
        writ_buf_put(&event, output);
        writ_buf_str(&event, ",\"type\":\"agent.step.completed\"}");
    } else {
        writ_buf_str(&event, "\"error\":{\"message\":\"no vote\",\"name\":\"Silence\"},"
                             "\"type\":\"agent.step.failed\"}");
    }
    WRIT_TRY(writ_buf_check(&event, panel->err));
    WRIT_TRY(writ_crew_session_deliver(panel->session, writ_buf_view(&event), &events, NULL));
    return keep(panel, &events);
}

/* The clock of the crew at this time. */
static double
whole_ms(int64_t us)
{
    int64_t ms = us / US_PER_MS;

    return (double)ms;
}

static WRIT_RESULT
propose(struct panel *panel)
{
    writ_auto_buf text = writ_buf_make(TEXT_MAX);
    struct writ_crew_events events = {0};
    struct writ_digest digest;

    WRIT_TRY(writ_review_terms_digest(panel->review, &digest, panel->err));
    writ_buf_str(&text, "{\"review_digest\":\"");
    writ_digest_put(&text, &digest);
    writ_buf_str(&text, "\"}");
    WRIT_TRY(writ_buf_check(&text, panel->err));
    panel->now_ms = whole_ms(panel->review->opened_us);
    WRIT_TRY(writ_crew_session_start(
        panel->session, writ_buf_view(&text), (struct writ_view){NULL, 0}, &events, NULL));
    WRIT_TRY(keep(panel, &events));
    return answer(panel, WRIT_LIT("proposer"), WRIT_LIT("proposer-1"), writ_buf_view(&text));
}

/* By the time of the vote, silent voters last; else in the order of the terms. */
static int
compare_voters(const void *a, const void *b, void *user)
{
    const struct writ_review *review = user;
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    const struct writ_review_voter *one = &review->voters[left], *other = &review->voters[right];
    int order = (one->vote == WRIT_REVIEW_NO_VOTE) - (other->vote == WRIT_REVIEW_NO_VOTE);

    if (order == 0 && one->vote != WRIT_REVIEW_NO_VOTE) {
        order = (one->voted_us > other->voted_us) - (one->voted_us < other->voted_us);
    }
    return order != 0 ? order : (left > right) - (left < right);
}

static WRIT_RESULT
hear_voters(struct panel *panel)
{
    const struct writ_review *review = panel->review;
    size_t order[WRIT_REVIEW_VOTERS_MAX], n = writ_review_electors(review);

    for (size_t i = 0; i < writ_review_electors(review); i++) {
        order[i] = i;
    }
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): only read */
    qsort_r(order, n, sizeof *order, compare_voters, (void *)(uintptr_t)review);
    for (size_t i = 0; i < writ_review_electors(review); i++) {
        const struct writ_review_voter *voter = &review->voters[order[i]];
        writ_auto_buf agent = writ_buf_make(AGENT_MAX);
        writ_auto_buf output = writ_buf_make(OUTPUT_TEXT);

        put_agent(&agent, order[i]);
        if (voter->vote != WRIT_REVIEW_NO_VOTE) {
            put_vote(&output, review, voter);
            panel->now_ms = whole_ms(voter->voted_us);
        }
        WRIT_TRY(writ_buf_check(&output, panel->err));
        WRIT_TRY(answer(panel, WRIT_LIT("reviewer"), writ_buf_view(&agent),
            output.len > 0 ? writ_buf_view(&output) : (struct writ_view){NULL, 0}));
    }
    return WRIT_DONE;
}

static WRIT_RESULT
hold_session(
    struct panel *panel, const struct writ_review_finding *found, struct writ_review_finding *ret)
{
    writ_auto_buf output = writ_buf_make(OUTPUT_TEXT);
    struct writ_view *log;

    WRIT_TRY(open_session(panel));
    WRIT_TRY(propose(panel));
    WRIT_TRY(hear_voters(panel));
    put_verdict(&output, found);
    WRIT_TRY(writ_buf_check(&output, panel->err));
    WRIT_TRY(
        answer(panel, WRIT_LIT("facilitator"), WRIT_LIT("facilitator-1"), writ_buf_view(&output)));
    WRIT_INVARIANT(writ_crew_session_status(panel->session) == WRIT_CREW_COMPLETED);
    log = writ_arena_get(panel->arena, panel->log_n * sizeof *log);
    if (log == NULL) {
        WRIT_FAIL(panel->err, WRIT_E_NOMEM, "no memory for the log of a review");
    }
    for (size_t i = 0; i < panel->log_n; i++) {
        log[i] = panel->log[i];
    }
    *ret = (struct writ_review_finding){
        .verdict = found->verdict, .elected = found->elected, .log = log, .log_n = panel->log_n};
    return WRIT_DONE;
}

static bool
is_engine(struct writ_view name)
{
#define IS_ENGINE(NAME, word, NEEDS) || writ_view_is(name, word)
    return false WRIT_REVIEW_ENGINES(IS_ENGINE);
#undef IS_ENGINE
}

/* A plug-in that crashes, hangs or talks nonsense is a failed verdict, whatever its tally says. One
 * that cannot be asked now gives none. */
static WRIT_RESULT
fail_count(const struct writ_panel_plugin_engine *asked, struct writ_arena *arena,
    struct writ_review_finding *ret, struct writ_err *err)
{
    struct writ_buf why = writ_buf_in(arena, WRIT_REVIEW_FAULT_MAX * ESCAPED_MAX);

    if (asked->result.code == WRIT_E_NOMEM || asked->result.code == WRIT_E_BUSY) {
        WRIT_FAIL(err, asked->result.code, "%s", asked->why.text);
    }
    writ_text_safe(&why, writ_view_str(asked->why.text), WRIT_REVIEW_FAULT_MAX);
    WRIT_TRY(writ_buf_check(&why, NULL));
    *ret =
        (struct writ_review_finding){.verdict = WRIT_REVIEW_DO_FAIL, .fault = writ_buf_view(&why)};
    return WRIT_DONE;
}

/* `asked` NULL: by an engine that is built in. */
static WRIT_RESULT
count_with(struct panel *panel, struct writ_panel_plugin_engine *asked, bool with_log,
    struct writ_review_finding *ret)
{
    struct writ_review_finding found = {.verdict = WRIT_REVIEW_DO_VOTE};

    WRIT_TRY(count_votes(panel->review, panel->engines, panel->arena, &found, panel->err));
    if (asked != NULL && !writ_is_ok(asked->result)) {
        return fail_count(asked, panel->arena, ret, panel->err);
    }
    if (asked != NULL && asked->wanted && !asked->over) {
        found.verdict = WRIT_REVIEW_DO_VOTE;
    }
    if (with_log && found.verdict != WRIT_REVIEW_DO_VOTE) {
        return hold_session(panel, &found, ret);
    }
    *ret = found;
    return WRIT_DONE;
}

static WRIT_RESULT
count_plugin(struct panel *panel, const struct writ_panel_plugin *plugin, bool with_log,
    struct writ_review_finding *ret)
{
    WRIT_AUTO(struct writ_crew_engines *, engines_freep) engines = writ_crew_engines_new();
    struct writ_panel_plugin_engine asked = writ_panel_plugin_make(plugin);
    writ_result result;

    asked.over = writ_review_is_vetoed(panel->review);
    if (engines == NULL) {
        WRIT_FAIL(panel->err, WRIT_E_NOMEM, "no memory to count votes");
    }
    WRIT_TRY(writ_crew_engines_add(engines, &asked.engine, NULL, NULL));
    panel->engines = engines;
    result = count_with(panel, &asked, with_log, ret);
    panel_wipe(panel); /* before its engines */
    *panel = (struct panel){.review = panel->review};
    return result;
}

static writ_result
count(void *ctx, const struct writ_review *review, bool with_log, struct writ_arena *arena,
    struct writ_review_finding *ret, struct writ_err *err)
{
    WRIT_AUTO(struct panel, panel_wipe) panel = {.review = review, .arena = arena, .err = err};

    if (writ_review_is_plugin(review->engine)) {
        return count_plugin(&panel, ctx, with_log, ret);
    }
    if (!is_engine(review->engine)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the engine of the review is unknown");
    }
    return count_with(&panel, NULL, with_log, ret);
}

const struct writ_review_judge writ_panel_judge = {count, NULL};

struct writ_review_judge
writ_panel_judge_with(const struct writ_panel_plugin *plugin)
{
    return (struct writ_review_judge){count, (void *)(uintptr_t)plugin};
}
