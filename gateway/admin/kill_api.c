/* kill_api.c - reads a stop, checks that the caller may pull it, and pulls it: in force first, then
 * recorded. A stop of a credential needs the decision for which it was issued; the lookup thread
 * reads that from the ledger. Introspection answers only whether a credential is active. */
#include "gateway/admin/kill_api.h"

#include "base/text.h"
#include "evidence/credential/credential.h"
#include "evidence/record/extension.h"
#include "evidence/record/record.h"
#include "gateway/admin/kill_confirm.h"
#include "gateway/admin/kill_known.h"
#include "gateway/admin/kill_preview.h"
#include "gateway/admin/ledger_viewer.h"
#include "gateway/notify/notify.h"
#include "gateway/upstream/upstream.h"
#include "policy/decide/approval.h"
#include "store/ledger/ledger.h"

#define US_PER_S INT64_C(1000000)
#define OVER_US  ((WRIT_CREDENTIAL_LIFETIME_MAX_S + WRIT_CREDENTIAL_SKEW_MAX_S) * US_PER_S)
#define LIFT     "/lift"
#define PREVIEW  "preview"

/* One request, in the arena of its exchange. */
struct kill_request {
    struct writ_api_request request;
    struct writ_kill kill;
    char id[WRIT_ID_TEXT]; /* of a stop that was pulled */
    struct writ_buf data;  /* of its record, or of its lift */
    bool durable, known;   /* the stop was pulled */
    uint64_t leaf;         /* of its record, or of its lift */
    struct writ_kill_confirm confirm;

    /* of a stop of a credential, from its decision */
    struct writ_kill_call issued;
    int64_t issued_us;
    enum writ_code code; /* ABSENT: no such credential was issued, or not for this tenant */
};

static void
refuse(struct kill_request *a, unsigned status, enum writ_reason reason)
{
    writ_api_request_refuse(&a->request, status, reason);
}

static bool
is_administrator(const struct writ_api_request *request)
{
    return writ_ledger_viewer_administers(&request->viewer);
}

static const struct writ_config *
config_of(const struct writ_api_request *request)
{
    return request->viewer.generation->config;
}

/* ---- stops */

static void
list(struct kill_request *a)
{
    struct writ_write w = writ_write_to(&a->request.body);

    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("kills"));
    writ_stop_rules_put(a->request.worker->gateway->stop_rules, a->request.viewer.agent.tenant, &w);
    writ_write_object_end(&w);
    writ_api_request_reply(&a->request);
}

/* A text that a person reads, or a name: no control characters. */
static bool
read_text(const struct writ_json *body, struct writ_view name, size_t max, struct writ_view *ret)
{
    const struct writ_json *value = writ_json_get(body, name);

    *ret = writ_json_string(value);
    for (size_t i = 0; i < ret->len; i++) {
        if ((unsigned char)ret->ptr[i] < 0x20 || ret->ptr[i] == 0x7f) {
            return false;
        }
    }
    return value == NULL || (ret->ptr != NULL && ret->len > 0 && ret->len <= max);
}

/* "upstream/tool", complete, of a configured upstream or framework. A pattern or an unknown name is
 * refused, because it would stop nothing. */
static bool
is_tool_name(const struct writ_api_request *request, struct writ_view value)
{
    struct writ_view upstream = writ_view_sub(value, 0, writ_view_find(value, '/'));

    return upstream.len + 1 < value.len && writ_view_find(value, '*') == value.len &&
           (writ_upstream_find(request->worker->gateway, upstream) != NULL ||
               writ_config_framework(config_of(request), upstream) != NULL);
}

/* The members that only the stop itself needs are missing in a preview. An unknown member could
 * have restricted the stop. */
