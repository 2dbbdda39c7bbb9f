/* step.c - the columns of step.tbl.h that are data. A successor that is not in the table does not
 * compile. */
#include "gateway/request/step.h"

#include <stddef.h>
#include <stdint.h>

#define SUCCESSORS_MAX 12 /* a row with more does not compile */

/* Successors as the table writes them; 0 ends a list. */
enum {
    DONE = WRIT_STEP_DONE + 1,
    WAIT = WRIT_STEP_WAIT + 1,
#define OWN(NAME, function, does, to) NAME = WRIT_STEP_##NAME + 1,
    WRIT_STEPS(OWN)
#undef OWN
};

static const uint8_t successors[WRIT_STEP_COUNT][SUCCESSORS_MAX] = {
#define TO(...)                                                                                    \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define ROW(NAME, function, does, to) [WRIT_STEP_##NAME] = to,
    WRIT_STEPS(ROW)
#undef ROW
#undef TO
};

static const char *const names[WRIT_STEP_COUNT] = {[WRIT_STEP_DONE] = "DONE",
    [WRIT_STEP_WAIT] = "WAIT",
#define ROW(NAME, function, does, to) [WRIT_STEP_##NAME] = #NAME,
    WRIT_STEPS(ROW)
#undef ROW
};

const char *
writ_step_name(enum writ_step step)
{
    return (unsigned)step < WRIT_STEP_COUNT ? names[step] : "UNKNOWN";
}

bool
writ_step_leads_to(enum writ_step from, enum writ_step to)
{
    if ((unsigned)from >= WRIT_STEP_COUNT || (unsigned)to >= WRIT_STEP_COUNT) {
        return false;
    }
    for (size_t i = 0; i < SUCCESSORS_MAX && successors[from][i] != 0; i++) {
        if (successors[from][i] == (unsigned)to + 1) {
            return true;
        }
    }
    return false;
}
