/* The input is the log of a crew, whole or cut off.
 *
 * For every input: it is refused, or it is that of its session so far; then the session continues
 * with its open steps failed, and the log with the lines that this gives is that of a session
 * again, byte for byte. */
#include "gateway/crews/rerun.h"
#include "support/fuzz.h"

#define LOG_MAX ((size_t)1 << 28)

/* The sink of what follows the log. */
static writ_result
collect(void *user, struct writ_view line, struct writ_err *err)
{
    struct writ_buf *log = user;

    writ_buf_put(log, line);
    writ_buf_byte(log, '\n');
    return writ_buf_check(log, err);
}

/* Continues a crew that waits; `whole` has the log up to its last line. */
static void
go_on(struct writ_rerun *rerun, struct writ_buf *whole)
{
    struct writ_crew_events events = {NULL, 0};
    struct writ_rerun again = {0};

    if (writ_recording_status(rerun->recording) == WRIT_CREW_AWAITING_RESPONSES &&
        !writ_is_ok(writ_recording_resume(rerun->recording, rerun->last_ms,
            WRIT_CREW_RESUME_TREAT_AS_FAILED, 0, &events, NULL))) {
        return; /* a limit */
    }
    if (!rerun->closed) {
        WRIT_INVARIANT(writ_is_ok(writ_recording_close(rerun->recording, NULL)));
    }
    WRIT_INVARIANT(writ_is_ok(writ_rerun_text(&again, writ_buf_view(whole), NULL)));
    WRIT_INVARIANT(!again.differs && again.closed);
    writ_rerun_wipe(&again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_buf whole = writ_buf_make(LOG_MAX), rest = writ_buf_make(LOG_MAX);
    struct writ_rerun rerun = {.beyond = collect, .user = &rest};
    writ_result result = writ_rerun_text(&rerun, writ_view(data, size), NULL);

    if (writ_is_ok(result) && !rerun.differs) {
        /* what follows comes later: collect it behind the lines that are there */
        writ_buf_put(&whole, writ_view_sub(writ_view(data, size), 0, rerun.at));
        writ_buf_put(&whole, writ_buf_view(&rest));
        rerun.user = &whole;
        WRIT_INVARIANT(writ_is_ok(writ_buf_check(&whole, NULL)));
        go_on(&rerun, &whole);
    }
    writ_rerun_wipe(&rerun);
    writ_buf_wipe(&whole);
    writ_buf_wipe(&rest);
    return 0;
}
