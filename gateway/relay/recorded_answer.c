/* recorded_answer.c - finds the call on the thread of the lookups, by the id of its request, and
 * then asks the writer for its outcome until there is one. The writer compares what it reads with
 * the tree, so that no edit of the database makes an answer pass.
 *
 * Invariant: (1) one of lookup, entry and timer is under way until `done`. */
#include "gateway/relay/recorded_answer.h"

#include "gateway/call/judge.h"
#include "gateway/request/refusal.h"
#include "gateway/state/ledger_query.h"

#include "evidence/json/jcs.h"
#include "evidence/record/extension.h"
#include "evidence/record/outcome.h"
#include "store/tables/body.h"

#define AGAIN_US    250000   /* between questions to the ledger */
#define WAIT_US     90000000 /* for the outcome: its gateway may ask for the answer that late */
#define RECORDS_MAX 65536    /* records among which the call is searched, the newest first */
#define ANSWER_ROOM 65536    /* bytes around the values of a message or a record */
#define LEDGER_ROOM (4 * WRIT_LEDGER_RESULT_MAX)

struct work {
    struct writ_recorded_answer asked;
    struct writ_arena *arena;      /* the message, parsed */
    const struct writ_json *id;    /* of the request */
    struct writ_buf request_id;    /* as recorded */
    char digest[WRIT_DIGEST_TEXT]; /* of the result; empty: an error */
    struct writ_buf decision_id;   /* of the call */
    size_t calls;                  /* that have the id of the request */
    uint64_t from_leaf;
    bool searched;
    writ_result result; /* of the search */
    int64_t until_us;
    struct writ_lookup lookup;
    struct writ_entry entry;
    struct writ_arena *entry_arena;
    struct writ_post post;
    struct writ_timer timer;
};

static void go_on(struct work *work);

/* ---- the end ---- */

static void
work_free(struct work *work)
{
    writ_arena_free(work->arena);
    writ_arena_free(work->entry_arena);
    writ_buf_wipe(&work->request_id);
    writ_buf_wipe(&work->decision_id);
    writ_free(work);
}

static void
workp_free(struct work **work)
{
    if (*work != NULL) {
        work_free(*work);
    }
}

static void
end(struct work *work, struct writ_view message)
{
    const struct writ_recorded_answer asked = work->asked;

    asked.done(asked.ctx, message);
    work_free(work);
}

static void
end_with_error(struct work *work, enum writ_reason reason)
{
    writ_auto_buf message = writ_buf_make(WRIT_REFUSAL_MAX);

    writ_refusal_put_error(&message, work->id, reason);
    end(work, writ_is_ok(writ_buf_check(&message, NULL)) ? writ_buf_view(&message)
                                                         : (struct writ_view){NULL, 0});
}

static void
end_with_kept(struct work *work, struct writ_view result)
{
    writ_auto_buf message = writ_buf_make(result.len + ANSWER_ROOM);
    struct writ_write w = writ_write_to(&message);

    writ_mcp_open(&w, work->id);
    writ_write_name(&w, WRIT_LIT("result"));
    writ_write_raw(&w, result);
    writ_write_object_end(&w);
    end(work, writ_is_ok(writ_write_end(&w, NULL)) ? writ_buf_view(&message)
                                                   : (struct writ_view){NULL, 0});
}

/* ---- which call ---- */

struct search {
    struct work *work;
    struct writ_reader *reader;
    writ_result result;
};

/* Whether the decision is of that request. */
static WRIT_RESULT
is_of_request(const struct work *work, struct writ_view body, struct writ_arena *arena, bool *ret)
{
    struct writ_extension extension = {0};
    struct writ_decision decision;

    WRIT_TRY(writ_body_decision(body, arena, &decision, NULL));
    WRIT_TRY(writ_extension_read(&decision.extensions, arena, &extension, NULL));
    *ret =
        writ_view_equal(writ_member_view(&decision.request_id), writ_buf_view(&work->request_id)) &&
        writ_view_equal(writ_member_view(&extension.upstream), work->asked.upstream);
    return WRIT_DONE;
}

