/* http_response.h - reads one HTTP/1.1 response strictly. No I/O.
 *
 * llhttp implements the grammar; this reader refuses what llhttp accepts too leniently. Refused
 * are Transfer-Encoding with Content-Length, two Content-Length (RFC 9112 6.3), any coding but one
 * `chunked`, a version other than 1.0 or 1.1, a status outside 100..599, 101, more than
 * WRIT_HTTP_INTERIM_MAX interim responses, control bytes and folded lines in the head, a head over
 * its limits, a body over its limit, bytes after the end, and an end before the end. A body that
 * lasts until the connection closes is accepted: its framing cannot show a cut, so its parser
 * must. */
#ifndef WRIT_GATEWAY_HTTP_RESPONSE_H
#define WRIT_GATEWAY_HTTP_RESPONSE_H

#include "base/bytes.h"
#include "base/result.h"
#include "gateway/http/header.h"

#include <stdint.h>

#define WRIT_HTTP_HEAD_MAX    65536  /* bytes of a response head */
#define WRIT_HTTP_FIELDS_MAX  128    /* header fields */
#define WRIT_HTTP_INTERIM_MAX 8      /* 1xx responses before the final one */
#define WRIT_HTTP_FRAMING_MAX 131072 /* bytes beside the data of one chunk, or of all trailers */
#define WRIT_HTTP_UNLIMITED   UINT64_MAX /* a body limit for streams */

/** The end of an exchange; a row of http_end.tbl.h. Zero is never a success. */
enum writ_http_reason {
#define X(NAME, name, sentence) WRIT_HTTP_##NAME,
#include "gateway/http/http_end.tbl.h"
#undef X
};

/** The reason as a word, and as a sentence. Static storage. */
const char *writ_http_response_reason(enum writ_http_reason reason);
const char *writ_http_response_sentence(enum writ_http_reason reason);

/** The head of a final response; names as received. */
struct writ_http_head {
    unsigned status; /* 200..599 */
    const struct writ_header *fields;
    size_t count;
};

/** The number of fields with this name; `ret` (may be NULL) gets the first value, and stays as it
 * is without one. Where two would matter, require exactly one. */
size_t writ_http_response_field(
    const struct writ_http_head *head, const char *name, struct writ_view *ret);

struct writ_http_response;

/** The callbacks of a reader. Called only from writ_http_response_feed and
 * writ_http_response_finish. A NULL function is not called. */
struct writ_http_response_events {
    /** Borrowed until the next response begins or the reader is freed. */
    void (*head)(void *ctx, const struct writ_http_head *head);
    void (*body)(void *ctx, struct writ_view bytes); /* never empty */
};

/** Where a response stands. */
enum writ_http_progress {
    WRIT_HTTP_FAILED = 0, /* writ_http_response_fault has the reason; nothing more is read */
    WRIT_HTTP_MORE,       /* whole so far */
    WRIT_HTTP_PAUSED,     /* writ_http_response_pause was called: feed the rest later */
    WRIT_HTTP_COMPLETE,
};

/** A new reader; free with writ_http_response_free. Events and ctx are borrowed. NULL: no memory.
 */
struct writ_http_response *writ_http_response_new(
    const struct writ_http_response_events *events, void *ctx);
void writ_http_response_free(struct writ_http_response *response);

/** Begins a response. `no_body`: it answers a HEAD request. Keeps memory for the next one. */
void writ_http_response_begin(struct writ_http_response *response, bool no_body, uint64_t body_max);

/**
 * Reads bytes.
 *
 * @param input  advanced past the bytes read; not empty afterwards only for PAUSED and FAILED.
 *               Bytes after the end are FAILED, although the response was complete. May be empty:
 *               feed once more after PAUSED even without bytes, because the end may have been held
 *               back
 */
enum writ_http_progress writ_http_response_feed(
    struct writ_http_response *response, struct writ_view *input);

/** The connection was closed in order. COMPLETE if the response may end there, else FAILED. */
enum writ_http_progress writ_http_response_finish(struct writ_http_response *response);

/** From an event: stop after this piece. */
void writ_http_response_pause(struct writ_http_response *response);

/** True from the final head on. */
bool writ_http_response_has_head(const struct writ_http_response *response);

/** After COMPLETE: whether the connection may carry another request. */
bool writ_http_response_keeps_open(const struct writ_http_response *response);

/** After FAILED: the row, and (for logs) the exact fault. Static storage. */
enum writ_http_reason writ_http_response_fault(
    const struct writ_http_response *response, const char **ret_detail);

#endif
