/* Consensus by proposer, reviewers and facilitator, with a shared memory.
 *
 * A crew of three roles runs in phases: a proposer writes a proposal, three reviewers vote on it
 * (approve, reject or modify), a facilitator sums up. While the verdict is REQUEST_REVISION another
 * round begins: the reviewers' insights are in the shared pool, and the proposer reads those of the
 * others. The agents are scripted here; in a real crew each is a program or a person.
 *
 *     cc -std=gnu11 -o consensus consensus.c $(pkg-config --cflags --libs writ) */
#define _GNU_SOURCE /* memmem */
#include <writ/crew.h>

#include <stdio.h>
#include <string.h>

#define ROUNDS_MAX 3
#define POOL_MAX   100

static const char shape_text[] =
    "{\"schema_version\":\"1.0\",\"name\":\"consensus\",\"roles\":["
    "{\"role\":\"proposer\",\"permissions\":{},\"first_input\":true,\"amount\":1},"
    "{\"role\":\"reviewer\",\"permissions\":{},\"amount\":3,"
    "\"execution\":{\"voting\":{\"mode\":\"review\",\"threshold\":\"2/3\",\"quorum\":2}}},"
    "{\"role\":\"facilitator\",\"permissions\":{},\"final_output\":true,\"amount\":1}]}";
static const char agents_text[] =
    "{\"schema_version\":\"1.0\",\"name\":\"consensus\",\"agents\":[]}";

/* The vote of each reviewer in each round, and its insight for the pool. */
static const struct {
    const char *agent_id, *votes[ROUNDS_MAX], *insight, *tag;
} reviewers[] = {
    {"reviewer-1", {"modify", "approve", "approve"}, "name who may roll back", "risk"},
    {"reviewer-2", {"reject", "modify", "approve"}, "the migration needs a rehearsal", "risk"},
    {"reviewer-3", {"modify", "approve", "approve"}, "say what it costs", "cost"},
};

static struct writ_view
view(const char *text)
{
    return (struct writ_view){text, strlen(text)};
}

static double
now(void *user)
{
    (void)user;
    return 0; /* nothing in this crew depends on the time */
}

static void
print_events(const struct writ_crew_events *events)
{
    for (size_t at = 0; at < events->n; at++) {
        printf("  %.*s\n", (int)events->list[at].len, events->list[at].ptr);
    }
}

/* The value of "name":" in a canonical object, up to the closing quote. */
static struct writ_view
member(struct writ_view object, const char *name)
{
    char key[64];
    const char *from, *to;

    snprintf(key, sizeof key, "\"%s\":\"", name);
    from = memmem(object.ptr, object.len, key, strlen(key));
    if (from == NULL) {
        return (struct writ_view){NULL, 0};
    }
    from += strlen(key);
    to = memchr(from, '"', (size_t)(object.ptr + object.len - from));
    return (struct writ_view){from, to != NULL ? (size_t)(to - from) : 0};
}

/* The answer of a scripted agent: the JSON of its output. */
static void
answer_of(struct writ_view agent, int round, struct writ_crew_pool *pool, char *ret, size_t size)
{
    for (size_t at = 0; at < sizeof reviewers / sizeof *reviewers; at++) {
        if (agent.len == strlen(reviewers[at].agent_id) &&
            memcmp(agent.ptr, reviewers[at].agent_id, agent.len) == 0) {
            const struct writ_view tag = view(reviewers[at].tag);
            const struct writ_crew_insight insight = {.agent_id = view(reviewers[at].agent_id),
                .content = view(reviewers[at].insight),
                .segment = view("review"),
                .tags = &tag,
                .tags_n = 1,
                .importance = 1.0 / (double)(at + 1)};
            snprintf(ret, size, "{\"vote\":\"%s\"}", reviewers[at].votes[round]);
            if (round == 0 && writ_crew_pool_add(pool, &insight, NULL).code != WRIT_OK) {
                fprintf(stderr, "the pool is full\n");
            }
            return;
        }
    }
    snprintf(ret, size, "\"draft %d\"", round + 1);
}

