/* http_response.c - scans each head byte by byte, then gives it to llhttp.
 *
 * Invariants:
 * (1) llhttp gets a head only after every byte of it passed scan_head, and never bytes after a head
 *     in the same call. So its leniency about line ends and folding has no effect.
 * (2) After FAILED or COMPLETE llhttp is not called again before the next begin.
 * (3) at[i] are positions in head, which may move while it grows; fields[] is made from them when
 *     the head is whole and holds until the next begin. */
#include "gateway/http/http_response.h"

#include "base/text.h"

#include <llhttp.h>

#define SLICE_MAX                                                                                  \
    65536 /* bytes given to llhttp at once: the measure of framing is taken after each */
#define FIELDS_FIRST 8 /* most heads have fewer */

enum scan {
    SCAN_START = 0, /* before the first byte of the head */
    SCAN_LINE_START,
    SCAN_LINE,
    SCAN_CR,
    SCAN_LAST_CR,
    SCAN_DONE,
};

struct span {
    uint32_t name, name_len, value, value_len;
};

struct writ_http_response {
    const struct writ_http_response_events *events;
    void *ctx;
    llhttp_t parser;
    enum scan scan;
    bool no_body, has_head, interim, pause, keeps_open, chunk_began;
    unsigned interims;
    enum writ_http_progress progress;
    enum writ_http_reason reason;
    const char *detail;
    size_t head_bytes, framing;
    uint64_t body_max, body_seen;
    struct writ_buf head;
    struct span *at; /* and fields: `room` each */
    struct writ_header *fields;
    size_t count, room;
    struct writ_http_head shown; /* the head as it was reported */
};

const char *
writ_http_response_reason(enum writ_http_reason reason)
{
    switch (reason) {
#define X(NAME, name, sentence)                                                                    \
    case WRIT_HTTP_##NAME:                                                                         \
        return #name;
#include "gateway/http/http_end.tbl.h"
#undef X
    }
    return "unset";
}

const char *
writ_http_response_sentence(enum writ_http_reason reason)
{
    switch (reason) {
#define X(NAME, name, sentence)                                                                    \
    case WRIT_HTTP_##NAME:                                                                         \
        return sentence;
#include "gateway/http/http_end.tbl.h"
#undef X
    }
    return "";
}

size_t
writ_http_response_field(const struct writ_http_head *head, const char *name, struct writ_view *ret)
{
    struct writ_view want = writ_view_str(name);
    size_t found = 0;

    for (size_t i = 0; i < head->count; i++) {
        if (writ_view_equal_nocase(head->fields[i].name, want) && found++ == 0 && ret != NULL) {
            *ret = head->fields[i].value;
        }
    }
    return found;
}

static int
fail(struct writ_http_response *r, enum writ_http_reason reason, const char *detail)
{
    r->progress = WRIT_HTTP_FAILED;
    r->reason = reason;
    r->detail = detail;
    return -1;
}

static int
refuse(struct writ_http_response *r, const char *detail)
{
    return fail(r, WRIT_HTTP_PROTOCOL_ERROR, detail);
}

/* ---- the head, byte by byte, before llhttp sees it */

static const char *
scan_byte(struct writ_http_response *r, unsigned char c)
{
    switch (r->scan) {
    case SCAN_START:
    case SCAN_LINE_START:
        if (c == '\r' && r->scan == SCAN_LINE_START) {
            r->scan = SCAN_LAST_CR;
            return NULL;
        }
        if (c == ' ' || c == '\t') {
            return "folded header line"; /* RFC 9112 5.2 */
        }
        if (c == ':') {
            return "header field without a name";
        }
        r->scan = SCAN_LINE;
        return c < 0x20 || c == 0x7f ? "control byte in the head" : NULL;
    case SCAN_LINE:
        if (c == '\r') {
            r->scan = SCAN_CR;
            return NULL;
        }
        return (c < 0x20 && c != '\t') || c == 0x7f ? "control byte in the head" : NULL;
    case SCAN_CR:
        r->scan = SCAN_LINE_START;
        return c != '\n' ? "CR without LF in the head" : NULL;
    case SCAN_LAST_CR:
        r->scan = SCAN_DONE;
        return c != '\n' ? "CR without LF in the head" : NULL;
    case SCAN_DONE:
        break;
    }
    return NULL;
}

/* the number of leading bytes that only continue the line: most of a head is scanned here at
 * once */
