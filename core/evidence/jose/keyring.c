/* Keys with purposes and states.
 *
 * (1) A kid is in the ring at most once, whatever its purpose and state.
 * (2) A purpose has at most one active key; only active keys have private halves, and verifying
 *     ones of contents.
 * (3) States go forward only: active, verifying, retired, revoked.
 * (4) A key has a time of revocation exactly when it is revoked.
 * (5) A key of contents has `wrap`, any other has `public`; never both. */
#include "evidence/jose/keyring.h"

#include "base/clock.h"
#include "base/text.h"
#include "evidence/jose/rotation.h"
#include "evidence/json/write.h"

#define RING_VERSION   1
#define RING_ARENA_MAX ((size_t)4 << 20)
#define RING_MEMBERS   5 /* of one key's record, without the optional ones */
#define WRAP_MEMBERS   4 /* of a key of contents: alg, kid, kty, use */
#define SECOND_US      1000000

struct writ_keyring {
    struct writ_keyring_key keys[WRIT_KEYRING_KEYS_MAX];
    size_t count;
};

static const struct writ_json_limits ring_limits = {
    .bytes = WRIT_KEYRING_BYTES_MAX,
    .depth = 8,
    .values = 8192,
    .name_bytes = 64,
    .string_bytes = 4096,
    .number_bytes = 32,
};

static const char *const purpose_names[] = {
    [WRIT_KEY_PURPOSE_NONE] = "",
    [WRIT_KEY_PURPOSE_CREDENTIAL] = "credential",
    [WRIT_KEY_PURPOSE_LEDGER] = "ledger",
    [WRIT_KEY_PURPOSE_CONTENTS] = "contents",
};

static const char *const state_names[] = {
    [WRIT_KEY_STATE_NONE] = "",
    [WRIT_KEY_STATE_ACTIVE] = "active",
    [WRIT_KEY_STATE_VERIFYING] = "verifying",
    [WRIT_KEY_STATE_RETIRED] = "retired",
    [WRIT_KEY_STATE_REVOKED] = "revoked",
};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

const char *
writ_keyring_purpose_name(enum writ_key_purpose purpose)
{
    return (size_t)purpose < LENGTH(purpose_names) ? purpose_names[purpose] : "";
}

const char *
writ_keyring_state_name(enum writ_key_state state)
{
    return (size_t)state < LENGTH(state_names) ? state_names[state] : "";
}

/* The place of `name` in a table whose place 0 means none. */
static size_t
name_find(const char *const *names, size_t n, struct writ_view name)
{
    for (size_t i = 1; i < n; i++) {
        if (writ_view_is(name, names[i])) {
            return i;
        }
    }
    return 0;
}

enum writ_key_purpose
writ_keyring_purpose_named(struct writ_view name)
{
    return (enum writ_key_purpose)name_find(purpose_names, LENGTH(purpose_names), name);
}

static enum writ_key_state
state_named(struct writ_view name)
{
    return (enum writ_key_state)name_find(state_names, LENGTH(state_names), name);
}

/* ---- the ring */

WRIT_RESULT
writ_keyring_new(struct writ_keyring **ret, struct writ_err *err)
{
    struct writ_keyring *ring = writ_alloc(sizeof(*ring));

    if (ring == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a keyring");
    }
    *ret = ring;
    return WRIT_DONE;
}

void
writ_keyring_free(struct writ_keyring *ring)
{
    if (ring != NULL) {
        for (size_t i = 0; i < ring->count; i++) {
            writ_jwk_free(ring->keys[i].public);
            writ_signer_free(ring->keys[i].signer);
            writ_wrap_key_free(ring->keys[i].wrap);
            writ_buf_wipe(&ring->keys[i].rotation);
        }
        writ_free(ring);
    }
}

size_t
writ_keyring_count(const struct writ_keyring *ring)
{
    return ring->count;
}

const struct writ_keyring_key *
writ_keyring_key(const struct writ_keyring *ring, size_t i)
{
    WRIT_INVARIANT(i < ring->count);
    return &ring->keys[i];
}

struct writ_view
writ_keyring_kid(const struct writ_keyring_key *key)
{
    return key->wrap != NULL ? writ_wrap_key_kid(key->wrap) : writ_jwk_kid(key->public);
}

