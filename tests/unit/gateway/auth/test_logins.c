/* Logins of the page for reviewers. A login is found by its cookie and key together, and ends at
 * its idle time, at its lifetime or at logout. */
#include "support/unit.h"

#include "gateway/auth/logins.h"

struct hand {
    struct writ_clock clock;
    int64_t us;
};

static int64_t
told(void *ctx)
{
    return ((struct hand *)ctx)->us;
}

static struct hand hand; /* the clock that the tests turn */

static struct writ_logins *
table(void)
{
    struct writ_logins *logins = NULL;

    hand = (struct hand){.clock = {told, told, &hand}, .us = 1000};
    ck_assert_ok(writ_logins_new(&hand.clock, false, &logins, NULL));
    return logins;
}

static struct writ_digest
agent(uint16_t n)
{
    return (struct writ_digest){{(uint8_t)n, (uint8_t)(n >> 8), 1}};
}

static struct writ_logins_pass
open_for(struct writ_logins *logins, uint16_t n, const char *shown)
{
    const struct writ_digest who = agent(n);
    struct writ_logins_pass pass;

    ck_assert_ok(writ_logins_open(logins, &who, writ_view_str(shown), &pass, NULL));
    return pass;
}

/* What was shown, or "" without a login. */
static bool
finds(struct writ_logins *logins, const char *cookie, const char *key, const char *want)
{
    struct writ_arena *arena = writ_arena_new(65536);
    struct writ_view shown = WRIT_LIT("untouched");
    writ_result result =
        writ_logins_find(logins, writ_view_str(cookie), writ_view_str(key), arena, &shown);
    bool found = writ_is_ok(result);

    ck_assert(found || result.code == WRIT_E_ABSENT);
    ck_assert_view(shown, found ? want : "untouched");
    writ_arena_free(arena);
    return found;
}

static bool
is_in(struct writ_logins *logins, const struct writ_logins_pass *pass, const char *shown)
{
    return finds(logins, pass->cookie, pass->key, shown);
}

START_TEST(logins_find_needs_cookie_and_key)
{
    struct writ_logins *logins = table();
    struct writ_logins_pass a = open_for(logins, 1, "Bearer a"),
                            b = open_for(logins, 2, "Bearer b");

    ck_assert_uint_eq(writ_view_str(a.cookie).len, WRIT_LOGINS_TEXT - 1);
    ck_assert_str_ne(a.cookie, a.key);
    ck_assert(is_in(logins, &a, "Bearer a"));
    ck_assert(is_in(logins, &b, "Bearer b"));
    ck_assert(!finds(logins, a.cookie, b.key, ""));
    ck_assert(!finds(logins, a.key, a.cookie, ""));
    ck_assert(!finds(logins, a.cookie, "", ""));
    ck_assert(!finds(logins, "", "", ""));
    writ_logins_free(logins);
    writ_logins_free(NULL);
}
END_TEST

START_TEST(logout_ends_only_its_own_login)
{
    struct writ_logins *logins = table();
    struct writ_logins_pass a = open_for(logins, 1, "Bearer a"),
                            b = open_for(logins, 1, "Bearer b");

    writ_logins_close(logins, writ_view_str(a.cookie), writ_view_str(b.key));
    ck_assert(is_in(logins, &a, "Bearer a"));
    writ_logins_close(logins, writ_view_str(a.cookie), writ_view_str(a.key));
    writ_logins_close(logins, writ_view_str(a.cookie), writ_view_str(a.key));
    ck_assert(!is_in(logins, &a, ""));
    ck_assert(is_in(logins, &b, "Bearer b"));
    writ_logins_free(logins);
}
END_TEST

START_TEST(logins_find_after_idle_time_or_lifetime_is_absent)
{
    struct writ_logins *logins = table();
    struct writ_logins_pass a = open_for(logins, 1, "Bearer a"),
                            b = open_for(logins, 2, "Bearer b");

    ck_assert_int_eq(a.expires_us, 1000 + WRIT_LOGINS_LIFE_US);
    hand.us += WRIT_LOGINS_IDLE_US - 1;
    ck_assert(is_in(logins, &a, "Bearer a"));
    hand.us += 1;
    ck_assert(!is_in(logins, &b, ""));
    for (hand.us = 1000; hand.us < 1000 + WRIT_LOGINS_LIFE_US; hand.us += WRIT_LOGINS_IDLE_US - 1) {
        ck_assert(is_in(logins, &a, "Bearer a"));
    }
    hand.us = 1000 + WRIT_LOGINS_LIFE_US;
    ck_assert(!is_in(logins, &a, ""));
    writ_logins_free(logins);
}
END_TEST

