/* For every input that has a canonical form: reading the form again gives an equal value with the
 * same form and the same digest; names in it are in order; and a copy has that form too. For every
 * eight bytes that are a finite double: its text reads back as that double. */
#include "support/fuzz.h"

#include "evidence/json/digest.h"
#include "evidence/json/jcs.h"

#define ARENA_MAX     ((size_t)1 << 26)
#define CANONICAL_MAX ((size_t)1 << 24)

static struct writ_arena *arena;

static void
check_order(const struct writ_json *value)
{
    for (uint32_t i = 0; i < value->span; i++) {
        const struct writ_json *last = NULL;
        uint32_t count = 0;
        for (const struct writ_json *name = writ_json_sorted_first(&value[i]); name != NULL;
             name = writ_json_sorted_next(name)) {
            WRIT_INVARIANT(last == NULL ||
                           writ_jcs_compare(writ_json_string(last), writ_json_string(name)) < 0);
            last = name;
            count++;
        }
        WRIT_INVARIANT(value[i].type != WRIT_JSON_OBJECT || count == value[i].count);
    }
}

static void
check_value(const struct writ_json *value)
{
    writ_auto_buf once = writ_buf_make(CANONICAL_MAX), twice = writ_buf_make(CANONICAL_MAX);
    struct writ_json_limits limits = writ_json_limits_default;
    const struct writ_json *again = NULL;
    struct writ_digest a, b;

    limits.bytes = limits.string_bytes = CANONICAL_MAX; /* escapes may make it longer */
    check_order(value);
    if (!writ_is_ok(writ_jcs_put(&once, value, NULL))) {
        return;
    }
    WRIT_INVARIANT(writ_is_ok(writ_json_read(writ_buf_view(&once), &limits, arena, &again, NULL)));
    WRIT_INVARIANT(writ_json_equal(value, again) && value->span == again->span);
    WRIT_INVARIANT(writ_is_ok(writ_jcs_put(&twice, writ_json_copy(again, arena), NULL)));
    WRIT_INVARIANT(writ_view_equal(writ_buf_view(&once), writ_buf_view(&twice)));
    WRIT_INVARIANT(writ_is_ok(writ_digest_json(value, CANONICAL_MAX, &a, NULL)));
    WRIT_INVARIANT(writ_is_ok(writ_digest_bytes(writ_buf_view(&once), &b, NULL)));
    WRIT_INVARIANT(writ_digest_equal(&a, &b));
}

static void
check_number(const uint8_t data[8])
{
    union {
        uint64_t bits;
        double number;
    } as = {.bits = writ_view_load64(data)};
    char text[WRIT_JCS_NUMBER_TEXT];
    double again = 1;

    if (__builtin_isfinite(as.number)) {
        size_t len = writ_jcs_number_text(as.number, text);
        WRIT_INVARIANT(writ_is_ok(writ_number_read(writ_view(text, len), &again)));
        WRIT_INVARIANT(again == as.number);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct writ_json *value = NULL;

    if (arena == NULL) {
        arena = writ_arena_new(ARENA_MAX);
        WRIT_INVARIANT(arena != NULL);
    }
    writ_arena_reset(arena);
    if (size >= 8) {
        check_number(data);
    }
    if (writ_is_ok(writ_json_read(
            writ_view(data, size), &writ_json_limits_default, arena, &value, NULL))) {
        check_value(value);
    }
    return 0;
}
