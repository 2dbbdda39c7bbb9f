/* overrule.h - a reason against a call that is found after policy allowed it. */
#ifndef WRIT_GATEWAY_OVERRULE_H
#define WRIT_GATEWAY_OVERRULE_H

#include "gateway/request/call.h"

/** Makes the verdict a deny for that reason; in shadow mode the reason is recorded, and the call
 * runs. */
void writ_overrule_verdict(struct writ_call *call, enum writ_reason reason);

#endif
