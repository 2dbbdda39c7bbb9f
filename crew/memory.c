/* The reference memory: an ordered list of items, each an object with an "id".
 *
 * Items are canonical texts, read again where their members matter: a memory holds what agents said
 * and is asked rarely. */
#include "crew/datum.h"
#include "crew/vec.h"
#include "evidence/jcs.h"
#include "evidence/write.h"

#include <stdlib.h>

/** What is looked for in an item. */
struct item {
    struct writ_crew_value *value;
    struct writ_crew_value *id; /* the canonical text of its "id" */
};

struct memory {
    struct writ_crew_value *crew_id; /* as a JSON string */
    struct item *items;
    size_t n, cap;
};

/* ---- items */

static void
memory_free(void *self)
{
    struct memory *memory = self;

    if (memory == NULL) {
        return;
    }
    for (size_t at = 0; at < memory->n; at++) {
        writ_crew_value_free(memory->items[at].value);
        writ_crew_value_free(memory->items[at].id);
    }
    writ_free(memory->items);
    writ_crew_value_free(memory->crew_id);
    writ_free(memory);
}

static void
memory_freep(struct memory **memory)
{
    memory_free(*memory);
}

static WRIT_RESULT
text_value(struct writ_view text, struct writ_crew_value **ret)
{
    writ_auto_buf buf = writ_buf_make(SIZE_MAX);
    struct writ_write w = writ_write_to(&buf);

    writ_write_string(&w, text);
    WRIT_TRY(writ_write_end(&w, NULL));
    return writ_datum_of_text(writ_buf_view(&buf), ret);
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

/* The place of the item with this id, or n. */
static size_t
find(const struct memory *memory, const struct writ_crew_value *id)
{
    size_t at = 0;

    while (at < memory->n && !writ_datum_equal(memory->items[at].id, id)) {
        at++;
    }
    return at;
}

/* Puts an item in the place of the one with its id, or at the end. Takes nothing. */
static WRIT_RESULT
put(struct memory *memory, struct writ_crew_value *value, struct writ_crew_value *id)
{
    size_t at = find(memory, id);

    if (at == memory->n) {
        WRIT_TRY(writ_vec_room(&memory->items, &memory->cap, memory->n, sizeof *memory->items));
        memory->items[memory->n++] = (struct item){NULL, writ_crew_value_ref(id)};
    }
    writ_datum_replace(&memory->items[at].value, writ_crew_value_ref(value));
    return WRIT_DONE;
}

/* ---- reading values again */

/** A value taken apart; wipe it. */
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
    ret->arena = writ_datum_arena(text.len);
    if (ret->arena == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    return writ_datum_parse(text, text.len, ret->arena, &ret->json, NULL);
}

static bool
is_empty(const struct writ_json *value)
{
    return writ_json_type(value) != WRIT_JSON_STRING || value->len == 0;
}

/* ---- commands (semantics 8) */

/* Writes the members of `object`, in order, with some in place of its own. `with` is sorted. */
struct member {
    const char *name;
    struct writ_view json; /* absent: the object's own */
};

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

/* An item with its stamps: who wrote it, where, and in which role. */
static WRIT_RESULT
stamp(
    const struct writ_json *item, const struct writ_crew_scope *scope, struct writ_crew_value **ret)
{
    writ_auto_buf meta = writ_buf_make(SIZE_MAX);
    writ_auto_buf whole = writ_buf_make(SIZE_MAX);
    writ_auto_buf author = writ_buf_make(SIZE_MAX);
    writ_auto_buf place = writ_buf_make(SIZE_MAX);
    writ_auto_datum agent_id = NULL;
    writ_auto_datum crew_id = NULL;
    writ_auto_datum role_id = NULL;
    writ_auto_datum author_value = NULL;
    writ_auto_datum scope_value = NULL;
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
    return writ_datum_of_text(writ_buf_view(&whole), ret);
}

static WRIT_RESULT
create(struct memory *memory, const struct writ_json *command, const struct writ_crew_scope *scope)
{
    const struct writ_json *item = writ_json_get_typed(command, WRIT_LIT("item"), WRIT_JSON_OBJECT);
    writ_auto_datum value = NULL;
    writ_auto_datum id = NULL;

    if (item == NULL) {
        return WRIT_DONE;
    }
    WRIT_TRY(stamp(item, scope, &value));
    WRIT_TRY(writ_datum_of_json(writ_json_get(item, WRIT_LIT("id")), &id));
    return put(memory, value, id);
}

/* A shallow merge: the members of `partial` replace those of the item. */
static WRIT_RESULT
merge(const struct writ_json *item, const struct writ_json *partial, struct writ_crew_value **ret)
{
    const struct writ_json *a = writ_json_sorted_first(item), *b = writ_json_sorted_first(partial);
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
        b = order >= 0 ? writ_json_sorted_next(b) : b;
    }
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, NULL));
    return writ_datum_of_text(writ_buf_view(&buf), ret);
}

