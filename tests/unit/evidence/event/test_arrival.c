/* Events that a receiver has kept. What is missing, exchanged, foreign or not signed is found, in
 * any order, and repeats are counted. */
#include "support/unit.h"

#include "evidence/event/arrival.h"
#include "evidence/event/export_format.h"
#include "support/store/kit.h"
#include "store/disk/heads.h"
#include "store/read/tail.h"
#include "store/trusted/keydir.h"

#include <stdio.h>

#define ARENA_MAX ((size_t)1 << 26)
#define LINES     10 /* of writ_kit_two_runs */
#define TEXT_MAX  ((size_t)1 << 16)

static struct writ_kit kit;
static struct writ_buf lines[LINES];
static struct writ_note_key *key;
static enum writ_export_format format;

static bool
keep(void *ctx, const struct writ_tail_record *record)
{
    struct writ_arena *arena = ctx;
    struct writ_export_event event;
    const struct writ_export_source source = {.kind = (enum writ_export_kind)record->kind,
        .leaf = record->leaf,
        .time_us = record->time_us,
        .record = record->body,
        .decision = record->decision,
        .checkpoint = record->note};

    writ_arena_reset(arena);
    lines[record->leaf] = writ_buf_make(TEXT_MAX);
    ck_assert_ok(writ_export_event_make(&source, arena, &event, NULL));
    ck_assert_ok(writ_export_format_put(format, &event, &lines[record->leaf], NULL));
    return true;
}

static void
open_all(enum writ_export_format which)
{
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);
    struct writ_buf text = writ_buf_make(TEXT_MAX);
    struct writ_tail *tail = NULL;

    format = which;
    writ_kit_start(&kit);
    writ_kit_two_runs(&kit, NULL);
    ck_assert_ok(writ_tail_open(kit.path, &tail, NULL));
    ck_assert_ok(writ_tail_read(tail, 0, LINES, keep, arena, NULL));
    ck_assert_ok(writ_checkpoint_keys(kit.ring, writ_tail_origin(tail), false, &text, NULL));
    ck_assert_ok(
        writ_note_key_read(writ_view_sub(writ_buf_view(&text), 0, text.len - 1), &key, NULL));
    writ_tail_close(tail);
    writ_buf_wipe(&text);
    writ_arena_free(arena);
}

static void
close_all(void)
{
    for (int i = 0; i < LINES; i++) {
        writ_buf_wipe(&lines[i]);
    }
    writ_note_key_free(key);
    writ_kit_wipe(&kit);
}

static struct writ_arrival *
arrival_from(uint64_t from)
{
    const struct writ_note_key *const *keys = (const struct writ_note_key *const *)&key;
    const struct writ_arrival_options options = {.keys = keys, .keys_n = 1, .from = from};
    struct writ_arrival *arrival = NULL;

    ck_assert_ok(writ_arrival_new(&options, &arrival, NULL));
    return arrival;
}

static void
check_of_all_events_in_any_order_is_complete(void)
{
    for (int step = 1; step < LINES; step += 2) { /* 1, 3, 7, 9: prime to ten, or five twice */
        struct writ_arrival *arrival = arrival_from(0);
        struct writ_arrival_report report = {0};

        for (int i = 0; i < 2 * LINES; i++) {
            ck_assert_ok(writ_arrival_line(
                arrival, writ_buf_view(&lines[step == 5 ? i / 2 : i * step % LINES]), NULL));
        }
        ck_assert_ok(writ_arrival_end(arrival, &report, NULL));
        ck_assert_uint_eq(report.events, 2 * LINES);
        ck_assert_uint_eq(report.repeats, LINES);
        ck_assert_uint_eq(report.missing, 0);
        ck_assert_uint_eq(report.size, LINES);
        ck_assert(report.tree);
        writ_arrival_free(arrival);
    }
}

START_TEST(arrival_of_all_events_in_any_order_is_complete)
{
    for (int i = 0; i <= WRIT_EXPORT_CEF; i++) {
        open_all((enum writ_export_format)i);
        check_of_all_events_in_any_order_is_complete();
        close_all();
    }
}
END_TEST

