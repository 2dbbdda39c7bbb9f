/* log_file.h: a log has no gap. Once a write has failed, no later one succeeds. */
#include "cli/crew/log_file.h"
#include "gateway/crews/rerun.h"
#include "support/unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOM 4096 /* bytes that the file may have while writes fail */

#define FOLDER "/tmp/writ-log-file-XXXXXX"

static char folder[sizeof FOLDER];
static char path[64];

static void
allow_bytes(rlim_t most)
{
    struct rlimit limit;

    (void)signal(SIGXFSZ, SIG_IGN); /* as the program does: the write fails */
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = most;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static struct writ_log_file *
new_log(void)
{
    struct writ_log_file *file = NULL;

    (void)snprintf(folder, sizeof folder, "%s", FOLDER);
    ck_assert_ptr_nonnull(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/log", folder);
    ck_assert_int_eq(writ_log_file_create(path, &file, NULL).code, WRIT_OK);
    return file;
}

static void
remove_log(struct writ_log_file *file)
{
    writ_log_file_close(file);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}

/* Writes more than there is room for. */
static void
fill(struct writ_log_file *file)
{
    static char line[2 * ROOM];
    writ_result result = writ_log_file_bytes(file, writ_view(line, sizeof line), NULL);

    if (writ_is_ok(result)) { /* the stream has kept it */
        result = writ_log_file_flush(file, NULL);
    }
    ck_assert_int_eq(result.code, WRIT_E_IO);
}

START_TEST(write_after_a_failed_one_fails)
{
    struct writ_log_file *file = new_log();
    struct stat before, after;

    ck_assert_int_eq(writ_log_file_line(file, WRIT_LIT("{}"), NULL).code, WRIT_OK);
    ck_assert_int_eq(writ_log_file_flush(file, NULL).code, WRIT_OK);
    allow_bytes(ROOM);
    fill(file);
    allow_bytes(RLIM_INFINITY); /* there is room again, and the gap stays */
    ck_assert_int_eq(stat(path, &before), 0);
    for (int i = 0; i < 2; i++) {
        struct writ_err err = {0};

        ck_assert_int_eq(writ_log_file_line(file, WRIT_LIT("{}"), &err).code, WRIT_E_IO);
        ck_assert_str_eq(err.text, "the log: a write has failed before");
        ck_assert_int_eq(writ_log_file_bytes(file, WRIT_LIT("x"), NULL).code, WRIT_E_IO);
        ck_assert_int_eq(writ_log_file_flush(file, NULL).code, WRIT_E_IO);
    }
    ck_assert_int_eq(stat(path, &after), 0);
    ck_assert_int_eq(after.st_size, before.st_size);
    remove_log(file);
}
END_TEST

START_TEST(write_past_the_maximum_fails_and_so_does_each_later_one)
{
    struct writ_log_file *file = new_log();

    ck_assert_int_eq(
        writ_log_file_bytes(file, writ_view("", WRIT_RERUN_LOG_MAX + 1), NULL).code, WRIT_E_IO);
    ck_assert_int_eq(writ_log_file_bytes(file, WRIT_LIT("x"), NULL).code, WRIT_E_IO);
    ck_assert_int_eq(writ_log_file_flush(file, NULL).code, WRIT_E_IO);
    remove_log(file);
}
END_TEST

WRIT_UNIT_MAIN("log_file", write_after_a_failed_one_fails,
    write_past_the_maximum_fails_and_so_does_each_later_one)