static bool
read_kill(const struct writ_api_request *request, bool is_preview, struct writ_kill *ret)
{
    static const char *const known[] = {"by", "value", "tenant", "reason", NULL};
    const struct writ_json *body = NULL;
    struct writ_view by;

    if (!writ_is_ok(writ_json_read(
            request->x->body, &writ_json_limits_default, request->x->arena, &body, NULL)) ||
        writ_json_type(body) != WRIT_JSON_OBJECT || !writ_json_has_only(body, known) ||
        !read_text(body, WRIT_LIT("by"), WRIT_STOP_RULES_TEXT_MAX, &by) ||
        !read_text(body, WRIT_LIT("value"), WRIT_STOP_RULES_TEXT_MAX, &ret->value) ||
        !read_text(body, WRIT_LIT("tenant"), WRIT_STOP_RULES_TEXT_MAX, &ret->tenant) ||
        !read_text(body, WRIT_LIT("reason"), WRIT_STOP_RULES_REASON_MAX, &ret->reason)) {
        return false;
    }
    ret->by = writ_kill_by_find(by);
    return ret->by != WRIT_KILL_NONE && ret->value.len > 0 && (is_preview || ret->reason.len > 0) &&
           (ret->by != WRIT_KILL_POLICY || writ_digest_is(ret->value)) &&
           (ret->by != WRIT_KILL_TOOL || is_tool_name(request, ret->value));
}

/* An administrator of a tenant stops only calls of that tenant. */
static bool
is_within(struct writ_view tenant, struct writ_kill *kill)
{
    if (tenant.len == 0) {
        return true;
    }
    if (kill->by == WRIT_KILL_POLICY ||
        (kill->by == WRIT_KILL_TENANT && !writ_view_equal(kill->value, tenant)) ||
        (kill->tenant.len > 0 && !writ_view_equal(kill->tenant, tenant))) {
        return false;
    }
    kill->tenant = tenant;
    return true;
}

/* Reads the stop that the caller may pull. False: it was refused. */
static bool
accept_kill(struct writ_api_request *request, bool is_preview, struct writ_kill *ret)
{
    const struct writ_agent *agent = &request->viewer.agent;

    *ret = (struct writ_kill){.who = writ_approval_subject(agent)};
    if (!is_administrator(request)) {
        writ_api_request_refuse(request, 403, WRIT_REASON_NOT_ADMINISTRATOR);
        return false;
    }
    if (!read_kill(request, is_preview, ret)) {
        writ_api_request_refuse(request, 422, WRIT_REASON_KILL_MALFORMED);
        return false;
    }
    if (!is_within(agent->tenant, ret)) {
        writ_api_request_refuse(request, 403, WRIT_REASON_NOT_ADMINISTRATOR);
        return false;
    }
    return true;
}

static void
tell(const struct kill_request *a, enum writ_event event)
{
    const struct writ_kill *kill = &a->kill;

    WRIT_LOG(a->request.worker->gateway->log, event, writ_log_text("id", kill->id),
        writ_log_text("by", writ_kill_by_name(kill->by)), writ_log_text("value", kill->value),
        writ_log_text("tenant", kill->tenant), writ_log_text("who", kill->who));
}

static void
answer_pulled(struct kill_request *a)
{
    writ_auto_buf stops = writ_buf_make(WRIT_API_ANSWER_MAX);
    struct writ_write w = writ_write_to(&a->request.body);

    writ_kill_known_put(&a->kill, &stops);
    writ_write_object_begin(&w);
    writ_write_text(&w, "id", a->kill.id);
    writ_write_flag(&w, "durable", a->durable);
    writ_write_text(&w, "stops", writ_buf_view(&stops));
    writ_write_flag(&w, "known", a->known);
    writ_kill_confirm_put(&a->confirm, &w);
    writ_write_object_end(&w);
    writ_api_request_reply(&a->request);
}

/* ---- after the record: whether what is stopped was ever seen, and who else knows of the stop. It
 * works meanwhile */

static bool
is_shared(const struct kill_request *a)
{
    return writ_ledger_is_shared(a->request.worker->gateway->ledger);
}

static void
confirm(struct kill_request *a, struct writ_reader *reader)
{
    if (is_shared(a)) {
        writ_kill_confirm_wait(a->request.worker->gateway, reader, a->durable, a->leaf,
            a->request.x->arena, &a->confirm);
    }
}

