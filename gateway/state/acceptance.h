/* acceptance.h - definitions of tools as they were seen last and as an operator accepted them:
 * their difference, and another acceptance. For `writ tools` and the page. Everything blocks on
 * files; one thread. */
#ifndef WRIT_GATEWAY_ACCEPTANCE_H
#define WRIT_GATEWAY_ACCEPTANCE_H

#include "policy/model/config.h"
#include "store/trusted/definitions.h"

/** The name of a seen tool as a reader sees it (gateway/mcp/oddity.h), and the place of its
 * upstream in the configuration. */
struct writ_acceptance_name {
    struct writ_view skeleton, tool;
    const struct writ_digest *digest;
    size_t rank;
};

struct writ_acceptance {
    struct writ_definitions *seen, *accepted;
    struct writ_arena *arena;           /* of the names */
    struct writ_acceptance_name *names; /* of all seen tools, in order of both */
};

/** Reads both. As writ_definitions_load (missing files are empty) and writ_accepted_load. Wipe
 * `ret` in any case. */
WRIT_RESULT writ_acceptance_open(const struct writ_config *config, const struct writ_keyring *keys,
    struct writ_acceptance *ret, struct writ_err *err);
/** A zeroed one is fine. */
void writ_acceptance_wipe(struct writ_acceptance *acceptance);

/** "new", "accepted", "changed", or "gone" when it is no longer seen. Static storage. */
const char *writ_acceptance_state(const struct writ_acceptance *acceptance, struct writ_view name);

/** Appends the lines (json/difference.h) from the accepted definition to the last one seen.
 * WRIT_E_ABSENT when neither is known; WRIT_E_NOMEM. */
WRIT_RESULT writ_acceptance_difference(const struct writ_acceptance *acceptance,
    struct writ_view name, struct writ_buf *ret, size_t *ret_lines, struct writ_err *err);

/** What is odd about a definition as it was seen last, beside all others of that file: bits of
 * gateway/mcp/odd.h. 0 when it is not seen. */
unsigned writ_acceptance_odd(const struct writ_acceptance *acceptance,
    const struct writ_config *config, struct writ_view name);

/** Those of the oddities for which the configuration withholds the tool: odd.h. */
unsigned writ_acceptance_withheld(
    const struct writ_config *config, struct writ_view name, unsigned odd);

/** WRIT_E_ABSENT, with what to do about it. */
WRIT_RESULT writ_acceptance_never_seen(struct writ_view name, struct writ_err *err);

/** Whether a definition with these oddities may be accepted.
 *
 * @param odd   of writ_acceptance_odd
 * @param told  the operator says that they are known
 *
 * @return WRIT_OK
 *         WRIT_E_INVALID  the option `definitions` withholds it, and they are not known; or it
 *                         refuses it for good
 */
WRIT_RESULT writ_acceptance_permit(const struct writ_config *config, struct writ_view name,
    unsigned odd, bool told, struct writ_err *err);

/** Accepts a definition as it was seen last, in memory: save it. Its time is later than that of the
 * acceptance before, wherever the clock went, because a gateway takes the later one. As
 * writ_definitions_put. */
WRIT_RESULT writ_acceptance_take(struct writ_acceptance *acceptance,
    const struct writ_definition *seen, int64_t now_us, struct writ_err *err);

#endif
