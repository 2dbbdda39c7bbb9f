/* sse.c - a reader that works line by line, and a writer that refuses events that would not read
 * back.
 *
 * Invariants:
 * (1) `line` holds the start of a line whose end has not arrived. A line that is complete in the
 *     input is read in place.
 * (2) `id`, `event` and `data` hold the values of the current block; has_* say which were present.
 *     The first call after the block was handed out empties them, because the event's views point
 *     into them.
 *     A first line of data that was gathered in `line` becomes `data` without a copy: its value
 *     begins at `data_at`.
 * (3) After a CR, an LF belongs to the same line end, also when it starts the next input. */
#include "gateway/http/sse.h"

#define KEEP_MAX 65536 /* bytes of memory that an empty buffer may keep */

struct writ_sse {
    struct writ_sse_limits limits;
    struct writ_buf line, id, event, data, comment;
    size_t data_at;
    bool has_id, has_event, has_data, any;
    bool after_cr, begun, handed_out;
    int64_t retry_ms;
    writ_result failed; /* code WRIT_OK until the reader fails */
};

struct writ_sse *
writ_sse_new(const struct writ_sse_limits *limits)
{
    struct writ_sse *sse = writ_alloc(sizeof *sse);

    if (sse == NULL) {
        return NULL;
    }
    sse->limits = *limits;
    sse->line = writ_buf_make(limits->line_bytes);
    sse->comment = writ_buf_make(limits->line_bytes);
    sse->id = writ_buf_make(limits->event_bytes);
    sse->event = writ_buf_make(limits->event_bytes);
    sse->data = writ_buf_make(limits->event_bytes);
    sse->retry_ms = WRIT_SSE_NO_RETRY;
    sse->failed = WRIT_DONE;
    return sse;
}

void
writ_sse_free(struct writ_sse *sse)
{
    if (sse != NULL) {
        writ_buf_wipe(&sse->line);
        writ_buf_wipe(&sse->comment);
        writ_buf_wipe(&sse->id);
        writ_buf_wipe(&sse->event);
        writ_buf_wipe(&sse->data);
        writ_free(sse);
    }
}

/* a stream lives long: one large event must not hold its memory for ever */
static void
empty(struct writ_buf *buf)
{
    size_t max = buf->max;

    if (buf->cap > KEEP_MAX) {
        writ_buf_wipe(buf);
        *buf = writ_buf_make(max);
    }
    writ_buf_clear(buf);
}

static void
begin_block(struct writ_sse *sse)
{
    empty(&sse->id);
    empty(&sse->event);
    empty(&sse->data);
    sse->data.max = sse->limits.event_bytes;
    sse->data_at = 0;
    sse->has_id = sse->has_event = sse->has_data = sse->any = sse->handed_out = false;
    sse->retry_ms = WRIT_SSE_NO_RETRY;
}

/* ---- lines */

/* Takes one line off the input. False: it has not ended yet, and the whole input was kept. */
static bool
take_line(struct writ_sse *sse, struct writ_view *input, struct writ_view *ret)
{
    size_t end;

    if (sse->after_cr && input->len > 0) {
        *input = writ_view_sub(*input, input->ptr[0] == '\n' ? 1 : 0, input->len); /* keeps (3) */
        sse->after_cr = false;
    }
    end = writ_view_find_line_end(*input);
    *ret = writ_view_sub(*input, 0, end);
    if (sse->line.len > 0 || end == input->len) {
        writ_buf_put(&sse->line, *ret);
        *ret = writ_buf_view(&sse->line);
    }
    if (end == input->len) {
        *input = writ_view_sub(*input, end, 0);
        return false;
    }
    sse->after_cr = input->ptr[end] == '\r';
    *input = writ_view_sub(*input, end + 1, input->len);
    return true;
}

/* ---- fields */

static void
set_value(struct writ_buf *buf, struct writ_view value)
{
    writ_buf_clear(buf);
    writ_buf_put(buf, value);
}

/* Appends a line of data. keeps (2) */
static void
add_data(struct writ_sse *sse, struct writ_view line, struct writ_view value)
{
    struct writ_buf gathered = sse->line;

    if (sse->has_data) {
        writ_buf_byte(&sse->data, '\n');
    } else if (line.ptr == gathered.ptr && value.len > KEEP_MAX &&
               sse->limits.line_bytes == sse->limits.event_bytes) {
        sse->line = sse->data;
        sse->line.max = sse->limits.line_bytes;
        sse->data = gathered;
        sse->data_at = (size_t)(value.ptr - line.ptr);
        sse->data.max = sse->limits.event_bytes + sse->data_at;
        return;
    }
    writ_buf_put(&sse->data, value);
}

/* an invalid number is ignored, as the grammar says */
static void
set_retry(struct writ_sse *sse, struct writ_view value)
{
    int64_t ms = 0;

    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] < '0' || value.ptr[i] > '9' || ms > WRIT_SSE_RETRY_MAX / 10) {
            return;
        }
        ms = ms * 10 + (value.ptr[i] - '0');
    }
    if (value.len > 0 && ms <= WRIT_SSE_RETRY_MAX) {
        sse->retry_ms = ms;
        sse->any = true;
    }
}

