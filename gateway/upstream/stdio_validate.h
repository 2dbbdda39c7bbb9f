/* stdio_validate.h - what a server over HTTP refuses by the head of a request alone, which a server
 * over stdio never sees (2025-11-25, basic/transports). Inside of stdio. */
#ifndef WRIT_GATEWAY_STDIO_VALIDATE_H
#define WRIT_GATEWAY_STDIO_VALIDATE_H

#include "gateway/upstream/stdio_owner.h"

/**
 * Refuses a flight of the older family whose head no server could accept: 400 for an unknown
 * revision in MCP-Protocol-Version, 406 for a POST whose Accept leaves out JSON or streams
 * of events. No Accept at all, and a range such as any kind, leave out nothing (RFC 9110 12.5.1).
 *
 * @return true: it was answered
 */
bool writ_stdio_validate_refuses(struct writ_flight *flight);

#endif