static void
seen(struct writ_api_request *request)
{
    struct kill_request *a = (struct kill_request *)(void *)request;

    if (!a->known) {
        WRIT_LOG(request->worker->gateway->log, WRIT_EVENT_KILL_UNKNOWN,
            writ_log_text("id", a->kill.id), writ_log_text("by", writ_kill_by_name(a->kill.by)),
            writ_log_text("value", a->kill.value), writ_log_text("tenant", a->kill.tenant));
    }
    answer_pulled(a);
}

/* On the thread of the lookups. */
static void
look(struct writ_lookup *lookup, struct writ_reader *reader)
{
    struct kill_request *a = lookup->ctx;

    a->known = a->known || writ_kill_known_is_seen(reader, &a->kill);
    confirm(a, reader);
    writ_api_request_done(&a->request);
}

/* Its record is on disk, or cannot be. */
static void
pulled(struct writ_api_request *request)
{
    struct kill_request *a = (struct kill_request *)(void *)request;
    struct writ_gateway *gateway = request->worker->gateway;

    a->durable = request->entry.code == WRIT_OK;
    a->leaf = request->entry.fact.leaf;
    writ_stop_rules_pulled(gateway->stop_rules, &a->kill, a->durable);
    if (!a->durable) {
        WRIT_LOG(gateway->log, WRIT_EVENT_KILL_NOT_DURABLE, writ_log_text("id", a->kill.id),
            writ_log_str("why", "the ledger could not record it"));
    }
    a->confirm.confirmed = !is_shared(a);
    a->known = writ_kill_known_is_configured(config_of(request), &a->kill);
    request->back = seen;
    if ((a->known && !is_shared(a)) || !writ_is_ok(writ_api_request_try(request, look))) {
        a->known = true; /* nothing was found that says otherwise */
        answer_pulled(a);
    }
}

/* The loop does not wait for the record, and other loops obey the stop meanwhile. */
static void
record(struct kill_request *a, enum writ_fact_event event,
    void (*back)(struct writ_api_request *request))
{
    a->request.entry = (struct writ_entry){
        .kind = WRIT_ENTRY_FACT, .fact = {.event = event, .data = writ_buf_view(&a->data)}};
    a->request.back = back;
    writ_api_request_submit(&a->request);
}

static void
pull(struct kill_request *a)
{
    struct writ_gateway *gateway = a->request.worker->gateway;
    writ_result result;

    a->data = writ_buf_in(a->request.x->arena, WRIT_API_ANSWER_MAX);
    result = writ_stop_rules_pull(gateway->stop_rules, &a->kill, a->id, &a->data, NULL);
    if (result.code == WRIT_E_INVALID) {
        refuse(a, 422, WRIT_REASON_KILL_MALFORMED);
        return;
    }
    if (!writ_is_ok(result) && result.code != WRIT_E_IO) { /* it stops nothing */
        refuse(a, 503, WRIT_REASON_OVERLOADED);
        return;
    }
    tell(a, WRIT_EVENT_KILL_PULLED);
    writ_notify_stop(gateway->notify, true, &a->kill);
    if (writ_is_ok(result)) {
        record(a, WRIT_FACT_KILL_PULLED, pulled);
    } else {
        a->request.entry.code = result.code;
        pulled(&a->request);
    }
}

/* ---- stops of one credential: what it was issued for is in the ledger */

static void
found(struct writ_api_request *request)
{
    struct kill_request *a = (struct kill_request *)(void *)request;

    if (a->code == WRIT_E_ABSENT) {
        refuse(a, 404, WRIT_REASON_AUTHORIZATION_UNKNOWN);
    } else if (a->code != WRIT_OK) {
        refuse(a, 503, WRIT_REASON_LEDGER_UNAVAILABLE);
    } else if (a->issued_us + OVER_US < writ_clock_wall_us(request->worker->gateway->clock)) {
        refuse(a, 409, WRIT_REASON_EXPIRED);
    } else {
        a->kill.issued = &a->issued;
        pull(a);
    }
}

