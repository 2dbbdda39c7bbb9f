/* JSON values without error handling: a failure here fails the test. */
#include "support/evidence/value.h"

#include "base/text.h"
#include "support/unit.h"

#include <stdlib.h>

#define ARENA_MAX         ((size_t)16 << 20)
#define PROGRAM_ARENA_MAX ((size_t)1 << 30)
#define FILE_MAX          ((size_t)4 << 20)

struct writ_arena *
writ_value_arena(void)
{
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);

    ck_assert_ptr_nonnull(arena);
    return arena;
}

const struct writ_json *
writ_value_of(struct writ_arena *arena, struct writ_view text)
{
    struct writ_view kept = writ_view_copy(text, arena);
    const struct writ_json *value = NULL;
    struct writ_err err = {0};
    writ_result result = writ_json_read(kept, &writ_json_limits_default, arena, &value, &err);

    ck_assert_msg(writ_is_ok(result), "%s at %zu", err.text, err.offset);
    return value;
}

const struct writ_json *
writ_value_path(struct writ_arena *arena, const char *path)
{
    writ_auto_buf text = writ_buf_make(FILE_MAX);
    struct writ_err err = {0};

    ck_assert_msg(
        writ_is_ok(writ_text_file(path, FILE_MAX, &text, &err)), "%s: %s", path, err.text);
    return writ_value_of(arena, writ_buf_view(&text));
}

const struct writ_json *
writ_value_file(struct writ_arena *arena, const char *path)
{
    writ_auto_buf whole = writ_buf_make(4096);

    writ_buf_fmt(&whole, "%s/%s", WRIT_SOURCE_DIR, path);
    writ_buf_byte(&whole, '\0');
    ck_assert_ok(writ_buf_check(&whole, NULL));
    return writ_value_path(arena, whole.ptr);
}

const struct writ_json *
writ_value_get(const struct writ_json *object, const char *name)
{
    const struct writ_json *value = writ_json_get(object, writ_view_str(name));

    ck_assert_msg(value != NULL, "there is no member %s", name);
    return value;
}

/* ---- as long as the program */

static struct writ_arena *lasting;

static void
free_lasting(void)
{
    writ_arena_free(lasting);
    lasting = NULL;
}

struct writ_arena *
writ_values_arena(void)
{
    if (lasting == NULL) {
        lasting = writ_arena_new(PROGRAM_ARENA_MAX);
        ck_assert_ptr_nonnull(lasting);
        ck_assert_int_eq(atexit(free_lasting), 0);
    }
    return lasting;
}

const struct writ_json *
writ_values_json_of(struct writ_view text)
{
    return writ_value_of(writ_values_arena(), text);
}

const struct writ_json *
writ_values_json(const char *text)
{
    return writ_values_json_of(writ_view_str(text));
}