START_TEST(logins_open_beyond_the_share_of_an_agent_drops_its_oldest)
{
    struct writ_logins *logins = table();
    struct writ_logins_pass first = open_for(logins, 1, "Bearer 0"), last = first;

    for (int i = 1; i < WRIT_LOGINS_EACH; i++) {
        hand.us++;
        last = open_for(logins, 1, "Bearer n");
    }
    ck_assert(is_in(logins, &first, "Bearer 0"));
    hand.us++;
    open_for(logins, 1, "Bearer x");
    ck_assert(!is_in(logins, &first, ""));
    ck_assert(is_in(logins, &last, "Bearer n"));
    writ_logins_free(logins);
}
END_TEST

START_TEST(login_to_a_full_table_is_refused_until_a_logout)
{
    struct writ_logins *logins = table();
    struct writ_logins_pass first = open_for(logins, 1, "Bearer 1"), pass = {.cookie = "u"};
    const struct writ_digest late = agent(WRIT_LOGINS_MAX + 1);

    for (uint16_t i = 2; i <= WRIT_LOGINS_MAX; i++) {
        open_for(logins, i, "Bearer n");
    }
    ck_assert_code(writ_logins_open(logins, &late, WRIT_LIT("Bearer x"), &pass, NULL), WRIT_E_BUSY);
    ck_assert_int_eq(pass.cookie[0], 'u');
    writ_logins_close(logins, writ_view_str(first.cookie), writ_view_str(first.key));
    ck_assert_ok(writ_logins_open(logins, &late, WRIT_LIT("Bearer x"), &pass, NULL));
    writ_logins_free(logins);
}
END_TEST

START_TEST(logins_open_limits_the_shown_text)
{
    struct writ_logins *logins = table();
    const struct writ_digest who = agent(1);
    struct writ_logins_pass pass = {.cookie = "u"};
    writ_auto_buf shown = writ_buf_make(WRIT_LOGINS_SHOWN + 1);

    ck_assert_code(
        writ_logins_open(logins, &who, (struct writ_view){NULL, 0}, &pass, NULL), WRIT_E_INVALID);
    for (size_t i = 0; i < WRIT_LOGINS_SHOWN; i++) {
        writ_buf_byte(&shown, 't');
    }
    ck_assert_ok(writ_logins_open(logins, &who, writ_buf_view(&shown), &pass, NULL));
    pass.cookie[0] = 'u';
    writ_buf_byte(&shown, 't');
    ck_assert_code(
        writ_logins_open(logins, &who, writ_buf_view(&shown), &pass, NULL), WRIT_E_LIMIT);
    ck_assert_int_eq(pass.cookie[0], 'u');
    writ_logins_free(logins);
}
END_TEST

/* ---- rows ---- */

/* Two gateways of one ledger, with one time. */
struct pair {
    struct writ_logins *one, *two;
    struct writ_arena *arena;
    struct writ_logins_pass pass;
    struct writ_logins_row row;
};

static void
set_up(struct pair *pair)
{
    *pair = (struct pair){.one = table(), .arena = writ_arena_new(1 << 20)};
    writ_logins_free(pair->one);
    ck_assert_ok(writ_logins_new(&hand.clock, true, &pair->one, NULL));
    ck_assert_ok(writ_logins_new(&hand.clock, true, &pair->two, NULL));
    pair->pass = open_for(pair->one, 1, "Bearer a");
    ck_assert_ok(writ_logins_row_make(pair->one, writ_view_str(pair->pass.cookie),
        writ_view_str(pair->pass.key), pair->arena, &pair->row));
}

static void
tear_down(struct pair *pair)
{
    writ_logins_free(pair->one);
    writ_logins_free(pair->two);
    writ_arena_free(pair->arena);
}

static enum writ_code
take(struct pair *pair, const struct writ_logins_row *row, bool *ret_renew)
{
    return writ_logins_row_take(
        pair->two, writ_view_str(pair->pass.cookie), writ_view_str(pair->pass.key), row, ret_renew)
        .code;
}

START_TEST(row_take_gives_the_login_of_another_table)
{
    struct pair pair;
    bool renew = true;

    set_up(&pair);
    ck_assert_uint_eq(writ_view_search(pair.row.value, WRIT_LIT("Bearer")), pair.row.value.len);
    ck_assert(!is_in(pair.two, &pair.pass, "Bearer a"));
    ck_assert_int_eq(take(&pair, &pair.row, &renew), WRIT_OK);
    ck_assert(!renew);
    ck_assert(is_in(pair.two, &pair.pass, "Bearer a"));
    hand.us += WRIT_LOGINS_FRESH_US - 1; /* a copy holds for so long after a look */
    ck_assert(is_in(pair.two, &pair.pass, "Bearer a"));
    hand.us++;
    ck_assert(!is_in(pair.two, &pair.pass, "Bearer a"));
    hand.us += WRIT_LOGINS_RENEW_US;
    ck_assert_int_eq(take(&pair, &pair.row, &renew), WRIT_OK);
    ck_assert(renew);
    ck_assert(is_in(pair.two, &pair.pass, "Bearer a"));
    tear_down(&pair);
}
END_TEST

