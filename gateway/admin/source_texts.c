/* source_texts.c
 *
 * Invariant: (1) nothing is read of a call of another tenant or run. */
#include "gateway/admin/source_texts.h"

#include "evidence/record/content_fact.h"
#include "policy/decide/flow.h"
#include "store/tables/body.h"

#define NAME_BYTES 1024
#define LOOK_MAX   8192

/* keeps (1). WRIT_E_ABSENT: it is none of this run. */
static WRIT_RESULT
find_tool(const struct writ_source_texts *t, struct writ_why_value *value, struct writ_arena *arena,
    struct writ_err *err)
{
    struct writ_buf name = writ_buf_in(arena, NAME_BYTES);
    struct writ_decision decision = {0};
    struct writ_extension extension = {0};
    struct writ_reader_call call;

    WRIT_TRY(writ_reader_show(t->reader, value->decision_id, arena, &call, err));
    if (!writ_view_equal(call.tenant, t->tenant) ||
        !writ_view_equal(call.boundary_id, t->boundary_id)) {
        return (writ_result){WRIT_E_ABSENT};
    }
    WRIT_TRY(writ_body_decision(call.decision, arena, &decision, err));
    WRIT_TRY(writ_extension_read(&decision.extensions, arena, &extension, err));
    writ_buf_put(&name, writ_member_view(&extension.upstream));
    writ_buf_byte(&name, '/');
    writ_buf_put(&name, writ_member_view(&decision.tool));
    value->tool = writ_buf_view(&name);
    return WRIT_DONE;
}

/* The record has the marks of its words. Those of an account number in groups, which stands in one
 * piece elsewhere, are made of the value. */
static WRIT_RESULT
want(const struct writ_source_texts *t, const struct writ_why_value *value,
    struct writ_arena *arena, struct writ_mark_wanted *ret, struct writ_err *err)
{
    const struct writ_json *argument = writ_json_pointer(t->arguments, value->argument);
    struct writ_mark_wanted wanted = {.words = {NULL, 0}};

    *ret = (struct writ_mark_wanted){.words = value->marks};
    if (writ_json_type(argument) != WRIT_JSON_STRING) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_mark_want(
        t->key, writ_json_string(argument), false, WRIT_FLOW_WORDS_MAX, arena, &wanted, err));
    if (writ_view_equal(wanted.words, value->marks)) {
        ret->joined = wanted.joined;
    }
    return WRIT_DONE;
}

static void
note_opened(struct writ_source_texts *t, struct writ_view decision_id)
{
    for (size_t i = 0; i < t->opened_n; i++) {
        if (writ_view_equal(t->opened[i], decision_id)) {
            return;
        }
    }
    WRIT_INVARIANT(t->opened_n < WRIT_SOURCE_TEXTS_MAX);
    t->opened[t->opened_n++] = decision_id;
}

static WRIT_RESULT
find_in(struct writ_source_texts *t, struct writ_why_value *value,
    const struct writ_content *content, bool of_arguments, struct writ_arena *arena,
    struct writ_err *err)
{
    struct writ_why_text_source source = {
        .of_arguments = of_arguments, .at = value->at, .key = t->key};

    WRIT_TRY(
        writ_json_read(content->bytes, &writ_json_limits_default, arena, &source.content, err));
    WRIT_TRY(want(t, value, arena, &source.wanted, err));
    WRIT_TRY(writ_why_text_find(&source, arena, &value->text, err));
    if (value->text.state == WRIT_WHY_TEXT_SHOWN) {
        note_opened(t, value->decision_id);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
open_text(struct writ_source_texts *t, struct writ_why_value *value, struct writ_arena *arena,
    struct writ_err *err)
{
    bool of_arguments = writ_view_is(value->source, "approved");
    const struct writ_content *content;
    struct writ_contents_call call;
    writ_result result = writ_contents_get(t->contents, value->decision_id, arena, &call, err);

    if (result.code == WRIT_E_MISMATCH) {
        value->text.state = WRIT_WHY_TEXT_CHANGED;
        return WRIT_DONE;
    }
    WRIT_TRY(result);
    content = of_arguments ? &call.arguments : &call.result;
    switch (content->state) {
    case WRIT_CONTENT_ABSENT:
        value->text.state = WRIT_WHY_TEXT_NOT_KEPT;
        return WRIT_DONE;
    case WRIT_CONTENT_ERASED:
        value->text.state = WRIT_WHY_TEXT_ERASED;
        return WRIT_DONE;
    case WRIT_CONTENT_LOCKED:
        value->text.state = WRIT_WHY_TEXT_LOCKED;
        return WRIT_DONE;
    case WRIT_CONTENT_CHANGED:
        value->text.state = WRIT_WHY_TEXT_CHANGED;
        return WRIT_DONE;
    case WRIT_CONTENT_KEPT:
        break;
    }
    return find_in(t, value, content, of_arguments, arena, err);
}

static WRIT_RESULT
find_one(struct writ_source_texts *t, bool same_key, bool first, struct writ_why_value *value,
    struct writ_arena *arena, struct writ_err *err)
{
    writ_result result = find_tool(t, value, arena, err);

    if (result.code == WRIT_E_ABSENT) {
        value->text.state = WRIT_WHY_TEXT_NO_RECORD;
        return WRIT_DONE;
    }
    WRIT_TRY(result);
    if (t->contents == NULL) {
        value->text.state = t->unread;
    } else if (!same_key) {
        value->text.state = WRIT_WHY_TEXT_OTHER_KEY;
    } else if (!first) {
        value->text.state = WRIT_WHY_TEXT_TOO_MANY;
    } else {
        return open_text(t, value, arena, err);
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_source_texts_find(struct writ_source_texts *texts, struct writ_why_flow *flow,
    struct writ_arena *arena, struct writ_err *err)
{
    bool same_key = texts->key != NULL && writ_view_equal(writ_mark_key_id(texts->key), flow->key);
    size_t n = 0;

    for (size_t i = 0; i < flow->values_n; i++) {
        if (flow->values[i].decision_id.len > 0) {
            WRIT_TRY(find_one(
                texts, same_key, n++ < WRIT_SOURCE_TEXTS_MAX, &flow->values[i], arena, err));
        }
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
