/* An order gives its things by their numbers, in whatever sequence they come and go, and takes few
 * steps for it. */
#include "support/unit.h"

#include "store/tables/order.h"

#define THINGS 4000

struct thing {
    bool in;
    uint64_t came;
    struct writ_order_node node;
};

static struct thing things[THINGS];

static uint64_t
chance(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* The things by number, equal ones as they came, all that are in, and no other. */
static void
check(const struct writ_order *order, size_t n)
{
    const struct writ_order_node *at = writ_order_from(order, 0);
    const struct thing *before = NULL;
    size_t found = 0;

    for (; at != NULL; at = writ_order_next(at), found++) {
        const struct thing *thing = WRIT_ORDER_OF(at, const struct thing, node);

        ck_assert(thing->in);
        ck_assert(before == NULL || before->node.key < at->key ||
                  (before->node.key == at->key && before->came < thing->came));
        before = thing;
    }
    ck_assert_uint_eq(found, n);
    ck_assert_uint_eq(order->count, n);
}

static size_t
depth(const struct writ_order_node *node)
{
    size_t left, right;

    if (node == NULL) {
        return 0;
    }
    left = depth(node->left);
    right = depth(node->right);
    return 1 + (left > right ? left : right);
}

START_TEST(order_gives_things_by_number_as_they_come_and_go)
{
    struct writ_order order = {0};
    uint64_t state = 7;
    size_t n = 0;

    for (uint64_t i = 0; i < 20000; i++) {
        struct thing *thing = &things[chance(&state) % THINGS];

        if (thing->in) {
            writ_order_remove(&order, &thing->node);
            n--;
        } else {
            thing->came = i;
            writ_order_add(&order, &thing->node, chance(&state) % 500); /* many are equal */
            n++;
        }
        thing->in = !thing->in;
        if (i % 997 == 0) {
            check(&order, n);
        }
    }
    check(&order, n);
    for (size_t i = 0; i < THINGS; i++) {
        if (things[i].in) {
            writ_order_remove(&order, &things[i].node);
            things[i].in = false;
        }
    }
    ck_assert_ptr_null(order.root);
    check(&order, 0);
}
END_TEST

START_TEST(order_from_gives_the_first_at_or_above_a_number)
{
    struct writ_order order = {0};

    ck_assert_ptr_null(writ_order_from(&order, 0));
    for (size_t i = 0; i < 100; i++) {
        writ_order_add(&order, &things[i].node, 10 + 10 * (i / 2)); /* 10 10 20 20 ... 500 500 */
    }
    ck_assert_ptr_eq(writ_order_from(&order, 0), &things[0].node);
    ck_assert_ptr_eq(writ_order_from(&order, 10), &things[0].node);
    ck_assert_ptr_eq(writ_order_from(&order, 11), &things[2].node);
    ck_assert_ptr_eq(writ_order_from(&order, 500), &things[98].node);
    ck_assert_ptr_null(writ_order_from(&order, 501));
    ck_assert_ptr_null(writ_order_next(&things[99].node));
}
END_TEST

START_TEST(order_stays_flat_when_numbers_grow_sink_or_are_equal)
{
    for (int shape = 0; shape < 3; shape++) {
        struct writ_order order = {0};

        for (uint64_t i = 0; i < THINGS; i++) {
            writ_order_add(&order, &things[i].node, shape == 0 ? i : shape == 1 ? THINGS - i : 1);
        }
        ck_assert_uint_lt(depth(order.root), 80); /* about 30; without a balance 4000 */
    }
}
END_TEST

WRIT_UNIT_MAIN("order", order_gives_things_by_number_as_they_come_and_go,
    order_from_gives_the_first_at_or_above_a_number,
    order_stays_flat_when_numbers_grow_sink_or_are_equal)
