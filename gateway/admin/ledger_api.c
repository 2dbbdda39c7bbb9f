/* ledger_api.c - every answer is made on the thread of the lookups (api_request.h).
 *
 * Invariant: (1) an answer contains only records that the viewer may see. */
#include "gateway/admin/ledger_api.h"

#include "base/text.h"
#include "evidence/json/write.h"
#include "evidence/record/extension.h"
#include "evidence/record/review_record.h"
#include "gateway/admin/api_request.h"
#include "gateway/admin/contents_answer.h"
#include "gateway/admin/contents_api.h"
#include "gateway/admin/ledger_list.h"
#include "gateway/admin/ledger_stream.h"
#include "gateway/admin/ledger_viewer.h"
#include "gateway/admin/why_answer.h"
#include "gateway/http/query.h"
#include "store/read/bundles.h"
#include "store/read/receipts.h"
#include "store/tables/body.h"
#include "evidence/record/review_terms.h"

#define ARENA_MAX  ((size_t)128 << 20) /* memory to read the life of one call */
#define NUMBER_MAX 20                  /* digits of a place in the log */
#define RECEIPT    WRIT_LIT("/receipt")
#define BUNDLE     WRIT_LIT("/bundle")

/** One query; in the arena of its exchange. */
struct api_request {
    struct writ_api_request request;
    struct writ_ledger_sight sight;
    bool wants_receipt;    /* of the call */
    bool wants_bundle;     /* of its run */
    bool wants_checkpoint; /* and nothing else */
    uint64_t from;         /* with the proof that it only appends to this many records */
    struct writ_view id;   /* of one call; empty: a page of the list */
    struct writ_ledger_list list;
    uint64_t at; /* records in the ledger, before the page was read */
    /* the answer: of the lookups' thread */
    struct writ_write w; /* to the body */
    bool too_long;       /* a bundle */
    enum writ_reason refused;
};

/* ---- a page of the list ---- */

static WRIT_RESULT
list(struct api_request *a, struct writ_reader *reader)
{
    writ_write_object_begin(&a->w);
    writ_write_text(&a->w, "scope", writ_ledger_viewer_scope_name(a->sight.scope));
    writ_write_count(&a->w, "at", a->at);
    WRIT_TRY(writ_ledger_list_put_page(&a->list, &a->sight, reader, &a->w));
    writ_write_object_end(&a->w);
    return writ_write_end(&a->w, NULL);
}

/* ---- the life of one call ---- */

/* One decision of it, with its records. */
struct round {
    struct writ_reader_call call;
    struct writ_reader_review review;
    struct writ_view supersedes, agent_id;
    bool has_review;
};

static WRIT_RESULT
read_round(
    struct writ_reader *reader, struct writ_view id, struct writ_arena *arena, struct round *ret)
{
    struct writ_decision decision = {0};
    struct round round = {0};
    writ_result review;

    WRIT_TRY(writ_reader_show(reader, id, arena, &round.call, NULL));
    WRIT_TRY(writ_body_decision(round.call.decision, arena, &decision, NULL));
    round.supersedes = decision.supersedes.view;
    round.agent_id = decision.agent_id.view;
    review = writ_reader_review(reader, id, arena, &round.review, NULL);
    round.has_review = writ_is_ok(review);
    if (!round.has_review && review.code != WRIT_E_ABSENT) {
        return review;
    }
    *ret = round;
    return WRIT_DONE;
}

/* Whether the viewer may see the review that the round opened: by the terms of its first record. */
static bool
sees_review(const struct api_request *a, const struct round *round, struct writ_arena *arena)
{
    const struct writ_json *record = NULL;
    struct writ_review review;

    return round->has_review &&
           writ_is_ok(writ_body_json(round->review.records[0], arena, &record, NULL)) &&
           writ_is_ok(writ_review_terms_read(
               writ_json_get(record, WRIT_LIT("terms")), arena, &review, NULL)) &&
           writ_review_viewer_sees(&a->request.viewer, &review);
}

