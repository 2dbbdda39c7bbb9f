/* For every text as a record: its encodings are one line each, the JSON of two of them reads back,
 * and what is found in a line of any format as its index, hash and checkpoint is what was put in.
 * Without a key, the same text as a line of a receiver is never an event. */
#include "support/fuzz.h"

#include "evidence/event/arrival.h"
#include "evidence/event/export_format.h"
#include "evidence/event/syslog.h"
#include "evidence/json/json.h"

#define ARENA_MAX     ((size_t)64 << 20)
#define TEXT_MAX      ((size_t)16 << 20)
#define ROOT          "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I="
#define NOTE          "example.com/log\n99\n" ROOT "\n\n\xe2\x80\x94 example.com/log AAAAAAAA\n"
#define LEAF          77
#define HEADER_FIELDS 7 /* of CEF */

static size_t
count(struct writ_view text, struct writ_view what)
{
    size_t n = 0;

    for (;;) {
        size_t at = writ_view_search(text, what);

        if (at == text.len) {
            return n;
        }
        n++;
        text = writ_view_sub(text, at + what.len, text.len);
    }
}

/* What follows the seven fields of the header: an equals sign is not escaped before. */
static struct writ_view
extension_of(struct writ_view text)
{
    size_t at = 0;

    for (int pipes = 0; pipes < HEADER_FIELDS && at < text.len; at++) {
        pipes += text.ptr[at] == '|';
        at += text.ptr[at] == '\\';
    }
    return writ_view_sub(text, at, text.len);
}

static void
check(enum writ_export_format format, const struct writ_export_event *event)
{
    struct writ_json_limits limits = writ_json_limits_default;
    struct writ_buf line = writ_buf_make(TEXT_MAX), frame = writ_buf_make(TEXT_MAX);
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);
    const struct writ_json *value = NULL;
    struct writ_view text;

    WRIT_INVARIANT(writ_is_ok(writ_export_format_put(format, event, &line, NULL)));
    text = writ_buf_view(&line);
    for (size_t i = 0; i < text.len; i++) {
        WRIT_INVARIANT((unsigned char)text.ptr[i] >= ' ');
    }
    if (format == WRIT_EXPORT_CEF) {
        text = extension_of(text);
        WRIT_INVARIANT(count(text, WRIT_LIT(" cn1=77 ")) == 1);
        WRIT_INVARIANT(count(text, WRIT_LIT(" cs1=sha256:")) == 1);
        WRIT_INVARIANT(count(text, WRIT_LIT(" cs2=example.com/log\\n99\\n")) == 1);
    } else {
        limits.bytes = limits.string_bytes = TEXT_MAX;
        limits.depth += 2;
        WRIT_INVARIANT(writ_is_ok(writ_json_read(text, &limits, arena, &value, NULL)));
    }
    WRIT_INVARIANT(writ_is_ok(writ_syslog_put(event, WRIT_LIT("host"), text, &frame, NULL)));
    writ_buf_wipe(&line);
    writ_buf_wipe(&frame);
    writ_arena_free(arena);
}

/* A line of a receiver: whatever it is, without a key it is never an event. */
static void
arrive(struct writ_view line)
{
    const struct writ_arrival_options options = {0};
    struct writ_arrival_report report;
    struct writ_arrival *arrival = NULL;
    writ_result result;

    WRIT_INVARIANT(writ_is_ok(writ_arrival_new(&options, &arrival, NULL)));
    result = writ_arrival_line(arrival, line, NULL);
    WRIT_INVARIANT(result.code == WRIT_E_MISMATCH || writ_view_trim(line).len == 0);
    WRIT_INVARIANT(writ_is_ok(writ_arrival_end(arrival, &report, NULL)) && report.events == 0);
    writ_arrival_free(arrival);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);

    arrive(writ_view(data, size));
    for (int kind = WRIT_EXPORT_NONE; kind <= WRIT_EXPORT_FACT; kind++) {
        const struct writ_export_source source = {.kind = (enum writ_export_kind)kind,
            .leaf = LEAF,
            .record = writ_view(data, size),
            .decision = kind == WRIT_EXPORT_OUTCOME ? writ_view(data, size) : WRIT_LIT(""),
            .checkpoint = WRIT_LIT(NOTE)};
        struct writ_export_event event;

        writ_arena_reset(arena);
        if (writ_is_ok(writ_export_event_make(&source, arena, &event, NULL))) {
            check(WRIT_EXPORT_JSON, &event);
            check(WRIT_EXPORT_OCSF, &event);
            check(WRIT_EXPORT_CEF, &event);
        }
    }
    writ_arena_free(arena);
    return 0;
}