static WRIT_RESULT
see_call(struct search *search, const struct writ_reader_item *item)
{
    writ_auto_arena arena = writ_arena_new(64 * WRIT_LEDGER_RECORD_MAX);
    struct work *work = search->work;
    struct writ_view body;
    bool found = false;

    if (arena == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    WRIT_TRY(writ_reader_record(search->reader, item->leaf, arena, &body, NULL));
    WRIT_TRY(is_of_request(work, body, arena, &found));
    if (found) {
        work->calls++;
        writ_buf_clear(&work->decision_id);
        writ_buf_put(&work->decision_id, item->decision_id);
    }
    return writ_buf_check(&work->decision_id, NULL);
}

static bool
each_decision(void *ctx, const struct writ_reader_item *item)
{
    struct search *search = ctx;

    if (item->granted && !item->superseded) {
        search->result = see_call(search, item);
    }
    return writ_is_ok(search->result) && search->work->calls < 2;
}

static void
back_from_search(struct writ_post *post)
{
    struct work *work = post->ctx;

    work->searched = writ_is_ok(work->result);
    go_on(work);
}

/* On the thread of the lookups. */
static void
search_call(struct writ_lookup *lookup, struct writ_reader *reader)
{
    struct work *work = lookup->ctx;
    const struct writ_session *session = work->asked.request->session;
    const struct writ_reader_filter filter = {.tenant = session->tenant,
        .boundary_id = session->boundary_id,
        .agent_id = work->asked.request->identity.agent.id,
        .from_leaf = work->from_leaf};
    struct search search = {.work = work, .reader = reader, .result = WRIT_DONE};

    work->calls = 0;
    work->result = (writ_result){WRIT_E_IO};
    if (reader != NULL) {
        work->result = writ_reader_list(reader, &filter, each_decision, &search, NULL);
    }
    if (writ_is_ok(work->result)) {
        work->result = search.result;
    }
    writ_loop_answer(work->asked.request->x->loop, &work->post);
}

static bool
ask_search(struct work *work)
{
    struct writ_gateway *gateway = work->asked.request->worker->gateway;
    struct writ_ledger_health health;

    writ_ledger_health(gateway->ledger, &health);
    work->from_leaf = health.records > RECORDS_MAX ? health.records - RECORDS_MAX : 0;
    work->lookup = (struct writ_lookup){.work = search_call, .ctx = work};
    work->post = (struct writ_post){.fn = back_from_search, .ctx = work};
    return writ_is_ok(writ_ledger_query_ask(gateway->queries, &work->lookup));
}

/* ---- its outcome ---- */

/* What the client gets of a call that has its outcome. */
static void
judge(struct work *work, const struct writ_entry_call *call)
{
    if (call->told.len > 0 && writ_view_is(call->told, work->digest)) {
        end(work, work->asked.message);
    } else if (call->result.ptr != NULL) {
        end_with_kept(work, call->result);
    } else {
        end_with_error(work, writ_view_is(call->error_type, WRIT_OUTCOME_INTERRUPTED)
                                 ? WRIT_REASON_INTERRUPTED_EXECUTION_UNKNOWN
                                 : WRIT_REASON_ANSWER_UNKNOWN);
    }
}

static void
again(struct writ_timer *timer)
{
    go_on(timer->ctx);
}

static void
wait_for_it(struct work *work)
{
    struct writ_loop *loop = work->asked.request->x->loop;

    work->timer = (struct writ_timer){.fn = again, .ctx = work};
    writ_loop_timer_set(loop, &work->timer, writ_loop_now_us(loop) + AGAIN_US);
}

static void
back_from_ledger(struct writ_post *post)
{
    struct work *work = post->ctx;

    if (work->entry.code == WRIT_OK && work->entry.call.ended) {
        judge(work, &work->entry.call);
    } else {
        wait_for_it(work);
    }
}

/* On the writer's thread. */
static void
entry_done(struct writ_entry *entry)
{
    struct work *work = entry->user;

    writ_loop_answer(work->asked.request->x->loop, &work->post);
}

static bool
ask_outcome(struct work *work)
{
    writ_arena_free(work->entry_arena);
    work->entry_arena = writ_arena_new(LEDGER_ROOM);
    if (work->entry_arena == NULL) {
        return false;
    }
    work->post = (struct writ_post){.fn = back_from_ledger, .ctx = work};
    work->entry = (struct writ_entry){.kind = WRIT_ENTRY_CALL,
        .done = entry_done,
        .user = work,
        .arena = work->entry_arena,
        .call = {.decision_id = writ_buf_view(&work->decision_id), .wants_result = true}};
    writ_worker_submit(work->asked.request->worker, &work->entry);
    return true;
}

/* keeps (1) */
static void
go_on(struct work *work)
{
    struct writ_loop *loop = work->asked.request->x->loop;

    if (*work->asked.over || writ_loop_now_us(loop) >= work->until_us ||
        (work->searched && work->calls != 1)) { /* of two calls the answer could be of either */
        end_with_error(work, WRIT_REASON_ANSWER_UNKNOWN);
    } else if (!(work->searched ? ask_outcome(work) : ask_search(work))) {
        wait_for_it(work);
    }
}

/* ---- the beginning ---- */

static WRIT_RESULT
take_message(struct work *work)
{
    const struct writ_view text = work->asked.message;
    const struct writ_json *message, *result;
    writ_auto_buf canonical = writ_buf_make(2 * text.len + ANSWER_ROOM);
    struct writ_digest digest;

    work->arena = writ_arena_new(64 * text.len + ANSWER_ROOM);
    if (work->arena == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    WRIT_TRY(writ_mcp_parse(text, work->arena, &message));
    work->id = writ_json_get(message, WRIT_LIT("id"));
    result = writ_json_get(message, WRIT_LIT("result"));
    if (work->id == NULL) {
        return (writ_result){WRIT_E_PARSE};
    }
    WRIT_TRY(writ_judge_put_request_id(&work->request_id, work->id));
    if (result == NULL) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_jcs_put(&canonical, result, NULL));
    WRIT_TRY(writ_digest_bytes(writ_buf_view(&canonical), &digest, NULL));
    writ_digest_text(&digest, work->digest);
    return WRIT_DONE;
}

WRIT_RESULT
writ_recorded_answer_ask(const struct writ_recorded_answer *asked)
{
    WRIT_AUTO(struct work *, workp_free) work = writ_alloc(sizeof *work);

    if (work == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    *work = (struct work){.asked = *asked,
        .request_id = writ_buf_make(WRIT_JUDGE_REQUEST_ID_MAX),
        .decision_id = writ_buf_make(WRIT_LEDGER_NAME_MAX),
        .until_us = writ_loop_now_us(asked->request->x->loop) + WAIT_US};
    WRIT_TRY(take_message(work));
    if (!ask_search(work)) {
        wait_for_it(work);
    }
    (void)WRIT_TAKE(work);
    return WRIT_DONE;
}
