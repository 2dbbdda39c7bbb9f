/* An approval is needed unless a condition clearly does not hold. A value that is missing, has
 * another type or cannot be evaluated is not clear, so the call waits. */
#include "policy/decide/approval.h"

#include "policy/decide/evaluate.h"
#include "policy/model/flow.h"

/* ---- annotations: what a rule requires, and what a tool's definition says */

static const struct hint {
    struct writ_view name;
    unsigned bit;
    bool unsaid; /* the default of MCP */
} hints[] = {
    {{"readOnlyHint", sizeof "readOnlyHint" - 1}, WRIT_HINT_READ_ONLY, false},
    {{"destructiveHint", sizeof "destructiveHint" - 1}, WRIT_HINT_DESTRUCTIVE, true},
    {{"idempotentHint", sizeof "idempotentHint" - 1}, WRIT_HINT_IDEMPOTENT, false},
    {{"openWorldHint", sizeof "openWorldHint" - 1}, WRIT_HINT_OPEN_WORLD, true},
};

unsigned
writ_approval_hints(const struct writ_json *definition)
{
    const struct writ_json *said = writ_json_get(definition, WRIT_LIT("annotations"));
    unsigned found = 0;

    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        enum writ_json_type type = writ_json_type(writ_json_get(said, hints[i].name));
        bool holds = type == WRIT_JSON_TRUE || (type != WRIT_JSON_FALSE && hints[i].unsaid);

        found |= holds ? hints[i].bit : 0;
    }
    /* a read-only tool destroys nothing */
    return (found & WRIT_HINT_READ_ONLY) != 0 ? found & ~(unsigned)WRIT_HINT_DESTRUCTIVE : found;
}

struct writ_view
writ_approval_hint_name(enum writ_hint hint)
{
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        if (hints[i].bit == (unsigned)hint) {
            return hints[i].name;
        }
    }
    return writ_view("", 0);
}

bool
writ_approval_annotated(const struct writ_approval *approval, const unsigned *said)
{
    return said == NULL || (*said & approval->hints_asked) == approval->hints;
}

/* ---- a call */

/* Whether a constraint that does not hold is a statement about the value, or only about its
 * type. */
static bool
is_clear(const struct writ_constraint *c, const struct writ_json *value)
{
    switch (c->op) {
    case WRIT_OP_REQUIRED:
    case WRIT_OP_FORBIDDEN:
    case WRIT_OP_FROM:
    case WRIT_OP_SCHEMA:
        return true;
    case WRIT_OP_EQ:
    case WRIT_OP_IN:
    case WRIT_OP_TYPE:
    case WRIT_OP_CONTAINS:
    case WRIT_OP_LACKS:
        return value != NULL;
    case WRIT_OP_NE:
        return writ_json_equal(value, c->value.json);
    case WRIT_OP_NOT_IN:
        return writ_json_has(c->value.json, value);
    case WRIT_OP_LT:
    case WRIT_OP_LE:
    case WRIT_OP_GT:
    case WRIT_OP_GE:
        return writ_json_type(value) == WRIT_JSON_NUMBER;
    case WRIT_OP_MIN_LENGTH:
    case WRIT_OP_MAX_LENGTH:
    case WRIT_OP_PREFIX:
    case WRIT_OP_SUFFIX:
    case WRIT_OP_MATCHES:
    case WRIT_OP_NOT_MATCHES:
    case WRIT_OP_GLOB:
    case WRIT_OP_UNDER:
    case WRIT_OP_HOST_IN:
        return writ_json_type(value) == WRIT_JSON_STRING;
    case WRIT_OP_MIN_ITEMS:
    case WRIT_OP_MAX_ITEMS:
        return writ_json_type(value) == WRIT_JSON_ARRAY;
    case WRIT_OP_EACH: /* the element is unknown */
    case WRIT_OP_NONE:
    case WRIT_OP_COUNT:
        break;
    }
    return false;
}

bool
writ_approval_needed(const struct writ_approval *approval, const struct writ_json *arguments,
    struct writ_arena *arena)
{
    return writ_approval_may_hold(approval->when, arguments, arena);
}

bool
writ_approval_may_hold(const struct writ_constraint_set *when, const struct writ_json *arguments,
    struct writ_arena *arena)
{
    for (size_t i = 0; when != NULL && i < when->n; i++) {
        const struct writ_constraint *c = &when->items[i];

        if (writ_evaluate_one(when, c, arguments, arena, NULL) == WRIT_HOLDS_NO &&
            is_clear(c, writ_evaluate_argument(arguments, &when->paths[c->path].tokens))) {
            return false;
        }
    }
    return true;
}

/* The texts of `rules` so far; `items` NULL: counts them. */
struct listing {
    struct writ_arena *arena;
    struct writ_view *items;
    size_t n;
};

static WRIT_RESULT
list_one(struct listing *l, const struct writ_approval *approval)
{
    char *text;

    if (approval == NULL) {
        return WRIT_DONE;
    }
    if (l->items != NULL) {
        text = writ_arena_get(l->arena, WRIT_DIGEST_TEXT);
        if (text == NULL) {
            return (writ_result){WRIT_E_NOMEM};
        }
        writ_digest_text(&approval->rules, text);
        l->items[l->n] = writ_view_str(text);
    }
    l->n++;
    return WRIT_DONE;
}

/* Of values that come from elsewhere. */
static WRIT_RESULT
list_sources(struct listing *l, const struct writ_constraint_set *set)
{
    for (size_t i = 0; set != NULL && i < set->n; i++) {
        const struct writ_constraint *c = &set->items[i];
        if (c->op == WRIT_OP_FROM) {
            WRIT_TRY(list_one(l, c->value.from->approval));
        } else if (c->op == WRIT_OP_EACH) {
            WRIT_TRY(list_sources(l, c->value.each));
        }
    }
    return WRIT_DONE;
}

static WRIT_RESULT
list_all(struct listing *l, const struct writ_config *config)
{
    for (size_t i = 0; i < config->policy->n; i++) {
        const struct writ_tool_entry *entry = &config->policy->entries[i];
        for (size_t r = 0; r < entry->rules_n; r++) {
            WRIT_TRY(list_one(l, entry->rules[r].approval));
            WRIT_TRY(list_sources(l, entry->rules[r].arguments));
        }
    }
    WRIT_TRY(list_one(l, config->tasks != NULL ? config->tasks->approval : NULL));
    for (size_t i = 0; i < config->flows_n; i++) {
        WRIT_TRY(list_one(l, config->flows[i].approval));
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_approval_rules(
    const struct writ_config *config, struct writ_arena *arena, struct writ_views *ret)
{
    struct listing l = {.arena = arena};

    WRIT_TRY(list_all(&l, config));
    l.items = writ_arena_get(arena, (l.n + 1) * sizeof *l.items);
    if (l.items == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    l.n = 0;
    WRIT_TRY(list_all(&l, config));
    *ret = (struct writ_views){l.items, l.n};
    return WRIT_DONE;
}

struct writ_view
writ_approval_subject(const struct writ_agent *agent)
{
    return agent->subject.len > 0 ? agent->subject : agent->id;
}
