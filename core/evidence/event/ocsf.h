/* ocsf.h - an event in the Open Cybersecurity Schema Framework (https://schema.ocsf.io).
 *
 * A decision and an outcome are API Activity (6003): a tool call is a call of an operation of a
 * service by an actor, and the class has the verdict (profile security_control), the agent (profile
 * ai_operation) and the trace (profile trace). Authorize Session (3003) is not used: it reports
 * privileges, groups or roles that a session got, and a decision about one call assigns none.
 * Everything else is Entity Management (3004): a review, a run, a stop, a tool's definition and the
 * ledger are entities that were made, changed or ended. What the schema has no place for is in
 * `unmapped.writ`, with the index, the leaf hash and the checkpoint. */
#ifndef WRIT_EVIDENCE_OCSF_H
#define WRIT_EVIDENCE_OCSF_H

#include "evidence/event/export_event.h"

/** The version of the schema that the events are valid for. */
#define WRIT_OCSF_VERSION "1.9.0-dev"

#define WRIT_OCSF_TEXT_MAX 1024 /* bytes of one name that are shown */

/** Appends one JSON object without a line feed. The failures of the buffer. */
WRIT_RESULT writ_ocsf_put(
    const struct writ_export_event *event, struct writ_buf *ret, struct writ_err *err);

#endif
