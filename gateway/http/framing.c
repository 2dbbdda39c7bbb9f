/* framing.c - checks a request head line by line and field by field. A head that two readers could
 * understand differently is refused; nothing is normalized or repaired. */
#include "gateway/http/framing.h"

#include "base/text.h"

/* Fields that may appear once. Two different values of one of them would let two readers of the
 * same request disagree about its length, its caller or its meaning. */
enum slot {
    SLOT_NONE = 0,
    SLOT_HOST,
    SLOT_CONTENT_LENGTH,
    SLOT_TRANSFER_ENCODING,
    SLOT_CONTENT_TYPE,
    SLOT_CONTENT_ENCODING,
    SLOT_EXPECT,
    SLOT_ORIGIN,
    SLOT_AUTHORIZATION,
    SLOT_IDEMPOTENCY_KEY,
    SLOT_LAST_EVENT_ID,
    SLOT_TRACEPARENT,
    SLOT_COUNT_,
};

static const struct writ_view slot_names[SLOT_COUNT_] = {
    [SLOT_HOST] = WRIT_LIT("host"),
    [SLOT_CONTENT_LENGTH] = WRIT_LIT("content-length"),
    [SLOT_TRANSFER_ENCODING] = WRIT_LIT("transfer-encoding"),
    [SLOT_CONTENT_TYPE] = WRIT_LIT("content-type"),
    [SLOT_CONTENT_ENCODING] = WRIT_LIT("content-encoding"),
    [SLOT_EXPECT] = WRIT_LIT("expect"),
    [SLOT_ORIGIN] = WRIT_LIT("origin"),
    [SLOT_AUTHORIZATION] = WRIT_LIT("authorization"),
    [SLOT_IDEMPOTENCY_KEY] = WRIT_LIT("idempotency-key"),
    [SLOT_LAST_EVENT_ID] = WRIT_LIT("last-event-id"),
    [SLOT_TRACEPARENT] = WRIT_LIT("traceparent"),
};

/* Every field under these prefixes may appear once as well. */
static const struct writ_view single_prefixes[] = {WRIT_LIT("mcp-"), WRIT_LIT("writ-")};

#define CLASS_TOKEN 1U /* RFC 9110 5.6.2 */
#define CLASS_PATH  2U /* pchar without "%", and "/" (RFC 3986 3.3) */
#define CLASS_QUERY 4U /* the same with "?" (RFC 3986 3.4) */
#define CLASS_NAME  8U /* of a registered name without "%" (RFC 3986 3.2.2) */

#define ALL      (CLASS_TOKEN | CLASS_PATH | CLASS_QUERY | CLASS_NAME)
#define SUBDELIM (CLASS_PATH | CLASS_QUERY | CLASS_NAME)

static const unsigned char classes[256] = {
    ['0' ... '9'] = ALL,
    ['a' ... 'z'] = ALL,
    ['A' ... 'Z'] = ALL,
    ['-'] = ALL,
    ['.'] = ALL,
    ['_'] = ALL,
    ['~'] = ALL,
    ['!'] = ALL,
    ['$'] = ALL,
    ['&'] = ALL,
    ['\''] = ALL,
    ['*'] = ALL,
    ['+'] = ALL,
    ['('] = SUBDELIM,
    [')'] = SUBDELIM,
    [','] = SUBDELIM,
    [';'] = SUBDELIM,
    ['='] = SUBDELIM,
    [':'] = CLASS_PATH | CLASS_QUERY,
    ['@'] = CLASS_PATH | CLASS_QUERY,
    ['/'] = CLASS_PATH | CLASS_QUERY,
    ['?'] = CLASS_QUERY,
    ['#'] = CLASS_TOKEN,
    ['%'] = CLASS_TOKEN,
    ['^'] = CLASS_TOKEN,
    ['`'] = CLASS_TOKEN,
    ['|'] = CLASS_TOKEN,
};

static bool
all_of(struct writ_view text, unsigned wanted)
{
    for (size_t i = 0; i < text.len; i++) {
        if ((classes[(unsigned char)text.ptr[i]] & wanted) == 0) {
            return false;
        }
    }
    return true;
}

bool
writ_framing_is_token(struct writ_view name)
{
    return name.len > 0 && all_of(name, CLASS_TOKEN);
}

bool
writ_framing_is_value(struct writ_view value)
{
    return writ_text_is_field(value);
}

