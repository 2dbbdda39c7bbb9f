/* stdio_refuse.h - refuses messages that a server over HTTP would refuse, and that a server over
 * stdio never gets or cannot answer (2025-11-25 and 2026-07-28, basic/transports). Inside of
 * stdio. */
#ifndef WRIT_GATEWAY_STDIO_REFUSE_H
#define WRIT_GATEWAY_STDIO_REFUSE_H

#include "gateway/upstream/stdio_owner.h"

/** Answers with the JSON-RPC error that a server over HTTP would give. */
void writ_stdio_refuse(struct writ_flight *flight, unsigned status, int code, const char *text);

/** Answers that the session no longer exists. */
void writ_stdio_refuse_session(struct writ_flight *flight);

/** Answers the session's initialize with the child's own error. */
void writ_stdio_refuse_initialize(struct writ_flight *flight, const struct writ_json *error);

/** Refuses a flight of a protocol family that the server does not speak. */
void writ_stdio_refuse_family(struct writ_stdio *stdio, struct writ_flight *flight);

/**
 * Refuses a flight of the stateless revision whose version the server does not support (2026-07-28,
 * basic/versioning).
 *
 * @return true: it was answered
 */
bool writ_stdio_refuse_version(struct writ_flight *flight);

/**
 * Refuses a flight of the older family whose head no server could accept: 400 for an unknown
 * revision in MCP-Protocol-Version, 406 for a POST whose Accept excludes JSON or streams of events.
 * A missing Accept, or a range for any type, excludes nothing (RFC 9110 12.5.1).
 *
 * @return true: it was answered
 */
bool writ_stdio_refuse_head(struct writ_flight *flight);

#endif
