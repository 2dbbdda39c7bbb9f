/* plain.h - an event as the record itself, with what proves its place:
 *
 *     {"checkpoint":NOTE,"kind":KIND,"leaf":N,"leaf_hash":DIGEST,"record":{...}}
 *
 * The record stands there byte for byte. */
#ifndef WRIT_EVIDENCE_PLAIN_H
#define WRIT_EVIDENCE_PLAIN_H

#include "evidence/event/export_event.h"

/** Appends one JSON object without a line feed. The failures of the buffer. */
WRIT_RESULT writ_plain_put(
    const struct writ_export_event *event, struct writ_buf *ret, struct writ_err *err);

#endif
