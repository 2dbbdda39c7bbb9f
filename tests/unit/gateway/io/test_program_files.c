/* Each file of a program is found where the process would find it, and compared before the start; a
 * binary is executed from the descriptor that was read, also when another file has taken its name.
 */
#include "gateway/io/program_files.h"

#include "support/shelter.h"
#include "support/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LARGE   ((size_t)9 << 20) /* more than two slices */
#define TURN_US (INT64_C(500) * 1000)

static char folder[300], path_variable[320];
static struct writ_definitions *accepted;

static struct writ_spawn_plan *
plan_of(const char *program, const char *directory)
{
    const char *argv[] = {program, "hello", NULL};
    const char *environment[] = {path_variable, NULL};
    struct writ_spawn_plan *plan;

    (void)snprintf(folder, sizeof folder, "%s", shelter_path());
    (void)snprintf(path_variable, sizeof path_variable, "PATH=%s", folder);
    ck_assert_ok(writ_spawn_plan_new(argv, environment, directory, &plan, NULL));
    return plan;
}

static const char *
put(const char *name, struct writ_view bytes)
{
    static char path[4][300];
    static unsigned at;
    char *ret = path[at++ % 4];

    shelter_name(name, ret, sizeof path[0]);
    shelter_put(name, bytes);
    ck_assert_int_eq(chmod(ret, 0755), 0);
    return ret;
}

static struct writ_program_file
file_of(const char *name, struct writ_view bytes)
{
    struct writ_program_file file = {.name = writ_view_str(name)};

    ck_assert_ok(writ_digest_bytes(bytes, &file.digest, NULL));
    return file;
}

static writ_result
check(const struct writ_spawn_plan *plan, const struct writ_program_file *files, size_t n,
    int *ret_fd, struct writ_err *err)
{
    struct writ_program_files *known = calloc(1, sizeof *known);
    const struct writ_program_config program = {files, n};
    const struct writ_program_list list = {&program, WRIT_LIT("up"), accepted};
    writ_result r = {WRIT_E_BUSY};

    ck_assert_ptr_nonnull(known);
    while (r.code == WRIT_E_BUSY) {
        r = writ_program_files_check(known, &list, plan, writ_clock_system(), ret_fd, err);
    }
    ck_assert(!known->unaccepted || (r.code == WRIT_E_MISMATCH && files[0].accepted));
    free(known);
    return r;
}

START_TEST(check_finds_the_program_in_path_and_files_from_the_folder)
{
    struct writ_spawn_plan *plan;
    struct writ_program_file files[2];
    struct writ_err err = {0};
    int fd = 7;

    (void)put("server", WRIT_LIT("#!/bin/sh\n"));
    (void)put("script", WRIT_LIT("print"));
    files[0] = file_of("server", WRIT_LIT("#!/bin/sh\n"));
    files[1] = file_of("script", WRIT_LIT("print"));
    plan = plan_of("server", shelter_path());
    ck_assert_ok(check(plan, files, 2, &fd, &err));
    ck_assert_int_eq(fd, -1); /* a script: exec needs its name */
    (void)put("script", WRIT_LIT("other"));
    fd = 7;
    ck_assert_code(check(plan, files, 2, &fd, &err), WRIT_E_MISMATCH);
    ck_assert_ptr_nonnull(strstr(err.text, "script has another digest: sha256:"));
    ck_assert_int_eq(fd, 7);
    (void)put("script", WRIT_LIT("print"));
    (void)put("server", WRIT_LIT("#!/bin/bash\n"));
    ck_assert_code(check(plan, files, 2, &fd, &err), WRIT_E_MISMATCH);
    writ_spawn_plan_free(plan);
}
END_TEST

static void
accept(const char *upstream, const char *file, struct writ_view bytes)
{
    writ_auto_buf name = writ_buf_make(100), text = writ_buf_make(200);
    struct writ_definition entry;
    struct writ_digest digest;

    ck_assert_ok(writ_digest_bytes(bytes, &digest, NULL));
    ck_assert_ok(writ_program_files_entry(
        writ_view_str(upstream), writ_view_str(file), &digest, &name, &text, &entry, NULL));
    ck_assert(writ_program_files_is_entry(entry.name));
    ck_assert_ok(writ_definitions_put(accepted, &entry, NULL));
}

