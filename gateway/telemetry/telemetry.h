/* telemetry.h - spans, metrics and log lines for an OpenTelemetry collector (option `telemetry`).
 *
 * Each loop has a lane: it puts records there, encoded (otlp.h, telemetry_ring.h), and takes its
 * random ids from there. One thread reads all lanes and sends (sender.h). A loop never waits for
 * that thread: when it cannot send as fast as records come, they are lost, and counted. */
#ifndef WRIT_GATEWAY_TELEMETRY_H
#define WRIT_GATEWAY_TELEMETRY_H

#include "gateway/listener/admin.h"
#include "gateway/telemetry/telemetry_record.h"
#include "policy/model/config.h"

#define WRIT_TELEMETRY_RETRY_US   (INT64_C(1) * 1000 * 1000)  /* after a failure; doubles, */
#define WRIT_TELEMETRY_LONGEST_US (INT64_C(30) * 1000 * 1000) /* up to this */

struct writ_telemetry;

/** What it stands on; all of it outlives the telemetry. */
struct writ_telemetry_options {
    const struct writ_telemetry_config *config; /* with `otlp` */
    const struct writ_clock *clock;
    struct writ_log *log;
    struct writ_metrics_shard *shard; /* of its thread */
    const struct writ_admin *admin;   /* the metrics to send */
    size_t lanes;                     /* loops */
};

/** Opens, without a thread. `ret` is new, free with writ_telemetry_free; written only on success.
 * WRIT_E_INVALID: the URL; WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_telemetry_open(const struct writ_telemetry_options *options,
    struct writ_telemetry **ret, struct writ_err *err);

/** Starts the thread, when all metrics are there. WRIT_E_NOMEM. */
WRIT_RESULT writ_telemetry_start(struct writ_telemetry *telemetry, struct writ_err *err);

#define WRIT_TELEMETRY_END_US (INT64_C(3) * 1000 * 1000)

/** After the loops have ended: sends what is left, for at most WRIT_TELEMETRY_END_US, and ends the
 * thread. What is put later is lost. NULL is permitted. */
void writ_telemetry_end(struct writ_telemetry *telemetry);

/** Frees, after writ_telemetry_end. NULL is permitted. */
void writ_telemetry_free(struct writ_telemetry *telemetry);

/* ---- for a loop, on its own lane */

/** What is sent. */
const struct writ_telemetry_config *writ_telemetry_config(const struct writ_telemetry *telemetry);

/** Fills an id with random bytes that are not all zero: unique, and not secret. */
void writ_telemetry_make_id(
    struct writ_telemetry *telemetry, size_t lane, unsigned char *ret, size_t n);

/** Whether `sample` takes the trace of that id. */
bool writ_telemetry_samples(
    const struct writ_telemetry *telemetry, const unsigned char trace_id[WRIT_TRACE_ID_BYTES]);

/** Encodes a record into the lane. Without room, or when it is longer than an entry of the ring, it
 * is lost, and counted. */
void writ_telemetry_put(
    struct writ_telemetry *telemetry, size_t lane, const struct writ_telemetry_record *record);

#endif
