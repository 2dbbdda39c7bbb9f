/* order.h - keeps things in the order of a number.
 *
 * A tree over nodes that are members of the things, balanced by chance (a treap). It allocates
 * nothing; adding and removing never fail, and take about log2(n) steps in any order of the
 * numbers. Equal numbers are in the order in which they were added.
 *
 * One thread. */
#ifndef WRIT_STORE_ORDER_H
#define WRIT_STORE_ORDER_H

#include <stddef.h>
#include <stdint.h>

struct writ_order_node {
    uint64_t key;
    struct writ_order_node *up, *left, *right;
};

/** Zeroed: an empty one. */
struct writ_order {
    struct writ_order_node *root;
    size_t count;
};

/** The thing that `node`, its member `member`, belongs to. NULL stays NULL. */
#define WRIT_ORDER_OF(node, type, member)                                                          \
    ((node) == NULL ? NULL : (type *)(void *)((char *)(node)-offsetof(type, member)))

/** Adds a node, which must not move before it is removed. */
void writ_order_add(struct writ_order *order, struct writ_order_node *node, uint64_t key);
/** Removes a node that is in this order. */
void writ_order_remove(struct writ_order *order, struct writ_order_node *node);

/** The first node whose key is `key` or more, or NULL. */
struct writ_order_node *writ_order_from(const struct writ_order *order, uint64_t key);
/** The node after that one, or NULL. */
struct writ_order_node *writ_order_next(const struct writ_order_node *node);

#endif
