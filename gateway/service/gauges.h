/* gauges.h - the metrics that are read where their values are kept: ledger, disk, sessions,
 * upstreams, certificates. */
#ifndef WRIT_GATEWAY_GAUGES_H
#define WRIT_GATEWAY_GAUGES_H

#include "gateway/state/gateway.h"

/** Makes /metrics of `gateway` complete. Before its admin listener opens; `gateway` is borrowed
 * until that is closed. */
void writ_gauges_open(struct writ_gateway *gateway);

#endif
