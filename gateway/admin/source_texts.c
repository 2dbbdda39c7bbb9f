/* source_texts.c
 *
 * Invariants: (1) nothing is read of a call of another tenant or run. (2) The memory for one call
 * is given back before the next one is read, and what is opened of all is bounded: a person waits,
 * and the thread has others to serve. */
#include "gateway/admin/source_texts.h"

#include "evidence/record/content_fact.h"
#include "gateway/admin/source_labels.h"
#include "policy/decide/flow.h"
#include "store/tables/body.h"

#define NAME_BYTES 1024
#define LOOK_MAX   8192
/* two contents and their nodes (json.h), the JSON in a text, the numbers */
#define CALL_ARENA ((size_t)128 << 20)
#define CALL_NODES 262144 /* as in results that the gateway reads (call/conclude.c) */

struct finding {
    struct writ_source_texts *texts;
    struct writ_why_flow *flow;
    size_t looked; /* values before this one are looked up */
    bool same_key;
    struct writ_arena *scratch, *arena;
};

/* Values that came from one content. */
struct group {
    struct writ_why_value *values[WRIT_SOURCE_TEXTS_MAX];
    size_t n;
};

static void
set_state(const struct group *group, enum writ_why_text_state state)
{
    for (size_t i = 0; i < group->n; i++) {
        group->values[i]->text = (struct writ_why_text){.state = state};
    }
}

/* ---- its record */

static enum writ_why_text_state
state_of(writ_result result)
{
    return result.code == WRIT_E_ABSENT                                 ? WRIT_WHY_TEXT_NO_RECORD
           : result.code == WRIT_E_LIMIT || result.code == WRIT_E_NOMEM ? WRIT_WHY_TEXT_TOO_LARGE
                                                                        : WRIT_WHY_TEXT_FAILED;
}

/* keeps (1). WRIT_E_ABSENT: it is none of this run. */
static WRIT_RESULT
read_name(const struct writ_source_texts *t, struct writ_view decision_id,
    struct writ_arena *scratch, struct writ_buf *ret)
{
    struct writ_decision decision = {0};
    struct writ_extension extension = {0};
    struct writ_reader_call call;

    WRIT_TRY(writ_reader_show(t->reader, decision_id, scratch, &call, NULL));
    if (!writ_view_equal(call.tenant, t->tenant) ||
        !writ_view_equal(call.boundary_id, t->boundary_id)) {
        return (writ_result){WRIT_E_ABSENT};
    }
    WRIT_TRY(writ_body_decision(call.decision, scratch, &decision, NULL));
    WRIT_TRY(writ_extension_read(&decision.extensions, scratch, &extension, NULL));
    writ_buf_put(ret, writ_member_view(&extension.upstream));
    writ_buf_byte(ret, '/');
    writ_buf_put(ret, writ_member_view(&decision.tool));
    return writ_buf_check(ret, NULL);
}

/* ---- its contents */

/* The record has the marks of its words. Those of an account number in groups, which stands in one
 * piece elsewhere, are made of the value. */
static WRIT_RESULT
want(const struct writ_source_texts *t, const struct writ_why_value *value,
    struct writ_arena *scratch, struct writ_mark_wanted *ret)
{
    const struct writ_json *argument = writ_json_pointer(t->arguments, value->argument);
    struct writ_mark_wanted wanted = {.words = {NULL, 0}};

    *ret = (struct writ_mark_wanted){.words = value->marks};
    if (writ_json_type(argument) != WRIT_JSON_STRING) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_mark_want(
        t->key, writ_json_string(argument), false, WRIT_FLOW_WORDS_MAX, scratch, &wanted, NULL));
    if (writ_view_equal(wanted.words, value->marks)) {
        ret->joined = wanted.joined;
    }
    return WRIT_DONE;
}

