/* intake.c
 *
 * Invariants:
 *  (1) between on_line and on_completed there is exactly one request; there is none outside.
 *  (2) a handler gets a request once, after every check and with its whole body; never from a
 *      connection that was cut before, whose bytes may still be in the socket.
 *  (3) an exchange that waits is not suspended at first. libmicrohttpd 0.9.75 reads from a
 *      connection that it resumes if it was reading when it was suspended, and takes the end of a
 *      half-closed client for the end of the connection; one that has waited a while is resumed
 *      without reading. A short wait then costs no epoll_ctl at all. */
#include "gateway/listener/intake.h"

#include "gateway/listener/certificate.h"
#include "gateway/listener/connection.h"
#include "gateway/listener/daemon.h"
#include "gateway/listener/incoming.h"
#include "gateway/listener/metrics.h"
#include "gateway/listener/mhd.h"
#include "gateway/listener/site.h"

#define WAIT_SUSPEND_US  50000 /* an exchange that waits longer has its connection suspended */
#define HOST_HINT        "Host: allow it with the option hosts (guard: --host)"
#define ORIGIN_HINT      "Origin: allow it with the option origins"
#define BODY_FIRST_BYTES 65536 /* most that is set aside on the word of Content-Length */
#define FIELDS_FIRST     16    /* most heads have fewer */
#define RECORD_BYTES     64    /* of libmicrohttpd for a field, a cookie or a part of the query */
#define ANSWER_BYTES     1536  /* of an answer's head besides our fields, and read beyond a head */

/* ---- the head */

static void *
on_line(void *cls, const char *uri, struct MHD_Connection *mhd)
{
    struct writ_connection *connection = writ_connection_of(mhd);
    const struct writ_listener_options *options = connection->daemon->acceptor->options;
    struct writ_incoming *request;

    (void)cls;
    WRIT_INVARIANT(connection->request == NULL); /* keeps (1) */
    if (connection->dead) {
        return NULL; /* on_access closes the connection. keeps (2) */
    }
    request = writ_incoming_new(connection);
    if (request == NULL) {
        return NULL;
    }
    connection->request = request;
    request->target_at = uri != NULL ? uri : "";
    writ_buf_str(&request->target, request->target_at);
    if (!writ_is_ok(writ_buf_check(&request->target, NULL))) {
        writ_incoming_free(request);
        return NULL; /* on_access closes the connection */
    }
    if (connection->phase == WRIT_CONNECTION_FRESH) {
        connection->phase = WRIT_CONNECTION_HEAD; /* its time runs since the connection came */
    } else {
        writ_connection_set_phase(connection, WRIT_CONNECTION_HEAD, options->head_timeout_ms);
    }
    return request;
}

/* Room for twice as many fields; false: no memory. */
static bool
grow(struct writ_incoming *request)
{
    size_t room = request->header_room == 0 ? FIELDS_FIRST : request->header_room * 2;
    struct writ_header *headers = writ_realloc(request->headers, room * sizeof *headers);

    if (headers == NULL) {
        return false;
    }
    request->headers = headers;
    request->header_room = room;
    return true;
}

static enum MHD_Result
note_field(void *cls, enum MHD_ValueKind kind, const char *name, size_t name_len, const char *value,
    size_t value_len)
{
    struct writ_incoming *request = cls;

    (void)kind;
    if (request->header_count < WRIT_FRAMING_FIELDS_MAX) {
        if (request->header_count == request->header_room && !grow(request)) {
            request->failed = true;
            return MHD_NO;
        }
        request->headers[request->header_count] =
            (struct writ_header){writ_view(name, name_len), writ_view(value, value_len)};
    }
    request->header_count++;
    return MHD_YES;
}

