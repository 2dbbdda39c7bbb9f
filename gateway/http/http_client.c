/* http_client.c - gives waiting calls an idle connection that is fresh enough, and dials for the
 * rest, never for more than connections_max. The invariants are in http_parts.h, a call's states in
 * http_call.c, one connection in http_conn.c. */
#include "gateway/http/http_client.h"

#include "gateway/http/dial.h"
#include "gateway/http/http_call.h"
#include "gateway/http/http_conn.h"
#include "gateway/io/unix_socket.h"

#define CONNECTIONS_DEFAULT 256
#define WAITING_DEFAULT     1024
#define CONNECT_US_DEFAULT  (INT64_C(5) * 1000 * 1000)
#define KEEP_US_DEFAULT     (INT64_C(4) * 1000 * 1000)
#define ADDRESS_US_DEFAULT  (INT64_C(30) * 1000 * 1000)

struct writ_http_dialing {
    struct writ_http_client *client;
    struct writ_dial *dial;
    TAILQ_ENTRY(writ_http_dialing) link;
};

static void dispatch(struct writ_http_client *client);

/* ---- idle connections */

static bool
is_fresh(const struct writ_http_conn *conn, const struct writ_http_call *call)
{
    return call->fresh_us == 0 ||
           writ_loop_now_us(conn->client->loop) - conn->rested_us <= call->fresh_us;
}

/* The idle connection that was used last and seems alive, for a call; it stays in the list of idle
 * ones until it is attached. NULL: none is fresh enough. */
static struct writ_http_conn *
take_idle(struct writ_http_client *client, const struct writ_http_call *call)
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

/* a connection attempt failed: ends the call that waits longest, unless another attempt is open */
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
        if (client->options.socket_path == NULL) {
            client->addresses_until_us = 0; /* resolve again: the addresses may have changed */
        }
        fail_oldest(client, result->reason, result->detail);
        return;
    }
    if (client->options.socket_path != NULL &&
        !writ_unix_socket_is_ours(writ_socket_fd(result->socket))) {
        writ_socket_close(result->socket);
        fail_oldest(client, WRIT_HTTP_CONNECT_FAILED, "the socket is another user's");
        return;
    }
    client->address_first = result->index;
    conn = writ_http_conn_new(client, result->socket);
    if (conn == NULL) {
        writ_socket_close(result->socket);
        fail_oldest(client, WRIT_HTTP_NO_RESOURCES, "no memory for a connection");
        return;
    }
    writ_http_conn_rest(conn); /* briefly: dispatch takes it */
    dispatch(client);
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
    dispatch(client);
}

/* true when the addresses are valid now; else requests them */
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

/* In the order in which they wait; a call without a fresh enough connection does not block the
 * later ones. */
static void
attach_idle(struct writ_http_client *client)
{
    struct writ_http_call *call = TAILQ_FIRST(&client->waiting), *next;

    for (; call != NULL && !TAILQ_EMPTY(&client->idle); call = next) {
        struct writ_http_conn *conn = take_idle(client, call);
        next = TAILQ_NEXT(call, link);
        if (conn != NULL) {
            writ_http_conn_attach(conn, call);
        }
    }
}

/* Whether one more connection is allowed. Closes idle ones that suit no waiting call. */
static bool
has_room(struct writ_http_client *client)
{
    size_t most = client->options.connections_max + client->endless;

    while (client->stats.open + client->stats.connecting >= most && !TAILQ_EMPTY(&client->idle)) {
        writ_http_conn_close(TAILQ_LAST(&client->idle, writ_http_conns));
    }
    return client->stats.open + client->stats.connecting < most;
}

/* Gives idle connections to calls that wait, and connects for the rest, up to connections_max. */
static void
dispatch(struct writ_http_client *client)
{
    attach_idle(client);
    while (client->stats.waiting > client->stats.connecting && has_room(client) &&
           has_addresses(client)) {
        if (!dial_one(client)) {
            fail_oldest(client, WRIT_HTTP_NO_RESOURCES, "no memory to connect");
        }
    }
}

/* Gives up asking for addresses and connecting. */
static void
stop_connecting(struct writ_http_client *client)
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

/* ---- ends */

/* calls and connections that ended are freed only here: keeps (1) and (3) */
static void
finish(struct writ_task *task)
{
    struct writ_http_client *client = task->ctx;
    struct writ_http_call *call;
    struct writ_http_conn *conn;

    while ((call = TAILQ_FIRST(&client->ended)) != NULL) {
        TAILQ_REMOVE(&client->ended, call, link);
        call->handler->on_end(call->ctx, call, &call->end);
        writ_http_call_recycle(call);
    }
    while ((conn = TAILQ_FIRST(&client->doomed)) != NULL) {
        TAILQ_REMOVE(&client->doomed, conn, link);
        writ_http_conn_free(conn);
    }
    if (!client->closing) {
        dispatch(client); /* closed connections made room */
    }
}

/* ---- calls */

writ_result
writ_http_client_send(struct writ_http_client *client, const struct writ_http_request *request,
    const struct writ_http_handler *handler, void *ctx, struct writ_http_call **ret,
    struct writ_err *err)
{
    struct writ_http_call *call;
    struct writ_http_conn *conn;
    writ_result r;

    if (client->stats.waiting >= client->options.waiting_max || client->closing) {
        WRIT_FAIL(err, WRIT_E_BUSY, "%zu calls wait for a connection to %s", client->stats.waiting,
            client->origin.field);
    }
    call = writ_http_call_take(client);
    if (call == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a call");
    }
    r = writ_http_call_prepare(call, request, handler, ctx, err);
    if (!writ_is_ok(r)) {
        writ_http_call_recycle(call);
        return r;
    }
    client->endless += call->endless ? 1 : 0;
    *ret = call;
    conn = TAILQ_EMPTY(&client->waiting) ? take_idle(client, call) : NULL;
    if (conn != NULL) {
        writ_http_conn_attach(conn, call);
    } else {
        writ_http_call_wait(call);
        dispatch(client);
    }
    return WRIT_DONE;
}

