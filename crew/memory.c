/* The reference memory: an ordered list of items, each an object with an "id".
 *
 * 1. The tree has every item of the list once, by id; an item without one has the absent id.
 * 2. An item's id never changes, so the fields that are read from its text when it is put stay
 *    valid.
 * 3. No command of an agent makes it fail: beyond its limits nothing changes (writ/crew.h). */
#include "crew/value.h"
#include "evidence/json/jcs.h"
#include "evidence/json/write.h"

#include <search.h>
#include <stdlib.h>

/** An item, and the fields of its text that a retrieval compares. */
struct item {
    struct item *previous, *next;
    struct writ_crew_value *value;
    /* canonical texts: its "id", and from its "meta" the writer; absent: none */
    struct writ_crew_value *id, *agent_id, *crew_id, *role;
    double authority, conviction, importance;
};

struct memory {
    struct writ_crew_value *crew_id; /* as a JSON string */
    struct item *first, *last;
    size_t n;
    void *tree; /* of tsearch(3): lookups stay fast whatever ids an agent chooses */
};

/* ---- reading values again */

/** The parts of a value; wipe it. */
struct reading {
    struct writ_arena *arena;
    const struct writ_json *json;
};

static void
reading_wipe(struct reading *reading)
{
    writ_arena_free(reading->arena);
}

