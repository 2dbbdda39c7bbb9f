/* When memory is returned to the system: once, after half of a large burst has ended. */
#include "gateway/io/memory_trim.h"

#include "support/unit.h"

START_TEST(is_due_at_half_of_a_burst_is_true_once)
{
    struct writ_memory_trim trim = {0};

    ck_assert(!writ_memory_trim_is_due(&trim, 1000));
    ck_assert(!writ_memory_trim_is_due(&trim, 501));
    ck_assert(!writ_memory_trim_is_due(&trim, 501));
    ck_assert(!writ_memory_trim_is_due(&trim, 500)); /* it still falls */
    ck_assert(writ_memory_trim_is_due(&trim, 500));
    ck_assert(!writ_memory_trim_is_due(&trim, 500));
    ck_assert(!writ_memory_trim_is_due(&trim, 0));
    ck_assert(writ_memory_trim_is_due(&trim, 0));
    ck_assert(!writ_memory_trim_is_due(&trim, 0));
}
END_TEST

START_TEST(is_due_after_a_small_burst_is_false)
{
    struct writ_memory_trim trim = {0};

    ck_assert(!writ_memory_trim_is_due(&trim, WRIT_MEMORY_TRIM_BURST_MIN - 1));
    ck_assert(!writ_memory_trim_is_due(&trim, 0));
    ck_assert(!writ_memory_trim_is_due(&trim, 0));
    ck_assert(!writ_memory_trim_is_due(&trim, WRIT_MEMORY_TRIM_BURST_MIN));
    ck_assert(!writ_memory_trim_is_due(&trim, 0));
    ck_assert(writ_memory_trim_is_due(&trim, 0));
}
END_TEST

START_TEST(quiet_is_true_once_after_the_start_and_after_each_burst)
{
    struct writ_memory_quiet quiet = {0};

    ck_assert(!writ_memory_trim_is_quiet(&quiet, 0));
    ck_assert(writ_memory_trim_is_quiet(&quiet, 0)); /* the start */
    ck_assert(!writ_memory_trim_is_quiet(&quiet, 0));
    ck_assert(!writ_memory_trim_is_quiet(&quiet, WRIT_MEMORY_TRIM_BURST_MIN - 1));
    for (int i = 0; i < 5; i++) {
        ck_assert(!writ_memory_trim_is_quiet(&quiet, WRIT_MEMORY_TRIM_BURST_MIN - 1));
    }
    ck_assert(!writ_memory_trim_is_quiet(&quiet, WRIT_MEMORY_TRIM_BURST_MIN));
    ck_assert(!writ_memory_trim_is_quiet(&quiet, WRIT_MEMORY_TRIM_BURST_MIN));
    ck_assert(writ_memory_trim_is_quiet(&quiet, WRIT_MEMORY_TRIM_BURST_MIN));
    ck_assert(!writ_memory_trim_is_quiet(&quiet, WRIT_MEMORY_TRIM_BURST_MIN));
}
END_TEST

WRIT_UNIT_MAIN("memory_trim", is_due_at_half_of_a_burst_is_true_once,
    is_due_after_a_small_burst_is_false, quiet_is_true_once_after_the_start_and_after_each_burst)
