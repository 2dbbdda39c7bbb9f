/* A group is found by the hash of everything that separates it, and compared in full. Its smallest
 * example is replaced in place, so that a million calls need no more memory than one. */
#include "policy/replay/rejudge_groups.h"

#include <stdlib.h>

#define ID_MAX      1024               /* of a decision_id */
#define POINTER_MAX 512                /* of an argument's place; the rest is cut off */
#define ARENA_MAX   ((size_t)32 << 20) /* texts of all groups */

struct writ_rejudge_groups *
writ_rejudge_groups_new(bool keeps_arguments)
{
    struct writ_rejudge_groups *groups = writ_alloc(sizeof *groups);

    if (groups == NULL) {
        return NULL;
    }
    groups->arena = writ_arena_new_small(ARENA_MAX);
    if (groups->arena == NULL) {
        writ_free(groups);
        return NULL;
    }
    groups->keeps_arguments = keeps_arguments;
    return groups;
}

void
writ_rejudge_groups_free(struct writ_rejudge_groups *groups)
{
    if (groups == NULL) {
        return;
    }
    for (size_t i = 0; i < groups->n; i++) {
        writ_buf_wipe(&groups->list[i]->example);
        writ_buf_wipe_secret(&groups->list[i]->arguments);
    }
    writ_arena_free(groups->arena);
    writ_free(groups);
}

/* ---- what separates groups */

/* "/items/3/price" becomes "/items/ * /price" without the spaces: every element of a list is one
 * place. */
static void
put_place(struct writ_buf *ret, struct writ_view pointer)
{
    size_t at = 0;

    pointer = writ_view_sub(pointer, 0, POINTER_MAX);
    while (at < pointer.len) {
        struct writ_view rest = writ_view_sub(pointer, at + 1, pointer.len);
        struct writ_view token = writ_view_sub(rest, 0, writ_view_find(rest, '/'));
        bool digits = token.len > 0;

        for (size_t i = 0; i < token.len; i++) {
            digits = digits && token.ptr[i] >= '0' && token.ptr[i] <= '9';
        }
        writ_buf_byte(ret, '/');
        writ_buf_put(ret, digits ? WRIT_LIT("*") : token);
        at += 1 + token.len;
    }
}

static uint64_t
mix(uint64_t hash, struct writ_view text)
{
    for (size_t i = 0; i < text.len; i++) { /* FNV-1a */
        hash = (hash ^ (unsigned char)text.ptr[i]) * 0x100000001b3ULL;
    }
    return (hash ^ 0xff) * 0x100000001b3ULL; /* the end of the text */
}

static uint64_t
hash_of(const struct writ_rejudge_group *group)
{
    const char kinds[] = {(char)group->change, (char)group->was};
    const int reasons[] = {group->reason, group->was_reason};
    uint64_t hash = mix(0xcbf29ce484222325ULL, writ_view(kinds, sizeof kinds));

    hash = mix(hash, writ_view(reasons, sizeof reasons));
    hash = mix(mix(hash, group->upstream), group->tool);
    hash = mix(mix(hash, group->tenant), group->agent);
    hash = mix(mix(hash, group->argument), group->constraint);
    return mix(hash, writ_view(&group->rule, sizeof(void *)));
}

static bool
is_same(const struct writ_rejudge_group *a, const struct writ_rejudge_group *b)
{
    return a->hash == b->hash && a->change == b->change && a->was == b->was &&
           a->reason == b->reason && a->was_reason == b->was_reason && a->rule == b->rule &&
           writ_view_equal(a->upstream, b->upstream) && writ_view_equal(a->tool, b->tool) &&
           writ_view_equal(a->tenant, b->tenant) && writ_view_equal(a->agent, b->agent) &&
           writ_view_equal(a->argument, b->argument) &&
           writ_view_equal(a->constraint, b->constraint);
}

/* The group that a call belongs to, with borrowed texts; `place` holds the argument. */
static struct writ_rejudge_group
describe(const struct writ_rejudge_comparison *one, enum writ_rejudge_change change,
    struct writ_buf *place)
{
    const struct writ_rejudge_verdict *cause =
        change == WRIT_REJUDGE_ALLOWED ? one->before : one->after;
    struct writ_rejudge_group group = {.change = change,
        .was = one->before->effect,
        .reason = one->after->reason,
        .was_reason = one->before->reason,
        .upstream = one->past->upstream,
        .tool = one->past->tool,
        .tenant = one->past->agent.tenant,
        .agent = one->past->agent.id,
        .constraint = cause->constraint,
        .rule = one->after->policy.rule};

    put_place(place, cause->argument);
    group.argument = writ_buf_view(place);
    group.hash = hash_of(&group);
    return group;
}

/* ---- adding */

