/* What the crew library calls in JavaScript, and what JavaScript cannot do with its structs.
 *
 * JavaScript sees the memory of the module as bytes. It passes views and arrays of views, which are
 * pairs of 32-bit numbers, and scalars; this file makes the larger structs of writ/crew.h of them,
 * and calls through their function pointers. The few structs that JavaScript reads itself have
 * their layout asserted here.
 *
 * A session or an engine is a number in the callbacks: crew.mjs keeps what it stands for. */
#include "writ/crew.h"

#include <stdlib.h>
#include <string.h>

#define EXPORT(name)               __attribute__((export_name(#name)))
#define IMPORT(name)               __attribute__((import_module("writ"), import_name(#name)))
#define WRIT_HOST_ENGINES          8 /* engines in JavaScript at one time */
#define LAID_OUT(type, member, at) _Static_assert(offsetof(type, member) == (at), #member)

LAID_OUT(struct writ_crew_err, err.text, 4);
LAID_OUT(struct writ_crew_err, err.offset, 516);
_Static_assert(sizeof(struct writ_crew_err) == 524, "error");
_Static_assert(sizeof(struct writ_crew_limits) == 36, "limits");
_Static_assert(sizeof(struct writ_crew_registered) == 12, "registered");
_Static_assert(sizeof(struct writ_crew_agent) == 20, "agent");
_Static_assert(sizeof(struct writ_crew_finding) == 12, "finding");
_Static_assert(sizeof(struct writ_crew_entry) == 28, "entry");
LAID_OUT(struct writ_crew_entry, stalled, 25);
LAID_OUT(struct writ_crew_verdict, value, 4);
LAID_OUT(struct writ_crew_verdict, why, 8);
_Static_assert(sizeof(struct writ_crew_ranking) == 16, "ranking");
_Static_assert(sizeof(struct writ_crew_ballot) == 32, "ballot");
_Static_assert(sizeof(struct writ_crew_poll) == 16, "poll");
LAID_OUT(struct writ_crew_hook, fault, 56);
_Static_assert(sizeof(struct writ_crew_memory) == 8, "memory");

/* ---- what Debian's C library for WebAssembly lacks */

static struct {
    int (*compare)(const void *a, const void *b, void *arg);
    void *arg;
} sorting;

static int
compare_by_arg(const void *a, const void *b)
{
    return sorting.compare(a, b, sorting.arg);
}

/* One thread, and no comparison of the library sorts. */
void
qsort_r(void *base, size_t n, size_t size, int (*compare)(const void *a, const void *b, void *arg),
    void *arg)
{
    sorting.compare = compare;
    sorting.arg = arg;
    qsort(base, n, size, compare_by_arg);
}

/* Debian's compiler runtime is built with stack protectors. */
extern uintptr_t __stack_chk_guard;
uintptr_t __stack_chk_guard = 0x57a11ed;
_Noreturn void __stack_chk_fail(void);

_Noreturn void
__stack_chk_fail(void)
{
    abort();
}

/* ---- what the library calls */

IMPORT(now) double writ_host_now(uint32_t session);
IMPORT(hook)
void writ_host_hook(
    uint32_t session, const struct writ_crew_hook *hook, struct writ_crew_control *control);
IMPORT(count)
int writ_host_count(
    uint32_t engine, const struct writ_crew_poll *poll, struct writ_crew_tally *tally);

IMPORT(take)
void writ_host_take(const struct writ_view *agent_id, const struct writ_view *insight);

static double
now(void *user)
{
    return writ_host_now((uint32_t)(uintptr_t)user);
}

static void
hook(void *user, const struct writ_crew_hook *called, struct writ_crew_control *control)
{
    writ_host_hook((uint32_t)(uintptr_t)user, called, control);
}

/* An engine has no user pointer: each one is a function of its own. */
#define COUNT(at)                                                                                  \
    static int count_##at(const struct writ_crew_poll *poll, struct writ_crew_tally *tally)        \
    {                                                                                              \
        return writ_host_count(at, poll, tally);                                                   \
    }
/* clang-format off */
COUNT(0) COUNT(1) COUNT(2) COUNT(3) COUNT(4) COUNT(5) COUNT(6) COUNT(7)
    /* clang-format on */

    static struct writ_crew_engine engines[WRIT_HOST_ENGINES] = {{.count = count_0},
        {.count = count_1}, {.count = count_2}, {.count = count_3}, {.count = count_4},
        {.count = count_5}, {.count = count_6}, {.count = count_7}};

/** The engine with that number; its texts are borrowed. */
EXPORT(writ_host_engine)
const struct writ_crew_engine *
writ_host_engine(uint32_t at, const char *name, const char *about)
{
    engines[at].abi = WRIT_CREW_ENGINE_ABI;
    engines[at].name = name;
    engines[at].about = about;
    return &engines[at];
}

EXPORT(writ_host_tally_ballot)
void
writ_host_tally_ballot(struct writ_crew_tally *tally, size_t ballot)
{
    tally->ballot(tally, ballot);
}

EXPORT(writ_host_tally_candidate)
void
writ_host_tally_candidate(struct writ_crew_tally *tally, size_t candidate)
{
    tally->candidate(tally, candidate);
}

