/* policy_api.c - the rules are those of the generation that the request holds; their use comes from
 * the figures, on the lookups' thread: between handle and back_on_loop a query belongs to it, with
 * the arena of its exchange. A caller with a tenant gets the decisions of its own tenant, and no
 * rule that is for other tenants alone. */
#include "gateway/admin/policy_api.h"

#include "base/text.h"
#include "evidence/json/write.h"
#include "evidence/record/record.h"
#include "gateway/admin/api.h"
#include "gateway/admin/scope.h"
#include "policy/model/rule.h"
#include "policy/read/standing.h"

#define MAGIC     0x706f6c69U
#define ARENA_MAX ((size_t)64 << 20)

/* The use of one rule. */
struct use {
    struct writ_view ref;
    uint64_t counts[WRIT_FIGURES_SPANS_N];
    size_t last; /* slot of the week, from 1; 0: none */
};

/* One query; in the arena of its exchange. */
struct api_request {
    uint32_t magic;
    struct writ_exchange *x;
    struct writ_worker *worker;
    struct writ_review_viewer viewer; /* until the answer */
    struct use *uses;                 /* in the order of the rules */
    size_t n;
    enum writ_figures_span span; /* that is read */
    struct writ_figures_progress progress;
    int64_t now_us;
    struct writ_buf body;
    struct writ_write w;
    writ_result result;
    struct writ_lookup lookup;
    struct writ_post post;
};

/* ---- how often each rule was used ---- */

static void
add_use(void *ctx, const struct writ_figures_cell *cell)
{
    struct api_request *a = ctx;
    struct writ_view tenant = a->viewer.agent.tenant;

    if (cell->point.kind != WRIT_FIGURES_RULE ||
        (tenant.len > 0 && !writ_view_equal(tenant, cell->point.tenant))) {
        return;
    }
    for (size_t i = 0; i < a->n; i++) {
        struct use *use = &a->uses[i];

        if (writ_view_equal(use->ref, cell->point.reason)) {
            use->counts[a->span] += cell->count;
            if (a->span == WRIT_FIGURES_WEEK && cell->slot + 1 > use->last) {
                use->last = cell->slot + 1;
            }
            return;
        }
    }
}

