/* login.c - logs in with a token or with the certificate of the connection. The cookie is only for
 * this host and not readable by scripts; the key is only in the answer. Failed logins are logged.
 * Where several gateways share the ledger, the answer waits until the row of the login is there, or
 * is gone, for all of them. */
#include "gateway/admin/login.h"

#include "base/secret.h"
#include "base/text.h"
#include "evidence/json/write.h"
#include "gateway/admin/api.h"
#include "gateway/admin/contents_api.h"
#include "gateway/admin/ledger_viewer.h"
#include "gateway/admin/login_look.h"
#include "policy/decide/approval.h"
#include "store/ledger/ledger.h"

#define COOKIE_MAX 256
#define ANSWER_MAX 4096
#define SCHEME     "Bearer "

/* ---- answers ---- */

static void
put_agent(struct writ_write *w, struct writ_worker *worker, const struct writ_agent *agent)
{
    const struct writ_review_viewer viewer = {worker->generation, *agent};

    writ_write_text_if(w, "agent_id", agent->id);
    writ_write_text_if(w, "subject", writ_approval_subject(agent));
    writ_write_text_if(w, "tenant", agent->tenant);
    writ_write_text_if(w, "role", agent->role);
    writ_write_flag(w, "auditor", writ_ledger_viewer_scope(&viewer) != WRIT_LEDGER_OWN);
    writ_write_flag(w, "administrator", writ_ledger_viewer_administers(&viewer));
    writ_write_flag(w, "content_reader", writ_contents_api_may_read(&viewer, viewer.agent.tenant));
}

/* The cookie is only for this host, no script can read it, and no other site's page can send it. */
static void
put_cookie(struct writ_exchange *x, const char *value, struct writ_buf *ret)
{
    writ_buf_put(ret, writ_api_cookie_name(x));
    writ_buf_byte(ret, '=');
    writ_buf_str(ret, value);
    writ_buf_str(ret, "; Path=/; HttpOnly; SameSite=Strict");
    writ_buf_str(ret, x->peer->tls ? "; Secure" : "");
    writ_buf_str(ret, value[0] == '\0' ? "; Max-Age=0" : "");
}

/* Answers with a cookie; an empty one deletes it. */
static void
reply(struct writ_exchange *x, unsigned status, const char *cookie, const struct writ_buf *body)
{
    writ_auto_buf field = writ_buf_make(COOKIE_MAX);

    put_cookie(x, cookie, &field);
    const struct writ_header headers[] = {
        {WRIT_LIT("Set-Cookie"), writ_buf_view(&field)},
        {WRIT_LIT("Content-Type"), WRIT_LIT("application/json")},
        {WRIT_LIT("Cache-Control"), WRIT_LIT("no-store")},
        {WRIT_LIT("X-Content-Type-Options"), WRIT_LIT("nosniff")},
    };

    if (!writ_is_ok(writ_buf_check(body, NULL)) || !writ_is_ok(writ_buf_check(&field, NULL))) {
        writ_exchange_reply(x, 500, NULL, 0, (struct writ_view){NULL, 0});
        return;
    }
    writ_exchange_reply(x, status, headers, 4, writ_buf_view(body));
}

/* ---- rows ---- */

/* An answer that waits for a row; in the arena of its exchange. */
struct row_write {
    struct writ_exchange *x;
    struct writ_worker *worker;
    struct writ_entry entry;
    struct writ_post post;
    struct writ_logins_pass pass; /* of the login; its texts are empty at a logout */
    struct writ_buf body;         /* of the answer; wiped as a secret */
};

static void
finish(struct row_write *write, enum writ_reason refused)
{
    struct writ_buf body = write->body;
    struct writ_exchange *x = write->x;
    struct writ_logins_pass pass = write->pass;

    writ_wipe(&write->pass, sizeof write->pass);
    write->body = (struct writ_buf){0};
    if (refused == WRIT_REASON_NONE) {
        reply(x, 200, pass.cookie, &body);
    } else {
        writ_api_answer_problem(
            x, refused == WRIT_REASON_LEDGER_UNAVAILABLE ? 503 : writ_api_status(refused), refused);
    }
    writ_buf_wipe_secret(&body);
    writ_wipe(&pass, sizeof pass);
}

static void submit(struct row_write *write);

