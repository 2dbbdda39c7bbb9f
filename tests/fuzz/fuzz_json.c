/* For every input: our reader and jansson agree on whether it is JSON and on its value, but for
 * the differences that oracle.h names; a refusal has an offset within the input and a message; and
 * a refusal under smaller limits is a refusal because of them. */
#include "support/fuzz.h"
#include "support/evidence/oracle.h"

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
    }
    WRIT_INVARIANT(writ_oracle_disagrees(text, arena) == NULL);
    return 0;
}
