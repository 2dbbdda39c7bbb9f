/* logins.c - a fixed table of logins under one lock, and their rows.
 *
 * Invariants:
 * (1) a place without `shown` is free and zeroed.
 * (2) secrets are compared by their SHA-256, with every place, in constant time.
 *
 * A row's value: the wrapped key of its content, the agent's digest, the wall time of the login as
 * 8 bytes, and the field, encrypted; what is not encrypted is authenticated. */
#include "gateway/auth/logins.h"

#include "base/id.h"
#include "evidence/jose/wrap_key.h"

#include <pthread.h>

#define SECRET_BYTES 32
#define TIME_BYTES   8
#define HEAD_BYTES   (WRIT_DIGEST_BYTES + TIME_BYTES)
#define NAME_LABEL   "writ login row" /* no digest has two purposes */
#define KEY_LABEL    "writ login key"

struct login {
    struct writ_buf shown;
    struct writ_digest cookie, key, agent, row;
    int64_t opened_us, used_us; /* monotonic */
    int64_t seen_us, asked_us;  /* its row: seen, and asked for; monotonic */
};

struct writ_logins {
    pthread_mutex_t lock;
    const struct writ_clock *clock;
    bool shared;
    struct login places[WRIT_LOGINS_MAX];
};

writ_result
writ_logins_new(
    const struct writ_clock *clock, bool shared, struct writ_logins **ret, struct writ_err *err)
{
    struct writ_logins *logins = writ_alloc(sizeof *logins);

    if (logins == NULL || pthread_mutex_init(&logins->lock, NULL) != 0) {
        writ_free(logins);
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for logins");
    }
    logins->clock = clock != NULL ? clock : writ_clock_system();
    logins->shared = shared;
    *ret = logins;
    return WRIT_DONE;
}

/* keeps (1) */
static void
end(struct login *login)
{
    writ_buf_wipe_secret(&login->shown);
    *login = (struct login){0};
}

void
writ_logins_free(struct writ_logins *logins)
{
    if (logins == NULL) {
        return;
    }
    for (size_t i = 0; i < WRIT_LOGINS_MAX; i++) {
        end(&logins->places[i]);
    }
    (void)pthread_mutex_destroy(&logins->lock);
    writ_free(logins);
}

/* Under the lock: ends expired logins. */
static void
sweep(struct writ_logins *logins, int64_t now_us)
{
    for (size_t i = 0; i < WRIT_LOGINS_MAX; i++) {
        struct login *login = &logins->places[i];
        if (login->shown.ptr != NULL && (now_us - login->used_us >= WRIT_LOGINS_IDLE_US ||
                                            now_us - login->opened_us >= WRIT_LOGINS_LIFE_US)) {
            end(login);
        }
    }
}

/* Under the lock: a free place; the oldest login of an agent with a full share makes room, and
 * `ret_ended` gets the name of its row. */
static struct login *
room(struct writ_logins *logins, const struct writ_digest *agent, bool *ret_ends,
    struct writ_digest *ret_ended)
{
    struct login *found = NULL, *oldest = NULL;
    size_t own = 0;

    for (size_t i = 0; i < WRIT_LOGINS_MAX; i++) {
        struct login *login = &logins->places[i];
        if (login->shown.ptr == NULL) {
            found = found == NULL ? login : found;
        } else if (writ_digest_equal(&login->agent, agent)) {
            own++;
            oldest = oldest == NULL || login->opened_us < oldest->opened_us ? login : oldest;
        }
    }
    *ret_ends = own >= WRIT_LOGINS_EACH;
    if (!*ret_ends) {
        return found;
    }
    *ret_ended = oldest->row;
    end(oldest);
    return oldest;
}

/* A secret in the client's form, and its digest. */
static WRIT_RESULT
make_secret(char text[WRIT_LOGINS_TEXT], struct writ_digest *ret, struct writ_err *err)
{
    unsigned char bytes[SECRET_BYTES];
    struct writ_buf put = writ_buf_over(text, WRIT_LOGINS_TEXT - 1);
    writ_result result = writ_random(bytes, sizeof bytes, err);

    if (writ_is_ok(result)) {
        writ_base64url_put(&put, writ_view(bytes, sizeof bytes));
        text[put.len] = '\0';
        result = writ_digest_bytes(writ_buf_view(&put), ret, err);
    }
    writ_wipe(bytes, sizeof bytes);
    return result;
}

/* SHA-256 of a label and both secrets. The texts of secrets have one length. */
static WRIT_RESULT
digest_secrets(const char *label, struct writ_view cookie, struct writ_view key,
    struct writ_digest *ret, struct writ_err *err)
{
    const struct writ_view pieces[] = {
        writ_view_str(label), writ_view("", 1), cookie, writ_view("", 1), key};

