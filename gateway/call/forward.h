/* forward.h - issues the credential of a call, for other steps than SIGN. */
#ifndef WRIT_GATEWAY_FORWARD_H
#define WRIT_GATEWAY_FORWARD_H

#include "gateway/request/request.h"

/** Issues the credential of `call->record.authorization`, into `call->grant.credential`. As
 * writ_credential_issue; also WRIT_E_MISMATCH: a stop names the call (stop_rules.h). */
WRIT_RESULT writ_forward_credential(struct writ_request *request);

#endif