static void
check_without_one_event_names_it(void)
{
    for (int gone = 0; gone < LINES; gone++) {
        struct writ_arrival *arrival = arrival_from(0);
        struct writ_arrival_report report = {0};

        for (int i = 0; i < LINES; i++) {
            if (i != gone) {
                ck_assert_ok(writ_arrival_line(arrival, writ_buf_view(&lines[i]), NULL));
            }
        }
        ck_assert_ok(writ_arrival_end(arrival, &report, NULL));
        /* the last one is covered by its own checkpoint alone */
        ck_assert_uint_eq(report.missing, gone < (int)report.size);
        ck_assert(report.missing == 0 || report.first_missing == (uint64_t)gone);
        writ_arrival_free(arrival);
    }
}

START_TEST(arrival_without_one_event_names_it)
{
    for (int i = 0; i <= WRIT_EXPORT_CEF; i++) {
        open_all((enum writ_export_format)i);
        check_without_one_event_names_it();
        close_all();
    }
}
END_TEST

static void
check_with_any_changed_byte_is_refused_or_says_the_same(void)
{
    size_t record = writ_view_search(writ_buf_view(&lines[2]), WRIT_LIT("\"record\":{")) + 9;
    size_t end = writ_view_search(writ_buf_view(&lines[2]), WRIT_LIT(",\"word\":"));

    for (size_t at = 0; at < lines[2].len; at++) {
        struct writ_arrival *arrival = arrival_from(0);
        struct writ_arrival_report report = {0};
        writ_result result = WRIT_DONE;

        lines[2].ptr[at] ^= 1;
        for (int i = 0; i < LINES && writ_is_ok(result); i++) {
            result = writ_arrival_line(arrival, writ_buf_view(&lines[i]), NULL);
        }
        if (writ_is_ok(result)) {
            result = writ_arrival_end(arrival, &report, NULL);
        }
        ck_assert(
            writ_is_ok(result) || result.code == WRIT_E_MISMATCH || result.code == WRIT_E_LIMIT);
        if (format == WRIT_EXPORT_JSON && writ_is_ok(result)) {
            ck_assert_msg(at < record || at >= end, "byte %zu of the record", at);
        }
        ck_assert(!writ_is_ok(result) || report.missing > 0 || report.tree);
        lines[2].ptr[at] ^= 1;
        writ_arrival_free(arrival);
    }
}

START_TEST(arrival_with_any_changed_byte_is_refused_or_says_the_same)
{
    for (int i = 0; i <= WRIT_EXPORT_CEF; i++) {
        open_all((enum writ_export_format)i);
        check_with_any_changed_byte_is_refused_or_says_the_same();
        close_all();
    }
}
END_TEST

START_TEST(arrival_line_of_another_text_is_refused)
{
    static const char *const texts[] = {"x", "{", "{}", "[]", "CEF:0|", "CEF:0|a|b|c|d|e|f|",
        "CEF:0|a|b|c|d|e|f|x=1 cn1=1 cs1=y cs2=z", "{\"leaf\":1}", "\\", "|"};
    struct writ_arrival *arrival;
    struct writ_arrival_report report = {0};

    open_all(WRIT_EXPORT_JSON);
    arrival = arrival_from(0);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        ck_assert_code(writ_arrival_line(arrival, writ_view_str(texts[i]), NULL), WRIT_E_MISMATCH);
    }
    ck_assert_ok(writ_arrival_line(arrival, WRIT_LIT(" \t"), NULL));
    ck_assert_ok(writ_arrival_end(arrival, &report, NULL));
    ck_assert_uint_eq(report.events, 0);
    writ_arrival_free(arrival);
    close_all();
}
END_TEST

WRIT_UNIT_MAIN("arrival", arrival_of_all_events_in_any_order_is_complete,
    arrival_without_one_event_names_it, arrival_with_any_changed_byte_is_refused_or_says_the_same,
    arrival_line_of_another_text_is_refused)
