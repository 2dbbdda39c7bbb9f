/* retain.h - which contents of a call the ledger keeps (policy/decide/kept.h): its arguments with
 * the decision, also of a refused call, and its result with the outcome.
 *
 * The result of a call whose arguments were kept in part is not kept: it may repeat a secret. Nor
 * is one of a call that another policy decided, when the present one has secrets for its tool. */
#ifndef WRIT_GATEWAY_RETAIN_H
#define WRIT_GATEWAY_RETAIN_H

#include "evidence/record/content.h"
#include "gateway/request/request.h"

/** Sets the kept form of the arguments of a call that is judged, and its digest in the extension of
 * the decision when it is not that of all arguments. A call whose arguments have no digest keeps
 * nothing. WRIT_E_NOMEM, WRIT_E_LIMIT, WRIT_E_CRYPTO. */
WRIT_RESULT writ_retain_describe(struct writ_request *request, struct writ_call *call);

/** The terms for the result of a call that was decided before, by its record.
 *
 * @param rule  the present rule for the call; or NULL */
struct writ_call_contents writ_retain_of(const struct writ_config *config,
    struct writ_view upstream, const struct writ_decision *decision,
    const struct writ_tool_rule *rule, struct writ_arena *arena);

/** One content, to be encrypted. */
struct writ_retained {
    const struct writ_decision *decision;
    enum writ_content_part part;
    bool is_part; /* members were left out */
    struct writ_view text;
    int64_t since_us, keep_us; /* its time begins, and is that long */
};

/** Encrypts it with the active key of contents, in the arena; NULL: it cannot. */
const struct writ_sealed *writ_retain_seal(const struct writ_keyring *ring,
    const struct writ_retained *what, struct writ_arena *arena, struct writ_err *err);

/** The result of a call for its outcome, for as long as its arguments; NULL: none is kept. A result
 * that cannot be encrypted is not kept: the call has run, and its outcome is recorded without it.
 */
const struct writ_sealed *writ_retain_result(const struct writ_keyring *ring,
    const struct writ_call_contents *contents, const struct writ_decision *decision,
    const struct writ_outcome *outcome, int64_t now_us, struct writ_arena *arena);

/** Whether a result of that many canonical bytes is kept; notes one that is too large. */
bool writ_retain_takes(struct writ_call_contents *contents, size_t bytes);

#endif
