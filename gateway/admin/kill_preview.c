/* kill_preview.c - adds up the figures of the calls that a stop names. */
#include "gateway/admin/kill_preview.h"

#include "evidence/record/record.h"
#include "gateway/admin/kill_known.h"
#include "gateway/admin/name_counts.h"

#define WORDS_MAX 2048

/* The calls of one span. */
struct stopped {
    const struct writ_kill_preview *preview;
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
put_span(struct writ_kill_preview *p, enum writ_figures_span span, struct writ_arena *arena)
{
    struct writ_write *w = &p->view.w;
    struct stopped stopped = {.preview = p};
    struct writ_figures_progress progress;

    WRIT_TRY(writ_name_counts_init(&stopped.agents, arena));
    WRIT_TRY(writ_name_counts_init(&stopped.tools, arena));
    writ_figures_feed_each(p->view.request.worker->gateway->figures, span, p->view.now_us, add_cell,
        &stopped, &progress);
    writ_write_name(w, writ_figures_span_name(span));
    writ_write_object_begin(w);
    writ_write_count(w, "calls", stopped.agents.all);
    writ_name_counts_put(&stopped.agents, WRIT_LIT("agent"), w);
    writ_name_counts_put(&stopped.tools, WRIT_LIT("tool"), w);
    writ_write_object_end(w);
    return (writ_result){stopped.agents.failed || stopped.tools.failed ? WRIT_E_NOMEM : WRIT_OK};
}

static WRIT_RESULT
tell(struct writ_api_view *view, struct writ_reader *reader, struct writ_arena *arena)
{
    struct writ_kill_preview *p = (struct writ_kill_preview *)(void *)view;
    const struct writ_config *config = view->request.viewer.generation->config;
    writ_auto_buf words = writ_buf_make(WORDS_MAX);

    writ_digest_text(&config->policy_digest, p->policy);
    writ_kill_known_put(&p->kill, &words);
    writ_write_object_begin(&view->w);
    writ_write_text(&view->w, "stops", writ_buf_view(&words));
    writ_write_flag(&view->w, "known",
        writ_kill_known_is_configured(config, &p->kill) ||
            writ_kill_known_is_seen(reader, &p->kill));
    WRIT_TRY(put_span(p, WRIT_FIGURES_HOUR, arena));
    WRIT_TRY(put_span(p, WRIT_FIGURES_DAY, arena));
    writ_write_object_end(&view->w);
    return WRIT_DONE;
}

struct writ_kill_preview *
writ_kill_preview_open(struct writ_exchange *x, struct writ_gateway *gateway)
{
    return writ_api_view_open(x, gateway, sizeof(struct writ_kill_preview), tell);
}

void
writ_kill_preview_ask(struct writ_kill_preview *preview)
{
    writ_api_view_ask(&preview->view);
}
