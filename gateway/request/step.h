/* step.h - the steps of step.tbl.h by name, and their successors. Pure. */
#ifndef WRIT_GATEWAY_STEP_H
#define WRIT_GATEWAY_STEP_H

#include "gateway/request/step.tbl.h"

#include <stdbool.h>

enum writ_step {
    WRIT_STEP_DONE = 0, /* answered: the request is freed */
    WRIT_STEP_WAIT,     /* a callback continues it (writ_request_continue) */
#define WRIT_STEP_ENUM(NAME, function, does, to) WRIT_STEP_##NAME,
    WRIT_STEPS(WRIT_STEP_ENUM)
#undef WRIT_STEP_ENUM
        WRIT_STEP_COUNT
};

/** "JUDGE", "WAIT"; "UNKNOWN" for another value. Static. */
const char *writ_step_name(enum writ_step step);

/** Whether `to` is a successor of `from` in the table, at once or after a wait. False for another
 * value. */
bool writ_step_leads_to(enum writ_step from, enum writ_step to);

#endif
