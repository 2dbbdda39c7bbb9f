#include "support/values.h"

#include "support/unit.h"

#include <stdlib.h>

#define ARENA_MAX ((size_t)1 << 30)

static struct writ_arena *arena;

static void
free_arena(void)
{
    writ_arena_free(arena);
    arena = NULL;
}

struct writ_arena *
writ_values_arena(void)
{
    if (arena == NULL) {
        arena = writ_arena_new(ARENA_MAX);
        ck_assert_ptr_nonnull(arena);
        ck_assert_int_eq(atexit(free_arena), 0);
    }
    return arena;
}

const struct writ_json *
writ_values_json_of(struct writ_view text)
{
    struct writ_view copy = writ_view_copy(text, writ_values_arena());
    const struct writ_json *value = NULL;
    struct writ_err err = {0};

    ck_assert_ptr_nonnull(copy.ptr);
    ck_assert_msg(writ_is_ok(writ_json_read(copy, &writ_json_limits_default, arena, &value, &err)),
        WRIT_VIEW_FMT ": %s", WRIT_VIEW_ARG(text), err.text);
    return value;
}

const struct writ_json *
writ_values_json(const char *text)
{
    return writ_values_json_of(writ_view_str(text));
}
