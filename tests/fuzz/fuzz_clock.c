/* A time that was read and lies in the years 0000 to 9999 has one text, which reads back as the
 * same time. */
#include "support/fuzz.h"

#include "base/clock.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[WRIT_TIME_TEXT], again[WRIT_TIME_TEXT];
    int64_t wall_us, back_us;

    if (writ_is_ok(writ_time_read(writ_view(data, size), &wall_us))) {
        writ_time_format(wall_us, text);
        WRIT_INVARIANT(writ_time_read(writ_view_str(text), &back_us).code == WRIT_OK);
        /* an offset can lead out of those years by a day at most, and is clamped then */
        WRIT_INVARIANT(back_us - wall_us < INT64_C(86400000000));
        WRIT_INVARIANT(wall_us - back_us < INT64_C(86400000000));
        writ_time_format(back_us, again);
        WRIT_INVARIANT(writ_view_is(writ_view_str(again), text));
    }
    return 0;
}
