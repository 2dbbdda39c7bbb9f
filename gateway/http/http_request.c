/* http_request.c - writes a request head from checked parts. The client sets the fields of framing
 * and of this hop itself; a caller's field of such a name is refused. */
#include "gateway/http/http_request.h"

#include "base/text.h"
#include "gateway/http/framing.h"
#include "policy/model/field.h"

#include <stdio.h>

static bool
is_target(struct writ_view text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] <= ' ' || text.ptr[i] > '~') {
            return false;
        }
    }
    return text.len > 0 && text.ptr[0] == '/';
}

static WRIT_RESULT
check(const struct writ_http_request *request, struct writ_err *err)
{
    if (!writ_framing_is_token(request->method)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the method of a request is not a token");
    }
    if (!is_target(request->target)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the target of a request is not a path");
    }
    for (size_t i = 0; i < request->count; i++) {
        const struct writ_header *field = &request->fields[i];
        if (!writ_framing_is_token(field->name) ||
            writ_field_owner(field->name) == WRIT_FIELD_HOP) {
            WRIT_FAIL(err, WRIT_E_INVALID, "field %zu of a request may not be set", i);
        }
        if (!writ_text_is_field(field->value)) {
            WRIT_FAIL(err, WRIT_E_INVALID, "field %zu of a request has a control byte", i);
        }
    }
    return WRIT_DONE;
}

/* RFC 9110 8.6: methods that give a body a meaning always say how long it is */
static bool
needs_length(const struct writ_http_request *request)
{
    return request->body.len > 0 || writ_view_is(request->method, "POST") ||
           writ_view_is(request->method, "PUT") || writ_view_is(request->method, "PATCH");
}

writ_result
writ_http_request_put(struct writ_buf *buf, const struct writ_http_request *request,
    const struct writ_http_origin *origin, struct writ_err *err)
{
    WRIT_TRY(check(request, err));
    writ_buf_put(buf, request->method);
    writ_buf_byte(buf, ' ');
    writ_buf_put(buf, request->target);
    writ_buf_str(buf, " HTTP/1.1\r\nhost: ");
    writ_buf_str(buf, origin->field);
    writ_buf_str(buf, "\r\n");
    for (size_t i = 0; i < request->count; i++) {
        writ_buf_put(buf, request->fields[i].name);
        writ_buf_str(buf, ": ");
        writ_buf_put(buf, request->fields[i].value);
        writ_buf_str(buf, "\r\n");
    }
    if (needs_length(request)) {
        writ_buf_str(buf, "content-length: ");
        writ_buf_u64(buf, request->body.len);
        writ_buf_str(buf, "\r\n");
    }
    writ_buf_str(buf, "\r\n");
    return writ_buf_check(buf, err);
}

/* ---- the origin */

static bool
is_host(struct writ_view host)
{
    for (size_t i = 0; i < host.len; i++) {
        char c = host.ptr[i];
        bool alnum = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!alnum && c != '-' && c != '.' && c != '_') {
            return false;
        }
    }
    return host.len > 0;
}

static WRIT_RESULT
read_scheme(struct writ_view *url, struct writ_http_origin *ret, struct writ_err *err)
{
    if (writ_view_has_prefix(*url, WRIT_LIT("http://"))) {
        *url = writ_view_sub(*url, 7, url->len);
        ret->port = 80;
    } else if (writ_view_has_prefix(*url, WRIT_LIT("https://"))) {
        *url = writ_view_sub(*url, 8, url->len);
        ret->port = 443;
        ret->secure = true;
    } else {
        WRIT_FAIL(err, WRIT_E_INVALID, "the URL of an upstream begins with http:// or https://");
    }
    return WRIT_DONE;
}

static WRIT_RESULT
read_host(struct writ_view *authority, struct writ_http_origin *ret, struct writ_err *err)
{
    bool bracket = authority->len > 0 && authority->ptr[0] == '[';
    size_t end = writ_view_find(*authority, bracket ? ']' : ':');
    struct writ_view host = writ_view_sub(*authority, bracket ? 1 : 0, end - (bracket ? 1 : 0));
    struct writ_addresses numeric;

    if (host.len > WRIT_RESOLVER_HOST_MAX) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "the host of an upstream is longer than %d bytes",
            WRIT_RESOLVER_HOST_MAX);
    }
    if (bracket ? end == authority->len || !writ_resolver_numeric(host, 0, &numeric)
                : !is_host(host)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the URL of an upstream has no valid host");
    }
    (void)snprintf(ret->host, sizeof ret->host, WRIT_VIEW_FMT, WRIT_VIEW_ARG(host));
    for (char *c = ret->host; *c != '\0'; c++) {
        *c = *c >= 'A' && *c <= 'Z' ? (char)(*c + 32) : *c;
    }
    *authority = writ_view_sub(*authority, end + (bracket ? 1 : 0), authority->len);
    return WRIT_DONE;
}

writ_result
writ_http_request_origin(struct writ_view url, struct writ_http_origin *ret, struct writ_err *err)
{
    struct writ_http_origin origin = {0};
    uint64_t port = 0;
    bool bracket, usual;

    WRIT_TRY(read_scheme(&url, &origin, err));
    for (size_t i = 0; i < url.len; i++) {
        if (url.ptr[i] == '/' || url.ptr[i] == '?' || url.ptr[i] == '#') {
            url = writ_view_sub(url, 0, i);
        }
    }
    WRIT_TRY(read_host(&url, &origin, err));
    bracket = writ_view_find(writ_view_str(origin.host), ':') < writ_view_str(origin.host).len;
    usual = true;
    if (url.len > 0) {
        if (url.ptr[0] != ':' ||
            !writ_is_ok(writ_text_u64(writ_view_sub(url, 1, url.len), 1, UINT16_MAX, &port))) {
            WRIT_FAIL(err, WRIT_E_INVALID, "the URL of an upstream has no valid port");
        }
        usual = port == origin.port;
        origin.port = (uint16_t)port;
    }
    (void)snprintf(origin.field, sizeof origin.field, bracket ? "[%s]" : "%s", origin.host);
    if (!usual) {
        (void)snprintf(origin.field, sizeof origin.field, bracket ? "[%s]:%u" : "%s:%u",
            origin.host, origin.port);
    }
    *ret = origin;
    return WRIT_DONE;
}