/* Reads the call from the decision; WRIT_E_ABSENT when it granted none. */
static WRIT_RESULT
read_issued(struct kill_request *a, const struct writ_reader_call *call)
{
    struct writ_arena *arena = a->request.x->arena;
    const struct writ_json *value = NULL;
    struct writ_extension extension = {0};
    struct writ_decision d = {0};

    WRIT_TRY(writ_json_read(call->decision, &writ_json_limits_default, arena, &value, NULL));
    WRIT_TRY(writ_decision_read(value, arena, &d, NULL));
    WRIT_TRY(writ_extension_read(&d.extensions, arena, &extension, NULL));
    if (!writ_decision_is(&d, WRIT_DECISION_ALLOW) && extension.shadow.is != WRIT_PRESENT) {
        return (writ_result){WRIT_E_ABSENT};
    }
    WRIT_TRY(writ_time_read(d.issued_at.view, &a->issued_us));
    a->issued = (struct writ_kill_call){
        .agent_id = d.agent_id.view,
        .tenant = call->tenant,
        .upstream = extension.upstream.view,
        .tool = d.tool.view,
        .policy = d.policy_digest.view,
        .decision_id = d.decision_id.view,
    };
    return WRIT_DONE;
}

/* On the thread of the lookups. */
static void
find(struct writ_lookup *lookup, struct writ_reader *reader)
{
    struct kill_request *a = lookup->ctx;
    struct writ_reader_call call = {0};
    writ_result result = {WRIT_E_IO};

    if (reader != NULL) {
        result = writ_reader_show(reader, a->kill.value, a->request.x->arena, &call, NULL);
    }
    if (writ_is_ok(result) && a->kill.tenant.len > 0 &&
        !writ_view_equal(a->kill.tenant, call.tenant)) {
        result.code = WRIT_E_ABSENT;
    }
    if (writ_is_ok(result)) {
        result = read_issued(a, &call);
    }
    a->code = result.code;
    writ_api_request_done(&a->request);
}

static void
begin_pull(struct kill_request *a)
{
    if (!accept_kill(&a->request, false, &a->kill)) {
        return;
    }
    if (a->kill.by == WRIT_KILL_CREDENTIAL) {
        writ_api_request_ask(&a->request, find);
    } else {
        pull(a);
    }
}

static void
handle_all(struct writ_exchange *x, void *ctx)
{
    struct kill_request *a = writ_api_request_open(x, ctx, sizeof *a, found);

    if (a == NULL) {
        return;
    }
    if (x->method != WRIT_METHOD_GET) {
        begin_pull(a);
    } else if (!writ_ledger_viewer_reads_policy(&a->request.viewer)) {
        refuse(a, 403, WRIT_REASON_NOT_ADMINISTRATOR);
    } else {
        list(a);
    }
}

/* The body may be empty, or have a reason. */
static bool
read_lift(struct kill_request *a, struct writ_view *ret_reason)
{
    static const char *const known[] = {"reason", NULL};
    const struct writ_exchange *x = a->request.x;
    const struct writ_json *body = NULL;

    return x->body.len == 0 ||
           (writ_is_ok(writ_json_read(x->body, &writ_json_limits_default, x->arena, &body, NULL)) &&
               writ_json_type(body) == WRIT_JSON_OBJECT && writ_json_has_only(body, known) &&
               read_text(body, WRIT_LIT("reason"), WRIT_STOP_RULES_REASON_MAX, ret_reason));
}

static void
answer_lifted(struct writ_api_request *request)
{
    struct kill_request *a = (struct kill_request *)(void *)request;
    struct writ_write w = writ_write_to(&a->request.body);

    writ_write_object_begin(&w);
    writ_write_text(&w, "id", a->kill.id);
    writ_kill_confirm_put(&a->confirm, &w);
    writ_write_object_end(&w);
    writ_api_request_reply(&a->request);
}

/* On the thread of the lookups. */
static void
look_after_lift(struct writ_lookup *lookup, struct writ_reader *reader)
{
    struct kill_request *a = lookup->ctx;

    confirm(a, reader);
    writ_api_request_done(&a->request);
}

