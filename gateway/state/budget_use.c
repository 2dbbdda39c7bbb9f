/* budget_use.c - a chained hash table by tag and length of the window. A row owns its names, which
 * follow it. */
#include "gateway/state/budget_use.h"

#include "base/alloc.h"
#include "store/tables/charge.h"

#define CHAINS 16384

struct row {
    struct row *next;
    struct writ_budget_use_row shown;
    char names[];
};

struct writ_budget_use {
    struct row *chains[CHAINS];
    size_t n;
};

WRIT_RESULT
writ_budget_use_new(struct writ_budget_use **ret, struct writ_err *err)
{
    struct writ_budget_use *use = writ_alloc(sizeof *use);

    if (use == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the budgets of the page");
    }
    *ret = use;
    return WRIT_DONE;
}

static bool
is_over(const struct row *row, int64_t now_us)
{
    return row->shown.window < now_us / row->shown.window_us;
}

/* Frees the rows whose window has passed; with `all` every row. */
static void
sweep(struct writ_budget_use *use, int64_t now_us, bool all)
{
    for (size_t i = 0; i < CHAINS; i++) {
        struct row **at = &use->chains[i];

        while (*at != NULL) {
            struct row *row = *at;

            if (all || is_over(row, now_us)) {
                *at = row->next;
                writ_free(row);
                use->n--;
            } else {
                at = &row->next;
            }
        }
    }
}

void
writ_budget_use_free(struct writ_budget_use *use)
{
    if (use != NULL) {
        sweep(use, 0, true);
        writ_free(use);
    }
}

static WRIT_RESULT
new_row(struct writ_budget_use *use, const struct writ_budget_charge *charge,
    const struct writ_budget_use_call *call, struct row **ret)
{
    struct row **chain = &use->chains[charge->tag.low % CHAINS];
    struct row *row = writ_alloc(
        sizeof *row + call->agent.len + call->tenant.len + call->upstream.len + call->tool.len);
    char *at;

    if (row == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    at = row->names;
    row->shown = (struct writ_budget_use_row){.tag = charge->tag,
        .window_us = charge->window_us,
        .window = charge->window,
        .spent = writ_decimal_of(0)};
    row->shown.call.agent = writ_view_place(call->agent, at);
    at += call->agent.len;
    row->shown.call.tenant = writ_view_place(call->tenant, at);
    at += call->tenant.len;
    row->shown.call.upstream = writ_view_place(call->upstream, at);
    at += call->upstream.len;
    row->shown.call.tool = writ_view_place(call->tool, at);
    row->next = *chain;
    *chain = row;
    use->n++;
    *ret = row;
    return WRIT_DONE;
}

static struct row *
find(const struct writ_budget_use *use, const struct writ_budget_charge *charge)
{
    struct row *row = use->chains[charge->tag.low % CHAINS];

    while (row != NULL && (!writ_tag_equal(row->shown.tag, charge->tag) ||
                              row->shown.window_us != charge->window_us)) {
        row = row->next;
    }
    return row;
}

/* The charges of one call. */
struct counting {
    struct writ_budget_use *use;
    const struct writ_budget_use_call *call;
    int64_t now_us;
};

static WRIT_RESULT
count(void *ctx, const struct writ_budget_charge *charge, const struct writ_decimal *amount)
{
    const struct counting *c = ctx;
    struct writ_budget_use *use = c->use;
    struct row *row = find(use, charge);

    if (charge->window < c->now_us / charge->window_us) {
        return WRIT_DONE;
    }
    if (row == NULL && use->n == WRIT_BUDGET_USE_MAX) {
        sweep(use, c->now_us, false);
    }
    if (row == NULL && use->n == WRIT_BUDGET_USE_MAX) {
        return (writ_result){WRIT_E_LIMIT};
    }
    if (row == NULL) {
        WRIT_TRY(new_row(use, charge, c->call, &row));
    }
    if (charge->window > row->shown.window) {
        row->shown.window = charge->window;
        row->shown.spent = writ_decimal_of(0);
    }
    return charge->window == row->shown.window
               ? writ_decimal_add(&row->shown.spent, amount, &row->shown.spent)
               : WRIT_DONE;
}

WRIT_RESULT
writ_budget_use_add(struct writ_budget_use *use, const struct writ_member_list *charges,
    const struct writ_budget_use_call *call, bool back, int64_t now_us)
{
    struct counting counting = {use, call, now_us};

    return writ_charge_each(charges, !back, back, count, &counting);
}

void
writ_budget_use_each(const struct writ_budget_use *use, int64_t now_us,
    bool (*each)(void *ctx, const struct writ_budget_use_row *row), void *ctx)
{
    for (size_t i = 0; i < CHAINS; i++) {
        for (const struct row *row = use->chains[i]; row != NULL; row = row->next) {
            if (!is_over(row, now_us) && !each(ctx, &row->shown)) {
                return;
            }
        }
    }
}
