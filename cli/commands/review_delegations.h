/* review_delegations.h - how the commands print a delegation. */
#ifndef WRIT_CLI_REVIEW_DELEGATIONS_H
#define WRIT_CLI_REVIEW_DELEGATIONS_H

#include "evidence/json/json.h"

/** Appends a line for people: "ID  ann to zoe until TIME, for TOOLS, in REVIEWS".
 *
 * @param delegation  as the API has it, or a ledger (then without reviews) */
void writ_review_delegations_put_line(struct writ_buf *out, const struct writ_json *delegation);

#endif
