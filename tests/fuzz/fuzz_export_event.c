/* For every text as a record: its encodings are one line each, the JSON of two of them reads back,
 * and what is found in a line of any format as its index, hash and checkpoint is what was put in.
 */
#include "support/fuzz.h"

#include "evidence/event/export_format.h"
#include "evidence/event/syslog.h"
#include "evidence/json/json.h"

#define ARENA_MAX ((size_t)64 << 20)
#define TEXT_MAX  ((size_t)16 << 20)
#define ROOT      "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I="
#define NOTE      "example.com/log\n99\n" ROOT "\n\n\xe2\x80\x94 example.com/log AAAAAAAA\n"
#define LEAF      77

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

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);

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
