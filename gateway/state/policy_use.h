/* policy_use.h - which policies decided calls, from when to when and how many, for the page: by
 * tenant and digest, counted from records in any order. At most WRIT_POLICY_USE_MAX of them, and
 * further ones are not counted. One
 * thread, or a lock of the owner. */
#ifndef WRIT_GATEWAY_POLICY_USE_H
#define WRIT_GATEWAY_POLICY_USE_H

#include "evidence/json/digest.h"

#define WRIT_POLICY_USE_MAX 4096

/** The decisions of one policy about calls of one tenant. */
struct writ_policy_use_row {
    struct writ_digest policy;
    struct writ_view tenant; /* empty: none */
    uint64_t decisions;
    int64_t first_us, last_us;
};

struct writ_policy_use;

/** WRIT_E_NOMEM. `ret` is new, free with writ_policy_use_free. */
WRIT_RESULT writ_policy_use_new(struct writ_policy_use **ret, struct writ_err *err);
/** NULL is permitted. */
void writ_policy_use_free(struct writ_policy_use *use);

/** Counts a decision. WRIT_E_PARSE (not a digest), WRIT_E_LIMIT, WRIT_E_NOMEM. */
WRIT_RESULT writ_policy_use_add(
    struct writ_policy_use *use, struct writ_view policy, struct writ_view tenant, int64_t at_us);

/** Calls `each` for every row, in no order. */
void writ_policy_use_each(const struct writ_policy_use *use,
    void (*each)(void *ctx, const struct writ_policy_use_row *row), void *ctx);

#endif