    if (cookie.len != WRIT_LOGINS_TEXT - 1 || key.len != WRIT_LOGINS_TEXT - 1) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "not the secrets of a login");
    }
    return writ_digest_pieces(pieces, sizeof pieces / sizeof *pieces, ret, err);
}

WRIT_RESULT
writ_logins_row_name(struct writ_view cookie, struct writ_view key, struct writ_digest *ret)
{
    return digest_secrets(NAME_LABEL, cookie, key, ret, NULL);
}

/* Under the lock. WRIT_E_BUSY: no place. */
static WRIT_RESULT
put(struct writ_logins *logins, struct login *fresh, bool *ret_ends, struct writ_digest *ret_ended)
{
    struct login *place;

    sweep(logins, writ_clock_mono_us(logins->clock));
    place = room(logins, &fresh->agent, ret_ends, ret_ended);
    if (place == NULL) {
        return (writ_result){WRIT_E_BUSY};
    }
    *place = *fresh;
    *fresh = (struct login){0};
    return WRIT_DONE;
}

writ_result
writ_logins_open(struct writ_logins *logins, const struct writ_digest *agent,
    struct writ_view shown, struct writ_logins_pass *ret, struct writ_err *err)
{
    struct login fresh = {.shown = writ_buf_make(WRIT_LOGINS_SHOWN), .agent = *agent};
    struct writ_logins_pass pass = {.expires_us = 0};
    writ_result result;

    if (shown.len == 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "nothing was shown"); /* keeps (1) */
    }
    writ_buf_put(&fresh.shown, shown);
    result = writ_buf_check(&fresh.shown, err);
    if (writ_is_ok(result)) {
        result = make_secret(pass.cookie, &fresh.cookie, err);
    }
    if (writ_is_ok(result)) {
        result = make_secret(pass.key, &fresh.key, err);
    }
    if (writ_is_ok(result)) {
        result =
            writ_logins_row_name(writ_view_str(pass.cookie), writ_view_str(pass.key), &fresh.row);
    }
    if (!writ_is_ok(result)) {
        end(&fresh);
        return result;
    }
    fresh.opened_us = fresh.used_us = fresh.seen_us = writ_clock_mono_us(logins->clock);
    pass.expires_us = writ_clock_wall_us(logins->clock) + WRIT_LOGINS_LIFE_US;
    (void)pthread_mutex_lock(&logins->lock);
    result = put(logins, &fresh, &pass.replaces, &pass.replaced);
    (void)pthread_mutex_unlock(&logins->lock);
    end(&fresh);
    if (!writ_is_ok(result)) {
        WRIT_FAIL(err, WRIT_E_BUSY, "%d people are logged in", WRIT_LOGINS_MAX);
    }
    *ret = pass;
    return WRIT_DONE;
}

/* Under the lock: the login of both secrets, or NULL. keeps (2) */
static struct login *
look_up(struct writ_logins *logins, const struct writ_digest *cookie, const struct writ_digest *key)
{
    struct login *found = NULL;

    for (size_t i = 0; i < WRIT_LOGINS_MAX; i++) {
        struct login *login = &logins->places[i];
        bool same = writ_digest_equal(&login->cookie, cookie);

        same = writ_digest_equal(&login->key, key) && same;
        if (same && login->shown.ptr != NULL) {
            found = login;
        }
    }
    return found;
}

writ_result
writ_logins_find(struct writ_logins *logins, struct writ_view cookie, struct writ_view key,
    struct writ_arena *arena, struct writ_view *ret)
{
    struct writ_view copy = {NULL, 0};
    struct writ_digest cookie_digest, key_digest;
    struct login *login;
    int64_t now_us = writ_clock_mono_us(logins->clock);

    WRIT_TRY(writ_digest_bytes(cookie, &cookie_digest, NULL));
    WRIT_TRY(writ_digest_bytes(key, &key_digest, NULL));
    (void)pthread_mutex_lock(&logins->lock);
    sweep(logins, now_us);
    login = look_up(logins, &cookie_digest, &key_digest);
    if (login != NULL && logins->shared && now_us - login->seen_us >= WRIT_LOGINS_FRESH_US) {
        login = NULL;
    }
    if (login != NULL) {
        login->used_us = now_us;
        copy = writ_view_copy(writ_buf_view(&login->shown), arena);
    }
    (void)pthread_mutex_unlock(&logins->lock);
    if (copy.ptr == NULL) {
        return (writ_result){login == NULL ? WRIT_E_ABSENT : WRIT_E_NOMEM};
    }
    *ret = copy;
    return WRIT_DONE;
}

