/* stdio_refuse.h - what a server over HTTP would refuse, and a server over stdio never sees or
 * knows no answer to (2025-11-25 and 2026-07-28, basic/transports). Inside of stdio. */
#ifndef WRIT_GATEWAY_STDIO_REFUSE_H
#define WRIT_GATEWAY_STDIO_REFUSE_H

#include "gateway/upstream/stdio_owner.h"

/** Answers with an error of JSON-RPC that a server over HTTP would give. */
void writ_stdio_refuse(struct writ_flight *flight, unsigned status, int code, const char *text);

/** Answers that there is no such session any more. */
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
 * revision in MCP-Protocol-Version, 406 for a POST whose Accept leaves out JSON or streams
 * of events. No Accept at all, and a range such as any kind, leave out nothing (RFC 9110 12.5.1).
 *
 * @return true: it was answered
 */
bool writ_stdio_refuse_head(struct writ_flight *flight);

#endif
