/* mcp.h - classifies a JSON-RPC message of the Model Context Protocol, and its protocol family.
 * Pure: no I/O, no state.
 *
 * Two wire families live on one endpoint: *legacy* (initialize handshake, optional session,
 * revisions 2024-11-05 .. 2025-11-25) and *modern* (stateless, 2026-07-28). The body decides,
 * headers only cross-check it (specification 2026-07-28, basic/versioning). */
#ifndef WRIT_GATEWAY_MCP_H
#define WRIT_GATEWAY_MCP_H

#include "base/bytes.h"
#include "evidence/json/json.h"
#include "evidence/json/write.h"
#include "evidence/record/reason.h"

#define WRIT_MCP_LATEST_LEGACY "2025-11-25"
#define WRIT_MCP_MODERN        "2026-07-28"
#define WRIT_MCP_ID_MAX        256 /* most bytes of a request id, as JSON text */
#define WRIT_MCP_ANSWER_ID_MAX                                                                     \
    4096 /* of an answer: a server chose the id, and its upstream's name is before it */

#define WRIT_META_VERSION      "io.modelcontextprotocol/protocolVersion"
#define WRIT_META_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"

/** The kind of a POSTed message. Zero must not be forwarded. */
enum writ_mcp_kind {
    WRIT_MCP_REFUSED = 0,
    WRIT_MCP_REQUEST,      /* has a method and an id */
    WRIT_MCP_NOTIFICATION, /* has a method and no id */
    WRIT_MCP_RESPONSE,     /* answers a request of the server */
};

enum writ_mcp_era {
    WRIT_MCP_LEGACY = 0,
    WRIT_MCP_ERA_MODERN,
};

/** The headers for the classification; an absent one has ptr NULL. */
struct writ_mcp_headers {
    struct writ_view version; /* MCP-Protocol-Version */
    struct writ_view method;  /* Mcp-Method */
    struct writ_view name;    /* Mcp-Name */
};

/** One classified message. Everything in it is borrowed from the parsed body. */
struct writ_mcp_message {
    enum writ_mcp_kind kind;
    enum writ_mcp_era era;
    const struct writ_json *body;   /* the whole message */
    const struct writ_json *id;     /* string or number; NULL unless a request or response */
    const struct writ_json *params; /* object, or NULL */
    const struct writ_json *meta;   /* params._meta, or NULL */
    struct writ_view method;        /* empty for a response */
    struct writ_view name; /* the value that Mcp-Name repeats: params.name, .uri or .taskId; or
                              NULL */
};

/** Codes of errors: of JSON-RPC 2.0 (5.1), and of MCP's transports. Refusals of Writ itself have
 * WRIT_REFUSAL_CODE and a reason (refusal.h). */
enum writ_rpc_code {
    WRIT_RPC_PARSE_ERROR = -32700,
    WRIT_RPC_INTERNAL_ERROR = -32603,
    WRIT_RPC_INVALID_PARAMS = -32602,
    WRIT_RPC_METHOD_NOT_FOUND = -32601,
    WRIT_RPC_INVALID_REQUEST = -32600,
    WRIT_RPC_UNSUPPORTED_VERSION = -32022, /* 2026-07-28 */
    WRIT_RPC_MISSING_CAPABILITY = -32021,  /* 2026-07-28 */
    WRIT_RPC_HEADER_MISMATCH = -32020,     /* 2026-07-28 */
    WRIT_RPC_SESSION_NOT_FOUND = -32001,
    WRIT_RPC_SERVER_ERROR = -32000,
};

/** The fault of a malformed message, in the terms of JSON-RPC and HTTP. */
struct writ_mcp_fault {
    int status; /* HTTP */
    int code;   /* JSON-RPC */
    enum writ_reason reason;
    const char *text;
};

/**
 * Classifies one parsed POST body.
 *
 * The envelope is a closed set: jsonrpc ("2.0"), id (string, or integer within +-(2^53 - 1)),
 * method, params (object), result, error. A batch, a null id, a tools/call without an id, and a
 * header that disagrees with the body are refused.
 *
 * @param ret    written only on success
 * @param fault  written only on refusal
 *
 * @return WRIT_OK, or WRIT_E_INVALID with `fault`. Thread-safe. Does not block.
 */
WRIT_RESULT writ_mcp_classify(const struct writ_json *body, const struct writ_mcp_headers *headers,
    struct writ_mcp_message *ret, struct writ_mcp_fault *fault);

/** The value that the header Mcp-Name repeats for such a message: params.name, .uri or .taskId
 * (2026-07-28; SEP-2663, for the methods that it keeps: a server answers the others as unknown,
 * whatever their head says); ptr NULL for a method without one, or when the member is not a
 * string. */
struct writ_view writ_mcp_mirrored_name(struct writ_view method, const struct writ_json *params);

/** The id that a refusal of this message echoes: a valid one of an object, or NULL. */
const struct writ_json *writ_mcp_id(const struct writ_json *body);

/** False when a member of the envelope equals one of JSON-RPC's except for case: a peer that folds
 * case would read another message. */
bool writ_mcp_is_unambiguous(const struct writ_json *body);

/** True for a revision of the older family, from 2024-11-05 on. */
bool writ_mcp_is_legacy_version(struct writ_view version);

/** True when a client's capabilities say that it can send a person to a URL (2025-11-25,
 * client/elicitation). */
bool writ_mcp_elicits_url(const struct writ_json *capabilities);

/** True for a method whose calls are governed. */
bool writ_mcp_is_governed(struct writ_view method);

/** True when params of a tools/call have only members of the specification. */
bool writ_mcp_params_are_known(const struct writ_json *params);

/** Decodes an Mcp-Name or Mcp-Param value: "=?base64?...?=" or the plain text
 * (specification 2026-07-28, basic/transports/streamable-http). Appends to `ret`. WRIT_E_PARSE. */
WRIT_RESULT writ_mcp_header_decode(struct writ_view value, struct writ_buf *ret);

/** Appends `value` as a header value, in the base64 form where it is not safe as it is. */
void writ_mcp_header_encode(struct writ_buf *buf, struct writ_view value);

/** Limits for the text of a message from a server, or of one made from it: its length was bounded
 * on arrival. */
struct writ_json_limits writ_mcp_limits(struct writ_view text);

/** Reads such a text. `ret` lies in the arena and borrows `text`. WRIT_E_PARSE, WRIT_E_LIMIT,
 * WRIT_E_NOMEM. */
WRIT_RESULT writ_mcp_parse(
    struct writ_view text, struct writ_arena *arena, const struct writ_json **ret);

/** Begins a JSON-RPC message with this id, NULL: null; the caller writes its other members, and
 * ends the object. */
void writ_mcp_open(struct writ_write *w, const struct writ_json *id);

/** Writes an error of JSON-RPC without data. */
void writ_mcp_put_error(struct writ_write *w, enum writ_rpc_code code, const char *message);

/** Begins a request of the gateway's own, on behalf of `asked`, and its `params`: with the member
 * `_meta`, if the revision requires one, which has only the values for version and capabilities.
 * The caller writes other params, and ends both objects. */
void writ_mcp_open_own(struct writ_write *w, struct writ_view id, struct writ_view method,
    const struct writ_mcp_message *asked);

#endif