static WRIT_RESULT
update(struct memory *memory, const struct writ_json *command, size_t at)
{
    const struct writ_json *partial =
        writ_json_get_typed(command, WRIT_LIT("partial"), WRIT_JSON_OBJECT);
    WRIT_AUTO(struct reading, reading_wipe) item = {0};
    writ_auto_datum merged = NULL;

    WRIT_TRY(reading_of(writ_crew_value_text(memory->items[at].value), &item));
    WRIT_TRY(merge(item.json, partial, &merged));
    writ_datum_replace(&memory->items[at].value, WRIT_TAKE(merged));
    return WRIT_DONE;
}

static void
retract(struct memory *memory, size_t at)
{
    writ_crew_value_free(memory->items[at].value);
    writ_crew_value_free(memory->items[at].id);
    memory->n--;
    for (; at < memory->n; at++) {
        memory->items[at] = memory->items[at + 1];
    }
}

static WRIT_RESULT
memory_apply(void *self, const struct writ_crew_scope *scope, struct writ_view text)
{
    struct memory *memory = self;
    WRIT_AUTO(struct reading, reading_wipe) command = {0};
    writ_auto_datum id = NULL;
    const struct writ_json *type;
    size_t at;

    WRIT_TRY(reading_of(text, &command));
    type = writ_json_get(command.json, WRIT_LIT("type"));
    if (writ_json_is(type, WRIT_LIT("memory.create"))) {
        return create(memory, command.json, scope);
    }
    WRIT_TRY(writ_datum_of_json(writ_json_get(command.json, WRIT_LIT("item_id")), &id));
    at = find(memory, id);
    if (at < memory->n && writ_json_is(type, WRIT_LIT("memory.update"))) {
        return update(memory, command.json, at);
    }
    if (at < memory->n && writ_json_is(type, WRIT_LIT("memory.retract"))) {
        retract(memory, at);
    }
    return WRIT_DONE;
}

/* ---- retrieval */

/** An item that is visible, and what it scores. */
struct scored {
    double score;
    size_t at;
};

static bool
is_visible(const struct memory *memory, const struct writ_json *item,
    const struct writ_crew_scope *scope, bool *ret_failed)
{
    const struct writ_json *meta = writ_json_get(item, WRIT_LIT("meta"));
    writ_auto_datum crew = NULL;
    bool ours;

    *ret_failed = !writ_is_ok(writ_datum_of_json(writ_json_get(meta, WRIT_LIT("crew_id")), &crew));
    ours = writ_datum_equal(crew, memory->crew_id);
    if (writ_view_is(scope->view, "self")) {
        return writ_json_is(writ_json_get(meta, WRIT_LIT("agent_id")), scope->agent_id);
    }
    if (writ_view_is(scope->view, "role")) {
        return ours && writ_json_is(writ_json_get(meta, WRIT_LIT("role")), scope->role_id);
    }
    return writ_view_is(scope->view, "all") || ours;
}

