/* Events and their encodings. A name never leaves its field, a member of a wrong type is absent,
 * and a record that is not readable gives no event. */
#include "support/unit.h"

#include "evidence/event/export_format.h"
#include "evidence/event/syslog.h"

#include <stdio.h>
#include <string.h>

#define ARENA_MAX ((size_t)1 << 24)
#define TEXT_MAX  ((size_t)1 << 20)
#define ROOT      "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I="
#define NOTE      "example.com/log\n9\n" ROOT "\n\n\xe2\x80\x94 example.com/log AAAAAAAA\n"

static struct writ_arena *arena;
static struct writ_export_source source;
static struct writ_export_event event;
static char memory[TEXT_MAX];

static void
make(enum writ_export_kind kind, const char *record, const char *decision)
{
    arena = arena != NULL ? arena : writ_arena_new(ARENA_MAX);
    source = (struct writ_export_source){.kind = kind,
        .leaf = 7,
        .time_us = 1782363600000001,
        .record = writ_view_str(record),
        .decision = writ_view_str(decision),
        .checkpoint = WRIT_LIT(NOTE)};
    ck_assert_ok(writ_export_event_make(&source, arena, &event, NULL));
}

static struct writ_view
encoded(enum writ_export_format format)
{
    struct writ_buf buf = writ_buf_over(memory, sizeof memory);

    ck_assert_ok(writ_export_format_put(format, &event, &buf, NULL));
    return writ_buf_view(&buf);
}

static bool
has(struct writ_view text, const char *part)
{
    return writ_view_search(text, writ_view_str(part)) < text.len;
}

START_TEST(event_make_of_an_outcome_has_the_call_of_its_decision)
{
    make(WRIT_EXPORT_OUTCOME,
        "{\"decision_id\":\"d\",\"error_type\":\"not_sent\",\"outcome\":\"error\"}",
        "{\"agent_id\":\"a\",\"decision\":\"allow\",\"decision_id\":\"d\",\"extensions\":{\"writ\":"
        "{\"reason\":\"r\",\"upstream\":\"fs\"}},\"tool\":\"read\"}");
    ck_assert_view(event.agent_id, "a");
    ck_assert_view(event.tool, "read");
    ck_assert_view(event.upstream, "fs");
    ck_assert_view(event.reason, "not_sent");
    ck_assert_view(event.word, "error");
    ck_assert_view(event.origin, "example.com/log");
    ck_assert_str_eq(event.meaning->text, "Tool call failed");
}
END_TEST

START_TEST(event_make_of_an_unknown_word_or_type_has_the_row_other)
{
    make(WRIT_EXPORT_FACT, "{\"at\":\"x\",\"data\":{},\"event\":\"of_later\",\"n\":0}", "");
    ck_assert_view(event.meaning->word, "other");
    ck_assert(has(encoded(WRIT_EXPORT_OCSF), "\"activity_name\":\"of_later\""));
    make(WRIT_EXPORT_DECISION, "{\"decision\":7,\"tool\":[],\"agent_id\":null}", "");
    ck_assert_view(event.meaning->word, "other");
    ck_assert_uint_eq(event.tool.len, 0);
    ck_assert(has(encoded(WRIT_EXPORT_OCSF), "\"operation\":\"unknown\""));
}
END_TEST

START_TEST(event_make_of_an_allow_in_shadow_mode_stays_an_allow)
{
#define SHADOW(word)                                                                               \
    "{\"decision\":\"" word "\",\"extensions\":{\"writ\":{\"shadow\":true}},\"tool\":\"t\"}"
    make(WRIT_EXPORT_DECISION, SHADOW("allow"), "");
    ck_assert_view(event.meaning->word, "allow");
    make(WRIT_EXPORT_DECISION, SHADOW("deny"), "");
    ck_assert_view(event.meaning->word, "shadow");
    ck_assert(has(encoded(WRIT_EXPORT_OCSF), "\"action\":\"Observed\""));
    ck_assert(has(encoded(WRIT_EXPORT_CEF), "|decision:deny|Tool call let through"));
}
END_TEST

START_TEST(event_make_of_a_record_about_a_run_is_neither_allow_nor_deny)
{
    static const char *const reasons[] = {"task_stated", "content_read"};

    for (size_t i = 0; i < 2; i++) {
        static char record[128]; /* the next test looks at it too */
        char word[64];

        (void)snprintf(record, sizeof record,
            "{\"decision\":\"deny\",\"extensions\":{\"writ\":{\"reason\":\"%s\"}},\"tool\":\"t\"}",
            reasons[i]);
        make(WRIT_EXPORT_DECISION, record, "");
        ck_assert_view(event.word, reasons[i]);
        ck_assert_view(event.meaning->word, reasons[i]);
        ck_assert_int_eq(event.meaning->action, 0);
        ck_assert_int_eq(event.meaning->disposition, 0);
        ck_assert_int_eq(event.meaning->severity, WRIT_EXPORT_INFORMATIONAL);
        (void)snprintf(word, sizeof word, "\"word\":\"%s\"}", reasons[i]);
        ck_assert(has(encoded(WRIT_EXPORT_JSON), word));
        (void)snprintf(word, sizeof word, "|decision:%s|", reasons[i]);
        ck_assert(has(encoded(WRIT_EXPORT_CEF), word));
        ck_assert(!has(encoded(WRIT_EXPORT_CEF), "act=deny"));
        ck_assert(!has(encoded(WRIT_EXPORT_OCSF), "\"disposition\""));
    }
}
END_TEST