/* Copies the fields from libmicrohttpd's memory, which ends with the connection. */
static bool
keep_fields(struct writ_incoming *request)
{
    struct writ_buf *head = &request->head;
    size_t bytes = 0, at = 0;

    for (size_t i = 0; i < request->header_count; i++) {
        struct writ_header *field = &request->headers[i];
        field->value = writ_view_trim(field->value);
        writ_buf_put(head, field->name);
        writ_buf_put(head, field->value);
        bytes += field->name.len + field->value.len;
    }
    if (!writ_is_ok(writ_buf_check(head, NULL)) || head->len != bytes) {
        return false;
    }
    for (size_t i = 0; i < request->header_count; i++) {
        struct writ_header *field = &request->headers[i];
        field->name = writ_view_sub(writ_buf_view(head), at, field->name.len);
        at += field->name.len;
        field->value = writ_view_sub(writ_buf_view(head), at, field->value.len);
        at += field->value.len;
    }
    return true;
}

/* Whether libmicrohttpd has memory left for the head of any answer; without, it closes the
 * connection, and what was done for the request stays unanswered. It copies the field Cookie.
 * `trailer`: bytes of the fields after the body. */
static bool
has_room(struct writ_incoming *request, size_t trailer)
{
    struct MHD_Connection *mhd = request->connection->mhd;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    const char *cookie = MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, "Cookie");
    int records = MHD_get_connection_values(mhd,
        MHD_HEADER_KIND | MHD_COOKIE_KIND | MHD_GET_ARGUMENT_KIND | MHD_FOOTER_KIND, NULL, NULL);
    size_t taken = (info != NULL ? info->header_size : 0) + (size_t)records * RECORD_BYTES +
                   (cookie != NULL ? writ_view_str(cookie).len : 0) + trailer;

    return info != NULL && taken + WRIT_INCOMING_ANSWER_HEAD_MAX + ANSWER_BYTES <=
                               writ_daemon_memory(request->acceptor->options);
}

static enum MHD_Result
refuse_crowded(struct writ_incoming *request)
{
    static const struct writ_framing_fault crowded = {
        431, WRIT_REASON_HEAD_TOO_LARGE, "its fields and cookies leave no room for an answer"};

    writ_connection_refuse(request->connection, &crowded, "431 Request Header Fields Too Large");
    return MHD_NO;
}

static writ_result
read_head(struct writ_incoming *request, const char *method, const char *version,
    struct writ_framing *ret, struct writ_framing_fault *fault)
{
    const struct writ_listener_options *options = request->acceptor->options;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->connection->mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    struct writ_framing_head head = {
        .method = writ_view_str(method),
        .target = writ_view(request->target_at, request->target.len),
        .version = writ_view_str(version),
    };

    (void)MHD_get_connection_values_n(
        request->connection->mhd, MHD_HEADER_KIND, note_field, request);
    if (request->failed) {
        return (writ_result){WRIT_E_NOMEM};
    }
    if (info == NULL || info->header_size > options->max_head_bytes ||
        request->header_count > WRIT_FRAMING_FIELDS_MAX) {
        request->header_count = 0;
        *fault = (struct writ_framing_fault){431, WRIT_REASON_HEAD_TOO_LARGE, NULL};
        return (writ_result){WRIT_E_INVALID};
    }
    head.headers = request->headers;
    head.count = request->header_count;
    request->raw = writ_view(method, info->header_size);
    if (!writ_mhd_is_strict(request->raw, &head)) {
        *fault = (struct writ_framing_fault){400, WRIT_REASON_MALFORMED_HEAD,
            "a bare LF, a folded line, NUL or white space where none may be"};
        return (writ_result){WRIT_E_INVALID};
    }
    head.target = writ_buf_view(&request->target); /* in the other copy a NUL replaces the '?' */
    return writ_framing_read(&head, ret, fault);
}

/* ---- what is asked for */

