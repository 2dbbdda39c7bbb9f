/* Keys grow from left to right; weights shrink from the root down. The weight of a node is a mix of
 * its address, so that no order of the keys makes the tree deep. */
#include "store/tables/order.h"

static uint64_t
weight(const struct writ_order_node *node)
{
    uint64_t mixed = (uint64_t)(uintptr_t)node + UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */

    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

/* The pointer that points to the node. */
static struct writ_order_node **
place_of(struct writ_order *order, const struct writ_order_node *node)
{
    if (node->up == NULL) {
        return &order->root;
    }
    return node->up->left == node ? &node->up->left : &node->up->right;
}

/* The node takes the place of its parent, which becomes its child. */
static void
rise(struct writ_order *order, struct writ_order_node *node)
{
    struct writ_order_node *parent = node->up, *child;

    *place_of(order, parent) = node;
    node->up = parent->up;
    parent->up = node;
    if (parent->left == node) {
        child = parent->left = node->right;
        node->right = parent;
    } else {
        child = parent->right = node->left;
        node->left = parent;
    }
    if (child != NULL) {
        child->up = parent;
    }
}

void
writ_order_add(struct writ_order *order, struct writ_order_node *node, uint64_t key)
{
    struct writ_order_node **at = &order->root, *up = NULL;

    while (*at != NULL) {
        up = *at;
        at = key < up->key ? &up->left : &up->right;
    }
    *node = (struct writ_order_node){.key = key, .up = up};
    *at = node;
    while (node->up != NULL && weight(node) > weight(node->up)) {
        rise(order, node);
    }
    order->count++;
}

/* Its two subtrees, merged, take its place. */
void
writ_order_remove(struct writ_order *order, struct writ_order_node *node)
{
    struct writ_order_node **at = place_of(order, node), *up = node->up;
    struct writ_order_node *low = node->left, *high = node->right;

    while (low != NULL && high != NULL) {
        if (weight(low) > weight(high)) {
            *at = low;
            low->up = up;
            up = low;
            at = &low->right;
            low = low->right;
        } else {
            *at = high;
            high->up = up;
            up = high;
            at = &high->left;
            high = high->left;
        }
    }
    *at = low != NULL ? low : high;
    if (*at != NULL) {
        (*at)->up = up;
    }
    order->count--;
}

struct writ_order_node *
writ_order_from(const struct writ_order *order, uint64_t key)
{
    struct writ_order_node *node = order->root, *found = NULL;

    while (node != NULL) {
        if (node->key < key) {
            node = node->right;
        } else {
            found = node;
            node = node->left;
        }
    }
    return found;
}

struct writ_order_node *
writ_order_next(const struct writ_order_node *node)
{
    struct writ_order_node *next = node->right;

    if (next != NULL) {
        while (next->left != NULL) {
            next = next->left;
        }
        return next;
    }
    while (node->up != NULL && node->up->right == node) {
        node = node->up;
    }
    return node->up;
}
