/* pending_responses.h - answers that may come on another stream than that of their request.
 *
 * A server of the legacy family may give the events of a request's stream ids; then the client may
 * lose the stream and ask for the rest by GET (2025-11-25, basic/transports, "Resumability"). The
 * answer to a governed call then passes where no call is. So that it cannot pass its outcome by,
 * every request whose stream can be gone on with is noted here, for all loops: an answer on a GET
 * is either carried to its call, which records it and decides what the client gets, or it is the
 * very answer that was told before, or it belongs to a request that is not governed. Any other is
 * kept back.
 *
 * What is settled is kept as a digest, WRIT_PENDING_RESPONSES_KEPT_MAX of them, the oldest first
 * forgotten. Any thread; nothing blocks but for a short lock. */
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

/** What is known of the request that an answer belongs to. */
enum writ_pending_responses_state {
    WRIT_PENDING_RESPONSES_UNKNOWN = 0, /* nothing: it must not reach a client */
    WRIT_PENDING_RESPONSES_AWAITED,     /* a governed call without an outcome */
    WRIT_PENDING_RESPONSES_FREE,        /* a request that is not governed */
    WRIT_PENDING_RESPONSES_TASK,        /* a question about a task, whose answer may end it */
    WRIT_PENDING_RESPONSES_SETTLED,  /* a governed call that has ended: `shown` is the answer it had
                                      */
    WRIT_PENDING_RESPONSES_PROGRESS, /* no answer: notices of progress, which are moved by `moved`
                                      */
};

struct writ_pending_responses_found {
    enum writ_pending_responses_state state;
    struct writ_request *call; /* AWAITED; for its loop's thread alone */
    struct writ_digest shown;  /* SETTLED: SHA-256 of the message; of zeros: the client had none */
    struct writ_digest task;   /* TASK: its name in the ledger, and what was asked */
    enum writ_mcp_method method;
    double moved; /* PROGRESS: what is added to the numbers of the upstream; 0 else */
};

/** An answer on its way from the stream where it came to the loop of its call, and what the client
 * gets on its way back. Owned by who found it, from writ_pending_responses_carry until `done`.
 */
struct writ_handover {
    struct writ_post post;
    struct writ_pending_responses *answers;
    struct writ_digest key;
    struct writ_loop *home; /* where `done` is called */
    void (*done)(struct writ_handover *handover);
    void *ctx;
    struct writ_buf message;    /* there: the upstream's answer. Back: what the client gets */
    bool taken;                 /* false: the call had ended meanwhile; look again */
    struct writ_handover *next; /* of those that wait for one call */
};

/** WRIT_E_NOMEM. */
WRIT_RESULT writ_pending_responses_new(struct writ_pending_responses **ret, struct writ_err *err);
void writ_pending_responses_free(struct writ_pending_responses *answers);

/** Names a request of a session at one upstream by its JSON-RPC id. WRIT_E_PARSE (an id that is
 * none), WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_pending_responses_key(const struct writ_session *session,
    struct writ_view upstream, const struct writ_json *id, struct writ_digest *ret);

/** Notes a governed call of `loop`, which is AWAITED until it is settled, or, for `call` NULL, a
 * request that is not governed. A call that repeats the id of an earlier request, which a client
 * must not do (2025-11-25, basic), leaves both without an answer by GET: which of them it would
 * belong to cannot be told. WRIT_E_NOMEM. */
WRIT_RESULT writ_pending_responses_note(struct writ_pending_responses *answers,
    const struct writ_digest *key, struct writ_request *call, struct writ_loop *loop);

/** Notes a question about the task of that name in the ledger, by the same rules as a call.
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_pending_responses_note_task(struct writ_pending_responses *answers,
    const struct writ_digest *key, const struct writ_digest *task, enum writ_mcp_method method);

/** Names the notices of progress with that token. As writ_pending_responses_key. */
WRIT_RESULT writ_pending_responses_progress_key(const struct writ_session *session,
    struct writ_view upstream, const struct writ_json *token, struct writ_digest *ret);

/** Notes that notices of progress which come on another stream are moved, as those on the call's
 * own stream are (inspect.h); 0: they are not, whatever an earlier call with that token had. Kept
 * beyond the end of the call, because its events may be asked for once more. WRIT_E_NOMEM. */
WRIT_RESULT writ_pending_responses_note_progress(
    struct writ_pending_responses *answers, const struct writ_digest *key, double moved);

/** A governed call has ended; `shown` is the digest of the message that its client was sent, or
 * NULL. On the call's loop. */
void writ_pending_responses_settle(struct writ_pending_responses *answers,
    const struct writ_digest *key, const struct writ_request *call,
    const struct writ_digest *shown);

/** What is known of an answer: UNKNOWN when no call awaits or has had one by that key. Thread-safe.
 */
struct writ_pending_responses_found writ_pending_responses_find(
    struct writ_pending_responses *answers, const struct writ_digest *key);

/** Posts `handover->post` to the loop of the call that awaits the answer. Gives false when there is
 * none (any more). */
bool writ_pending_responses_carry(
    struct writ_pending_responses *answers, struct writ_handover *handover);

#endif