const char *
writ_keyring_alg_name(const struct writ_keyring_key *key)
{
    return key->wrap != NULL ? WRIT_WRAP_ALG : writ_jwk_alg_name(writ_jwk_alg(key->public));
}

bool
writ_keyring_keeps_secret(const struct writ_keyring_key *key)
{
    return key->state == WRIT_KEY_STATE_ACTIVE ||
           (key->wrap != NULL && key->state == WRIT_KEY_STATE_VERIFYING);
}

static struct writ_keyring_key *
find_kid(struct writ_keyring *ring, struct writ_view kid)
{
    for (size_t i = 0; i < ring->count; i++) {
        if (writ_view_equal(writ_keyring_kid(&ring->keys[i]), kid)) {
            return &ring->keys[i];
        }
    }
    return NULL;
}

static struct writ_keyring_key *
find_active(struct writ_keyring *ring, enum writ_key_purpose purpose)
{
    for (size_t i = 0; i < ring->count; i++) {
        if (ring->keys[i].purpose == purpose && ring->keys[i].state == WRIT_KEY_STATE_ACTIVE) {
            return &ring->keys[i];
        }
    }
    return NULL;
}

/* Takes the parts of `key` on success. keeps (1) and (2) */
static WRIT_RESULT
append(struct writ_keyring *ring, const struct writ_keyring_key *key, struct writ_err *err)
{
    const struct writ_keyring_key *same = find_kid(ring, writ_keyring_kid(key));

    if (same != NULL) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the ring has this key already, for purpose %s",
            writ_keyring_purpose_name(same->purpose));
    }
    if (key->state == WRIT_KEY_STATE_ACTIVE && find_active(ring, key->purpose) != NULL) {
        WRIT_FAIL(err, WRIT_E_INVALID, "purpose %s has an active key already",
            writ_keyring_purpose_name(key->purpose));
    }
    if (ring->count == WRIT_KEYRING_KEYS_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "a keyring has at most %d keys", WRIT_KEYRING_KEYS_MAX);
    }
    ring->keys[ring->count++] = *key;
    return WRIT_DONE;
}

/* ---- as text */

static void
put_key(struct writ_buf *buf, const struct writ_keyring_key *key)
{
    char memory[WRIT_WRAP_TEXT_MAX];
    struct writ_buf described = writ_buf_over(memory, sizeof memory);
    struct writ_write w = writ_write_to(buf);
    writ_result ended;

    if (key->wrap != NULL) {
        writ_wrap_key_put_public(key->wrap, &described); /* it has room for every one */
    }
    w.sorted = true;
    writ_write_object_begin(&w);
    writ_write_time(&w, "changed_at", key->changed_us);
    writ_write_time(&w, "created_at", key->created_us);
    writ_write_name(&w, WRIT_LIT("jwk"));
    writ_write_raw(&w, key->wrap != NULL ? writ_buf_view(&described) : writ_jwk_text(key->public));
    writ_write_text(&w, "purpose", writ_view_str(writ_keyring_purpose_name(key->purpose)));
    if (key->revoked_us != 0) {
        writ_write_time(&w, "revoked_since", key->revoked_us);
    }
    if (key->rotation.len > 0) {
        writ_write_text(&w, "rotation", writ_buf_view(&key->rotation));
    }
    if (key->until_us != 0) {
        writ_write_time(&w, "signs_until", key->until_us);
    }
    writ_write_text(&w, "state", writ_view_str(writ_keyring_state_name(key->state)));
    writ_write_object_end(&w);
    ended = writ_write_end(&w, NULL);
    (void)ended; /* the buffer keeps the failure */
}

void
writ_keyring_put(struct writ_buf *buf, const struct writ_keyring *ring)
{
    writ_buf_fmt(buf, "{\"version\":%d,\"keys\":[", RING_VERSION);
    for (size_t i = 0; i < ring->count; i++) {
        writ_buf_str(buf, i > 0 ? ",\n" : "\n");
        put_key(buf, &ring->keys[i]);
    }
    writ_buf_str(buf, "\n]}\n");
}

/* An optional time; counts it. */
static bool
take_time(const struct writ_json *value, const char *name, size_t *members, int64_t *ret)
{
    const struct writ_json *time = writ_json_get(value, writ_view_str(name));

    *members += time != NULL;
    return time == NULL || (writ_is_ok(writ_time_read(writ_json_string(time), ret)) && *ret > 0);
}