static writ_result
refuse(
    struct writ_framing_fault *fault, unsigned status, enum writ_reason reason, const char *detail)
{
    *fault = (struct writ_framing_fault){status, reason, detail};
    return (writ_result){WRIT_E_INVALID};
}

#define REFUSE_HEAD(fault, detail) return refuse((fault), 400, WRIT_REASON_MALFORMED_HEAD, (detail))

static writ_result
read_version(struct writ_view version, bool *ret_1_0, struct writ_framing_fault *fault)
{
    if (writ_view_is(version, "HTTP/1.1") || writ_view_is(version, "HTTP/1.0")) {
        *ret_1_0 = version.ptr[7] == '0';
        return WRIT_DONE;
    }
    return refuse(fault, 505, WRIT_REASON_VERSION_UNSUPPORTED, "version of the request line");
}

static enum writ_method
method_of(struct writ_view method)
{
    if (writ_view_is(method, "POST")) {
        return WRIT_METHOD_POST;
    }
    if (writ_view_is(method, "GET")) {
        return WRIT_METHOD_GET;
    }
    if (writ_view_is(method, "DELETE")) {
        return WRIT_METHOD_DELETE;
    }
    return writ_view_is(method, "OPTIONS") ? WRIT_METHOD_OPTIONS : WRIT_METHOD_NONE;
}

/* "/", "//", "/./" and "/../" before and after normalization are different paths to different
 * readers: none of them is accepted, so normalization is never needed. */
static bool
segments_are_plain(struct writ_view path)
{
    size_t start = 1;

    for (size_t i = 1; i <= path.len; i++) {
        if (i < path.len && path.ptr[i] != '/') {
            continue;
        }
        struct writ_view segment = writ_view_sub(path, start, i - start);
        if (writ_view_is(segment, ".") || writ_view_is(segment, "..")) {
            return false;
        }
        if (segment.len == 0 && i < path.len) {
            return false;
        }
        start = i + 1;
    }
    return true;
}

static bool
is_query(struct writ_view query)
{
    for (size_t i = 0; i < query.len; i++) {
        if (query.ptr[i] == '%') {
            if (query.len - i < 3 || writ_hex_digit(query.ptr[i + 1]) < 0 ||
                writ_hex_digit(query.ptr[i + 2]) < 0) {
                return false;
            }
            i += 2;
        } else if ((classes[(unsigned char)query.ptr[i]] & CLASS_QUERY) == 0) {
            return false;
        }
    }
    return true;
}

/* only origin-form (RFC 9112 3.2.1): the absolute form names a host a second time, and the other
 * two are for proxies and for the server as a whole. */
static writ_result
read_target(struct writ_view target, struct writ_framing *ret, struct writ_framing_fault *fault)
{
    size_t mark = writ_view_find(target, '?');
    struct writ_view path = writ_view_sub(target, 0, mark);

    if (target.len > WRIT_FRAMING_TARGET_MAX) {
        return refuse(fault, 414, WRIT_REASON_HEAD_TOO_LARGE, "request target");
    }
    if (path.len == 0 || path.ptr[0] != '/') {
        REFUSE_HEAD(fault, "the request target is not a path");
    }
    if (!all_of(path, CLASS_PATH)) {
        REFUSE_HEAD(fault, "the path has escapes or bytes that a path cannot have");
    }
    if (!segments_are_plain(path)) {
        REFUSE_HEAD(fault, "the path has empty or dot segments");
    }
    ret->path = path;
    ret->query = writ_view_sub(target, mark + 1, target.len);
    if (!is_query(ret->query)) {
        REFUSE_HEAD(fault, "the query has bytes that a query cannot have");
    }
    return WRIT_DONE;
}

static writ_result
read_line(const struct writ_framing_head *head, struct writ_framing *ret,
    struct writ_framing_fault *fault)
{
    if (head->method.len > WRIT_FRAMING_METHOD_MAX || !writ_framing_is_token(head->method)) {
        REFUSE_HEAD(fault, "the method is not a token");
    }
    ret->method = method_of(head->method);
    WRIT_TRY(read_version(head->version, &ret->http_1_0, fault));
    return read_target(head->target, ret, fault);
}

