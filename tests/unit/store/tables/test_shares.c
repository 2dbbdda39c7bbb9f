/* Shares of a table. An agent takes at most a half and a tenant three quarters, and no two owners
 * are confused. */
#include "support/unit.h"

#include "store/tables/shares.h"

static struct writ_charge
charged(struct writ_shares *shares, const char *tenant, const char *agent)
{
    struct writ_charge charge = {0};

    ck_assert_ok(
        writ_shares_charge(shares, writ_view_str(tenant), writ_view_str(agent), &charge, NULL));
    return charge;
}

static bool
room(const struct writ_shares *shares, const char *tenant, const char *agent)
{
    return writ_shares_have_room(shares, writ_view_str(tenant), writ_view_str(agent));
}

START_TEST(shares_take_limits_an_agent_to_a_half_and_a_tenant_to_three_quarters)
{
    struct writ_shares shares = {0};
    struct writ_charge a[4], b[2];

    ck_assert_ok(writ_shares_init(&shares, 8, NULL));
    for (size_t i = 0; i < 4; i++) {
        ck_assert(room(&shares, "t", "a"));
        a[i] = charged(&shares, "t", "a");
    }
    ck_assert(!room(&shares, "t", "a"));
    for (size_t i = 0; i < 2; i++) {
        ck_assert(room(&shares, "t", "b"));
        b[i] = charged(&shares, "t", "b");
    }
    ck_assert(!room(&shares, "t", "b"));
    ck_assert(!room(&shares, "t", "c"));
    ck_assert(room(&shares, "u", "a"));
    ck_assert(room(&shares, "", "t"));

    writ_shares_release(&shares, &a[0]);
    ck_assert_ptr_null(a[0].agent);
    writ_shares_release(&shares, &a[0]); /* counted once */
    ck_assert(room(&shares, "t", "a"));
    ck_assert(room(&shares, "t", "c"));
    for (size_t i = 0; i < 4; i++) {
        writ_shares_release(&shares, &a[i]);
    }
    for (size_t i = 0; i < 2; i++) {
        writ_shares_release(&shares, &b[i]);
    }
    writ_shares_wipe(&shares);
}
END_TEST

START_TEST(shares_wipe_frees_unreleased_charges)
{
    struct writ_shares shares = {0};

    ck_assert_ok(writ_shares_init(&shares, 8, NULL));
    (void)charged(&shares, "t", "a");
    (void)charged(&shares, "t", "a");
    (void)charged(&shares, "u", "b");
    writ_shares_wipe(&shares); /* the sanitizers report a leak */
    writ_shares_wipe(&shares);
}
END_TEST

START_TEST(shares_init_rounds_each_share_up)
{
    static const size_t rows[][3] = {{1, 1, 1}, {2, 1, 2}, {3, 2, 3}, {4, 2, 3}, {5, 3, 4}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct writ_shares shares = {0};

        ck_assert_ok(writ_shares_init(&shares, rows[i][0], NULL));
        ck_assert_uint_eq(shares.agent_most, rows[i][1]);
        ck_assert_uint_eq(shares.tenant_most, rows[i][2]);
        writ_shares_wipe(&shares);
    }
}
END_TEST

START_TEST(shares_keep_agents_and_tenants_apart)
{
    struct writ_shares shares = {0};
    struct writ_charge charge;

    ck_assert_ok(writ_shares_init(&shares, 1, NULL));
    charge = charged(&shares, "ab", "c");
    ck_assert(!room(&shares, "ab", "c"));
    ck_assert(room(&shares, "a", "bc"));
    ck_assert(room(&shares, "", "ab"));
    ck_assert(room(&shares, "abc", ""));
    writ_shares_release(&shares, &charge);
    ck_assert_uint_eq(shares.owners.count, 0);
    writ_shares_wipe(&shares);
}
END_TEST

START_TEST(shares_take_without_memory_is_refused)
{
    struct writ_shares shares = {0};
    struct writ_charge charge = {0};

    ck_assert_ok(writ_shares_init(&shares, 8, NULL));
    for (long nth = 1; nth <= 2; nth++) {
        writ_fault_arm(nth);
        ck_assert_code(
            writ_shares_charge(&shares, WRIT_LIT("t"), WRIT_LIT("a"), &charge, NULL), WRIT_E_NOMEM);
        (void)writ_fault_disarm();
        ck_assert_ptr_null(charge.agent);
        ck_assert_uint_eq(shares.owners.count, 0);
    }
    writ_shares_wipe(&shares);
}
END_TEST

