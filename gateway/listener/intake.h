/* intake.h - from the first line of a request to its handler. Inside of the listener.
 *
 * The callbacks of a daemon, in writ_intake_callbacks: on_line with the request target, on_access
 * for the head, for each piece of the body, for the end and, until there is an answer, again and
 * again; on_completed in any case.
 */
#ifndef WRIT_GATEWAY_INTAKE_H
#define WRIT_GATEWAY_INTAKE_H

#include "gateway/listener/listener_parts.h"

extern const struct writ_daemon_callbacks writ_intake_callbacks;

#endif