START_TEST(row_take_of_any_changed_byte_is_a_mismatch)
{
    struct pair pair;
    bool renew = false;

    set_up(&pair);
    for (size_t i = 0; i <= pair.row.value.len; i++) {
        struct writ_logins_row row = pair.row;
        writ_auto_buf copy = writ_buf_make(row.value.len + 1);

        writ_buf_put(&copy, row.value);
        if (i < copy.len) {
            copy.ptr[i] ^= 1;
        } else {
            writ_buf_byte(&copy, 'x');
        }
        row.value = writ_buf_view(&copy);
        ck_assert_int_eq(take(&pair, &row, &renew), WRIT_E_MISMATCH);
        row.value = writ_view_sub(pair.row.value, 0, i);
        ck_assert_int_eq(
            take(&pair, &row, &renew), i < pair.row.value.len ? WRIT_E_MISMATCH : WRIT_OK);
        ck_assert(i == pair.row.value.len || !is_in(pair.two, &pair.pass, "Bearer a"));
    }
    tear_down(&pair);
}
END_TEST

START_TEST(row_take_after_idle_time_or_lifetime_is_absent)
{
    struct pair pair;
    struct writ_logins_row row;
    bool renew = false;

    set_up(&pair);
    row = pair.row;
    row.expires_us = hand.us + 1;
    ck_assert_int_eq(take(&pair, &row, &renew), WRIT_OK);
    row.expires_us = hand.us;
    ck_assert_int_eq(take(&pair, &row, &renew), WRIT_E_ABSENT);
    ck_assert(!is_in(pair.two, &pair.pass, "Bearer a"));
    row.expires_us = INT64_MAX; /* its life is in what is encrypted */
    hand.us += WRIT_LOGINS_LIFE_US - 1;
    ck_assert_int_eq(take(&pair, &row, &renew), WRIT_OK);
    hand.us++;
    ck_assert_int_eq(take(&pair, &row, &renew), WRIT_E_ABSENT);
    ck_assert(!is_in(pair.two, &pair.pass, "Bearer a"));
    tear_down(&pair);
}
END_TEST

START_TEST(row_make_of_a_used_login_ends_with_its_life)
{
    struct pair pair;
    bool renew = false;
    int64_t life_us;

    set_up(&pair);
    ck_assert_int_eq(pair.row.expires_us, hand.us + WRIT_LOGINS_IDLE_US);
    life_us = hand.us + WRIT_LOGINS_LIFE_US;
    hand.us = life_us - WRIT_LOGINS_IDLE_US / 2;
    pair.row.expires_us = hand.us + 1;
    ck_assert_int_eq(take(&pair, &pair.row, &renew), WRIT_OK);
    ck_assert_ok(writ_logins_row_make(pair.two, writ_view_str(pair.pass.cookie),
        writ_view_str(pair.pass.key), pair.arena, &pair.row));
    ck_assert_int_eq(pair.row.expires_us, life_us);
    tear_down(&pair);
}
END_TEST

START_TEST(is_due_is_true_once_in_its_time)
{
    struct pair pair;
    struct writ_view cookie, key;

    set_up(&pair);
    cookie = writ_view_str(pair.pass.cookie);
    key = writ_view_str(pair.pass.key);
    hand.us += WRIT_LOGINS_LOOK_US - 1;
    ck_assert(!writ_logins_is_due(pair.one, cookie, key));
    hand.us++;
    ck_assert(!writ_logins_is_due(pair.one, cookie, cookie));
    ck_assert(writ_logins_is_due(pair.one, cookie, key));
    ck_assert(!writ_logins_is_due(pair.one, cookie, key));
    tear_down(&pair);
}
END_TEST

WRIT_UNIT_MAIN("logins", logins_find_needs_cookie_and_key, logout_ends_only_its_own_login,
    logins_find_after_idle_time_or_lifetime_is_absent,
    logins_open_beyond_the_share_of_an_agent_drops_its_oldest,
    login_to_a_full_table_is_refused_until_a_logout, logins_open_limits_the_shown_text,
    row_take_gives_the_login_of_another_table, row_take_of_any_changed_byte_is_a_mismatch,
    row_take_after_idle_time_or_lifetime_is_absent, row_make_of_a_used_login_ends_with_its_life,
    is_due_is_true_once_in_its_time)