/* A key's record, without the key itself. */
static bool
take_record(const struct writ_json *value, struct writ_keyring_key *ret)
{
    struct writ_view created = writ_json_string(writ_json_get(value, WRIT_LIT("created_at")));
    struct writ_view changed = writ_json_string(writ_json_get(value, WRIT_LIT("changed_at")));
    const struct writ_json *rotation = writ_json_get(value, WRIT_LIT("rotation"));
    size_t members = RING_MEMBERS + (rotation != NULL);

    ret->purpose =
        writ_keyring_purpose_named(writ_json_string(writ_json_get(value, WRIT_LIT("purpose"))));
    ret->state = state_named(writ_json_string(writ_json_get(value, WRIT_LIT("state"))));
    return writ_json_type(value) == WRIT_JSON_OBJECT && ret->purpose != WRIT_KEY_PURPOSE_NONE &&
           ret->state != WRIT_KEY_STATE_NONE &&
           writ_is_ok(writ_time_read(created, &ret->created_us)) &&
           writ_is_ok(writ_time_read(changed, &ret->changed_us)) &&
           take_time(value, "signs_until", &members, &ret->until_us) &&
           take_time(value, "revoked_since", &members, &ret->revoked_us) &&
           (rotation == NULL || writ_json_string(rotation).len > 0) && value->count == members &&
           (ret->state == WRIT_KEY_STATE_REVOKED) == (ret->revoked_us != 0); /* keeps (4) */
}

/* A key of contents is described by its kid alone. */
static WRIT_RESULT
read_wrap(const struct writ_json *jwk, struct writ_wrap_key **ret, struct writ_err *err)
{
    struct writ_view alg = writ_json_string(writ_json_get(jwk, WRIT_LIT("alg")));
    struct writ_view kty = writ_json_string(writ_json_get(jwk, WRIT_LIT("kty")));
    struct writ_view use = writ_json_string(writ_json_get(jwk, WRIT_LIT("use")));

    if (writ_json_get(jwk, WRIT_LIT("k")) != NULL) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the secret of a key of contents does not belong here");
    }
    if (writ_json_type(jwk) != WRIT_JSON_OBJECT || jwk->count != WRAP_MEMBERS ||
        !writ_view_is(alg, WRIT_WRAP_ALG) || !writ_view_is(kty, "oct") ||
        !writ_view_is(use, "enc")) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "keyring: a key of contents has alg " WRIT_WRAP_ALG ", kid, kty oct and use enc");
    }
    return writ_wrap_key_named(writ_json_string(writ_json_get(jwk, WRIT_LIT("kid"))), ret, err);
}

/* keeps (5) */
static WRIT_RESULT
read_either(const struct writ_json *value, struct writ_keyring_key *key, struct writ_err *err)
{
    const struct writ_json *jwk = writ_json_get(value, WRIT_LIT("jwk"));
    writ_auto_jwk public = NULL;

    if (key->purpose == WRIT_KEY_PURPOSE_CONTENTS) {
        return read_wrap(jwk, &key->wrap, err);
    }
    WRIT_TRY(writ_jwk_read(jwk, &public, err));
    if (!writ_view_equal(writ_jwk_kid(public), writ_jwk_thumbprint(public))) {
        WRIT_FAIL(err, WRIT_E_INVALID, "keyring: a kid is not the thumbprint of its key");
    }
    key->public = WRIT_TAKE(public);
    return WRIT_DONE;
}

static void
key_wipe(struct writ_keyring_key *key)
{
    writ_jwk_free(key->public);
    writ_wrap_key_free(key->wrap);
    writ_buf_wipe(&key->rotation);
}

static WRIT_RESULT
read_key(const struct writ_json *value, struct writ_keyring_key *ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_keyring_key, key_wipe) key = {0};

    if (!take_record(value, &key)) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "keyring: a key must have created_at, changed_at, jwk, purpose and state, and no other "
            "members than those that its state permits");
    }
    key.rotation = writ_buf_make(WRIT_JWS_BYTES_MAX);
    writ_buf_put(&key.rotation, writ_json_string(writ_json_get(value, WRIT_LIT("rotation"))));
    WRIT_TRY(writ_buf_check(&key.rotation, err));
    WRIT_TRY(read_either(value, &key, err));
    *ret = key;
    key = (struct writ_keyring_key){0};
    return WRIT_DONE;
}

