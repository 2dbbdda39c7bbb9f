/* login_guard.c - a request waits in its guard for the look, and then goes to its handler, which
 * finds the login in the table or not. A row that cannot be read is a refusal. */
#include "gateway/admin/login_guard.h"

#include "gateway/admin/api.h"
#include "gateway/admin/login_look.h"
#include "store/ledger/ledger.h"

#define GUARDED WRIT_LIT("/v1")

/* In the arena of its exchange. */
struct waiting {
    struct writ_login_look look;
    struct writ_exchange *x;
    const struct writ_login_guard *guard;
};

static void
go_on(struct writ_login_look *look, writ_result result)
{
    const struct waiting *waiting = look->ctx;

    if (writ_is_ok(result)) {
        waiting->guard->handler(waiting->x, waiting->guard->ctx);
    } else {
        writ_api_answer_problem(waiting->x, 503, WRIT_REASON_LEDGER_UNAVAILABLE);
    }
}

static void
look_first(struct writ_exchange *x, void *ctx)
{
    const struct writ_login_guard *guard = ctx;
    struct writ_view cookie = writ_api_cookie(x);
    struct waiting *waiting;
    writ_result result;

    if (cookie.len == 0 || writ_exchange_header(x, WRIT_LIT("Authorization")).ptr != NULL) {
        guard->handler(x, guard->ctx);
        return;
    }
    waiting = writ_arena_zeroed(x->arena, sizeof *waiting);
    if (waiting == NULL) {
        writ_api_answer_problem(x, 503, WRIT_REASON_OVERLOADED);
        return;
    }
    waiting->x = x;
    waiting->guard = guard;
    waiting->look = (struct writ_login_look){.worker = writ_gateway_worker(guard->gateway, x->loop),
        .arena = x->arena,
        .cookie = cookie,
        .key = writ_exchange_header(x, WRIT_LIT(WRIT_API_KEY)),
        .done = go_on,
        .ctx = waiting};
    result = writ_login_look(&waiting->look);
    if (result.code == WRIT_E_LIMIT) {
        guard->handler(x, guard->ctx); /* no login has them */
    } else if (!writ_is_ok(result)) {
        writ_api_answer_problem(x, 503, WRIT_REASON_OVERLOADED);
    }
}

void
writ_login_guard_routes(struct writ_gateway *gateway, struct writ_route *routes, size_t n,
    struct writ_login_guard *guards)
{
    for (size_t i = 0; i < n && writ_ledger_is_shared(gateway->ledger); i++) {
        if (writ_view_has_prefix(routes[i].path, GUARDED)) {
            guards[i] = (struct writ_login_guard){gateway, routes[i].handler, routes[i].ctx};
            routes[i].handler = look_first;
            routes[i].ctx = &guards[i];
        }
    }
}
