/* tools_api.c - files are read, compared and signed on the lookups' thread: between ask and
 * back_on_loop a query belongs to it, with the arena of its exchange. That thread also makes one
 * acceptance after the other. */
#include "gateway/admin/tools_api.h"

#include "evidence/json/write.h"
#include "gateway/admin/api.h"
#include "gateway/admin/ledger_viewer.h"
#include "gateway/http/query.h"
#include "gateway/state/acceptance.h"
#include "policy/model/rule.h"

#define MAGIC          0x746f6f6cU
#define NAME_MAX_BYTES 1024

/* One query; in the arena of its exchange. */
struct api_request {
    uint32_t magic;
    struct writ_exchange *x;
    struct writ_worker *worker;
    struct writ_review_viewer viewer; /* until the answer */
    WRIT_RESULT (*tell)(struct api_request *a, struct writ_write *w);
    struct writ_view tool;
    struct writ_digest digest;
    struct writ_acceptance definitions;
    struct writ_buf body;
    writ_result result;
    struct writ_lookup lookup;
    struct writ_post post;
};

static void
put_digest(struct writ_write *w, const char *name, const struct writ_definition *definition)
{
    char digest[WRIT_DIGEST_TEXT];

    if (definition != NULL) {
        writ_digest_text(&definition->digest, digest);
        writ_write_text(w, name, writ_view_str(digest));
    }
}

static bool
is_pinned(const struct writ_tool_entry *entry)
{
    for (size_t i = 0; entry != NULL && i < entry->rules_n; i++) {
        if (entry->rules[i].pin) {
            return true;
        }
    }
    return false;
}

static void
put_tool(const struct api_request *a, struct writ_view name, struct writ_write *w)
{
    const struct writ_definition *accepted = writ_definitions_find(a->definitions.accepted, name);
    size_t slash = writ_view_find(name, '/');
    const struct writ_tool_entry *entry = writ_rule_entry(a->viewer.generation->config->policy,
        writ_view_sub(name, 0, slash), writ_view_sub(name, slash + 1, name.len));

    writ_write_object_begin(w);
    writ_write_text(w, "tool", name);
    writ_write_text(w, "state", writ_view_str(writ_acceptance_state(&a->definitions, name)));
    put_digest(w, "seen", writ_definitions_find(a->definitions.seen, name));
    put_digest(w, "accepted", accepted);
    if (accepted != NULL) {
        writ_write_text_if(w, "accepted_at", accepted->at);
    }
    writ_write_flag(w, "listed", entry != NULL);
    writ_write_flag(w, "pinned", is_pinned(entry));
    writ_write_object_end(w);
}

/* Both lists are in the order of names. */
static WRIT_RESULT
tell_all(struct api_request *a, struct writ_write *w)
{
    const struct writ_definitions *seen = a->definitions.seen, *accepted = a->definitions.accepted;

    writ_write_object_begin(w);
    writ_write_name(w, WRIT_LIT("tools"));
    writ_write_array_begin(w);
    for (size_t s = 0, t = 0; s < seen->n || t < accepted->n;) {
        int order = s == seen->n ? 1
                    : t == accepted->n
                        ? -1
                        : writ_view_compare(seen->items[s].name, accepted->items[t].name);

        put_tool(a, order <= 0 ? seen->items[s].name : accepted->items[t].name, w);
        s += order <= 0 ? 1 : 0;
        t += order >= 0 ? 1 : 0;
    }
    writ_write_array_end(w);
    writ_write_object_end(w);
    return writ_write_end(w, NULL);
}