void
writ_logins_close(struct writ_logins *logins, struct writ_view cookie, struct writ_view key)
{
    struct writ_digest cookie_digest, key_digest;
    struct login *login;

    if (!writ_is_ok(writ_digest_bytes(cookie, &cookie_digest, NULL)) ||
        !writ_is_ok(writ_digest_bytes(key, &key_digest, NULL))) {
        return;
    }
    (void)pthread_mutex_lock(&logins->lock);
    login = look_up(logins, &cookie_digest, &key_digest);
    if (login != NULL) {
        end(login);
    }
    (void)pthread_mutex_unlock(&logins->lock);
}

/* ---- rows ---- */

bool
writ_logins_is_due(struct writ_logins *logins, struct writ_view cookie, struct writ_view key)
{
    struct writ_digest cookie_digest, key_digest;
    int64_t now_us = writ_clock_mono_us(logins->clock);
    struct login *login;
    bool due = false;

    if (!logins->shared || !writ_is_ok(writ_digest_bytes(cookie, &cookie_digest, NULL)) ||
        !writ_is_ok(writ_digest_bytes(key, &key_digest, NULL))) {
        return false;
    }
    (void)pthread_mutex_lock(&logins->lock);
    login = look_up(logins, &cookie_digest, &key_digest);
    if (login != NULL && now_us - login->seen_us >= WRIT_LOGINS_LOOK_US &&
        now_us - login->asked_us >= WRIT_LOGINS_LOOK_US) {
        login->asked_us = now_us;
        due = true;
    }
    (void)pthread_mutex_unlock(&logins->lock);
    return due;
}

static WRIT_RESULT
key_of(struct writ_view cookie, struct writ_view key, struct writ_wrap_key **ret)
{
    struct writ_digest digest;
    writ_result result;

    WRIT_TRY(digest_secrets(KEY_LABEL, cookie, key, &digest, NULL));
    result = writ_wrap_key_of(writ_view(digest.bytes, sizeof digest.bytes), ret, NULL);
    writ_wipe(&digest, sizeof digest);
    return result;
}

static void
put_time(struct writ_buf *buf, int64_t us)
{
    for (int shift = 56; shift >= 0; shift -= 8) {
        writ_buf_byte(buf, (char)((uint64_t)us >> shift & 0xff));
    }
}

static int64_t
read_time(struct writ_view bytes)
{
    uint64_t us = 0;

    for (size_t i = 0; i < bytes.len; i++) {
        us = us << 8 | (unsigned char)bytes.ptr[i];
    }
    return (int64_t)us;
}

/* What is known of a login outside of the lock. */
struct known {
    struct writ_digest agent;
    int64_t opened_us; /* monotonic */
};

static WRIT_RESULT
look(struct writ_logins *logins, struct writ_view cookie, struct writ_view key, struct known *ret)
{
    struct writ_digest cookie_digest, key_digest;
    struct login *login;

    WRIT_TRY(writ_digest_bytes(cookie, &cookie_digest, NULL));
    WRIT_TRY(writ_digest_bytes(key, &key_digest, NULL));
    (void)pthread_mutex_lock(&logins->lock);
    login = look_up(logins, &cookie_digest, &key_digest);
    if (login != NULL) {
        *ret = (struct known){login->agent, login->opened_us};
    }
    (void)pthread_mutex_unlock(&logins->lock);
    return login != NULL ? WRIT_DONE : (writ_result){WRIT_E_ABSENT};
}

WRIT_RESULT
writ_logins_row_make(struct writ_logins *logins, struct writ_view cookie, struct writ_view key,
    struct writ_arena *arena, struct writ_logins_row *ret)
{
    writ_auto_wrap_key wrap = NULL;
    writ_auto_buf sealed = writ_buf_make(WRIT_LOGINS_SHOWN + WRIT_WRAP_OVERHEAD);
    struct writ_buf head = writ_buf_in(arena, HEAD_BYTES);
    struct writ_buf value = writ_buf_in(arena, WRIT_LOGINS_ROW_MAX);
    struct writ_view shown = {NULL, 0};
    uint8_t wrapped[WRIT_WRAPPED_BYTES];
    struct writ_logins_row row;
    struct known known = {.opened_us = 0};
    int64_t now_us = writ_clock_wall_us(logins->clock), opened_us;