static void
read_field(struct writ_sse *sse, struct writ_view line)
{
    size_t colon = writ_view_find(line, ':');
    struct writ_view name = writ_view_sub(line, 0, colon);
    struct writ_view value = writ_view_sub(line, colon + 1, line.len);

    if (value.len > 0 && value.ptr[0] == ' ') {
        value = writ_view_sub(value, 1, value.len);
    }
    if (writ_view_is(name, "data")) {
        add_data(sse, line, value);
        sse->has_data = sse->any = true;
    } else if (writ_view_is(name, "event")) {
        set_value(&sse->event, value);
        sse->has_event = sse->any = true;
    } else if (writ_view_is(name, "id")) {
        if (writ_view_find(value, '\0') == value.len) { /* an id with NUL is ignored */
            set_value(&sse->id, value);
            sse->has_id = sse->any = true;
        }
    } else if (writ_view_is(name, "retry")) {
        set_retry(sse, value);
    }
}

static struct writ_view
present(bool has, struct writ_view view)
{
    if (!has) {
        return (struct writ_view){NULL, 0};
    }
    return view.ptr != NULL ? view : WRIT_LIT("");
}

static struct writ_view
data_of(const struct writ_sse *sse)
{
    struct writ_view data = writ_buf_view(&sse->data);

    return writ_view_sub(data, sse->data_at, data.len);
}

static void
hand_out(struct writ_sse *sse, struct writ_sse_event *ret)
{
    *ret = (struct writ_sse_event){
        .kind = WRIT_SSE_EVENT,
        .id = present(sse->has_id, writ_buf_view(&sse->id)),
        .event = present(sse->has_event, writ_buf_view(&sse->event)),
        .data = present(sse->has_data, data_of(sse)),
        .retry_ms = sse->retry_ms,
        .memory = sse->data.len > KEEP_MAX ? &sse->data : NULL,
    };
    sse->handed_out = true; /* keeps (2) */
}

static WRIT_RESULT
check_block(struct writ_sse *sse, struct writ_err *err)
{
    WRIT_TRY(writ_buf_check(&sse->id, err));
    WRIT_TRY(writ_buf_check(&sse->event, err));
    WRIT_TRY(writ_buf_check(&sse->data, err));
    WRIT_TRY(writ_buf_check(&sse->comment, err));
    if (sse->id.len + sse->event.len + data_of(sse).len > sse->limits.event_bytes) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "an event is longer than %zu bytes", sse->limits.event_bytes);
    }
    return WRIT_DONE;
}

/* reads one whole line; ret->kind is set when it completes an event */
static WRIT_RESULT
read_line(
    struct writ_sse *sse, struct writ_view line, struct writ_sse_event *ret, struct writ_err *err)
{
    if (line.len > sse->limits.line_bytes) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "a line is longer than %zu bytes", sse->limits.line_bytes);
    }
    if (!sse->begun) {
        sse->begun = true;
        if (writ_view_has_prefix(line, WRIT_LIT("\xef\xbb\xbf"))) {
            line = writ_view_sub(line, 3, line.len);
        }
    }
    if (line.len == 0) {
        if (sse->any) {
            hand_out(sse, ret);
        }
        return WRIT_DONE;
    }
    if (line.ptr[0] == ':') {
        set_value(&sse->comment, writ_view_sub(line, 1, line.len));
        ret->kind = WRIT_SSE_COMMENT;
        ret->data = present(true, writ_buf_view(&sse->comment));
        return check_block(sse, err);
    }
    read_field(sse, line);
    return check_block(sse, err);
}

static WRIT_RESULT
next(
    struct writ_sse *sse, struct writ_view *input, struct writ_sse_event *ret, struct writ_err *err)
{
    struct writ_view line;

    while (ret->kind == WRIT_SSE_NONE && take_line(sse, input, &line)) {
        WRIT_TRY(writ_buf_check(&sse->line, err));
        WRIT_TRY(read_line(sse, line, ret, err));
        empty(&sse->line);
    }
    return writ_buf_check(&sse->line, err);
}

writ_result
writ_sse_next(
    struct writ_sse *sse, struct writ_view *input, struct writ_sse_event *ret, struct writ_err *err)
{
    struct writ_sse_event found = {.kind = WRIT_SSE_NONE, .retry_ms = WRIT_SSE_NO_RETRY};

    if (!writ_is_ok(sse->failed)) {
        WRIT_FAIL(err, sse->failed.code, "this event stream failed before");
    }
    if (sse->handed_out) {
        begin_block(sse);
    }
    sse->failed = next(sse, input, &found, err);
    WRIT_TRY(sse->failed);
    *ret = found;
    return WRIT_DONE;
}

