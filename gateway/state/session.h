/* session.h - MCP sessions of the legacy family, as the gateway hands them out.
 *
 * The gateway mints its own session id for every initialize, so that a session belongs to one
 * principal and one boundary, and keeps behind it the session ids of the upstreams. A session is
 * immutable but for when and how it is used, and for the upstreams that join it late; many loops
 * may hold it at once. Its row in the ledger's session table lets it (and with it the boundary, and
 * so the duplicate check) outlive a restart; the row is on disk before the client learns the id.
 *
 * A session id is a secret of its client: logs and records have the boundary_id instead. */
#ifndef WRIT_GATEWAY_SESSION_H
#define WRIT_GATEWAY_SESSION_H

#include "base/clock.h"
#include "evidence/json/digest.h"
#include "evidence/record/reason.h"
#include "policy/model/config.h"
#include "store/tables/shares.h"

#include <stdatomic.h>

#define WRIT_SESSION_ID_BYTES   32   /* random bytes of an id */
#define WRIT_SESSION_ID_TEXT    44   /* base64url and NUL */
#define WRIT_SESSION_CLIENT_MAX 4096 /* bytes of the params of initialize that are kept */
#define WRIT_SESSION_LOSSES_MAX 1000 /* ids that are kept behind those that are used */

struct writ_sessions;

/** An upstream's own session id. Constant, and there until its session is freed. */
struct writ_session_id {
    struct writ_session_id *before; /* of the same session */
    size_t len;                     /* 0: the upstream has none */
    char bytes[];
};

/** Lists of which an upstream has a part; bits. */
enum writ_session_list {
    WRIT_SESSION_TOOLS = 1,
    WRIT_SESSION_PROMPTS = 2,
    WRIT_SESSION_RESOURCES = 4, /* and templates of them */
    WRIT_SESSION_LISTS = 7,
};

/** What one upstream said to this session's initialize. */
struct writ_session_upstream {
    struct writ_view name;
    _Atomic(const struct writ_session_id *) id; /* NULL: it missed initialize, or does not know the
                                                 * session any more, and joins later (late.h) */
    atomic_uint missed;                         /* enum writ_session_list: answered without it */
};

/** One session. All members but the atomic ones are constant once it was added. */
struct writ_session {
    char id[WRIT_SESSION_ID_TEXT];
    struct writ_digest hash; /* SHA-256 of the id: the key of its row */
    struct writ_view boundary_id, tenant, agent_id;
    struct writ_view endpoint; /* path it was opened on: "/mcp" or "/mcp/fs" */
    struct writ_view version;  /* negotiated revision */
    struct writ_view client;   /* params of the client's initialize, as JSON, for a server that is
                                * started again or joins late; empty: longer than is kept */
    unsigned abilities;        /* what may be asked of its client (abilities.h) */
    struct writ_session_upstream *upstreams;
    size_t upstreams_n;
    _Atomic(struct writ_session_id *) ids; /* all that there were */
    atomic_uint losses;                    /* of upstreams, up to WRIT_SESSION_LOSSES_MAX */
    int64_t created_us;                    /* wall */
    struct writ_arena *arena;              /* owns all of the above */
    atomic_int_least64_t seen_us;          /* monotonic */
    atomic_int_least64_t stored_us;        /* wall time until which its row is good */
    atomic_uint holders;
    atomic_bool left;          /* its client has ended it: its row is not written any more */
    atomic_uint resuming;      /* streams of it that are being gone on with by GET */
    struct writ_session *next; /* the table's, as the next one */
    struct writ_charge charge;
};

/** A table for at most `max` sessions, which expire when unused for `idle_us`. An agent has a share
 * of it (store/shares.h). WRIT_E_NOMEM, WRIT_E_CRYPTO. */
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

/** Room for `n` upstreams, of which there are none yet. Before it is added. WRIT_E_NOMEM. */
WRIT_RESULT writ_session_make_room(struct writ_session *session, size_t n);

