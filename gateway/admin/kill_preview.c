/* kill_preview.c - adds up the figures of the calls that a stop names, on the lookups' thread.
 * Between answer and back_on_loop the query belongs to that thread, with the arena of its exchange.
 */
#include "gateway/admin/kill_preview.h"

#include "evidence/record/record.h"
#include "gateway/admin/kill_known.h"
#include "gateway/admin/name_counts.h"
#include "gateway/listener/api_answer.h"

#define MAGIC     0x70726576U
#define ARENA_MAX ((size_t)16 << 20)
#define WORDS_MAX 2048

struct preview {
    uint32_t magic;
    struct writ_exchange *x;
    struct writ_worker *worker;
    struct writ_generation *generation; /* held */
    struct writ_kill kill;
    char policy[WRIT_DIGEST_TEXT]; /* the present one */
    int64_t now_us;
    struct writ_buf body;
    writ_result result;
    struct writ_lookup lookup;
    struct writ_post post;
};

/* The calls of one span. */
struct stopped {
    const struct preview *preview;
    struct writ_name_counts agents, tools;
};

static void
add_cell(void *ctx, const struct writ_figures_cell *cell)
{
    struct stopped *stopped = ctx;
    const struct writ_figures_point *point = &cell->point;
    const struct writ_kill_call call = {.agent_id = point->agent,
        .tenant = point->tenant,
        .upstream = point->upstream,
        .tool = point->tool,
        .policy = writ_view_str(stopped->preview->policy)};

    if (point->kind == WRIT_FIGURES_DECISION && point->value == WRIT_DECISION_ALLOW &&
        writ_kill_names(&stopped->preview->kill, &call)) {
        writ_name_counts_add(&stopped->agents, WRIT_LIT(""), point->agent, cell->count);
        writ_name_counts_add(&stopped->tools, point->upstream, point->tool, cell->count);
    }
}

static WRIT_RESULT
put_span(const struct preview *p, enum writ_figures_span span, struct writ_arena *arena,
    struct writ_write *w)
{
    struct stopped stopped = {.preview = p};
    struct writ_figures_progress progress;

    WRIT_TRY(writ_name_counts_init(&stopped.agents, arena));
    WRIT_TRY(writ_name_counts_init(&stopped.tools, arena));
    writ_figures_feed_each(
        p->worker->gateway->figures, span, p->now_us, add_cell, &stopped, &progress);
    writ_write_name(w, writ_figures_span_name(span));
    writ_write_object_begin(w);
    writ_write_count(w, "calls", stopped.agents.all);
    writ_name_counts_put(&stopped.agents, WRIT_LIT("agent"), w);
    writ_name_counts_put(&stopped.tools, WRIT_LIT("tool"), w);
    writ_write_object_end(w);
    return (writ_result){stopped.agents.failed || stopped.tools.failed ? WRIT_E_NOMEM : WRIT_OK};
}

static WRIT_RESULT
tell(struct preview *p, struct writ_reader *reader, struct writ_arena *arena)
{
    struct writ_write w = writ_write_to(&p->body);
    writ_auto_buf words = writ_buf_make(WORDS_MAX);

    writ_kill_known_put(&p->kill, &words);
    writ_write_object_begin(&w);
    writ_write_text(&w, "stops", writ_buf_view(&words));
    writ_write_flag(&w, "known",
        writ_kill_known_is_configured(p->generation->config, &p->kill) ||
            writ_kill_known_is_seen(reader, &p->kill));
    WRIT_TRY(put_span(p, WRIT_FIGURES_HOUR, arena, &w));
    WRIT_TRY(put_span(p, WRIT_FIGURES_DAY, arena, &w));
    writ_write_object_end(&w);
    return writ_write_end(&w, NULL);
}

static void
back_on_loop(struct writ_post *post)
{
    struct preview *p = post->ctx;

    WRIT_INVARIANT(p->magic == MAGIC);
    struct writ_buf body = p->body; /* the end of the exchange frees its arena */
    writ_generation_drop(p->generation);
    if (writ_is_ok(p->result)) {
        writ_api_answer_json(p->x, 200, &body);
    } else {
        writ_api_answer_problem(p->x, 503, WRIT_REASON_LEDGER_UNAVAILABLE);
    }
    writ_buf_wipe(&body);
}

/* On the thread of the lookups. */
static void
work(struct writ_lookup *lookup, struct writ_reader *reader)
{
    struct preview *p = lookup->ctx;
    struct writ_arena *arena = reader == NULL ? NULL : writ_arena_new(ARENA_MAX);

    p->body = writ_buf_make(WRIT_API_ANSWER_MAX);
    p->result = arena == NULL ? (writ_result){WRIT_E_NOMEM} : tell(p, reader, arena);
    writ_arena_free(arena);
    writ_loop_answer(p->worker->loop, &p->post);
}

void
writ_kill_preview_answer(
    struct writ_exchange *x, struct writ_gateway *gateway, const struct writ_kill *kill)
{
    struct preview *p = writ_arena_get(x->arena, sizeof *p);

    if (p == NULL) {
        writ_api_answer_problem(x, 503, WRIT_REASON_OVERLOADED);
        return;
    }
    *p = (struct preview){.magic = MAGIC,
        .x = x,
        .worker = writ_gateway_worker(gateway, x->loop),
        .kill = *kill,
        .now_us = writ_clock_wall_us(gateway->clock),
        .lookup = {.work = work, .ctx = p},
        .post = {.fn = back_on_loop, .ctx = p}};
    p->generation = writ_generation_hold(p->worker->generation);
    writ_digest_text(&p->generation->config->policy_digest, p->policy);
    if (!writ_is_ok(writ_ledger_query_ask(gateway->queries, &p->lookup))) {
        writ_generation_drop(p->generation);
        writ_api_answer_problem(x, 503, WRIT_REASON_OVERLOADED);
    }
}