static void
written(struct writ_post *post)
{
    struct row_write *write = post->ctx;
    bool good = write->entry.code == WRIT_OK || write->entry.code == WRIT_E_ABSENT;

    if (good && write->pass.replaces) {
        write->pass.replaces = false;
        write->entry = (struct writ_entry){
            .kind = WRIT_ENTRY_SESSION_DROP, .session = {.hash = write->pass.replaced}};
        submit(write);
        return;
    }
    if (!good && write->pass.cookie[0] != '\0') { /* its client has no secrets */
        writ_logins_close(write->worker->gateway->logins, writ_view_str(write->pass.cookie),
            writ_view_str(write->pass.key));
    }
    finish(write, good ? WRIT_REASON_NONE : WRIT_REASON_LEDGER_UNAVAILABLE);
}

/* On the writer's thread. */
static void
entry_done(struct writ_entry *entry)
{
    struct row_write *write = entry->user;

    writ_loop_answer(write->worker->loop, &write->post);
}

static void
submit(struct row_write *write)
{
    write->post = (struct writ_post){.fn = written, .ctx = write};
    write->entry.arena = write->x->arena;
    write->entry.done = entry_done;
    write->entry.user = write;
    writ_worker_submit(write->worker, &write->entry);
}

/* ---- who is it ---- */

static void
answer_who(struct writ_exchange *x, struct writ_worker *worker)
{
    writ_auto_buf body = writ_buf_make(ANSWER_MAX);
    struct writ_write w = writ_write_to(&body);
    struct writ_agent agent;
    enum writ_reason reason = writ_api_ask(x, worker, x->arena, &agent);

    if (reason != WRIT_REASON_NONE &&
        (reason != WRIT_REASON_UNAUTHENTICATED || x->peer->certificate_name.len == 0)) {
        writ_api_answer_problem(x, writ_api_status(reason), reason);
        return;
    }
    writ_write_object_begin(&w);
    if (reason == WRIT_REASON_NONE) {
        put_agent(&w, worker, &agent);
    } else {
        writ_write_text_if(&w, "certificate", x->peer->certificate_name);
    }
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer keeps the failure */
    writ_api_answer_json(x, 200, &body);
}

/* ---- in ---- */

/* The evidence in the body, in the form of writ_api_shown. */
static bool
read_shown(struct writ_exchange *x, struct writ_view *ret)
{
    struct writ_json_limits limits = writ_json_limits_default;
    struct writ_buf shown = writ_buf_in(x->arena, WRIT_LOGINS_SHOWN);
    const struct writ_json *body = NULL, *token;

    limits.bytes = WRIT_LOGIN_BODY_MAX;
    if (!writ_is_ok(writ_json_read(x->body, &limits, x->arena, &body, NULL))) {
        return false;
    }
    token = writ_json_get(body, WRIT_LIT("token"));
    if (writ_json_is_true(body, WRIT_LIT("certificate"))) {
        writ_buf_str(&shown, WRIT_API_CERTIFICATE);
        writ_buf_put(&shown, x->peer->certificate_digest);
    } else if (writ_json_type(token) == WRIT_JSON_STRING) {
        writ_buf_str(&shown, SCHEME);
        writ_buf_put(&shown, writ_view_trim(writ_json_string(token)));
    }
    *ret = writ_buf_view(&shown);
    return shown.len > 0 && writ_is_ok(writ_buf_check(&shown, NULL));
}

static WRIT_RESULT
enter(struct writ_gateway *gateway, const struct writ_agent *agent, struct writ_view shown,
    struct writ_logins_pass *ret)
{
    const struct writ_view pieces[] = {agent->tenant, writ_view("", 1), agent->id};
    struct writ_digest digest;

    WRIT_TRY(writ_digest_pieces(pieces, 3, &digest, NULL));
    return writ_logins_open(gateway->logins, &digest, shown, ret, NULL);
}

/* Logs a successful login, or the address of a failed attempt. */
static void
note(const struct writ_exchange *x, struct writ_worker *worker, enum writ_reason reason,
    const struct writ_agent *agent)
{
    struct writ_log *log = worker->gateway->log;
    uint64_t dropped;

    if (reason == WRIT_REASON_NONE) {
        WRIT_LOG(log, WRIT_EVENT_LOGIN, writ_log_text("agent_id", agent->id),
            writ_log_text("tenant", agent->tenant), writ_log_text("peer", x->peer->address));
    } else if (writ_log_rate_take(&worker->strangers, writ_loop_now_us(x->loop), &dropped)) {
        WRIT_LOG(log, WRIT_EVENT_LOGIN_REFUSED, writ_log_text("reason", writ_reason_name(reason)),
            writ_log_text("peer", x->peer->address), writ_log_int("dropped", (int64_t)dropped));
    }
}