/** One more upstream with its session id, or {NULL, 0}: it is late. Copied. Before it is added.
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_session_add_upstream(
    struct writ_session *session, struct writ_view name, struct writ_view id);

/** Why the agent cannot open one more session (OVERLOADED, SHARE_EXCEEDED), or NONE. Any thread. */
enum writ_reason writ_sessions_crowded(
    struct writ_sessions *sessions, const struct writ_agent *agent);

/** Puts it into the table; `now_us` is monotonic. WRIT_E_LIMIT: the table, or its agent's share of
 * it, is full; WRIT_E_NOMEM, WRIT_E_CRYPTO. When the same session was added meanwhile (two loops
 * read one row), that one stays and WRIT_OK is returned. Any thread. */
WRIT_RESULT writ_sessions_add(
    struct writ_sessions *sessions, struct writ_session *session, int64_t now_us);

/** The session of that id, held, and marked as used; NULL when there is none here, or it was unused
 * for too long (its row may still be in the ledger). Any thread. */
struct writ_session *writ_sessions_find(
    struct writ_sessions *sessions, struct writ_view id, int64_t now_us);

/** Takes the session of that hash out of the table, if it is there; holders keep it. Any thread. */
void writ_sessions_remove(struct writ_sessions *sessions, const struct writ_digest *hash);

/** How many are in the table. Any thread. */
size_t writ_sessions_count(struct writ_sessions *sessions);

/** Takes out what was unused for too long; gives how many, and how many are left. Any thread. */
size_t writ_sessions_sweep(struct writ_sessions *sessions, int64_t now_us, size_t *ret_left);

/** Drops one hold; the last one frees. NULL is fine. Any thread. */
void writ_session_drop(struct writ_session *session);

/** True when `agent` is who opened it. */
bool writ_session_is_of(const struct writ_session *session, const struct writ_agent *agent);

/** Whether that upstream answered the session's initialize, or has joined since. Any thread. */
bool writ_session_has(const struct writ_session *session, struct writ_view name);

/** Whether that upstream missed the session's initialize and has not joined. Any thread. */
bool writ_session_is_late(const struct writ_session *session, struct writ_view name);

/**
 * An upstream that is late joins the session. Its row is to be stored again.
 *
 * @param id  its own session id, or empty; copied
 *
 * @return WRIT_OK        writ_session_has and _upstream say so from now on
 *         WRIT_E_ABSENT  it is not late: another thread was faster
 *         WRIT_E_LIMIT   the session's row would be longer than a row may be
 *         WRIT_E_NOMEM
 *
 * Any thread.
 */
WRIT_RESULT writ_session_join(
    struct writ_session *session, struct writ_view name, struct writ_view id);

/** An upstream does not know its session `id` any more: it is late from now on, unless it has
 * joined with another one since. After WRIT_SESSION_LOSSES_MAX of them nothing changes. Any thread.
 */
void writ_session_lose(struct writ_session *session, struct writ_view name, struct writ_view id);

/** The upstream's own session id, or the empty view; borrowed until the session is dropped. Any
 * thread. */
struct writ_view writ_session_upstream(const struct writ_session *session, struct writ_view name);

/** The session's client was answered a list, with its part of it or without. Any thread. */
void writ_session_note_list(
    struct writ_session *session, struct writ_view name, enum writ_session_list list, bool missed);

/** The lists that its client was answered without that upstream's part, and not with it since:
 * bits. `_take_` forgets them: of two that ask at a time one gets them. Any thread. */
unsigned writ_session_missed(const struct writ_session *session, struct writ_view name);
unsigned writ_session_take_missed(struct writ_session *session, struct writ_view name);

/** Whether an upstream is late, or was missed in a list. Any thread. */
bool writ_session_is_short(const struct writ_session *session);

/** SHA-256 of a session id as a client sent it. WRIT_E_CRYPTO. */
WRIT_RESULT writ_session_hash(struct writ_view id, struct writ_digest *ret, struct writ_err *err);

/** Appends the row's value: a JSON object. */
void writ_session_put(const struct writ_session *session, struct writ_buf *ret);

/** Makes a session of its row, held once. WRIT_E_PARSE for a row that is none, WRIT_E_NOMEM. */
WRIT_RESULT writ_session_read(
    struct writ_view id, struct writ_view value, struct writ_session **ret, struct writ_err *err);

#endif
