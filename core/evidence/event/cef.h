/* cef.h - an event in the Common Event Format, version 0 (ArcSight):
 *
 *     CEF:0|Writ|Writ|VERSION|KIND:WORD|TEXT|SEVERITY|EXTENSION
 *
 * In the header `|` and `\` are escaped, in the extension `=`, `\` and line ends. A text that
 * others chose has no character that hides and no line end (writ_text_safe). */
#ifndef WRIT_EVIDENCE_CEF_H
#define WRIT_EVIDENCE_CEF_H

#include "evidence/event/export_event.h"

#define WRIT_CEF_TEXT_MAX 1000 /* bytes of one name that are shown */

/** Appends one event without a line feed. The failures of the buffer. */
WRIT_RESULT writ_cef_put(
    const struct writ_export_event *event, struct writ_buf *ret, struct writ_err *err);

#endif