static WRIT_RESULT
reading_of(struct writ_view text, struct reading *ret)
{
    ret->arena = writ_arena_new_small(SIZE_MAX); /* most texts are short, and there are many */
    if (ret->arena == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    return writ_value_parse_snapshot(text, text.len, ret->arena, &ret->json, NULL);
}

static WRIT_RESULT
text_value(struct writ_view text, struct writ_crew_value **ret)
{
    writ_auto_buf buf = writ_buf_make(SIZE_MAX);
    struct writ_write w = writ_write_to(&buf);

    writ_write_string(&w, text);
    WRIT_TRY(writ_write_end(&w, NULL));
    return writ_value_of_text(writ_buf_view(&buf), ret);
}

static double
number_of(const struct writ_json *object, const char *member)
{
    const struct writ_json *value = writ_json_get(object, writ_view_str(member));

    return writ_json_type(value) == WRIT_JSON_NUMBER ? value->number : 0;
}

/* ---- items */

static void
item_free(struct item *item)
{
    if (item != NULL) {
        writ_crew_value_free(item->value);
        writ_crew_value_free(item->id);
        writ_crew_value_free(item->agent_id);
        writ_crew_value_free(item->crew_id);
        writ_crew_value_free(item->role);
        writ_free(item);
    }
}

static void
item_freep(struct item **item)
{
    item_free(*item);
}

/* An item with this text, in no list. */
static WRIT_RESULT
item_new(struct writ_crew_value *value, struct item **ret)
{
    WRIT_AUTO(struct item *, item_freep) item = writ_alloc(sizeof *item);
    WRIT_AUTO(struct reading, reading_wipe) text = {0};
    const struct writ_json *meta;

    if (item == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    WRIT_TRY(reading_of(writ_crew_value_text(value), &text));
    meta = writ_json_get(text.json, WRIT_LIT("meta"));
    item->value = writ_crew_value_ref(value);
    item->authority = number_of(text.json, "authority");
    item->conviction = number_of(text.json, "conviction");
    item->importance = number_of(text.json, "importance");
    WRIT_TRY(writ_value_of_json(writ_json_get(text.json, WRIT_LIT("id")), &item->id));
    WRIT_TRY(writ_value_of_json(writ_json_get(meta, WRIT_LIT("agent_id")), &item->agent_id));
    WRIT_TRY(writ_value_of_json(writ_json_get(meta, WRIT_LIT("crew_id")), &item->crew_id));
    WRIT_TRY(writ_value_of_json(writ_json_get(meta, WRIT_LIT("role")), &item->role));
    *ret = WRIT_TAKE(item);
    return WRIT_DONE;
}

static WRIT_RESULT
item_copy(const struct item *from, struct item **ret)
{
    struct item *item = writ_alloc(sizeof *item);

    if (item == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    *item = (struct item){.value = writ_crew_value_ref(from->value),
        .id = writ_crew_value_ref(from->id),
        .agent_id = writ_crew_value_ref(from->agent_id),
        .crew_id = writ_crew_value_ref(from->crew_id),
        .role = writ_crew_value_ref(from->role),
        .authority = from->authority,
        .conviction = from->conviction,
        .importance = from->importance};
    *ret = item;
    return WRIT_DONE;
}

/* ---- the list */

static int
compare_ids(const void *a, const void *b)
{
    const struct item *left = a, *right = b;
    int order = (left->id != NULL) - (right->id != NULL);

    return order != 0
               ? order
               : writ_view_compare(writ_crew_value_text(left->id), writ_crew_value_text(right->id));
}

static void
keep(void *item)
{
    (void)item; /* the list frees it */
}

static void
memory_free(void *self)
{
    struct memory *memory = self;

    if (memory == NULL) {
        return;
    }
    tdestroy(memory->tree, keep);
    for (struct item *item = memory->first, *next; item != NULL; item = next) {
        next = item->next;
        item_free(item);
    }
    writ_crew_value_free(memory->crew_id);
    writ_free(memory);
}

static void
memory_freep(struct memory **memory)
{
    memory_free(*memory);
}

static WRIT_RESULT
memory_new(struct writ_view crew_id, struct memory **ret)
{
    WRIT_AUTO(struct memory *, memory_freep) memory = writ_alloc(sizeof *memory);

    if (memory == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    WRIT_TRY(text_value(crew_id, &memory->crew_id));
    *ret = WRIT_TAKE(memory);
    return WRIT_DONE;
}

/* The item with this id, or NULL. */
static struct item *
find(const struct memory *memory, struct writ_crew_value *id)
{
    const struct item key = {.id = id};
    struct item *const *found = tfind(&key, &memory->tree, compare_ids);

    return found != NULL ? *found : NULL;
}

/* Puts an item with the same id in the place of `found`; takes it. */
static void
replace(struct item *found, struct item *item)
{
    struct item old = *found;

    *found = *item;
    found->previous = old.previous;
    found->next = old.next;
    *item = old;
    item_free(item);
}

/* Puts an item in the place of the one with its id, or at the end; takes it, also on failure. */
static WRIT_RESULT
put(struct memory *memory, struct item *item)
{
    struct item *found = find(memory, item->id);

    if (found != NULL) {
        replace(found, item);
        return WRIT_DONE;
    }
    if (memory->n == WRIT_CREW_ITEMS_MAX) {
        item_free(item);
        return WRIT_DONE;
    }
    if (tsearch(item, &memory->tree, compare_ids) == NULL) {
        item_free(item);
        return (writ_result){WRIT_E_NOMEM};
    }
    item->previous = memory->last;
    *(memory->last != NULL ? &memory->last->next : &memory->first) = item;
    memory->last = item;
    memory->n++;
    return WRIT_DONE;
}

static void
retract(struct memory *memory, struct item *item)
{
    tdelete(item, &memory->tree, compare_ids);
    *(item->previous != NULL ? &item->previous->next : &memory->first) = item->next;
    *(item->next != NULL ? &item->next->previous : &memory->last) = item->previous;
    memory->n--;
    item_free(item);
}

/* ---- commands (semantics 8) */

/* Absent, null or the empty string. */
static bool
is_empty(const struct writ_json *value)
{
    return value == NULL || writ_json_type(value) == WRIT_JSON_NULL ||
           (writ_json_type(value) == WRIT_JSON_STRING && value->len == 0);
}

/** A member that replaces an object's own. */
struct member {
    const char *name;
    struct writ_view json; /* absent: the object's own */
};

/* Writes the members of `object`, in order, some of them replaced by those of `with`, which is
 * sorted. */
static void
put_merged(
    struct writ_write *w, const struct writ_json *object, const struct member *with, size_t n)
{
    const struct writ_json *own = writ_json_sorted_first(object);
    size_t at = 0;

    writ_write_object_begin(w);
    while (own != NULL || at < n) {
        int order = own == NULL ? 1
                    : at == n
                        ? -1
                        : writ_jcs_compare(writ_json_string(own), writ_view_str(with[at].name));
        if (order < 0) {
            writ_write_name(w, writ_json_string(own));
            writ_write_value(w, writ_json_value(own));
        } else if (with[at].json.ptr != NULL) {
            writ_write_name(w, writ_view_str(with[at].name));
            writ_write_raw(w, with[at].json);
        } else if (order == 0) {
            writ_write_name(w, writ_json_string(own));
            writ_write_value(w, writ_json_value(own));
        }
        own = order <= 0 ? writ_json_sorted_next(own) : own;
        at += order >= 0;
    }
    writ_write_object_end(w);
}

/* An item with its stamps: its writer, the crew, and the writer's role. */
static WRIT_RESULT
stamp(
    const struct writ_json *item, const struct writ_crew_scope *scope, struct writ_crew_value **ret)
{
    writ_auto_buf meta = writ_buf_make(SIZE_MAX);
    writ_auto_buf whole = writ_buf_make(SIZE_MAX);
    writ_auto_buf author = writ_buf_make(SIZE_MAX);
    writ_auto_buf place = writ_buf_make(SIZE_MAX);
    writ_auto_value agent_id = NULL;
    writ_auto_value crew_id = NULL;
    writ_auto_value role_id = NULL;
    writ_auto_value author_value = NULL;
    writ_auto_value scope_value = NULL;
    struct writ_write w = writ_write_to(&meta);

    WRIT_TRY(text_value(scope->agent_id, &agent_id));
    WRIT_TRY(text_value(scope->crew_id, &crew_id));
    WRIT_TRY(text_value(scope->role_id, &role_id));
    writ_buf_str(&author, "agent:");
    writ_buf_put(&author, scope->agent_id);
    writ_buf_str(&place, "crew:");
    writ_buf_put(&place, scope->crew_id);
    writ_buf_str(&place, "/agent:");
    writ_buf_put(&place, scope->agent_id);
    WRIT_TRY(writ_buf_check(&author, NULL));
    WRIT_TRY(writ_buf_check(&place, NULL));
    if (is_empty(writ_json_get(item, WRIT_LIT("author")))) {
        WRIT_TRY(text_value(writ_buf_view(&author), &author_value));
    }
    if (is_empty(writ_json_get(item, WRIT_LIT("scope")))) {
        WRIT_TRY(text_value(writ_buf_view(&place), &scope_value));
    }
    put_merged(&w, writ_json_get_typed(item, WRIT_LIT("meta"), WRIT_JSON_OBJECT),
        (const struct member[]){{"agent_id", writ_crew_value_text(agent_id)},
            {"crew_id", writ_crew_value_text(crew_id)}, {"role", writ_crew_value_text(role_id)}},
        3);
    WRIT_TRY(writ_write_end(&w, NULL));
    w = writ_write_to(&whole);
    put_merged(&w, item,
        (const struct member[]){{"author", writ_crew_value_text(author_value)},
            {"meta", writ_buf_view(&meta)}, {"scope", writ_crew_value_text(scope_value)}},
        3);
    WRIT_TRY(writ_write_end(&w, NULL));
    return writ_value_of_text(writ_buf_view(&whole), ret);
}

/* Puts an item with this text, unless it is too large. */
static WRIT_RESULT
put_value(struct memory *memory, struct writ_crew_value *value)
{
    struct item *item = NULL;

    if (writ_crew_value_text(value).len > WRIT_CREW_ITEM_MAX) {
        return WRIT_DONE; /* keeps (3) */
    }
    WRIT_TRY(item_new(value, &item));
    return put(memory, item);
}

static WRIT_RESULT
create(struct memory *memory, const struct writ_json *command, const struct writ_crew_scope *scope)
{
    const struct writ_json *item = writ_json_get_typed(command, WRIT_LIT("item"), WRIT_JSON_OBJECT);
    writ_auto_value value = NULL;

    if (item == NULL) {
        return WRIT_DONE;
    }
    WRIT_TRY(stamp(item, scope, &value));
    return put_value(memory, value);
}

/* The first member from this one on that is not "id"; keeps (2). */
static const struct writ_json *
but_id(const struct writ_json *name)
{
    return name != NULL && writ_json_is(name, WRIT_LIT("id")) ? writ_json_sorted_next(name) : name;
}

/* A shallow merge: the members of `partial` replace those of the item. */
static WRIT_RESULT
merge(const struct writ_json *item, const struct writ_json *partial, struct writ_crew_value **ret)
{
    const struct writ_json *a = writ_json_sorted_first(item);
    const struct writ_json *b = but_id(writ_json_sorted_first(partial));
    writ_auto_buf buf = writ_buf_make(SIZE_MAX);
    struct writ_write w = writ_write_to(&buf);

    writ_write_object_begin(&w);
    while (a != NULL || b != NULL) {
        int order = a == NULL   ? 1
                    : b == NULL ? -1
                                : writ_jcs_compare(writ_json_string(a), writ_json_string(b));
        const struct writ_json *name = order < 0 ? a : b;
        writ_write_name(&w, writ_json_string(name));
        writ_write_value(&w, writ_json_value(name));
        a = order <= 0 ? writ_json_sorted_next(a) : a;
        b = order >= 0 ? but_id(writ_json_sorted_next(b)) : b;
    }
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, NULL));
    return writ_value_of_text(writ_buf_view(&buf), ret);
}

static WRIT_RESULT
update(struct memory *memory, const struct writ_json *command, const struct item *item)
{
    const struct writ_json *partial =
        writ_json_get_typed(command, WRIT_LIT("partial"), WRIT_JSON_OBJECT);
    WRIT_AUTO(struct reading, reading_wipe) own = {0};
    writ_auto_value merged = NULL;

    WRIT_TRY(reading_of(writ_crew_value_text(item->value), &own));
    WRIT_TRY(merge(own.json, partial, &merged));
    return put_value(memory, merged);
}

static WRIT_RESULT
memory_apply(void *self, const struct writ_crew_scope *scope, struct writ_view text)
{
    struct memory *memory = self;
    WRIT_AUTO(struct reading, reading_wipe) command = {0};
    writ_auto_value id = NULL;
    const struct writ_json *type;
    struct item *item;

    WRIT_TRY(reading_of(text, &command));
    type = writ_json_get(command.json, WRIT_LIT("type"));
    if (writ_json_is(type, WRIT_LIT("memory.create"))) {
        return create(memory, command.json, scope);
    }
    WRIT_TRY(writ_value_of_json(writ_json_get(command.json, WRIT_LIT("item_id")), &id));
    item = find(memory, id);
    if (item != NULL && writ_json_is(type, WRIT_LIT("memory.update"))) {
        return update(memory, command.json, item);
    }
    if (item != NULL && writ_json_is(type, WRIT_LIT("memory.retract"))) {
        retract(memory, item);
    }
    return WRIT_DONE;
}

/* ---- retrieval */

/** The asking agent, as canonical texts, and its request. */
struct asking {
    struct writ_crew_value *agent_id, *role;
    struct writ_view view;
    const struct writ_json *weights;
};

/** A visible item, and its score. */
struct scored {
    double score;
    size_t at; /* its place in the list */
    const struct item *item;
};

static bool
is_visible(const struct memory *memory, const struct item *item, const struct asking *asking)
{
    bool same_crew = writ_value_equal(item->crew_id, memory->crew_id);

    if (writ_view_is(asking->view, "self")) {
        return writ_value_equal(item->agent_id, asking->agent_id);
    }
    if (writ_view_is(asking->view, "role")) {
        return same_crew && writ_value_equal(item->role, asking->role);
    }
    return writ_view_is(asking->view, "all") || same_crew;
}

/* An agent that writes huge numbers must not break the crew: such an item scores 0. */
static double
score_of(const struct item *item, const struct writ_json *weights)
{
    double score = number_of(weights, "authority") * item->authority +
                   number_of(weights, "conviction") * item->conviction +
                   number_of(weights, "importance") * item->importance;

    return __builtin_isfinite(score) ? score : 0;
}

static int
compare_scored(const void *a, const void *b)
{
    const struct scored *left = a, *right = b;

    if (left->score != right->score) {
        return left->score > right->score ? -1 : 1;
    }
    return (left->at > right->at) - (left->at < right->at);
}

static WRIT_RESULT
write_scored(const struct scored *list, size_t n, struct writ_crew_value **ret)
{
    writ_auto_buf buf = writ_buf_make(SIZE_MAX);
    struct writ_write w = writ_write_to(&buf);

    writ_write_array_begin(&w);
    for (size_t at = 0; at < n; at++) {
        char text[WRIT_JCS_NUMBER_TEXT];
        writ_write_object_begin(&w);
        writ_write_name(&w, WRIT_LIT("item"));
        writ_write_raw(&w, writ_crew_value_text(list[at].item->value));
        writ_write_name(&w, WRIT_LIT("score"));
        writ_write_raw(&w, writ_view(text, writ_jcs_number_text(list[at].score, text)));
        writ_write_object_end(&w);
    }
    writ_write_array_end(&w);
    WRIT_TRY(writ_write_end(&w, NULL));
    return writ_value_of_text(writ_buf_view(&buf), ret);
}

static WRIT_RESULT
memory_retrieve(void *self, const struct writ_crew_scope *scope, struct writ_view text,
    struct writ_crew_value **ret)
{
    const struct memory *memory = self;
    WRIT_AUTO(struct reading, reading_wipe) options = {0};
    writ_auto_arena room = writ_arena_new(SIZE_MAX);
    writ_auto_value agent_id = NULL;
    writ_auto_value role = NULL;
    const struct writ_json *budget;
    struct asking asking = {.view = scope->view};
    struct scored *list;
    size_t n = 0, place = 0;

    WRIT_TRY(reading_of(text, &options));
    WRIT_TRY(text_value(scope->agent_id, &agent_id));
    WRIT_TRY(text_value(scope->role_id, &role));
    asking.agent_id = agent_id;
    asking.role = role;
    asking.weights = writ_json_get(options.json, WRIT_LIT("weights"));
    budget = writ_json_get_typed(options.json, WRIT_LIT("budget"), WRIT_JSON_NUMBER);
    list = room != NULL ? writ_arena_get(room, (memory->n + 1) * sizeof *list) : NULL;
    if (list == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    for (const struct item *item = memory->first; item != NULL; item = item->next) {
        if (is_visible(memory, item, &asking)) {
            list[n++] = (struct scored){score_of(item, asking.weights), place, item};
        }
        place++;
    }
    qsort(list, n, sizeof *list, compare_scored);
    if (budget != NULL && budget->number < (double)n) {
        n = budget->number > 0 ? (size_t)budget->number : 0;
    }
    return write_scored(list, n, ret);
}

/* ---- copies */

static WRIT_RESULT
memory_import(void *self, void *other)
{
    const struct memory *from = other;

    for (const struct item *item = from->first; item != NULL; item = item->next) {
        if (find(self, item->id) == NULL) {
            struct item *copy = NULL;
            WRIT_TRY(item_copy(item, &copy));
            WRIT_TRY(put(self, copy));
        }
    }
    return WRIT_DONE;
}

static WRIT_RESULT
memory_fork(void *self, struct writ_view crew_id, void **ret)
{
    WRIT_AUTO(struct memory *, memory_freep) copy = NULL;

    WRIT_TRY(memory_new(crew_id, &copy));
    WRIT_TRY(memory_import(copy, self));
    *ret = WRIT_TAKE(copy);
    return WRIT_DONE;
}

static WRIT_RESULT
memory_snapshot(void *self, struct writ_crew_value **ret)
{
    const struct memory *memory = self;
    writ_auto_buf buf = writ_buf_make(SIZE_MAX);
    struct writ_write w = writ_write_to(&buf);

    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("items"));
    writ_write_array_begin(&w);
    for (const struct item *item = memory->first; item != NULL; item = item->next) {
        writ_write_raw(&w, writ_crew_value_text(item->value));
    }
    writ_write_array_end(&w);
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, NULL));
    return writ_value_of_text(writ_buf_view(&buf), ret);
}

