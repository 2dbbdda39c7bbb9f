/* policy_replay.c
 *
 * Invariant: (1) an answer has a result only after the look at the contents is on disk. */
#include "gateway/admin/policy_replay.h"

#include "evidence/record/content_fact.h"
#include "evidence/record/record.h"
#include "gateway/admin/api_view.h"
#include "gateway/admin/contents_api.h"
#include "gateway/admin/ledger_viewer.h"
#include "gateway/replay/replay_json.h"
#include "gateway/replay/replay_read.h"
#include "policy/read/load.h"

#define LOOK_MAX 8192
#define FILE_MAX 4096 /* bytes of its name */

/* One query; in the arena of its exchange. */
struct attempt {
    struct writ_api_view view;
    struct writ_view file, text;
    int64_t since_us;
};

/* One reading, on the thread of the replays. */
struct reading {
    struct writ_replay_read read;
    const struct writ_gateway *gateway;
    int64_t until_us; /* monotonic */
    uint64_t calls;
    int64_t last_us; /* of the last call that was read */
    bool cut;
};

static void
reading_wipe(struct reading *r)
{
    writ_replay_read_wipe(&r->read);
}

static void
config_release(struct writ_config **config)
{
    writ_config_drop(*config);
}

static bool
each_call(void *ctx, const struct writ_contents_call *call)
{
    struct reading *r = ctx;

    if (r->calls == WRIT_POLICY_REPLAY_CALLS ||
        writ_clock_mono_us(r->gateway->clock) >= r->until_us ||
        writ_ledger_query_stops(r->gateway->replays)) {
        r->cut = true;
        return false;
    }
    r->calls++;
    r->last_us = call->issued_at_us;
    return writ_replay_read_call(&r->read, call);
}

/* ---- the answer ---- */

/* Of the edit, or of what was kept. */
static void
put_fault(struct writ_write *w, const struct writ_err *err)
{
    writ_write_object_begin(w);
    writ_write_text(w, "fault", writ_view_str(err->text));
    writ_write_object_end(w);
}

static void
put_result(const struct attempt *a, const struct reading *r, struct writ_write *w)
{
    const struct writ_replay_run *run = r->read.run;
    char digest[WRIT_DIGEST_TEXT];

    writ_write_object_begin(w);
    writ_digest_text(&run->now.rejudge.config->policy_digest, digest);
    writ_write_text(w, "policy_digest", writ_view_str(digest));
    writ_digest_text(&run->before.rejudge.config->policy_digest, digest);
    writ_write_text(w, "against", writ_view_str(digest));
    writ_write_time_if(w, "since", a->since_us);
    writ_write_flag(w, "complete", !r->cut);
    if (r->cut) {
        writ_write_time_if(w, "until", r->last_us);
    }
    writ_replay_json_counts(run, w);
    writ_replay_json_changes(run, false, w);
    writ_write_object_end(w);
}

/* keeps (1) */
static WRIT_RESULT
record_look(const struct attempt *a, const struct reading *r)
{
    const struct writ_content_look look = {
        .by = writ_review_viewer_subject(&a->view.request.viewer),
        .purpose = WRIT_LIT("replay"),
        .since_us = a->since_us,
        .count = r->read.looked};
    writ_auto_buf data = writ_buf_make(LOOK_MAX);

    if (look.count == 0) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_content_fact_look(&look, &data, NULL));
    return writ_ledger_record(
        r->gateway->ledger, WRIT_FACT_CONTENTS_LOOKED, writ_buf_view(&data), NULL);
}

/* ---- on the thread of the replays ---- */

static WRIT_RESULT
read_calls(const struct attempt *a, struct reading *r, struct writ_err *err)
{
    const struct writ_generation *generation = a->view.request.viewer.generation;
    const struct writ_contents_filter filter = {
        .since_us = writ_replay_run_from(r->read.run), .every = true};
    writ_auto_contents contents = NULL;

    WRIT_TRY(writ_contents_open(
        generation->config->store.ptr, generation->keyring, r->gateway->clock, &contents, err));
    WRIT_TRY(writ_contents_each(contents, &filter, each_call, r, err));
    return writ_replay_read_check(&r->read, err);
}