static WRIT_RESULT
search(struct finding *f, const struct group *group, const struct writ_content *content,
    bool of_arguments)
{
    struct writ_json_limits limits = writ_json_limits_default;
    struct writ_why_text_value values[WRIT_SOURCE_TEXTS_MAX];
    struct writ_why_text_source source = {
        .of_arguments = of_arguments, .key = f->texts->key, .values = values, .n = group->n};

    limits.bytes = limits.string_bytes = content->bytes.len;
    limits.values = CALL_NODES;
    f->texts->bytes += content->bytes.len;
    WRIT_TRY(writ_json_read(content->bytes, &limits, f->scratch, &source.content, NULL));
    for (size_t i = 0; i < group->n; i++) {
        values[i] = (struct writ_why_text_value){
            .at = group->values[i]->at, .ret = &group->values[i]->text};
        WRIT_TRY(want(f->texts, group->values[i], f->scratch, &values[i].wanted));
    }
    return writ_why_text_find(&source, f->scratch, f->arena, NULL);
}

/* Whether a text is shown. */
static bool
find_in(struct finding *f, const struct group *group, const struct writ_content *content,
    bool of_arguments)
{
    static const enum writ_why_text_state states[] = {
        [WRIT_CONTENT_ABSENT] = WRIT_WHY_TEXT_NOT_KEPT,
        [WRIT_CONTENT_ERASED] = WRIT_WHY_TEXT_ERASED,
        [WRIT_CONTENT_LOCKED] = WRIT_WHY_TEXT_LOCKED,
        [WRIT_CONTENT_CHANGED] = WRIT_WHY_TEXT_CHANGED,
    };
    bool shown = false;

    if (content->state != WRIT_CONTENT_KEPT) {
        set_state(group, states[content->state]);
    } else if (group->n > 0) {
        writ_result result = search(f, group, content, of_arguments);
        if (!writ_is_ok(result)) {
            set_state(group, state_of(result));
        }
    }
    for (size_t i = 0; i < group->n; i++) {
        shown = shown || group->values[i]->text.state == WRIT_WHY_TEXT_SHOWN;
    }
    return shown;
}

static void
open_call(struct finding *f, struct writ_view decision_id, const struct group *all)
{
    struct writ_source_texts *t = f->texts;
    struct group of_arguments = {.n = 0}, of_result = {.n = 0};
    struct writ_contents_call call;
    writ_result result;

    if (t->bytes >= WRIT_SOURCE_TEXTS_BYTES) {
        set_state(all, WRIT_WHY_TEXT_TOO_MANY);
        return;
    }
    result = writ_contents_get(t->contents, decision_id, f->scratch, &call, NULL);
    if (!writ_is_ok(result)) {
        set_state(all, result.code == WRIT_E_MISMATCH ? WRIT_WHY_TEXT_CHANGED : state_of(result));
        return;
    }
    for (size_t i = 0; i < all->n; i++) {
        struct writ_why_value *value = all->values[i];
        struct group *group = writ_view_is(value->source, "approved") ? &of_arguments : &of_result;
        group->values[group->n++] = value;
    }
    bool shown = find_in(f, &of_arguments, &call.arguments, true);
    if (find_in(f, &of_result, &call.result, false) || shown) {
        t->opened[t->opened_n++] = decision_id; /* at most one for each value */
    }
}

/* ---- all */

static bool
is_first_of_call(const struct writ_why_flow *flow, size_t i)
{
    for (size_t before = 0; before < i; before++) {
        if (writ_view_equal(flow->values[before].decision_id, flow->values[i].decision_id)) {
            return false;
        }
    }
    return flow->values[i].decision_id.len > 0;
}

/* The state of all values of a call, until one says more; those that are looked up go to `group`.
 */
static void
take_values(struct finding *f, size_t first, enum writ_why_text_state state, struct writ_view tool,
    struct group *group)
{
    struct writ_view decision_id = f->flow->values[first].decision_id;