/* The rounds of a call in order: those before the requested one, and those after it. */
static WRIT_RESULT
gather(struct api_request *a, struct writ_reader *reader, struct writ_arena *arena,
    struct round *rounds, size_t *ret_n)
{
    struct writ_view id = a->id;
    size_t n = 0;
    bool allowed = false;

    for (size_t back = 0; back < WRIT_LEDGER_API_ROUNDS_MAX / 2; back++) { /* to the first */
        struct round round;

        WRIT_TRY(read_round(reader, id, arena, &round));
        if (round.supersedes.len == 0) {
            break;
        }
        id = round.supersedes;
    }
    while (id.len > 0 && n < WRIT_LEDGER_API_ROUNDS_MAX) {
        WRIT_TRY(read_round(reader, id, arena, &rounds[n]));
        allowed = allowed ||
                  writ_ledger_viewer_sees(&a->sight, rounds[n].call.tenant, rounds[n].agent_id) ||
                  sees_review(a, &rounds[n], arena);
        id = rounds[n].call.superseded_by;
        n++;
    }
    *ret_n = n;
    return (writ_result){allowed ? WRIT_OK : WRIT_E_ABSENT}; /* keeps (1) */
}

/* For those who may read the policy. No value of the call is in it. */
static WRIT_RESULT
put_why(struct api_request *a, struct writ_reader *reader, const struct round *round,
    struct writ_arena *arena)
{
    struct writ_decision d = {0};
    struct writ_extension ours = {0};
    struct writ_source_texts texts = {.reader = reader,
        .tenant = round->call.tenant,
        .boundary_id = round->call.boundary_id,
        .leaf = round->call.leaf};
    const struct writ_why_answer about = {.viewer = &a->request.viewer,
        .decision = &d,
        .extension = &ours,
        .tenant = round->call.tenant,
        .texts = &texts};

    if (!writ_ledger_viewer_reads_policy(&a->request.viewer)) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_body_decision(round->call.decision, arena, &d, NULL));
    WRIT_TRY(writ_extension_read(&d.extensions, arena, &ours, NULL));
    writ_write_name(&a->w, WRIT_LIT("why"));
    return writ_why_answer_put(&about, arena, &a->w);
}

/* For those who may read them: whether there are contents. No key is used. */
static WRIT_RESULT
put_contents(struct api_request *a, const struct round *round, struct writ_arena *arena)
{
    const char *path = a->request.viewer.generation->config->store.ptr;
    writ_auto_contents contents = NULL;
    struct writ_contents_call call;
    struct writ_decision d = {0};

    if (!writ_contents_api_may_read(&a->request.viewer, round->call.tenant)) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_body_decision(round->call.decision, arena, &d, NULL));
    WRIT_TRY(writ_contents_open(path, NULL, a->request.worker->gateway->clock, &contents, NULL));
    WRIT_TRY(writ_contents_get(contents, d.decision_id.view, arena, &call, NULL));
    writ_write_text(
        &a->w, "contents", writ_view_str(writ_contents_answer_unread(call.arguments.state)));
    return WRIT_DONE;
}

static WRIT_RESULT
put_round(struct api_request *a, struct writ_reader *reader, const struct round *round,
    struct writ_arena *arena)
{
    struct writ_write *w = &a->w;

    writ_write_object_begin(w);
    writ_write_name(w, WRIT_LIT("decision"));
    writ_write_raw(w, round->call.decision);
    if (round->has_review) {
        writ_write_name(w, WRIT_LIT("review"));
        writ_write_array_begin(w);
        for (size_t i = 0; i < round->review.records_n; i++) {
            writ_write_raw(w, round->review.records[i]);
        }
        writ_write_array_end(w);
    }
    if (round->call.has_outcome) {
        writ_write_name(w, WRIT_LIT("outcome"));
        writ_write_raw(w, round->call.outcome);
    }
    WRIT_TRY(put_why(a, reader, round, arena));
    WRIT_TRY(put_contents(a, round, arena));
    writ_write_object_end(w);
    return WRIT_DONE;
}