static WRIT_RESULT
replay(struct attempt *a, struct writ_config *edited, struct writ_write *w, struct writ_err *err)
{
    const struct writ_gateway *gateway = a->view.request.worker->gateway;
    WRIT_AUTO(struct writ_replay_run, writ_replay_run_wipe)
    run = {.now.rejudge.config = edited,
        .before.rejudge.config = a->view.request.viewer.generation->config,
        .since_us = a->since_us};
    WRIT_AUTO(struct reading, reading_wipe)
    r = {
        .gateway = gateway, .until_us = writ_clock_mono_us(gateway->clock) + WRIT_POLICY_REPLAY_US};

    WRIT_TRY(writ_replay_run_begin(&run, false, err));
    WRIT_TRY(writ_replay_read_begin(&r.read, &run, err));
    WRIT_TRY(read_calls(a, &r, err));
    writ_rejudge_groups_sort(run.groups);
    WRIT_TRY(record_look(a, &r));
    put_result(a, &r, w);
    return WRIT_DONE;
}

/* A fault of the edit, and contents that are not those of the record, are answers. */
static WRIT_RESULT
tell(struct writ_api_view *view, struct writ_reader *reader, struct writ_arena *arena)
{
    struct attempt *a = (struct attempt *)(void *)view;
    const struct writ_config *present = view->request.viewer.generation->config;
    WRIT_AUTO(struct writ_config *, config_release) edited = NULL;
    struct writ_err err = {0};
    writ_result result = writ_load_tools(
        present->file.ptr, a->file.len > 0 ? a->file : present->file, a->text, &edited, &err);

    (void)reader;
    (void)arena;
    if (!writ_is_ok(result) && result.code != WRIT_E_NOMEM) {
        put_fault(&view->w, &err);
        return WRIT_DONE;
    }
    WRIT_TRY(result);
    result = replay(a, edited, &view->w, &err);
    if (result.code == WRIT_E_MISMATCH) {
        put_fault(&view->w, &err);
        return WRIT_DONE;
    }
    return result.code == WRIT_E_ABSENT ? (writ_result){WRIT_E_IO} : result;
}

/* ---- the request ---- */

static bool
read_body(struct attempt *a)
{
    static const char *const known[] = {"text", "file", "since", NULL};
    struct writ_exchange *x = a->view.request.x;
    struct writ_json_limits limits = writ_json_limits_default;
    const struct writ_json *body = NULL, *since, *file;

    limits.bytes = limits.string_bytes = WRIT_POLICY_REPLAY_BODY_MAX;
    if (!writ_is_ok(writ_json_read(x->body, &limits, x->arena, &body, NULL)) ||
        writ_json_type(body) != WRIT_JSON_OBJECT || !writ_json_has_only(body, known)) {
        return false;
    }
    since = writ_json_get(body, WRIT_LIT("since"));
    file = writ_json_get(body, WRIT_LIT("file"));
    a->text = writ_json_string(writ_json_get(body, WRIT_LIT("text")));
    a->file = writ_json_string(file);
    return a->text.len > 0 && a->file.len <= FILE_MAX && (file == NULL || a->file.len > 0) &&
           (since == NULL || writ_is_ok(writ_time_read(writ_json_string(since), &a->since_us)));
}

static void
handle(struct writ_exchange *x, void *ctx)
{
    struct writ_gateway *gateway = ctx;
    struct attempt *a = writ_api_view_open(x, gateway, sizeof *a, tell);

    if (a == NULL || !writ_api_view_may_oversee(&a->view)) {
        return;
    }
    a->view.request.queries = gateway->replays;
    if (!writ_contents_api_may_read(&a->view.request.viewer, WRIT_LIT(""))) { /* of all tenants */
        writ_api_request_refuse(&a->view.request, 403, WRIT_REASON_NOT_CONTENT_READER);
    } else if (!read_body(a)) {
        writ_api_request_refuse(&a->view.request, 422, WRIT_REASON_MALFORMED_REQUEST);
    } else {
        writ_api_view_ask(&a->view);
    }
}

void
writ_policy_replay_routes(
    struct writ_gateway *gateway, struct writ_route ret[WRIT_POLICY_REPLAY_ROUTES])
{
    ret[0] = (struct writ_route){.path = WRIT_LIT("/v1/policy/replay"),
        .methods = WRIT_ROUTE_POST,
        .json = true,
        .max_body_bytes = WRIT_POLICY_REPLAY_BODY_MAX,
        .handler = handle,
        .ctx = gateway};
}
