/* A value is its canonical text, counted and never changed. Two values are equal exactly when their
 * bytes are. */
#include "crew/value.h"

#include "evidence/json/jcs.h"

/* memory for a node of a text, with everything that belongs to it (json.h) */
#define ARENA_PER_BYTE 66
#define ARENA_EXTRA    (128 * 1024)

const struct writ_crew_limits writ_crew_limits_default = {
#define LIMIT_DEFAULT(name, value, what) .name = (value),
    WRIT_CREW_LIMITS(LIMIT_DEFAULT)
#undef LIMIT_DEFAULT
};

struct writ_crew_value {
    size_t owners;
    size_t len;
    char text[];
};

struct writ_crew_value *
writ_crew_value_ref(struct writ_crew_value *value)
{
    if (value != NULL) {
        value->owners++;
    }
    return value;
}

void
writ_crew_value_free(struct writ_crew_value *value)
{
    if (value != NULL && --value->owners == 0) {
        writ_free(value);
    }
}

void
writ_value_freep(struct writ_crew_value **value)
{
    writ_crew_value_free(*value);
    *value = NULL;
}

struct writ_view
writ_crew_value_text(const struct writ_crew_value *value)
{
    return value != NULL ? writ_view(value->text, value->len) : writ_view(NULL, 0);
}

void
writ_value_replace(struct writ_crew_value **to, struct writ_crew_value *value)
{
    writ_crew_value_free(*to);
    *to = value;
}

WRIT_RESULT
writ_value_of_text(struct writ_view canonical, struct writ_crew_value **ret)
{
    struct writ_crew_value *value = writ_alloc(sizeof *value + canonical.len);

    if (value == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    value->owners = 1;
    value->len = canonical.len;
    writ_view_place(canonical, value->text);
    *ret = value;
    return WRIT_DONE;
}

WRIT_RESULT
writ_value_of_json(const struct writ_json *json, struct writ_crew_value **ret)
{
    writ_auto_buf buf = writ_buf_make(SIZE_MAX);

    if (json == NULL) {
        *ret = NULL;
        return WRIT_DONE;
    }
    WRIT_TRY(writ_jcs_put_rounded(&buf, json, NULL));
    return writ_value_of_text(writ_buf_view(&buf), ret);
}

struct writ_arena *
writ_value_arena(size_t max)
{
    return writ_arena_new(max < (SIZE_MAX - ARENA_EXTRA) / ARENA_PER_BYTE
                              ? max * ARENA_PER_BYTE + ARENA_EXTRA
                              : SIZE_MAX);
}

static WRIT_RESULT
parse(struct writ_view json, size_t max, size_t depth, struct writ_arena *arena,
    const struct writ_json **ret, struct writ_crew_err *err)
{
    const struct writ_json_limits limits = {
        .bytes = max,
        .depth = depth,
        .values = max,
        .name_bytes = max,
        .string_bytes = max,
        .number_bytes = WRIT_NUMBER_MAX,
    };
    struct writ_err below = {0};
    writ_result read = writ_json_read(json, &limits, arena, ret, &below);

    return writ_is_ok(read) ? read : writ_failure_below(err, read, &below);
}

WRIT_RESULT
writ_value_parse(struct writ_view json, size_t max, struct writ_arena *arena,
    const struct writ_json **ret, struct writ_crew_err *err)
{
    return parse(json, max, WRIT_CREW_DEPTH_MAX, arena, ret, err);
}

WRIT_RESULT
writ_value_parse_snapshot(struct writ_view json, size_t max, struct writ_arena *arena,
    const struct writ_json **ret, struct writ_crew_err *err)
{
    return parse(json, max, WRIT_JSON_DEPTH_MAX, arena, ret, err);
}

WRIT_RESULT
writ_crew_value_read(struct writ_view json, const struct writ_crew_limits *limits,
    struct writ_crew_value **ret, struct writ_crew_err *err)
{
    size_t max = (limits != NULL ? limits : &writ_crew_limits_default)->event_bytes;
    writ_auto_arena arena = writ_value_arena(max);
    const struct writ_json *value = NULL;

    if (arena == NULL) {
        return writ_failure_memory(err);
    }
    WRIT_TRY(writ_value_parse(json, max, arena, &value, err));
    return writ_is_ok(writ_value_of_json(value, ret)) ? WRIT_DONE : writ_failure_memory(err);
}