static WRIT_RESULT
keep(struct writ_arena *arena, struct writ_view *text, struct writ_err *err)
{
    if (text->ptr == NULL) {
        return WRIT_DONE;
    }
    *text = writ_view_copy(*text, arena);
    if (text->ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the changes of a replay");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
make(struct writ_rejudge_groups *groups, const struct writ_rejudge_group *wanted,
    struct writ_rejudge_group **ret, struct writ_err *err)
{
    size_t bucket = wanted->hash % (2 * (size_t)WRIT_REJUDGE_GROUPS_MAX);
    struct writ_rejudge_group *group = writ_arena_get(groups->arena, sizeof *group);

    if (group == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the changes of a replay");
    }
    *group = *wanted;
    WRIT_TRY(keep(groups->arena, &group->upstream, err));
    WRIT_TRY(keep(groups->arena, &group->tool, err));
    WRIT_TRY(keep(groups->arena, &group->tenant, err));
    WRIT_TRY(keep(groups->arena, &group->agent, err));
    WRIT_TRY(keep(groups->arena, &group->argument, err));
    WRIT_TRY(keep(groups->arena, &group->constraint, err));
    group->example = writ_buf_make(ID_MAX);
    group->arguments = writ_buf_make(WRIT_REJUDGE_EXAMPLE_MAX);
    group->next = groups->buckets[bucket];
    groups->buckets[bucket] = group;
    groups->list[groups->n++] = group;
    *ret = group;
    return WRIT_DONE;
}

/* The shortest arguments are the example; of equals the first. */
static WRIT_RESULT
exemplify(struct writ_rejudge_groups *groups, struct writ_rejudge_group *group,
    const struct writ_rejudge_comparison *one, struct writ_err *err)
{
    if (group->calls > 0 && one->arguments.len >= group->bytes) {
        return WRIT_DONE;
    }
    group->bytes = one->arguments.len;
    group->issued_us = one->past->issued_us;
    writ_buf_clear(&group->example);
    writ_buf_put(&group->example, one->past->decision_id);
    writ_buf_clear(&group->arguments);
    if (groups->keeps_arguments && one->arguments.len <= WRIT_REJUDGE_EXAMPLE_MAX) {
        writ_buf_put(&group->arguments, one->arguments);
    }
    WRIT_TRY(writ_buf_check(&group->example, err));
    return writ_buf_check(&group->arguments, err);
}

WRIT_RESULT
writ_rejudge_groups_add(struct writ_rejudge_groups *groups,
    const struct writ_rejudge_comparison *one, struct writ_err *err)
{
    enum writ_rejudge_change change = writ_rejudge_compare(one->before, one->after);
    char memory[POINTER_MAX + 1];
    struct writ_buf place = writ_buf_over(memory, sizeof memory);
    struct writ_rejudge_group wanted, *group;

    if (change == WRIT_REJUDGE_UNKNOWN) {
        groups->unknown++;
        return WRIT_DONE;
    }
    groups->changes[change]++;
    if (change == WRIT_REJUDGE_SAME) {
        return WRIT_DONE;
    }
    wanted = describe(one, change, &place);
    group = groups->buckets[wanted.hash % (2 * (size_t)WRIT_REJUDGE_GROUPS_MAX)];
    while (group != NULL && !is_same(group, &wanted)) {
        group = group->next;
    }
    if (group == NULL && groups->n == WRIT_REJUDGE_GROUPS_MAX) {
        groups->others++;
        return WRIT_DONE;
    }
    if (group == NULL) {
        WRIT_TRY(make(groups, &wanted, &group, err));
    }
    WRIT_TRY(exemplify(groups, group, one, err));
    group->calls++;
    return WRIT_DONE;
}

/* ---- the order of a report */

static struct writ_view
rule_ref(const struct writ_rejudge_group *group)
{
    return group->rule != NULL ? group->rule->ref : writ_view("", 0);
}

static int
compare_groups(const void *left, const void *right)
{
    const struct writ_rejudge_group *a = *(const struct writ_rejudge_group *const *)left;
    const struct writ_rejudge_group *b = *(const struct writ_rejudge_group *const *)right;
    const struct writ_view names[][2] = {{a->upstream, b->upstream}, {a->tool, b->tool},
        {a->constraint, b->constraint}, {a->argument, b->argument}, {a->tenant, b->tenant},
        {a->agent, b->agent}, {writ_reason_name(a->reason), writ_reason_name(b->reason)},
        {writ_reason_name(a->was_reason), writ_reason_name(b->was_reason)},
        {rule_ref(a), rule_ref(b)}};

    if (a->change != b->change) {
        return a->change < b->change ? -1 : 1;
    }
    if (a->calls != b->calls) {
        return a->calls > b->calls ? -1 : 1;
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        int order = writ_view_compare(names[i][0], names[i][1]);
        if (order != 0) {
            return order;
        }
    }
    return (int)a->was - (int)b->was;
}

void
writ_rejudge_groups_sort(struct writ_rejudge_groups *groups)
{
    if (groups->n > 1) {
        qsort(groups->list, groups->n, sizeof groups->list[0], compare_groups);
    }
}
