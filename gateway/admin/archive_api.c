/* One entry for the writer, and its answer. */
#include "gateway/admin/archive_api.h"

#include "gateway/admin/api_request.h"
#include "gateway/admin/ledger_viewer.h"

void
writ_archive_api_answer(const struct writ_entry_remove *remove, struct writ_write *w)
{
    bool limited = remove->limit != WRIT_REMOVE_NONE;

    writ_write_object_begin(w);
    writ_write_count(w, "first", remove->before);
    writ_write_count(w, "removed", remove->removed);
    writ_write_text_or_null(
        w, "limit", limited ? writ_remove_limit_name(remove->limit) : writ_view(NULL, 0));
    writ_write_text_or_null(
        w, "name", remove->limit_name.len > 0 ? remove->limit_name : writ_view(NULL, 0));
    if (limited) {
        writ_write_time_if(w, "since", remove->limit_us);
    } else {
        writ_write_text_or_null(w, "since", writ_view(NULL, 0));
    }
    writ_write_object_end(w);
}

static void
back_on_loop(struct writ_api_request *request)
{
    const struct writ_entry_remove *remove = &request->entry.remove;
    struct writ_write w = writ_write_to(&request->body);

    if (request->entry.code == WRIT_E_MISMATCH) {
        writ_api_request_refuse(request, 409, WRIT_REASON_ARCHIVE_MISMATCH);
        return;
    }
    if (request->entry.code != WRIT_OK) {
        writ_api_request_refuse(request, 503, WRIT_REASON_LEDGER_UNAVAILABLE);
        return;
    }
    if (remove->removed > 0) {
        WRIT_LOG(request->worker->gateway->log, WRIT_EVENT_RECORDS_ARCHIVED,
            writ_log_text("who", writ_review_viewer_subject(&request->viewer)),
            writ_log_int("before", (int64_t)remove->before),
            writ_log_int("records", (int64_t)remove->removed));
    }
    writ_archive_api_answer(remove, &w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer keeps the failure */
    writ_api_request_reply(request);
}

static bool
read_remove(struct writ_api_request *request)
{
    static const char *const known[] = {"archived", "before", "root", NULL};
    struct writ_entry_remove *remove = &request->entry.remove;
    const struct writ_json *body = NULL;
    int64_t archived = 0;

    if (!writ_is_ok(writ_json_read(
            request->x->body, &writ_json_limits_default, request->x->arena, &body, NULL)) ||
        writ_json_type(body) != WRIT_JSON_OBJECT || !writ_json_has_only(body, known)) {
        return false;
    }
    request->entry.kind = WRIT_ENTRY_REMOVE;
    request->entry.arena = request->x->arena;
    *remove = (struct writ_entry_remove){.by = writ_review_viewer_subject(&request->viewer)};
    if (!writ_is_ok(writ_json_integer(
            writ_json_get(body, WRIT_LIT("archived")), 0, INT64_MAX >> 10, &archived)) ||
        !writ_is_ok(writ_time_read(
            writ_json_string(writ_json_get(body, WRIT_LIT("before"))), &remove->before_us)) ||
        !writ_is_ok(writ_digest_read(
            writ_json_string(writ_json_get(body, WRIT_LIT("root"))), &remove->root, NULL))) {
        return false;
    }
    remove->archived = (uint64_t)archived;
    return remove->before_us > 0;
}

static void
handle(struct writ_exchange *x, void *ctx)
{
    struct writ_api_request *request = writ_api_request_open(x, ctx, sizeof *request, back_on_loop);

    if (request == NULL) {
        return;
    }
    if (request->viewer.agent.tenant.len > 0 ||
        !writ_config_has_name(&request->viewer.generation->config->administrators,
            writ_review_viewer_subject(&request->viewer))) {
        writ_api_request_refuse(request, 403, WRIT_REASON_NOT_ADMINISTRATOR);
    } else if (!read_remove(request)) {
        writ_api_request_refuse(request, 422, WRIT_REASON_MALFORMED_REQUEST);
    } else {
        writ_api_request_submit(request);
    }
}

void
writ_archive_api_routes(
    struct writ_gateway *gateway, struct writ_route ret[WRIT_ARCHIVE_API_ROUTES])
{
    ret[0] = (struct writ_route){.path = WRIT_LIT("/v1/archive"),
        .methods = WRIT_ROUTE_POST,
        .json = true,
        .max_body_bytes = WRIT_ARCHIVE_API_BODY_MAX,
        .handler = handle,
        .ctx = gateway};
}