/* Its lift is on disk, or cannot be. */
static void
lifted(struct writ_api_request *request)
{
    struct kill_request *a = (struct kill_request *)(void *)request;
    struct writ_gateway *gateway = request->worker->gateway;

    if (request->entry.code != WRIT_OK) {
        refuse(a, 503, WRIT_REASON_LEDGER_UNAVAILABLE);
        return;
    }
    writ_stop_rules_lifted(gateway->stop_rules, a->kill.id);
    tell(a, WRIT_EVENT_KILL_LIFTED);
    writ_notify_stop(gateway->notify, false, &a->kill);
    a->durable = true;
    a->leaf = request->entry.fact.leaf;
    a->confirm.confirmed = !is_shared(a);
    request->back = answer_lifted;
    if (!is_shared(a) || !writ_is_ok(writ_api_request_try(request, look_after_lift))) {
        answer_lifted(request);
    }
}

static void
lift(struct kill_request *a)
{
    writ_result result;

    a->data = writ_buf_in(a->request.x->arena, WRIT_API_ANSWER_MAX);
    result = writ_stop_rules_lift(a->request.worker->gateway->stop_rules, &a->kill, &a->data, NULL);
    if (result.code == WRIT_E_ABSENT) {
        refuse(a, 404, WRIT_REASON_KILL_UNKNOWN);
    } else if (!writ_is_ok(result)) {
        refuse(a, 503, WRIT_REASON_LEDGER_UNAVAILABLE);
    } else {
        record(a, WRIT_FACT_KILL_LIFTED, lifted);
    }
}

static void
preview(struct writ_exchange *x, struct writ_gateway *gateway)
{
    struct writ_kill_preview *p = writ_kill_preview_open(x, gateway);

    if (p != NULL && accept_kill(&p->view.request, true, &p->kill)) {
        writ_kill_preview_ask(p);
    }
}

static void
handle_one(struct writ_exchange *x, void *ctx)
{
    struct writ_view id = writ_view_sub(x->suffix, 0, writ_view_find(x->suffix, '/'));
    struct kill_request *a;

    if (writ_view_is(x->suffix, PREVIEW)) {
        preview(x, ctx);
        return;
    }
    a = writ_api_request_open(x, ctx, sizeof *a, found);
    if (a == NULL) {
        return;
    }
    a->kill = (struct writ_kill){.id = id,
        .tenant = a->request.viewer.agent.tenant,
        .who = writ_approval_subject(&a->request.viewer.agent)};
    if (!is_administrator(&a->request)) {
        refuse(a, 403, WRIT_REASON_NOT_ADMINISTRATOR);
    } else if (!writ_view_is(writ_view_sub(x->suffix, id.len, x->suffix.len), LIFT)) {
        refuse(a, 404, WRIT_REASON_PATH_UNKNOWN);
    } else if (!read_lift(a, &a->kill.reason)) {
        refuse(a, 422, WRIT_REASON_KILL_MALFORMED);
    } else {
        lift(a);
    }
}

/* ---- introspection */

/* The value of `token` in a form; a credential has no byte that a form escapes. */
static struct writ_view
token_of(struct writ_view form)
{
    while (form.len > 0) {
        struct writ_view pair = writ_view_sub(form, 0, writ_view_find(form, '&'));

        if (writ_view_has_prefix(pair, WRIT_LIT("token="))) {
            return writ_view_sub(pair, sizeof "token=" - 1, pair.len);
        }
        form = writ_view_sub(form, pair.len + 1, form.len);
    }
    return writ_view(NULL, 0);
}

static enum writ_status
status_of(void *ctx, const struct writ_claims *claims)
{
    const struct kill_request *a = ctx;

    return claims->status.uri.ptr != NULL && writ_ledger_is_live(a->request.worker->gateway->ledger)
               ? writ_stop_rules_status(
                     a->request.worker->gateway->stop_rules, claims->status.place)
               : WRIT_STATUS_UNKNOWN;
}

