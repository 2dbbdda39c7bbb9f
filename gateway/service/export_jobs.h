/* export_jobs.h - the exports of a gateway (`export`): each on a thread of its own, so that a
 * receiver that does not answer delays only its own events. A failure is logged and counted, and
 * tried again after a pause that doubles; no call waits for any of this. */
#ifndef WRIT_GATEWAY_EXPORT_JOBS_H
#define WRIT_GATEWAY_EXPORT_JOBS_H

#include "gateway/state/gateway.h"

#define WRIT_EXPORT_JOBS_EVERY_US   INT64_C(1000000) /* between two looks for new records */
#define WRIT_EXPORT_JOBS_RETRY_US   INT64_C(1000000) /* after the first failure */
#define WRIT_EXPORT_JOBS_LONGEST_US INT64_C(60000000)

struct writ_export_jobs;

/**
 * Starts the threads.
 *
 * @param gateway  its configuration, clock, log, labels and metrics are used; outlives the jobs
 * @param shard    the first of the shards that only these threads use, one for each export
 * @param ret      new, free with writ_export_jobs_free; written only on success
 *
 * WRIT_E_NOMEM, WRIT_E_INVALID (an entry that cannot work).
 */
WRIT_RESULT writ_export_jobs_open(const struct writ_gateway *gateway, size_t shard,
    struct writ_export_jobs **ret, struct writ_err *err);

/** Cancels the running deliveries, which the next start repeats. NULL is permitted. */
void writ_export_jobs_free(struct writ_export_jobs *jobs);

#endif
