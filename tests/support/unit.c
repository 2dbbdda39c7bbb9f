/* Runs the tests of one program with Check. The exit code is 0 only when every test passed. */
#include "support/unit.h"

#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int
writ_unit_run(const char *suite_name, const TTest *const *tests, size_t count)
{
    Suite *suite = suite_create(suite_name);
    TCase *tcase = tcase_create(suite_name);
    SRunner *runner;
    int failed;

    for (size_t i = 0; i < count; i++) {
        tcase_add_test(tcase, tests[i]);
    }
    tcase_set_timeout(tcase, 0); /* ctest has the clock */
    suite_add_tcase(suite, tcase);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

bool
writ_unit_aborts(void (*fn)(void *arg), void *arg)
{
    pid_t child = fork();
    int status = 0;

    ck_assert_int_ge(child, 0);
    if (child == 0) {
        const struct rlimit none = {0, 0};
        (void)setrlimit(RLIMIT_CORE, &none);
        if (freopen("/dev/null", "w", stderr) == NULL) {
            _exit(EXIT_FAILURE);
        }
        fn(arg);
        _exit(EXIT_SUCCESS);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static int
remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status;
    (void)type;
    (void)where;
    return remove(path);
}

void
writ_unit_remove(const char *folder)
{
    ck_assert_int_eq(nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}
