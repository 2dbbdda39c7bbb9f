/* budgets_api.c - a counter has the tag of the key of its budget: the budget of the configuration
 * is found by the key that it has for the counter's first call. */
#include "gateway/admin/budgets_api.h"

#include "base/text.h"
#include "gateway/admin/api_view.h"
#include "gateway/admin/ledger_viewer.h"
#include "policy/decide/policy.h"
#include "policy/model/rule.h"

/* A budget of the configuration. */
struct listed {
    const struct writ_budget *budget;
    bool used;
};

/* One query; in the arena of its exchange. */
struct budgets_view {
    struct writ_api_view view;
    struct listed *budgets; /* of different names */
    size_t n, rows, others;
    struct writ_figures_progress progress;
};

/* ---- the budgets of the configuration ---- */

static size_t
count_budgets(const struct writ_policy *policy)
{
    size_t n = 0;

    for (size_t i = 0; i < policy->n; i++) {
        for (size_t r = 0; r < policy->entries[i].rules_n; r++) {
            n += policy->entries[i].rules[r].budgets_n;
        }
    }
    return n;
}

static bool
is_listed(const struct budgets_view *a, struct writ_view name)
{
    for (size_t i = 0; i < a->n; i++) {
        if (writ_view_equal(a->budgets[i].budget->name, name)) {
            return true;
        }
    }
    return false;
}

static void
list_rule(struct budgets_view *a, const struct writ_tool_rule *rule)
{
    for (size_t i = 0; i < rule->budgets_n; i++) {
        if (!is_listed(a, rule->budgets[i].name)) {
            a->budgets[a->n++] = (struct listed){.budget = &rule->budgets[i]};
        }
    }
}

static WRIT_RESULT
list_budgets(struct budgets_view *a, const struct writ_policy *policy, struct writ_arena *arena)
{
    a->budgets = writ_arena_get(arena, (count_budgets(policy) + 1) * sizeof *a->budgets);
    if (a->budgets == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    for (size_t i = 0; i < policy->n; i++) {
        for (size_t r = 0; r < policy->entries[i].rules_n; r++) {
            list_rule(a, &policy->entries[i].rules[r]);
        }
    }
    return WRIT_DONE;
}

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
    struct writ_decimal used = row != NULL ? row->spent : writ_decimal_of(0), left;
    struct writ_decimal back = writ_decimal_negate(&used);
    char frees[WRIT_TIME_TEXT];

    if (!writ_is_ok(writ_decimal_add(&budget->limit, &back, &left)) || left.negative) {
        left = writ_decimal_of(0);
    }
    writ_write_object_begin(&a->view.w);
    writ_write_text(&a->view.w, "budget", budget->name);
    put_amount(&a->view.w, "used", &used);
    put_amount(&a->view.w, "left", &left);
    put_amount(&a->view.w, "limit", &budget->limit);
    writ_write_integer(&a->view.w, "window_us", budget->window_us);
    if (row != NULL) {
        writ_time_format((row->window + 1) * row->window_us, frees);
        writ_write_text(&a->view.w, "frees_at", writ_view_str(frees));
    }
    if (row != NULL && budget->per_agent) {
        writ_write_text_if(&a->view.w, "agent_id", row->call.agent);
    }
    if (row != NULL && (budget->per_agent || budget->per_tenant)) {
        writ_write_text_if(&a->view.w, "tenant", row->call.tenant);
    }
    if (row != NULL && budget->per_tool) {
        writ_write_text_if(&a->view.w, "upstream", row->call.upstream);
        writ_write_text_if(&a->view.w, "tool", row->call.tool);
    }
    writ_write_object_end(&a->view.w);
}

static struct listed *
find_budget(const struct budgets_view *a, const struct writ_budget_use_row *row)
{
    const struct writ_agent agent = {.id = row->call.agent, .tenant = row->call.tenant};
    const struct writ_policy_call call = {
        .agent = &agent, .upstream = row->call.upstream, .tool = row->call.tool};
    struct writ_digest key;

    for (size_t i = 0; i < a->n; i++) {
        const struct writ_budget *budget = a->budgets[i].budget;

        if (budget->window_us == row->window_us &&
            writ_is_ok(writ_policy_budget_key(budget, &call, &key)) &&
            writ_tag_equal(writ_tag_of(&key), row->tag)) {
            return &a->budgets[i];
        }
    }
    return NULL;
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
    struct listed *found = find_budget(a, row);

    if (found == NULL || !sees(a, found->budget, row->call.tenant)) {
        return true;
    }
    found->used = true;
    if (a->rows == WRIT_BUDGETS_API_ROWS) {
        a->others++;
        return true;
    }
    a->rows++;
    put_row(a, found->budget, row);
    return true;
}

static WRIT_RESULT
tell(struct writ_api_view *view, struct writ_reader *reader, struct writ_arena *arena)
{
    struct budgets_view *a = (struct budgets_view *)(void *)view;
    struct writ_figures_feed *feed = a->view.request.worker->gateway->figures;

    (void)reader;
    WRIT_TRY(list_budgets(a, a->view.request.viewer.generation->config->policy, arena));
    writ_write_object_begin(&a->view.w);
    writ_write_name(&a->view.w, WRIT_LIT("budgets"));
    writ_write_array_begin(&a->view.w);
    writ_figures_feed_budgets(feed, a->view.now_us, take_row, a, &a->progress);
    for (size_t i = 0; i < a->n; i++) {
        const struct writ_budget *budget = a->budgets[i].budget;

        if (!a->budgets[i].used && sees(a, budget, a->view.request.viewer.agent.tenant)) {
            put_row(a, budget, NULL);
        }
    }
    writ_write_array_end(&a->view.w);
    writ_write_count(&a->view.w, "others", a->others);
    writ_write_flag(&a->view.w, "complete", a->progress.complete && a->progress.lost == 0);
    writ_write_object_end(&a->view.w);
    return WRIT_DONE;
}

static void
handle(struct writ_exchange *x, void *ctx)
{
    struct budgets_view *a = writ_api_view_open(x, ctx, sizeof *a, tell);

    if (a != NULL && writ_api_view_may_oversee(&a->view)) {
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
