/* sse.h - reads server-sent events from bytes as they arrive, and writes them. No I/O.
 *
 * The grammar is WHATWG HTML 9.2.5 and 9.2.6: lines end with CR, LF or CRLF, one BOM at the begin
 * is dropped, an unknown field is ignored. It differs in one point, because a gateway must pass on
 * values that a browser keeps: a block without data (an `id` or a `retry` alone) is an event too.
 * An event that is written here reads back as the same event. The writer refuses an event that
 * would not (a line break in an id, a CR in data), so that no reader downstream sees events other
 * than the judged ones. */
#ifndef WRIT_GATEWAY_SSE_H
#define WRIT_GATEWAY_SSE_H

#include "base/bytes.h"

#include <stdint.h>

#define WRIT_SSE_NO_RETRY  (-1)
#define WRIT_SSE_RETRY_MAX INT64_C(999999999) /* ms; a larger number is ignored */

enum writ_sse_kind {
    WRIT_SSE_NONE = 0, /* the input is used up: feed more */
    WRIT_SSE_EVENT,
    WRIT_SSE_COMMENT, /* the comment is in data */
};

/** One event or comment. A view whose ptr is NULL was absent; an empty one has a ptr. */
struct writ_sse_event {
    enum writ_sse_kind kind;
    struct writ_view id;
    struct writ_view event;
    struct writ_view data;   /* several data lines are joined by LF */
    int64_t retry_ms;        /* or WRIT_SSE_NO_RETRY */
    struct writ_buf *memory; /* of long data, which may be taken (writ_buf_give) until the next call
                                and then has `data` in it; NULL: only a copy lasts */
};

struct writ_sse_limits {
    size_t line_bytes;  /* of one line without its end */
    size_t event_bytes; /* of all values of one event */
};

struct writ_sse;

/** A new reader for one stream; free with writ_sse_free. NULL: no memory. */
struct writ_sse *writ_sse_new(const struct writ_sse_limits *limits);
void writ_sse_free(struct writ_sse *sse);

/**
 * Takes the next event or comment from the input.
 *
 * @param input  advanced past the bytes read. Call again with it until `ret->kind` is NONE; it is
 *               empty then, and the begin of a line is kept
 * @param ret    its views are borrowed until the next call
 *
 * @return WRIT_OK, WRIT_E_LIMIT (a line or an event is too long), WRIT_E_NOMEM. After a failure the
 *         reader fails for ever.
 */
WRIT_RESULT writ_sse_next(struct writ_sse *sse, struct writ_view *input, struct writ_sse_event *ret,
    struct writ_err *err);

/** The value of the first line of data of an event, as far as it has arrived; empty: there is none,
 * or it has ended. Borrowed until the next call. */
struct writ_view writ_sse_arrived(const struct writ_sse *sse);

/** The stream ended here: true if an event was incomplete (it is dropped, as the grammar says). */
bool writ_sse_is_cut(const struct writ_sse *sse);

/** Appends an event, or a comment, with its blank line. Data without a line break is one `data`
 * line. WRIT_E_INVALID (it would not read back as the same event), WRIT_E_LIMIT, WRIT_E_NOMEM; then
 * the buffer is unchanged. */
WRIT_RESULT writ_sse_put(
    struct writ_buf *buf, const struct writ_sse_event *event, struct writ_err *err);

/** As writ_sse_put for data without a line break, which is not copied: gives it, and what follows
 * it, in `ret`. */
WRIT_RESULT writ_sse_put_before(struct writ_buf *buf, const struct writ_sse_event *event,
    struct writ_view ret[2], struct writ_err *err);

#endif
