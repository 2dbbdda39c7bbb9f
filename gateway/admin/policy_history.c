/* policy_history.c - versions are those of the records, and for a caller that may know the rules of
 * every tenant also those that are kept and decided nothing. */
#include "gateway/admin/policy_history.h"

#include "evidence/record/record.h"
#include "gateway/admin/api_view.h"
#include "gateway/admin/ledger_viewer.h"
#include "gateway/admin/policy_difference.h"
#include "gateway/http/query.h"
#include "store/trusted/policies.h"

#include <stdlib.h>

#define VERSIONS_MAX (WRIT_POLICY_USE_MAX + 2 * WRIT_POLICIES_MAX + 1)
#define TEXT_ARENA   ((size_t)256 << 20)

/* One version of the policy. */
struct version {
    struct writ_digest digest;
    uint64_t decisions;
    int64_t first_us, last_us, loaded_us; /* 0: unknown */
    bool kept;
};

/* One query; in the arena of its exchange. */
struct history {
    struct writ_api_view view;
    struct version *versions;
    size_t n;
    struct writ_digest from, to; /* of a difference */
    struct writ_figures_progress progress;
};

/* ---- the history ---- */

static struct version *
version_of(struct history *a, const struct writ_digest *digest, bool adds)
{
    for (size_t i = 0; i < a->n; i++) {
        if (writ_digest_equal(&a->versions[i].digest, digest)) {
            return &a->versions[i];
        }
    }
    if (!adds || a->n == VERSIONS_MAX) {
        return NULL;
    }
    a->versions[a->n] = (struct version){.digest = *digest};
    return &a->versions[a->n++];
}

static void
add_use(void *ctx, const struct writ_policy_use_row *row)
{
    struct history *a = ctx;
    struct writ_view tenant = a->view.request.viewer.agent.tenant;
    struct version *version;

    if (tenant.len > 0 && !writ_view_equal(tenant, row->tenant)) {
        return;
    }
    version = version_of(a, &row->policy, true);
    if (version == NULL) {
        return;
    }
    if (version->decisions == 0 || row->first_us < version->first_us) {
        version->first_us = row->first_us;
    }
    if (version->decisions == 0 || row->last_us > version->last_us) {
        version->last_us = row->last_us;
    }
    version->decisions += row->decisions;
}

static WRIT_RESULT
add_kept(struct history *a, const char *store, struct writ_arena *arena)
{
    bool adds = writ_ledger_viewer_of_all(&a->view.request.viewer);
    struct writ_kept_policy *kept = NULL;
    size_t n = 0;

    WRIT_TRY(writ_policies_list(store, arena, &kept, &n, NULL));
    for (size_t i = 0; i < n; i++) {
        struct version *version = version_of(a, &kept[i].digest, adds);

        if (version != NULL) {
            version->kept = true;
            version->loaded_us = adds ? kept[i].at_us : 0;
        }
    }
    return WRIT_DONE;
}

/* The present one, and after it the one of the latest decision or loading first. */
static int64_t
latest(const struct version *version)
{
    return version->last_us > version->loaded_us ? version->last_us : version->loaded_us;
}

static int
by_time(const void *a, const void *b)
{
    int64_t left = latest(a), right = latest(b);

    return (left < right) - (left > right);
}

static void
put_version(struct writ_write *w, const struct version *version)
{
    char digest[WRIT_DIGEST_TEXT];

    writ_digest_text(&version->digest, digest);
    writ_write_object_begin(w);
    writ_write_text(w, "policy", writ_view_str(digest));
    writ_write_count(w, "decisions", version->decisions);
    writ_write_time_if(w, "first", version->first_us);
    writ_write_time_if(w, "last", version->last_us);
    writ_write_time_if(w, "loaded", version->loaded_us);
    writ_write_flag(w, "kept", version->kept);
    writ_write_object_end(w);
}