/* Prints the verdict, if it is among the events; true when it is ACCEPT. */
static bool
is_accepted(const struct writ_crew_events *events, int round)
{
    bool accepted = false;

    for (size_t at = 0; at < events->n; at++) {
        struct writ_view mode = member(events->list[at], "mode");
        struct writ_view verdict = member(events->list[at], "resolved");
        if (mode.len == 6 && memcmp(mode.ptr, "review", 6) == 0) {
            printf("round %d: %.*s\n", round + 1, (int)verdict.len, verdict.ptr);
            accepted = verdict.len == 6 && memcmp(verdict.ptr, "ACCEPT", 6) == 0;
        }
    }
    return accepted;
}

enum state {
    FAILED,
    AGAIN,
    ACCEPTED,
};

/* Answers every pending request until the crew has ended. */
static enum state
run_round(struct writ_crew_session *session, int round, struct writ_crew_pool *pool)
{
    struct writ_crew_events events;
    bool accepted = false;

    if (writ_crew_session_start(
            session, view("\"move to the new store\""), (struct writ_view){NULL, 0}, &events, NULL)
            .code != WRIT_OK) {
        return FAILED;
    }
    print_events(&events);
    while (writ_crew_session_status(session) == WRIT_CREW_AWAITING_RESPONSES) {
        char output[128], event[512];
        struct writ_view agent, id;
        if (writ_crew_session_pending(session, &events, NULL).code != WRIT_OK || events.n == 0) {
            return FAILED;
        }
        agent = member(events.list[0], "agentId");
        id = member(events.list[0], "correlationId");
        answer_of(agent, round, pool, output, sizeof output);
        snprintf(event, sizeof event,
            "{\"type\":\"agent.step.completed\",\"correlationId\":\"%.*s\",\"output\":%s}",
            (int)id.len, id.ptr, output);
        if (writ_crew_session_deliver(session, view(event), &events, NULL).code != WRIT_OK) {
            return FAILED;
        }
        print_events(&events);
        accepted |= is_accepted(&events, round);
    }
    return accepted ? ACCEPTED : AGAIN;
}

/* The insights that the proposer reads before it writes again. */
static void
print_pool(struct writ_crew_pool *pool)
{
    const struct writ_crew_filter others = {.not_agent = view("proposer-1"), .limit = 2};
    struct writ_crew_value *value = NULL;

    if (writ_crew_pool_read(pool, &others, &value).code == WRIT_OK) {
        struct writ_view text = writ_crew_value_text(value);
        printf("the proposer reads: %.*s\n", (int)text.len, text.ptr);
    }
    writ_crew_value_free(value);
}

static bool
reach_consensus(const struct writ_crew_graph *graph, struct writ_crew_pool *pool)
{
    enum state state = AGAIN;

    for (int round = 0; round < ROUNDS_MAX && state == AGAIN; round++) {
        char crew_id[32];
        struct writ_crew_options options = {.graph = graph, .clock = {now, NULL}};
        struct writ_crew_session *session = NULL;
        snprintf(crew_id, sizeof crew_id, "consensus-%d", round + 1);
        options.crew_id = view(crew_id);
        if (writ_crew_session_new(&options, &session, NULL).code != WRIT_OK) {
            return false;
        }
        state = run_round(session, round, pool);
        writ_crew_session_free(session);
        if (state == AGAIN) {
            print_pool(pool);
        }
    }
    return state == ACCEPTED;
}

int
main(void)
{
    struct writ_crew_shape *shape = NULL;
    struct writ_crew_agents *agents = NULL;
    struct writ_crew_graph *graph = NULL;
    struct writ_crew_pool *pool = writ_crew_pool_new(POOL_MAX);
    struct writ_crew_err err = {0};
    bool reached = false;

    if (pool != NULL &&
        writ_crew_shape_read(view(shape_text), NULL, NULL, &shape, &err).code == WRIT_OK &&
        writ_crew_agents_read(view(agents_text), NULL, NULL, &agents, &err).code == WRIT_OK) {
        const struct writ_crew_plan plan = {.shape = shape, .agents = agents};
        if (writ_crew_graph_build(&plan, &graph, &err).code == WRIT_OK) {
            reached = reach_consensus(graph, pool);
        }
    }
    printf("%s\n", reached ? "consensus" : "no consensus");
    writ_crew_graph_free(graph);
    writ_crew_agents_free(agents);
    writ_crew_shape_free(shape);
    writ_crew_pool_free(pool);
    return reached ? 0 : 1;
}
