/* tools_api.c - files are read, compared and signed on the lookups' thread, which makes one
 * acceptance after the other. */
#include "gateway/admin/tools_api.h"

#include "gateway/admin/api_view.h"
#include "gateway/admin/ledger_viewer.h"
#include "gateway/http/query.h"
#include "gateway/io/program_files.h"
#include "gateway/mcp/odd.h"
#include "gateway/state/acceptance.h"
#include "policy/model/rule.h"

#define NAME_MAX_BYTES 1024

/* One query; in the arena of its exchange. */
struct tools_view {
    struct writ_api_view view;
    WRIT_RESULT (*put)(struct tools_view *a, struct writ_write *w);
    struct writ_view tool;
    struct writ_digest digest;
    bool odd; /* the administrator knows that it is odd */
    struct writ_acceptance definitions;
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

/* The kinds of oddities, and whether the definition is withheld for them. */
static void
put_odd(const struct tools_view *a, struct writ_view name, struct writ_write *w)
{
    const struct writ_config *config = a->view.request.viewer.generation->config;
    unsigned odd = writ_acceptance_odd(&a->definitions, config, name);

    writ_write_flag(w, "withheld", writ_acceptance_withheld(config, name, odd) != 0);
    writ_write_flag(w, "refused", writ_odd_refused(&config->definitions, odd) != 0);
    writ_odd_write(w, odd);
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
put_tool(const struct tools_view *a, struct writ_view name, struct writ_write *w)
{
    const struct writ_definition *accepted = writ_definitions_find(a->definitions.accepted, name);
    size_t slash = writ_view_find(name, '/');
    const struct writ_tool_entry *entry =
        writ_rule_entry(a->view.request.viewer.generation->config->policy,
            writ_view_sub(name, 0, slash), writ_view_sub(name, slash + 1, name.len));

    writ_write_object_begin(w);
    writ_write_text(w, "tool", name);
    writ_write_text(w, "state", writ_view_str(writ_acceptance_state(&a->definitions, name)));
    put_digest(w, "seen", writ_definitions_find(a->definitions.seen, name));
    put_digest(w, "accepted", accepted);
    if (accepted != NULL) {
        writ_write_text_if(w, "accepted_at", accepted->at);
    }
    put_odd(a, name, w);
    writ_write_flag(w, "listed", entry != NULL);
    writ_write_flag(w, "pinned", is_pinned(entry));
    writ_write_object_end(w);
}

/* Both lists are in the order of names. */
static WRIT_RESULT
put_all(struct tools_view *a, struct writ_write *w)
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

        struct writ_view name = order <= 0 ? seen->items[s].name : accepted->items[t].name;

        if (!writ_program_files_is_entry(name)) {
            put_tool(a, name, w);
        }
        s += order <= 0 ? 1 : 0;
        t += order >= 0 ? 1 : 0;
    }
    writ_write_array_end(w);
    writ_write_object_end(w);
    return WRIT_DONE;
}

static WRIT_RESULT
put_difference(struct tools_view *a, struct writ_write *w)
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
    put_odd(a, a->tool, w);
    writ_write_name(w, WRIT_LIT("difference"));
    writ_write_array_begin(w);
    for (lines = writ_buf_view(&text); lines.len > 0;) {
        struct writ_view line = writ_view_sub(lines, 0, writ_view_find(lines, '\n'));

        writ_write_string(w, line);
        lines = writ_view_sub(lines, line.len + 1, SIZE_MAX);
    }
    writ_write_array_end(w);
    writ_write_object_end(w);
    return WRIT_DONE;
}

static void
log_accepted(const struct tools_view *a, const struct writ_definition *seen)
{
    char digest[WRIT_DIGEST_TEXT];

    writ_digest_text(&seen->digest, digest);
    WRIT_LOG(a->view.request.worker->gateway->log, WRIT_EVENT_DEFINITION_ACCEPTED,
        writ_log_text("tool", a->tool), writ_log_str("digest", digest),
        writ_log_text("who", writ_review_viewer_subject(&a->view.request.viewer)));
}

