/* micro_crew.c - measures the cost of a crew, from 10 to 100,000 agents.
 *
 *     micro_crew [nested]
 *
 * The crew has an entry, N workers that vote by majority, and an exit; with `nested` each worker is
 * a crew of one agent. Each size runs until it has seen MEASURED agents, and the least time counts:
 * entering the phase of the workers (N requests out), delivering their answers (events in and out),
 * taking a snapshot while all of them work, and resuming from it, which emits every request again.
 * Bytes are those of the allocator for the session then, without the graph. Each figure is followed
 * by its ratio to the size before: 10 is linear. */
#include "base/bytes.h"
#include "writ/crew.h"

#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SIZES    5
#define MEASURED 400000 /* agents per size: a size runs MEASURED / size times, at least ROUNDS */
#define ROUNDS   5

#define ROLE(name, more) "{\"role\":\"" name "\",\"permissions\":{}" more "}"
#define ENTRY            ROLE("a", ",\"first_input\":true,\"amount\":1")
#define EXIT             ROLE("z", ",\"final_output\":true,\"amount\":1")
#define VOTING           ",\"execution\":{\"voting\":{\"mode\":\"majority\"}}"

static const char inner_shape[] = "{\"schema_version\":\"1.0\",\"name\":\"IN\",\"roles\":[" ROLE(
    "i", ",\"first_input\":true,\"amount\":1") "," ROLE("o", ",\"final_output\":true") "]}";

/** The measurements of one size; less is better for each. */
struct figures {
    double build_us, enter_us, deliver_us, snapshot_us, resume_us, bytes, snapshot_bytes;
    size_t events; /* in and out, while answers are delivered */
};

/** A crew of one size. */
struct crew {
    struct writ_crew_shape *shape, *inner;
    struct writ_crew_agents *agents;
    struct writ_crew_graph *graph;
    struct writ_crew_options options;
    size_t workers;
};

static void
must(writ_result result, const struct writ_crew_err *err)
{
    if (!writ_is_ok(result)) {
        (void)fprintf(stderr, "micro_crew: %s\n", err->err.text);
        exit(1);
    }
}

static double
no_time(void *user)
{
    (void)user;
    return 0;
}

static double
since_us(int64_t *began_ns)
{
    struct timespec now;
    int64_t now_ns;
    double us;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    now_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
    us = (double)(now_ns - *began_ns) / 1e3;
    *began_ns = now_ns;
    return us;
}

static void
keep_least(double *least, double value)
{
    if (*least == 0 || value < *least) {
        *least = value;
    }
}

/* ---- a crew */

static void
crew_open(struct crew *crew, size_t workers, bool nested)
{
    static const char agents[] = "{\"schema_version\":\"1.0\",\"name\":\"C\",\"agents\":[]}";
    struct writ_crew_err err = {0};
    char shape[1024];

    (void)snprintf(shape, sizeof shape,
        "{\"schema_version\":\"1.0\",\"name\":\"C\",\"roles\":[" ENTRY
        "," ROLE("w", ",\"amount\":%zu%s" VOTING) "," EXIT "]}",
        workers, nested ? ",\"nested_crew\":\"inner\"" : "");
    *crew = (struct crew){.workers = workers};
    must(writ_crew_shape_read(writ_view_str(shape), NULL, NULL, &crew->shape, &err), &err);
    must(writ_crew_shape_read(writ_view_str(inner_shape), NULL, NULL, &crew->inner, &err), &err);
    must(writ_crew_agents_read(writ_view_str(agents), NULL, NULL, &crew->agents, &err), &err);
}

static void
crew_build(struct crew *crew)
{
    const struct writ_crew_registered registry = {WRIT_LIT("inner"), crew->inner};
    const struct writ_crew_plan plan = {
        .shape = crew->shape, .agents = crew->agents, .registry = &registry, .registry_n = 1};
    struct writ_crew_err err = {0};

    writ_crew_graph_free(crew->graph);
    crew->graph = NULL;
    must(writ_crew_graph_build(&plan, &crew->graph, &err), &err);
    crew->options = (struct writ_crew_options){
        .crew_id = WRIT_LIT("bench"), .graph = crew->graph, .clock = {no_time, NULL}};
}

static void
crew_close(struct crew *crew)
{
    writ_crew_graph_free(crew->graph);
    writ_crew_agents_free(crew->agents);
    writ_crew_shape_free(crew->shape);
    writ_crew_shape_free(crew->inner);
}

/* ---- one session */

/* The answers to the requests among events, one after the other; `ends` gets where each ends. */
static size_t
answer_all(const struct writ_crew_events *events, struct writ_buf *answers, size_t *ends)
{
    size_t n = 0;

    writ_buf_clear(answers);
    for (size_t at = 0; at < events->n; at++) {
        struct writ_view event = events->list[at];
        size_t id = writ_view_search(event, WRIT_LIT("\"correlationId\":\"")) + 17;
        if (id < event.len) {
            writ_buf_str(answers, "{\"type\":\"agent.step.completed\",\"correlationId\":\"");
            writ_buf_put(answers, writ_view_sub(event, id, 16));
            writ_buf_str(answers,
                n % 3 == 0 ? "\",\"output\":{\"answer\":42}}" : "\",\"output\":{\"answer\":7}}");
            ends[n++] = answers->len;
        }
    }
    return n;
}