static size_t
line_run(const struct writ_http_response *r, struct writ_view rest)
{
    size_t len = r->scan == SCAN_LINE ? writ_view_find(rest, '\r') : 0;

    if (len > WRIT_HTTP_HEAD_MAX - r->head_bytes ||
        !writ_text_is_field(writ_view_sub(rest, 0, len))) {
        return 0; /* byte by byte up to the fault */
    }
    return len;
}

/* the number of input bytes that belong to the head; a fault is in the reader */
static size_t
scan_head(struct writ_http_response *r, struct writ_view input)
{
    size_t at = 0;

    while (at < input.len && r->scan != SCAN_DONE) {
        size_t run = line_run(r, writ_view_sub(input, at, input.len));
        const char *fault;

        at += run;
        r->head_bytes += run;
        if (at == input.len) {
            break;
        }
        fault = scan_byte(r, (unsigned char)input.ptr[at++]);
        if (fault != NULL) {
            (void)refuse(r, fault);
            return 0;
        }
        if (++r->head_bytes > WRIT_HTTP_HEAD_MAX) {
            (void)fail(r, WRIT_HTTP_HEAD_TOO_LARGE, "head");
            return 0;
        }
    }
    return at;
}

/* ---- what llhttp found */

static struct writ_http_response *
response_of(llhttp_t *parser)
{
    return parser->data;
}

static int
keep(struct writ_http_response *r, const char *ptr, size_t len, uint32_t *grown)
{
    if (r->has_head) {
        return 0; /* a trailer: bounded by framing, and dropped (RFC 9110 6.5.1) */
    }
    writ_buf_put(&r->head, writ_view(ptr, len));
    *grown += (uint32_t)len;
    return writ_is_ok(writ_buf_check(&r->head, NULL))
               ? 0
               : fail(r, WRIT_HTTP_NO_RESOURCES, "no memory for a head");
}

/* Room for twice as many fields; false: no memory. */
static bool
grow(struct writ_http_response *r)
{
    size_t room = r->room == 0 ? FIELDS_FIRST : r->room * 2;
    struct span *at = writ_realloc(r->at, room * sizeof *at);
    struct writ_header *fields;

    if (at == NULL) {
        return false;
    }
    r->at = at;
    fields = writ_realloc(r->fields, room * sizeof *fields);
    if (fields == NULL) {
        return false;
    }
    r->fields = fields;
    for (size_t i = r->room; i < room; i++) {
        at[i] = (struct span){0};
    }
    r->room = room;
    return true;
}

static int
on_header_field(llhttp_t *parser, const char *ptr, size_t len)
{
    struct writ_http_response *r = response_of(parser);
    struct span *span;

    if (!r->has_head && r->count == WRIT_HTTP_FIELDS_MAX) {
        return fail(r, WRIT_HTTP_HEAD_TOO_LARGE, "too many header fields");
    }
    if (!r->has_head && r->count == r->room && !grow(r)) {
        return fail(r, WRIT_HTTP_NO_RESOURCES, "no memory for a head");
    }
    span = &r->at[r->has_head ? 0 : r->count];
    if (!r->has_head && span->name_len == 0) {
        span->name = (uint32_t)r->head.len;
    }
    return keep(r, ptr, len, &span->name_len);
}

static int
on_header_value(llhttp_t *parser, const char *ptr, size_t len)
{
    struct writ_http_response *r = response_of(parser);
    struct span *span = &r->at[r->has_head ? 0 : r->count];

    if (!r->has_head && span->value_len == 0) {
        span->value = (uint32_t)r->head.len;
    }
    return keep(r, ptr, len, &span->value_len);
}

static int
on_header_value_complete(llhttp_t *parser)
{
    struct writ_http_response *r = response_of(parser);

    if (!r->has_head) {
        r->count++;
    }
    return 0;
}

static struct writ_http_head
head_of(struct writ_http_response *r)
{
    struct writ_view all = writ_buf_view(&r->head);

    for (size_t i = 0; i < r->count; i++) { /* keeps (3) */
        struct span *span = &r->at[i];
        r->fields[i].name = writ_view_sub(all, span->name, span->name_len);
        r->fields[i].value = writ_view_trim(writ_view_sub(all, span->value, span->value_len));
    }
    return (struct writ_http_head){r->parser.status_code, r->fields, r->count};
}

