/* The whole input is a snapshot of a fixed crew. It is refused, or the session resumes from it:
 * its own snapshot resumes to the same snapshot, every step can be answered, and the session ends.
 */
#include "support/crew/crewkit.h"
#include "support/fuzz.h"

#define ANSWERS_MAX 10000 /* more than the limits let wait */

/* A fault for every step, so that fixers run too. False: no step waits. */
static bool
answer(struct writ_crewkit *kit)
{
    struct writ_crew_events events = {NULL, 0};
    char id[16], text[128];

    if (!writ_crewkit_pending(kit, id)) {
        return false;
    }
    struct writ_buf event = writ_buf_over(text, sizeof text);
    writ_buf_fmt(&event,
        "{\"type\":\"agent.step.completed\",\"fault\":true,\"correlationId\":\"%.16s\"}", id);
    WRIT_INVARIANT(
        writ_is_ok(writ_crew_session_deliver(kit->session, writ_buf_view(&event), &events, NULL)));
    writ_crewkit_check(&events);
    return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_crewkit kit = {0};
    struct writ_crew_events events = {NULL, 0};
    int answers = 0;

    WRIT_INVARIANT(writ_crewkit_open(
        &kit, writ_view_str(writ_crewkit_shape), writ_view_str(writ_crewkit_agents)));
    writ_crewkit_start(&kit);
    writ_crewkit_resume(&kit, writ_view(data, size));
    WRIT_INVARIANT(writ_is_ok(writ_crew_session_tick(kit.session, 4, &events, NULL)));
    writ_crewkit_check(&events);
    while (answer(&kit)) {
        WRIT_INVARIANT(++answers < ANSWERS_MAX);
    }
    writ_crewkit_wipe(&kit);
    return 0;
}
