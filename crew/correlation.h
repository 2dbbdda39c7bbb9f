/* correlation.h - the ids that join an answer to its request. */
#ifndef WRIT_CREW_CORRELATION_H
#define WRIT_CREW_CORRELATION_H

#include "base/bytes.h"
#include "writ/crew.h"

#define WRIT_CORRELATION_TEXT 16

/** 64-bit FNV-1a; each step takes one UTF-16 code unit of `text`, which is UTF-8. */
uint64_t writ_correlation_hash(struct writ_view text);

/** The id of the `attempt`-th request to an agent; `scratch` is overwritten. WRIT_E_NOMEM. */
WRIT_RESULT writ_correlation_id(struct writ_buf *scratch, struct writ_view crew_id,
    struct writ_view role_id, struct writ_view agent_id, double attempt, uint64_t *ret);

/** 16 lower-case hex digits, not NUL-terminated. */
struct writ_view writ_correlation_put(uint64_t id, char ret[WRIT_CORRELATION_TEXT]);

/** False when `text` is not such an id. */
bool writ_correlation_read(struct writ_view text, uint64_t *ret);

#endif