void
writ_http_client_pause(struct writ_http_call *call)
{
    call->paused = true;
    if (call->state == WRIT_HTTP_CALL_BUSY) {
        writ_http_response_pause(call->response);
    }
}

void
writ_http_client_resume(struct writ_http_call *call)
{
    if (!call->paused) {
        return;
    }
    call->paused = false;
    if (call->state == WRIT_HTTP_CALL_BUSY) {
        writ_http_conn_resume(call->conn);
    }
}

void
writ_http_client_cancel(struct writ_http_call *call)
{
    struct writ_http_conn *conn = call->conn;

    writ_http_call_end(call, WRIT_HTTP_CANCELLED, NULL);
    if (conn != NULL) {
        writ_http_conn_close(conn);
    }
}

bool
writ_http_client_is_sent(const struct writ_http_call *call)
{
    return call->sent;
}

struct writ_http_stats
writ_http_client_stats(const struct writ_http_client *client)
{
    return client->stats;
}

/* ---- life */

static void
set_defaults(struct writ_http_options *options)
{
    options->connections_max =
        options->connections_max > 0 ? options->connections_max : CONNECTIONS_DEFAULT;
    options->idle_max = options->idle_max > 0 ? options->idle_max : options->connections_max;
    options->waiting_max = options->waiting_max > 0 ? options->waiting_max : WAITING_DEFAULT;
    options->connect_us = options->connect_us > 0 ? options->connect_us : CONNECT_US_DEFAULT;
    options->keep_us = options->keep_us > 0 ? options->keep_us : KEEP_US_DEFAULT;
    options->address_us = options->address_us > 0 ? options->address_us : ADDRESS_US_DEFAULT;
}

static WRIT_RESULT
open_tls(struct writ_http_client *client, struct writ_err *err)
{
    struct writ_addresses numeric;
    struct writ_tls_options options = {
        .host = client->origin.host,
        .host_is_address = writ_resolver_numeric(writ_view_str(client->origin.host), 0, &numeric),
        .ca_file = client->options.ca_file,
        .cert_file = client->options.cert_file,
        .key_file = client->options.key_file,
    };

    return client->origin.secure ? writ_tls_open(&options, &client->tls, err) : WRIT_DONE;
}

/* Its address does not change. */
static WRIT_RESULT
take_socket_path(struct writ_http_client *client, struct writ_err *err)
{
    struct writ_address *address = &client->addresses.list[0];

    if (client->options.socket_path == NULL) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_unix_socket_address(
        writ_view_str(client->options.socket_path), (struct sockaddr_un *)&address->sock, err));
    address->len = sizeof(struct sockaddr_un);
    client->addresses.count = 1;
    client->addresses_until_us = WRIT_HTTP_NEVER_US;
    return WRIT_DONE;
}

writ_result
writ_http_client_open(struct writ_loop *loop, struct writ_resolver *resolver,
    const struct writ_http_options *options, struct writ_http_client **ret, struct writ_err *err)
{
    struct writ_http_origin origin;
    struct writ_http_client *client;
    writ_result r;

    WRIT_TRY(writ_http_request_origin(options->url, &origin, err));
    client = writ_alloc(sizeof *client);
    if (client == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for an HTTP client");
    }
    client->loop = loop;
    client->resolver = resolver;
    client->options = *options;
    client->origin = origin;
    set_defaults(&client->options);
    client->finish_task = (struct writ_task){.fn = finish, .ctx = client};
    TAILQ_INIT(&client->conns);
    TAILQ_INIT(&client->doomed);
    TAILQ_INIT(&client->idle);
    TAILQ_INIT(&client->dialing);
    TAILQ_INIT(&client->waiting);
    TAILQ_INIT(&client->ended);
    TAILQ_INIT(&client->spare);
    r = take_socket_path(client, err);
    if (writ_is_ok(r)) {
        r = open_tls(client, err);
    }
    if (!writ_is_ok(r)) {
        writ_free(client);
        return r;
    }
    /* views that were borrowed for the call of open */
    client->options.url = WRIT_LIT("");
    client->options.ca_file = client->options.cert_file = client->options.key_file = NULL;
    *ret = client;
    return WRIT_DONE;
}

static void
end_calls(struct writ_http_client *client, enum writ_http_reason reason)
{
    struct writ_http_conn *conn;
    struct writ_http_call *call;

    while ((conn = TAILQ_FIRST(&client->conns)) != NULL) {
        writ_http_conn_fail(conn, reason, NULL);
    }
    while ((call = TAILQ_FIRST(&client->waiting)) != NULL) {
        writ_http_call_end(call, reason, NULL);
    }
}

void
writ_http_client_expire(struct writ_http_client *client)
{
    end_calls(client, WRIT_HTTP_TOTAL_TIMEOUT);
}

void
writ_http_client_close(struct writ_http_client *client)
{
    struct writ_http_call *call;

    if (client == NULL) {
        return;
    }
    client->closing = true;
    stop_connecting(client);
    end_calls(client, WRIT_HTTP_CANCELLED);
    writ_loop_undefer(&client->finish_task);
    finish(&client->finish_task);
    while ((call = TAILQ_FIRST(&client->spare)) != NULL) {
        TAILQ_REMOVE(&client->spare, call, link);
        writ_http_call_free(call);
    }
    writ_tls_close(client->tls);
    writ_free(client);
}