    WRIT_TRY(writ_logins_find(logins, cookie, key, arena, &shown));
    WRIT_TRY(look(logins, cookie, key, &known));
    WRIT_TRY(writ_logins_row_name(cookie, key, &row.name));
    opened_us = now_us - (writ_clock_mono_us(logins->clock) - known.opened_us);
    writ_buf_put(&head, writ_view(known.agent.bytes, WRIT_DIGEST_BYTES));
    put_time(&head, opened_us);
    WRIT_TRY(key_of(cookie, key, &wrap));
    WRIT_TRY(writ_wrap_key_seal(wrap, writ_buf_view(&head), shown, wrapped, &sealed, NULL));
    writ_buf_put(&value, writ_view(wrapped, sizeof wrapped));
    writ_buf_put(&value, writ_buf_view(&head));
    writ_buf_put(&value, writ_buf_view(&sealed));
    WRIT_TRY(writ_buf_check(&value, NULL));
    row.value = writ_buf_view(&value);
    row.expires_us = opened_us + WRIT_LOGINS_LIFE_US < now_us + WRIT_LOGINS_IDLE_US
                         ? opened_us + WRIT_LOGINS_LIFE_US
                         : now_us + WRIT_LOGINS_IDLE_US;
    *ret = row;
    return WRIT_DONE;
}

/* The login of a row, which must be wiped (end). */
static WRIT_RESULT
open_row(struct writ_view cookie, struct writ_view key, struct writ_view value, struct login *ret)
{
    writ_auto_wrap_key wrap = NULL;
    struct writ_view head = writ_view_sub(value, WRIT_WRAPPED_BYTES, HEAD_BYTES);

    if (head.len != HEAD_BYTES) {
        return (writ_result){WRIT_E_MISMATCH};
    }
    WRIT_TRY(key_of(cookie, key, &wrap));
    WRIT_TRY(writ_digest_bytes(cookie, &ret->cookie, NULL));
    WRIT_TRY(writ_digest_bytes(key, &ret->key, NULL));
    WRIT_TRY(writ_logins_row_name(cookie, key, &ret->row));
    (void)writ_view_place(writ_view_sub(head, 0, WRIT_DIGEST_BYTES), (char *)ret->agent.bytes);
    ret->opened_us = read_time(writ_view_sub(head, WRIT_DIGEST_BYTES, head.len));
    ret->shown = writ_buf_make(WRIT_LOGINS_SHOWN);
    WRIT_TRY(writ_wrap_key_open(wrap, head, writ_view_sub(value, 0, WRIT_WRAPPED_BYTES),
        writ_view_sub(value, WRIT_WRAPPED_BYTES + HEAD_BYTES, value.len), &ret->shown, NULL));
    return ret->shown.len > 0 ? WRIT_DONE : (writ_result){WRIT_E_MISMATCH}; /* keeps (1) */
}

/* Its times by the monotonic clock. WRIT_E_ABSENT: it is over. */
static WRIT_RESULT
adjust(struct writ_logins *logins, const struct writ_logins_row *row, struct login *fresh)
{
    int64_t now_us = writ_clock_mono_us(logins->clock);
    int64_t wall_us = writ_clock_wall_us(logins->clock);
    int64_t age_us = wall_us - fresh->opened_us;

    if (row->expires_us <= wall_us || age_us >= WRIT_LOGINS_LIFE_US) {
        return (writ_result){WRIT_E_ABSENT};
    }
    fresh->opened_us = now_us - (age_us > 0 ? age_us : 0);
    fresh->used_us = fresh->seen_us = now_us;
    return WRIT_DONE;
}

static WRIT_RESULT
take(struct writ_logins *logins, struct login *fresh)
{
    struct login *login = look_up(logins, &fresh->cookie, &fresh->key);
    struct writ_digest ended;
    bool ends;

    if (login != NULL) {
        login->used_us = login->seen_us = fresh->seen_us;
        return WRIT_DONE;
    }
    return put(logins, fresh, &ends, &ended); /* the row of the one that makes room stays */
}

WRIT_RESULT
writ_logins_row_take(struct writ_logins *logins, struct writ_view cookie, struct writ_view key,
    const struct writ_logins_row *row, bool *ret_renew)
{
    struct login fresh = {.opened_us = 0};
    int64_t most_us = writ_clock_wall_us(logins->clock) + WRIT_LOGINS_IDLE_US;
    int64_t life_us;
    writ_result result = open_row(cookie, key, row->value, &fresh);

    life_us = fresh.opened_us + WRIT_LOGINS_LIFE_US;
    if (writ_is_ok(result)) {
        result = adjust(logins, row, &fresh);
    }
    if (writ_is_ok(result)) {
        (void)pthread_mutex_lock(&logins->lock);
        result = take(logins, &fresh);
        (void)pthread_mutex_unlock(&logins->lock);
    }
    end(&fresh);
    if (!writ_is_ok(result)) {
        writ_logins_close(logins, cookie, key);
        return result;
    }
    *ret_renew = (most_us < life_us ? most_us : life_us) - row->expires_us >= WRIT_LOGINS_RENEW_US;
    return WRIT_DONE;
}
