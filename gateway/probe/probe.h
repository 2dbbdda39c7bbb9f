/* probe.h - the question about the state of a call's target, and what its answer says of it. Pure.
 *
 * A probe (policy.h) is a read-only question to an MCP server, or an HTTP GET. What counts of the
 * answer is chosen by `select`; the digest is H over the object {pointer: value, ...}, or over the
 * whole answer without `select`, so that the tool can compute it again.
 *
 * The answer of a tool is looked at as its structuredContent, else as the JSON in its first text,
 * else as the lines "name: value" of that text: the first of these that has every selected member.
 * A target that does not exist has, where `on_error: absent` says so, the digest of null. */
#ifndef WRIT_GATEWAY_PROBE_H
#define WRIT_GATEWAY_PROBE_H

#include "evidence/json/digest.h"
#include "evidence/json/write.h"
#include "gateway/mcp/mcp.h"
#include "policy/decide/policy.h"

#define WRIT_PROBE_ANSWER_MAX   (1u << 20) /* bytes of an answer */
#define WRIT_PROBE_QUESTION_MAX (4u << 20)
#define WRIT_PROBE_SHOWN_MAX    65536 /* bytes of a state that is shown; a longer one is a digest */
#define WRIT_PROBE_ID_MAX       64    /* bytes of the id of a question, with its end */

/** Makes a unique id: `prefix`, of at most 31 bytes, and 128 random bits. Servers keep their
 * answers by the id, for all requests of a session. NUL-terminated. WRIT_E_CRYPTO. */
WRIT_RESULT writ_probe_make_id(const char *prefix, char ret[WRIT_PROBE_ID_MAX]);

/** What was found out. Zero: nothing. */
struct writ_probe_state {
    bool known;
    struct writ_digest digest;
    struct writ_view text; /* the state itself, canonical; empty: not wanted, or too long */
};

/** The method of the question to an MCP server. */
struct writ_view writ_probe_method(const struct writ_probe_request *wanted);

/**
 * Appends the question to an MCP server as a JSON-RPC request.
 *
 * @param id     of the request: unique where it is sent
 * @param asked  the message that it is made for, whose revision and capabilities it states
 *
 * @return WRIT_OK, WRIT_E_LIMIT, WRIT_E_NOMEM
 */
WRIT_RESULT writ_probe_put(struct writ_buf *buf, const struct writ_probe_request *wanted,
    struct writ_view id, const struct writ_mcp_message *asked);

/** What the JSON-RPC response `answer` of an MCP server says.
 * @param show  whether the state's text is wanted; it lies in the arena then */
void writ_probe_read_response(const struct writ_probe_request *wanted, struct writ_view answer,
    bool show, struct writ_arena *arena, struct writ_probe_state *ret);

/** What the answer to an HTTP GET says; otherwise as above. */
void writ_probe_read_page(const struct writ_probe_request *wanted, unsigned status,
    struct writ_view body, bool show, struct writ_arena *arena, struct writ_probe_state *ret);

#endif