static double
number_of(const struct writ_json *object, const char *member)
{
    const struct writ_json *value = writ_json_get(object, writ_view_str(member));

    return writ_json_type(value) == WRIT_JSON_NUMBER ? value->number : 0;
}

/* An agent that writes huge numbers must not break the crew: such an item scores nothing. */
static double
score_of(const struct writ_json *item, const struct writ_json *weights)
{
    double score = number_of(weights, "authority") * number_of(item, "authority") +
                   number_of(weights, "conviction") * number_of(item, "conviction") +
                   number_of(weights, "importance") * number_of(item, "importance");

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
write_scored(
    const struct memory *memory, const struct scored *list, size_t n, struct writ_crew_value **ret)
{
    writ_auto_buf buf = writ_buf_make(SIZE_MAX);
    struct writ_write w = writ_write_to(&buf);

    writ_write_array_begin(&w);
    for (size_t at = 0; at < n; at++) {
        char text[WRIT_JCS_NUMBER_TEXT];
        writ_write_object_begin(&w);
        writ_write_name(&w, WRIT_LIT("item"));
        writ_write_raw(&w, writ_crew_value_text(memory->items[list[at].at].value));
        writ_write_name(&w, WRIT_LIT("score"));
        writ_write_raw(&w, writ_view(text, writ_jcs_number_text(list[at].score, text)));
        writ_write_object_end(&w);
    }
    writ_write_array_end(&w);
    WRIT_TRY(writ_write_end(&w, NULL));
    return writ_datum_of_text(writ_buf_view(&buf), ret);
}

static WRIT_RESULT
memory_retrieve(void *self, const struct writ_crew_scope *scope, struct writ_view text,
    struct writ_crew_value **ret)
{
    const struct memory *memory = self;
    WRIT_AUTO(struct reading, reading_wipe) options = {0};
    WRIT_AUTO(struct writ_arena *, writ_datum_arena_freep) room = writ_arena_new(SIZE_MAX);
    const struct writ_json *budget;
    struct scored *list;
    size_t n = 0;

    WRIT_TRY(reading_of(text, &options));
    budget = writ_json_get_typed(options.json, WRIT_LIT("budget"), WRIT_JSON_NUMBER);
    list = room != NULL ? writ_arena_get(room, (memory->n + 1) * sizeof *list) : NULL;
    if (list == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    for (size_t at = 0; at < memory->n; at++) {
        WRIT_AUTO(struct reading, reading_wipe) item = {0};
        bool failed = false;
        WRIT_TRY(reading_of(writ_crew_value_text(memory->items[at].value), &item));
        if (is_visible(memory, item.json, scope, &failed)) {
            list[n++] = (struct scored){
                score_of(item.json, writ_json_get(options.json, WRIT_LIT("weights"))), at};
        }
        if (failed) {
            return (writ_result){WRIT_E_NOMEM};
        }
    }
    qsort(list, n, sizeof *list, compare_scored);
    if (budget != NULL && budget->number < (double)n) {
        n = budget->number > 0 ? (size_t)budget->number : 0;
    }
    return write_scored(memory, list, n, ret);
}

/* ---- copies */

static WRIT_RESULT
memory_import(void *self, void *other)
{
    struct memory *to = self;
    const struct memory *from = other;

    for (size_t at = 0; at < from->n; at++) {
        if (find(to, from->items[at].id) == to->n) {
            WRIT_TRY(put(to, from->items[at].value, from->items[at].id));
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
    for (size_t at = 0; at < memory->n; at++) {
        writ_write_raw(&w, writ_crew_value_text(memory->items[at].value));
    }
    writ_write_array_end(&w);
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, NULL));
    return writ_datum_of_text(writ_buf_view(&buf), ret);
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
        writ_auto_datum value = NULL;
        writ_auto_datum id = NULL;
        WRIT_TRY(writ_datum_of_json(item, &value));
        WRIT_TRY(writ_datum_of_json(writ_json_get(item, WRIT_LIT("id")), &id));
        WRIT_TRY(put(memory, value, id));
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