START_TEST(event_make_of_an_unreadable_record_is_refused)
{
    static const char *const records[] = {
        "", "{", "[]", "{\"a\":1,\"a\":2}", "{\"a\":\"\xff\"}", "{\"a\":1}\n", "{\t}", "7"};

    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++) {
        const struct writ_export_source bad = {.kind = WRIT_EXPORT_DECISION,
            .record = writ_view_str(records[i]),
            .checkpoint = WRIT_LIT(NOTE)};
        ck_assert_code(writ_export_event_make(&bad, arena, &event, NULL), WRIT_E_MISMATCH);
    }
    source.checkpoint = WRIT_LIT("no note");
    ck_assert_code(writ_export_event_make(&source, arena, &event, NULL), WRIT_E_MISMATCH);
    source = (struct writ_export_source){.record = WRIT_LIT("{}"), .checkpoint = WRIT_LIT(NOTE)};
    ck_assert_code(writ_export_event_make(&source, arena, &event, NULL), WRIT_E_MISMATCH);
}
END_TEST

START_TEST(cef_escapes_pipes_in_the_header_and_equals_signs_in_the_extension)
{
    make(WRIT_EXPORT_FACT,
        "{\"data\":{\"reason\":\"a=b|c\\\\d\\ne\\u202e\"},\"event\":\"x|y\\\\z=\\n\"}", "");
    ck_assert(has(encoded(WRIT_EXPORT_CEF), "|fact:x\\|y\\\\z=\\\\u000a|Fact|3|rt=1782363600000 "));
    ck_assert(has(encoded(WRIT_EXPORT_CEF), " msg=a\\=b|c\\\\d\\\\u000ae\\\\u202e "));
    ck_assert(has(encoded(WRIT_EXPORT_CEF), " cs2=example.com/log\\n9\\n"));
    ck_assert_uint_eq(writ_view_find(encoded(WRIT_EXPORT_CEF), '\n'), encoded(WRIT_EXPORT_CEF).len);
}
END_TEST

START_TEST(encodings_cut_names_that_are_too_long)
{
    static char record[200000];
    size_t n = (size_t)snprintf(record, sizeof record, "{\"decision\":\"deny\",\"tool\":\"");

    for (size_t i = 0; i < 30000; i++) { /* six bytes in a JSON text */
        n += (size_t)snprintf(record + n, sizeof record - n, "\\u0001");
    }
    (void)snprintf(record + n, sizeof record - n, "\"}");
    make(WRIT_EXPORT_DECISION, record, "");
    ck_assert_uint_lt(encoded(WRIT_EXPORT_OCSF).len, 16384);
    ck_assert(has(encoded(WRIT_EXPORT_OCSF), "\\u0001"));
    ck_assert_uint_lt(encoded(WRIT_EXPORT_CEF).len, 16384);
    ck_assert_uint_gt(encoded(WRIT_EXPORT_JSON).len, n);
}
END_TEST

START_TEST(syslog_frame_counts_its_octets)
{
    struct writ_buf buf = writ_buf_over(memory, sizeof memory);

    make(WRIT_EXPORT_SEAL, "{\"boundary_id\":\"b\",\"sealed\":true}", "");
    ck_assert_ok(writ_syslog_put(&event, WRIT_LIT("a b\n"), WRIT_LIT("EVENT"), &buf, NULL));
    ck_assert_view(
        writ_buf_view(&buf), "59 <110>1 2026-06-25T05:00:00.000001Z a?b? writ - seal - EVENT");
    writ_buf_clear(&buf);
    ck_assert_ok(writ_syslog_put(&event, WRIT_LIT(""), WRIT_LIT(""), &buf, NULL));
    ck_assert_view(writ_buf_view(&buf), "51 <110>1 2026-06-25T05:00:00.000001Z - writ - seal - ");
}
END_TEST

START_TEST(format_find_knows_each_name_and_no_other)
{
    enum writ_export_format format = WRIT_EXPORT_OCSF;

    ck_assert(writ_export_format_find(WRIT_LIT("cef"), &format));
    ck_assert_int_eq(format, WRIT_EXPORT_CEF);
    ck_assert(!writ_export_format_find(WRIT_LIT("CEF"), &format));
    ck_assert_int_eq(format, WRIT_EXPORT_CEF);
    ck_assert_ptr_null(writ_export_event_caption("severity", 77));
    writ_arena_free(arena);
    arena = NULL;
}
END_TEST

WRIT_UNIT_MAIN("export_event", event_make_of_an_outcome_has_the_call_of_its_decision,
    event_make_of_an_unknown_word_or_type_has_the_row_other,
    event_make_of_an_allow_in_shadow_mode_stays_an_allow,
    event_make_of_a_record_about_a_run_is_neither_allow_nor_deny,
    event_make_of_an_unreadable_record_is_refused,
    cef_escapes_pipes_in_the_header_and_equals_signs_in_the_extension,
    encodings_cut_names_that_are_too_long, syslog_frame_counts_its_octets,
    format_find_knows_each_name_and_no_other)
