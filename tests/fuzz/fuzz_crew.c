/* A crew in hostile hands: a shape and calls. The input is lines: the first is a shape (empty: a
 * fixed one), the others are calls: an inbound event, "T" and a time, "S" and a snapshot to resume
 * from, "A" for an answer to the step that has waited longest.
 *
 * For every input: a clean shape builds or is refused with a reason; every event that comes out is
 * canonical; a snapshot that is resumed gives the same snapshot. */
#include "support/crew/crewkit.h"
#include "support/fuzz.h"

#include "base/number.h"

static void
answer_first(struct writ_crewkit *kit)
{
    struct writ_crew_events events;
    char id[16], event[128];

    if (!writ_crewkit_pending(kit, id)) {
        return;
    }
    struct writ_buf buf = writ_buf_over(event, sizeof event);
    writ_buf_fmt(
        &buf, "{\"type\":\"agent.step.completed\",\"output\":1,\"correlationId\":\"%.16s\"}", id);
    WRIT_INVARIANT(
        writ_is_ok(writ_crew_session_deliver(kit->session, writ_buf_view(&buf), &events, NULL)));
    writ_crewkit_check(&events);
}

static void
run_line(struct writ_crewkit *kit, struct writ_view line)
{
    struct writ_crew_events events = {NULL, 0};
    struct writ_view rest = writ_view_sub(line, 1, line.len);
    double time = 0;

    if (writ_view_has_prefix(line, WRIT_LIT("T"))) {
        if (writ_is_ok(writ_number_read(rest, &time)) &&
            writ_is_ok(writ_crew_session_tick(kit->session, time, &events, NULL))) {
            writ_crewkit_check(&events);
        }
    } else if (writ_view_has_prefix(line, WRIT_LIT("S"))) {
        writ_crewkit_resume(kit, rest);
    } else if (writ_view_is(line, "A")) {
        answer_first(kit);
    } else if (writ_is_ok(writ_crew_session_deliver(kit->session, line, &events, NULL))) {
        writ_crewkit_check(&events);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_view input = writ_view(data, size);
    size_t end = writ_view_find(input, '\n');
    struct writ_view first = writ_view_sub(input, 0, end);
    struct writ_crewkit kit = {0};

    if (writ_crewkit_open(
            &kit, first.len > 0 ? first : writ_view_str(writ_crewkit_shape), writ_view(NULL, 0))) {
        writ_crewkit_start(&kit);
        while (end < input.len) {
            input = writ_view_sub(input, end + 1, input.len);
            end = writ_view_find(input, '\n');
            run_line(&kit, writ_view_sub(input, 0, end));
        }
    }
    writ_crewkit_wipe(&kit);
    return 0;
}
