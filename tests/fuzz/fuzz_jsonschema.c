/* A schema and a value, one JSON text behind the other: either the schema is refused with a reason,
 * or the check ends with an answer, the same twice, and a fault names a place of the value. */
#include "policy/schema/jsonschema.h"
#include "support/fuzz.h"

#define ARENA_MAX ((size_t)64 << 20)

static const struct writ_json *
read_json(struct writ_view text, struct writ_arena *arena)
{
    const struct writ_json *value = NULL;

    return writ_is_ok(writ_json_read(text, &writ_json_limits_default, arena, &value, NULL)) ? value
                                                                                            : NULL;
}

static void
check(const struct writ_jsonschema *schema, const struct writ_json *value, struct writ_arena *arena)
{
    struct writ_jsonschema_fault fault = {{NULL, 0}, {NULL, 0}};
    enum writ_jsonschema_answer first = writ_jsonschema_check(schema, value, arena, &fault);

    WRIT_INVARIANT(first <= WRIT_JSONSCHEMA_YES);
    if (first != WRIT_JSONSCHEMA_LIMIT) {
        WRIT_INVARIANT(writ_jsonschema_check(schema, value, arena, NULL) == first);
    }
    if (first == WRIT_JSONSCHEMA_NO && fault.place.ptr != NULL) {
        WRIT_INVARIANT(writ_json_is_pointer(fault.place));
        WRIT_INVARIANT(fault.keyword.len > 0);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    struct writ_view text = writ_view(data, size);
    size_t end = writ_view_find(text, '\n');
    const struct writ_json *schema, *value;
    struct writ_jsonschema *compiled = NULL;
    struct writ_err err = {0};

    WRIT_INVARIANT(arena != NULL);
    schema = read_json(writ_view_sub(text, 0, end), arena);
    value = read_json(writ_view_sub(text, end + 1, size), arena);
    if (schema == NULL || value == NULL) {
        return 0;
    }
    if (!writ_is_ok(writ_jsonschema_new(schema, WRIT_JSONSCHEMA_FORMATS_ASSERT, &compiled, &err))) {
        WRIT_INVARIANT(compiled == NULL && err.text[0] != '\0');
        return 0;
    }
    check(compiled, value, arena);
    writ_jsonschema_free(compiled);
    return 0;
}
