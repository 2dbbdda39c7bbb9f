/* review_sources.c - the record of the decision says where a value was found; the texts are read
 * when a voter asks, not when the call is decided. */
#include "gateway/admin/review_sources.h"

#include "gateway/admin/contents_api.h"
#include "gateway/admin/source_texts.h"
#include "store/tables/body.h"

#define ARENA_MAX ((size_t)128 << 20)

static WRIT_RESULT
read_flow(const struct writ_api_request *request, struct writ_arena *arena,
    struct writ_why_flow *ret, struct writ_err *err)
{
    const struct writ_entry_review_get *get = &request->entry.review_get;
    struct writ_decision decision = {0};
    struct writ_extension extension = {0};

    WRIT_TRY(writ_body_decision(get->decision, arena, &decision, err));
    WRIT_TRY(writ_extension_read(&decision.extensions, arena, &extension, err));
    *ret = (struct writ_why_flow){.known = extension.flow.is == WRIT_PRESENT};
    return ret->known ? writ_why_flow_values(request->viewer.generation->config,
                            extension.flow.value, arena, ret, err)
                      : WRIT_DONE;
}

/* Without them an account number in groups is not found where it stands in one piece. */
static void
read_arguments(struct writ_view text, struct writ_arena *arena, const struct writ_json **ret)
{
    struct writ_json_limits limits = writ_json_limits_default;

    limits.bytes = limits.string_bytes = limits.values = text.len;
    WRIT_IGNORE(writ_json_read(text, &limits, arena, ret, NULL));
}

static WRIT_RESULT
find(struct writ_api_request *request, struct writ_reader *reader, struct writ_contents *contents,
    struct writ_arena *arena, struct writ_why_flow *flow, struct writ_err *err)
{
    const struct writ_entry_review_get *get = &request->entry.review_get;
    struct writ_source_texts texts = {.reader = reader,
        .contents = contents,
        .unread = WRIT_WHY_TEXT_NOT_READER,
        .key = request->viewer.generation->marks};
    struct writ_reader_call call;

    WRIT_TRY(read_flow(request, arena, flow, err));
    WRIT_TRY(writ_reader_show(reader, get->id, arena, &call, err));
    texts.tenant = call.tenant;
    texts.boundary_id = call.boundary_id;
    texts.leaf = call.leaf;
    if (get->arguments.ptr != NULL) {
        read_arguments(get->arguments, arena, &texts.arguments);
    }
    WRIT_TRY(writ_source_texts_find(&texts, flow, arena, err));
    return writ_source_texts_record(&texts, request->worker->gateway->ledger,
        writ_review_viewer_subject(&request->viewer), "review", err);
}

static WRIT_RESULT
put(struct writ_api_request *request, const struct writ_why_flow *flow, struct writ_err *err)
{
    struct writ_write w = writ_write_to(&request->body);

    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("sources"));
    writ_write_array_begin(&w);
    for (size_t i = 0; i < flow->values_n; i++) {
        writ_why_flow_put_value(&flow->values[i], &w);
    }
    writ_write_array_end(&w);
    writ_why_flow_put_labels(flow, &w);
    writ_write_object_end(&w);
    return writ_write_end(&w, err);
}

WRIT_RESULT
writ_review_sources_put(
    struct writ_api_request *request, struct writ_reader *reader, struct writ_err *err)
{
    const struct writ_generation *generation = request->viewer.generation;
    const struct writ_review *review = &request->entry.review_get.told.review;
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    writ_auto_contents contents = NULL;
    struct writ_why_flow flow = {0};

    if (arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the sources of a call");
    }
    if (writ_contents_api_may_read(&request->viewer, review->tenant)) {
        WRIT_TRY(writ_contents_open(generation->config->store.ptr, generation->keyring,
            request->worker->gateway->clock, &contents, err));
    }
    WRIT_TRY(find(request, reader, contents, arena, &flow, err));
    return put(request, &flow, err);
}
