/* probe_get.c - one HTTP client for each origin, made at the first request and kept. A request
 * carries Accept and nothing of the caller; an answer that is cut has status 0. */
#include "gateway/probe/probe_get.h"

#include "gateway/probe/probe.h"

static void
on_head(void *ctx, struct writ_http_call *call, const struct writ_http_head *head)
{
    struct writ_probe_get *get = ctx;

    (void)call;
    get->status = head->status;
}

static void
on_body(void *ctx, struct writ_http_call *call, struct writ_view bytes)
{
    struct writ_probe_get *get = ctx;

    (void)call;
    writ_buf_put(&get->text, bytes);
}

static void
on_end(void *ctx, struct writ_http_call *call, const struct writ_http_end *end)
{
    struct writ_probe_get *get = ctx;
    writ_auto_buf text = get->text;

    (void)call;
    if (end->reason != WRIT_HTTP_OK || !writ_is_ok(writ_buf_check(&text, NULL))) {
        get->status = 0;
    }
    get->call = NULL;
    get->text = (struct writ_buf){0};
    get->body = writ_buf_view(&text);
    get->done(get); /* `get` may be freed now */
}

static const struct writ_http_handler handler = {on_head, on_body, on_end};

/* "https://host:port" of a URL, and the rest. */
static bool
split_url(struct writ_view url, struct writ_view *ret_origin, struct writ_view *ret_target)
{
    size_t scheme = writ_view_search(url, WRIT_LIT("://"));
    struct writ_view rest = writ_view_sub(url, scheme + 3, SIZE_MAX);
    size_t authority = writ_view_find(rest, '/');

    if (scheme == url.len || authority == 0) {
        return false;
    }
    *ret_origin = writ_view_sub(url, 0, scheme + 3 + authority);
    *ret_target = authority < rest.len ? writ_view_sub(rest, authority, SIZE_MAX) : WRIT_LIT("/");
    return true;
}

static WRIT_RESULT
client_of(
    struct writ_probe_servers *servers, struct writ_view origin, struct writ_http_client **ret)
{
    const struct writ_http_options options = {.url = origin};
    struct writ_probe_server *slot;
    writ_auto_buf kept = writ_buf_make(origin.len + 1);

    for (size_t i = 0; i < servers->n; i++) {
        if (writ_view_equal(writ_buf_view(&servers->items[i].origin), origin)) {
            *ret = servers->items[i].client;
            return WRIT_DONE;
        }
    }
    if (servers->n == WRIT_PROBE_SERVERS_MAX) {
        return (writ_result){WRIT_E_LIMIT};
    }
    slot = &servers->items[servers->n];
    writ_buf_put(&kept, origin);
    WRIT_TRY(writ_buf_check(&kept, NULL));
    WRIT_TRY(
        writ_http_client_open(servers->loop, servers->resolver, &options, &slot->client, NULL));
    slot->origin = kept;
    kept = (struct writ_buf){0};
    servers->n++;
    *ret = slot->client;
    return WRIT_DONE;
}

writ_result
writ_probe_get_start(struct writ_probe_servers *servers, struct writ_view url, int64_t timeout_us,
    struct writ_probe_get *get)
{
    static const struct writ_header accept = {
        {"Accept", sizeof "Accept" - 1}, {"application/json", sizeof "application/json" - 1}};
    struct writ_http_client *client = NULL;
    struct writ_view origin;
    struct writ_http_request request = {
        .method = WRIT_LIT("GET"),
        .fields = &accept,
        .count = 1,
        .body_max = WRIT_PROBE_ANSWER_MAX,
        .total_us = timeout_us,
    };

    if (!split_url(url, &origin, &request.target)) {
        return (writ_result){WRIT_E_INVALID};
    }
    WRIT_TRY(client_of(servers, origin, &client));
    get->status = 0;
    get->text = writ_buf_make(WRIT_PROBE_ANSWER_MAX);
    return writ_http_client_send(client, &request, &handler, get, &get->call, NULL);
}

void
writ_probe_get_cancel(struct writ_probe_get *get)
{
    writ_http_client_cancel(get->call);
}

void
writ_probe_get_close(struct writ_probe_servers *servers)
{
    for (size_t i = 0; i < servers->n; i++) {
        writ_http_client_close(servers->items[i].client);
        writ_buf_wipe(&servers->items[i].origin);
    }
    servers->n = 0;
}