static const char *
allow_text(unsigned methods)
{
    static const char *const texts[16] = {"", "GET", "POST", "GET, POST", "DELETE", "GET, DELETE",
        "POST, DELETE", "GET, POST, DELETE", "OPTIONS", "GET, OPTIONS", "POST, OPTIONS",
        "GET, POST, OPTIONS", "DELETE, OPTIONS", "GET, DELETE, OPTIONS", "POST, DELETE, OPTIONS",
        "GET, POST, DELETE, OPTIONS"};

    return texts[(methods >> WRIT_METHOD_GET) & 15];
}

#define REFUSE(fault, status, why, detail)                                                         \
    do {                                                                                           \
        *(fault) = (struct writ_framing_fault){(status), WRIT_REASON_##why, (detail)};             \
        return false;                                                                              \
    } while (0)

static bool
check_caller(struct writ_incoming *request, const struct writ_framing *framing,
    struct writ_framing_fault *fault)
{
    struct writ_connection *connection = request->connection;
    const struct writ_site *site = request->acceptor->site;

    if (connection->peer.tls && !writ_certificate_check(connection)) {
        REFUSE(fault, 403, CERTIFICATE_REQUIRED, NULL);
    }
    request->route = writ_site_route(site, framing->path);
    if (!writ_site_host_allowed(
            site, framing->host, connection->local, connection->peer.loopback)) {
        REFUSE(fault, 403, FORBIDDEN_ORIGIN, HOST_HINT);
    }
    if (request->route != NULL && request->route->any_origin) {
        return true;
    }
    if (framing->origin.ptr != NULL && !writ_site_origin_allowed(site, framing->origin,
                                           connection->local, connection->peer.loopback)) {
        REFUSE(fault, 403, FORBIDDEN_ORIGIN, ORIGIN_HINT);
    }
    return true;
}

static bool
check_route(struct writ_incoming *request, const struct writ_framing *framing,
    struct writ_framing_fault *fault, const char **ret_allow)
{
    const struct writ_route *route = request->route;
    struct writ_acceptor *acceptor = request->acceptor;
    bool post = framing->method == WRIT_METHOD_POST;

    if (route == NULL) {
        REFUSE(fault, 404, PATH_UNKNOWN, NULL);
    }
    if (framing->method == WRIT_METHOD_NONE || (route->methods & (1U << framing->method)) == 0) {
        *ret_allow = allow_text(route->methods);
        REFUSE(fault, 405, METHOD_NOT_ALLOWED, NULL);
    }
    if (framing->content_encoding.ptr != NULL &&
        !writ_view_equal_nocase(framing->content_encoding, WRIT_LIT("identity"))) {
        REFUSE(fault, 415, MEDIA_TYPE_UNSUPPORTED, "Content-Encoding");
    }
    if (post && route->json && !writ_framing_is_json(framing->content_type)) {
        REFUSE(fault, 415, MEDIA_TYPE_UNSUPPORTED, "Content-Type");
    }
    if (framing->content_length > route->max_body_bytes ||
        (framing->chunked && route->max_body_bytes == 0)) {
        REFUSE(fault, 413, REQUEST_TOO_LARGE, NULL);
    }
    if (acceptor->exchanges >= acceptor->options->max_exchanges) {
        REFUSE(fault, 503, OVERLOADED, NULL);
    }
    return true;
}

static void
fill_exchange(struct writ_incoming *request, const struct writ_framing *framing)
{
    struct writ_exchange *x = &request->x;

    x->method = framing->method;
    x->path = framing->path;
    x->query = framing->query;
    if (request->route->prefix) {
        x->suffix = writ_view_sub(framing->path, request->route->path.len, framing->path.len);
    }
    x->http_1_0 = framing->http_1_0;
    x->arrived_us = writ_loop_now_us(x->loop);
    request->body.max = request->route->max_body_bytes;
    if (framing->content_length > 0 && framing->content_length <= BODY_FIRST_BYTES) {
        (void)writ_buf_reserve(&request->body, (size_t)framing->content_length);
    }
}

static enum MHD_Result
begin(struct writ_incoming *request, const char *method, const char *version)
{
    const struct writ_listener_options *options = request->acceptor->options;
    struct writ_framing framing = {0};
    struct writ_framing_fault fault = {0};
    const char *allow = NULL;

    if (!has_room(request, 0)) {
        return refuse_crowded(request);
    }
    if (!writ_is_ok(read_head(request, method, version, &framing, &fault)) ||
        !check_caller(request, &framing, &fault) ||
        !check_route(request, &framing, &fault, &allow)) {
        if (request->failed) {
            return MHD_NO; /* no memory */
        }
        writ_incoming_refuse(request, &fault, allow);
        return request->failed ? MHD_NO : MHD_YES;
    }
    fill_exchange(request, &framing);
    if (!keep_fields(request)) {
        return MHD_NO; /* no memory */
    }
    request->state = WRIT_INCOMING_BODY;
    writ_connection_set_phase(request->connection, WRIT_CONNECTION_BODY, options->body_timeout_ms);
    return MHD_YES;
}

/* ---- the body */

static enum MHD_Result
take_body(struct writ_incoming *request, const char *data, size_t *data_len)
{
    static const struct writ_framing_fault large = {413, WRIT_REASON_REQUEST_TOO_LARGE, NULL};
    static const struct writ_framing_fault full = {503, WRIT_REASON_OVERLOADED, NULL};
    struct writ_acceptor *acceptor = request->acceptor;

    if (*data_len > acceptor->options->max_bodies_bytes - acceptor->bodies_bytes) {
        writ_connection_refuse(request->connection, &full, "503 Service Unavailable");
        return MHD_NO;
    }
    writ_buf_put(&request->body, writ_view(data, *data_len));
    if (request->body.failed == WRIT_E_LIMIT) {
        writ_connection_refuse(request->connection, &large, "413 Content Too Large");
    }
    if (!writ_is_ok(writ_buf_check(&request->body, NULL))) {
        return MHD_NO;
    }
    acceptor->bodies_bytes += *data_len;
    *data_len = 0;
    /* the rest may be in the socket already, and its edge has been consumed */
    writ_daemon_poke(request->connection->daemon, 1);
    return MHD_YES;
}

struct trailers {
    struct writ_view head; /* where the head is */
    bool harmless;
    bool any;
    size_t bytes;
};

static enum MHD_Result
check_trailer(void *cls, enum MHD_ValueKind kind, const char *name, size_t name_len,
    const char *value, size_t value_len)
{
    struct trailers *trailers = cls;

    (void)kind;
    trailers->any = true;
    trailers->bytes += name_len + value_len + 4; /* with ": " and the end of the line */
    if (!writ_mhd_is_trailer(trailers->head, name)) {
        return MHD_YES;
    }
    trailers->harmless = trailers->harmless &&
                         writ_framing_is_harmless_trailer(writ_view(name, name_len)) &&
                         writ_framing_is_value(writ_view(value, value_len));
    return MHD_YES;
}

/* keeps (2) */
static enum MHD_Result
open_exchange(struct writ_incoming *request)
{
    static const struct writ_framing_fault trailer = {
        400, WRIT_REASON_MALFORMED_HEAD, "a trailer field that may not be one"};
    struct writ_connection *connection = request->connection;
    struct writ_acceptor *acceptor = request->acceptor;
    struct trailers trailers = {request->raw, true, false, 0};

    (void)MHD_get_connection_values_n(connection->mhd, MHD_FOOTER_KIND, check_trailer, &trailers);
    if (trailers.any && !has_room(request, trailers.bytes)) {
        return refuse_crowded(request);
    }
    if (!trailers.harmless) {
        writ_incoming_refuse(request, &trailer, NULL);
        return request->failed ? MHD_NO : MHD_YES;
    }
    if (trailers.any) {
        /* libmicrohttpd 0.9.75 ends a trailer at a line that begins with ':', and leaves no trace
         * of it: the rest may not be a request, so it is not read */
        connection->refused = true;
    }
    request->x.body = writ_buf_view(&request->body);
    request->state = WRIT_INCOMING_OPEN;
    writ_connection_set_phase(connection, WRIT_CONNECTION_OPEN, 0);
    connection->probe_after_us = -1;
    writ_incoming_count(acceptor, 1);
    writ_metrics_count(acceptor->metrics, WRIT_COUNTER_REQUESTS, 1);
    writ_metrics_count(acceptor->metrics, WRIT_COUNTER_REQUEST_BYTES, request->body.len);
    request->waiting = true;
    connection->daemon->waiting++;
    request->route->handler(&request->x, request->route->ctx);
    return request->failed ? MHD_NO : MHD_YES;
}

/* libmicrohttpd requests an answer again. keeps (3) */
static enum MHD_Result
wait_more(struct writ_incoming *request)
{
    struct writ_connection *connection = request->connection;
    int64_t waited = writ_loop_now_us(request->acceptor->loop) - request->x.arrived_us;

    if (request->waiting &&
        (connection->daemon->certificate != NULL || waited >= WAIT_SUSPEND_US)) {
        request->waiting = false;
        connection->daemon->waiting--;
        connection->suspended = true;
        MHD_suspend_connection(connection->mhd);
    }
    return MHD_YES;
}

/* ---- libmicrohttpd's callbacks */

static enum MHD_Result
on_access(void *cls, struct MHD_Connection *mhd, const char *url, const char *method,
    const char *version, const char *data, size_t *data_len, void **ctx)
{
    struct writ_incoming *request = *ctx;

    (void)cls;
    (void)mhd;
    (void)url;
    if (request == NULL || request->failed) {
        return MHD_NO; /* there was no memory for it, or it was cut */
    }
    switch (request->state) {
    case WRIT_INCOMING_HEAD:
        return begin(request, method, version);
    case WRIT_INCOMING_BODY:
        return *data_len > 0 ? take_body(request, data, data_len) : open_exchange(request);
    case WRIT_INCOMING_OPEN:
    case WRIT_INCOMING_STREAM:
    case WRIT_INCOMING_ANSWERED:
        return wait_more(request);
    }
    return MHD_NO;
}

/* libmicrohttpd could not continue reading, and has closed the connection, possibly after an answer
 * of its own. */
static bool
was_unreadable(const struct writ_incoming *request, enum MHD_RequestTerminationCode code)
{
    return code == MHD_REQUEST_TERMINATED_WITH_ERROR && !request->failed &&
           !request->connection->refused &&
           (request->state == WRIT_INCOMING_HEAD || request->state == WRIT_INCOMING_BODY);
}

static void
on_completed(
    void *cls, struct MHD_Connection *mhd, void **ctx, enum MHD_RequestTerminationCode code)
{
    struct writ_incoming *request = *ctx;
    struct writ_connection *connection = writ_connection_of(mhd);
    const struct writ_listener_options *options = connection->daemon->acceptor->options;

    (void)cls;
    *ctx = NULL;
    writ_loop_timer_cancel(&connection->probe);
    connection->probe_after_us = -1;
    if (request != NULL && was_unreadable(request, code)) {
        writ_metrics_mark(connection->daemon->acceptor->metrics, WRIT_VECTOR_REFUSALS,
            WRIT_REASON_MALFORMED_HEAD);
    }
    if (code != MHD_REQUEST_TERMINATED_COMPLETED_OK && !connection->dead) {
        connection->refused = true; /* perhaps an answer of libmicrohttpd's own is under way */
    }
    writ_connection_set_phase(connection, WRIT_CONNECTION_IDLE, options->idle_timeout_ms);
    if (request != NULL) {
        writ_incoming_detach(request);
    }
}

const struct writ_daemon_callbacks writ_intake_callbacks = {
    .on_line = on_line,
    .on_access = on_access,
    .on_completed = on_completed,
    .on_notify = writ_connection_on_notify,
};