static WRIT_RESULT
memory_restore(void *self, struct writ_view text, struct writ_view crew_id, void **ret)
{
    WRIT_AUTO(struct memory *, memory_freep) memory = NULL;
    WRIT_AUTO(struct reading, reading_wipe) snapshot = {0};

    (void)self;
    WRIT_TRY(reading_of(text, &snapshot));
    WRIT_TRY(memory_new(crew_id, &memory));
    WRIT_JSON_EACH(item, writ_json_get(snapshot.json, WRIT_LIT("items")))
    {
        writ_auto_value value = NULL;
        WRIT_TRY(writ_value_of_json(item, &value));
        WRIT_TRY(put_value(memory, value));
    }
    *ret = WRIT_TAKE(memory);
    return WRIT_DONE;
}

static const struct writ_crew_memory_ops memory_ops = {
    .retrieve = memory_retrieve,
    .apply = memory_apply,
    .fork = memory_fork,
    .import = memory_import,
    .snapshot = memory_snapshot,
    .restore = memory_restore,
    .free = memory_free,
};

WRIT_RESULT
writ_crew_memory_new(struct writ_view crew_id, struct writ_crew_memory *ret)
{
    struct memory *memory = NULL;

    WRIT_TRY(memory_new(crew_id, &memory));
    *ret = (struct writ_crew_memory){&memory_ops, memory};
    return WRIT_DONE;
}