static struct writ_digest
list_digest(const struct writ_program_file *file)
{
    const struct writ_program_config program = {file, 1};
    const struct writ_program_list list = {&program, WRIT_LIT("up"), accepted};
    struct writ_digest ret;

    ck_assert_ok(writ_program_files_list(&list, &ret, NULL));
    return ret;
}

START_TEST(check_of_an_accepted_file_takes_the_digest_that_was_accepted_for_this_upstream)
{
    const struct writ_program_file file = {.name = WRIT_LIT("server"), .accepted = true};
    struct writ_spawn_plan *plan;
    struct writ_err err = {0};
    struct writ_digest before, after;
    int fd;

    (void)put("server", WRIT_LIT("#!/bin/sh\n"));
    plan = plan_of("server", NULL);
    ck_assert_code(check(plan, &file, 1, &fd, &err), WRIT_E_MISMATCH);
    ck_assert_ptr_nonnull(strstr(err.text, "server is not accepted: sha256:"));
    ck_assert_ok(writ_definitions_new(&accepted, NULL));
    accept("other", "server", WRIT_LIT("#!/bin/sh\n"));
    accept("up", "script", WRIT_LIT("#!/bin/sh\n"));
    before = list_digest(&file);
    ck_assert_code(check(plan, &file, 1, &fd, &err), WRIT_E_MISMATCH);
    accept("up", "server", WRIT_LIT("#!/bin/sh\n"));
    after = list_digest(&file);
    ck_assert(!writ_digest_equal(&before, &after));
    ck_assert_ok(check(plan, &file, 1, &fd, &err));
    (void)put("server", WRIT_LIT("#!/bin/bash\n"));
    ck_assert_code(check(plan, &file, 1, &fd, &err), WRIT_E_MISMATCH);
    ck_assert_ptr_nonnull(
        strstr(err.text, "server has another digest than the accepted one: sha256:"));
    accept("up", "server", WRIT_LIT("#!/bin/bash\n"));
    ck_assert_ok(check(plan, &file, 1, &fd, &err));
    ck_assert(!writ_program_files_is_entry(WRIT_LIT("program/server")));
    writ_definitions_free(accepted);
    accepted = NULL;
    writ_spawn_plan_free(plan);
}
END_TEST

START_TEST(check_refuses_a_file_that_is_not_there)
{
    struct writ_program_file files[2] = {
        file_of("server", WRIT_LIT("#!/bin/sh\n")), file_of("missing", WRIT_LIT("print"))};
    const char *server = put("server", WRIT_LIT("#!/bin/sh\n"));
    struct writ_spawn_plan *plan = plan_of("server", shelter_path());
    struct writ_err err = {0};
    int fd;

    ck_assert_code(check(plan, files, 2, &fd, &err), WRIT_E_ABSENT);
    ck_assert_str_eq(err.text, "missing cannot be opened: No such file or directory");
    ck_assert_int_eq(unlink(server), 0);
    ck_assert_code(check(plan, files, 2, &fd, &err), WRIT_E_ABSENT);
    ck_assert_str_eq(err.text, "server is nowhere in PATH");
    ck_assert_int_eq(mkfifo(server, 0755), 0);
    files[0].name = writ_view_str(server);
    ck_assert_code(check(plan, files, 1, &fd, &err), WRIT_E_INVALID);
    ck_assert_int_eq(unlink(server), 0); /* a later put would wait for a reader */
    writ_spawn_plan_free(plan);
}
END_TEST

START_TEST(check_of_a_large_file_takes_more_than_one_turn)
{
    char *bytes = calloc(1, LARGE);
    struct writ_view all = {bytes, LARGE};
    struct writ_program_files *known = calloc(1, sizeof *known);
    struct writ_program_file file = file_of("server", all);
    const struct writ_program_config program = {&file, 1};
    const struct writ_program_list list = {&program, WRIT_LIT("up"), NULL};
    struct writ_spawn_plan *plan = plan_of("server", NULL);
    unsigned busy = 0;
    writ_result r;
    int fd;

    ck_assert_ptr_nonnull(known);
    (void)put("server", all);
    while (
        (r = writ_program_files_check(known, &list, plan, writ_clock_system(), &fd, NULL)).code ==
        WRIT_E_BUSY) {
        busy++;
    }
    ck_assert_ok(r);
    ck_assert_uint_eq(busy, 2);
    writ_spawn_plan_free(plan);
    free(known);
    free(bytes);
}
END_TEST

