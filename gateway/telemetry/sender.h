/* sender.h - one body of OTLP to the collector (specification of OTLP 1, "OTLP/HTTP", binary).
 *
 * Blocks; for one thread. */
#ifndef WRIT_GATEWAY_TELEMETRY_SENDER_H
#define WRIT_GATEWAY_TELEMETRY_SENDER_H

#include "gateway/telemetry/otlp.h"

#include <stdatomic.h>

#define WRIT_SENDER_FIELDS_MAX 16   /* of `headers_file` */
#define WRIT_SENDER_FILE_MAX   8192 /* its bytes */

struct writ_sender;

/** What became of a body. */
struct writ_sent {
    bool again;        /* a failure: the same body may be sent later */
    int64_t after_us;  /* not before; 0: the collector did not say */
    uint64_t rejected; /* a success: elements that the collector did not take */
};

/** `config` outlives the sender. `ret` is new, free with writ_sender_free; written only on success.
 * WRIT_E_INVALID: not a URL that may be fetched; WRIT_E_NOMEM. */
WRIT_RESULT writ_sender_new(
    const struct writ_telemetry_config *config, struct writ_sender **ret, struct writ_err *err);
void writ_sender_free(struct writ_sender *sender);

/**
 * Sends a body, which is not empty.
 *
 * @param timeout_ms  in all
 * @param stop        cancels soon after it becomes true; may be NULL
 * @param ret         always written
 *
 * @return WRIT_OK when the collector took it, or a part
 *         WRIT_E_IO       it did not: `ret->again` says whether it may later
 *         WRIT_E_INVALID  the file of fields is not good
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_sender_send(struct writ_sender *sender, enum writ_otlp_signal signal,
    struct writ_view body, int64_t timeout_ms, const atomic_bool *stop, struct writ_sent *ret,
    struct writ_err *err);

#endif