static WRIT_RESULT
tell_history(struct writ_api_view *view, struct writ_reader *reader, struct writ_arena *arena)
{
    struct history *a = (struct history *)(void *)view;
    const struct writ_config *config = view->request.viewer.generation->config;
    char digest[WRIT_DIGEST_TEXT];

    (void)reader;
    a->versions = writ_arena_get(arena, VERSIONS_MAX * sizeof *a->versions);
    if (a->versions == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    (void)version_of(a, &config->policy_digest, true);
    writ_figures_feed_policies(view->request.worker->gateway->figures, add_use, a, &a->progress);
    WRIT_TRY(add_kept(a, config->files.ptr, arena));
    qsort(a->versions + 1, a->n - 1, sizeof *a->versions, by_time);
    writ_digest_text(&config->policy_digest, digest);
    writ_write_object_begin(&view->w);
    writ_write_text(&view->w, "policy", writ_view_str(digest));
    writ_write_flag(&view->w, "complete", a->progress.complete && a->progress.lost == 0);
    writ_write_time_if(&view->w, "read_since", a->progress.since_us);
    writ_write_name(&view->w, WRIT_LIT("versions"));
    writ_write_array_begin(&view->w);
    for (size_t i = 0; i < a->n; i++) {
        put_version(&view->w, &a->versions[i]);
    }
    writ_write_array_end(&view->w);
    writ_write_object_end(&view->w);
    return WRIT_DONE;
}

/* ---- a difference ---- */

/* A file that is not whole is as good as none. */
static WRIT_RESULT
read_kept(const struct history *a, const struct writ_digest *digest, struct writ_arena *arena,
    const struct writ_json **ret)
{
    const struct writ_config *config = a->view.request.viewer.generation->config;
    struct writ_buf text = writ_buf_in(arena, WRIT_POLICIES_BYTES_MAX);
    struct writ_json_limits limits = writ_json_limits_default;
    writ_result result = writ_policies_read(config->files.ptr, digest, &text, NULL);

    if (result.code == WRIT_E_MISMATCH) {
        return (writ_result){WRIT_E_ABSENT};
    }
    WRIT_TRY(result);
    limits.bytes = limits.values = limits.string_bytes = WRIT_POLICIES_BYTES_MAX;
    return writ_json_read(writ_buf_view(&text), &limits, arena, ret, NULL);
}

static WRIT_RESULT
tell_difference(struct writ_api_view *view, struct writ_reader *reader, struct writ_arena *arena)
{
    struct history *a = (struct history *)(void *)view;
    writ_auto_arena texts = writ_arena_new(TEXT_ARENA);
    struct writ_policy_difference difference = {.viewer = &view->request.viewer, .arena = arena};

    (void)reader;
    if (texts == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    WRIT_TRY(read_kept(a, &a->from, texts, &difference.before));
    WRIT_TRY(read_kept(a, &a->to, texts, &difference.after));
    return writ_policy_difference_put(&difference, &view->w);
}

/* ---- requests ---- */

static void
handle_history(struct writ_exchange *x, void *ctx)
{
    struct history *a = writ_api_view_open(x, ctx, sizeof *a, tell_history);

    if (a != NULL && writ_api_view_may_oversee(&a->view)) {
        writ_api_view_ask(&a->view);
    }
}

static bool
read_digest(struct history *a, struct writ_view name, struct writ_digest *ret)
{
    struct writ_exchange *x = a->view.request.x;
    struct writ_view text = {NULL, 0};

    return writ_is_ok(writ_query_get(x->query, name, WRIT_DIGEST_TEXT, x->arena, &text)) &&
           writ_is_ok(writ_digest_read(text, ret, NULL));
}

static void
handle_difference(struct writ_exchange *x, void *ctx)
{
    struct history *a = writ_api_view_open(x, ctx, sizeof *a, tell_difference);

    if (a == NULL || !writ_api_view_may_oversee(&a->view)) {
        return;
    }
    if (!read_digest(a, WRIT_LIT("from"), &a->from) || !read_digest(a, WRIT_LIT("to"), &a->to)) {
        writ_api_request_refuse(&a->view.request, 422, WRIT_REASON_MALFORMED_REQUEST);
    } else {
        writ_api_view_ask(&a->view);
    }
}

void
writ_policy_history_routes(
    struct writ_gateway *gateway, struct writ_route ret[WRIT_POLICY_HISTORY_ROUTES])
{
    ret[0] = (struct writ_route){.path = WRIT_LIT("/v1/policy/history"),
        .methods = WRIT_ROUTE_GET,
        .handler = handle_history,
        .ctx = gateway};
    ret[1] = (struct writ_route){.path = WRIT_LIT("/v1/policy/difference"),
        .methods = WRIT_ROUTE_GET,
        .handler = handle_difference,
        .ctx = gateway};
}