static enum slot
slot_of(struct writ_view name)
{
    for (unsigned i = 1; i < SLOT_COUNT_; i++) {
        if (writ_view_equal_nocase(name, slot_names[i])) {
            return (enum slot)i;
        }
    }
    return SLOT_NONE;
}

static bool
has_single_prefix(struct writ_view name)
{
    for (size_t i = 0; i < sizeof single_prefixes / sizeof single_prefixes[0]; i++) {
        struct writ_view start = writ_view_sub(name, 0, single_prefixes[i].len);
        if (writ_view_equal_nocase(start, single_prefixes[i])) {
            return true;
        }
    }
    return false;
}

static bool
appears_before(const struct writ_framing_head *head, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (writ_view_equal_nocase(head->headers[i].name, head->headers[at].name)) {
            return true;
        }
    }
    return false;
}

static writ_result
read_fields(const struct writ_framing_head *head, struct writ_view slots[SLOT_COUNT_],
    struct writ_framing_fault *fault)
{
    if (head->count > WRIT_FRAMING_FIELDS_MAX) {
        return refuse(fault, 431, WRIT_REASON_HEAD_TOO_LARGE, "number of fields");
    }
    for (size_t i = 0; i < head->count; i++) {
        const struct writ_header *field = &head->headers[i];
        enum slot slot = slot_of(field->name);

        if (!writ_framing_is_token(field->name)) {
            REFUSE_HEAD(fault, "a field name is not a token"); /* RFC 9112 5.1 */
        }
        if (!writ_framing_is_value(field->value)) {
            REFUSE_HEAD(fault, "a field value has control bytes");
        }
        if (slot != SLOT_NONE) {
            if (slots[slot].ptr != NULL) {
                return refuse(fault, 400, WRIT_REASON_REPEATED_HEADER, slot_names[slot].ptr);
            }
            slots[slot] = writ_view_trim(field->value);
        } else if (has_single_prefix(field->name) && appears_before(head, i)) {
            return refuse(fault, 400, WRIT_REASON_REPEATED_HEADER, "an Mcp- or Writ- field");
        }
    }
    return WRIT_DONE;
}

/* RFC 9112 6: exactly one statement of the end of the body. */
static writ_result
read_length(const struct writ_view slots[SLOT_COUNT_], struct writ_framing *ret,
    struct writ_framing_fault *fault)
{
    struct writ_view length = slots[SLOT_CONTENT_LENGTH];
    struct writ_view coding = slots[SLOT_TRANSFER_ENCODING];

    if (length.ptr != NULL && coding.ptr != NULL) {
        return refuse(
            fault, 400, WRIT_REASON_AMBIGUOUS_LENGTH, "Content-Length beside Transfer-Encoding");
    }
    if (coding.ptr != NULL) {
        if (ret->http_1_0 || !writ_view_is(coding, "chunked")) {
            return refuse(fault, 400, WRIT_REASON_AMBIGUOUS_LENGTH, "Transfer-Encoding");
        }
        ret->chunked = true;
    }
    if (length.ptr != NULL) {
        size_t zeros = 0; /* leading zeros are digits like others */

        while (zeros + 1 < length.len && length.ptr[zeros] == '0') {
            zeros++;
        }
        length = writ_view_sub(length, zeros, length.len);
        if (!writ_is_ok(writ_text_u64(length, 0, UINT64_MAX, &ret->content_length))) {
            return refuse(fault, 400, WRIT_REASON_AMBIGUOUS_LENGTH, "Content-Length");
        }
    }
    /* a method without a route is refused (405), and nothing after its head is read */
    if (ret->method != WRIT_METHOD_POST && ret->method != WRIT_METHOD_NONE &&
        (ret->chunked || ret->content_length > 0)) {
        return refuse(fault, 400, WRIT_REASON_AMBIGUOUS_LENGTH, "a body on a method without one");
    }
    return WRIT_DONE;
}

static bool
is_port(struct writ_view port)
{
    uint64_t number = 0;

    return port.len > 0 && port.len <= 5 && writ_is_ok(writ_text_u64(port, 1, 65535, &number));
}

static bool
is_literal(struct writ_view name)
{
    if (name.len < 4 || name.ptr[0] != '[' || name.ptr[name.len - 1] != ']') {
        return false;
    }
    for (size_t i = 1; i + 1 < name.len; i++) {
        if (writ_hex_digit(name.ptr[i]) < 0 && name.ptr[i] != ':' && name.ptr[i] != '.') {
            return false;
        }
    }
    return true;
}

