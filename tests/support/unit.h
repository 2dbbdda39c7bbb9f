/* unit.h - the few lines that every test program with Check would repeat.
 *
 * A test file includes this, writes its START_TESTs, and ends with
 *     WRIT_UNIT_MAIN("bytes", a_view_ends_where_it_says, another_test)
 * Tests run in one process (CK_FORK=no in ctest), so that sanitizers see all of them. */
#ifndef WRIT_TESTS_UNIT_H
#define WRIT_TESTS_UNIT_H

#include "base/result.h"

#include <check.h>
#include <stddef.h>

/** Runs the tests in order, prints what failed, and gives the exit code. */
int writ_unit_run(const char *suite, const TTest *const *tests, size_t count);

/** True when `fn(arg)`, run in a child process, ends by abort(): for WRIT_INVARIANT. */
bool writ_unit_aborts(void (*fn)(void *arg), void *arg);

/** Removes a folder with all that is in it. */
void writ_unit_remove(const char *folder);

#define WRIT_UNIT_MAIN(suite, ...)                                                                 \
    int main(void)                                                                                 \
    {                                                                                              \
        const TTest *const tests_[] = {__VA_ARGS__};                                               \
        return writ_unit_run((suite), tests_, sizeof tests_ / sizeof tests_[0]);                   \
    }

/** The call succeeds. */
#define ck_assert_ok(call)                                                                         \
    do {                                                                                           \
        writ_result ck_result_ = (call);                                                           \
        ck_assert_msg(writ_is_ok(ck_result_), "%s: %s", #call, writ_code_name(ck_result_.code));   \
    } while (0)

/** The call fails with exactly this code. */
#define ck_assert_code(call, want)                                                                 \
    do {                                                                                           \
        writ_result ck_result_ = (call);                                                           \
        ck_assert_msg(ck_result_.code == (want), "%s: %s, not %s", #call,                          \
            writ_code_name(ck_result_.code), #want);                                               \
    } while (0)

/** The bytes of the view are those of the string. */
#define ck_assert_view(view, str)                                                                  \
    do {                                                                                           \
        struct writ_view ck_view_ = (view);                                                        \
        ck_assert_msg(writ_view_is(ck_view_, (str)), "%s is \"" WRIT_VIEW_FMT "\", not \"%s\"",    \
            #view, WRIT_VIEW_ARG(ck_view_), (str));                                                \
    } while (0)

#endif