static WRIT_RESULT
tell_life(struct api_request *a, struct writ_reader *reader, struct writ_arena *arena)
{
    struct round *rounds = writ_arena_get(arena, WRIT_LEDGER_API_ROUNDS_MAX * sizeof *rounds);
    const struct writ_reader_call *last;
    size_t n = 0;

    if (rounds == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    WRIT_TRY(gather(a, reader, arena, rounds, &n));
    last = &rounds[n - 1].call;
    writ_write_object_begin(&a->w);
    writ_write_text(&a->w, "tenant", last->tenant);
    writ_write_text(&a->w, "boundary_id", last->boundary_id);
    writ_write_name(&a->w, WRIT_LIT("rounds"));
    writ_write_array_begin(&a->w);
    for (size_t i = 0; i < n; i++) {
        WRIT_TRY(put_round(a, reader, &rounds[i], arena));
    }
    writ_write_array_end(&a->w);
    if (last->sealed) {
        writ_write_name(&a->w, WRIT_LIT("seal"));
        writ_write_raw(&a->w, last->seal);
    }
    writ_write_object_end(&a->w);
    return writ_write_end(&a->w, NULL);
}

/* ---- proofs ---- */

/* A ledger that takes no records signs none: a wait for its next checkpoint would be in vain, and
 * hold up every other request. */
static bool
is_ready(const struct api_request *a)
{
    struct writ_ledger_health health;

    writ_ledger_health(a->request.worker->ledger, &health);
    return health.state == WRIT_LEDGER_READY;
}

static WRIT_RESULT
open_proofs(const struct api_request *a, struct writ_proofs **ret)
{
    const struct writ_generation *generation = a->request.viewer.generation;

    WRIT_TRY(writ_proofs_open(generation->config->store.ptr, generation->keyring, ret, NULL));
    writ_proofs_await(*ret, is_ready(a));
    return WRIT_DONE;
}

/* keeps (1): a viewer that may not see the call gets no receipt of it */
static WRIT_RESULT
tell_receipt(struct api_request *a, struct writ_reader *reader, struct writ_arena *arena)
{
    writ_auto_proofs proofs = NULL;
    struct round *rounds = writ_arena_get(arena, WRIT_LEDGER_API_ROUNDS_MAX * sizeof *rounds);
    size_t n = 0;

    if (rounds == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    WRIT_TRY(gather(a, reader, arena, rounds, &n));
    WRIT_TRY(open_proofs(a, &proofs));
    return writ_receipts_make(
        reader, proofs, a->request.viewer.generation->keyring, a->id, &a->request.body, NULL);
}

/* The records up to the last one of a call. */
static uint64_t
end_of(const struct writ_reader_call *call)
{
    uint64_t last = call->leaf;

    last = call->has_outcome && call->outcome_leaf > last ? call->outcome_leaf : last;
    return (call->sealed && call->seal_leaf > last ? call->seal_leaf : last) + 1;
}

static bool
take_lines(void *ctx, struct writ_view lines)
{
    struct writ_buf *body = ctx;

    writ_buf_put(body, lines);
    return writ_is_ok(writ_buf_check(body, NULL));
}

/* keeps (1): an agent gets the records of its own calls in the run alone */
static WRIT_RESULT
tell_bundle(struct api_request *a, struct writ_reader *reader, struct writ_arena *arena)
{
    const struct writ_generation *generation = a->request.viewer.generation;
    struct writ_bundles_order order = {.path = generation->config->store.ptr,
        .ring = generation->keyring,
        .signs_not = !is_ready(a)};
    struct round *rounds = writ_arena_get(arena, WRIT_LEDGER_API_ROUNDS_MAX * sizeof *rounds);
    struct writ_bundle_report report;
    struct writ_ledger_health health;
    size_t n = 0;

    if (rounds == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    writ_ledger_health(a->request.worker->ledger, &health);
    if (health.records > WRIT_LEDGER_API_BUNDLE_MAX) {
        return (writ_result){WRIT_E_LIMIT};
    }
    WRIT_TRY(gather(a, reader, arena, rounds, &n));
    order.least = end_of(&rounds[n - 1].call);
    order.select.tenant = rounds[n - 1].call.tenant;
    order.select.boundary_id = rounds[n - 1].call.boundary_id;
    if (a->sight.scope == WRIT_LEDGER_OWN) {
        order.select.agent_id = a->request.viewer.agent.id;
    }
    return writ_bundles_make(&order, take_lines, &a->request.body, &report, NULL);
}

static WRIT_RESULT
tell_checkpoint(struct api_request *a)
{
    writ_auto_proofs proofs = NULL;
    struct writ_tree_proof proof = {0};
    struct writ_tree_source source;
    struct writ_checkpoint head;
    struct writ_view note;
    writ_auto_buf digest = writ_buf_make(2 * WRIT_DIGEST_BYTES);

    WRIT_TRY(open_proofs(a, &proofs));
    WRIT_TRY(writ_proofs_head(proofs, &head, &note, NULL));
    source = writ_proofs_source(proofs);
    if (a->from <= head.size) {
        WRIT_TRY(writ_tree_prove_consistency(&source, a->from, head.size, &proof, NULL));
    }
    writ_write_object_begin(&a->w);
    writ_write_text(&a->w, "checkpoint", note);
    writ_write_name(&a->w, WRIT_LIT("consistency"));
    writ_write_array_begin(&a->w);
    for (size_t i = 0; i < proof.count; i++) {
        writ_buf_clear(&digest);
        writ_base64_put(&digest, writ_view(proof.digests[i].bytes, WRIT_DIGEST_BYTES));
        writ_write_string(&a->w, writ_buf_view(&digest));
    }
    writ_write_array_end(&a->w);
    writ_write_object_end(&a->w);
    return writ_write_end(&a->w, NULL);
}

/* ---- from the loop to the thread and back ---- */

static void
back_on_loop(struct writ_api_request *request)
{
    struct api_request *a = (struct api_request *)request;

    if (a->too_long) {
        writ_review_viewer_wipe(&request->viewer);
        writ_buf_wipe(&request->body);
        writ_api_answer_problem_about(request->x, 422, WRIT_REASON_MALFORMED_REQUEST,
            "too much for a bundle over HTTP: use writ ledger export");
    } else if (a->refused != WRIT_REASON_NONE) {
        writ_api_request_refuse(
            &a->request, a->refused == WRIT_REASON_PATH_UNKNOWN ? 404 : 503, a->refused);
    } else if (a->wants_bundle) {
        struct writ_buf body = request->body; /* the end of the exchange frees its arena */

        writ_review_viewer_wipe(&request->viewer);
        writ_api_answer_lines(request->x, &body);
        writ_buf_wipe(&body);
    } else {
        writ_api_request_reply(request);
    }
}

/* On the thread of the lookups. */
static void
work(struct writ_lookup *lookup, struct writ_reader *reader)
{
    struct api_request *a = lookup->ctx;
    struct writ_arena *arena = reader == NULL ? NULL : writ_arena_new(ARENA_MAX);
    writ_result result = {WRIT_E_NOMEM};

    a->w = writ_write_to(&a->request.body);
    if (arena != NULL) {
        result = a->wants_checkpoint ? tell_checkpoint(a)
                 : a->wants_receipt  ? tell_receipt(a, reader, arena)
                 : a->wants_bundle   ? tell_bundle(a, reader, arena)
                 : a->id.len > 0     ? tell_life(a, reader, arena)
                                     : list(a, reader);
    }
    a->too_long = a->wants_bundle && (result.code == WRIT_E_LIMIT || result.code == WRIT_E_BUSY);
    a->refused = result.code == WRIT_E_ABSENT ? WRIT_REASON_PATH_UNKNOWN
                 : writ_is_ok(result)         ? WRIT_REASON_NONE
                                              : WRIT_REASON_LEDGER_UNAVAILABLE;
    writ_arena_free(arena);
    writ_api_request_done(&a->request);
}

/* NULL: answered. */
static struct api_request *
begin(struct writ_exchange *x, struct writ_gateway *gateway)
{
    struct api_request *a = writ_api_request_open(x, gateway, sizeof *a, back_on_loop);

    if (a != NULL) {
        a->sight = writ_ledger_viewer_sight(&a->request.viewer);
    }
    return a;
}

static void
handle_list(struct writ_exchange *x, void *ctx)
{
    struct api_request *a = begin(x, ctx);
    struct writ_ledger_health health;

    if (a == NULL) {
        return;
    }
    writ_ledger_health(a->request.worker->ledger, &health);
    a->at = health.records;
    if (writ_ledger_list_read(x->query, x->arena, &a->list)) {
        writ_api_request_ask(&a->request, work);
    } else {
        writ_api_request_refuse(&a->request, 422, WRIT_REASON_MALFORMED_REQUEST);
    }
}

static void
handle_one(struct writ_exchange *x, void *ctx)
{
    struct api_request *a = begin(x, ctx);

    if (a == NULL) {
        return;
    }
    a->wants_receipt = writ_view_has_suffix(x->suffix, RECEIPT);
    a->wants_bundle = writ_view_has_suffix(x->suffix, BUNDLE);
    a->id = writ_view_sub(x->suffix, 0,
        x->suffix.len - (a->wants_receipt     ? RECEIPT.len
                            : a->wants_bundle ? BUNDLE.len
                                              : 0));
    if (a->id.len == 0 || a->id.len > WRIT_LEDGER_NAME_MAX) {
        writ_api_request_refuse(&a->request, 404, WRIT_REASON_PATH_UNKNOWN);
        return;
    }
    writ_api_request_ask(&a->request, work);
}

static void
handle_checkpoint(struct writ_exchange *x, void *ctx)
{
    struct api_request *a = writ_api_request_open_public(x, ctx, sizeof *a, back_on_loop);
    struct writ_view from = {NULL, 0};

    if (a == NULL) {
        return;
    }
    a->wants_checkpoint = true;
    if (!writ_is_ok(writ_query_get(x->query, WRIT_LIT("from"), NUMBER_MAX, x->arena, &from)) ||
        (from.len > 0 && !writ_is_ok(writ_text_u64(from, 0, WRIT_TREE_SIZE_MAX, &a->from)))) {
        writ_api_request_refuse(&a->request, 422, WRIT_REASON_MALFORMED_REQUEST);
        return;
    }
    writ_api_request_ask(&a->request, work);
}

void
writ_ledger_api_routes(struct writ_gateway *gateway, struct writ_route ret[WRIT_LEDGER_API_ROUTES])
{
    writ_ledger_stream_routes(gateway, ret);
    ret += WRIT_LEDGER_STREAM_ROUTES;
    ret[0] = (struct writ_route){.path = WRIT_LIT("/v1/ledger"),
        .methods = WRIT_ROUTE_GET,
        .handler = handle_list,
        .ctx = gateway};
    ret[1] = (struct writ_route){.path = WRIT_LIT("/v1/ledger/"),
        .prefix = true,
        .methods = WRIT_ROUTE_GET,
        .handler = handle_one,
        .ctx = gateway};
    ret[2] = (struct writ_route){.path = WRIT_LIT("/checkpoint"),
        .methods = WRIT_ROUTE_GET,
        .handler = handle_checkpoint,
        .ctx = gateway};
}