/* RFC 9112 6.3, in its narrowest reading */
static const char *
framing_fault(const struct writ_http_response *r, const struct writ_http_head *head)
{
    struct writ_view length = {0}, coding = {0};
    size_t lengths = writ_http_response_field(head, "content-length", &length);
    size_t codings = writ_http_response_field(head, "transfer-encoding", &coding);

    if (lengths > 1) {
        return "two Content-Length";
    }
    if (codings > 1 || (codings == 1 && !writ_view_equal_nocase(coding, WRIT_LIT("chunked")))) {
        return "Transfer-Encoding other than one chunked";
    }
    if (lengths > 0 && codings > 0) {
        return "Transfer-Encoding and Content-Length";
    }
    if (lengths + codings > 0 && head->status < 200) {
        return "an interim response with a body"; /* RFC 9110 8.6 */
    }
    if (codings > 0 && r->parser.http_minor == 0) {
        return "Transfer-Encoding in HTTP/1.0";
    }
    for (size_t i = 0; i < length.len; i++) {
        if (length.ptr[i] < '0' || length.ptr[i] > '9') {
            return "Content-Length is not a number";
        }
    }
    return lengths > 0 && length.len == 0 ? "Content-Length is empty" : NULL;
}

static const char *
head_fault(struct writ_http_response *r, const struct writ_http_head *head)
{
    const llhttp_t *parser = &r->parser;

    if (parser->http_major != 1 || parser->http_minor > 1) {
        return "not HTTP/1.0 or HTTP/1.1";
    }
    if (head->status < 100 || head->status > 599) {
        return "status outside 100..599";
    }
    if (head->status == 101) {
        return "101 without an Upgrade"; /* the client never asks for an upgrade */
    }
    if (head->status < 200 && ++r->interims > WRIT_HTTP_INTERIM_MAX) {
        return "too many interim responses";
    }
    return framing_fault(r, head);
}

static int
on_headers_complete(llhttp_t *parser)
{
    struct writ_http_response *r = response_of(parser);
    struct writ_http_head head = head_of(r);
    const char *fault = head_fault(r, &head);
    bool skips = r->no_body || head.status == 204 || head.status == 304;

    if (fault != NULL) {
        return refuse(r, fault);
    }
    r->interim = head.status < 200;
    if (r->interim) {
        return 0;
    }
    if (!skips && (parser->flags & F_CONTENT_LENGTH) && parser->content_length > r->body_max) {
        return fail(r, WRIT_HTTP_BODY_TOO_LARGE, "Content-Length");
    }
    r->has_head = true;
    r->shown = head;
    if (r->events->head != NULL) {
        r->events->head(r->ctx, &r->shown);
    }
    return skips ? 1 : 0;
}

static int
on_chunk_header(llhttp_t *parser)
{
    response_of(parser)->chunk_began = true;
    return 0;
}

static int
on_body(llhttp_t *parser, const char *ptr, size_t len)
{
    struct writ_http_response *r = response_of(parser);

    if (len > r->body_max - r->body_seen) {
        return fail(r, WRIT_HTTP_BODY_TOO_LARGE, "body");
    }
    r->body_seen += len;
    if (len > 0 && r->events->body != NULL) {
        r->events->body(r->ctx, writ_view(ptr, len));
    }
    return r->pause ? HPE_PAUSED : 0;
}

static int
on_message_complete(llhttp_t *parser)
{
    struct writ_http_response *r = response_of(parser);

    if (!r->interim) {
        r->keeps_open = llhttp_should_keep_alive(parser) != 0 && parser->http_minor == 1;
        r->progress = WRIT_HTTP_COMPLETE;
    }
    return HPE_PAUSED; /* keeps (2); the next head follows an interim one */
}

static const llhttp_settings_t settings = {
    .on_header_field = on_header_field,
    .on_header_value = on_header_value,
    .on_header_value_complete = on_header_value_complete,
    .on_headers_complete = on_headers_complete,
    .on_chunk_header = on_chunk_header,
    .on_body = on_body,
    .on_message_complete = on_message_complete,
};

/* ---- feeding */

static void
begin_head(struct writ_http_response *r)
{
    llhttp_init(&r->parser, HTTP_RESPONSE, &settings);
    /* framing_fault refuses both lengths in a head; llhttp 9 would also refuse them in a trailer,
     * which is dropped anyway (RFC 9110 6.5.1) */
    llhttp_set_lenient_chunked_length(&r->parser, 1);
    r->parser.data = r;
    r->scan = SCAN_START;
    r->head_bytes = 0;
    r->interim = false;
    for (size_t i = 0; i < r->count + 1 && i < r->room; i++) {
        r->at[i] = (struct span){0};
    }
    r->count = 0;
    writ_buf_clear(&r->head);
}

