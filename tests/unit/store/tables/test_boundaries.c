/* Open boundaries and the calls in flight in them. Each is found by tenant and name, and the
 * limits hold for all and for each agent. */
#include "support/unit.h"

#include "store/tables/flights.h"

static struct writ_boundary *
added(struct writ_boundaries *boundaries, const char *tenant, const char *name)
{
    struct writ_boundary *boundary = NULL;
    struct writ_tag tag;

    ck_assert_ok(writ_boundaries_tag(writ_view_str(tenant), writ_view_str(name), &tag, NULL));
    ck_assert_ok(writ_boundaries_add(
        boundaries, tag, writ_view_str(tenant), writ_view_str(name), &boundary, NULL));
    return boundary;
}

static struct writ_boundary *
found(struct writ_boundaries *boundaries, const char *tenant, const char *name)
{
    struct writ_tag tag;

    ck_assert_ok(writ_boundaries_tag(writ_view_str(tenant), writ_view_str(name), &tag, NULL));
    return writ_boundaries_find(boundaries, tag, writ_view_str(tenant), writ_view_str(name));
}

START_TEST(boundaries_find_uses_tenant_and_name)
{
    struct writ_boundaries boundaries = {0};
    struct writ_boundary *ab;

    ck_assert_ok(writ_boundaries_init(&boundaries, 10, NULL));
    ab = added(&boundaries, "a", "b");
    ck_assert_view(ab->tenant, "a");
    ck_assert_view(ab->name, "b");
    ck_assert_ptr_eq(found(&boundaries, "a", "b"), ab);
    ck_assert_ptr_null(found(&boundaries, "ab", ""));
    ck_assert_ptr_null(found(&boundaries, "", "ab"));
    ck_assert_ptr_null(found(&boundaries, "b", "a"));
    writ_boundaries_wipe(&boundaries);
}
END_TEST

START_TEST(boundaries_recent_gives_the_last_found)
{
    struct writ_boundaries boundaries = {0};
    struct writ_boundary *ab;

    ck_assert_ok(writ_boundaries_init(&boundaries, 10, NULL));
    ab = added(&boundaries, "a", "b");
    ck_assert_ptr_null(writ_boundaries_recent(&boundaries, WRIT_LIT("a"), WRIT_LIT("b")));
    ck_assert_ptr_eq(found(&boundaries, "a", "b"), ab);
    ck_assert_ptr_eq(writ_boundaries_recent(&boundaries, WRIT_LIT("a"), WRIT_LIT("b")), ab);
    ck_assert_ptr_null(writ_boundaries_recent(&boundaries, WRIT_LIT("a"), WRIT_LIT("c")));
    ck_assert_ptr_null(writ_boundaries_recent(&boundaries, WRIT_LIT("c"), WRIT_LIT("b")));
    writ_boundaries_remove(&boundaries, ab);
    ck_assert_ptr_null(writ_boundaries_recent(&boundaries, WRIT_LIT("a"), WRIT_LIT("b")));
    writ_boundaries_wipe(&boundaries);
}
END_TEST

/* It would take 2^64 work to make two of one tag; they would still be two. */
START_TEST(boundaries_with_equal_tags_stay_apart)
{
    struct writ_boundaries boundaries = {0};
    struct writ_boundary *first, *second;
    struct writ_tag tag = {1, 2};

    ck_assert_ok(writ_boundaries_init(&boundaries, 10, NULL));
    ck_assert_ok(
        writ_boundaries_add(&boundaries, tag, WRIT_LIT("t"), WRIT_LIT("one"), &first, NULL));
    ck_assert_ok(
        writ_boundaries_add(&boundaries, tag, WRIT_LIT("t"), WRIT_LIT("two"), &second, NULL));
    ck_assert_ptr_eq(writ_boundaries_find(&boundaries, tag, WRIT_LIT("t"), WRIT_LIT("one")), first);
    ck_assert_ptr_eq(
        writ_boundaries_find(&boundaries, tag, WRIT_LIT("t"), WRIT_LIT("two")), second);
    ck_assert_ptr_null(writ_boundaries_find(&boundaries, tag, WRIT_LIT("t"), WRIT_LIT("three")));
    writ_boundaries_wipe(&boundaries);
}
END_TEST

START_TEST(boundaries_sweep_visits_each)
{
    struct writ_boundaries boundaries = {0};
    size_t seen = 0;

    ck_assert_ok(writ_boundaries_init(&boundaries, 3, NULL));
    ck_assert_ptr_null(writ_boundaries_sweep(&boundaries));
    added(&boundaries, "t", "one");
    added(&boundaries, "t", "two");
    added(&boundaries, "t", "three");
    for (int i = 0; i < 3; i++) {
        writ_boundaries_sweep(&boundaries)->before++;
    }
    for (int i = 0; i < 3; i++) {
        seen += writ_boundaries_sweep(&boundaries)->before == 1 ? 1 : 0;
    }
    ck_assert_uint_eq(seen, 3);
    writ_boundaries_remove(&boundaries, found(&boundaries, "t", "two"));
    writ_boundaries_remove(&boundaries, found(&boundaries, "t", "one"));
    ck_assert_ptr_eq(writ_boundaries_sweep(&boundaries), found(&boundaries, "t", "three"));
    writ_boundaries_remove(&boundaries, found(&boundaries, "t", "three"));
    ck_assert_ptr_null(writ_boundaries_sweep(&boundaries));
    writ_boundaries_wipe(&boundaries);
}
END_TEST

