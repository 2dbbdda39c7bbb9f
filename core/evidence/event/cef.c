/* Every text passes writ_text_safe first, so that only its printable bytes are left to be escaped.
 */
#include "evidence/event/cef.h"

#include "base/text.h"

#define SAFE_BYTES 10100 /* a text in escapes: ten for a byte, and some more */
#define MS_US      1000

/* Escapes `|` in the header, `=` in the extension, and in both `\` and line ends. */
static void
put_escaped(struct writ_buf *ret, struct writ_view text, char special)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (c == '\n' || c == '\r') {
            writ_buf_str(ret, c == '\n' ? "\\n" : "\\r");
            continue;
        }
        if (c == '\\' || c == special) {
            writ_buf_byte(ret, '\\');
        }
        writ_buf_byte(ret, c);
    }
}

static void
put_safe(struct writ_buf *ret, struct writ_view text, char special)
{
    char memory[SAFE_BYTES];
    struct writ_buf safe = writ_buf_over(memory, sizeof memory);

    writ_text_safe(&safe, text, WRIT_CEF_TEXT_MAX);
    put_escaped(ret, writ_buf_view(&safe), special);
}

static void
put_key(struct writ_buf *ret, const char *key)
{
    writ_buf_byte(ret, ' ');
    writ_buf_str(ret, key);
    writ_buf_byte(ret, '=');
}

static void
put(struct writ_buf *ret, const char *key, struct writ_view text)
{
    if (text.len > 0) {
        put_key(ret, key);
        put_safe(ret, text, '=');
    }
}

/* A field without a key of its own in CEF: csN with its label. */
static void
put_custom(struct writ_buf *ret, int n, const char *label, struct writ_view text)
{
    if (text.len > 0) {
        writ_buf_fmt(ret, " cs%dLabel=%s cs%d=", n, label, n);
        put_escaped(ret, text, '=');
    }
}

static void
put_header(struct writ_buf *ret, const struct writ_export_event *event)
{
    static const int severities[] = {0, 1, 3, 5, 8}; /* of CEF, 0 to 10, by severity_id */
    const struct writ_export_meaning *meaning = event->meaning;

    writ_buf_str(ret, "CEF:0|Writ|Writ|" WRIT_VERSION "|");
    writ_buf_put(ret, writ_export_event_kind_name(event->source->kind));
    writ_buf_byte(ret, ':');
    put_safe(ret, event->word.len > 0 ? event->word : WRIT_LIT("unknown"), '|');
    writ_buf_byte(ret, '|');
    writ_buf_str(ret, meaning->text);
    writ_buf_fmt(ret, "|%d|", severities[meaning->severity]);
}

static void
put_place(struct writ_buf *ret, const struct writ_export_event *event)
{
    char hash[WRIT_DIGEST_TEXT];

    writ_digest_text(&event->leaf_hash, hash);
    writ_buf_fmt(ret, " cn1Label=leaf cn1=%llu", (unsigned long long)event->source->leaf);
    put_custom(ret, 1, "leafHash", writ_view_str(hash));
    put_custom(ret, 2, "checkpoint", event->source->checkpoint);
}

static void
put_more(struct writ_buf *ret, const struct writ_export_event *event)
{
    char memory[SAFE_BYTES];
    struct writ_buf safe = writ_buf_over(memory, sizeof memory);

    writ_text_safe(&safe, event->tool, WRIT_CEF_TEXT_MAX);
    put_custom(ret, 3, "tool", writ_buf_view(&safe));
    writ_buf_clear(&safe);
    writ_text_safe(&safe, event->boundary_id, WRIT_CEF_TEXT_MAX);
    put_custom(ret, 4, "boundary", writ_buf_view(&safe));
    writ_buf_clear(&safe);
    writ_text_safe(&safe, event->rule, WRIT_CEF_TEXT_MAX);
    put_custom(ret, 5, "rule", writ_buf_view(&safe));
    writ_buf_clear(&safe);
    writ_text_safe(&safe, event->policy_digest, WRIT_CEF_TEXT_MAX);
    put_custom(ret, 6, "policyDigest", writ_buf_view(&safe));
}

WRIT_RESULT
writ_cef_put(const struct writ_export_event *event, struct writ_buf *ret, struct writ_err *err)
{
    bool is_outcome = event->source->kind == WRIT_EXPORT_OUTCOME;

    put_header(ret, event);
    writ_buf_fmt(ret, "rt=%lld", (long long)(event->source->time_us / MS_US));
    put(ret, "deviceExternalId", event->origin);
    put(ret, "cat", writ_export_event_kind_name(event->source->kind));
    put(ret, is_outcome ? "outcome" : "act", event->word);
    put(ret, "reason", event->reason);
    put(ret, "externalId", event->decision_id);
    put(ret, "suid", event->by.len > 0 ? event->by : event->agent_id);
    put(ret, "suser", event->agent_id);
    put(ret, "spriv", event->agent_role);
    put(ret, "sntdom", event->tenant);
    put(ret, "destinationServiceName", event->upstream);
    put(ret, "duid", event->subject);
    put(ret, "msg", event->comment.len > 0 ? event->comment : event->constraint);
    put_place(ret, event);
    put_more(ret, event);
    return writ_buf_check(ret, err);
}
