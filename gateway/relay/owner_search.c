/* owner_search.c - SEEK: asks the upstreams for the lists that say who owns a resource
 * (resource_owner.h): all upstreams at once, the lists of each one after the other. An upstream
 * that does not give them delays nothing for longer than any list (fanout.h). */
#include "gateway/relay/fanout.h"
#include "gateway/relay/resource_owner.h"

#include "gateway/probe/probe.h"
#include "gateway/request/refusal.h"

#include "evidence/json/write.h"

#define PAGES_MAX 64    /* of one list; the items of later ones have no owner */
#define BODY_MAX  16384 /* bytes of a request, besides its cursor */

static const struct {
    struct writ_view method, member;
} lists[] = {
    [WRIT_OWNERS_RESOURCES] = {WRIT_LIT("resources/list"), WRIT_LIT("resources")},
    [WRIT_OWNERS_TEMPLATES] = {WRIT_LIT("resources/templates/list"), WRIT_LIT("resourceTemplates")},
};

static struct writ_view
list_body(struct writ_request *request, enum writ_owners_list list, struct writ_view cursor)
{
    struct writ_buf body = writ_buf_in(request->x->arena, BODY_MAX + 6 * cursor.len);
    struct writ_write w = writ_write_to(&body);
    char id[WRIT_PROBE_ID_MAX];

    if (!writ_is_ok(writ_probe_make_id("writ-resources-", id))) {
        return (struct writ_view){NULL, 0};
    }
    writ_mcp_open_own(&w, writ_view_str(id), lists[list].method, &request->message);
    if (cursor.ptr != NULL) {
        writ_write_text(&w, "cursor", cursor);
    }
    writ_write_object_end(&w);
    writ_write_object_end(&w);
    return writ_is_ok(writ_write_end(&w, NULL)) ? writ_buf_view(&body)
                                                : (struct writ_view){NULL, 0};
}

/* False: it was not asked. */
static bool
ask(struct writ_branch *branch, enum writ_owners_list list, struct writ_view cursor)
{
    struct writ_view body = list_body(branch->request, list, cursor);

    branch->list = list;
    return body.ptr != NULL && writ_fanout_ask_own(branch->request->part, branch, body);
}

/* Asks for the first list from `list` on that is missing, if any. One that is not asked, because
 * the upstream is not part of the session or known to be silent, stays missing. */
static void
ask_from(struct writ_branch *branch, enum writ_owners_list list)
{
    static const struct writ_view begin = {NULL, 0};
    bool asked = false;

    for (; list < WRIT_OWNERS_LISTS && !asked; list++) {
        branch->pages = 0;
        asked = writ_resource_owner_lacks(
                    branch->request, writ_upstream_index(branch->upstream), list) &&
                ask(branch, list, begin);
    }
}

/* True: the list continues. */
static bool
take_page(struct writ_branch *branch)
{
    const struct writ_json *result = writ_fanout_result(branch);
    const struct writ_json *items =
        writ_json_get_typed(result, lists[branch->list].member, WRIT_JSON_ARRAY);
    const struct writ_json *cursor = writ_json_get(result, WRIT_LIT("nextCursor"));

    WRIT_JSON_EACH(item, items)
    {
        writ_resource_owner_note(branch->request, branch->upstream, item);
    }
    if (writ_json_type(cursor) == WRIT_JSON_STRING && ++branch->pages < PAGES_MAX &&
        !writ_fanout_is_long(branch) && ask(branch, branch->list, writ_json_string(cursor))) {
        return true;
    }
    /* an upstream that has no such list says so */
    writ_resource_owner_read(branch->request, branch->upstream, branch->list,
        !writ_fanout_gave_nothing(branch) && writ_json_type(cursor) != WRIT_JSON_STRING);
    return false;
}

static bool
start(struct writ_request *request)
{
    struct writ_fanout *fanout = writ_fanout_make(request, 0, WRIT_STEP_SEEK);

    for (size_t i = 0; fanout != NULL && i < fanout->n; i++) {
        ask_from(&fanout->branches[i], WRIT_OWNERS_RESOURCES);
    }
    return fanout != NULL;
}

enum writ_step
writ_owner_search(struct writ_request *request)
{
    struct writ_fanout *fanout = request->part;

    if (!request->sought) {
        request->sought = true;
        return start(request) ? writ_fanout_wait(request)
                              : writ_refusal_http(request, 503, WRIT_RPC_INTERNAL_ERROR,
                                    WRIT_REASON_OVERLOADED, NULL);
    }
    for (size_t i = 0; i < fanout->n; i++) {
        struct writ_branch *branch = &fanout->branches[i];

        if (branch->asking) {
            branch->asking = false;
            if (!take_page(branch)) {
                ask_from(branch, branch->list + 1);
            }
        }
    }
    if (fanout->open > 0) {
        return writ_fanout_wait(request);
    }
    writ_fanout_wipe(request);
    return WRIT_STEP_PASS;
}