static void
measure_framing(struct writ_http_response *r, size_t consumed, uint64_t body_before)
{
    size_t beside = consumed - (size_t)(r->body_seen - body_before);

    r->framing = r->chunk_began ? beside : r->framing + beside;
    r->chunk_began = false;
    if (r->framing > WRIT_HTTP_FRAMING_MAX && r->progress == WRIT_HTTP_MORE) {
        (void)refuse(r, "chunk extension or trailer too long");
    }
}

/* gives a piece to llhttp and returns the number of bytes read */
static size_t
execute(struct writ_http_response *r, struct writ_view piece)
{
    const char *ptr = piece.len > 0 ? piece.ptr : "";
    uint64_t body_before = r->body_seen;
    bool had_head = r->has_head;
    llhttp_errno_t fault = llhttp_execute(&r->parser, ptr, piece.len);
    size_t consumed = piece.len;

    if (fault == HPE_PAUSED) {
        consumed = (size_t)(llhttp_get_error_pos(&r->parser) - ptr);
        llhttp_resume(&r->parser);
        if (r->interim) {
            begin_head(r);
        }
    } else if (fault != HPE_OK && r->progress != WRIT_HTTP_FAILED) {
        (void)refuse(r, llhttp_errno_name(fault));
    }
    if (had_head) {
        measure_framing(r, consumed, body_before);
    }
    return consumed;
}

enum writ_http_progress
writ_http_response_feed(struct writ_http_response *r, struct writ_view *input)
{
    r->pause = false;
    while (r->progress == WRIT_HTTP_MORE) {
        size_t len = input->len < SLICE_MAX ? input->len : SLICE_MAX;

        if (r->scan != SCAN_DONE) {
            len = scan_head(r, *input); /* keeps (1) */
        }
        if (r->progress == WRIT_HTTP_MORE) {
            len = execute(r, writ_view_sub(*input, 0, len));
            *input = writ_view_sub(*input, len, input->len);
        }
        if (r->progress == WRIT_HTTP_MORE && r->pause) {
            return WRIT_HTTP_PAUSED;
        }
        if (input->len == 0) {
            break;
        }
    }
    if (r->progress == WRIT_HTTP_COMPLETE && input->len > 0) {
        (void)refuse(r, "bytes after the end of the response");
    }
    return r->progress;
}

enum writ_http_progress
writ_http_response_finish(struct writ_http_response *r)
{
    if (r->progress != WRIT_HTTP_MORE) {
        return r->progress;
    }
    if (r->has_head) {
        (void)llhttp_finish(&r->parser); /* completes a body that lasts until the end */
    }
    if (r->progress == WRIT_HTTP_MORE) {
        (void)fail(r, WRIT_HTTP_CLOSED_EARLY, r->has_head ? "in the body" : "before the head");
    }
    r->keeps_open = false;
    return r->progress;
}

void
writ_http_response_pause(struct writ_http_response *r)
{
    r->pause = true;
}

bool
writ_http_response_has_head(const struct writ_http_response *r)
{
    return r->has_head;
}

bool
writ_http_response_keeps_open(const struct writ_http_response *r)
{
    return r->progress == WRIT_HTTP_COMPLETE && r->keeps_open;
}

enum writ_http_reason
writ_http_response_fault(const struct writ_http_response *r, const char **ret_detail)
{
    *ret_detail = r->detail;
    return r->reason;
}

/* ---- life */

void
writ_http_response_begin(struct writ_http_response *r, bool no_body, uint64_t body_max)
{
    r->no_body = no_body;
    r->body_max = body_max;
    r->body_seen = 0;
    r->framing = 0;
    r->interims = 0;
    r->has_head = r->pause = r->keeps_open = r->chunk_began = false;
    r->progress = WRIT_HTTP_MORE;
    r->reason = WRIT_HTTP_UNSET;
    r->detail = NULL;
    begin_head(r);
}

struct writ_http_response *
writ_http_response_new(const struct writ_http_response_events *events, void *ctx)
{
    struct writ_http_response *r = writ_alloc(sizeof *r);

    if (r == NULL) {
        return NULL;
    }
    if (!grow(r)) { /* a trailer writes to at[0] */
        writ_http_response_free(r);
        return NULL;
    }
    r->events = events;
    r->ctx = ctx;
    r->head = writ_buf_make(WRIT_HTTP_HEAD_MAX);
    writ_http_response_begin(r, false, 0);
    return r;
}

void
writ_http_response_free(struct writ_http_response *r)
{
    if (r != NULL) {
        writ_buf_wipe(&r->head);
        writ_free(r->at);
        writ_free(r->fields);
        writ_free(r);
    }
}
