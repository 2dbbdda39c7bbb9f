/* steps.c - the only file with the functions of all rows of step.tbl.h. */
#include "gateway/service/steps.h"

#include "gateway/call/conclude.h"

#define ROW(NAME, function, does, to) [WRIT_STEP_##NAME] = function,

const struct writ_steps writ_steps = {.fn = {WRIT_STEPS(ROW)}, .give_up = writ_conclude_give_up};

const struct writ_endpoint_kind writ_steps_mcp = {
    .by = "mcp",
    .counted = true,
    .streams = true,
    .read = WRIT_STEP_CLASSIFY,
    .judge = WRIT_STEP_JUDGE,
    .refused = WRIT_STEP_ANSWER,
    .sent = WRIT_STEP_FORWARD,
    .observed = WRIT_STEP_FOLLOW,
    .overloaded = writ_refusal_overloaded,
    .answer = writ_conclude_mcp,
};