static void
deliver_all(struct writ_crew_session *session, struct writ_view answers, const size_t *ends,
    size_t n, struct writ_crew_events *events, size_t *ret_count)
{
    struct writ_crew_err err = {0};
    size_t from = 0;

    *ret_count = n;
    for (size_t at = 0; at < n; at++) {
        must(writ_crew_session_deliver(
                 session, writ_view_sub(answers, from, ends[at] - from), events, &err),
            &err);
        *ret_count += events->n;
        from = ends[at];
    }
}

static double
bytes_held(void)
{
    return (double)mallinfo2().uordblks;
}

static void
measure_once(const struct crew *crew, struct figures *figures)
{
    writ_auto_buf answers = writ_buf_make(SIZE_MAX);
    size_t *ends = calloc(crew->workers + 1, sizeof *ends), n, count = 0;
    struct writ_crew_session *session = NULL, *resumed = NULL;
    struct writ_crew_value *snapshot = NULL;
    struct writ_crew_events events;
    struct writ_crew_err err = {0};
    double before;
    int64_t time_ns = 0;

    if (ends == NULL) {
        (void)fprintf(stderr, "micro_crew: no memory\n");
        exit(1);
    }
    before = bytes_held();
    must(writ_crew_session_new(&crew->options, &session, &err), &err);
    must(writ_crew_session_start(session, WRIT_LIT("{\"q\":1}"), writ_view(NULL, 0), &events, &err),
        &err);
    n = answer_all(&events, &answers, ends);
    before += (double)answers.cap;
    (void)since_us(&time_ns);
    deliver_all(session, writ_buf_view(&answers), ends, n, &events, &count);
    keep_least(&figures->enter_us, since_us(&time_ns));
    before -= (double)answers.cap;
    n = answer_all(&events, &answers, ends);
    keep_least(&figures->bytes, bytes_held() - (double)answers.cap - before);

    (void)since_us(&time_ns);
    must(writ_crew_session_snapshot(session, &snapshot, &err), &err);
    keep_least(&figures->snapshot_us, since_us(&time_ns));
    figures->snapshot_bytes = (double)writ_crew_value_text(snapshot).len;
    (void)since_us(&time_ns);
    must(writ_crew_session_resume(&crew->options, writ_crew_value_text(snapshot), NULL, 0,
             WRIT_CREW_RESUME_RE_EMIT, &resumed, &events, &err),
        &err);
    keep_least(&figures->resume_us, since_us(&time_ns));
    writ_crew_session_free(resumed);
    writ_crew_value_free(snapshot);

    (void)since_us(&time_ns);
    deliver_all(session, writ_buf_view(&answers), ends, n, &events, &count);
    keep_least(&figures->deliver_us, since_us(&time_ns));
    figures->events = count;
    writ_crew_session_free(session);
    free(ends);
}

static struct figures
measure(size_t workers, bool nested)
{
    size_t rounds = MEASURED / workers > ROUNDS ? MEASURED / workers : ROUNDS;
    struct figures figures = {0};
    struct crew crew;

    crew_open(&crew, workers, nested);
    for (size_t at = 0; at < rounds; at++) {
        int64_t time_ns = 0;
        (void)since_us(&time_ns);
        crew_build(&crew);
        keep_least(&figures.build_us, since_us(&time_ns));
        measure_once(&crew, &figures);
    }
    crew_close(&crew);
    return figures;
}

/* ---- the table */

/* A figure, and its ratio to the one before. */
static void
print_figure(double figure, double before)
{
    if (before > 0) {
        (void)printf(" | %9.0f (%4.1f)", figure, figure / before);
    } else {
        (void)printf(" | %9.0f       ", figure);
    }
}

int
main(int argc, char **argv)
{
    bool nested = argc == 2 && writ_view_is(WRIT_LIT("nested"), argv[1]);
    struct figures before = {0};
    size_t workers = 10;

    if (argc > 1 && !nested) {
        (void)fprintf(stderr, "usage: micro_crew [nested]\n");
        return 2;
    }
    /* freed memory stays in the process, so that no size pays for new pages of the kernel */
    (void)mallopt(M_MMAP_MAX, 0);
    (void)mallopt(M_TRIM_THRESHOLD, INT_MAX);
    (void)printf("agents |  events/s |  build us        |  enter us        |  deliver us      "
                 "|  snapshot us     |  resume us       |  session bytes   |  snapshot bytes\n");
    for (int size = 0; size < SIZES; size++, workers *= 10) {
        struct figures now = measure(workers, nested);
        (void)printf("%6zu | %9.0f", workers, (double)now.events / now.deliver_us * 1e6);
        print_figure(now.build_us, before.build_us);
        print_figure(now.enter_us, before.enter_us);
        print_figure(now.deliver_us, before.deliver_us);
        print_figure(now.snapshot_us, before.snapshot_us);
        print_figure(now.resume_us, before.resume_us);
        print_figure(now.bytes, before.bytes);
        print_figure(now.snapshot_bytes, before.snapshot_bytes);
        (void)printf("\n");
        (void)fflush(stdout);
        before = now;
    }
    return 0;
}
