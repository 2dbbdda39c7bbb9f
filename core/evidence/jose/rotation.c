/* Following is a walk: while a statement leads from a reached key to one that is not reached, that
 * key is reached too. */
#include "evidence/jose/rotation.h"

#include "base/clock.h"
#include "evidence/json/write.h"

#define ARENA_MAX   ((size_t)4 << 20)
#define PAYLOAD_MAX ((size_t)4096)
#define SECOND_US   1000000
#define REACHED_MAX (2 * WRIT_JWKS_KEYS_MAX)

/* The parts of one statement, not verified. */
struct statement {
    struct writ_jws jws;
    struct writ_jwk *after;
    struct writ_view purpose;
    int64_t at_s;
    bool used;
};

struct walk {
    struct writ_arena *arena;
    struct statement statements[WRIT_JWKS_KEYS_MAX];
    size_t n;
    const struct writ_jwk *reached[REACHED_MAX];
    size_t reached_n;
};

static void
walk_wipe(struct walk *walk)
{
    for (size_t i = 0; i < walk->n; i++) {
        writ_jwk_free(walk->statements[i].after);
    }
    writ_arena_free(walk->arena);
}

/* ---- signing */

WRIT_RESULT
writ_rotation_make(const struct writ_signer *before, const struct writ_jwk *after,
    struct writ_view purpose, int64_t at_us, struct writ_buf *buf, struct writ_err *err)
{
    writ_auto_buf payload = writ_buf_make(PAYLOAD_MAX);
    struct writ_write w = writ_write_to(&payload);
    char at[WRIT_TIME_TEXT];

    writ_time_format(at_us, at);
    w.sorted = true;
    writ_write_object_begin(&w);
    writ_write_text(&w, "at", writ_view_str(at));
    writ_write_name(&w, WRIT_LIT("jwk"));
    writ_write_raw(&w, writ_jwk_text(after));
    writ_write_text(&w, "purpose", purpose);
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, err));
    return writ_jws_sign(before, WRIT_LIT(WRIT_ROTATION_TYP), writ_buf_view(&payload), buf, err);
}

/* ---- following */

/* A malformed statement leads nowhere; only a failure of ours is an error. */
static WRIT_RESULT
read_statement(struct walk *walk, struct writ_view text, struct writ_err *err)
{
    struct statement *statement = &walk->statements[walk->n];
    const struct writ_json *payload = NULL;
    int64_t at_us;
    writ_result result;

    *statement = (struct statement){0};
    result = writ_jws_read(text, walk->arena, &statement->jws, err);
    if (writ_is_ok(result)) {
        result = writ_jws_claims(&statement->jws, walk->arena, &payload, err);
    }
    if (writ_is_ok(result)) {
        result = writ_jwk_read(writ_json_get(payload, WRIT_LIT("jwk")), &statement->after, err);
    }
    if (result.code == WRIT_E_NOMEM || result.code == WRIT_E_CRYPTO) {
        return result;
    }
    statement->purpose = writ_json_string(writ_json_get(payload, WRIT_LIT("purpose")));
    if (!writ_is_ok(result) || statement->purpose.len == 0 ||
        !writ_view_is(statement->jws.typ, WRIT_ROTATION_TYP) ||
        !writ_is_ok(
            writ_time_read(writ_json_string(writ_json_get(payload, WRIT_LIT("at"))), &at_us))) {
        writ_jwk_free(statement->after);
        return WRIT_DONE;
    }
    statement->at_s = at_us / SECOND_US;
    walk->n++;
    return WRIT_DONE;
}

static const struct writ_jwk *
find_reached(const struct walk *walk, struct writ_view thumbprint)
{
    for (size_t i = 0; i < walk->reached_n; i++) {
        if (writ_view_equal(writ_jwk_thumbprint(walk->reached[i]), thumbprint)) {
            return walk->reached[i];
        }
    }
    return NULL;
}

static void
reach(struct walk *walk, const struct writ_jwk *key)
{
    if (walk->reached_n < REACHED_MAX && find_reached(walk, writ_jwk_thumbprint(key)) == NULL) {
        walk->reached[walk->reached_n++] = key;
    }
}

/* Two statements of one key, for the same purpose, that name different keys. */
static WRIT_RESULT
check_fork(const struct walk *walk, const struct statement *statement, struct writ_err *err)
{
    for (size_t i = 0; i < walk->n; i++) {
        const struct statement *other = &walk->statements[i];
        if (other->used && writ_view_equal(other->jws.kid, statement->jws.kid) &&
            !writ_view_equal(
                writ_jwk_thumbprint(other->after), writ_jwk_thumbprint(statement->after))) {
            WRIT_FAIL(err, WRIT_E_MISMATCH, "a key names two successors: one of them is forged");
        }
    }
    return WRIT_DONE;
}

/* Whether it leads on from the reached keys; `ret` is only ever set to true. */
static WRIT_RESULT
try_statement(struct walk *walk, struct statement *statement, const struct writ_jwks *set,
    bool *ret, struct writ_err *err)
{
    const struct writ_jwk *before = find_reached(walk, statement->jws.kid);
    int64_t revoked_s;
    writ_result held;

    if (before == NULL || statement->used) {
        return WRIT_DONE;
    }
    if (writ_jwks_revoked(set, statement->jws.kid, &revoked_s) && revoked_s <= statement->at_s) {
        return WRIT_DONE;
    }
    held = writ_jws_check(&statement->jws, before, err);
    if (held.code == WRIT_E_MISMATCH) {
        return WRIT_DONE;
    }
    WRIT_TRY(held);
    WRIT_TRY(check_fork(walk, statement, err));
    statement->used = true;
    reach(walk, statement->after);
    *ret = true;
    return WRIT_DONE;
}

static WRIT_RESULT
walk_on(struct walk *walk, const struct writ_jwks *set, struct writ_err *err)
{
    bool went = true;

    while (went) {
        went = false;
        for (size_t i = 0; i < walk->n; i++) {
            WRIT_TRY(try_statement(walk, &walk->statements[i], set, &went, err));
        }
    }
    return WRIT_DONE;
}

static bool
is_reached(void *ctx, const struct writ_jwk *key)
{
    return find_reached(ctx, writ_jwk_thumbprint(key)) != NULL;
}

WRIT_RESULT
writ_rotation_follow(struct writ_jwks *set, const struct writ_jwks *trusted, struct writ_err *err)
{
    WRIT_AUTO(struct walk, walk_wipe) walk = {.arena = writ_arena_new(ARENA_MAX)};

    if (walk.arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to follow rotations");
    }
    for (size_t i = 0; i < writ_jwks_count(trusted); i++) {
        reach(&walk, writ_jwks_key(trusted, i));
    }
    for (size_t i = 0; i < writ_jwks_rotations(set); i++) {
        WRIT_TRY(read_statement(&walk, writ_jwks_rotation(set, i), err));
    }
    WRIT_TRY(walk_on(&walk, set, err));
    writ_jwks_keep(set, is_reached, &walk);
    return WRIT_DONE;
}