static WRIT_RESULT
tell_difference(struct api_request *a, struct writ_write *w)
{
    writ_auto_buf text = writ_buf_make(WRIT_API_ANSWER_MAX);
    struct writ_view lines;
    size_t n = 0;

    WRIT_TRY(writ_acceptance_difference(&a->definitions, a->tool, &text, &n, NULL));
    WRIT_TRY(writ_buf_check(&text, NULL));
    writ_write_object_begin(w);
    writ_write_text(w, "tool", a->tool);
    writ_write_text(w, "state", writ_view_str(writ_acceptance_state(&a->definitions, a->tool)));
    put_digest(w, "seen", writ_definitions_find(a->definitions.seen, a->tool));
    put_digest(w, "accepted", writ_definitions_find(a->definitions.accepted, a->tool));
    writ_write_name(w, WRIT_LIT("difference"));
    writ_write_array_begin(w);
    for (lines = writ_buf_view(&text); lines.len > 0;) {
        struct writ_view line = writ_view_sub(lines, 0, writ_view_find(lines, '\n'));

        writ_write_string(w, line);
        lines = writ_view_sub(lines, line.len + 1, SIZE_MAX);
    }
    writ_write_array_end(w);
    writ_write_object_end(w);
    return writ_write_end(w, NULL);
}

static void
log_accepted(const struct api_request *a, const struct writ_definition *seen)
{
    char digest[WRIT_DIGEST_TEXT];

    writ_digest_text(&seen->digest, digest);
    WRIT_LOG(a->worker->gateway->log, WRIT_EVENT_DEFINITION_ACCEPTED,
        writ_log_text("tool", a->tool), writ_log_str("digest", digest),
        writ_log_text("who", writ_review_viewer_subject(&a->viewer)));
}

/* The one that the administrator saw: MISMATCH when another one was seen since. */
static WRIT_RESULT
tell_accepted(struct api_request *a, struct writ_write *w)
{
    const struct writ_generation *generation = a->viewer.generation;
    const struct writ_definition *seen = writ_definitions_find(a->definitions.seen, a->tool);

    if (seen == NULL) {
        return (writ_result){WRIT_E_ABSENT};
    }
    if (!writ_digest_equal(&seen->digest, &a->digest)) {
        return (writ_result){WRIT_E_MISMATCH};
    }
    WRIT_TRY(writ_acceptance_take(
        &a->definitions, seen, writ_clock_wall_us(a->worker->gateway->clock), NULL));
    WRIT_TRY(writ_definitions_save(generation->config->store.ptr, WRIT_DEFINITIONS_ACCEPTED,
        a->definitions.accepted, writ_keyring_active(generation->keyring, WRIT_KEY_PURPOSE_LEDGER),
        NULL));
    log_accepted(a, seen);
    put_tool(a, a->tool, w);
    return writ_write_end(w, NULL);
}

/* ---- from the loop to the thread and back ---- */

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
    if (a->result.code == WRIT_E_ABSENT) {
        refuse(a, 404, WRIT_REASON_PATH_UNKNOWN);
    } else if (a->result.code == WRIT_E_MISMATCH) {
        refuse(a, 409, WRIT_REASON_DEFINITION_CHANGED);
    } else if (!writ_is_ok(a->result)) {
        refuse(a, 503, WRIT_REASON_LEDGER_UNAVAILABLE);
    } else {
        struct writ_buf body = a->body; /* the end of the exchange frees its arena */

        writ_review_viewer_wipe(&a->viewer);
        writ_api_answer_json(a->x, 200, &body);
        writ_buf_wipe(&body);
    }
}

/* On the thread of the lookups. A reading that fails with MISMATCH is a fault of the files. */
static void
work(struct writ_lookup *lookup, struct writ_reader *reader)
{
    struct api_request *a = lookup->ctx;
    const struct writ_generation *generation = a->viewer.generation;
    struct writ_write w;

    a->body = writ_buf_make(WRIT_API_ANSWER_MAX);
    w = writ_write_to(&a->body);
    a->result = reader == NULL ? (writ_result){WRIT_E_IO}
                               : writ_acceptance_open(generation->config->store.ptr,
                                     generation->keyring, &a->definitions, NULL);
    if (writ_is_ok(a->result)) {
        a->result = a->tell(a, &w);
    } else {
        a->result.code = WRIT_E_IO;
    }
    writ_acceptance_wipe(&a->definitions);
    writ_loop_answer(a->worker->loop, &a->post);
}

