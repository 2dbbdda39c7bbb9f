/* Objects of the schema that would be empty are left out: most need a member at least. Texts that
 * others chose are cut and escaped (writ_text_json_safe). */
#include "evidence/event/ocsf.h"

#include "base/clock.h"
#include "base/text.h"
#include "evidence/json/write.h"

#define API_ACTIVITY      6003
#define ENTITY_MANAGEMENT 3004
#define OTHER             99
#define TYPES             100   /* type_uid = class_uid * 100 + activity_id */
#define TEXT_BYTES        12400 /* a text in escapes: twelve for a character, and quotes */
#define MS_US             1000
#define TARGET_ROLE       1

static bool
is_call(const struct writ_export_event *event)
{
    return event->source->kind == WRIT_EXPORT_DECISION ||
           event->source->kind == WRIT_EXPORT_OUTCOME;
}

static void
put_text(struct writ_write *w, const char *name, struct writ_view text)
{
    char memory[TEXT_BYTES];
    struct writ_buf safe = writ_buf_over(memory, sizeof memory);

    if (text.len > 0) {
        writ_text_json_safe(&safe, text, WRIT_OCSF_TEXT_MAX);
        writ_write_name(w, writ_view_str(name));
        writ_write_raw(w, writ_buf_view(&safe));
    }
}

static void
begin(struct writ_write *w, const char *name)
{
    writ_write_name(w, writ_view_str(name));
    writ_write_object_begin(w);
}

/* An id and its caption; for 99 the word of the record. */
static void
put_id(struct writ_write *w, const char *list, const char *id_name, int id, struct writ_view word)
{
    const char *caption = writ_export_event_caption(list, id);

    put_text(w, list, id == OTHER ? word : writ_view_str(caption != NULL ? caption : "Unknown"));
    writ_write_integer(w, id_name, id);
}

/* ---- who */

static void
put_actor(struct writ_write *w, const struct writ_export_event *event)
{
    struct writ_view user = event->by;

    if (user.len == 0 && event->agent_id.len == 0 && event->boundary_id.len == 0 &&
        !is_call(event)) {
        return;
    }
    begin(w, "actor");
    if (event->agent_id.len > 0) {
        put_text(w, "app_uid", event->agent_id);
    } else if (user.len == 0 && event->boundary_id.len == 0) {
        put_text(w, "app_name", WRIT_LIT("unknown")); /* the class requires an actor */
    }
    if (event->boundary_id.len > 0) {
        begin(w, "session");
        put_text(w, "uid", event->boundary_id);
        writ_write_object_end(w);
    }
    if (user.len > 0) {
        begin(w, "user");
        put_text(w, "uid", user);
        writ_write_object_end(w);
    }
    writ_write_object_end(w);
}

static void
put_agent(struct writ_write *w, const struct writ_export_event *event)
{
    if (event->agent_id.len > 0) {
        begin(w, "ai_agent");
        put_text(w, "name", event->agent_id);
        writ_write_integer(w, "type_id", 0);
        put_text(w, "uid", event->agent_id);
        writ_write_object_end(w);
    }
}

/* ---- a call */

static void
put_api(struct writ_write *w, const struct writ_export_event *event)
{
    begin(w, "api");
    put_text(w, "operation", event->tool.len > 0 ? event->tool : WRIT_LIT("unknown"));
    begin(w, "request");
    put_text(w, "uid", event->decision_id.len > 0 ? event->decision_id : WRIT_LIT("unknown"));
    writ_write_object_end(w);
    if (event->source->kind == WRIT_EXPORT_OUTCOME && event->reason.len > 0) {
        begin(w, "response");
        put_text(w, "error", event->reason);
        writ_write_object_end(w);
    }
    if (event->upstream.len > 0) {
        begin(w, "service");
        put_text(w, "name", event->upstream);
        writ_write_object_end(w);
    }
    writ_write_object_end(w);
}

static void
put_endpoints(struct writ_write *w, const struct writ_export_event *event)
{
    if (event->upstream.len > 0) {
        begin(w, "dst_endpoint");
        put_text(w, "svc_name", event->upstream);
        writ_write_object_end(w);
    }
    /* required; a record has no address of the client */
    begin(w, "src_endpoint");
    put_text(w, "svc_name", event->agent_id.len > 0 ? event->agent_id : WRIT_LIT("unknown"));
    writ_write_object_end(w);
}

static void
put_verdict(struct writ_write *w, const struct writ_export_event *event)
{
    const struct writ_export_meaning *meaning = event->meaning;

    if (meaning->action != 0) {
        put_id(w, "action", "action_id", meaning->action, event->word);
    }
    if (meaning->disposition != 0) {
        put_id(w, "disposition", "disposition_id", meaning->disposition, event->word);
    }
    if (event->policy_digest.len > 0) {
        begin(w, "policy");
        writ_write_flag(w, "is_applied", !event->shadow);
        put_text(w, "name", event->rule);
        put_text(w, "uid", event->policy_digest);
        writ_write_object_end(w);
    }
    if (event->trace_id.len > 0) {
        begin(w, "trace");
        put_text(w, "uid", event->trace_id);
        writ_write_object_end(w);
    }
}

/* ---- an entity */

