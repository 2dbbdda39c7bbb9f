/* task_begin.c - a call that goes on as a task waits in the ledger under a name made of its agent,
 * its server and the task's id. */
#include "gateway/call/task_begin.h"

#define US_PER_MS 1000

/* How long the task is good, as its server says; what it does not say is as long as we wait. */
static int64_t
time_of(const struct writ_request *request, const struct writ_json *ttl_ms)
{
    int64_t most_us = writ_request_config(request)->sessions.wait_us;
    int64_t ttl = 0;

    if (!writ_is_ok(writ_json_integer(ttl_ms, 1, INT64_MAX / US_PER_MS, &ttl))) {
        return most_us;
    }
    return ttl * US_PER_MS < most_us ? ttl * US_PER_MS : most_us;
}

void
writ_task_begin_look(struct writ_request *request, const struct writ_json *result)
{
    struct writ_call *call = request->call;
    bool modern = request->message.era == WRIT_MCP_ERA_MODERN;
    const struct writ_json *task =
        modern ? result : writ_json_get_typed(result, WRIT_LIT("task"), WRIT_JSON_OBJECT);
    struct writ_view id = writ_json_string(writ_json_get(task, WRIT_LIT("taskId")));
    bool is_task =
        modern ? writ_json_is(writ_json_get(result, WRIT_LIT("resultType")), WRIT_LIT("task"))
               : writ_json_get(request->message.params, WRIT_LIT("task")) != NULL;

    if (!is_task || id.len == 0 || id.len > WRIT_TASK_BEGIN_ID_MAX ||
        !writ_is_ok(writ_ledger_task(request->agent.tenant, request->agent.id, call->upstream_name,
            id, &call->end.name, NULL))) {
        return;
    }
    call->end.waits = WRIT_WAIT_TASK;
    call->end.wait_us =
        time_of(request, writ_json_get(task, modern ? WRIT_LIT("ttlMs") : WRIT_LIT("ttl")));
}
