/* The circuit breaker of an upstream. Unanswered requests in a row open it, one probe at a time
 * tests the upstream, and an answer closes it. */
#include "support/unit.h"

#include "gateway/upstream/breaker.h"

#define SECOND INT64_C(1000000)

static void
open_it(struct writ_breaker *breaker, int64_t now_us)
{
    for (unsigned i = 1; i < WRIT_BREAKER_SILENCES; i++) {
        ck_assert(!writ_breaker_silent(breaker, now_us));
        ck_assert(writ_breaker_lets(breaker, now_us, SECOND));
    }
    ck_assert(writ_breaker_silent(breaker, now_us));
}

START_TEST(lets_unanswered_requests_in_a_row_opens_it)
{
    struct writ_breaker breaker = {0};

    ck_assert(writ_breaker_lets(&breaker, 0, SECOND));
    ck_assert(!writ_breaker_is_open(&breaker, 0));
    for (int i = 0; i < 5; i++) {
        for (unsigned n = 1; n < WRIT_BREAKER_SILENCES; n++) {
            ck_assert(!writ_breaker_silent(&breaker, 0));
        }
        ck_assert(!writ_breaker_answered(&breaker)); /* not in a row */
        ck_assert(writ_breaker_lets(&breaker, 0, SECOND));
    }
    open_it(&breaker, 0);
    ck_assert(writ_breaker_is_open(&breaker, WRIT_BREAKER_FIRST_US - 1));
    ck_assert(!writ_breaker_lets(&breaker, WRIT_BREAKER_FIRST_US - 1, SECOND));
}
END_TEST

START_TEST(lets_after_its_time_permits_one_probe)
{
    struct writ_breaker breaker = {0};
    int64_t now_us = WRIT_BREAKER_FIRST_US;

    open_it(&breaker, 0);
    ck_assert(!writ_breaker_is_open(&breaker, now_us));
    ck_assert(writ_breaker_lets(&breaker, now_us, SECOND));
    ck_assert(!writ_breaker_lets(&breaker, now_us, SECOND));
    ck_assert(!writ_breaker_lets(&breaker, now_us + SECOND - 1, SECOND));
    ck_assert(writ_breaker_lets(&breaker, now_us + SECOND, SECOND)); /* the probe was lost */
}
END_TEST

START_TEST(silent_again_doubles_the_time_up_to_the_longest)
{
    struct writ_breaker breaker = {0};
    int64_t span_us = WRIT_BREAKER_FIRST_US;

    open_it(&breaker, 0);
    for (int i = 0; i < 100; i++) {
        span_us = 2 * span_us < WRIT_BREAKER_LONGEST_US ? 2 * span_us : WRIT_BREAKER_LONGEST_US;
        ck_assert(!writ_breaker_silent(&breaker, 0)); /* it is open already */
        ck_assert(!writ_breaker_lets(&breaker, span_us - 1, SECOND));
        ck_assert(!writ_breaker_is_open(&breaker, span_us));
    }
    ck_assert_int_eq(span_us, WRIT_BREAKER_LONGEST_US);
}
END_TEST

START_TEST(answered_closes_it_and_reports_that_it_was_open)
{
    struct writ_breaker breaker = {0};

    ck_assert(!writ_breaker_answered(&breaker));
    open_it(&breaker, 0);
    ck_assert(writ_breaker_answered(&breaker));
    ck_assert(!writ_breaker_answered(&breaker));
    ck_assert(!writ_breaker_is_open(&breaker, 0));
    ck_assert(writ_breaker_lets(&breaker, 0, SECOND));
    open_it(&breaker, 0); /* and it begins again with the first time */
    ck_assert(!writ_breaker_is_open(&breaker, WRIT_BREAKER_FIRST_US));
}
END_TEST

WRIT_UNIT_MAIN("breaker", lets_unanswered_requests_in_a_row_opens_it,
    lets_after_its_time_permits_one_probe, silent_again_doubles_the_time_up_to_the_longest,
    answered_closes_it_and_reports_that_it_was_open)
