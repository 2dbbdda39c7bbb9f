/* Standard error of a child as log lines. Lines are joined and cut at their limit, and lines above
 * the rate are counted. */
#include "gateway/io/stderr_log.h"

#include "support/unit.h"

#define SECOND_US 1000000

static char seen[1024];
static struct writ_buf text;

static void
note(void *ctx, struct writ_view line, uint64_t dropped)
{
    (void)ctx;
    writ_buf_fmt(&text, "%u:" WRIT_VIEW_FMT ";", (unsigned)dropped, WRIT_VIEW_ARG(line));
}

static struct writ_stderr_log
log_with(size_t line_max, unsigned rate)
{
    struct writ_stderr_log made;

    text = (struct writ_buf){.ptr = seen, .cap = sizeof seen, .max = sizeof seen};
    writ_stderr_log_init(&made, line_max, rate, note, NULL);
    return made;
}

START_TEST(take_joins_and_cuts_lines)
{
    struct writ_stderr_log c = log_with(5, 100);

    writ_stderr_log_take(&c, WRIT_LIT("ab"), SECOND_US);
    writ_stderr_log_take(&c, WRIT_LIT("cde\nabcdef\n\nrest"), SECOND_US);
    ck_assert_view(writ_buf_view(&text), "0:abcde;0:abcde;0:;");
    writ_stderr_log_flush(&c, SECOND_US);
    writ_stderr_log_flush(&c, SECOND_US);
    ck_assert_view(writ_buf_view(&text), "0:abcde;0:abcde;0:;0:rest;");
    writ_stderr_log_wipe(&c);
}
END_TEST

START_TEST(take_above_the_rate_counts_dropped_lines)
{
    struct writ_stderr_log c = log_with(5, 2);

    writ_stderr_log_take(&c, WRIT_LIT("a\nb\nc\nd\n"), SECOND_US);
    ck_assert_view(writ_buf_view(&text), "0:a;0:b;");
    writ_stderr_log_take(&c, WRIT_LIT("e\n"), 2 * SECOND_US - 1);
    writ_stderr_log_take(&c, WRIT_LIT("f\ng\nh\n"), 2 * SECOND_US);
    ck_assert_view(writ_buf_view(&text), "0:a;0:b;3:f;0:g;");
    writ_stderr_log_flush(&c, 2 * SECOND_US);
    ck_assert_view(writ_buf_view(&text), "0:a;0:b;3:f;0:g;1:;");
    writ_stderr_log_wipe(&c);
}
END_TEST

START_TEST(take_without_memory_gives_an_empty_line)
{
    struct writ_stderr_log c = log_with(5, 100);

    writ_fault_arm(1);
    writ_stderr_log_take(&c, WRIT_LIT("abc\n"), SECOND_US);
    ck_assert(writ_fault_disarm());
    writ_stderr_log_take(&c, WRIT_LIT("abc\n"), SECOND_US);
    ck_assert_view(writ_buf_view(&text), "0:;0:abc;");
    writ_stderr_log_wipe(&c);
}
END_TEST

WRIT_UNIT_MAIN("stderr_log", take_joins_and_cuts_lines, take_above_the_rate_counts_dropped_lines,
    take_without_memory_gives_an_empty_line)
