/* kill_api.c - reads a stop, checks that the caller may pull it, and pulls it. A stop of a
 * credential needs the decision for which it was issued; the lookup thread reads that from the
 * ledger. Introspection answers only whether a credential is active. */
#include "gateway/admin/kill_api.h"

#include "base/text.h"
#include "evidence/credential/credential.h"
#include "evidence/json/write.h"
#include "evidence/record/extension.h"
#include "evidence/record/record.h"
#include "gateway/admin/api.h"
#include "gateway/admin/kill_known.h"
#include "gateway/admin/kill_preview.h"
#include "gateway/admin/ledger_viewer.h"
#include "gateway/notify/notify.h"
#include "gateway/upstream/upstream.h"
#include "policy/decide/approval.h"

#define MAGIC    0x6b66696eU
#define US_PER_S INT64_C(1000000)
#define OVER_US  ((WRIT_CREDENTIAL_LIFETIME_MAX_S + WRIT_CREDENTIAL_SKEW_MAX_S) * US_PER_S)
#define LIFT     "/lift"
#define PREVIEW  "preview"

/* One request. */
struct api_request {
    struct writ_exchange *x;
    struct writ_gateway *gateway;
    struct writ_generation *generation;
    struct writ_agent agent;
};

/* A stop of a credential. Between find and found it belongs to the lookup thread, with the arena of
 * its exchange, in which it is allocated. */
struct finding {
    uint32_t magic;
    struct api_request request; /* its generation is held */
    struct writ_kill kill;
    struct writ_kill_call issued;
    int64_t issued_us;
    struct writ_worker *worker;
    struct writ_lookup lookup;
    struct writ_post post;
    enum writ_code code; /* ABSENT: no such credential was issued, or not for this tenant */
};

/* A stop that was pulled, while the ledger is searched for calls that it names. */
struct sighting {
    uint32_t magic;
    struct api_request request;
    struct writ_kill kill; /* in the arena of the request */
    bool durable, known;
    struct writ_worker *worker;
    struct writ_lookup lookup;
    struct writ_post post;
};

static void
refuse(struct api_request *a, unsigned status, enum writ_reason reason)
{
    writ_api_answer_problem(a->x, status, reason);
}

/* False: the caller is unknown, and was answered. */
static bool
begin(struct api_request *a, struct writ_exchange *x, struct writ_gateway *gateway)
{
    struct writ_worker *worker = writ_gateway_worker(gateway, x->loop);
    enum writ_reason reason;

    *a = (struct api_request){.x = x, .gateway = gateway, .generation = worker->generation};
    reason = writ_api_ask(x, worker, x->arena, &a->agent);
    if (reason != WRIT_REASON_NONE) {
        refuse(a, writ_api_status(reason), reason);
        return false;
    }
    return true;
}

static bool
is_administrator(const struct api_request *a)
{
    const struct writ_review_viewer viewer = {a->generation, a->agent};

    return writ_ledger_viewer_administers(&viewer);
}

static bool
may_list(const struct api_request *a)
{
    const struct writ_review_viewer viewer = {a->generation, a->agent};

    return is_administrator(a) || writ_ledger_viewer_scope(&viewer) != WRIT_LEDGER_OWN;
}

static void
reply(struct api_request *a, struct writ_write *w, const struct writ_buf *body)
{
    WRIT_IGNORE(writ_write_end(w, NULL)); /* the buffer keeps the failure */
    writ_api_answer_json(a->x, 200, body);
}

/* ---- stops */

static void
list(struct api_request *a)
{
    writ_auto_buf body = writ_buf_make(WRIT_API_ANSWER_MAX);
    struct writ_write w = writ_write_to(&body);

    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("kills"));
    writ_stop_rules_put(a->gateway->stop_rules, a->agent.tenant, &w);
    writ_write_object_end(&w);
    reply(a, &w, &body);
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
is_tool_name(const struct api_request *a, struct writ_view value)
{
    struct writ_view upstream = writ_view_sub(value, 0, writ_view_find(value, '/'));

    return upstream.len + 1 < value.len && writ_view_find(value, '*') == value.len &&
           (writ_upstream_find(a->gateway, upstream) != NULL ||
               writ_config_framework(a->generation->config, upstream) != NULL);
}