    for (size_t i = first; i < f->flow->values_n; i++) {
        struct writ_why_value *value = &f->flow->values[i];

        if (!writ_view_equal(value->decision_id, decision_id)) {
            continue;
        }
        value->tool = tool;
        value->text = (struct writ_why_text){.state = state};
        if (i < f->looked) {
            group->values[group->n++] = value;
        }
    }
}

static void
find_call(struct finding *f, size_t first)
{
    const struct writ_source_texts *t = f->texts;
    struct writ_view decision_id = f->flow->values[first].decision_id;
    struct writ_buf name = writ_buf_in(f->arena, NAME_BYTES);
    struct group group = {.n = 0};
    writ_result result;

    writ_arena_reset(f->scratch); /* keeps (2) */
    result = read_name(t, decision_id, f->scratch, &name);
    if (!writ_is_ok(result)) {
        take_values(f, first, state_of(result), writ_view(NULL, 0), &group);
        return;
    }
    take_values(f, first,
        t->contents == NULL ? t->unread
        : !f->same_key      ? WRIT_WHY_TEXT_OTHER_KEY
                            : WRIT_WHY_TEXT_TOO_MANY,
        writ_buf_view(&name), &group);
    if (t->contents != NULL && f->same_key && group.n > 0) {
        writ_arena_reset(f->scratch);
        open_call(f, decision_id, &group);
    }
}

/* The names of the tools. */
static void
find_labels(struct finding *f)
{
    const struct writ_source_texts *t = f->texts;
    const struct writ_source_labels of = {
        .reader = t->reader, .tenant = t->tenant, .boundary_id = t->boundary_id, .leaf = t->leaf};

    writ_source_labels_find(&of, f->flow->labels, f->flow->labels_n, f->arena);
    for (size_t i = 0; i < f->flow->labels_n; i++) {
        struct writ_why_label *label = &f->flow->labels[i];
        struct writ_buf name = writ_buf_in(f->arena, NAME_BYTES);

        writ_arena_reset(f->scratch);
        if (label->decision_id.len > 0 &&
            writ_is_ok(read_name(t, label->decision_id, f->scratch, &name))) {
            label->tool = writ_buf_view(&name);
        }
    }
}

static size_t
end_of_looked(const struct writ_why_flow *flow)
{
    size_t end = 0;

    for (size_t n = 0; end < flow->values_n; end++) {
        if (flow->values[end].decision_id.len > 0 && n++ == WRIT_SOURCE_TEXTS_MAX) {
            break;
        }
    }
    return end;
}

WRIT_RESULT
writ_source_texts_find(struct writ_source_texts *texts, struct writ_why_flow *flow,
    struct writ_arena *arena, struct writ_err *err)
{
    writ_auto_arena scratch = writ_arena_new(CALL_ARENA);
    struct finding f = {.texts = texts,
        .flow = flow,
        .looked = end_of_looked(flow),
        .same_key = texts->key != NULL && writ_view_equal(writ_mark_key_id(texts->key), flow->key),
        .scratch = scratch,
        .arena = arena};

    if (scratch == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the sources of a call");
    }
    for (size_t i = 0; i < flow->values_n; i++) {
        if (is_first_of_call(flow, i)) {
            find_call(&f, i);
        }
    }
    if (flow->labels_n > 0) {
        find_labels(&f);
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_source_texts_record(const struct writ_source_texts *texts, struct writ_ledger *ledger,
    struct writ_view by, const char *purpose, struct writ_err *err)
{
    for (size_t i = 0; i < texts->opened_n; i++) {
        const struct writ_content_look look = {.by = by,
            .purpose = writ_view_str(purpose),
            .decision_id = texts->opened[i],
            .count = 1};
        writ_auto_buf data = writ_buf_make(LOOK_MAX);

        WRIT_TRY(writ_content_fact_look(&look, &data, err));
        WRIT_TRY(writ_ledger_record(ledger, WRIT_FACT_CONTENTS_LOOKED, writ_buf_view(&data), err));
    }
    return WRIT_DONE;
}