/* A table knows the owners of late: neither by their names in one piece nor by a part of them. */
START_TEST(shares_take_distinguishes_owners)
{
    static const struct {
        size_t tenant, agent; /* letters */
    } owners[] = {{1, 20}, {17, 4}, {1, 4}, {1, 90}, {1, 91}, {81, 1}};
    char letters[128];
    struct writ_shares shares = {0};
    struct writ_charge charges[6] = {0}, refused = {0};

    memset(letters, 'a', sizeof letters);
    ck_assert_ok(writ_shares_init(&shares, 100, NULL));
    writ_shares_divide(&shares, 100, 1, 100); /* one for each agent */
    for (size_t round = 0; round < 2; round++) {
        for (size_t i = 0; i < 6; i++) {
            ck_assert_ok(writ_shares_take(&shares, writ_view(letters, owners[i].tenant),
                writ_view(letters, owners[i].agent), &charges[i], NULL));
            ck_assert(writ_shares_is_of(&shares, &charges[i], writ_view(letters, owners[i].tenant),
                writ_view(letters, owners[i].agent)));
            ck_assert_code(writ_shares_take(&shares, writ_view(letters, owners[i].tenant),
                               writ_view(letters, owners[i].agent), &refused, NULL),
                WRIT_E_LIMIT);
        }
        for (size_t i = 0; i < 6; i++) {
            writ_shares_release(&shares, &charges[i]);
        }
    }
    ck_assert_uint_eq(shares.owners.count, 0);
    writ_shares_wipe(&shares);
}
END_TEST

START_TEST(shares_take_with_a_full_agent_or_tenant_is_refused)
{
    struct writ_shares shares = {0};
    struct writ_charge a = {0}, other = {0}, refused = {0};
    const struct writ_view one = WRIT_LIT("one"), x = WRIT_LIT("x"), y = WRIT_LIT("y");

    ck_assert_ok(writ_shares_init(&shares, 10, NULL));
    writ_shares_divide(&shares, 10, 1, 15); /* 1 and 2, rounded up */
    ck_assert_ok(writ_shares_take(&shares, one, x, &a, NULL));
    ck_assert_code(writ_shares_take(&shares, one, x, &refused, NULL), WRIT_E_LIMIT);
    ck_assert_ptr_null(refused.agent);
    ck_assert_ok(writ_shares_take(&shares, one, y, &other, NULL));
    ck_assert_code(writ_shares_take(&shares, one, WRIT_LIT("z"), &refused, NULL), WRIT_E_LIMIT);
    ck_assert_ok(writ_shares_take(&shares, WRIT_LIT("two"), x, &refused, NULL));

    ck_assert(writ_shares_would_help(&shares, &a, one, x));
    ck_assert(!writ_shares_would_help(&shares, &other, one, x)); /* its own share is full */
    ck_assert(writ_shares_would_help(&shares, &other, one, WRIT_LIT("z")));
    ck_assert(!writ_shares_would_help(&shares, &refused, one, WRIT_LIT("z")));
    ck_assert(!writ_shares_would_help(&shares, &(struct writ_charge){0}, one, x));

    writ_shares_release(&shares, &a);
    ck_assert_ok(writ_shares_take(&shares, one, x, &a, NULL));
    writ_shares_release(&shares, &a);
    writ_shares_release(&shares, &other);
    writ_shares_release(&shares, &refused);
    writ_shares_divide(&shares, 10, 100, 100);
    ck_assert_uint_eq(shares.agent_most, 10);
    writ_shares_wipe(&shares);
}
END_TEST

WRIT_UNIT_MAIN("shares", shares_take_distinguishes_owners,
    shares_take_with_a_full_agent_or_tenant_is_refused,
    shares_take_limits_an_agent_to_a_half_and_a_tenant_to_three_quarters,
    shares_wipe_frees_unreleased_charges, shares_init_rounds_each_share_up,
    shares_keep_agents_and_tenants_apart, shares_take_without_memory_is_refused)
