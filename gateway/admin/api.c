/* api.c - checks the origin of a browser's request, then finds the agent by token or by login. A
 * login's certificate must be presented on this connection too. */
#include "gateway/admin/api.h"

#include "evidence/json/write.h"
#include "gateway/admin/login_look.h"
#include "gateway/request/tally.h"

#define ENDPOINT "/mcp" /* that tokens with an audience are for */

/* ---- where a request of a browser comes from ---- */

/* Compares without the scheme, so that it also works behind a proxy that speaks TLS. The listener
 * has checked the host. */
static bool
is_own_origin(const struct writ_exchange *x, struct writ_view origin)
{
    struct writ_view host = writ_exchange_header(x, WRIT_LIT("Host"));
    size_t at = writ_view_search(origin, WRIT_LIT("://"));

    return host.len > 0 && at < origin.len &&
           writ_view_equal_nocase(writ_view_sub(origin, at + 3, origin.len), host);
}

enum writ_reason
writ_api_origin(const struct writ_exchange *x, bool changes)
{
    struct writ_view origin = writ_exchange_header(x, WRIT_LIT("Origin"));
    struct writ_view site = writ_exchange_header(x, WRIT_LIT("Sec-Fetch-Site"));

    if ((origin.ptr == NULL ? changes : !is_own_origin(x, origin)) ||
        (site.ptr != NULL && !writ_view_is(site, "same-origin"))) {
        return WRIT_REASON_FORBIDDEN_ORIGIN;
    }
    return WRIT_REASON_NONE;
}

/* RFC 6265bis 4.1.3.2: a browser accepts a cookie with that prefix only from this host over TLS. */
struct writ_view
writ_api_cookie_name(const struct writ_exchange *x)
{
    return x->peer->tls ? WRIT_LIT("__Host-writ") : WRIT_LIT("writ");
}

struct writ_view
writ_api_cookie(const struct writ_exchange *x)
{
    struct writ_view name = writ_api_cookie_name(x);
    struct writ_view rest = writ_exchange_header(x, WRIT_LIT("Cookie"));

    while (rest.len > 0) {
        size_t end = writ_view_find(rest, ';');
        struct writ_view pair = writ_view_trim(writ_view_sub(rest, 0, end));
        size_t equals = writ_view_find(pair, '=');

        if (equals < pair.len && writ_view_equal(writ_view_sub(pair, 0, equals), name)) {
            return writ_view_sub(pair, equals + 1, pair.len);
        }
        rest = writ_view_sub(rest, end + 1, rest.len);
    }
    return (struct writ_view){NULL, 0};
}

/* ---- the caller ---- */

static enum writ_reason
ask(struct writ_worker *worker, struct writ_view authorization, struct writ_view certificate,
    struct writ_arena *arena, struct writ_identity_result *ret)
{
    const struct writ_identity_question question = {
        .authorization = authorization,
        .certificate = certificate,
        .loopback = worker->generation->config->admin_listen.loopback,
        .endpoint = WRIT_LIT(ENDPOINT),
    };

    writ_identity_ask(worker->identity, &question, arena, ret);
    if (ret->answer == WRIT_IDENTITY_KNOWN) {
        return WRIT_REASON_NONE;
    }
    return ret->answer == WRIT_IDENTITY_UNAVAILABLE ? WRIT_REASON_OVERLOADED
                                                    : WRIT_REASON_UNAUTHENTICATED;
}

enum writ_reason
writ_api_shown(const struct writ_exchange *x, struct writ_worker *worker, struct writ_view shown,
    struct writ_arena *arena, struct writ_agent *ret)
{
    const struct writ_peer *peer = x->peer;
    size_t scheme = WRIT_LIT(WRIT_API_CERTIFICATE).len;
    struct writ_identity_result identity;
    enum writ_reason reason;

    if (!writ_view_has_prefix(shown, WRIT_LIT(WRIT_API_CERTIFICATE))) {
        reason = ask(worker, shown, (struct writ_view){NULL, 0}, arena, &identity);
        *ret = identity.agent;
        return reason;
    }
    /* the very certificate, on this connection too */
    if (peer->certificate_name.len == 0 || peer->certificate_digest.len == 0 ||
        !writ_view_equal(writ_view_sub(shown, scheme, shown.len), peer->certificate_digest)) {
        return WRIT_REASON_UNAUTHENTICATED;
    }
    reason = ask(worker, (struct writ_view){NULL, 0}, peer->certificate_name, arena, &identity);
    *ret = identity.agent;
    return reason;
}

/* The Authorization field of the login that this request belongs to. */
static enum writ_reason
find_login(struct writ_exchange *x, struct writ_worker *worker, struct writ_arena *arena,
    struct writ_view *ret)
{
    struct writ_view cookie = writ_api_cookie(x);
    struct writ_view key = writ_exchange_header(x, WRIT_LIT(WRIT_API_KEY));
    enum writ_reason reason;

    if (cookie.len == 0) {
        return WRIT_REASON_UNAUTHENTICATED;
    }
    reason = writ_api_origin(x, x->method != WRIT_METHOD_GET);
    if (reason != WRIT_REASON_NONE) {
        return reason;
    }
    if (!writ_is_ok(writ_logins_find(worker->gateway->logins, cookie, key, arena, ret))) {
        return WRIT_REASON_UNAUTHENTICATED;
    }
    writ_login_look_again(worker, cookie, key); /* for the next question of a stream */
    return WRIT_REASON_NONE;
}

enum writ_reason
writ_api_ask(struct writ_exchange *x, struct writ_worker *worker, struct writ_arena *arena,
    struct writ_agent *ret)
{
    struct writ_view shown = writ_exchange_header(x, WRIT_LIT("Authorization"));
    struct writ_identity_result identity;
    enum writ_reason reason;

    if (shown.ptr != NULL) {
        reason = ask(worker, shown, (struct writ_view){NULL, 0}, arena, &identity);
        if (reason != WRIT_REASON_NONE) {
            writ_tally_stranger(worker, x, &identity);
        }
        *ret = identity.agent;
        return reason;
    }
    reason = find_login(x, worker, arena, &shown);
    return reason == WRIT_REASON_NONE ? writ_api_shown(x, worker, shown, arena, ret) : reason;
}

unsigned
writ_api_status(enum writ_reason reason)
{
    return reason == WRIT_REASON_OVERLOADED         ? 503
           : reason == WRIT_REASON_FORBIDDEN_ORIGIN ? 403
                                                    : 401;
}
