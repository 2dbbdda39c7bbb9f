/* event_sample.c - prints an event for every word that a record can have, with names that try to
 * leave their field, for export.test.mjs: `event_sample json|ocsf|cef`. */
#include "evidence/event/export_format.h"

#include <stdio.h>

#define CHECKED(call) WRIT_INVARIANT(writ_is_ok(call))

#define ARENA_MAX ((size_t)16 << 20)
#define TEXT_MAX  ((size_t)1 << 20)
#define ROOT      "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I="
#define NOTE      "example.com/log\n99\n" ROOT "\n\n\xe2\x80\x94 example.com/log AAAAAAAA\n"
#define TIME      "2026-06-25T05:00:00.000001Z"
/* a line end, a pipe, an equals sign, quotes, a backslash, a turned direction, a NUL */
#define HOSTILE                                                                                    \
    "x\\n CEF:0|a|b cn1=7 cs1=\\\"\\\\ \\u202e \\u0000 \\u0085 \\ud83d\\ude00 {\\\"leaf\\\":1}"

static const char *const names[] = {"plain", HOSTILE};

/* The record of a kind with that word, all names the given one. */
static void
put_record(struct writ_buf *ret, const struct writ_export_meaning *row, const char *name)
{
    const char *word = row->word.ptr;

    switch (row->kind) {
    case WRIT_EXPORT_DECISION:
        writ_buf_fmt(ret,
            "{\"agent_id\":\"%s\",\"agent_role\":\"%s\",\"boundary_id\":\"%s\",\"decision\":\"%s\","
            "\"decision_id\":\"%s\",\"extensions\":{\"writ\":{\"constraint\":\"%s\",\"reason\":"
            "\"%s\",%s\"tenant\":\"%s\",\"trace_id\":\"%s\",\"upstream\":\"%s\"}},\"policy_"
            "digest\":"
            "\"sha256:%s\",\"policy_refs\":[\"%s\"],\"tool\":\"%s\"}",
            name, name, name, writ_view_is(row->word, "shadow") ? "deny" : word, name, name, name,
            writ_view_is(row->word, "shadow") ? "\"shadow\":true," : "", name, name, name, name,
            name, name);
        return;
    case WRIT_EXPORT_OUTCOME:
        writ_buf_fmt(ret,
            "{\"boundary_id\":\"%s\",\"completed_at\":\"" TIME "\",\"decision_id\":\"%s\","
            "\"error_message\":\"SECRET\",\"error_type\":\"%s\",\"outcome\":\"%s\"}",
            name, name, name, word);
        return;
    case WRIT_EXPORT_SEAL:
        writ_buf_fmt(ret, "{\"boundary_id\":\"%s\",\"sealed\":true,\"total\":1}", name);
        return;
    case WRIT_EXPORT_REVIEW:
        writ_buf_fmt(ret,
            "{\"at\":\"" TIME "\",\"by\":\"%s\",\"decision_id\":\"%s\",\"event\":\"%s\","
            "\"feedback\":\"SECRET\",\"n\":0,\"vote\":\"%s\"}",
            name, name, word, name);
        return;
    case WRIT_EXPORT_FACT:
        writ_buf_fmt(ret,
            "{\"at\":\"" TIME "\",\"data\":{\"by\":\"%s\",\"id\":\"%s\",\"reason\":\"%s\",\"tool\":"
            "\"%s\",\"value\":\"%s\",\"who\":\"%s\"},\"event\":\"%s\",\"n\":0}",
            name, name, name, name, name, name, word);
        return;
    case WRIT_EXPORT_NONE:
        break;
    }
    WRIT_INVARIANT(false);
}

static void
print(enum writ_export_format format, const struct writ_export_meaning *row, const char *name,
    uint64_t leaf)
{
    static const struct writ_export_meaning about = {
        .kind = WRIT_EXPORT_DECISION, .word = {"allow", 5}};
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);
    struct writ_buf record = writ_buf_make(TEXT_MAX), decision = writ_buf_make(TEXT_MAX);
    struct writ_buf line = writ_buf_make(TEXT_MAX);
    struct writ_export_source source = {
        .kind = row->kind, .leaf = leaf, .time_us = 1782363600000001, .checkpoint = WRIT_LIT(NOTE)};
    struct writ_export_event event;

    put_record(&record, row, name);
    put_record(&decision, &about, name);
    source.record = writ_buf_view(&record);
    if (row->kind == WRIT_EXPORT_OUTCOME || row->kind == WRIT_EXPORT_REVIEW) {
        source.decision = writ_buf_view(&decision);
    }
    CHECKED(writ_export_event_make(&source, arena, &event, NULL));
    CHECKED(writ_export_format_put(format, &event, &line, NULL));
    WRIT_INVARIANT(fwrite(line.ptr, 1, line.len, stdout) == line.len);
    (void)putchar('\n');
    writ_buf_wipe(&line);
    writ_buf_wipe(&record);
    writ_buf_wipe(&decision);
    writ_arena_free(arena);
}

int
main(int argc, char **argv)
{
    static const struct writ_export_meaning rows[] = {
#define ROW(KIND, word_, ...) {.kind = WRIT_EXPORT_##KIND, .word = {#word_, sizeof #word_ - 1}},
        WRIT_EXPORT_EVENTS(ROW)
#undef ROW
    };
    enum writ_export_format format;
    uint64_t leaf = 0;

    if (argc != 2 || !writ_export_format_find(writ_view_str(argv[1]), &format)) {
        return 2;
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t j = 0; j < sizeof names / sizeof names[0]; j++) {
            print(format, &rows[i], names[j], leaf++);
        }
    }
    return 0;
}