/* Answers NULL: no memory. */
static struct row_write *
begin(struct writ_exchange *x, struct writ_worker *worker)
{
    struct row_write *write = writ_arena_zeroed(x->arena, sizeof *write);

    if (write == NULL) {
        writ_api_answer_problem(x, 503, WRIT_REASON_OVERLOADED);
        return NULL;
    }
    *write = (struct row_write){.x = x, .worker = worker, .body = writ_buf_make(ANSWER_MAX)};
    return write;
}

static void
put_login(struct row_write *write, const struct writ_agent *agent)
{
    struct writ_write w = writ_write_to(&write->body);
    char expires[WRIT_TIME_TEXT];

    writ_time_format(write->pass.expires_us, expires);
    writ_write_object_begin(&w);
    put_agent(&w, write->worker, agent);
    writ_write_text_if(&w, "key", writ_view_str(write->pass.key));
    writ_write_text_if(&w, "expires_at", writ_view_str(expires));
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer keeps the failure */
}

/* Writes the row of the new login, if other gateways share it. */
static void
share(struct row_write *write)
{
    writ_result result;

    if (!writ_ledger_is_shared(write->worker->gateway->ledger)) {
        finish(write, WRIT_REASON_NONE);
        return;
    }
    result = writ_login_look_put(write->worker, writ_view_str(write->pass.cookie),
        writ_view_str(write->pass.key), write->x->arena, &write->entry);
    if (writ_is_ok(result)) {
        submit(write);
    } else {
        finish(write, WRIT_REASON_OVERLOADED);
    }
}

static void
log_in(struct writ_exchange *x, struct writ_gateway *gateway, struct writ_worker *worker)
{
    struct row_write *write;
    struct writ_view shown;
    struct writ_agent agent;
    enum writ_reason reason = writ_api_origin(x, true);

    if (reason != WRIT_REASON_NONE) {
        writ_api_answer_problem(x, writ_api_status(reason), reason);
        return;
    }
    if (!read_shown(x, &shown)) {
        writ_api_answer_problem(x, 422, WRIT_REASON_MALFORMED_REQUEST);
        return;
    }
    reason = writ_api_shown(x, worker, shown, x->arena, &agent);
    note(x, worker, reason, &agent);
    write = begin(x, worker);
    if (write == NULL) {
        return;
    }
    if (reason == WRIT_REASON_NONE && !writ_is_ok(enter(gateway, &agent, shown, &write->pass))) {
        reason = WRIT_REASON_OVERLOADED;
    }
    if (reason != WRIT_REASON_NONE) {
        finish(write, reason);
        return;
    }
    put_login(write, &agent);
    share(write);
}

/* ---- out ---- */

static void
log_out(struct writ_exchange *x, struct writ_gateway *gateway, struct writ_worker *worker)
{
    struct writ_view cookie = writ_api_cookie(x);
    struct writ_view key = writ_exchange_header(x, WRIT_LIT(WRIT_API_KEY));
    enum writ_reason reason = writ_api_origin(x, true);
    struct row_write *write;
    struct writ_view shown;
    bool known;

    if (reason != WRIT_REASON_NONE) {
        writ_api_answer_problem(x, writ_api_status(reason), reason);
        return;
    }
    /* a row that its guard did not find costs the ledger nothing */
    known = writ_is_ok(writ_logins_find(gateway->logins, cookie, key, x->arena, &shown));
    writ_logins_close(gateway->logins, cookie, key);
    write = begin(x, worker);
    if (write == NULL) {
        return;
    }
    writ_buf_str(&write->body, "{}");
    write->entry.kind = WRIT_ENTRY_SESSION_DROP;
    if (known && writ_ledger_is_shared(gateway->ledger) &&
        writ_is_ok(writ_logins_row_name(cookie, key, &write->entry.session.hash))) {
        submit(write);
    } else {
        finish(write, WRIT_REASON_NONE);
    }
}

static void
handle(struct writ_exchange *x, void *ctx)
{
    struct writ_gateway *gateway = ctx;
    struct writ_worker *worker = writ_gateway_worker(gateway, x->loop);

    if (x->method == WRIT_METHOD_POST) {
        log_in(x, gateway, worker);
    } else if (x->method == WRIT_METHOD_DELETE) {
        log_out(x, gateway, worker);
    } else {
        answer_who(x, worker);
    }
}

void
writ_login_routes(struct writ_gateway *gateway, struct writ_route ret[WRIT_LOGIN_ROUTES])
{
    ret[0] = (struct writ_route){.path = WRIT_LIT("/v1/session"),
        .methods = WRIT_ROUTE_GET | WRIT_ROUTE_POST | WRIT_ROUTE_DELETE,
        .json = true,
        .max_body_bytes = WRIT_LOGIN_BODY_MAX,
        .handler = handle,
        .ctx = gateway};
}