static void
put_entity(struct writ_write *w, const struct writ_export_event *event)
{
    struct writ_view uid = event->subject;
    const char *type = "Ledger";

    if (event->source->kind == WRIT_EXPORT_REVIEW) {
        type = "Review";
        uid = event->decision_id;
    } else if (event->source->kind == WRIT_EXPORT_SEAL) {
        type = "Run";
        uid = event->boundary_id;
    } else if (writ_view_has_prefix(event->word, WRIT_LIT("kill_"))) {
        type = "Stop";
    } else if (writ_view_has_prefix(event->word, WRIT_LIT("tool_"))) {
        type = "Tool definition";
    } else if (writ_view_has_prefix(event->word, WRIT_LIT("contents_"))) {
        type = "Kept contents";
    }
    begin(w, "entity");
    put_text(w, "type", writ_view_str(type));
    put_text(w, "uid", uid.len > 0 ? uid : event->origin);
    writ_write_object_end(w);
}

/* ---- the event */

static void
put_metadata(struct writ_write *w, const struct writ_export_event *event)
{
    char memory[WRIT_OCSF_TEXT_MAX];
    struct writ_buf uid = writ_buf_over(memory, sizeof memory);
    char time[WRIT_TIME_TEXT];

    writ_time_format(event->source->time_us, time);
    begin(w, "metadata");
    put_text(w, "correlation_uid", event->decision_id);
    put_text(w, "event_code", writ_export_event_kind_name(event->source->kind));
    put_text(w, "log_name", event->origin);
    put_text(w, "original_time", writ_view_str(time));
    begin(w, "product");
    put_text(w, "name", WRIT_LIT("Writ"));
    put_text(w, "vendor_name", WRIT_LIT("Writ"));
    put_text(w, "version", WRIT_LIT(WRIT_VERSION));
    writ_write_object_end(w);
    writ_write_name(w, WRIT_LIT("profiles"));
    writ_write_raw(w, is_call(event) ? WRIT_LIT("[\"ai_operation\",\"security_control\",\"trace\"]")
                                     : WRIT_LIT("[\"ai_operation\"]"));
    writ_write_count(w, "sequence", event->source->leaf);
    put_text(w, "tenant_uid", event->tenant);
    writ_buf_put(&uid, writ_view_sub(event->origin, 0, WRIT_OCSF_TEXT_MAX / 2));
    writ_buf_byte(&uid, '/');
    writ_buf_u64(&uid, event->source->leaf);
    put_text(w, "uid", writ_buf_view(&uid));
    put_text(w, "version", WRIT_LIT(WRIT_OCSF_VERSION));
    writ_write_object_end(w);
}

static void
put_unmapped(struct writ_write *w, const struct writ_export_event *event)
{
    char hash[WRIT_DIGEST_TEXT];

    writ_digest_text(&event->leaf_hash, hash);
    begin(w, "unmapped");
    begin(w, "writ");
    put_text(w, "agent_role", event->agent_role);
    writ_write_text(w, "checkpoint", event->source->checkpoint);
    put_text(w, "constraint", event->constraint);
    put_text(w, "kind", writ_export_event_kind_name(event->source->kind));
    writ_write_count(w, "leaf", event->source->leaf);
    writ_write_text(w, "leaf_hash", writ_view_str(hash));
    put_text(w, "reason", event->reason);
    if (event->shadow) {
        writ_write_flag(w, "shadow", true);
    }
    put_text(w, "subject", event->subject);
    put_text(w, "supersedes", event->supersedes);
    put_text(w, "word", event->word);
    writ_write_object_end(w);
    writ_write_object_end(w);
}

static void
put_classification(struct writ_write *w, const struct writ_export_event *event)
{
    const struct writ_export_meaning *meaning = event->meaning;
    int class_uid = is_call(event) ? API_ACTIVITY : ENTITY_MANAGEMENT;
    const char *caption = writ_export_event_caption("activity", meaning->activity);

    writ_write_integer(w, "activity_id", meaning->activity);
    put_text(w, "activity_name",
        caption != NULL       ? writ_view_str(caption)
        : is_call(event)      ? writ_export_event_kind_name(event->source->kind)
        : event->word.len > 0 ? event->word
                              : WRIT_LIT("unknown"));
    writ_write_integer(
        w, "category_uid", is_call(event) ? API_ACTIVITY / 1000 : ENTITY_MANAGEMENT / 1000);
    writ_write_integer(w, "class_uid", class_uid);
    put_text(w, "message", writ_view_str(meaning->text));
    put_id(w, "severity", "severity_id", (int)meaning->severity, event->word);
    put_id(w, "status", "status_id", meaning->status, event->word);
    put_text(w, "status_code", event->reason);
    writ_write_integer(w, "time", event->source->time_us / MS_US);
    writ_write_integer(w, "type_uid", (int64_t)class_uid * TYPES + meaning->activity);
}

WRIT_RESULT
writ_ocsf_put(const struct writ_export_event *event, struct writ_buf *ret, struct writ_err *err)
{
    struct writ_write w = writ_write_to(ret);

    writ_write_object_begin(&w);
    put_classification(&w, event);
    put_actor(&w, event);
    put_agent(&w, event);
    if (is_call(event)) {
        put_api(&w, event);
        put_endpoints(&w, event);
        put_verdict(&w, event);
    } else {
        put_text(&w, "comment", event->comment);
        put_entity(&w, event);
    }
    put_metadata(&w, event);
    put_unmapped(&w, event);
    writ_write_object_end(&w);
    return writ_write_end(&w, err);
}
