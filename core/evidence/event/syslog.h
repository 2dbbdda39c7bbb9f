/* syslog.h - the frame of one event for a syslog receiver: a header of RFC 5424 and octet counting
 * (RFC 5425 4.3, RFC 6587 3.4.1), so that no byte of an event can end a message.
 *
 *     LENGTH <PRI>1 TIME HOST writ PROCID KIND - EVENT
 *
 * The facility is log audit (13). MSG is UTF-8 without a byte order mark (MSG-ANY of RFC 5424),
 * because readers of CEF and JSON expect none. */
#ifndef WRIT_EVIDENCE_SYSLOG_H
#define WRIT_EVIDENCE_SYSLOG_H

#include "evidence/event/export_event.h"

#define WRIT_SYSLOG_HOST_MAX 255

/** Appends the frame around an encoded event. `host` is the name of this machine; characters that
 * a header cannot have become `?`, and an empty one is `-`. The failures of the buffer. */
WRIT_RESULT writ_syslog_put(const struct writ_export_event *event, struct writ_view host,
    struct writ_view encoded, struct writ_buf *ret, struct writ_err *err);

#endif
