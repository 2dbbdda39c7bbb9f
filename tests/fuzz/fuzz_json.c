/* For every input: our reader and jansson agree on whether it is JSON and on its value, but for
 * the differences that oracle.h names; a refusal has an offset within the input and a message;
 * a refusal under smaller limits is a refusal because of them; and strings that are unescaped
 * later, or read and digested while the text arrives, change nothing. */
#include "support/fuzz.h"
#include "support/evidence/oracle.h"

#include "evidence/json/ahead.h"

#define ARENA_MAX ((size_t)1 << 26)

static struct writ_arena *arena;

static void
check_refusal(struct writ_view text)
{
    const struct writ_json *value = NULL;
    struct writ_err err = {0};
    writ_result result = writ_json_read(text, &writ_json_limits_default, arena, &value, &err);

    if (!writ_is_ok(result)) {
        WRIT_INVARIANT(value == NULL && err.offset <= text.len && err.text[0] != '\0');
    }
}

/* The first bytes choose limits. */
static void
check_limits(struct writ_view text)
{
    const struct writ_json *value = NULL, *narrow = NULL;
    struct writ_json_limits limits = writ_json_limits_default;
    bool wide = writ_is_ok(writ_json_read(text, &limits, arena, &value, NULL));
    writ_result result;

    limits.depth = (unsigned char)text.ptr[0] % 8;
    limits.values = (unsigned char)text.ptr[1] % 32;
    limits.string_bytes = limits.name_bytes = (unsigned char)text.ptr[2] % 16;
    result = writ_json_read(text, &limits, arena, &narrow, NULL);
    WRIT_INVARIANT(wide || !writ_is_ok(result));
    WRIT_INVARIANT(!wide || writ_is_ok(result) || result.code == WRIT_E_LIMIT);
    WRIT_INVARIANT(!writ_is_ok(result) || writ_json_equal(value, narrow));
    WRIT_INVARIANT(!writ_is_ok(result) || narrow->span <= limits.values);
}

/* Strings that are unescaped later are those that are unescaped at once. */
static void
check_late(struct writ_view text)
{
    const struct writ_json *value = NULL, *late = NULL;
    struct writ_json_limits limits = writ_json_limits_default;
    struct writ_err err = {0}, late_err = {0};
    writ_result result = writ_json_read(text, &limits, arena, &value, &err);

    limits.late_bytes = 1 + (unsigned char)text.ptr[0] % 8;
    WRIT_INVARIANT(writ_json_read(text, &limits, arena, &late, &late_err).code == result.code);
    WRIT_INVARIANT(
        writ_is_ok(result) ? writ_json_equal(value, late) : err.offset == late_err.offset);
}

/* The text arrives in three pieces. */
static void
check_ahead(struct writ_view text)
{
    const struct writ_json *value = NULL, *again = NULL;
    struct writ_json_limits limits = writ_json_limits_default;
    struct writ_ahead ahead;
    struct writ_err err = {0}, ahead_err = {0};
    struct writ_digest want = {{0}}, got = {{0}};
    size_t bytes;
    writ_result result = writ_json_read(text, &limits, arena, &value, &err);

    limits.late_bytes = 1 + (unsigned char)text.ptr[0] % 8;
    writ_ahead_begin(&ahead, WRIT_LIT("a"), 1 + (unsigned char)text.ptr[1] % 32);
    writ_ahead_feed(&ahead, writ_view_sub(text, 0, text.len / 2));
    writ_ahead_feed(&ahead, writ_view_sub(text, 0, text.len / 2 + text.len / 4));
    WRIT_INVARIANT(
        writ_ahead_read(text, &limits, &ahead, arena, &again, &ahead_err).code == result.code);
    WRIT_INVARIANT(
        writ_is_ok(result) ? writ_json_equal(value, again) : err.offset == ahead_err.offset);
    value = writ_json_get(value, WRIT_LIT("a"));
    again = writ_json_get(again, WRIT_LIT("a"));
    if (value != NULL) {
        result = writ_digest_json(value, ARENA_MAX, &want, NULL);
        WRIT_INVARIANT(
            writ_ahead_digest(&ahead, again, ARENA_MAX, &got, &bytes, NULL).code == result.code);
        WRIT_INVARIANT(writ_digest_equal(&want, &got));
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_view text = writ_view(data, size);

    if (arena == NULL) {
        arena = writ_arena_new(ARENA_MAX);
        WRIT_INVARIANT(arena != NULL);
    }
    writ_arena_reset(arena);
    check_refusal(text);
    if (size >= 3) {
        check_limits(text);
        check_late(text);
        check_ahead(text);
    }
    WRIT_INVARIANT(writ_oracle_disagrees(text, arena) == NULL);
    return 0;
}