static WRIT_RESULT
gather(struct api_request *a, const struct writ_policy *policy, struct writ_arena *arena)
{
    size_t n = 0;

    for (size_t i = 0; i < policy->n; i++) {
        n += policy->entries[i].rules_n;
    }
    a->uses = writ_arena_get(arena, (n + 1) * sizeof *a->uses);
    if (a->uses == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    for (size_t i = 0; i < policy->n; i++) {
        for (size_t r = 0; r < policy->entries[i].rules_n; r++) {
            a->uses[a->n++] = (struct use){.ref = policy->entries[i].rules[r].ref};
        }
    }
    for (size_t i = 0; i < WRIT_FIGURES_SPANS_N; i++) {
        a->span = (enum writ_figures_span)i;
        writ_figures_feed_each(
            a->worker->gateway->figures, a->span, a->now_us, add_use, a, &a->progress);
    }
    return WRIT_DONE;
}

/* ---- the answer ---- */

static bool
sees(const struct api_request *a, const struct writ_tool_rule *rule)
{
    struct writ_view tenant = a->viewer.agent.tenant;

    for (size_t i = 0; i < rule->tenants.n; i++) {
        if (writ_view_equal(rule->tenants.items[i], tenant)) {
            return true;
        }
    }
    return tenant.len == 0 || rule->tenants.n == 0;
}

static void
put_views(struct writ_write *w, const char *name, const struct writ_views *views)
{
    if (views->n == 0) {
        return;
    }
    writ_write_name(w, writ_view_str(name));
    writ_write_array_begin(w);
    for (size_t i = 0; i < views->n; i++) {
        writ_write_string(w, views->items[i]);
    }
    writ_write_array_end(w);
}

static void
put_use(struct api_request *a, const struct use *use)
{
    int64_t since_us = writ_figures_since_us(WRIT_FIGURES_WEEK, a->now_us);
    char last[WRIT_TIME_TEXT];

    for (size_t i = 0; i < WRIT_FIGURES_SPANS_N; i++) {
        writ_write_name(&a->w, writ_figures_span_name((enum writ_figures_span)i));
        writ_write_u64(&a->w, use->counts[i]);
    }
    if (use->last > 0) {
        writ_time_format(
            since_us + (int64_t)(use->last - 1) * writ_figures_slot_us(WRIT_FIGURES_WEEK), last);
        writ_write_text(&a->w, "used_after", writ_view_str(last));
    }
}

static void
put_rule(struct api_request *a, const struct writ_tool_entry *entry,
    const struct writ_tool_rule *rule, const struct use *use)
{
    const struct writ_config *config = a->viewer.generation->config;

    writ_write_object_begin(&a->w);
    writ_write_text(&a->w, "tool", entry->key);
    writ_write_text(&a->w, "ref", rule->ref);
    writ_write_text(&a->w, "file", writ_standing_file(config, rule->node));
    writ_write_count(&a->w, "line", rule->node->key_line);
    put_views(&a->w, "agents", &rule->agents);
    put_views(&a->w, "roles", &rule->roles);
    put_views(&a->w, "tenants", &rule->tenants);
    writ_write_flag(&a->w, "approval", rule->approval != NULL);
    writ_write_flag(&a->w, "shadow", rule->shadow);
    writ_write_flag(&a->w, "pin", rule->pin);
    put_use(a, use);
    writ_write_object_end(&a->w);
}

static WRIT_RESULT
tell(struct api_request *a, struct writ_arena *arena)
{
    const struct writ_config *config = a->viewer.generation->config;
    const struct writ_policy *policy = config->policy;
    char digest[WRIT_DIGEST_TEXT];
    size_t at = 0;

    WRIT_TRY(gather(a, policy, arena));
    writ_digest_text(&config->policy_digest, digest);
    writ_write_object_begin(&a->w);
    writ_write_text(&a->w, "policy", writ_view_str(digest));
    writ_write_flag(&a->w, "complete", a->progress.complete && a->progress.lost == 0);
    writ_write_name(&a->w, WRIT_LIT("rules"));
    writ_write_array_begin(&a->w);
    for (size_t i = 0; i < policy->n; i++) {
        const struct writ_tool_entry *entry = &policy->entries[i];

        for (size_t r = 0; r < entry->rules_n; r++, at++) {
            if (sees(a, &entry->rules[r])) {
                put_rule(a, entry, &entry->rules[r], &a->uses[at]);
            }
        }
    }
    writ_write_array_end(&a->w);
    writ_write_object_end(&a->w);
    return writ_write_end(&a->w, NULL);
}

static void
refuse(struct api_request *a, unsigned status, enum writ_reason reason)
{
    writ_buf_wipe(&a->body);
    writ_review_viewer_wipe(&a->viewer);
    writ_api_answer_problem(a->x, status, reason);
}

static void
back_on_loop(struct writ_post *post)
{
    struct api_request *a = post->ctx;

    WRIT_INVARIANT(a->magic == MAGIC);
    if (!writ_is_ok(a->result)) {
        refuse(a, 503, WRIT_REASON_OVERLOADED);
        return;
    }
    struct writ_buf body = a->body; /* the end of the exchange frees its arena */
    writ_review_viewer_wipe(&a->viewer);
    writ_api_answer_json(a->x, 200, &body);
    writ_buf_wipe(&body);
}

/* On the thread of the lookups. */
static void
work(struct writ_lookup *lookup, struct writ_reader *reader)
{
    struct api_request *a = lookup->ctx;
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);

    (void)reader;
    a->body = writ_buf_make(WRIT_API_ANSWER_MAX);
    a->w = writ_write_to(&a->body);
    a->result = arena == NULL ? (writ_result){WRIT_E_NOMEM} : tell(a, arena);
    writ_arena_free(arena);
    writ_loop_answer(a->worker->loop, &a->post);
}

static void
handle(struct writ_exchange *x, void *ctx)
{
    struct writ_gateway *gateway = ctx;
    struct api_request *a = writ_arena_get(x->arena, sizeof *a);
    enum writ_reason refused;

    if (a == NULL) {
        writ_api_answer_problem(x, 503, WRIT_REASON_OVERLOADED);
        return;
    }
    *a = (struct api_request){.magic = MAGIC,
        .x = x,
        .worker = writ_gateway_worker(gateway, x->loop),
        .now_us = writ_clock_wall_us(gateway->clock),
        .lookup = {.work = work, .ctx = a},
        .post = {.fn = back_on_loop, .ctx = a}};
    refused = writ_review_viewer_ask(a->worker, x, x->arena, &a->viewer);
    if (refused != WRIT_REASON_NONE) {
        writ_api_answer_problem(x, writ_api_status(refused), refused);
    } else if (!writ_scope_administers(&a->viewer) && writ_scope_of(&a->viewer) == WRIT_SCOPE_OWN) {
        refuse(a, 403, WRIT_REASON_NOT_ADMINISTRATOR);
    } else if (!writ_is_ok(writ_ledger_query_ask(gateway->queries, &a->lookup))) {
        refuse(a, 503, WRIT_REASON_OVERLOADED);
    }
}

void
writ_policy_api_routes(struct writ_gateway *gateway, struct writ_route ret[WRIT_POLICY_API_ROUTES])
{
    ret[0] = (struct writ_route){.path = WRIT_LIT("/v1/policy"),
        .methods = WRIT_ROUTE_GET,
        .handler = handle,
        .ctx = gateway};
}
