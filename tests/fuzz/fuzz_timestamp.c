/* For every response: one that verifies over a checkpoint gives the one time at which the
 * authority stamped it, in every run, and verifies over no other bytes. */
#include "support/fuzz.h"
#include "support/evidence/stamp.h"

#include "base/clock.h"
#include "evidence/log/timestamp.h"

static enum writ_reason
verify(struct writ_view data, struct writ_view response, struct writ_timestamp *ret)
{
    enum writ_reason why = WRIT_REASON_NONE;

    WRIT_INVARIANT(writ_is_ok(
        writ_timestamp_verify(data, response, WRIT_LIT(WRIT_STAMP_CA), ret, &why, NULL)));
    WRIT_INVARIANT(why != WRIT_REASON_NONE);
    return why;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_view response = writ_view(data, size);
    struct writ_timestamp stamp = {0}, again = {0};
    enum writ_reason why = verify(WRIT_LIT(WRIT_STAMP_CHECKPOINT), response, &stamp);
    int64_t time_us = 0;

    WRIT_INVARIANT(writ_is_ok(writ_time_read(WRIT_LIT(WRIT_STAMP_TIME), &time_us)));
    WRIT_INVARIANT(stamp.time_us == (why == WRIT_REASON_EVIDENCE_OK ? time_us : 0));
    WRIT_INVARIANT(verify(WRIT_LIT(WRIT_STAMP_CHECKPOINT), response, &again) == why);
    WRIT_INVARIANT(
        verify(WRIT_LIT("another checkpoint"), response, &again) != WRIT_REASON_EVIDENCE_OK);
    return 0;
}
