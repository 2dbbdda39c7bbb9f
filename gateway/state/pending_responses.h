/* pending_responses.h - answers that may come on a stream other than that of their request.
 *
 * A server of the legacy family may give the events of a request's stream ids; then the client may
 * lose the stream and ask for the rest by GET (2025-11-25, basic/transports, "Resumability"). The
 * answer to a governed call then arrives on a stream without a call. So every request with a
 * resumable stream is registered here, for all loops, so that its answer is always recorded: an
 * answer on a GET is carried to its call, which records it and decides what the client gets; or it
 * equals the answer that was passed on before; or it belongs to a request that is not governed. Any
 * other answer is withheld.
 *
 * Settled answers are kept as digests, WRIT_PENDING_RESPONSES_KEPT_MAX of them; the oldest is
 * forgotten first. Any thread; nothing blocks but for a short lock. */
#ifndef WRIT_GATEWAY_PENDING_RESPONSES_H
#define WRIT_GATEWAY_PENDING_RESPONSES_H

#include "evidence/json/digest.h"
#include "evidence/json/json.h"
#include "gateway/io/loop.h"
#include "gateway/mcp/method.h"

#define WRIT_PENDING_RESPONSES_KEPT_MAX 65536

struct writ_pending_responses;
struct writ_request;
struct writ_session;

/** The known state of the request of an answer. */
enum writ_pending_responses_state {
    WRIT_PENDING_RESPONSES_UNKNOWN = 0, /* unknown: the answer must not reach a client */
    WRIT_PENDING_RESPONSES_AWAITED,     /* a governed call without an outcome */
    WRIT_PENDING_RESPONSES_FREE,        /* a request that is not governed */
    WRIT_PENDING_RESPONSES_TASK,        /* a request about a task, whose answer may end it */
    WRIT_PENDING_RESPONSES_SETTLED,  /* a governed call that has ended: `shown` is the answer that
                                        the client got */
    WRIT_PENDING_RESPONSES_PROGRESS, /* not an answer: notices of progress, with the offset
                                        `moved` */
};

struct writ_pending_responses_found {
    enum writ_pending_responses_state state;
    struct writ_request *call; /* AWAITED; for its loop's thread alone */
    struct writ_digest shown;  /* SETTLED: SHA-256 of the message; zeros: the client got none */
    struct writ_digest task;   /* TASK: its name in the ledger, and the request */
    enum writ_mcp_method method;
    double moved; /* PROGRESS: the offset of the upstream's numbers; else 0 */
};

/** An answer on its way from its stream to the loop of its call, and the text for the client on its
 * way back. Its finder owns it, from writ_pending_responses_carry until `done`.
 */
struct writ_handover {
    struct writ_post post;
    struct writ_pending_responses *answers;
    struct writ_digest key;
    struct writ_loop *home; /* where `done` is called */
    void (*done)(struct writ_handover *handover);
    void *ctx;
    struct writ_buf message;    /* on the way there: the upstream's answer; back: the text for the
                                   client */
    bool taken;                 /* false: the call had ended meanwhile; look up again */
    struct writ_handover *next; /* the list of those that wait for one call */
};

/** WRIT_E_NOMEM. */
WRIT_RESULT writ_pending_responses_new(struct writ_pending_responses **ret, struct writ_err *err);
void writ_pending_responses_free(struct writ_pending_responses *answers);

/** Names a request of a session at one upstream by its JSON-RPC id. WRIT_E_PARSE (not an id),
 * WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_pending_responses_key(const struct writ_session *session,
    struct writ_view upstream, const struct writ_json *id, struct writ_digest *ret);

/** Registers a governed call of `loop`, which is AWAITED until it is settled, or, for `call` NULL,
 * a request that is not governed. When a call repeats the id of an earlier request, which a client
 * must not do (2025-11-25, basic), neither can get an answer by GET: it is ambiguous.
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_pending_responses_note(struct writ_pending_responses *answers,
    const struct writ_digest *key, struct writ_request *call, struct writ_loop *loop);

/** Registers a request whose answer is recorded on its own stream alone (relay/reading.h): none is
 * found by that key any more, neither for it nor for an earlier request with its id. WRIT_E_NOMEM.
 */
WRIT_RESULT writ_pending_responses_bar(
    struct writ_pending_responses *answers, const struct writ_digest *key);

/** Registers a request about the task of that name in the ledger, by the same rules as a call.
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_pending_responses_note_task(struct writ_pending_responses *answers,
    const struct writ_digest *key, const struct writ_digest *task, enum writ_mcp_method method);

/** Names the notices of progress with that token. As writ_pending_responses_key. */
WRIT_RESULT writ_pending_responses_progress_key(const struct writ_session *session,
    struct writ_view upstream, const struct writ_json *token, struct writ_digest *ret);

/** Registers the offset of notices of progress that come on another stream, as on the call's own
 * stream (inspect.h); 0: none, whatever an earlier call with that token had. Kept after the end of
 * the call, because its events may be requested again. WRIT_E_NOMEM. */
WRIT_RESULT writ_pending_responses_note_progress(
    struct writ_pending_responses *answers, const struct writ_digest *key, double moved);

/** A governed call has ended; `shown` is the digest of the message that its client got, or NULL. On
 * the call's loop. */
void writ_pending_responses_settle(struct writ_pending_responses *answers,
    const struct writ_digest *key, const struct writ_request *call,
    const struct writ_digest *shown);

/** The known state of an answer: UNKNOWN when no call awaits or has had one by that key.
 * Thread-safe. */
struct writ_pending_responses_found writ_pending_responses_find(
    struct writ_pending_responses *answers, const struct writ_digest *key);

/** Posts `handover->post` to the loop of the call that awaits the answer. Gives false when there is
 * none (any more). */
bool writ_pending_responses_carry(
    struct writ_pending_responses *answers, struct writ_handover *handover);

#endif