/* The credential itself states its subject and purpose: only whether it is active is checked. */
static bool
is_active(struct kill_request *a, struct writ_view token, const struct writ_jwks *keys,
    const struct writ_json *payload)
{
    const struct writ_gateway *gateway = a->request.worker->gateway;
    const struct writ_config *config = config_of(&a->request);
    struct writ_view tenant = a->request.viewer.agent.tenant;
    struct writ_claims claims = {0};
    enum writ_reason why = WRIT_REASON_NONE;
    struct writ_credential_expect expect = {
        .keys = keys,
        .issuer = config->issuer.len > 0 ? config->issuer : gateway->issuer,
        .typ = config->credential.typ,
        .any_agent = true,
        .any_tenant = tenant.len == 0,
        .tenant = tenant,
        .any_params = true,
        .any_target_state = true,
        .now_s = writ_clock_wall_us(gateway->clock) / US_PER_S,
        .status = status_of,
        .ctx = a,
    };

    if (!writ_is_ok(writ_claim_read(payload, &claims, NULL))) {
        return false;
    }
    expect.audience = claims.aud;
    expect.tool = claims.authorization_details.tool;
    return writ_is_ok(
               writ_credential_verify(token, &expect, a->request.x->arena, NULL, &why, NULL)) &&
           why == WRIT_REASON_CREDENTIAL_OK;
}

static void
introspect(struct writ_exchange *x, void *ctx)
{
    struct kill_request *a = writ_api_request_open(x, ctx, sizeof *a, found);
    const struct writ_json *payload = NULL;
    struct writ_jwks *keys = NULL;
    struct writ_view token;
    struct writ_write w;
    struct writ_jws jws;
    bool active;

    if (a == NULL) {
        return;
    }
    if (!writ_header_has_type(writ_exchange_header(x, WRIT_LIT("Content-Type")),
            WRIT_LIT("application/x-www-form-urlencoded"))) {
        refuse(a, 415, WRIT_REASON_MEDIA_TYPE_UNSUPPORTED);
        return;
    }
    token = token_of(x->body);
    active = writ_is_ok(writ_jws_read(token, x->arena, &jws, NULL)) &&
             writ_is_ok(writ_jws_claims(&jws, x->arena, &payload, NULL)) &&
             writ_is_ok(
                 writ_jwks_read(writ_buf_view(&a->request.viewer.generation->jwks), &keys, NULL)) &&
             is_active(a, token, keys, payload);
    writ_jwks_free(keys);
    w = writ_write_to(&a->request.body);
    writ_write_object_begin(&w);
    writ_write_flag(&w, "active", active);
    if (active) { /* RFC 7662 2.2: an inactive one gets no other member */
        WRIT_JSON_EACH(name, payload)
        {
            writ_write_name(&w, writ_json_string(name));
            writ_write_value(&w, writ_json_value(name));
        }
    }
    writ_write_object_end(&w);
    writ_api_request_reply(&a->request);
}

void
writ_kill_api_routes(struct writ_gateway *gateway, struct writ_route ret[WRIT_KILL_API_ROUTES])
{
    ret[0] = (struct writ_route){
        .path = WRIT_LIT("/v1/kills"),
        .methods = WRIT_ROUTE_GET | WRIT_ROUTE_POST,
        .json = true,
        .max_body_bytes = WRIT_KILL_API_BODY_MAX,
        .handler = handle_all,
        .ctx = gateway,
    };
    ret[1] = (struct writ_route){
        .path = WRIT_LIT("/v1/kills/"),
        .prefix = true,
        .methods = WRIT_ROUTE_POST,
        .json = true,
        .max_body_bytes = WRIT_KILL_API_BODY_MAX,
        .handler = handle_one,
        .ctx = gateway,
    };
    ret[2] = (struct writ_route){
        .path = WRIT_LIT("/v1/introspect"),
        .methods = WRIT_ROUTE_POST,
        .max_body_bytes = WRIT_KILL_API_BODY_MAX,
        .handler = introspect,
        .ctx = gateway,
    };
}
