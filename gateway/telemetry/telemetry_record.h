/* telemetry_record.h - what is known of a request at its end: its spans, and its line of the log. A
 * record has a fixed size and no references but to static texts, so that it can wait in a ring
 * (telemetry_ring.h).
 */
#ifndef WRIT_GATEWAY_TELEMETRY_RECORD_H
#define WRIT_GATEWAY_TELEMETRY_RECORD_H

#include "base/log.h"
#include "gateway/telemetry/trace_context.h"

#define WRIT_TELEMETRY_WAITS_MAX                                                                   \
    12                                /* spans below that of the request; later waits are left out \
                                       */
#define WRIT_TELEMETRY_FIELDS_MAX 24  /* members of a line of the log */
#define WRIT_TELEMETRY_TEXT_MAX   704 /* bytes of all texts; one that does not fit is left out */

/** A wait of a request, as a span. */
struct writ_telemetry_wait {
    const char *name; /* static; NULL: that of the request, which an upstream got */
    const char *step; /* static: the step that waited */
    bool client;      /* for the answer of another server */
    unsigned char span_id[WRIT_SPAN_ID_BYTES];
    int64_t from_us, to_us; /* monotonic */
};

/** A text in a record. */
struct writ_telemetry_text {
    uint16_t at, len;
};

/** A member of its line: a field of the log (log.h) with its text in the record. */
struct writ_telemetry_field {
    const char *key; /* static */
    enum writ_log_kind kind;
    struct writ_telemetry_text text;
    int64_t number;
};

struct writ_telemetry_record {
    bool spans;                               /* `span` to `error` */
    bool line;                                /* `event` */
    struct writ_trace_context span;           /* of the request; zeroed without spans */
    unsigned char parent[WRIT_SPAN_ID_BYTES]; /* zero: none */
    struct writ_trace_context link;           /* zeroed: none */
    struct writ_telemetry_text name;
    struct writ_telemetry_text method; /* of MCP; empty: another API, or one that is not known */
    struct writ_telemetry_text error;  /* its class; empty: it went well */
    struct writ_telemetry_text failed; /* the same, of the message to the upstream */
    struct writ_telemetry_wait waits[WRIT_TELEMETRY_WAITS_MAX];
    size_t waits_n;
    enum writ_event event;
    struct writ_telemetry_field fields[WRIT_TELEMETRY_FIELDS_MAX];
    size_t fields_n;
    int64_t from_us, to_us; /* monotonic */
    int64_t wall_us;        /* the wall time of monotonic 0 */
    size_t text_n;
    char text[WRIT_TELEMETRY_TEXT_MAX];
};

/** Empties a record but for its memory. */
void writ_telemetry_record_clear(struct writ_telemetry_record *record);

/** Copies a text into the record; empty when it does not fit. */
struct writ_telemetry_text writ_telemetry_record_text(
    struct writ_telemetry_record *record, struct writ_view text);

/** Adds a member; one that does not fit is left out. */
void writ_telemetry_record_field(
    struct writ_telemetry_record *record, const struct writ_log_field *field);

/** The bytes of a text. Borrowed from the record. */
struct writ_view writ_telemetry_record_view(
    const struct writ_telemetry_record *record, struct writ_telemetry_text text);

#endif