void
writ_framing_split_host(
    struct writ_view host, struct writ_view *ret_name, struct writ_view *ret_port)
{
    size_t from = host.len > 0 && host.ptr[0] == '[' ? writ_view_find(host, ']') : 0;
    size_t colon = from + writ_view_find(writ_view_sub(host, from, host.len), ':');

    *ret_name = writ_view_sub(host, 0, colon);
    *ret_port = writ_view_sub(host, colon + 1, host.len);
}

bool
writ_framing_is_host(struct writ_view host)
{
    struct writ_view name, port;

    if (host.len == 0 || host.len > WRIT_FRAMING_HOST_MAX) {
        return false;
    }
    writ_framing_split_host(host, &name, &port);
    if (name.len < host.len && !is_port(port)) {
        return false;
    }
    return name.len > 0 && (all_of(name, CLASS_NAME) || is_literal(name));
}

static writ_result
read_rest(const struct writ_view slots[SLOT_COUNT_], struct writ_framing *ret,
    struct writ_framing_fault *fault)
{
    struct writ_view expect = slots[SLOT_EXPECT];

    if (slots[SLOT_HOST].ptr == NULL) {
        REFUSE_HEAD(fault, "there is no Host"); /* RFC 9112 3.2 */
    }
    if (!writ_framing_is_host(slots[SLOT_HOST])) {
        REFUSE_HEAD(fault, "Host is not a host");
    }
    if (expect.ptr != NULL) {
        if (ret->http_1_0 || !writ_view_equal_nocase(expect, WRIT_LIT("100-continue"))) {
            return refuse(fault, 417, WRIT_REASON_EXPECTATION_UNSUPPORTED, "Expect");
        }
        ret->expects_continue = true;
    }
    ret->host = slots[SLOT_HOST];
    ret->origin = slots[SLOT_ORIGIN];
    ret->content_type = slots[SLOT_CONTENT_TYPE];
    ret->content_encoding = slots[SLOT_CONTENT_ENCODING];
    return WRIT_DONE;
}

WRIT_RESULT
writ_framing_read(const struct writ_framing_head *head, struct writ_framing *ret,
    struct writ_framing_fault *fault)
{
    struct writ_framing framing = {0};
    struct writ_view slots[SLOT_COUNT_] = {0};

    WRIT_TRY(read_line(head, &framing, fault));
    WRIT_TRY(read_fields(head, slots, fault));
    WRIT_TRY(read_length(slots, &framing, fault));
    WRIT_TRY(read_rest(slots, &framing, fault));
    *ret = framing;
    return WRIT_DONE;
}

bool
writ_framing_is_harmless_trailer(struct writ_view name)
{
    static const struct writ_view others[] = {WRIT_LIT("trailer"), WRIT_LIT("te"),
        WRIT_LIT("connection"), WRIT_LIT("upgrade"), WRIT_LIT("cookie"), WRIT_LIT("accept"),
        WRIT_LIT("proxy-authorization"), WRIT_LIT("cache-control"), WRIT_LIT("content-range")};

    if (!writ_framing_is_token(name) || slot_of(name) != SLOT_NONE || has_single_prefix(name)) {
        return false;
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (writ_view_equal_nocase(name, others[i])) {
            return false;
        }
    }
    return true;
}

/* ---- media types */

static bool
is_utf8_charset(struct writ_view parameter)
{
    size_t equals = writ_view_find(parameter, '=');
    struct writ_view value = writ_view_sub(parameter, equals + 1, parameter.len);

    if (value.len >= 2 && value.ptr[0] == '"' && value.ptr[value.len - 1] == '"') {
        value = writ_view_sub(value, 1, value.len - 2);
    }
    return writ_view_equal_nocase(writ_view_sub(parameter, 0, equals), WRIT_LIT("charset")) &&
           writ_view_equal_nocase(value, WRIT_LIT("utf-8"));
}

bool
writ_framing_is_json(struct writ_view content_type)
{
    size_t semicolon = writ_view_find(content_type, ';');
    struct writ_view rest = writ_view_sub(content_type, semicolon + 1, content_type.len);

    if (!writ_header_has_type(content_type, WRIT_LIT("application/json"))) {
        return false;
    }
    return semicolon == content_type.len || is_utf8_charset(writ_view_trim(rest));
}
