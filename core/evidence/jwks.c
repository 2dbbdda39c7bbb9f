#include "evidence/jwks.h"

#define SET_ARENA_MAX                                                                              \
    ((size_t)4 << 20)   /* 32 bytes for each of the most values, and the strings                   \
                         */
#define SET_VALUES 8192 /* JSON values in a set */

struct writ_jwks {
    struct writ_jwk *keys[WRIT_JWKS_KEYS_MAX];
    size_t count;
    size_t left_out;
    struct writ_err why; /* of the first key that was left out */
};

static const struct writ_json_limits set_limits = {
    .bytes = WRIT_JWKS_BYTES_MAX,
    .depth = 8,
    .values = SET_VALUES,
    .name_bytes = 256,
    .string_bytes = WRIT_JWKS_BYTES_MAX, /* certificates (x5c) are long, and not looked at */
    .number_bytes = 32,
};

static void
set_freep(struct writ_jwks **set)
{
    writ_jwks_free(*set);
}

static void
arena_freep(struct writ_arena **arena)
{
    writ_arena_free(*arena);
}

static void
key_freep(struct writ_jwk **key)
{
    writ_jwk_free(*key);
}

/* A key that is not for us is left out; one that cannot even be looked at fails the set. */
static WRIT_RESULT
set_add(struct writ_jwks *set, const struct writ_json *value, struct writ_err *err)
{
    WRIT_AUTO(struct writ_jwk *, key_freep) key = NULL;
    struct writ_err why = {0};
    writ_result result = writ_jwk_read(value, &key, &why);

    if (result.code == WRIT_E_INVALID) {
        if (set->left_out++ == 0) {
            set->why = why;
        }
        return WRIT_DONE;
    }
    if (!writ_is_ok(result)) {
        WRIT_FAIL(err, result.code, "key set: %s", why.text);
    }
    if (writ_jwks_find(set, writ_jwk_kid(key)) != NULL) {
        WRIT_FAIL(err, WRIT_E_INVALID, "key set: two keys have the same kid");
    }
    set->keys[set->count++] = WRIT_TAKE(key);
    return WRIT_DONE;
}

static WRIT_RESULT
set_fill(struct writ_jwks *set, const struct writ_json *root, struct writ_err *err)
{
    const struct writ_json *keys = writ_json_get_typed(root, WRIT_LIT("keys"), WRIT_JSON_ARRAY);

    if (keys == NULL) {
        WRIT_FAIL(err, WRIT_E_INVALID, "key set: not an object with an array \"keys\"");
    }
    if (keys->count > WRIT_JWKS_KEYS_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "key set: more than %d keys", WRIT_JWKS_KEYS_MAX);
    }
    WRIT_JSON_EACH(value, keys)
    {
        WRIT_TRY(set_add(set, value, err));
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_jwks_read(struct writ_view text, struct writ_jwks **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_arena *, arena_freep) arena = writ_arena_new(SET_ARENA_MAX);
    WRIT_AUTO(struct writ_jwks *, set_freep) set = writ_alloc(sizeof(*set));
    const struct writ_json *root = NULL;

    if (arena == NULL || set == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a key set");
    }
    WRIT_TRY(writ_json_read(text, &set_limits, arena, &root, err));
    WRIT_TRY(set_fill(set, root, err));
    *ret = WRIT_TAKE(set);
    return WRIT_DONE;
}

void
writ_jwks_free(struct writ_jwks *set)
{
    if (set != NULL) {
        for (size_t i = 0; i < set->count; i++) {
            writ_jwk_free(set->keys[i]);
        }
        writ_free(set);
    }
}

size_t
writ_jwks_count(const struct writ_jwks *set)
{
    return set->count;
}

const struct writ_jwk *
writ_jwks_key(const struct writ_jwks *set, size_t i)
{
    WRIT_INVARIANT(i < set->count);
    return set->keys[i];
}

size_t
writ_jwks_left_out(const struct writ_jwks *set, const char **ret_why)
{
    *ret_why = set->why.text;
    return set->left_out;
}

const struct writ_jwk *
writ_jwks_find(const struct writ_jwks *set, struct writ_view kid)
{
    if (set == NULL || kid.len == 0) {
        return NULL;
    }
    for (size_t i = 0; i < set->count; i++) {
        if (writ_view_equal(writ_jwk_kid(set->keys[i]), kid)) {
            return set->keys[i];
        }
    }
    return NULL;
}

void
writ_jwks_put(struct writ_buf *buf, const struct writ_jwk *const *keys, size_t n)
{
    writ_buf_str(buf, "{\"keys\":[");
    for (size_t i = 0; i < n; i++) {
        if (i > 0) {
            writ_buf_byte(buf, ',');
        }
        writ_jwk_put(buf, keys[i]);
    }
    writ_buf_str(buf, "]}");
}
