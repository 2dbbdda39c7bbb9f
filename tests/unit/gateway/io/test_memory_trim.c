/* When memory is returned to the system: once, after half of a large burst has ended. */
#include "gateway/io/memory_trim.h"

#include "support/unit.h"

START_TEST(it_is_due_once_when_half_of_a_burst_is_gone)
{
    struct writ_memory_trim tidy = {0};

    ck_assert(!writ_memory_trim_is_due(&tidy, 1000));
    ck_assert(!writ_memory_trim_is_due(&tidy, 501));
    ck_assert(!writ_memory_trim_is_due(&tidy, 501));
    ck_assert(!writ_memory_trim_is_due(&tidy, 500)); /* it still falls */
    ck_assert(writ_memory_trim_is_due(&tidy, 500));
    ck_assert(!writ_memory_trim_is_due(&tidy, 500));
    ck_assert(!writ_memory_trim_is_due(&tidy, 0));
    ck_assert(writ_memory_trim_is_due(&tidy, 0));
    ck_assert(!writ_memory_trim_is_due(&tidy, 0));
}
END_TEST

START_TEST(a_small_burst_is_none)
{
    struct writ_memory_trim tidy = {0};

    ck_assert(!writ_memory_trim_is_due(&tidy, WRIT_MEMORY_TRIM_BURST_MIN - 1));
    ck_assert(!writ_memory_trim_is_due(&tidy, 0));
    ck_assert(!writ_memory_trim_is_due(&tidy, 0));
    ck_assert(!writ_memory_trim_is_due(&tidy, WRIT_MEMORY_TRIM_BURST_MIN));
    ck_assert(!writ_memory_trim_is_due(&tidy, 0));
    ck_assert(writ_memory_trim_is_due(&tidy, 0));
}
END_TEST

WRIT_UNIT_MAIN("tidy", it_is_due_once_when_half_of_a_burst_is_gone, a_small_burst_is_none)