/* The one that the administrator saw: MISMATCH when another one was seen since. */
static WRIT_RESULT
put_accepted(struct tools_view *a, struct writ_write *w)
{
    const struct writ_generation *generation = a->view.request.viewer.generation;
    const struct writ_definition *seen = writ_definitions_find(a->definitions.seen, a->tool);
    unsigned odd;

    if (seen == NULL) {
        return (writ_result){WRIT_E_ABSENT};
    }
    if (!writ_digest_equal(&seen->digest, &a->digest)) {
        return (writ_result){WRIT_E_MISMATCH};
    }
    odd = writ_acceptance_odd(&a->definitions, generation->config, a->tool);
    if (!writ_is_ok(writ_acceptance_permit(generation->config, a->tool, odd, a->odd, NULL))) {
        a->view.reason = WRIT_REASON_DEFINITION_ODD;
        return (writ_result){WRIT_E_INVALID};
    }
    WRIT_TRY(writ_acceptance_take(
        &a->definitions, seen, writ_clock_wall_us(a->view.request.worker->gateway->clock), NULL));
    WRIT_TRY(writ_definitions_save(generation->config->files.ptr, WRIT_DEFINITIONS_ACCEPTED,
        a->definitions.accepted, writ_keyring_active(generation->keyring, WRIT_KEY_PURPOSE_LEDGER),
        NULL));
    log_accepted(a, seen);
    put_tool(a, a->tool, w);
    return WRIT_DONE;
}

/* ---- from the loop to the thread and back ---- */

/* A reading that fails with MISMATCH is a fault of the files. */
static WRIT_RESULT
tell(struct writ_api_view *view, struct writ_reader *reader, struct writ_arena *arena)
{
    struct tools_view *a = (struct tools_view *)(void *)view;
    const struct writ_generation *generation = view->request.viewer.generation;
    writ_result result =
        writ_acceptance_open(generation->config, generation->keyring, &a->definitions, NULL);

    (void)reader;
    (void)arena;
    if (writ_is_ok(result)) {
        result = a->put(a, &view->w);
    } else {
        result.code = WRIT_E_IO;
    }
    writ_acceptance_wipe(&a->definitions);
    return result;
}

/* NULL: answered. */
static struct tools_view *
open_view(struct writ_exchange *x, struct writ_gateway *gateway,
    WRIT_RESULT (*put)(struct tools_view *a, struct writ_write *w))
{
    struct tools_view *a = writ_api_view_open(x, gateway, sizeof *a, tell);

    if (a == NULL || !writ_api_view_may_oversee(&a->view)) {
        return NULL;
    }
    a->put = put;
    return a;
}

static void
handle_all(struct writ_exchange *x, void *ctx)
{
    struct tools_view *a = open_view(x, ctx, put_all);

    if (a != NULL) {
        writ_api_view_ask(&a->view);
    }
}

static void
handle_difference(struct writ_exchange *x, void *ctx)
{
    struct tools_view *a = open_view(x, ctx, put_difference);

    if (a == NULL) {
        return;
    }
    if (!writ_is_ok(
            writ_query_get(x->query, WRIT_LIT("tool"), NAME_MAX_BYTES, x->arena, &a->tool)) ||
        a->tool.len == 0) {
        writ_api_request_refuse(&a->view.request, 422, WRIT_REASON_MALFORMED_REQUEST);
    } else {
        writ_api_view_ask(&a->view);
    }
}

static bool
read_accept(struct tools_view *a)
{
    static const char *const known[] = {"tool", "digest", "odd", NULL};
    const struct writ_json *body = NULL;

    if (!writ_is_ok(writ_json_read(a->view.request.x->body, &writ_json_limits_default,
            a->view.request.x->arena, &body, NULL)) ||
        writ_json_type(body) != WRIT_JSON_OBJECT || !writ_json_has_only(body, known)) {
        return false;
    }
    a->tool = writ_json_string(writ_json_get(body, WRIT_LIT("tool")));
    a->odd = writ_json_is_true(body, WRIT_LIT("odd"));
    return a->tool.len > 0 &&
           writ_is_ok(writ_digest_read(
               writ_json_string(writ_json_get(body, WRIT_LIT("digest"))), &a->digest, NULL));
}

static void
handle_accept(struct writ_exchange *x, void *ctx)
{
    struct tools_view *a = open_view(x, ctx, put_accepted);

    if (a == NULL) {
        return;
    }
    if (!writ_ledger_viewer_administers(&a->view.request.viewer) ||
        a->view.request.viewer.agent.tenant.len > 0) {
        writ_api_request_refuse(&a->view.request, 403, WRIT_REASON_NOT_ADMINISTRATOR);
    } else if (!read_accept(a)) {
        writ_api_request_refuse(&a->view.request, 422, WRIT_REASON_MALFORMED_REQUEST);
    } else {
        writ_api_view_ask(&a->view);
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