static int64_t
no_wall_us(void *ctx)
{
    (void)ctx;
    return 0; /* all files are ahead of it */
}

static int64_t
ticking_us(void *ctx)
{
    return *(int64_t *)ctx += TURN_US;
}

START_TEST(check_of_large_files_ahead_of_the_clock_ends)
{
    char *bytes = calloc(1, LARGE);
    struct writ_view all = {bytes, LARGE};
    struct writ_program_files *known = calloc(1, sizeof *known);
    struct writ_program_file files[2] = {file_of("server", all), file_of("script", all)};
    const struct writ_program_config program = {files, 2};
    const struct writ_program_list list = {&program, WRIT_LIT("up"), NULL};
    struct writ_spawn_plan *plan;
    int64_t now_us = 0;
    const struct writ_clock clock = {no_wall_us, ticking_us, &now_us};
    writ_result r = {WRIT_E_BUSY};
    int fd;

    ck_assert_ptr_nonnull(known);
    (void)put("server", all);
    (void)put("script", all);
    plan = plan_of("server", shelter_path());
    for (size_t turn = 0; r.code == WRIT_E_BUSY && turn < 100; turn++) {
        r = writ_program_files_check(known, &list, plan, &clock, &fd, NULL);
    }
    ck_assert_ok(r);
    writ_spawn_plan_free(plan);
    free(known);
    free(bytes);
}
END_TEST

static void
read_bytes(const char *path, struct writ_buf *ret)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char bytes[65536];
    ssize_t got;

    ck_assert_int_ge(fd, 0);
    *ret = writ_buf_make((size_t)64 << 20);
    while ((got = read(fd, bytes, sizeof bytes)) > 0) {
        writ_buf_put(ret, writ_view(bytes, (size_t)got));
    }
    ck_assert_ok(writ_buf_check(ret, NULL));
    (void)close(fd);
}

START_TEST(start_runs_the_checked_binary_after_its_name_was_taken)
{
    writ_auto_buf echo = {0};
    struct writ_spawned process;
    struct writ_program_file file;
    struct writ_spawn_plan *plan;
    const char *server;
    char said[64];
    int fd, fault, status = 0;
    ssize_t got;

    read_bytes("/bin/echo", &echo);
    server = put("server", writ_buf_view(&echo));
    file = file_of("server", writ_buf_view(&echo));
    plan = plan_of("server", NULL);
    ck_assert_ok(check(plan, &file, 1, &fd, NULL));
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(unlink(server), 0);
    (void)put("server", WRIT_LIT("#!/bin/sh\necho evil\n"));
    ck_assert_ok(writ_spawn_start(plan, fd, &process, &fault));
    ck_assert_int_eq(waitpid(process.pid, &status, 0), process.pid);
    got = read(process.out, said, sizeof said);
    ck_assert_int_gt(got, 0);
    ck_assert_view(writ_view(said, (size_t)got), "hello\n");
    writ_spawn_plan_free(plan);
}
END_TEST

START_TEST(list_differs_for_another_name_and_for_another_digest)
{
    const struct writ_program_file files[3] = {
        file_of("a", WRIT_LIT("1")), file_of("b", WRIT_LIT("1")), file_of("a", WRIT_LIT("2"))};
    struct writ_digest digests[3];

    for (size_t i = 0; i < 3; i++) {
        const struct writ_program_config program = {&files[i], 1};
        const struct writ_program_list list = {&program, WRIT_LIT("up"), NULL};
        ck_assert_ok(writ_program_files_list(&list, &digests[i], NULL));
    }
    ck_assert(!writ_digest_equal(&digests[0], &digests[1]));
    ck_assert(!writ_digest_equal(&digests[0], &digests[2]));
}
END_TEST

WRIT_UNIT_MAIN("program_files", check_finds_the_program_in_path_and_files_from_the_folder,
    check_refuses_a_file_that_is_not_there, check_of_a_large_file_takes_more_than_one_turn,
    start_runs_the_checked_binary_after_its_name_was_taken,
    list_differs_for_another_name_and_for_another_digest,
    check_of_large_files_ahead_of_the_clock_ends,
    check_of_an_accepted_file_takes_the_digest_that_was_accepted_for_this_upstream)
