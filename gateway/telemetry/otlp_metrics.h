/* otlp_metrics.h - metrics of OTLP (otlp.h), translated from the text of /metrics, so that both
 * have the same names, labels and values. Counters and histograms are sums since the start of the
 * gateway. */
#ifndef WRIT_GATEWAY_TELEMETRY_OTLP_METRICS_H
#define WRIT_GATEWAY_TELEMETRY_OTLP_METRICS_H

#include "gateway/telemetry/otlp.h"

#define WRIT_OTLP_LABEL_MAX   1400 /* bytes of a value of a label; a longer one is cut */
#define WRIT_OTLP_BUCKETS_MAX 64   /* of a histogram */

/**
 * Adds all metrics of a text; a metric without values is left out.
 *
 * @param otlp     begun
 * @param text     the gateway's own, in the Prometheus text format
 * @param from_us  wall: the start of the gateway
 * @param now_us   wall: of the text
 */
void writ_otlp_metrics_add(
    struct writ_otlp *otlp, struct writ_view text, int64_t from_us, int64_t now_us);

#endif
