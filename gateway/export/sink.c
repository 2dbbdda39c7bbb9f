/* The kind of a sink follows from its URL alone. */
#include "gateway/export/sink.h"

#include "base/backlog.h"
#include "base/text.h"
#include "evidence/event/syslog.h"
#include "gateway/http/fetch.h"
#include "store/trusted/trusted.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define EVENT_MAX   ((size_t)8 << 20) /* one encoded event */
#define ANSWER_MAX  65536
#define TOKEN_MAX   8192
#define STATUS_GOOD 200
#define STATUS_REST 300

enum kind { STANDARD_OUTPUT, COLLECTOR, SYSLOG };

struct writ_sink {
    struct writ_sink_options options;
    enum kind kind;
    struct writ_syslog_place place;
    char host[WRIT_SYSLOG_HOST_MAX + 1]; /* of this machine */
};

static WRIT_RESULT
check_options(const struct writ_sink *sink, struct writ_err *err)
{
    const struct writ_sink_options *o = &sink->options;
    bool is_plain = sink->kind == STANDARD_OUTPUT || (sink->kind == SYSLOG && !sink->place.tls);

    if (o->token != NULL && sink->kind != COLLECTOR) {
        WRIT_FAIL(err, WRIT_E_INVALID, "a token is for an https collector");
    }
    if (is_plain && (o->ca != NULL || o->cert != NULL || o->key != NULL)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "ca, cert and key are for TLS");
    }
    if (o->plain_close && (sink->kind != SYSLOG || is_plain)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "a plain close is for syslog+tls");
    }
    if ((o->cert == NULL) != (o->key == NULL)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "a client certificate needs both cert and key");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_sink_open(
    const struct writ_sink_options *options, struct writ_sink **ret, struct writ_err *err)
{
    struct writ_sink *sink = writ_alloc(sizeof *sink);
    writ_result result = WRIT_DONE;

    if (sink == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for an export");
    }
    sink->options = *options;
    if (options->to == NULL) {
        sink->kind = STANDARD_OUTPUT;
    } else if (writ_syslog_stream_is_url(writ_view_str(options->to))) {
        sink->kind = SYSLOG;
        result = writ_syslog_stream_place(options->to, &sink->place, err);
        sink->place.ca = options->ca;
        sink->place.cert = options->cert;
        sink->place.key = options->key;
        sink->place.plain_close = options->plain_close;
        (void)gethostname(sink->host, sizeof sink->host - 1);
    } else {
        sink->kind = COLLECTOR;
        result = writ_fetch_check(options->to, err);
    }
    if (writ_is_ok(result)) {
        result = check_options(sink, err);
    }
    if (!writ_is_ok(result)) {
        writ_sink_close(sink);
        return result;
    }
    *ret = sink;
    return WRIT_DONE;
}

void
writ_sink_close(struct writ_sink *sink)
{
    if (sink != NULL) {
        writ_free(sink);
    }
}

WRIT_RESULT
writ_sink_encode(const struct writ_sink *sink, const struct writ_export_event *event,
    struct writ_buf *batch, struct writ_err *err)
{
    writ_auto_buf encoded = writ_buf_make(EVENT_MAX);

    WRIT_TRY(writ_export_format_put(sink->options.format, event, &encoded, err));
    if (sink->kind == SYSLOG) {
        return writ_syslog_put(
            event, writ_view_str(sink->host), writ_buf_view(&encoded), batch, err);
    }
    writ_buf_put(batch, writ_buf_view(&encoded));
    writ_buf_byte(batch, '\n');
    return writ_buf_check(batch, err);
}

/* ---- delivering */

/* The field Authorization, NUL-terminated. */
static WRIT_RESULT
read_token(const struct writ_sink *sink, struct writ_buf *ret, struct writ_err *err)
{
    const char *scheme = sink->options.scheme;
    struct writ_buf secret = writ_buf_make(TOKEN_MAX);
    writ_result result = writ_trusted_load(sink->options.token, WRIT_TRUSTED_PRIVATE, &secret, err);
    struct writ_view token = writ_buf_view(&secret);

    token = writ_view_sub(token, 0, writ_view_find(token, '\n'));
    if (writ_is_ok(result) && (token.len == 0 || !writ_text_is_field(token))) {
        result = writ_fail(
            err, WRIT_E_INVALID, "%s does not hold a token in its first line", sink->options.token);
    }
    writ_buf_str(ret, "Authorization: ");
    writ_buf_str(ret, scheme != NULL ? scheme : "Bearer");
    writ_buf_byte(ret, ' ');
    writ_buf_put(ret, token);
    writ_buf_byte(ret, '\0');
    writ_buf_wipe_secret(&secret);
    WRIT_TRY(result);
    return writ_buf_check(ret, err);
}

static WRIT_RESULT
post(const struct writ_sink *sink, const char *body, const char *authorization,
    const atomic_bool *stop, struct writ_err *err)
{
    writ_auto_buf answer = writ_buf_make(ANSWER_MAX);
    char memory[128];
    struct writ_buf type = writ_buf_over(memory, sizeof memory);
    struct writ_fetch_request request = {.accept = "Accept: */*",
        .body = body,
        .type = memory,
        .authorization = authorization,
        .ca_file = sink->options.ca,
        .cert_file = sink->options.cert,
        .key_file = sink->options.key};
    const char *url = sink->options.to;
    long status = 0;

    writ_buf_str(&type, "Content-Type: ");
    writ_buf_str(&type, writ_export_format_type(sink->options.format));
    writ_buf_byte(&type, '\0');
    WRIT_TRY(writ_buf_check(&type, err));
    WRIT_TRY(writ_fetch_ask(url, &request, WRIT_SINK_TIMEOUT_MS, stop, &status, &answer, err));
    if (status < STATUS_GOOD || status >= STATUS_REST) {
        WRIT_FAIL(err, WRIT_E_IO, WRIT_FETCH_FMT ": answers with status %ld",
            WRIT_FETCH_POST_ARG(url), status);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
deliver_to_collector(const struct writ_sink *sink, struct writ_buf *batch, const atomic_bool *stop,
    struct writ_err *err)
{
    struct writ_buf authorization = writ_buf_make(TOKEN_MAX);
    writ_result result = WRIT_DONE;
    size_t len = batch->len;

    if (sink->options.token != NULL) {
        result = read_token(sink, &authorization, err);
    }
    writ_buf_byte(batch, '\0');
    if (writ_is_ok(result)) {
        result = writ_buf_check(batch, err);
    }
    if (writ_is_ok(result)) {
        result = post(
            sink, batch->ptr, sink->options.token != NULL ? authorization.ptr : NULL, stop, err);
    }
    writ_buf_cut(batch, len);
    writ_buf_wipe_secret(&authorization);
    return result;
}

WRIT_RESULT
writ_sink_deliver(
    struct writ_sink *sink, struct writ_buf *batch, const atomic_bool *stop, struct writ_err *err)
{
    switch (sink->kind) {
    case COLLECTOR:
        return deliver_to_collector(sink, batch, stop, err);
    case SYSLOG:
        return writ_syslog_stream_send(&sink->place, writ_buf_view(batch), stop, err);
    case STANDARD_OUTPUT:
        break;
    }
    if (!writ_backlog_write(STDOUT_FILENO, writ_buf_view(batch))) {
        WRIT_FAIL(err, WRIT_E_IO, "standard output: %s", strerrordesc_np(errno));
    }
    return WRIT_DONE;
}
