/* Requests of workers. The lines that they lead to are appended to one text; they stand behind the
 * events of the session, and are part of the log like those. */
#include "gateway/crews/agent_exchange.h"

#include "base/utf8.h"
#include "gateway/crews/event.h"
#include "crew/vec.h"
#include "evidence/json/write.h"

#define TEXT_MAX ((size_t)1 << 30)

static const char *const for_workers[] = {
    "pool.answered", "pool.insight", "agent.action.resolved", "agent.message"};

bool
writ_agent_exchange_is_for_worker(const struct writ_json *event)
{
    for (size_t at = 0; at < sizeof for_workers / sizeof *for_workers; at++) {
        if (writ_event_is(event, for_workers[at])) {
            return true;
        }
    }
    return false;
}

bool
writ_agent_exchange_is_request(const struct writ_json *line)
{
    return writ_view_has_prefix(writ_event_text(line, "type"), WRIT_LIT("pool.")) ||
           writ_event_is(line, "agent.action.requested");
}

void
writ_agent_exchange_wipe(struct writ_agent_exchange *exchange)
{
    writ_buf_wipe(&exchange->text);
    writ_free(exchange->ends);
    writ_free(exchange->lines);
}

/* ---- lines */

static struct writ_write
begin(struct writ_agent_exchange *exchange)
{
    struct writ_write w = writ_write_to(&exchange->text);

    w.sorted = true;
    writ_write_object_begin(&w);
    return w;
}

static void
end(struct writ_agent_exchange *exchange, struct writ_write *w, const char *type)
{
    writ_write_number(w, "ts", exchange->now_ms);
    writ_write_text(w, "type", writ_view_str(type));
    writ_write_object_end(w);
    if (!writ_is_ok(writ_write_end(w, NULL)) ||
        !writ_is_ok(writ_vec_room(
            &exchange->ends, &exchange->ends_cap, exchange->ends_n, sizeof *exchange->ends))) {
        exchange->exhausted = true;
        return;
    }
    exchange->ends[exchange->ends_n++] = exchange->text.len;
}

static void
put_value(struct writ_write *w, const struct writ_json *object, const char *member)
{
    writ_auto_buf text = writ_buf_make(TEXT_MAX);
    struct writ_view value = writ_event_json(object, member, &text);

    if (value.ptr != NULL) {
        writ_write_name(w, writ_view_str(member));
        writ_write_raw(w, value);
    }
}

static void
put_error(struct writ_write *w, const char *error, const char *message)
{
    struct writ_view text = writ_view_str(message);

    writ_write_name(w, WRIT_LIT("error"));
    writ_write_object_begin(w);
    writ_write_text(w, "code", writ_view_str(error));
    writ_write_text(w, "message",
        writ_utf8_is_valid(text, NULL) ? text : WRIT_LIT("the request has a text that is cut"));
    writ_write_object_end(w);
}

/* ---- the pool */

static void
take_insight(void *user, struct writ_view agent_id, struct writ_view insight)
{
    struct writ_agent_exchange *exchange = user;
    struct writ_write w = begin(exchange);

    writ_write_text(&w, "agentId", agent_id);
    writ_write_name(&w, WRIT_LIT("insight"));
    writ_write_raw(&w, insight);
    end(exchange, &w, "pool.insight");
}

static WRIT_RESULT
take_pool(struct writ_agent_exchange *exchange, struct writ_view agent_id,
    const struct writ_json *message, struct writ_view text, struct writ_err *err)
{
    const struct writ_crew_pool_reader reader = {take_insight, exchange};
    struct writ_crew_value *result = NULL;
    struct writ_crew_err below = {0};
    struct writ_write w;
    writ_result done = {WRIT_E_ABSENT};

    if (exchange->pool != NULL) {
        done = writ_crew_pool_request(exchange->pool, agent_id, text, &reader, &result, &below);
    }
    if (done.code == WRIT_E_NOMEM) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    w = begin(exchange);
    writ_write_text(&w, "agentId", agent_id);
    put_value(&w, message, "correlationId");
    if (exchange->pool == NULL) {
        put_error(&w, "no_pool", "the crew has no pool");
    } else if (!writ_is_ok(done)) {
        put_error(&w, writ_crew_error_name(below.error), below.err.text);
    }
    put_value(&w, message, "id");
    writ_write_text(&w, "request", writ_event_text(message, "type"));
    if (result != NULL) {
        writ_write_name(&w, WRIT_LIT("result"));
        writ_write_raw(&w, writ_crew_value_text(result));
    }
    end(exchange, &w, "pool.answered");
    writ_crew_value_free(result);
    return WRIT_DONE;
}

/* ---- actions */

