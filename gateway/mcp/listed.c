/* listed.c - sorts items by name to find duplicates, then restores their order. Items of one name
 * with different digests are all hidden; of equal ones the first is kept. */
#include "gateway/mcp/listed.h"

#include <stdlib.h>

#define FIRST_CAP 64

WRIT_RESULT
writ_listed_add(struct writ_listed *listed, const struct writ_listed_item *item)
{
    if (listed->n == listed->cap) {
        size_t cap = listed->cap > 0 ? 2 * listed->cap : FIRST_CAP;
        struct writ_listed_item *items = writ_realloc(listed->items, cap * sizeof *items);
        if (items == NULL) {
            return (writ_result){WRIT_E_NOMEM};
        }
        listed->items = items;
        listed->cap = cap;
    }
    listed->items[listed->n++] = *item;
    return WRIT_DONE;
}

static int
compare_starts(const struct writ_listed_item *left, const struct writ_listed_item *right)
{
    return left->start < right->start ? -1 : left->start > right->start;
}

/* Items of one name stand together, in the order in which they were listed. */
static int
by_name(const void *a, const void *b)
{
    const struct writ_listed_item *left = a, *right = b;
    int order = writ_view_compare(left->name, right->name);

    return order != 0 ? order : compare_starts(left, right);
}

static int
by_start(const void *a, const void *b)
{
    return compare_starts(a, b);
}

/* The items of one name, from `first` up to `end`. */
static size_t
settle(struct writ_listed_item *items, size_t first, size_t end)
{
    bool differ = false;
    size_t hidden = 0;

    for (size_t i = first + 1; i < end; i++) {
        differ = differ || !writ_digest_equal(&items[first].digest, &items[i].digest);
    }
    for (size_t i = differ ? first : first + 1; i < end; i++) {
        hidden += differ ? 1 : 0;
        items[i].len = 0;
    }
    return hidden;
}

void
writ_listed_join(struct writ_listed *listed, struct writ_buf *text, size_t *ret_hidden)
{
    struct writ_buf kept = writ_buf_make(text->len + 1);

    *ret_hidden = 0;
    if (listed->n == 0) {
        return;
    }
    qsort(listed->items, listed->n, sizeof *listed->items, by_name);
    for (size_t first = 0, end; first < listed->n; first = end) {
        for (end = first + 1;
             end < listed->n && writ_view_equal(listed->items[first].name, listed->items[end].name);
             end++) {
        }
        *ret_hidden += settle(listed->items, first, end);
    }
    qsort(listed->items, listed->n, sizeof *listed->items, by_start);
    for (size_t i = 0; i < listed->n; i++) {
        const struct writ_listed_item *item = &listed->items[i];
        if (item->len > 0) {
            writ_buf_str(&kept, kept.len > 0 ? "," : "");
            writ_buf_put(&kept, writ_view_sub(writ_buf_view(text), item->start, item->len));
        }
    }
    kept.failed = text->failed != WRIT_E_UNSET ? text->failed : kept.failed;
    writ_buf_wipe(text);
    *text = kept;
}

void
writ_listed_wipe(struct writ_listed *listed)
{
    writ_free(listed->items);
    *listed = (struct writ_listed){0};
}
