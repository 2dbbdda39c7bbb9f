/* observe.h - the state of a call's target, for the steps that need it: OBSERVE and STATE. */
#ifndef WRIT_GATEWAY_OBSERVE_H
#define WRIT_GATEWAY_OBSERVE_H

#include "gateway/request/request.h"

/** Asks for the state of the target. At `next` it is in `call->observed`, or the reason why it is
 * not known. `self` is the step that calls this: it runs again when the upstream that is asked has
 * to join the session before. */
enum writ_step writ_observe_target(
    struct writ_request *request, enum writ_step self, enum writ_step next);

#endif
