/* trace_context.c - both fields as W3C Trace Context defines them (3.2, 3.3), read without
 * tolerance: a field that is not exact is not used. */
#include "gateway/telemetry/trace_context.h"

#define TRACE_AT 3 /* "00-" */
#define SPAN_AT  36
#define FLAGS_AT 53

#define FLAG_SAMPLED 0x01

#define KEY_MAX    256
#define TENANT_MAX 241 /* of a key tenant@system */
#define SYSTEM_MAX 14
#define VALUE_MAX  256

/* ---- traceparent */

static bool
is_zero(const unsigned char *bytes, size_t n)
{
    unsigned char any = 0;

    for (size_t i = 0; i < n; i++) {
        any |= bytes[i];
    }
    return any == 0;
}

bool
writ_trace_context_is(const struct writ_trace_context *context)
{
    return !is_zero(context->trace_id, WRIT_TRACE_ID_BYTES) &&
           !is_zero(context->span_id, WRIT_SPAN_ID_BYTES);
}

/* The dashes, and the length that its version permits. */
static bool
has_form(struct writ_view text, unsigned char version)
{
    const char *at = text.ptr;

    return text.len >= WRIT_TRACEPARENT_LEN && version != 0xff && at[TRACE_AT - 1] == '-' &&
           at[SPAN_AT - 1] == '-' && at[FLAGS_AT - 1] == '-' &&
           (text.len == WRIT_TRACEPARENT_LEN || (version > 0 && at[WRIT_TRACEPARENT_LEN] == '-'));
}

WRIT_RESULT
writ_trace_context_read(struct writ_view text, struct writ_trace_context *ret)
{
    struct writ_trace_context read = {.sampled = false};
    unsigned char version, flags;

    WRIT_TRY(writ_hex_read(writ_view_sub(text, 0, 2), &version, 1));
    if (!has_form(text, version)) {
        return (writ_result){WRIT_E_PARSE};
    }
    WRIT_TRY(writ_hex_read(writ_view_sub(text, TRACE_AT, 2 * WRIT_TRACE_ID_BYTES), read.trace_id,
        WRIT_TRACE_ID_BYTES));
    WRIT_TRY(writ_hex_read(
        writ_view_sub(text, SPAN_AT, 2 * WRIT_SPAN_ID_BYTES), read.span_id, WRIT_SPAN_ID_BYTES));
    WRIT_TRY(writ_hex_read(writ_view_sub(text, FLAGS_AT, 2), &flags, 1));
    if (!writ_trace_context_is(&read)) {
        return (writ_result){WRIT_E_PARSE};
    }
    read.sampled = (flags & FLAG_SAMPLED) != 0;
    *ret = read;
    return WRIT_DONE;
}

void
writ_trace_context_put(const struct writ_trace_context *context, struct writ_buf *ret)
{
    writ_buf_str(ret, "00-");
    writ_hex_put(ret, context->trace_id, WRIT_TRACE_ID_BYTES);
    writ_buf_byte(ret, '-');
    writ_hex_put(ret, context->span_id, WRIT_SPAN_ID_BYTES);
    writ_buf_str(ret, context->sampled ? "-01" : "-00");
}

/* ---- tracestate */

static bool
is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Letters, digits and four marks; `digit`: also for the first one. */
static bool
is_name(struct writ_view name, size_t max, bool digit)
{
    if (name.len == 0 || name.len > max ||
        !(is_lower(name.ptr[0]) || (digit && is_digit(name.ptr[0])))) {
        return false;
    }
    for (size_t i = 1; i < name.len; i++) {
        char c = name.ptr[i];
        if (!is_lower(c) && !is_digit(c) && c != '_' && c != '-' && c != '*' && c != '/') {
            return false;
        }
    }
    return true;
}

static bool
is_key(struct writ_view key)
{
    size_t at = writ_view_find(key, '@');

    return at == key.len ? is_name(key, KEY_MAX, true)
                         : is_name(writ_view_sub(key, 0, at), TENANT_MAX, true) &&
                               is_name(writ_view_sub(key, at + 1, SIZE_MAX), SYSTEM_MAX, false);
}

/* Printable ASCII without ',' and '='. The caller has removed spaces at its end. */
static bool
is_value(struct writ_view value)
{
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] < ' ' || value.ptr[i] > '~' || value.ptr[i] == '=') {
            return false;
        }
    }
    return value.len > 0 && value.len <= VALUE_MAX;
}

/* The key of the entry that begins at `at`, up to the next comma; `ret_next`: after the comma. */
static struct writ_view
entry_at(struct writ_view text, size_t at, size_t *ret_next)
{
    struct writ_view rest = writ_view_sub(text, at, SIZE_MAX);
    size_t comma = writ_view_find(rest, ',');

    *ret_next = at + comma + 1;
    return writ_view_trim(writ_view_sub(rest, 0, comma));
}

static struct writ_view
key_of(struct writ_view entry)
{
    return writ_view_sub(entry, 0, writ_view_find(entry, '='));
}

/* Whether an entry before `end` has the same key. */
static bool
is_repeated(struct writ_view text, size_t end, struct writ_view key)
{
    for (size_t at = 0; at < end;) {
        if (writ_view_equal(key_of(entry_at(text, at, &at)), key)) {
            return true;
        }
    }
    return false;
}

bool
writ_trace_context_is_state(struct writ_view text)
{
    size_t entries = 0;

    if (text.len > WRIT_TRACESTATE_MAX) {
        return false;
    }
    for (size_t at = 0, next; at <= text.len; at = next) {
        struct writ_view entry = entry_at(text, at, &next);
        struct writ_view key = key_of(entry);

        if (entry.len == 0) { /* empty entries are permitted (3.3.1.1) */
            continue;
        }
        if (++entries > WRIT_TRACESTATE_ITEMS || !is_key(key) ||
            !is_value(writ_view_sub(entry, key.len + 1, SIZE_MAX)) || is_repeated(text, at, key)) {
            return false;
        }
    }
    return entries > 0;
}
