/* review_sources.c - both ways give the same JSON, which is printed in one way. */
#include "cli/commands/review_sources.h"

#include "base/text.h"
#include "evidence/json/jcs.h"
#include "gateway/admin/source_texts.h"
#include "store/tables/body.h"

#define OUT_MAX  ((size_t)64 << 20)
#define PATH_MAX 4096

static bool
is_empty(const struct writ_json *answer)
{
    return writ_json_first(writ_json_get(answer, WRIT_LIT("sources"))) == NULL &&
           writ_json_first(writ_json_get(answer, WRIT_LIT("labels"))) == NULL;
}

static WRIT_RESULT
read_answer(struct writ_view json, struct writ_arena *arena, const struct writ_json **ret,
    struct writ_err *err)
{
    return writ_json_read(json, &writ_json_limits_default, arena, ret, err);
}

WRIT_RESULT
writ_review_sources_ask(struct writ_admin_client *client, struct writ_view id,
    struct writ_arena *arena, const struct writ_json **ret, struct writ_err *err)
{
    writ_auto_buf path = writ_buf_make(PATH_MAX);
    struct writ_buf text = writ_buf_in(arena, OUT_MAX);
    writ_result result;

    WRIT_TRY(writ_admin_client_check_id(id, "a review", err));
    writ_buf_fmt(&path, "/v1/reviews/" WRIT_VIEW_FMT "/sources%c", WRIT_VIEW_ARG(id), '\0');
    WRIT_TRY(writ_buf_check(&path, err));
    result = writ_admin_client_ask(client, path.ptr, NULL);
    if (!writ_is_ok(result)) {
        if (!client->refused) {
            return result;
        }
        client->refused = false;
        client->err = (struct writ_err){0};
        return WRIT_DONE;
    }
    if (is_empty(client->value)) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_jcs_put(&text, client->value, err)); /* the next answer takes its place */
    return read_answer(writ_buf_view(&text), arena, ret, err);
}

WRIT_RESULT
writ_review_sources_read(struct writ_reader *reader, struct writ_view id, struct writ_arena *arena,
    const struct writ_json **ret, struct writ_err *err)
{
    struct writ_source_texts texts = {.reader = reader};
    struct writ_buf text = writ_buf_in(arena, OUT_MAX);
    struct writ_write w = writ_write_to(&text);
    struct writ_extension extension = {0};
    struct writ_decision decision = {0};
    struct writ_why_flow flow = {0};
    struct writ_reader_call call;

    WRIT_TRY(writ_reader_show(reader, id, arena, &call, err));
    WRIT_TRY(writ_body_decision(call.decision, arena, &decision, err));
    WRIT_TRY(writ_extension_read(&decision.extensions, arena, &extension, err));
    if (extension.flow.is != WRIT_PRESENT) {
        return WRIT_DONE;
    }
    texts.tenant = call.tenant;
    texts.boundary_id = call.boundary_id;
    texts.leaf = call.leaf;
    WRIT_TRY(writ_why_flow_values(NULL, extension.flow.value, arena, &flow, err));
    if (flow.values_n == 0 && flow.labels_n == 0) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_source_texts_find(&texts, &flow, arena, err));
    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("sources"));
    writ_write_array_begin(&w);
    for (size_t i = 0; i < flow.values_n; i++) {
        writ_why_flow_put_value(&flow.values[i], &w);
    }
    writ_write_array_end(&w);
    writ_why_flow_put_labels(&flow, &w);
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, err));
    return read_answer(writ_buf_view(&text), arena, ret, err);
}

static struct writ_view
text_of(const struct writ_json *value, const char *name)
{
    return writ_json_string(writ_json_get(value, writ_view_str(name)));
}

static void
put_source(const struct writ_json *source, struct writ_buf *ret)
{
    const struct writ_json *places = writ_json_get(source, WRIT_LIT("places"));
    const struct writ_why_value value = {.argument = text_of(source, "argument"),
        .source = text_of(source, "source"),
        .at = text_of(source, "at"),
        .decision_id = text_of(source, "decision_id"),
        .tool = text_of(source, "tool")};
    writ_auto_buf line = writ_buf_make(OUT_MAX);
    struct writ_view note = text_of(source, "note");

    writ_why_flow_value_text(&value, &line);
    writ_buf_str(ret, "source ");
    writ_text_safe(ret, writ_buf_view(&line), line.len);
    writ_buf_byte(ret, '\n');
    WRIT_JSON_EACH(place, places)
    {
        struct writ_view marked = text_of(place, "marked");

        writ_buf_str(ret, "  text ");
        writ_text_safe(ret, marked, marked.len);
        writ_buf_byte(ret, '\n');
    }
    if (note.len > 0) {
        writ_buf_fmt(ret, "  (" WRIT_VIEW_FMT ")\n", WRIT_VIEW_ARG(note));
    }
}

static void
put_label(const struct writ_json *label, struct writ_buf *ret)
{
    const struct writ_why_label told = {.label = text_of(label, "label"),
        .by = writ_why_label_find(text_of(label, "by")),
        .resource = text_of(label, "resource"),
        .decision_id = text_of(label, "decision_id"),
        .tool = text_of(label, "tool"),
        .detector = text_of(label, "detector"),
        .at = text_of(label, "at")};
    writ_auto_buf line = writ_buf_make(OUT_MAX);

    writ_why_label_text(&told, &line);
    writ_buf_str(ret, "label ");
    writ_text_safe(ret, writ_buf_view(&line), line.len);
    writ_buf_byte(ret, '\n');
}

void
writ_review_sources_text(const struct writ_json *answer, struct writ_buf *ret)
{
    WRIT_JSON_EACH(label, writ_json_get(answer, WRIT_LIT("labels")))
    {
        put_label(label, ret);
    }
    WRIT_JSON_EACH(source, writ_json_get(answer, WRIT_LIT("sources")))
    {
        put_source(source, ret);
    }
}
