/* budgets_api.c - one object for each counter, and for each budget without one. */
#include "gateway/admin/budgets_api.h"

#include "base/text.h"
#include "gateway/admin/api_view.h"
#include "gateway/state/budget_list.h"

/* One query; in the arena of its exchange. */
struct budgets_view {
    struct writ_api_view view;
    struct writ_budget_list budgets;
    bool *used; /* of each budget */
    size_t rows, others;
    struct writ_figures_progress progress;
};

/* ---- the answer ---- */

static void
put_amount(struct writ_write *w, const char *name, const struct writ_decimal *amount)
{
    char text[WRIT_DECIMAL_PUT_MAX];
    writ_auto_buf memory = writ_buf_over(text, sizeof text);

    writ_decimal_put(&memory, amount);
    writ_write_text(w, name, writ_buf_view(&memory));
}

/* `row` is NULL for a budget of which nothing was taken. */
static void
put_row(
    struct budgets_view *a, const struct writ_budget *budget, const struct writ_budget_use_row *row)
{
    struct writ_write *w = &a->view.w;
    struct writ_decimal used = row != NULL ? row->spent : writ_decimal_of(0);
    struct writ_decimal left = writ_budget_list_left(budget, &used);
    char frees[WRIT_TIME_TEXT];

    writ_write_object_begin(w);
    writ_write_text(w, "budget", budget->name);
    put_amount(w, "used", &used);
    put_amount(w, "left", &left);
    put_amount(w, "limit", &budget->limit);
    writ_write_integer(w, "window_us", budget->window_us);
    if (row != NULL) {
        writ_time_format((row->window + 1) * row->window_us, frees);
        writ_write_text(w, "frees_at", writ_view_str(frees));
    }
    if (row != NULL && budget->per_agent) {
        writ_write_text_if(w, "agent_id", row->call.agent);
    }
    if (row != NULL && (budget->per_agent || budget->per_tenant)) {
        writ_write_text_if(w, "tenant", row->call.tenant);
    }
    if (row != NULL && budget->per_tool) {
        writ_write_text_if(w, "upstream", row->call.upstream);
        writ_write_text_if(w, "tool", row->call.tool);
    }
    writ_write_object_end(w);
}

/* The place in the list; its number: none. */
static size_t
find_budget(const struct budgets_view *a, const struct writ_budget_use_row *row)
{
    const struct writ_agent agent = {.id = row->call.agent, .tenant = row->call.tenant};
    const struct writ_policy_call call = {
        .agent = &agent, .upstream = row->call.upstream, .tool = row->call.tool};
    size_t at = a->budgets.n;

    WRIT_IGNORE(writ_budget_list_find(&a->budgets, row->tag, row->window_us, &call, &at));
    return at;
}

/* One that several tenants share tells about the others. */
static bool
sees(const struct budgets_view *a, const struct writ_budget *budget, struct writ_view tenant)
{
    struct writ_view own = a->view.request.viewer.agent.tenant;

    return own.len == 0 ||
           ((budget->per_agent || budget->per_tenant) && writ_view_equal(own, tenant));
}

static bool
take_row(void *ctx, const struct writ_budget_use_row *row)
{
    struct budgets_view *a = ctx;
    size_t at = find_budget(a, row);

    if (at == a->budgets.n || !sees(a, a->budgets.items[at], row->call.tenant)) {
        return true;
    }
    a->used[at] = true;
    if (a->rows == WRIT_BUDGETS_API_ROWS) {
        a->others++;
        return true;
    }
    a->rows++;
    put_row(a, a->budgets.items[at], row);
    return true;
}

static WRIT_RESULT
tell(struct writ_api_view *view, struct writ_reader *reader, struct writ_arena *arena)
{
    struct budgets_view *a = (struct budgets_view *)view;
    const struct writ_review_viewer *viewer = &view->request.viewer;
    struct writ_write *w = &view->w;

    (void)reader;
    WRIT_TRY(writ_budget_list_make(viewer->generation->config->policy, arena, &a->budgets));
    a->used = writ_arena_get(arena, a->budgets.n + 1);
    if (a->used == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    for (size_t i = 0; i < a->budgets.n; i++) {
        a->used[i] = false;
    }
    writ_write_object_begin(w);
    writ_write_name(w, WRIT_LIT("budgets"));
    writ_write_array_begin(w);
    writ_figures_feed_budgets(
        view->request.worker->gateway->figures, view->now_us, take_row, a, &a->progress);
    for (size_t i = 0; i < a->budgets.n; i++) {
        const struct writ_budget *budget = a->budgets.items[i];

        if (!a->used[i] && sees(a, budget, viewer->agent.tenant)) {
            put_row(a, budget, NULL);
        }
    }
    writ_write_array_end(w);
    writ_write_count(w, "others", a->others);
    writ_write_flag(w, "complete", a->progress.complete && a->progress.lost == 0);
    writ_write_object_end(w);
    return WRIT_DONE;
}

static void
handle(struct writ_exchange *x, void *ctx)
{
    struct budgets_view *a = writ_api_view_open(x, ctx, sizeof *a, tell);

    if (a != NULL && writ_api_view_may_oversee(&a->view)) {
        a->view.without_ledger = true;
        writ_api_view_ask(&a->view);
    }
}

void
writ_budgets_api_routes(
    struct writ_gateway *gateway, struct writ_route ret[WRIT_BUDGETS_API_ROUTES])
{
    ret[0] = (struct writ_route){.path = WRIT_LIT("/v1/budgets"),
        .methods = WRIT_ROUTE_GET,
        .handler = handle,
        .ctx = gateway};
}
