/* folder.h: which names are listed and in what order; limits and failures. */
#include "base/folder.h"
#include "support/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ARENA_MAX 65536

static char folder[] = "/tmp/writ-folder-XXXXXX";
static const char *const files[] = {"b.yaml", "a.yaml", "B.yaml", ".hidden.yaml", "c.yml"};

static void
arena_freep(struct writ_arena **arena)
{
    writ_arena_free(*arena);
}

static void
with_each(void (*act)(const char *path))
{
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[128];

        (void)snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        act(path);
    }
}

static void
make(const char *path)
{
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(close(fd), 0);
}

static void
drop(const char *path)
{
    ck_assert_int_eq(unlink(path), 0);
}

static void
set_up(void)
{
    (void)snprintf(folder, sizeof folder, "/tmp/writ-folder-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    with_each(make);
}

static void
tear_down(void)
{
    with_each(drop);
    ck_assert_int_eq(rmdir(folder), 0);
}

START_TEST(names_of_visible_files_come_sorted_by_bytes)
{
    WRIT_AUTO(struct writ_arena *, arena_freep) arena = writ_arena_new(ARENA_MAX);
    struct writ_view *names = NULL;
    size_t n = 0;

    set_up();
    ck_assert_ok(writ_folder_names(folder, ".yaml", 3, arena, &names, &n, NULL));
    tear_down();
    ck_assert_uint_eq(n, 3);
    ck_assert_view(names[0], "B.yaml");
    ck_assert_view(names[1], "a.yaml");
    ck_assert_str_eq(names[2].ptr, "b.yaml");
}
END_TEST

START_TEST(names_over_the_limit_and_of_no_folder_are_refused)
{
    WRIT_AUTO(struct writ_arena *, arena_freep) arena = writ_arena_new(ARENA_MAX);
    struct writ_view *names = NULL;
    struct writ_err err = {0};
    size_t n = 7;

    set_up();
    ck_assert_code(writ_folder_names(folder, ".yaml", 2, arena, &names, &n, &err), WRIT_E_LIMIT);
    tear_down();
    ck_assert_code(writ_folder_names(folder, ".yaml", 2, arena, &names, &n, &err), WRIT_E_ABSENT);
    ck_assert(writ_view_has_prefix(writ_view_str(err.text), writ_view_str(folder)));
    ck_assert_code(writ_folder_names("/dev/null", "", 2, arena, &names, &n, &err), WRIT_E_ABSENT);
    ck_assert_ptr_null(names);
    ck_assert_uint_eq(n, 7);
}
END_TEST

START_TEST(names_without_memory_are_an_error)
{
    bool reached = true;

    set_up();
    for (long nth = 1; reached; nth++) {
        WRIT_AUTO(struct writ_arena *, arena_freep) arena = writ_arena_new(ARENA_MAX);
        struct writ_view *names = NULL;
        size_t n = 0;
        writ_result result;

        writ_fault_arm(nth);
        result = writ_folder_names(folder, ".yaml", 9, arena, &names, &n, NULL);
        reached = writ_fault_disarm();
        ck_assert_int_eq(result.code, reached ? WRIT_E_NOMEM : WRIT_OK);
    }
    tear_down();
}
END_TEST

WRIT_UNIT_MAIN("folder", names_of_visible_files_come_sorted_by_bytes,
    names_over_the_limit_and_of_no_folder_are_refused, names_without_memory_are_an_error)
