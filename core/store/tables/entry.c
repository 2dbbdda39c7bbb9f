/* The lengths of the parts are digested with them, so that no two lists of parts have the same
 * bytes. */
#include "store/tables/entry.h"

WRIT_RESULT
writ_ledger_claim(struct writ_view tenant, struct writ_view agent_id, struct writ_view upstream,
    struct writ_view tool, struct writ_view idempotency_key, struct writ_digest *ret,
    struct writ_err *err)
{
    /* the lengths separate parts whose concatenation would be the same */
    uint64_t lengths[] = {tenant.len, agent_id.len, upstream.len, tool.len};
    struct writ_view pieces[] = {
        writ_view(lengths, sizeof lengths), tenant, agent_id, upstream, tool, idempotency_key};

    return writ_digest_pieces(pieces, sizeof pieces / sizeof pieces[0], ret, err);
}

WRIT_RESULT
writ_ledger_round(const struct writ_digest *call, struct writ_view request_state,
    struct writ_digest *ret, struct writ_err *err)
{
    uint8_t stated = request_state.ptr != NULL;
    struct writ_view pieces[] = {WRIT_LIT("round"), writ_view(call->bytes, WRIT_DIGEST_BYTES),
        writ_view(&stated, sizeof stated), request_state};

    return writ_digest_pieces(pieces, sizeof pieces / sizeof pieces[0], ret, err);
}

WRIT_RESULT
writ_ledger_review(const struct writ_digest *call, struct writ_view boundary, struct writ_view key,
    struct writ_digest *ret, struct writ_err *err)
{
    uint64_t lengths[] = {boundary.ptr != NULL ? boundary.len + 1 : 0, /* as above */
        key.ptr != NULL ? key.len + 1 : 0};
    struct writ_view pieces[] = {WRIT_LIT("review"), writ_view(call->bytes, WRIT_DIGEST_BYTES),
        writ_view(lengths, sizeof lengths), boundary, key};

    return writ_digest_pieces(pieces, sizeof pieces / sizeof pieces[0], ret, err);
}

WRIT_RESULT
writ_ledger_task(struct writ_view tenant, struct writ_view agent_id, struct writ_view upstream,
    struct writ_view task_id, struct writ_digest *ret, struct writ_err *err)
{
    uint64_t lengths[] = {tenant.len, agent_id.len, upstream.len}; /* as above */
    struct writ_view pieces[] = {
        WRIT_LIT("task"), writ_view(lengths, sizeof lengths), tenant, agent_id, upstream, task_id};

    return writ_digest_pieces(pieces, sizeof pieces / sizeof pieces[0], ret, err);
}

WRIT_RESULT
writ_ledger_insight(struct writ_view tenant, struct writ_view agent_id, struct writ_view key,
    struct writ_digest *ret, struct writ_err *err)
{
    uint64_t lengths[] = {tenant.len, agent_id.len};
    struct writ_view pieces[] = {
        WRIT_LIT("insight"), writ_view(lengths, sizeof lengths), tenant, agent_id, key};

    return writ_digest_pieces(pieces, sizeof pieces / sizeof pieces[0], ret, err);
}
