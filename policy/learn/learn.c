/* Tools are distinguished by the names of their server and of themselves and by their rule; each
 * has an arena of its own. What a call adds is at most what it holds, and nothing once the limits
 * of spot.h and seen.h are reached. */
#include "policy/learn/learn.h"

#include "evidence/json/digest.h"
#include "evidence/json/jcs.h"
#include "policy/model/trail.h"
#include "policy/model/constraint.h"

#define ARENA_MAX     ((size_t)1 << 30)
#define SCRATCH_MAX   ((size_t)64 << 20)
#define CANONICAL_MAX ((size_t)64 << 20)
#define TOOLS_MAX     65536
#define RUNS_LEAST    5    /* runs below which single calls are counted */
#define REPEATS       4096 /* calls of late that an identical one is looked for among */
#define FIRST_MAX     2048 /* bytes of the arguments that are kept as an example */
#define WHY_MAX       256

struct tool {
    struct writ_learn_tool public;
    struct writ_arena *arena;
    struct writ_spots spots;
    struct writ_seen runs;
    uint64_t *recent; /* REPEATS digests of run and arguments */
};

struct writ_learn {
    struct writ_text_forms forms;
    struct writ_arena *arena, *scratch;
    struct writ_seen names; /* the number of a tool is that of its name */
    struct tool **tools;
    size_t tools_n, tools_cap;
};

