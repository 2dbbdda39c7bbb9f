/* http_pool.c - gives waiting calls an idle connection that is fresh enough, and dials for the
 * rest. The pool never has more than connections_max connections. Invariants are in http_parts.h.
 */
#include "gateway/http/http_pool.h"

#include "gateway/http/dial.h"
#include "gateway/http/http_call.h"
#include "gateway/http/http_conn.h"

struct writ_http_dialing {
    struct writ_http_client *client;
    struct writ_dial *dial;
    TAILQ_ENTRY(writ_http_dialing) link;
};

static bool
is_fresh(const struct writ_http_conn *conn, const struct writ_http_call *call)
{
    return call->fresh_us == 0 ||
           writ_loop_now_us(conn->client->loop) - conn->rested_us <= call->fresh_us;
}

struct writ_http_conn *
writ_http_pool_take(struct writ_http_client *client, const struct writ_http_call *call)
{
    struct writ_http_conn *conn;

    while ((conn = TAILQ_FIRST(&client->idle)) != NULL && is_fresh(conn, call)) {
        if (writ_socket_peek(conn->socket) == WRIT_SOCKET_AGAIN) {
            return conn;
        }
        writ_http_conn_close(conn);
    }
    return NULL;
}

/* ---- connecting */

/* a connection attempt failed: it was for the call that waits longest, unless another one comes */
static void
fail_oldest(struct writ_http_client *client, enum writ_http_reason reason, const char *detail)
{
    if (client->stats.waiting > client->stats.connecting) {
        writ_http_call_end(TAILQ_FIRST(&client->waiting), reason, detail);
    }
}

static void
dial_done(void *ctx, struct writ_dial *dial, const struct writ_dial_result *result)
{
    struct writ_http_dialing *dialing = ctx;
    struct writ_http_client *client = dialing->client;
    struct writ_http_conn *conn;

    (void)dial;
    TAILQ_REMOVE(&client->dialing, dialing, link);
    client->stats.connecting--;
    writ_free(dialing);
    if (result->reason != WRIT_HTTP_OK) {
        client->addresses_until_us = 0; /* ask again: it may have moved */
        fail_oldest(client, result->reason, result->detail);
        return;
    }
    client->address_first = result->index;
    conn = writ_http_conn_new(client, result->socket);
    if (conn == NULL) {
        writ_socket_close(result->socket);
        fail_oldest(client, WRIT_HTTP_NO_RESOURCES, "no memory for a connection");
        return;
    }
    writ_http_conn_rest(conn); /* for a moment: dispatch takes it */
    writ_http_pool_dispatch(client);
}

static bool
dial_one(struct writ_http_client *client)
{
    struct writ_http_dialing *dialing = writ_alloc(sizeof *dialing);

    if (dialing == NULL) {
        return false;
    }
    dialing->client = client;
    dialing->dial =
        writ_dial_start(client->loop, &client->addresses, client->address_first, client->tls,
            writ_loop_now_us(client->loop) + client->options.connect_us, dial_done, dialing);
    if (dialing->dial == NULL) {
        writ_free(dialing);
        return false;
    }
    TAILQ_INSERT_TAIL(&client->dialing, dialing, link);
    client->stats.connecting++;
    return true;
}

/* ---- addresses */

static void
resolved(void *ctx, const struct writ_addresses *found, const char *fault)
{
    struct writ_http_client *client = ctx;

    client->question = NULL;
    if (found->count == 0) {
        while (!TAILQ_EMPTY(&client->waiting)) {
            writ_http_call_end(TAILQ_FIRST(&client->waiting), WRIT_HTTP_RESOLVE_FAILED, fault);
        }
        return;
    }
    client->addresses = *found;
    client->address_first = 0;
    client->addresses_until_us = writ_http_parts_after(client, client->options.address_us);
    writ_http_pool_dispatch(client);
}

/* true when the addresses may be used now; else they are asked for */
static bool
has_addresses(struct writ_http_client *client)
{
    writ_result r;

    if (writ_loop_now_us(client->loop) < client->addresses_until_us) {
        return true;
    }
    if (writ_resolver_numeric(
            writ_view_str(client->origin.host), client->origin.port, &client->addresses)) {
        client->address_first = 0;
        client->addresses_until_us = WRIT_HTTP_NEVER_US;
        return true;
    }
    if (client->question == NULL) {
        r = writ_resolver_ask(client->resolver, client->loop, writ_view_str(client->origin.host),
            client->origin.port, resolved, client, &client->question);
        if (!writ_is_ok(r)) {
            fail_oldest(client, WRIT_HTTP_NO_RESOURCES, "the resolver takes no question");
        }
    }
    return false;
}

/* In the order in which they wait; one for which no idle connection is fresh enough keeps none from
 * the others. */
static void
attach_idle(struct writ_http_client *client)
{
    struct writ_http_call *call = TAILQ_FIRST(&client->waiting), *next;

    for (; call != NULL && !TAILQ_EMPTY(&client->idle); call = next) {
        struct writ_http_conn *conn = writ_http_pool_take(client, call);
        next = TAILQ_NEXT(call, link);
        if (conn != NULL) {
            writ_http_conn_attach(conn, call);
        }
    }
}

/* For one more connection. Idle ones that are good enough for no call that waits make room. */
static bool
has_room(struct writ_http_client *client)
{
    size_t most = client->options.connections_max + client->endless;

    while (client->stats.open + client->stats.connecting >= most && !TAILQ_EMPTY(&client->idle)) {
        writ_http_conn_close(TAILQ_LAST(&client->idle, writ_http_conns));
    }
    return client->stats.open + client->stats.connecting < most;
}

void
writ_http_pool_dispatch(struct writ_http_client *client)
{
    attach_idle(client);
    while (client->stats.waiting > client->stats.connecting && has_room(client) &&
           has_addresses(client)) {
        if (!dial_one(client)) {
            fail_oldest(client, WRIT_HTTP_NO_RESOURCES, "no memory to connect");
        }
    }
}

void
writ_http_pool_close(struct writ_http_client *client)
{
    struct writ_http_dialing *dialing;

    if (client->question != NULL) {
        writ_resolver_forget(client->question);
    }
    while ((dialing = TAILQ_FIRST(&client->dialing)) != NULL) {
        TAILQ_REMOVE(&client->dialing, dialing, link);
        writ_dial_cancel(dialing->dial);
        writ_free(dialing);
    }
}
