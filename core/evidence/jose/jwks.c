/* Reads a key set in one pass. A set is immutable after it is read, so threads share it without a
 * lock; a key that cannot be used is counted, and a faulty set is refused as a whole. */
#include "evidence/jose/jwks.h"

#define SET_ARENA_MAX                                                                              \
    ((size_t)4 << 20)   /* 32 bytes for each of the most values, and the strings                   \
                         */
#define SET_VALUES 8192 /* JSON values in a set */

struct revoked {
    struct writ_view kid;
    int64_t since_s;
};

struct writ_jwks {
    struct writ_jwk *keys[WRIT_JWKS_KEYS_MAX];
    struct writ_key_validity windows[WRIT_JWKS_KEYS_MAX]; /* of the keys */
    size_t count;
    struct revoked revoked[WRIT_JWKS_KEYS_MAX];
    size_t revoked_n;
    struct writ_view rotations[WRIT_JWKS_KEYS_MAX];
    size_t rotations_n;
    struct writ_arena *kept; /* the texts of the above; NULL without any */
    size_t left_out;
    struct writ_err why; /* of the first key that was left out */
};

static const struct writ_json_limits set_limits = {
    .bytes = WRIT_JWKS_BYTES_MAX,
    .depth = 8,
    .values = SET_VALUES,
    .name_bytes = 256,
    .string_bytes = WRIT_JWKS_BYTES_MAX, /* certificates (x5c) are long, and are ignored */
    .number_bytes = 32,
};

/* An unusable key is left out; a key that leaks a secret or breaks a limit fails the set. */
static WRIT_RESULT
set_add(struct writ_jwks *set, const struct writ_json *value, struct writ_err *err)
{
    writ_auto_jwk key = NULL;
    struct writ_key_validity window = {0};
    struct writ_err why = {0};
    writ_result result = writ_jwk_read(value, &key, &why);

    if (writ_is_ok(result)) {
        result = writ_key_validity_read(value, &window, &why);
    }

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
    set->windows[set->count] = window;
    set->keys[set->count++] = WRIT_TAKE(key);
    return WRIT_DONE;
}

/* ---- members of our own sets, beside the keys */

static WRIT_RESULT
keep_text(struct writ_jwks *set, struct writ_view text, struct writ_view *ret, struct writ_err *err)
{
    if (set->kept == NULL) {
        set->kept = writ_arena_new_small(SET_ARENA_MAX);
    }
    *ret = set->kept != NULL ? writ_view_copy(text, set->kept) : writ_view(NULL, 0);
    if (ret->ptr == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a key set");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
set_revoke(struct writ_jwks *set, const struct writ_json *value, struct writ_err *err)
{
    struct writ_view kid = writ_json_string(writ_json_get(value, WRIT_LIT("kid")));
    struct revoked *row = &set->revoked[set->revoked_n];

    if (kid.len == 0 || !writ_is_ok(writ_json_integer(writ_json_get(value, WRIT_LIT("revoked_at")),
                            0, INT64_MAX, &row->since_s))) {
        WRIT_FAIL(
            err, WRIT_E_INVALID, "key set: an element of revoked must have kid and revoked_at");
    }
    WRIT_TRY(keep_text(set, kid, &row->kid, err));
    set->revoked_n++;
    return WRIT_DONE;
}

static WRIT_RESULT
set_rotate(struct writ_jwks *set, const struct writ_json *value, struct writ_err *err)
{
    if (writ_json_string(value).len == 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "key set: an element of rotations is not a statement");
    }
    WRIT_TRY(keep_text(set, writ_json_string(value), &set->rotations[set->rotations_n], err));
    set->rotations_n++;
    return WRIT_DONE;
}

/* Calls `fn` for each element of an optional list. */
static WRIT_RESULT
set_list(struct writ_jwks *set, const struct writ_json *list,
    WRIT_RESULT (*fn)(struct writ_jwks *, const struct writ_json *, struct writ_err *),
    struct writ_err *err)
{
    if (list != NULL && writ_json_type(list) != WRIT_JSON_ARRAY) {
        WRIT_FAIL(err, WRIT_E_INVALID, "key set: revoked or rotations is not a list");
    }
    if (list != NULL && list->count > WRIT_JWKS_KEYS_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "key set: more than %d revoked keys or rotations",
            WRIT_JWKS_KEYS_MAX);
    }
    WRIT_JSON_EACH(value, list)
    {
        WRIT_TRY(fn(set, value, err));
    }
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
    WRIT_TRY(set_list(set, writ_json_get(root, WRIT_LIT("revoked")), set_revoke, err));
    return set_list(set, writ_json_get(root, WRIT_LIT("rotations")), set_rotate, err);
}

WRIT_RESULT
writ_jwks_read(struct writ_view text, struct writ_jwks **ret, struct writ_err *err)
{
    writ_auto_arena arena = writ_arena_new(SET_ARENA_MAX);
    writ_auto_jwks set = writ_alloc(sizeof(*set));
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
        writ_arena_free(set->kept);
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

const struct writ_key_validity *
writ_jwks_window(const struct writ_jwks *set, const struct writ_jwk *key)
{
    size_t i = 0;

    while (set->keys[i] != key) {
        i++;
        WRIT_INVARIANT(i < set->count);
    }
    return &set->windows[i];
}

bool
writ_jwks_revoked(const struct writ_jwks *set, struct writ_view kid, int64_t *ret_since_s)
{
    for (size_t i = 0; set != NULL && i < set->revoked_n; i++) {
        if (writ_view_equal(set->revoked[i].kid, kid)) {
            *ret_since_s = set->revoked[i].since_s;
            return true;
        }
    }
    for (size_t i = 0; set != NULL && i < set->count; i++) {
        if (set->windows[i].revoked_s != INT64_MAX &&
            writ_view_equal(writ_jwk_kid(set->keys[i]), kid)) {
            *ret_since_s = set->windows[i].revoked_s;
            return true;
        }
    }
    return false;
}

size_t
writ_jwks_rotations(const struct writ_jwks *set)
{
    return set->rotations_n;
}

struct writ_view
writ_jwks_rotation(const struct writ_jwks *set, size_t i)
{
    WRIT_INVARIANT(i < set->rotations_n);
    return set->rotations[i];
}

void
writ_jwks_keep(
    struct writ_jwks *set, bool (*keep)(void *ctx, const struct writ_jwk *key), void *ctx)
{
    size_t n = 0;

    for (size_t i = 0; i < set->count; i++) {
        if (keep(ctx, set->keys[i])) {
            set->windows[n] = set->windows[i];
            set->keys[n++] = set->keys[i];
        } else {
            writ_jwk_free(set->keys[i]);
        }
    }
    set->count = n;
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
