/* probe.h - the request for the state of a call's target, and the reading of its answer. Pure.
 *
 * A probe (policy.h) is a read-only question to an MCP server, or an HTTP GET. `select` chooses the
 * relevant parts of the answer; the digest is H over the object {pointer: value, ...}, or over the
 * whole answer without `select`, so that the tool can compute it too.
 *
 * The answer of a tool is read as its structuredContent, else as the JSON in its first text, else
 * as the lines "name: value" of that text: the first of these that has every selected member. With
 * `on_error: absent`, a target that does not exist has the digest of null. */
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

/** Makes a unique id: `prefix`, of at most 31 bytes, and 128 random bits. Servers index their
 * answers by the id, for all requests of a session. NUL-terminated. WRIT_E_CRYPTO. */
WRIT_RESULT writ_probe_make_id(const char *prefix, char ret[WRIT_PROBE_ID_MAX]);

/** The observed state. Zero: unknown. */
struct writ_probe_state {
    bool known;
    struct writ_digest digest;
    struct writ_view text; /* the state itself, canonical; empty: not requested, or too long */
};

/** The method of the question to an MCP server. */
struct writ_view writ_probe_method(const struct writ_probe_request *wanted);

/**
 * Appends the request to an MCP server, in JSON-RPC.
 *
 * @param id     of the request: unique at its server
 * @param asked  the message that it is made for, whose revision and capabilities it states
 *
 * @return WRIT_OK, WRIT_E_LIMIT, WRIT_E_NOMEM
 */
WRIT_RESULT writ_probe_put(struct writ_buf *buf, const struct writ_probe_request *wanted,
    struct writ_view id, const struct writ_mcp_message *asked);

/** Reads the JSON-RPC response `answer` of an MCP server.
 * @param show  whether to keep the state's text, in the arena */
void writ_probe_read_response(const struct writ_probe_request *wanted, struct writ_view answer,
    bool show, struct writ_arena *arena, struct writ_probe_state *ret);

/** Reads the answer to an HTTP GET; otherwise as writ_probe_read_response. */
void writ_probe_read_page(const struct writ_probe_request *wanted, unsigned status,
    struct writ_view body, bool show, struct writ_arena *arena, struct writ_probe_state *ret);

#endif