struct writ_view
writ_sse_arrived(const struct writ_sse *sse)
{
    struct writ_view line = writ_buf_view(&sse->line), name = WRIT_LIT("data:");

    if (sse->has_data || !writ_view_has_prefix(line, name)) {
        return (struct writ_view){NULL, 0};
    }
    return writ_view_sub(
        line, name.len + (line.len > name.len && line.ptr[name.len] == ' '), line.len);
}

bool
writ_sse_is_cut(const struct writ_sse *sse)
{
    return (sse->any && !sse->handed_out) || sse->line.len > 0;
}

/* ---- writing */

static bool
has_byte(struct writ_view view, const char *bytes)
{
    for (; *bytes != '\0'; bytes++) {
        if (writ_view_find(view, *bytes) != view.len) {
            return true;
        }
    }
    return false;
}

static void
put_field(struct writ_buf *buf, const char *name, struct writ_view value)
{
    writ_buf_str(buf, name);
    writ_buf_put(buf, value);
    writ_buf_byte(buf, '\n');
}

static WRIT_RESULT
check_event(const struct writ_sse_event *event, struct writ_err *err)
{
    if (event->kind == WRIT_SSE_NONE) {
        WRIT_FAIL(err, WRIT_E_INVALID, "no event to write");
    }
    if (event->kind == WRIT_SSE_COMMENT) {
        if (has_byte(event->data, "\r\n")) {
            WRIT_FAIL(err, WRIT_E_INVALID, "a comment with a line break");
        }
        return WRIT_DONE;
    }
    if (event->id.ptr == NULL && event->event.ptr == NULL && event->data.ptr == NULL &&
        event->retry_ms == WRIT_SSE_NO_RETRY) {
        WRIT_FAIL(err, WRIT_E_INVALID, "an event without a field");
    }
    if (has_byte(event->id, "\r\n") || has_byte(event->event, "\r\n")) {
        WRIT_FAIL(err, WRIT_E_INVALID, "an event whose id or name has a line break");
    }
    if (writ_view_find(event->id, '\0') != event->id.len) {
        WRIT_FAIL(err, WRIT_E_INVALID, "an event whose id has a NUL");
    }
    if (has_byte(event->data, "\r")) {
        WRIT_FAIL(err, WRIT_E_INVALID, "event data with a carriage return");
    }
    if (event->retry_ms < WRIT_SSE_NO_RETRY || event->retry_ms > WRIT_SSE_RETRY_MAX) {
        WRIT_FAIL(err, WRIT_E_INVALID, "a retry out of range");
    }
    return WRIT_DONE;
}

static void
put_data(struct writ_buf *buf, struct writ_view data)
{
    size_t end;

    do {
        end = writ_view_find(data, '\n');
        put_field(buf, "data: ", writ_view_sub(data, 0, end));
        if (end < data.len) {
            data = writ_view_sub(data, end + 1, data.len);
        } else {
            return;
        }
    } while (true);
}

static void
put_event(struct writ_buf *buf, const struct writ_sse_event *event)
{
    if (event->id.ptr != NULL) {
        put_field(buf, "id: ", event->id);
    }
    if (event->event.ptr != NULL) {
        put_field(buf, "event: ", event->event);
    }
    if (event->retry_ms != WRIT_SSE_NO_RETRY) {
        writ_buf_str(buf, "retry: ");
        writ_buf_i64(buf, event->retry_ms);
        writ_buf_byte(buf, '\n');
    }
    if (event->data.ptr != NULL) {
        put_data(buf, event->data);
    }
}

writ_result
writ_sse_put(struct writ_buf *buf, const struct writ_sse_event *event, struct writ_err *err)
{
    size_t before = buf->len;
    writ_result r;

    WRIT_TRY(writ_buf_check(buf, err));
    WRIT_TRY(check_event(event, err));
    if (event->kind == WRIT_SSE_COMMENT) {
        put_field(buf, ":", event->data);
    } else {
        put_event(buf, event);
    }
    writ_buf_byte(buf, '\n');
    r = writ_buf_check(buf, err);
    if (!writ_is_ok(r)) {
        buf->len = before; /* half an event is another event */
        buf->failed = WRIT_E_UNSET;
    }
    return r;
}

writ_result
writ_sse_put_before(struct writ_buf *buf, const struct writ_sse_event *event,
    struct writ_view ret[2], struct writ_err *err)
{
    struct writ_sse_event before = *event;

    before.data = (struct writ_view){NULL, 0};
    if (writ_view_find_line_end(event->data) < event->data.len || event->event.ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_INVALID, "event data of several lines");
    }
    WRIT_TRY(writ_sse_put(buf, &before, err));
    writ_buf_cut(buf, buf->len - 1); /* it goes on */
    writ_buf_str(buf, "data: ");
    WRIT_TRY(writ_buf_check(buf, err));
    ret[0] = event->data;
    ret[1] = WRIT_LIT("\n\n");
    return WRIT_DONE;
}
