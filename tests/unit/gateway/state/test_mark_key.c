/* The file of the mark key: made once, however many gateways start. */
#include "support/unit.h"

#include "gateway/state/mark_key.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define GATEWAYS 8

/* Waits for the end of `go`, and tells the id of its key. */
static void
start_one(const char *folder, int go, int told)
{
    writ_auto_mark_key key = NULL;
    struct writ_view id;
    char byte;

    (void)!read(go, &byte, 1);
    if (!writ_is_ok(writ_mark_key_open(folder, &key, NULL))) {
        _exit(1);
    }
    id = writ_mark_key_id(key);
    _exit(write(told, id.ptr, id.len) == (ssize_t)id.len ? 0 : 1);
}

START_TEST(gateways_that_start_together_have_one_key)
{
    char folder[] = "/tmp/writ-mark-XXXXXX", file[sizeof folder + 16];
    char ids[GATEWAYS][WRIT_MARK_KEY_ID];
    int go[2], told[2], status = 0;

    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(pipe(go), 0);
    ck_assert_int_eq(pipe(told), 0);
    for (int i = 0; i < GATEWAYS; i++) {
        pid_t child = fork();

        ck_assert_int_ge(child, 0);
        if (child == 0) {
            (void)close(go[1]);
            start_one(folder, go[0], told[1]);
        }
    }
    (void)close(go[1]);
    for (int i = 0; i < GATEWAYS; i++) {
        ck_assert_int_gt(wait(&status), 0);
        ck_assert_int_eq(status, 0);
        ck_assert_int_eq(read(told[0], ids[i], WRIT_MARK_KEY_ID), WRIT_MARK_KEY_ID);
        ck_assert_mem_eq(ids[i], ids[0], WRIT_MARK_KEY_ID);
    }
    (void)close(go[0]);
    (void)close(told[0]);
    (void)close(told[1]);
    (void)snprintf(file, sizeof file, "%s/" WRIT_MARK_KEY_FILE, folder);
    ck_assert_int_eq(unlink(file), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

WRIT_UNIT_MAIN("mark_key", gateways_that_start_together_have_one_key)
