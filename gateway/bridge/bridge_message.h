/* bridge_message.h - what a line of the client says to the bridge, and the errors that the bridge
 * answers with. Pure. The gateway judges a message; the bridge reads only what HTTP needs of it. */
#ifndef WRIT_GATEWAY_BRIDGE_MESSAGE_H
#define WRIT_GATEWAY_BRIDGE_MESSAGE_H

#include "gateway/mcp/mcp.h"
#include "gateway/mcp/method.h"

#define WRIT_BRIDGE_IDS_MAX   64    /* requests of one batch that an error can answer */
#define WRIT_BRIDGE_ERROR_MAX 16384 /* bytes of an error */

/** One line. Everything in it is borrowed from the line and its arena. */
struct writ_bridge_message {
    enum writ_mcp_kind kind; /* REFUSED: not JSON, or of no known form; a batch with requests in it
                              * is a REQUEST, another one a NOTIFICATION */
    bool modern;             /* of the stateless revision */
    bool safe;               /* a request that may be sent again when its answer was lost */
    enum writ_mcp_method method; /* UNKNOWN of a batch */
    struct writ_view method_name;
    struct writ_view version;     /* of a modern message */
    struct writ_view name;        /* what Mcp-Name says again; ptr NULL: nothing */
    const struct writ_json *body; /* NULL: not JSON */
    const struct writ_json *params;
    const struct writ_json *ids[WRIT_BRIDGE_IDS_MAX]; /* of the requests in it; also when it is not
                                                         JSON for halves of characters alone */
    size_t ids_n;
};

/** Reads a line. What cannot be read is REFUSED. WRIT_E_NOMEM. */
WRIT_RESULT writ_bridge_message_read(
    struct writ_view line, struct writ_arena *arena, struct writ_bridge_message *ret);

/** Whether `answer`, a message of the gateway, answers the request `id`. */
bool writ_bridge_message_answers(const struct writ_json *answer, const struct writ_json *id);

/** The reason of a refusal in either of its forms, or the empty view. */
struct writ_view writ_bridge_message_reason(const struct writ_json *answer);

/** Appends an error for the request `id` (NULL: null). `text` empty: the sentence of the reason. */
void writ_bridge_message_put_error(struct writ_buf *buf, const struct writ_json *id,
    enum writ_rpc_code code, enum writ_reason reason, struct writ_view text);

/** Appends the error for a call whose answer is lost: it may have run. */
void writ_bridge_message_put_lost(struct writ_buf *buf, const struct writ_json *id);

/** Appends an answer to initialize or server/discover with a note at the end of its instructions.
 * False: the answer is not a result. */
bool writ_bridge_message_put_noted(
    struct writ_buf *buf, const struct writ_json *answer, struct writ_view note);

/** Appends an answer of the gateway, whose id is not the request's, as an answer to the request. */
void writ_bridge_message_put_as(
    struct writ_buf *buf, const struct writ_json *id, const struct writ_json *answer);

#endif
