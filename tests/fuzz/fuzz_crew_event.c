/* The input is inbound events, one a line, for a fixed crew. A dollar sign stands for the id of
 * the step that has waited longest.
 *
 * For every input: the output of a call is canonical, a refused call changes nothing, and at the
 * end the session resumes from its own snapshot. */
#include "support/crew/crewkit.h"
#include "support/fuzz.h"

/* The line, with the id in the place of each dollar sign. */
static void
put_event(struct writ_crewkit *kit, struct writ_buf *event, struct writ_view line)
{
    char id[16];
    bool waits = writ_crewkit_pending(kit, id);

    for (size_t at = 0; at < line.len; at++) {
        if (line.ptr[at] == '$' && waits) {
            writ_buf_put(event, writ_view(id, sizeof id));
        } else {
            writ_buf_byte(event, line.ptr[at]);
        }
    }
}

static void
run_line(struct writ_crewkit *kit, struct writ_view line)
{
    writ_auto_buf event = writ_buf_make(SIZE_MAX);
    struct writ_crew_events events = {NULL, 0};
    struct writ_crew_value *before = NULL, *after = NULL;
    writ_result delivered;

    put_event(kit, &event, line);
    WRIT_INVARIANT(writ_is_ok(writ_crew_session_snapshot(kit->session, &before, NULL)));
    delivered = writ_crew_session_deliver(kit->session, writ_buf_view(&event), &events, NULL);
    if (writ_is_ok(delivered)) {
        writ_crewkit_check(&events);
    }
    WRIT_INVARIANT(writ_is_ok(writ_crew_session_snapshot(kit->session, &after, NULL)));
    WRIT_INVARIANT(writ_is_ok(delivered) ||
                   writ_view_equal(writ_crew_value_text(before), writ_crew_value_text(after)));
    writ_crew_value_free(before);
    writ_crew_value_free(after);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_view input = writ_view(data, size);
    struct writ_crew_value *snapshot = NULL;
    struct writ_crewkit kit = {0};

    WRIT_INVARIANT(writ_crewkit_open(
        &kit, writ_view_str(writ_crewkit_shape), writ_view_str(writ_crewkit_agents)));
    writ_crewkit_start(&kit);
    while (input.len > 0) {
        size_t end = writ_view_find(input, '\n');
        run_line(&kit, writ_view_sub(input, 0, end));
        input = writ_view_sub(input, end + 1, input.len);
    }
    WRIT_INVARIANT(writ_is_ok(writ_crew_session_snapshot(kit.session, &snapshot, NULL)));
    writ_crewkit_resume(&kit, writ_crew_value_text(snapshot));
    writ_crew_value_free(snapshot);
    writ_crewkit_wipe(&kit);
    return 0;
}
