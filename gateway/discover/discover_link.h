/* discover_link.h - what a discovery asks of a transport: one message, and the answer to it. Part
 * of discover.h.
 *
 * A link has a loop of its own, which runs on the calling thread while it waits. */
#ifndef WRIT_GATEWAY_DISCOVER_LINK_H
#define WRIT_GATEWAY_DISCOVER_LINK_H

#include "gateway/io/loop.h"
#include "policy/model/config.h"

#define WRIT_DISCOVER_ANSWER_MAX ((size_t)16 << 20) /* of one page of tools/list */
#define WRIT_DISCOVER_LABEL_MAX  200

/** One message. Borrowed for the call. */
struct writ_discover_message {
    struct writ_view method, body;
    int64_t id;                /* of the request; 0: a notification */
    bool modern;               /* the head says again what the body says */
    struct writ_view revision; /* for the head; empty: not agreed yet */
    int64_t within_us;         /* for the answer; 0: as long as the link has */
};

struct writ_discover_link;

struct writ_discover_link_ops {
    /**
     * Sends it; of a request, waits for the answer.
     *
     * @param ret_answer  a JSON-RPC response with the id of the request, not read any further;
     *                    borrowed until the next call. Empty of a notification
     *
     * @return WRIT_OK
     *         WRIT_E_ABSENT  there is no answer to this one; another message may have one
     *         WRIT_E_IO, WRIT_E_LIMIT, WRIT_E_NOMEM  it is over
     */
    WRIT_RESULT(*ask)
    (struct writ_discover_link *link, const struct writ_discover_message *message,
        struct writ_view *ret_answer, struct writ_err *err);
    /** Ends the session and the program, and frees. */
    void (*close)(struct writ_discover_link *link);
};

/** The first member of a transport's own struct. */
struct writ_discover_link {
    const struct writ_discover_link_ops *ops;
    const struct writ_upstream_config *server; /* borrowed */
    struct writ_loop *loop;                    /* borrowed */
    struct writ_timer timer;
    int64_t ends_us;                     /* monotonic: when all of it is over */
    bool late;                           /* the timer came */
    bool done;                           /* what the loop ran for is there */
    char label[WRIT_DISCOVER_LABEL_MAX]; /* the server's name in errors, NUL-terminated */
};

/** Fills the parts that all transports have. */
void writ_discover_link_init(struct writ_discover_link *ret,
    const struct writ_discover_link_ops *ops, const struct writ_upstream_config *server,
    struct writ_loop *loop, int64_t ends_us);

/** Runs the loop until `done` is set (writ_discover_link_wake) or the time is over: then `late`. */
WRIT_RESULT writ_discover_link_run(
    struct writ_discover_link *link, int64_t within_us, struct writ_err *err);

/** From a callback of the loop: what it ran for is there. */
void writ_discover_link_wake(struct writ_discover_link *link);

/** True when `text` is a response to request `id`. */
bool writ_discover_link_is_answer(struct writ_view text, int64_t id);

#endif
