/* admin.c - runs the checks of readiness on each request and keeps no state of its own. /readyz is
 * 200 only when every check holds. */
#include "gateway/listener/admin.h"

#define ADMIN_TEXT_MAX (16U << 20) /* all series, with the longest names */

static const struct writ_header text_headers[] = {
    {WRIT_LIT("Content-Type"), WRIT_LIT("text/plain; charset=utf-8")},
    {WRIT_LIT("Cache-Control"), WRIT_LIT("no-store")},
};

static const struct writ_header metrics_headers[] = {
    {WRIT_LIT("Content-Type"), WRIT_LIT("text/plain; version=0.0.4; charset=utf-8")},
    {WRIT_LIT("Cache-Control"), WRIT_LIT("no-store")},
};

static void
answer_health(struct writ_exchange *x, void *ctx)
{
    (void)ctx;
    writ_exchange_reply(x, 200, text_headers, 2, WRIT_LIT("ok\n"));
}

/* Appends the failed condition, with names in brackets. */
static bool
look(const struct writ_admin_check *check, const struct writ_loop *loop, struct writ_buf *names)
{
    writ_auto_buf missing = writ_buf_make(ADMIN_TEXT_MAX);
    bool holds = check->holds(check->ctx, loop, &missing);

    if (!holds && missing.len > 0) {
        writ_buf_str(names, " (");
        writ_buf_put(names, writ_buf_view(&missing));
        writ_buf_str(names, ")");
    }
    return holds;
}

static void
answer_ready(struct writ_exchange *x, void *ctx)
{
    const struct writ_admin *admin = ctx;
    writ_auto_buf text = writ_buf_make(ADMIN_TEXT_MAX);
    bool ready = true;

    for (size_t i = 0; i < admin->check_count; i++) {
        const struct writ_admin_check *check = &admin->checks[i];
        writ_auto_buf missing = writ_buf_make(ADMIN_TEXT_MAX);
        bool holds = look(check, x->loop, &missing);
        ready = ready && holds;
        writ_buf_fmt(&text, "%s: %s", check->name, holds ? "ok" : "not ready");
        writ_buf_put(&text, writ_buf_view(&missing));
        writ_buf_byte(&text, '\n');
    }
    if (admin->check_count == 0) {
        writ_buf_str(&text, "ok\n");
    }
    if (admin->remarks != NULL) {
        admin->remarks(admin->remarks_ctx, x->loop, &text);
    }
    if (!writ_is_ok(writ_buf_check(&text, NULL))) {
        ready = false;
    }
    writ_exchange_reply(x, ready ? 200 : 503, text_headers, 2, writ_buf_view(&text));
}

bool
writ_admin_is_ready(
    const struct writ_admin *admin, const struct writ_loop *loop, struct writ_buf *ret_missing)
{
    bool ready = true;

    for (size_t i = 0; i < admin->check_count; i++) {
        writ_auto_buf names = writ_buf_make(ADMIN_TEXT_MAX);
        if (!look(&admin->checks[i], loop, &names)) {
            writ_buf_str(ret_missing, ready ? "" : ", ");
            writ_buf_str(ret_missing, admin->checks[i].name);
            writ_buf_put(ret_missing, writ_buf_view(&names));
            ready = false;
        }
    }
    return ready;
}

void
writ_admin_put_metrics(const struct writ_admin *admin, struct writ_buf *ret)
{
    writ_metrics_put(admin->metrics, ret);
    if (admin->put_more != NULL) {
        admin->put_more(admin->more, ret);
    }
}

static void
answer_metrics(struct writ_exchange *x, void *ctx)
{
    const struct writ_admin *admin = ctx;
    writ_auto_buf text = writ_buf_make(ADMIN_TEXT_MAX);

    writ_admin_put_metrics(admin, &text);
    if (!writ_is_ok(writ_buf_check(&text, NULL))) {
        writ_exchange_reply(x, 500, text_headers, 2, WRIT_LIT("no memory\n"));
        return;
    }
    writ_exchange_reply(x, 200, metrics_headers, 2, writ_buf_view(&text));
}

WRIT_RESULT
writ_admin_add(struct writ_admin *admin, const char *name, writ_admin_holds *holds, void *ctx,
    struct writ_err *err)
{
    if (admin->check_count == WRIT_ADMIN_CHECKS_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "more than %d conditions of readiness", WRIT_ADMIN_CHECKS_MAX);
    }
    admin->checks[admin->check_count++] = (struct writ_admin_check){name, holds, ctx};
    return WRIT_DONE;
}

void
writ_admin_routes(struct writ_admin *admin, struct writ_route ret[WRIT_ADMIN_ROUTES])
{
    const struct writ_route routes[WRIT_ADMIN_ROUTES] = {
        {.path = WRIT_LIT("/healthz"), .handler = answer_health},
        {.path = WRIT_LIT("/readyz"), .handler = answer_ready},
        {.path = WRIT_LIT("/metrics"), .handler = answer_metrics},
    };

    for (size_t i = 0; i < WRIT_ADMIN_ROUTES; i++) {
        ret[i] = routes[i];
        ret[i].methods = WRIT_ROUTE_GET;
        ret[i].ctx = admin;
    }
}