/* The answer, and what the other agent gets. */
static void
put_action(struct writ_agent_exchange *exchange, struct writ_view agent_id,
    const struct writ_json *message, bool allowed, const char *wrong)
{
    struct writ_write w = begin(exchange);

    put_value(&w, message, "action");
    writ_write_text(&w, "agentId", agent_id);
    writ_write_flag(&w, "allowed", allowed);
    put_value(&w, message, "correlationId");
    if (wrong != NULL) {
        put_error(&w, "schema", wrong);
    }
    put_value(&w, message, "id");
    put_value(&w, message, "to");
    end(exchange, &w, "agent.action.resolved");
    if (!allowed || writ_json_get(message, WRIT_LIT("message")) == NULL) {
        return;
    }
    w = begin(exchange);
    put_value(&w, message, "action");
    writ_write_text(&w, "agentId", writ_event_text(message, "to"));
    writ_write_text(&w, "from", agent_id);
    put_value(&w, message, "message");
    end(exchange, &w, "agent.message");
}

static const char *
fault_of(const struct writ_json *message, enum writ_crew_action *ret)
{
    static const char *const known[] = {"type", "correlationId", "id", "action", "to", "message"};

    if (!writ_crew_action_read(writ_event_text(message, "action"), ret)) {
        return "/action: must be talk_to, delegate_to or escalate_to";
    }
    if (writ_event_text(message, "to").ptr == NULL) {
        return "/to: must be the id of an agent";
    }
    WRIT_JSON_EACH(name, message)
    {
        bool found = false;
        for (size_t at = 0; at < sizeof known / sizeof *known; at++) {
            found |= writ_view_is(writ_json_string(name), known[at]);
        }
        if (!found) {
            return "a member that an action does not have";
        }
    }
    return NULL;
}

static WRIT_RESULT
take_action(struct writ_agent_exchange *exchange, struct writ_crew_session *session,
    struct writ_view agent_id, const struct writ_json *message, struct writ_crew_events *ret,
    struct writ_err *err)
{
    enum writ_crew_action action = WRIT_CREW_TALK_TO;
    const char *wrong = fault_of(message, &action);
    struct writ_crew_err below = {0};
    bool allowed = false;

    if (wrong == NULL) {
        writ_result acted =
            writ_crew_session_act(session, writ_event_text(message, "correlationId"),
                writ_event_text(message, "to"), action, &allowed, ret, &below);
        if (!writ_is_ok(acted)) {
            return writ_fail(
                err, acted.code, "%s: %s", writ_crew_error_name(below.error), below.err.text);
        }
    }
    put_action(exchange, agent_id, message, allowed, wrong);
    return WRIT_DONE;
}

/* ---- all of them */

static bool
list_line(struct writ_agent_exchange *exchange, struct writ_view line)
{
    if (!writ_is_ok(writ_vec_room(
            &exchange->lines, &exchange->lines_cap, exchange->lines_n, sizeof *exchange->lines))) {
        return false;
    }
    exchange->lines[exchange->lines_n++] = line;
    return true;
}

static WRIT_RESULT
list_lines(struct writ_agent_exchange *exchange, struct writ_crew_events before,
    struct writ_crew_events *ret, struct writ_err *err)
{
    bool listed = !exchange->exhausted;
    size_t from = 0;

    exchange->lines_n = 0;
    for (size_t at = 0; listed && at < before.n; at++) {
        listed = list_line(exchange, before.list[at]);
    }
    for (size_t at = 0; listed && at < exchange->ends_n; at++) {
        listed = list_line(exchange,
            writ_view_sub(writ_buf_view(&exchange->text), from, exchange->ends[at] - from));
        from = exchange->ends[at];
    }
    if (!listed) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    *ret = (struct writ_crew_events){exchange->lines, exchange->lines_n};
    return WRIT_DONE;
}

WRIT_RESULT
writ_agent_exchange_take(struct writ_agent_exchange *exchange, struct writ_crew_session *session,
    double now_ms, struct writ_view agent_id, const struct writ_json *message,
    struct writ_view text, struct writ_crew_events *ret, struct writ_err *err)
{
    struct writ_crew_events before = {NULL, 0};

    writ_buf_wipe(&exchange->text);
    exchange->text = writ_buf_make(TEXT_MAX);
    exchange->ends_n = 0;
    exchange->now_ms = now_ms;
    if (writ_event_is(message, "agent.action.requested")) {
        WRIT_TRY(take_action(exchange, session, agent_id, message, &before, err));
    } else {
        WRIT_TRY(take_pool(exchange, agent_id, message, text, err));
    }
    return list_lines(exchange, before, ret, err);
}