WRIT_RESULT
writ_learn_new(struct writ_learn **ret, struct writ_err *err)
{
    struct writ_learn *learn = writ_alloc(sizeof *learn);
    writ_result result;

    if (learn == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    learn->arena = writ_arena_new(ARENA_MAX);
    learn->scratch = writ_arena_new(SCRATCH_MAX);
    learn->names = (struct writ_seen){.most = TOOLS_MAX};
    result = writ_texts_init(&learn->forms, err);
    if (!writ_is_ok(result) || learn->arena == NULL || learn->scratch == NULL) {
        writ_learn_free(learn);
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    *ret = learn;
    return WRIT_DONE;
}

void
writ_learn_free(struct writ_learn *learn)
{
    if (learn == NULL) {
        return;
    }
    for (size_t i = 0; i < learn->tools_n; i++) {
        writ_arena_free(learn->tools[i]->arena);
    }
    writ_texts_wipe(&learn->forms);
    writ_arena_free(learn->arena);
    writ_arena_free(learn->scratch);
    writ_free(learn->tools);
    writ_free(learn);
}

const struct writ_learn_tool *
writ_learn_tools(const struct writ_learn *learn)
{
    return learn->tools_n > 0 ? &learn->tools[0]->public : NULL;
}

/* ---- calls */

static writ_result
new_tool(struct writ_learn *learn, const struct writ_learn_call *call)
{
    struct tool *tool = writ_arena_get(learn->arena, sizeof *tool);
    struct writ_arena *arena = tool != NULL ? writ_arena_new_small(ARENA_MAX) : NULL;

    if (arena == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    *tool = (struct tool){.arena = arena};
    if (learn->tools_n == learn->tools_cap) {
        size_t cap = learn->tools_cap == 0 ? 64 : learn->tools_cap * 2;
        struct tool **tools = writ_realloc(learn->tools, cap * sizeof(struct tool *));

        if (tools == NULL) {
            writ_arena_free(arena);
            return (writ_result){WRIT_E_NOMEM};
        }
        learn->tools = tools;
        learn->tools_cap = cap;
    }
    if (learn->tools_n > 0) {
        learn->tools[learn->tools_n - 1]->public.next = &tool->public;
    }
    learn->tools[learn->tools_n++] = tool; /* from here on freed with the rest */
    tool->spots =
        (struct writ_spots){.arena = arena, .scratch = learn->scratch, .forms = &learn->forms};
    tool->runs = (struct writ_seen){.most = WRIT_SPOT_VALUES_MAX};
    tool->public.agents =
        (struct writ_seen){.most = WRIT_LEARN_AGENTS_MAX, .text_max = WRIT_TRAIL_MAX};
    tool->public.upstream = writ_view_copy(call->upstream, arena);
    tool->public.tool = writ_view_copy(call->tool, arena);
    tool->public.rule = writ_view_copy(call->rule, arena);
    tool->public.root = writ_spot_new(&tool->spots, NULL, writ_view(NULL, 0), false);
    tool->recent = writ_arena_get(arena, REPEATS * sizeof *tool->recent);
    if (tool->public.root == NULL || tool->recent == NULL || tool->public.rule.ptr == NULL ||
        tool->public.tool.ptr == NULL || tool->public.upstream.ptr == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    for (size_t i = 0; i < REPEATS; i++) {
        tool->recent[i] = 0;
    }
    return WRIT_DONE;
}

static writ_result
find_tool(struct writ_learn *learn, const struct writ_learn_call *call, struct tool **ret,
    struct writ_err *err)
{
    writ_auto_buf name = writ_buf_make(CANONICAL_MAX);
    struct writ_seen_in in = {.call = 1, .arena = learn->arena};
    struct writ_seen_value *value;

    writ_buf_put(&name, call->upstream);
    writ_buf_byte(&name, '\0');
    writ_buf_put(&name, call->tool);
    writ_buf_byte(&name, '\0');
    writ_buf_put(&name, call->rule);
    WRIT_TRY(writ_buf_check(&name, err));
    WRIT_TRY(writ_seen_add(&learn->names, writ_buf_view(&name), WRIT_JSON_STRING, &in, &value));
    if (value == NULL) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "more than %d tools", TOOLS_MAX);
    }
    if ((size_t)(value - learn->names.items) == learn->tools_n) {
        WRIT_TRY(new_tool(learn, call));
    }
    *ret = learn->tools[value - learn->names.items];
    return WRIT_DONE;
}

/* A run without a name is one of its own. Zero is no run. */
static writ_result
run_of(const struct tool *tool, const struct writ_learn_call *call, uint64_t *ret)
{
    struct writ_digest digest;

    if (call->run.len == 0) {
        *ret = tool->public.calls;
        return WRIT_DONE;
    }
    WRIT_TRY(writ_digest_bytes(call->run, &digest, NULL));
    *ret = writ_view_load64(digest.bytes) | (uint64_t)1 << 63;
    return WRIT_DONE;
}

/* Notes the call; whether an identical one of its run is among those of late. */
static writ_result
note_repeat(struct tool *tool, const struct writ_learn_call *call, uint64_t run)
{
    writ_auto_buf text = writ_buf_make(CANONICAL_MAX);
    struct writ_digest digest;
    uint64_t key;

    writ_buf_u64(&text, run);
    if (!writ_is_ok(writ_jcs_put(&text, call->arguments, NULL))) {
        return WRIT_DONE; /* no canonical form: such a call is never granted */
    }
    WRIT_TRY(writ_digest_bytes(writ_buf_view(&text), &digest, NULL));
    key = writ_view_load64(digest.bytes);
    tool->public.repeats = tool->public.repeats || tool->recent[key % REPEATS] == key;
    tool->recent[key % REPEATS] = key;
    if (tool->public.first == NULL && text.len <= FIRST_MAX) {
        tool->public.first = writ_json_copy(call->arguments, tool->arena);
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_learn_add(struct writ_learn *learn, const struct writ_learn_call *call, struct writ_err *err)
{
    struct writ_seen_in in = {.decision = call->decision};
    struct tool *tool;

    if (writ_json_type(call->arguments) != WRIT_JSON_OBJECT) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the arguments of a call are an object");
    }
    writ_arena_reset(learn->scratch);
    WRIT_TRY(find_tool(learn, call, &tool, err));
    in.call = ++tool->public.calls;
    in.arena = tool->arena;
    WRIT_TRY(run_of(tool, call, &in.run));
    WRIT_TRY(
        writ_seen_add(&tool->runs, writ_view(&in.run, sizeof in.run), WRIT_JSON_NUMBER, &in, NULL));
    WRIT_TRY(writ_seen_add(&tool->public.agents, call->agent, WRIT_JSON_STRING, &in, NULL));
    tool->public.runs = tool->runs.n;
    WRIT_TRY(note_repeat(tool, call, in.run));
    return writ_spot_add(&tool->spots, tool->public.root, call->arguments, &in);
}

/* ---- the choice */

struct choice {
    const struct writ_learn *learn;
    struct writ_ladder_terms terms;
    struct writ_ladder *ladders;
    size_t n;
    bool nomem;
    struct writ_learned *ret;
    struct writ_learned_argument *last;
};

/* Ladders of a spot and of all below it, in the order in which they are written. */
static void
collect(struct choice *c, const struct writ_spot *spot, bool root)
{
    unsigned types = spot->types & ~(unsigned)WRIT_SPOT_NULL;
    bool array = types == WRIT_SPOT_ARRAY;

    if (spot->found == 0) {
        return;
    }
    if (!root || spot->open != NULL) {
        c->ladders[c->n++] = writ_ladder_of(spot, array, &c->terms);
    }
    if (spot->element != NULL && array) {
        collect(c, spot->element, false);
    }
    for (const struct writ_spot *member = types == WRIT_SPOT_OBJECT ? spot->first : NULL;
         member != NULL; member = member->next) {
        collect(c, member, false);
    }
}

/* The next rung with a lower cost; n without one. */
static size_t
better(const struct writ_ladder *ladder)
{
    size_t at = ladder->at + 1;

    if (ladder->few) {
        return ladder->n;
    }
    while (at < ladder->n && ladder->rungs[at].cost >= ladder->rungs[ladder->at].cost) {
        at++;
    }
    return at;
}

/* While the whole cost is above `most`, the ladder with the greatest cost that has a better rung
 * takes it. */
static uint64_t
choose(struct choice *c, uint64_t most)
{
    for (;;) {
        struct writ_ladder *worst = NULL;
        uint64_t cost = 0;

        for (size_t i = 0; i < c->n; i++) {
            struct writ_ladder *ladder = &c->ladders[i];
            uint64_t own = ladder->rungs[ladder->at].cost;

            cost += own;
            if (better(ladder) < ladder->n &&
                (worst == NULL || own > worst->rungs[worst->at].cost)) {
                worst = ladder;
            }
        }
        if (cost <= most || worst == NULL) {
            return cost;
        }
        worst->at = better(worst);
    }
}

/* ---- the proposal */

/* Where constraints are written: those of the arguments, or of the elements of a list. */
struct place {
    struct writ_ladder_list *list;
    struct writ_view arg, pointer; /* as a constraint has it; for the report */
    bool optional;
    size_t *paths;
};

static const struct writ_ladder *
ladder_of(const struct choice *c, const struct writ_spot *spot)
{
    size_t i = 0;

    while (i < c->n && c->ladders[i].spot != spot) {
        i++;
    }
    return i < c->n ? &c->ladders[i] : NULL;
}

/* "3120 calls, 14 values: enumeration, the values that were seen" */
static const char *
why_of(struct choice *c, const struct writ_ladder *ladder)
{
    struct writ_buf text = writ_buf_in(c->terms.arena, WHY_MAX);
    const struct writ_spot *spot = ladder->spot;
    const struct writ_rung *rung = &ladder->rungs[ladder->at];

    writ_buf_fmt(&text, "%llu call%s", (unsigned long long)spot->seen.calls,
        spot->seen.calls == 1 ? "" : "s");
    if (spot->values.n > 0) {
        writ_buf_fmt(&text, ", %s%zu value%s", spot->values.beyond > 0 ? "more than " : "",
            spot->values.n, spot->values.n == 1 ? "" : "s");
    }
    writ_buf_fmt(&text, ": %s, %s", writ_ladder_step_name(rung->step),
        spot->open != NULL ? spot->open : writ_ladder_step_sentence(rung->step));
    writ_buf_str(&text, ladder->few && ladder->n > 1 ? "; too few calls to generalise" : "");
    writ_buf_byte(&text, '\0');
    c->nomem = c->nomem || !writ_is_ok(writ_buf_check(&text, NULL));
    return c->nomem ? "" : text.ptr;
}

static void
add_decision(struct writ_learned_argument *argument, struct writ_view decision)
{
    if (decision.ptr != NULL && argument->decisions_n < WRIT_LEARN_DECISIONS_MAX) {
        argument->decisions[argument->decisions_n++] = decision;
    }
}

/* Which calls a list of the values of the other runs would have refused. */
static void
report(struct choice *c, const struct writ_ladder *ladder, struct writ_view pointer)
{
    struct writ_learned_argument *argument = writ_arena_get(c->terms.arena, sizeof *argument);
    const struct writ_spot *spot = ladder->spot;
    const struct writ_rung *rung = &ladder->rungs[ladder->at];

    if (argument == NULL) {
        c->nomem = true;
        return;
    }
    *argument = (struct writ_learned_argument){.pointer = pointer,
        .step = rung->step,
        .calls = spot->seen.calls,
        .values = spot->values.n,
        .more_values = spot->values.beyond > 0,
        .few = ladder->few && ladder->n > 1,
        .cost = rung->cost};
    if (ladder->items) {
        argument->without = writ_extreme_cost(&spot->longest, false, c->terms.by_run);
        for (size_t i = 0; i < WRIT_LEARN_DECISIONS_MAX; i++) {
            add_decision(argument, writ_extreme_first(&spot->longest, i, false, c->terms.by_run));
        }
    } else {
        argument->without = writ_seen_cost(&spot->values, c->terms.by_run);
        for (size_t i = 0; i < spot->values.n; i++) {
            if (writ_seen_sighting_cost(&spot->values.items[i].seen, c->terms.by_run) > 0) {
                add_decision(argument, spot->values.items[i].seen.decision);
            }
        }
    }
    if (c->last != NULL) {
        c->last->next = argument;
    } else {
        c->ret->arguments = argument;
    }
    c->last = argument;
    c->ret->open = c->ret->open || rung->step == WRIT_LEARN_ANYTHING;
}

static struct writ_view
below(struct choice *c, struct writ_view pointer, struct writ_view name)
{
    struct writ_buf text = writ_buf_in(c->terms.arena, WRIT_TRAIL_TEXT_MAX);

    writ_buf_put(&text, pointer);
    writ_buf_byte(&text, '/');
    if (name.ptr == NULL) {
        writ_buf_byte(&text, '*');
    } else {
        writ_trail_token(name, &text);
    }
    c->nomem = c->nomem || !writ_is_ok(writ_buf_check(&text, NULL));
    return c->nomem ? WRIT_LIT("") : writ_buf_view(&text);
}

static void put_spot(struct choice *c, const struct writ_spot *spot, const struct place *place);

/* The constraints of the elements; what a rule cannot hold is one that lets everything pass. */
static void
put_elements(struct choice *c, const struct writ_spot *spot, const struct place *place,
    const struct writ_proposal_constraint *like)
{
    struct writ_ladder_list list = {.arena = c->terms.arena};
    size_t paths = 0;
    struct place inside = {.list = &list,
        .arg = {NULL, 0},
        .pointer = below(c, place->pointer, writ_view(NULL, 0)),
        .paths = &paths};
    struct writ_proposal_constraint *each;

    if (spot->element == NULL || spot->element->found == 0) {
        return;
    }
    put_spot(c, spot->element, &inside);
    if (list.n == 0 || list.n > WRIT_CONSTRAINTS_MAX || paths > WRIT_CONSTRAINT_PATHS_MAX) {
        struct writ_proposal_constraint any = {.why = "more than a rule can hold"};
        list.first = list.last = NULL;
        (void)writ_ladder_add(&list, &any, WRIT_OP_TYPE, WRIT_LIT("any"));
        c->ret->open = true;
    }
    each = writ_ladder_add(place->list, like, WRIT_OP_EACH, writ_view(NULL, 0));
    each->each = list.first;
    each->why = "each element";
    c->nomem = c->nomem || list.nomem;
}

/* A name that no reader takes for a pointer or for a placeholder. */
static bool
is_plain(struct writ_view name)
{
    return name.len > 0 && name.ptr[0] != '/' && !writ_view_has_prefix(name, WRIT_LIT("REPLACE_"));
}

/* A member is named plainly at the top, else by its JSON Pointer. */
static void
put_members(struct choice *c, const struct writ_spot *spot, const struct place *place)
{
    for (const struct writ_spot *member = spot->first; member != NULL; member = member->next) {
        bool plain = place->arg.len == 0 && is_plain(member->name);
        struct place inside = {.list = place->list,
            .arg = plain ? member->name : below(c, place->arg, member->name),
            .pointer = below(c, place->pointer, member->name),
            .optional = place->optional || member->found < spot->objects ||
                        (spot->types & WRIT_SPOT_NULL) != 0,
            .paths = place->paths};

        if (!plain && place->arg.len > 0 && place->arg.ptr[0] != '/') {
            inside.arg = below(c, below(c, writ_view(NULL, 0), spot->name), member->name);
        }
        put_spot(c, member, &inside);
    }
}

/* Of several constraints for one value, the first one says why. */
static void
say_once(struct writ_ladder_list *list, struct writ_proposal_constraint *before)
{
    struct writ_proposal_constraint *one = before == NULL ? list->first : before->next;

    for (one = one != NULL ? one->next : NULL; one != NULL; one = one->next) {
        one->why = "as above";
    }
}

static void
put_spot(struct choice *c, const struct writ_spot *spot, const struct place *place)
{
    const struct writ_ladder *ladder = ladder_of(c, spot);
    unsigned types = spot->types & ~(unsigned)WRIT_SPOT_NULL;
    bool object = types == WRIT_SPOT_OBJECT && spot->open == NULL;
    struct writ_proposal_constraint like = {.arg = place->arg,
        .optional = place->optional,
        .nullable = (spot->types & WRIT_SPOT_NULL) != 0 && types != 0};

    if (ladder != NULL) {
        like.why = why_of(c, ladder);
    }
    if (ladder != NULL && (!object || spot->empty_object || like.nullable || spot->first == NULL)) {
        struct writ_proposal_constraint *last = place->list->last;
        size_t before = place->list->n;

        writ_ladder_put(ladder, &c->terms, &like, place->list);
        say_once(place->list, last);
        report(c, ladder, place->pointer);
        *place->paths += place->list->n > before ? 1 : 0;
    }
    if (ladder != NULL && ladder->items) {
        put_elements(c, spot, place, &like);
    }
    if (object) {
        put_members(c, spot, place);
    }
}

/* Agents are named when the next run is not likely to have another one. */
static void
put_agents(struct choice *c, const struct writ_learn_tool *tool, uint64_t most)
{
    struct writ_view *items = writ_arena_get(c->terms.arena, WRIT_LEARN_AGENTS_MAX * sizeof *items);

    if (items == NULL) {
        c->nomem = true;
        return;
    }
    if (!writ_seen_is_listed(&tool->agents, WRIT_LEARN_AGENTS_MAX) ||
        writ_seen_cost(&tool->agents, c->terms.by_run) > most) {
        return;
    }
    for (size_t i = 0; i < tool->agents.n; i++) {
        items[i] = tool->agents.items[i].text;
    }
    c->ret->agents = (struct writ_views){.items = items, .n = tool->agents.n};
}

WRIT_RESULT
writ_learn_propose(const struct writ_learn *learn, const struct writ_learn_tool *tool,
    uint64_t least, uint64_t per_mille, struct writ_arena *arena, struct writ_learned *ret,
    struct writ_err *err)
{
    struct writ_learned learned = {.by_run = tool->runs >= RUNS_LEAST};
    struct choice c = {.learn = learn,
        .terms = {.by_run = learned.by_run, .least = least, .forms = &learn->forms, .arena = arena},
        .ladders = writ_arena_get(arena, WRIT_SPOTS_MAX * sizeof(struct writ_ladder)),
        .ret = &learned};
    struct writ_ladder_list list = {.arena = arena};
    size_t paths = 0;
    struct place top = {
        .list = &list, .arg = WRIT_LIT(""), .pointer = WRIT_LIT(""), .paths = &paths};
    uint64_t most = tool->calls * per_mille / 1000;

    if (c.ladders == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the arguments of a tool");
    }
    collect(&c, tool->root, true);
    learned.cost = choose(&c, most);
    put_spot(&c, tool->root, &top);
    put_agents(&c, tool, most);
    if (list.n > WRIT_CONSTRAINTS_MAX || paths > WRIT_CONSTRAINT_PATHS_MAX) {
        struct writ_proposal_constraint any = {
            .arg = WRIT_LIT(""), .why = "it has more arguments than a rule can name"};
        list.first = list.last = NULL;
        (void)writ_ladder_add(&list, &any, WRIT_OP_TYPE, WRIT_LIT("any"));
        learned.open = true;
    }
    if (c.nomem || list.nomem) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for so many constraints");
    }
    learned.constraints = list.first;
    *ret = learned;
    return WRIT_DONE;
}