static WRIT_RESULT
read_keys(struct writ_keyring *ring, const struct writ_json *root, struct writ_err *err)
{
    const struct writ_json *keys = writ_json_get_typed(root, WRIT_LIT("keys"), WRIT_JSON_ARRAY);
    int64_t version;

    if (keys == NULL || root->count != 2 ||
        !writ_is_ok(writ_json_integer(
            writ_json_get(root, WRIT_LIT("version")), RING_VERSION, RING_VERSION, &version))) {
        WRIT_FAIL(
            err, WRIT_E_INVALID, "keyring: not an object with version %d and keys", RING_VERSION);
    }
    WRIT_JSON_EACH(value, keys)
    {
        struct writ_keyring_key key;
        writ_result appended;

        WRIT_TRY(read_key(value, &key, err));
        appended = append(ring, &key, err);
        if (!writ_is_ok(appended)) {
            key_wipe(&key);
            return appended;
        }
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_keyring_read(struct writ_view text, struct writ_keyring **ret, struct writ_err *err)
{
    writ_auto_arena arena = writ_arena_new(RING_ARENA_MAX);
    writ_auto_keyring ring = NULL;
    const struct writ_json *root = NULL;

    if (arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a keyring");
    }
    WRIT_TRY(writ_keyring_new(&ring, err));
    WRIT_TRY(writ_json_read(text, &ring_limits, arena, &root, err));
    WRIT_TRY(read_keys(ring, root, err));
    *ret = WRIT_TAKE(ring);
    return WRIT_DONE;
}

/* ---- changes */

WRIT_RESULT
writ_keyring_adopt(struct writ_keyring *ring, struct writ_signer *signer, struct writ_err *err)
{
    struct writ_keyring_key *key = find_kid(ring, writ_jwk_kid(writ_signer_jwk(signer)));

    if (key == NULL || key->state != WRIT_KEY_STATE_ACTIVE || key->wrap != NULL) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the private key belongs to no active key of the ring");
    }
    writ_signer_free(key->signer);
    key->signer = signer;
    return WRIT_DONE;
}

WRIT_RESULT
writ_keyring_add(struct writ_keyring *ring, enum writ_key_purpose purpose,
    struct writ_signer *signer, int64_t now_us, struct writ_err *err)
{
    writ_auto_jwk public = writ_jwk_hold(writ_signer_jwk(signer));
    struct writ_keyring_key key = {
        .purpose = purpose,
        .state = WRIT_KEY_STATE_ACTIVE,
        .created_us = now_us,
        .changed_us = now_us,
        .public = public,
        .signer = signer,
    };

    /* keeps (5) */
    WRIT_INVARIANT(purpose != WRIT_KEY_PURPOSE_NONE && purpose != WRIT_KEY_PURPOSE_CONTENTS);
    WRIT_TRY(append(ring, &key, err));
    (void)WRIT_TAKE(public);
    return WRIT_DONE;
}

/* ---- keys of contents */

WRIT_RESULT
writ_keyring_adopt_wrap(struct writ_keyring *ring, struct writ_wrap_key *wrap, struct writ_err *err)
{
    struct writ_keyring_key *key = find_kid(ring, writ_wrap_key_kid(wrap));

    if (key == NULL || key->wrap == NULL || !writ_keyring_keeps_secret(key)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the ring keeps no secret of that key of contents");
    }
    writ_wrap_key_free(key->wrap);
    key->wrap = wrap;
    return WRIT_DONE;
}

WRIT_RESULT
writ_keyring_add_wrap(
    struct writ_keyring *ring, struct writ_wrap_key *wrap, int64_t now_us, struct writ_err *err)
{
    struct writ_keyring_key *before = find_active(ring, WRIT_KEY_PURPOSE_CONTENTS);
    struct writ_keyring_key key = {
        .purpose = WRIT_KEY_PURPOSE_CONTENTS,
        .state = WRIT_KEY_STATE_ACTIVE,
        .created_us = now_us,
        .changed_us = now_us,
        .wrap = wrap,
    };
    writ_result added;

    if (before != NULL) {
        before->state = WRIT_KEY_STATE_VERIFYING;
    }
    added = append(ring, &key, err);
    if (!writ_is_ok(added) && before != NULL) {
        before->state = WRIT_KEY_STATE_ACTIVE; /* undoes the change */
    } else if (before != NULL) {
        before->changed_us = now_us;
    }
    return added;
}

const struct writ_wrap_key *
writ_keyring_wrap(const struct writ_keyring *ring)
{
    for (size_t i = 0; i < ring->count; i++) {
        const struct writ_keyring_key *key = &ring->keys[i];
        if (key->wrap != NULL && key->state == WRIT_KEY_STATE_ACTIVE &&
            writ_wrap_key_is_secret(key->wrap)) {
            return key->wrap;
        }
    }
    return NULL;
}

const struct writ_wrap_key *
writ_keyring_unwrap(const struct writ_keyring *ring, struct writ_view kid)
{
    for (size_t i = 0; i < ring->count; i++) {
        const struct writ_keyring_key *key = &ring->keys[i];
        if (key->wrap != NULL && writ_keyring_keeps_secret(key) &&
            writ_wrap_key_is_secret(key->wrap) && writ_view_equal(writ_keyring_kid(key), kid)) {
            return key->wrap;
        }
    }
    return NULL;
}

/* Replaces the key by its kid alone, after a change of state that does not keep the secret. */
static WRIT_RESULT
forget_wrap(struct writ_keyring_key *key, struct writ_err *err)
{
    struct writ_wrap_key *named = NULL;

    if (key->wrap != NULL) {
        WRIT_TRY(writ_wrap_key_named(writ_wrap_key_kid(key->wrap), &named, err));
        writ_wrap_key_free(key->wrap);
        key->wrap = named;
    }
    return WRIT_DONE;
}

/* ---- changes of state */

WRIT_RESULT
writ_keyring_rotate(struct writ_keyring *ring, enum writ_key_purpose purpose,
    struct writ_signer *signer, int64_t now_us, struct writ_err *err)
{
    struct writ_keyring_key *before = find_active(ring, purpose);
    writ_auto_buf rotation = writ_buf_make(WRIT_JWS_BYTES_MAX);
    writ_result added;

    if (before == NULL || before->signer == NULL) {
        WRIT_FAIL(err, WRIT_E_ABSENT, "purpose %s has no active key to rotate out",
            writ_keyring_purpose_name(purpose));
    }
    WRIT_TRY(writ_rotation_make(before->signer, writ_signer_jwk(signer),
        writ_view_str(writ_keyring_purpose_name(purpose)), now_us, &rotation, err));
    before->state = WRIT_KEY_STATE_VERIFYING;
    added = writ_keyring_add(ring, purpose, signer, now_us, err);
    if (!writ_is_ok(added)) {
        before->state = WRIT_KEY_STATE_ACTIVE; /* undoes the change */
        return added;
    }
    ring->keys[ring->count - 1].rotation = rotation;
    rotation = (struct writ_buf){0};
    before->changed_us = now_us;
    before->until_us = now_us + (int64_t)WRIT_KEYRING_GRACE_S * SECOND_US;
    writ_signer_free(before->signer);
    before->signer = NULL;
    return WRIT_DONE;
}

/* A state that ends more than the one that is known. */
static bool
is_later(const struct writ_keyring_key *theirs, const struct writ_keyring_key *ours)
{
    return theirs->state > ours->state || (theirs->until_us != 0 && ours->until_us == 0) ||
           (theirs->revoked_us != 0 &&
               (ours->revoked_us == 0 || theirs->revoked_us < ours->revoked_us));
}

static WRIT_RESULT
trust_one(struct writ_keyring *ring, struct writ_keyring_key *theirs, int64_t now_us,
    size_t *changed, struct writ_err *err)
{
    struct writ_keyring_key *ours = find_kid(ring, writ_keyring_kid(theirs));

    if (theirs->state == WRIT_KEY_STATE_ACTIVE) {
        theirs->state = WRIT_KEY_STATE_VERIFYING;
    }
    theirs->changed_us = now_us;
    if (ours == NULL) {
        WRIT_TRY(append(ring, theirs, err));
        theirs->public = NULL; /* taken, and the statement with it */
        theirs->rotation = (struct writ_buf){0};
        (*changed)++;
        return WRIT_DONE;
    }
    if (ours->purpose != theirs->purpose) {
        WRIT_FAIL(err, WRIT_E_INVALID, "a key of the other gateway serves purpose %s here",
            writ_keyring_purpose_name(ours->purpose));
    }
    if (ours->state != WRIT_KEY_STATE_ACTIVE && is_later(theirs, ours)) {
        ours->state = theirs->state > ours->state ? theirs->state : ours->state;
        ours->until_us = theirs->until_us;
        ours->revoked_us = theirs->revoked_us;
        ours->changed_us = now_us;
        (*changed)++;
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_keyring_trust(struct writ_keyring *ring, struct writ_keyring *other, int64_t now_us,
    size_t *ret_changed, struct writ_err *err)
{
    *ret_changed = 0;
    for (size_t i = 0; i < other->count; i++) {
        if (other->keys[i].purpose != WRIT_KEY_PURPOSE_CONTENTS) {
            WRIT_TRY(trust_one(ring, &other->keys[i], now_us, ret_changed, err));
        }
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_keyring_retire(
    struct writ_keyring *ring, struct writ_view kid, int64_t now_us, struct writ_err *err)
{
    struct writ_keyring_key *key = find_kid(ring, kid);

    if (key == NULL) {
        WRIT_FAIL(err, WRIT_E_ABSENT, "the ring has no key with this kid");
    }
    switch (key->state) {
    case WRIT_KEY_STATE_ACTIVE:
        WRIT_FAIL(err, WRIT_E_INVALID, "the key is active: rotate it first");
    case WRIT_KEY_STATE_NONE:
    case WRIT_KEY_STATE_RETIRED:
    case WRIT_KEY_STATE_REVOKED:
        WRIT_FAIL(
            err, WRIT_E_INVALID, "the key is %s already", writ_keyring_state_name(key->state));
    case WRIT_KEY_STATE_VERIFYING:
        break;
    }
    WRIT_TRY(forget_wrap(key, err));
    key->state = WRIT_KEY_STATE_RETIRED;
    key->changed_us = now_us;
    if (key->until_us == 0 || key->until_us > now_us) {
        key->until_us = now_us;
    }
    return WRIT_DONE;
}

static WRIT_RESULT
check_since(
    const struct writ_keyring_key *key, int64_t since_us, int64_t now_us, struct writ_err *err)
{
    if (since_us <= 0) { /* 0 is the time of a key that is not revoked */
        WRIT_FAIL(err, WRIT_E_INVALID,
            "the time of a revocation must be after 1970-01-01T00:00:00Z: no key is older");
    }
    if (since_us > now_us) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the time of a revocation must not be in the future");
    }
    if (key->revoked_us != 0 && since_us >= key->revoked_us) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "the key is revoked since that time, or an earlier one: a revocation can only move to "
            "an earlier time");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_keyring_revoke(struct writ_keyring *ring, struct writ_view kid, int64_t since_us,
    struct writ_signer *fresh, int64_t now_us, struct writ_err *err)
{
    struct writ_keyring_key *key = find_kid(ring, kid);
    struct writ_keyring_key was;
    writ_result added = WRIT_DONE;

    if (key == NULL) {
        WRIT_FAIL(err, WRIT_E_ABSENT, "the ring has no key with this kid");
    }
    WRIT_TRY(check_since(key, since_us, now_us, err));
    if (key->wrap != NULL && key->state == WRIT_KEY_STATE_ACTIVE) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the key of contents is active: replace it first");
    }
    if ((fresh != NULL) != (key->state == WRIT_KEY_STATE_ACTIVE)) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "revoking an active key needs a new key; revoking another key takes none");
    }
    WRIT_TRY(forget_wrap(key, err));
    was = *key;
    key->state = WRIT_KEY_STATE_REVOKED;
    if (fresh != NULL) {
        added = writ_keyring_add(ring, key->purpose, fresh, now_us, err);
    }
    if (!writ_is_ok(added)) {
        *key = was; /* undoes the change */
        return added;
    }
    key->changed_us = now_us;
    key->revoked_us = since_us;
    writ_signer_free(key->signer);
    key->signer = NULL;
    return WRIT_DONE;
}

/* ---- use */

const struct writ_signer *
writ_keyring_active(const struct writ_keyring *ring, enum writ_key_purpose purpose)
{
    for (size_t i = 0; i < ring->count; i++) {
        const struct writ_keyring_key *key = &ring->keys[i];
        if (key->purpose == purpose && key->state == WRIT_KEY_STATE_ACTIVE) {
            return key->signer;
        }
    }
    return NULL;
}

static bool
verifies(const struct writ_keyring_key *key, enum writ_key_purpose purpose)
{
    return key->purpose == purpose && key->public != NULL &&
           (key->state == WRIT_KEY_STATE_ACTIVE || key->state == WRIT_KEY_STATE_VERIFYING);
}

const struct writ_jwk *
writ_keyring_find(
    const struct writ_keyring *ring, enum writ_key_purpose purpose, struct writ_view kid)
{
    for (size_t i = 0; i < ring->count; i++) {
        const struct writ_keyring_key *key = &ring->keys[i];
        if (verifies(key, purpose) && writ_view_equal(writ_jwk_kid(key->public), kid)) {
            return key->public;
        }
    }
    return NULL;
}

/* Cut to seconds, outwards: the first and the last second count whole. */
struct writ_key_validity
writ_keyring_window(const struct writ_keyring_key *key)
{
    return (struct writ_key_validity){
        .from_s = key->created_us / SECOND_US,
        .until_s = key->until_us != 0 ? key->until_us / SECOND_US : INT64_MAX,
        .revoked_s = key->revoked_us != 0 ? key->revoked_us / SECOND_US : INT64_MAX,
    };
}

/* Appends the keys in that state; `n` counts the keys before them. */
static void
put_keys(struct writ_buf *buf, const struct writ_keyring *ring, enum writ_key_purpose purpose,
    enum writ_key_state state, size_t *n)
{
    for (size_t i = 0; i < ring->count; i++) {
        const struct writ_keyring_key *key = &ring->keys[i];
        if (key->purpose == purpose && key->state == state && key->public != NULL) {
            struct writ_key_validity window = writ_keyring_window(key);
            writ_buf_str(buf, (*n)++ > 0 ? "," : "");
            writ_key_validity_put(buf, writ_jwk_text(key->public), &window);
        }
    }
}

static void
put_revoked(struct writ_buf *buf, const struct writ_keyring *ring, enum writ_key_purpose purpose)
{
    size_t n = 0;

    for (size_t i = 0; i < ring->count; i++) {
        const struct writ_keyring_key *key = &ring->keys[i];
        if (key->purpose == purpose && key->revoked_us != 0 && key->public != NULL) {
            writ_buf_str(buf, n++ > 0 ? "," : ",\"revoked\":[");
            writ_buf_fmt(buf, "{\"kid\":\"" WRIT_VIEW_FMT "\",\"revoked_at\":%lld}",
                WRIT_VIEW_ARG(writ_jwk_kid(key->public)), /* a thumbprint needs no escapes */
                (long long)(key->revoked_us / SECOND_US));
        }
    }
    writ_buf_str(buf, n > 0 ? "]" : "");
}

static void
put_rotations(struct writ_buf *buf, const struct writ_keyring *ring, enum writ_key_purpose purpose)
{
    size_t n = 0;

    for (size_t i = 0; i < ring->count; i++) {
        const struct writ_keyring_key *key = &ring->keys[i];
        if (key->purpose == purpose && key->rotation.len > 0) {
            writ_buf_str(buf, n++ > 0 ? "," : ",\"rotations\":[");
            writ_text_json(buf, writ_buf_view(&key->rotation));
        }
    }
    writ_buf_str(buf, n > 0 ? "]" : "");
}

void
writ_keyring_jwks(struct writ_buf *buf, const struct writ_keyring *ring,
    enum writ_key_purpose purpose, bool history)
{
    size_t n = 0;

    writ_buf_str(buf, "{\"keys\":[");
    put_keys(buf, ring, purpose, WRIT_KEY_STATE_ACTIVE, &n);
    put_keys(buf, ring, purpose, WRIT_KEY_STATE_VERIFYING, &n);
    if (history) {
        put_keys(buf, ring, purpose, WRIT_KEY_STATE_RETIRED, &n);
        put_keys(buf, ring, purpose, WRIT_KEY_STATE_REVOKED, &n);
    }
    writ_buf_byte(buf, ']');
    put_revoked(buf, ring, purpose);
    put_rotations(buf, ring, purpose);
    writ_buf_byte(buf, '}');
}
