/* session.h - MCP sessions of the legacy family between clients and the gateway.
 *
 * The gateway mints its own session id for every initialize, so that a session belongs to one
 * principal and one boundary, and keeps the session ids of the upstreams. A session is immutable
 * except for its use, and for the upstreams that join it late; many loops may hold it at once. Its
 * row in the ledger's session table lets it (and with it the boundary, and so the duplicate check)
 * outlive a restart; the row is on disk before the client learns the id. Where several gateways
 * share the ledger, each looks for the row from time to time, since its client may end it at any.
 *
 * A session id is a secret of its client: logs and records have the boundary_id instead. */
#ifndef WRIT_GATEWAY_SESSION_H
#define WRIT_GATEWAY_SESSION_H

#include "base/clock.h"
#include "evidence/json/digest.h"
#include "evidence/record/reason.h"
#include "gateway/state/session_calls.h"
#include "policy/model/config.h"
#include "store/tables/shares.h"

#include <stdatomic.h>

#define WRIT_SESSION_ID_BYTES   32   /* random bytes of an id */
#define WRIT_SESSION_ID_TEXT    44   /* base64url and NUL */
#define WRIT_SESSION_CLIENT_MAX 4096 /* bytes of the params of initialize that are kept */
#define WRIT_SESSION_LOSSES_MAX 1000 /* replaced ids that are kept, at most */
#define WRIT_SESSION_ASKED      64   /* questions to its client that are remembered */

struct writ_sessions;

/** An upstream's own session id. Constant, and valid until its session is freed. */
struct writ_session_id {
    struct writ_session_id *before; /* of the same session */
    size_t len;                     /* 0: the upstream has no session */
    char bytes[];
};

/** What its client said to the question about a review. */
enum writ_session_asked {
    WRIT_SESSION_NOT_ASKED = 0,
    WRIT_SESSION_WAS_ASKED,
    WRIT_SESSION_DECLINED, /* nothing: it does not want to decide */
};

/** Lists to which an upstream contributes; bits. */
enum writ_session_list {
    WRIT_SESSION_TOOLS = 1,
    WRIT_SESSION_PROMPTS = 2,
    WRIT_SESSION_RESOURCES = 4, /* and templates of them */
    WRIT_SESSION_LISTS = 7,
};

/** One upstream in the session. */
struct writ_session_upstream {
    struct writ_view name;
    _Atomic(const struct writ_session_id *) id; /* NULL: it missed initialize, or lost the session,
                                                   and joins later (late.h) */
    atomic_uint missed;                         /* enum writ_session_list: answered without it */
};

/** One session. All members except the atomic ones are constant after it was added. */
struct writ_session {
    char id[WRIT_SESSION_ID_TEXT];
    struct writ_digest hash; /* SHA-256 of the id: the key of its row */
    struct writ_view boundary_id, tenant, agent_id;
    struct writ_view endpoint; /* path it was opened on: "/mcp" or "/mcp/fs" */
    struct writ_view version;  /* negotiated revision */
    struct writ_view client;   /* params of the client's initialize, as JSON, for a server that is
                                  restarted or joins late; empty: too long to be kept */
    _Atomic(struct writ_session_id *) environment; /* as the field of client_env.h, a secret; NULL:
                                                     its client gave none */
    unsigned abilities; /* the requests that its client takes (abilities.h) */
    struct writ_session_upstream *upstreams;
    size_t upstreams_n;
    _Atomic(struct writ_session_id *) ids; /* all that there were */
    atomic_uint losses;                    /* of upstreams, up to WRIT_SESSION_LOSSES_MAX */
    int64_t created_us;                    /* wall */
    struct writ_arena *arena;              /* owns all of the above */
    atomic_int_least64_t seen_us;          /* monotonic */
    atomic_int_least64_t looked_us; /* monotonic: its row was there; writ_sessions_add sets it */
    atomic_int_least64_t stored_us; /* wall time until which its row is good */
    atomic_uint holders;
    /* a hash of a review's id, and in its last bits enum writ_session_asked; a ring */
    atomic_uint_least64_t asked[WRIT_SESSION_ASKED];
    atomic_uint asked_n;
    atomic_bool left;     /* its client has ended it: nothing writes its row any more */
    atomic_uint resuming; /* streams of it that are being resumed by GET */
    struct writ_session_calls calls;
    struct writ_session *next; /* the table's, as the next one */
    struct writ_charge charge;
};

/** A table for at most `max` sessions, which expire when unused for `idle_us`. An agent has a share
 * of it (store/tables/shares.h). WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_sessions_new(
    size_t max, int64_t idle_us, struct writ_sessions **ret, struct writ_err *err);
/** Other shares, in percent. Before the table is used. */
void writ_sessions_divide(
    struct writ_sessions *sessions, unsigned agent_percent, unsigned tenant_percent);
void writ_sessions_free(struct writ_sessions *sessions);

/**
 * A new session with a random id and boundary, held once by the caller, not yet in the table.
 * Fill version and upstreams before adding it.
 *
 * @return WRIT_OK, WRIT_E_NOMEM, WRIT_E_CRYPTO
 */
WRIT_RESULT writ_session_new(const struct writ_agent *agent, struct writ_view endpoint,
    const struct writ_clock *clock, struct writ_session **ret, struct writ_err *err);