START_TEST(boundaries_open_beyond_the_limit_is_refused)
{
    struct writ_boundaries boundaries = {0};
    struct writ_boundary *mark = NULL;
    struct writ_tag tag = {3, 3};

    ck_assert_ok(writ_boundaries_init(&boundaries, 1, NULL));
    added(&boundaries, "t", "one");
    ck_assert_code(
        writ_boundaries_add(&boundaries, tag, WRIT_LIT("t"), WRIT_LIT("two"), &mark, NULL),
        WRIT_E_LIMIT);
    ck_assert_ptr_null(mark);
    writ_boundaries_remove(&boundaries, found(&boundaries, "t", "one"));
    writ_fault_arm(1);
    ck_assert_code(
        writ_boundaries_add(&boundaries, tag, WRIT_LIT("t"), WRIT_LIT("two"), &mark, NULL),
        WRIT_E_NOMEM);
    (void)writ_fault_disarm();
    ck_assert_uint_eq(boundaries.by_name.count, 0);
    writ_boundaries_wipe(&boundaries);
}
END_TEST

START_TEST(flight_counts_in_its_boundary_until_it_ends)
{
    struct writ_boundaries boundaries = {0};
    struct writ_map flights = {0};
    struct writ_boundary *boundary;
    struct writ_flight *flight;
    char id[] = "d-1";

    ck_assert_ok(writ_boundaries_init(&boundaries, 10, NULL));
    ck_assert_ok(writ_map_init(&flights, 10, NULL));
    boundary = added(&boundaries, "t", "one");
    flight = writ_flights_add(&flights, boundary, 5, writ_view_str(id), writ_view(NULL, 0));
    ck_assert_ptr_nonnull(
        writ_flights_add(&flights, boundary, 6, WRIT_LIT("d-2"), WRIT_LIT("sha256:22")));
    id[0] = 'x'; /* it has its own copy */
    ck_assert_view(flight->decision_id, "d-1");
    ck_assert_ptr_null(flight->intent_ref.ptr);
    ck_assert_view(writ_flights_find(&flights, 6)->intent_ref, "sha256:22");
    ck_assert_uint_eq(boundary->in_flight, 2);
    ck_assert_ptr_eq(writ_flights_find(&flights, 5), flight);
    ck_assert_ptr_null(writ_flights_find(&flights, 7));
    writ_flights_remove(&flights, flight);
    ck_assert_ptr_null(writ_flights_find(&flights, 5));
    ck_assert_uint_eq(boundary->in_flight, 1);
    writ_fault_arm(1);
    ck_assert_ptr_null(
        writ_flights_add(&flights, boundary, 8, WRIT_LIT("d-3"), writ_view(NULL, 0)));
    (void)writ_fault_disarm();
    ck_assert_uint_eq(boundary->in_flight, 1);
    writ_flights_wipe(&flights);
    writ_boundaries_wipe(&boundaries);
}
END_TEST

START_TEST(boundaries_add_of_the_ledgers_own_succeeds_when_full)
{
    struct writ_boundaries boundaries = {0};
    struct writ_boundary *mine, *own, *unwanted = NULL;
    struct writ_tag tag = {1, 2};

    ck_assert_ok(writ_boundaries_init(&boundaries, 1, NULL));
    mine = added(&boundaries, "t", "one");
    ck_assert(writ_boundaries_full(&boundaries));
    for (size_t i = 0; i < WRIT_BOUNDARIES_OWN; i++) {
        writ_auto_buf name = writ_buf_make(64);

        writ_buf_fmt(&name, "writ:%zu%c", i, '\0');
        own = added(&boundaries, "t", name.ptr);
        ck_assert_ok(writ_boundaries_charge(&boundaries, own, WRIT_LIT("a"), NULL));
    }
    ck_assert_uint_eq(boundaries.shares.owners.count, 0);
    ck_assert_code(
        writ_boundaries_add(&boundaries, tag, WRIT_LIT("t"), WRIT_LIT("writ:x"), &unwanted, NULL),
        WRIT_E_LIMIT);
    ck_assert_ptr_null(unwanted);
    writ_boundaries_remove(&boundaries, mine);
    ck_assert(!writ_boundaries_full(&boundaries));
    writ_boundaries_wipe(&boundaries);
}
END_TEST

START_TEST(boundary_counts_in_the_share_of_its_opener)
{
    struct writ_boundaries boundaries = {0};
    struct writ_boundary *boundary;

    ck_assert_ok(writ_boundaries_init(&boundaries, 1, NULL));
    boundary = added(&boundaries, "t", "one");
    ck_assert_ok(writ_boundaries_charge(&boundaries, boundary, WRIT_LIT("a"), NULL));
    ck_assert_ok(writ_boundaries_charge(&boundaries, boundary, WRIT_LIT("b"), NULL)); /* once */
    ck_assert(!writ_shares_have_room(&boundaries.shares, WRIT_LIT("t"), WRIT_LIT("a")));
    ck_assert(writ_shares_have_room(&boundaries.shares, WRIT_LIT("u"), WRIT_LIT("a")));
    writ_boundaries_remove(&boundaries, boundary);
    ck_assert(writ_shares_have_room(&boundaries.shares, WRIT_LIT("t"), WRIT_LIT("a")));
    writ_boundaries_wipe(&boundaries);
}
END_TEST

WRIT_UNIT_MAIN("boundaries", boundaries_add_of_the_ledgers_own_succeeds_when_full,
    boundary_counts_in_the_share_of_its_opener, boundaries_find_uses_tenant_and_name,
    boundaries_recent_gives_the_last_found, boundaries_with_equal_tags_stay_apart,
    boundaries_sweep_visits_each, boundaries_open_beyond_the_limit_is_refused,
    flight_counts_in_its_boundary_until_it_ends)