/* NULL: answered. */
static struct api_request *
begin(struct writ_exchange *x, struct writ_gateway *gateway,
    WRIT_RESULT (*tell)(struct api_request *a, struct writ_write *w))
{
    struct api_request *a = writ_arena_get(x->arena, sizeof *a);
    enum writ_reason refused;

    if (a == NULL) {
        writ_api_answer_problem(x, 503, WRIT_REASON_OVERLOADED);
        return NULL;
    }
    *a = (struct api_request){.magic = MAGIC,
        .x = x,
        .worker = writ_gateway_worker(gateway, x->loop),
        .tell = tell,
        .lookup = {.work = work, .ctx = a},
        .post = {.fn = back_on_loop, .ctx = a}};
    refused = writ_review_viewer_ask(a->worker, x, x->arena, &a->viewer);
    if (refused != WRIT_REASON_NONE) {
        writ_api_answer_problem(x, writ_api_status(refused), refused);
        return NULL;
    }
    if (!writ_ledger_viewer_administers(&a->viewer) &&
        writ_ledger_viewer_scope(&a->viewer) == WRIT_LEDGER_OWN) {
        refuse(a, 403, WRIT_REASON_NOT_ADMINISTRATOR);
        return NULL;
    }
    return a;
}

static void
ask(struct api_request *a)
{
    if (!writ_is_ok(writ_ledger_query_ask(a->worker->gateway->queries, &a->lookup))) {
        refuse(a, 503, WRIT_REASON_OVERLOADED);
    }
}

static void
handle_all(struct writ_exchange *x, void *ctx)
{
    struct api_request *a = begin(x, ctx, tell_all);

    if (a != NULL) {
        ask(a);
    }
}

static void
handle_difference(struct writ_exchange *x, void *ctx)
{
    struct api_request *a = begin(x, ctx, tell_difference);

    if (a != NULL && (!writ_is_ok(writ_query_get(
                          x->query, WRIT_LIT("tool"), NAME_MAX_BYTES, x->arena, &a->tool)) ||
                         a->tool.len == 0)) {
        refuse(a, 422, WRIT_REASON_MALFORMED_REQUEST);
    } else if (a != NULL) {
        ask(a);
    }
}

static bool
read_accept(struct api_request *a)
{
    static const char *const known[] = {"tool", "digest", NULL};
    const struct writ_json *body = NULL;

    if (!writ_is_ok(
            writ_json_read(a->x->body, &writ_json_limits_default, a->x->arena, &body, NULL)) ||
        writ_json_type(body) != WRIT_JSON_OBJECT || !writ_json_has_only(body, known)) {
        return false;
    }
    a->tool = writ_json_string(writ_json_get(body, WRIT_LIT("tool")));
    return a->tool.len > 0 &&
           writ_is_ok(writ_digest_read(
               writ_json_string(writ_json_get(body, WRIT_LIT("digest"))), &a->digest, NULL));
}

static void
handle_accept(struct writ_exchange *x, void *ctx)
{
    struct api_request *a = begin(x, ctx, tell_accepted);

    if (a == NULL) {
        return;
    }
    if (!writ_ledger_viewer_administers(&a->viewer) || a->viewer.agent.tenant.len > 0) {
        refuse(a, 403, WRIT_REASON_NOT_ADMINISTRATOR);
    } else if (!read_accept(a)) {
        refuse(a, 422, WRIT_REASON_MALFORMED_REQUEST);
    } else {
        ask(a);
    }
}

void
writ_tools_api_routes(struct writ_gateway *gateway, struct writ_route ret[WRIT_TOOLS_API_ROUTES])
{
    ret[0] = (struct writ_route){.path = WRIT_LIT("/v1/tools"),
        .methods = WRIT_ROUTE_GET,
        .handler = handle_all,
        .ctx = gateway};
    ret[1] = (struct writ_route){.path = WRIT_LIT("/v1/tools/difference"),
        .methods = WRIT_ROUTE_GET,
        .handler = handle_difference,
        .ctx = gateway};
    ret[2] = (struct writ_route){.path = WRIT_LIT("/v1/tools/accept"),
        .methods = WRIT_ROUTE_POST,
        .json = true,
        .max_body_bytes = WRIT_TOOLS_API_BODY_MAX,
        .handler = handle_accept,
        .ctx = gateway};
}