/* The members that only the stop itself needs are missing in a preview. An unknown member could
 * have restricted the stop. */
static bool
read_kill(struct api_request *a, bool is_preview, struct writ_kill *ret)
{
    static const char *const known[] = {"by", "value", "tenant", "reason", NULL};
    const struct writ_json *body = NULL;
    struct writ_view by;

    if (!writ_is_ok(
            writ_json_read(a->x->body, &writ_json_limits_default, a->x->arena, &body, NULL)) ||
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
           (ret->by != WRIT_KILL_TOOL || is_tool_name(a, ret->value));
}

/* An administrator of a tenant stops only calls of that tenant. */
static bool
is_within(const struct api_request *a, struct writ_kill *kill)
{
    if (a->agent.tenant.len == 0) {
        return true;
    }
    if (kill->by == WRIT_KILL_POLICY ||
        (kill->by == WRIT_KILL_TENANT && !writ_view_equal(kill->value, a->agent.tenant)) ||
        (kill->tenant.len > 0 && !writ_view_equal(kill->tenant, a->agent.tenant))) {
        return false;
    }
    kill->tenant = a->agent.tenant;
    return true;
}

static void
tell(const struct api_request *a, enum writ_event event, const struct writ_kill *kill)
{
    WRIT_LOG(a->gateway->log, event, writ_log_text("id", kill->id),
        writ_log_text("by", writ_kill_by_name(kill->by)), writ_log_text("value", kill->value),
        writ_log_text("tenant", kill->tenant), writ_log_text("who", kill->who));
}

static void
answer_pulled(struct api_request *a, const struct writ_kill *kill, bool durable, bool known)
{
    writ_auto_buf body = writ_buf_make(WRIT_API_ANSWER_MAX);
    writ_auto_buf stops = writ_buf_make(WRIT_API_ANSWER_MAX);
    struct writ_write w = writ_write_to(&body);

    writ_kill_known_put(kill, &stops);
    writ_write_object_begin(&w);
    writ_write_text(&w, "id", kill->id);
    writ_write_flag(&w, "durable", durable);
    writ_write_text(&w, "stops", writ_buf_view(&stops));
    writ_write_flag(&w, "known", known);
    writ_write_object_end(&w);
    reply(a, &w, &body);
}

/* ---- whether what is stopped was ever seen: the ledger knows, and the stop works meanwhile */

static void
seen(struct writ_post *post)
{
    struct sighting *s = post->ctx;
    struct writ_generation *held = s->request.generation; /* an answer frees the arena */

    WRIT_INVARIANT(s->magic == MAGIC);
    if (!s->known) {
        WRIT_LOG(s->request.gateway->log, WRIT_EVENT_KILL_UNKNOWN, writ_log_text("id", s->kill.id),
            writ_log_text("by", writ_kill_by_name(s->kill.by)),
            writ_log_text("value", s->kill.value), writ_log_text("tenant", s->kill.tenant));
    }
    answer_pulled(&s->request, &s->kill, s->durable, s->known);
    writ_generation_drop(held);
}

/* On the thread of the lookups. */
static void
look(struct writ_lookup *lookup, struct writ_reader *reader)
{
    struct sighting *s = lookup->ctx;

    s->known = writ_kill_known_is_seen(reader, &s->kill);
    writ_loop_answer(s->worker->loop, &s->post);
}

/* False: it cannot be looked up now. */
static bool
look_whether_seen(const struct api_request *a, const struct writ_kill *kill, bool durable)
{
    struct sighting *s = writ_arena_get(a->x->arena, sizeof *s);

    if (s == NULL) {
        return false;
    }
    *s = (struct sighting){.magic = MAGIC,
        .request = *a,
        .kill = *kill,
        .durable = durable,
        .worker = writ_gateway_worker(a->gateway, a->x->loop),
        .lookup = {.work = look, .ctx = s},
        .post = {.fn = seen, .ctx = s}};
    s->request.generation = writ_generation_hold(a->generation);
    if (!writ_is_ok(writ_ledger_query_ask(a->gateway->queries, &s->lookup))) {
        writ_generation_drop(s->request.generation);
        return false;
    }
    return true;
}

static void
pull(struct api_request *a, const struct writ_kill *kill)
{
    struct writ_err err = {{0}, 0, 0};
    struct writ_kill pulled;
    char id[WRIT_ID_TEXT];
    writ_result result = writ_stop_rules_pull(a->gateway->stop_rules, kill, id, &err);

    if (result.code == WRIT_E_LIMIT) {
        refuse(a, 409, WRIT_REASON_KILLS_FULL);
        return;
    }
    if (result.code == WRIT_E_INVALID) {
        refuse(a, 422, WRIT_REASON_KILL_MALFORMED);
        return;
    }
    if (!writ_is_ok(result) && result.code != WRIT_E_IO) { /* it stops nothing */
        refuse(a, 503, WRIT_REASON_OVERLOADED);
        return;
    }
    pulled = *kill;
    pulled.id = writ_view_copy(writ_view_str(id), a->x->arena);
    tell(a, WRIT_EVENT_KILL_PULLED, &pulled);
    writ_notify_stop(a->gateway->notify, true, &pulled);
    if (!writ_is_ok(result)) {
        WRIT_LOG(a->gateway->log, WRIT_EVENT_KILL_NOT_DURABLE, writ_log_text("id", pulled.id),
            writ_log_str("why", err.text));
    }
    if (writ_kill_known_is_configured(a->generation->config, &pulled) ||
        !look_whether_seen(a, &pulled, writ_is_ok(result))) {
        answer_pulled(a, &pulled, writ_is_ok(result), true);
    }
}

/* ---- stops of one credential: what it was issued for is in the ledger */

static void
found(struct writ_post *post)
{
    struct finding *f = post->ctx;
    struct api_request *a = &f->request;
    struct writ_generation *held = a->generation; /* an answer frees the arena */

    WRIT_INVARIANT(f->magic == MAGIC);
    if (f->code == WRIT_E_ABSENT) {
        refuse(a, 404, WRIT_REASON_AUTHORIZATION_UNKNOWN);
    } else if (f->code != WRIT_OK) {
        refuse(a, 503, WRIT_REASON_LEDGER_UNAVAILABLE);
    } else if (f->issued_us + OVER_US < writ_clock_wall_us(a->gateway->clock)) {
        refuse(a, 409, WRIT_REASON_EXPIRED);
    } else {
        f->kill.issued = &f->issued;
        pull(a, &f->kill);
    }
    writ_generation_drop(held);
}

/* Reads the call from the decision; WRIT_E_ABSENT when it granted none. */
static WRIT_RESULT
read_issued(struct finding *f, const struct writ_reader_call *call)
{
    struct writ_arena *arena = f->request.x->arena;
    const struct writ_json *value = NULL;
    struct writ_extension extension = {0};
    struct writ_decision d = {0};

    WRIT_TRY(writ_json_read(call->decision, &writ_json_limits_default, arena, &value, NULL));
    WRIT_TRY(writ_decision_read(value, arena, &d, NULL));
    WRIT_TRY(writ_extension_read(&d.extensions, arena, &extension, NULL));
    if (!writ_decision_is(&d, WRIT_DECISION_ALLOW) && extension.shadow.is != WRIT_PRESENT) {
        return (writ_result){WRIT_E_ABSENT};
    }
    WRIT_TRY(writ_time_read(d.issued_at.view, &f->issued_us));
    f->issued = (struct writ_kill_call){
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
    struct finding *f = lookup->ctx;
    struct writ_reader_call call = {0};
    writ_result result = {WRIT_E_IO};

    if (reader != NULL) {
        result = writ_reader_show(reader, f->kill.value, f->request.x->arena, &call, NULL);
    }
    if (writ_is_ok(result) && f->kill.tenant.len > 0 &&
        !writ_view_equal(f->kill.tenant, call.tenant)) {
        result.code = WRIT_E_ABSENT;
    }
    if (writ_is_ok(result)) {
        result = read_issued(f, &call);
    }
    f->code = result.code;
    writ_loop_answer(f->worker->loop, &f->post);
}

static void
pull_credential(const struct api_request *a, const struct writ_kill *kill)
{
    struct finding *f = writ_arena_get(a->x->arena, sizeof *f);

    if (f == NULL) {
        writ_api_answer_problem(a->x, 503, WRIT_REASON_OVERLOADED);
        return;
    }
    *f = (struct finding){.magic = MAGIC,
        .request = *a,
        .kill = *kill,
        .worker = writ_gateway_worker(a->gateway, a->x->loop),
        .lookup = {.work = find, .ctx = f},
        .post = {.fn = found, .ctx = f}};
    f->request.generation = writ_generation_hold(a->generation);
    if (!writ_is_ok(writ_ledger_query_ask(a->gateway->queries, &f->lookup))) {
        writ_generation_drop(a->generation);
        writ_api_answer_problem(a->x, 503, WRIT_REASON_OVERLOADED);
    }
}

static void
begin_pull(struct api_request *a, bool is_preview)
{
    struct writ_kill kill = {.who = writ_approval_subject(&a->agent)};

    if (!read_kill(a, is_preview, &kill)) {
        refuse(a, 422, WRIT_REASON_KILL_MALFORMED);
    } else if (!is_within(a, &kill)) {
        refuse(a, 403, WRIT_REASON_NOT_ADMINISTRATOR);
    } else if (is_preview) {
        writ_kill_preview_answer(a->x, a->gateway, &kill);
    } else if (kill.by == WRIT_KILL_CREDENTIAL) {
        pull_credential(a, &kill);
    } else {
        pull(a, &kill);
    }
}

static void
handle_all(struct writ_exchange *x, void *ctx)
{
    struct api_request a;

    if (!begin(&a, x, ctx)) {
        return;
    }
    if (x->method == WRIT_METHOD_GET ? !may_list(&a) : !is_administrator(&a)) {
        refuse(&a, 403, WRIT_REASON_NOT_ADMINISTRATOR);
    } else if (x->method == WRIT_METHOD_GET) {
        list(&a);
    } else {
        begin_pull(&a, false);
    }
}

/* The body may be empty, or have a reason. */
static bool
read_lift(struct api_request *a, struct writ_kill *ret)
{
    static const char *const known[] = {"reason", NULL};
    const struct writ_json *body = NULL;

    return a->x->body.len == 0 ||
           (writ_is_ok(
                writ_json_read(a->x->body, &writ_json_limits_default, a->x->arena, &body, NULL)) &&
               writ_json_type(body) == WRIT_JSON_OBJECT && writ_json_has_only(body, known) &&
               read_text(body, WRIT_LIT("reason"), WRIT_STOP_RULES_REASON_MAX, &ret->reason));
}

static void
handle_one(struct writ_exchange *x, void *ctx)
{
    struct api_request a;
    struct writ_kill kill;
    writ_auto_buf body = writ_buf_make(WRIT_API_ANSWER_MAX);
    struct writ_write w = writ_write_to(&body);
    writ_result result;

    if (!begin(&a, x, ctx)) {
        return;
    }
    if (!is_administrator(&a)) {
        refuse(&a, 403, WRIT_REASON_NOT_ADMINISTRATOR);
        return;
    }
    if (writ_view_is(x->suffix, PREVIEW)) {
        begin_pull(&a, true);
        return;
    }
    kill = (struct writ_kill){.id = writ_view_sub(x->suffix, 0, writ_view_find(x->suffix, '/')),
        .tenant = a.agent.tenant,
        .who = writ_approval_subject(&a.agent)};
    if (!writ_view_is(writ_view_sub(x->suffix, kill.id.len, x->suffix.len), LIFT)) {
        refuse(&a, 404, WRIT_REASON_PATH_UNKNOWN);
        return;
    }
    if (!read_lift(&a, &kill)) {
        refuse(&a, 422, WRIT_REASON_KILL_MALFORMED);
        return;
    }
    result = writ_stop_rules_lift(a.gateway->stop_rules, &kill, NULL);
    if (result.code == WRIT_E_ABSENT) {
        refuse(&a, 404, WRIT_REASON_KILL_UNKNOWN);
        return;
    }
    if (!writ_is_ok(result)) {
        refuse(&a, 503, WRIT_REASON_LEDGER_UNAVAILABLE);
        return;
    }
    tell(&a, WRIT_EVENT_KILL_LIFTED, &kill);
    writ_notify_stop(a.gateway->notify, false, &kill);
    writ_write_object_begin(&w);
    writ_write_text(&w, "id", kill.id);
    writ_write_object_end(&w);
    reply(&a, &w, &body);
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
    struct api_request *a = ctx;

    return claims->status.uri.ptr != NULL
               ? writ_stop_rules_status(a->gateway->stop_rules, claims->status.place)
               : WRIT_STATUS_UNKNOWN;
}

/* The credential itself states its subject and purpose: only whether it is active is checked. */
static bool
is_active(struct api_request *a, struct writ_view token, const struct writ_jwks *keys,
    const struct writ_json *payload)
{
    const struct writ_config *config = a->generation->config;
    struct writ_claims claims = {0};
    enum writ_reason why = WRIT_REASON_NONE;
    struct writ_credential_expect expect = {
        .keys = keys,
        .issuer = config->issuer.len > 0 ? config->issuer : a->gateway->issuer,
        .typ = config->credential.typ,
        .any_agent = true,
        .any_tenant = a->agent.tenant.len == 0,
        .tenant = a->agent.tenant,
        .any_params = true,
        .any_target_state = true,
        .now_s = writ_clock_wall_us(a->gateway->clock) / US_PER_S,
        .status = status_of,
        .ctx = a,
    };

    if (!writ_is_ok(writ_claim_read(payload, &claims, NULL))) {
        return false;
    }
    expect.audience = claims.aud;
    expect.tool = claims.authorization_details.tool;
    return writ_is_ok(writ_credential_verify(token, &expect, a->x->arena, NULL, &why, NULL)) &&
           why == WRIT_REASON_CREDENTIAL_OK;
}

static void
introspect(struct writ_exchange *x, void *ctx)
{
    writ_auto_buf body = writ_buf_make(WRIT_API_ANSWER_MAX);
    struct writ_write w = writ_write_to(&body);
    const struct writ_json *payload = NULL;
    struct writ_jwks *keys = NULL;
    struct writ_view token;
    struct writ_jws jws;
    struct api_request a;
    bool active;

    if (!begin(&a, x, ctx)) {
        return;
    }
    if (!writ_header_has_type(writ_exchange_header(x, WRIT_LIT("Content-Type")),
            WRIT_LIT("application/x-www-form-urlencoded"))) {
        refuse(&a, 415, WRIT_REASON_MEDIA_TYPE_UNSUPPORTED);
        return;
    }
    token = token_of(x->body);
    active = writ_is_ok(writ_jws_read(token, x->arena, &jws, NULL)) &&
             writ_is_ok(writ_jws_claims(&jws, x->arena, &payload, NULL)) &&
             writ_is_ok(writ_jwks_read(writ_buf_view(&a.generation->jwks), &keys, NULL)) &&
             is_active(&a, token, keys, payload);
    writ_jwks_free(keys);
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
    reply(&a, &w, &body);
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
