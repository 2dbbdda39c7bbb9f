/* A blocked signal waits for the thread that asks for it. */
#include "gateway/io/end_signals.h"

#include "support/unit.h"

#include <unistd.h>

START_TEST(block_of_each_signal_lets_it_wait)
{
    static const int ends[] = {SIGTERM, SIGINT, SIGHUP};
    sigset_t set;

    writ_end_signals_block(&set);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        ck_assert_int_eq(kill(getpid(), ends[i]), 0);
        ck_assert_int_eq(sigwaitinfo(&set, NULL), ends[i]);
    }
}
END_TEST

START_TEST(block_makes_a_broken_pipe_an_error_code)
{
    int ends[2];
    sigset_t set;

    writ_end_signals_block(&set);
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(close(ends[0]), 0);
    ck_assert_int_eq(write(ends[1], "x", 1), -1);
    ck_assert_int_eq(close(ends[1]), 0);
}
END_TEST

WRIT_UNIT_MAIN(
    "end_signals", block_of_each_signal_lets_it_wait, block_makes_a_broken_pipe_an_error_code)