EXPORT(writ_host_tally_explain)
void
writ_host_tally_explain(struct writ_crew_tally *tally, const char *line)
{
    tally->explain(tally, "%s", line);
}

/* ---- larger structs */

EXPORT(writ_host_limits)
void
writ_host_limits(struct writ_crew_limits *ret)
{
    *ret = writ_crew_limits_default;
}

EXPORT(writ_host_graph)
enum writ_code
writ_host_graph(const struct writ_crew_shape *shape, const struct writ_crew_agents *agents,
    const struct writ_crew_registered *registry, size_t registry_n,
    const struct writ_crew_engines *known, const struct writ_crew_limits *limits, bool consensual,
    const struct writ_view *consensus, struct writ_crew_graph **ret, struct writ_crew_err *err)
{
    const struct writ_crew_plan plan = {.shape = shape,
        .agents = agents,
        .registry = registry,
        .registry_n = registry_n,
        .engines = known,
        .limits = limits,
        .consensual = consensual,
        .consensus = *consensus};

    return writ_crew_graph_build(&plan, ret, err).code;
}

/** The options of a session that lives at least as long as `hooks`, which is filled. */
EXPORT(writ_host_options)
struct writ_crew_options *
writ_host_options(uint32_t session, const struct writ_view *crew_id,
    const struct writ_crew_graph *graph, struct writ_crew_hooks *hooks, bool has_hooks,
    const struct writ_crew_memory *memory, const struct writ_crew_limits *limits, bool has_timeout,
    double timeout_ms, bool auto_checkpoint)
{
    static struct writ_crew_options options;
    void *user = (void *)(uintptr_t)session;

    *hooks = (struct writ_crew_hooks){hook, user};
    options = (struct writ_crew_options){.crew_id = *crew_id,
        .graph = graph,
        .clock = {now, user},
        .hooks = has_hooks ? hooks : NULL,
        .memory = memory,
        .limits = limits,
        .has_default_timeout = has_timeout,
        .default_timeout_ms = timeout_ms,
        .auto_checkpoint = auto_checkpoint};
    return &options;
}

EXPORT(writ_host_memory_apply)
enum writ_code
writ_host_memory_apply(const struct writ_crew_memory *memory, const struct writ_view scope[3],
    const struct writ_view *command)
{
    const struct writ_crew_scope as = {scope[0], scope[1], scope[2], {NULL, 0}};

    return memory->ops->apply(memory->self, &as, *command).code;
}

EXPORT(writ_host_memory_retrieve)
enum writ_code
writ_host_memory_retrieve(const struct writ_crew_memory *memory, const struct writ_view scope[4],
    const struct writ_view *options, struct writ_crew_value **ret)
{
    const struct writ_crew_scope as = {scope[0], scope[1], scope[2], scope[3]};

    return memory->ops->retrieve(memory->self, &as, *options, ret).code;
}

EXPORT(writ_host_memory_snapshot)
enum writ_code
writ_host_memory_snapshot(const struct writ_crew_memory *memory, struct writ_crew_value **ret)
{
    return memory->ops->snapshot(memory->self, ret).code;
}

EXPORT(writ_host_memory_free)
void
writ_host_memory_free(struct writ_crew_memory *memory)
{
    memory->ops->free(memory->self);
    free(memory);
}

/** @param views agent_id, content, segment, metadata */
EXPORT(writ_host_pool_add)
enum writ_code
writ_host_pool_add(struct writ_crew_pool *pool, const struct writ_view views[4],
    const struct writ_view *tags, size_t tags_n, double importance, struct writ_crew_err *err)
{
    const struct writ_crew_insight insight = {.agent_id = views[0],
        .content = views[1],
        .segment = views[2],
        .metadata = views[3],
        .tags = tags,
        .tags_n = tags_n,
        .importance = importance};

    return writ_crew_pool_add(pool, &insight, err).code;
}

static void
take(void *user, struct writ_view agent_id, struct writ_view insight)
{
    (void)user;
    writ_host_take(&agent_id, &insight);
}

EXPORT(writ_host_pool_request)
enum writ_code
writ_host_pool_request(struct writ_crew_pool *pool, const struct writ_view *agent_id,
    const struct writ_view *request, struct writ_crew_value **ret, struct writ_crew_err *err)
{
    const struct writ_crew_pool_reader reader = {take, NULL};

    return writ_crew_pool_request(pool, *agent_id, *request, &reader, ret, err).code;
}

/** @param views segment, agent_id, not_agent */
EXPORT(writ_host_pool_read)
enum writ_code
writ_host_pool_read(const struct writ_crew_pool *pool, const struct writ_view *any_tags,
    size_t any_tags_n, const struct writ_view *all_tags, size_t all_tags_n,
    const struct writ_view views[3], bool has_least, double least, size_t limit,
    struct writ_crew_value **ret)
{
    const struct writ_crew_filter filter = {any_tags, all_tags, any_tags_n, all_tags_n, views[0],
        views[1], views[2], has_least, least, limit};

    return writ_crew_pool_read(pool, &filter, ret).code;
}