/** Makes room for `n` upstreams; the session has none yet. Before it is added. WRIT_E_NOMEM. */
WRIT_RESULT writ_session_make_room(struct writ_session *session, size_t n);

/** Adds an upstream with its session id, or {NULL, 0} for a late one. Copied. Before it is added.
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_session_add_upstream(
    struct writ_session *session, struct writ_view name, struct writ_view id);

/** The reason why the agent cannot open one more session (OVERLOADED, SHARE_EXCEEDED), or NONE. Any
 * thread. */
enum writ_reason writ_sessions_crowded(
    struct writ_sessions *sessions, const struct writ_agent *agent);

/** Puts it into the table; `now_us` is monotonic. When the same session was added meanwhile (two
 * loops read one row), the caller gets that one, held, and its own is dropped. WRIT_E_LIMIT: the
 * table, or its agent's share of it, is full; WRIT_E_NOMEM, WRIT_E_CRYPTO. Any thread. */
WRIT_RESULT writ_sessions_add(
    struct writ_sessions *sessions, struct writ_session **session, int64_t now_us);

/** The session of that id, held, and marked as used; NULL when the table has none, or it was unused
 * for too long (its row may still be in the ledger). Any thread. */
struct writ_session *writ_sessions_find(
    struct writ_sessions *sessions, struct writ_view id, int64_t now_us);

/** Removes the session of that hash from the table, if present; holders keep it. Any thread. */
void writ_sessions_remove(struct writ_sessions *sessions, const struct writ_digest *hash);

/** How many are in the table. Any thread. */
size_t writ_sessions_count(struct writ_sessions *sessions);

/** Removes sessions that were unused for too long; returns their number, and the number left. Any
 * thread. */
size_t writ_sessions_sweep(struct writ_sessions *sessions, int64_t now_us, size_t *ret_left);

/** Drops one hold; the last one frees. NULL is permitted. Any thread. */
void writ_session_drop(struct writ_session *session);

/** True when `agent` opened it. */
bool writ_session_is_of(const struct writ_session *session, const struct writ_agent *agent);

/** Whether that upstream answered the session's initialize, or has joined since. Any thread. */
bool writ_session_has(const struct writ_session *session, struct writ_view name);

/** Whether that upstream missed the session's initialize and has not joined. Any thread. */
bool writ_session_is_late(const struct writ_session *session, struct writ_view name);

/**
 * A late upstream joins the session. Store its row again.
 *
 * @param id  its own session id, or empty; copied
 *
 * @return WRIT_OK        writ_session_has and _upstream say so from now on
 *         WRIT_E_ABSENT  it is not late: another thread has joined it
 *         WRIT_E_LIMIT   the session's row would be longer than a row may be
 *         WRIT_E_NOMEM
 *
 * Any thread.
 */
WRIT_RESULT writ_session_join(
    struct writ_session *session, struct writ_view name, struct writ_view id);

/** An upstream has lost its session `id`: it is late from now on, unless it has joined with another
 * one since. After WRIT_SESSION_LOSSES_MAX losses nothing changes. Any thread.
 */
void writ_session_lose(struct writ_session *session, struct writ_view name, struct writ_view id);

/** The upstream's own session id, or the empty view; borrowed until the session is dropped. Any
 * thread. */
struct writ_view writ_session_upstream(const struct writ_session *session, struct writ_view name);

/** Notes that the session's client got a list, with the upstream's part or without. Any thread. */
void writ_session_note_list(
    struct writ_session *session, struct writ_view name, enum writ_session_list list, bool missed);

/** The lists that its client got without that upstream's part, and not with it since: bits.
 * `_take_` clears them: of two callers at the same time only one gets them. Any thread. */
unsigned writ_session_missed(const struct writ_session *session, struct writ_view name);
unsigned writ_session_take_missed(struct writ_session *session, struct writ_view name);

/** Whether an upstream is late, or was missed in a list. Any thread. */
bool writ_session_is_short(const struct writ_session *session);

/** Keeps the environment that its client gave, unless it has one. In memory alone: its row has
 * none. Without memory it stays without. Any thread. */
void writ_session_keep_environment(struct writ_session *session, struct writ_view environment);

/** That environment, or the empty view; borrowed until the session is dropped. Any thread. */
struct writ_view writ_session_environment(const struct writ_session *session);

/** Notes that its client is asked about that review, or has declined to answer. Any thread. */
void writ_session_note_asked(
    struct writ_session *session, struct writ_view review, enum writ_session_asked asked);

/** The last note about that review. Kept in memory alone, for the last WRIT_SESSION_ASKED reviews.
 * Any thread. */
enum writ_session_asked writ_session_asked(
    const struct writ_session *session, struct writ_view review);

/** SHA-256 of a session id from a client. WRIT_E_CRYPTO. */
WRIT_RESULT writ_session_hash(struct writ_view id, struct writ_digest *ret, struct writ_err *err);

/** Appends the row's value: a JSON object. */
void writ_session_put(const struct writ_session *session, struct writ_buf *ret);

/** Makes a session from its row, held once. WRIT_E_PARSE for a malformed row, WRIT_E_NOMEM. */
WRIT_RESULT writ_session_read(
    struct writ_view id, struct writ_view value, struct writ_session **ret, struct writ_err *err);

#endif
