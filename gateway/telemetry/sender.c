/* sender.c - posts over one kept connection. The file of fields is read for each body, so that a
 * new token needs no restart; its content never reaches an error. */
#include "gateway/telemetry/sender.h"

#include "base/text.h"
#include "gateway/http/fetch.h"
#include "policy/model/field.h"

#define URL_MAX      1100
#define RESPONSE_MAX (1U << 16)

/* Numbers of fields of the answer. */
enum { ANSWER_PARTIAL_SUCCESS = 1 };
enum { PARTIAL_REJECTED = 1 };

static const char *const paths[WRIT_OTLP_SIGNALS] = {
    [WRIT_OTLP_TRACES] = "/v1/traces",
    [WRIT_OTLP_LOGS] = "/v1/logs",
    [WRIT_OTLP_METRICS] = "/v1/metrics",
};

struct writ_sender {
    const struct writ_telemetry_config *config;
    struct writ_fetch_link *link;
    struct writ_buf urls[WRIT_OTLP_SIGNALS]; /* NUL-terminated */
};

static void
sender_freep(struct writ_sender **sender)
{
    writ_sender_free(*sender);
}

WRIT_RESULT
writ_sender_new(
    const struct writ_telemetry_config *config, struct writ_sender **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_sender *, sender_freep) sender = writ_alloc(sizeof *sender);

    if (sender == NULL || (sender->link = writ_fetch_link_new()) == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for telemetry");
    }
    sender->config = config;
    for (int i = 0; i < WRIT_OTLP_SIGNALS; i++) {
        sender->urls[i] = writ_buf_make(URL_MAX);
        writ_buf_put(&sender->urls[i], config->otlp);
        writ_buf_str(&sender->urls[i], paths[i]);
        writ_buf_byte(&sender->urls[i], '\0');
        WRIT_TRY(writ_buf_check(&sender->urls[i], err));
    }
    WRIT_TRY(writ_fetch_check(sender->urls[0].ptr, err));
    *ret = WRIT_TAKE(sender);
    return WRIT_DONE;
}

void
writ_sender_free(struct writ_sender *sender)
{
    if (sender != NULL) {
        for (int i = 0; i < WRIT_OTLP_SIGNALS; i++) {
            writ_buf_wipe(&sender->urls[i]);
        }
        writ_fetch_link_free(sender->link);
        writ_free(sender);
    }
}

/* ---- the file of fields */

/* Fields of its own, each NUL-terminated in the text of the file. */
struct fields {
    struct writ_buf text;
    const char *lines[WRIT_SENDER_FIELDS_MAX + 1]; /* NULL after the last */
    size_t n;
};

static void
fields_wipe(struct fields *fields)
{
    writ_buf_wipe_secret(&fields->text);
}

/* "Name: value", and no field of the message itself. */
static bool
is_field(struct writ_view line)
{
    size_t colon = writ_view_find(line, ':');
    struct writ_view name = writ_view_sub(line, 0, colon);

    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                c == '-' || c == '_')) {
            return false;
        }
    }
    return name.len > 0 && colon < line.len && writ_text_is_field(line) &&
           writ_view_trim(writ_view_sub(line, colon + 1, SIZE_MAX)).len > 0 &&
           writ_field_owner(name) == WRIT_FIELD_FREE;
}

/* Lines end with LF or CR LF; empty ones are passed over. */
static bool
split(struct fields *fields)
{
    size_t number = 0;

    for (size_t at = 0; at < fields->text.len; number++) {
        struct writ_view rest = writ_view_sub(writ_buf_view(&fields->text), at, SIZE_MAX);
        struct writ_view line = writ_view_sub(rest, 0, writ_view_find(rest, '\n'));

        at += line.len + 1;
        if (writ_view_has_suffix(line, WRIT_LIT("\r"))) {
            line.len--;
        }
        if (line.len == 0) {
            continue;
        }
        if (fields->n == WRIT_SENDER_FIELDS_MAX || !is_field(line)) {
            return false;
        }
        fields->lines[fields->n++] = line.ptr;
        fields->text.ptr[line.ptr - fields->text.ptr + (ptrdiff_t)line.len] = '\0';
    }
    return true;
}

static WRIT_RESULT
read_fields(const char *path, struct fields *ret, struct writ_err *err)
{
    WRIT_TRY(writ_text_file(path, WRIT_SENDER_FILE_MAX, &ret->text, err));
    writ_buf_byte(&ret->text, '\n'); /* the last line ends, too */
    WRIT_TRY(writ_buf_check(&ret->text, err));
    if (!split(ret)) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "%s: must have at most %d lines \"Name: value\", and no field that Writ sends itself",
            path, WRIT_SENDER_FIELDS_MAX);
    }
    return WRIT_DONE;
}

/* ---- the answer */

static bool
may_again(long status)
{
    return status == 429 || status == 502 || status == 503 || status == 504;
}

/* The last value of a field in a message; false without one, or when it is not a message. */
static bool
find(struct writ_view message, uint64_t number, enum writ_protobuf_wire wire,
    struct writ_protobuf_field *ret)
{
    struct writ_protobuf_field field;
    bool found = false;

    while (message.len > 0) {
        if (!writ_is_ok(writ_protobuf_read(&message, &field))) {
            return false;
        }
        if (field.number == number && field.wire == wire) {
            *ret = field;
            found = true;
        }
    }
    return found;
}

/* How many elements were not taken, as partial_success says. It has the same numbers for all
 * signals. */
static uint64_t
rejected(struct writ_view answer)
{
    struct writ_protobuf_field partial, count;

    return find(answer, ANSWER_PARTIAL_SUCCESS, WRIT_PROTOBUF_BYTES, &partial) &&
                   find(partial.bytes, PARTIAL_REJECTED, WRIT_PROTOBUF_VARINT, &count)
               ? count.value
               : 0;
}

WRIT_RESULT
writ_sender_send(struct writ_sender *sender, enum writ_otlp_signal signal, struct writ_view body,
    int64_t timeout_ms, const atomic_bool *stop, struct writ_sent *ret, struct writ_err *err)
{
    const struct writ_telemetry_config *config = sender->config;
    WRIT_AUTO(struct fields, fields_wipe)
    fields = {.text = writ_buf_make(WRIT_SENDER_FILE_MAX + 1)};
    const struct writ_fetch_request request = {
        .accept = "Accept: application/x-protobuf",
        .body = body.ptr,
        .body_len = body.len,
        .type = "Content-Type: application/x-protobuf",
        .ca_file = config->ca.len > 0 ? config->ca.ptr : NULL,
        .fields = fields.lines,
        .link = sender->link,
        .ret_retry_us = &ret->after_us,
    };
    writ_auto_buf answer = writ_buf_make(RESPONSE_MAX);
    long status = 0;

    *ret = (struct writ_sent){.again = true};
    if (config->headers_file.len > 0) {
        WRIT_TRY(read_fields(config->headers_file.ptr, &fields, err));
    }
    WRIT_TRY(writ_fetch_ask(
        sender->urls[signal].ptr, &request, timeout_ms, stop, &status, &answer, err));
    if (status == 200) {
        *ret = (struct writ_sent){.rejected = rejected(writ_buf_view(&answer))};
        return WRIT_DONE;
    }
    ret->again = may_again(status);
    WRIT_FAIL(err, WRIT_E_IO, "%s: answers with status %ld", sender->urls[signal].ptr, status);
}
