/* Anchors, which publish checkpoints. The file gets the last checkpoint; a checkpoint that the
 * ledger does not continue is never overwritten, and each failure is reported. */
#include "support/store/kit.h"
#include "support/unit.h"

#include "base/text.h"
#include "gateway/service/anchor.h"

#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct writ_kit_spec spec;

/* A ledger with records, and the file in its folder that is its anchor. */
struct place {
    struct writ_kit kit;
    struct writ_proofs *proofs;
    char path[512];
};

static void
place_init(struct place *place)
{
    writ_kit_start(&place->kit);
    writ_kit_run(&place->kit, (spec){.argument = "1"});
    ck_assert_ok(writ_proofs_open(place->kit.path, place->kit.ring, &place->proofs, NULL));
    (void)snprintf(place->path, sizeof place->path, "%s.anchor", place->kit.path);
}

static void
place_wipe(struct place *place)
{
    (void)unlink(place->path);
    writ_proofs_close(place->proofs);
    writ_kit_wipe(&place->kit);
}

static writ_result
send(struct place *place, const char *to, struct writ_checkpoint *ret)
{
    const struct writ_anchor anchor = {.to = to};
    struct writ_view note;

    return writ_anchor_send(&anchor, place->proofs, NULL, ret, &note, NULL);
}

static void
put(const char *path, struct writ_view text)
{
    FILE *file = fopen(path, "w");

    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(text.ptr, 1, text.len, file), text.len);
    ck_assert_int_eq(fclose(file), 0);
}

static void
get(const char *path, struct writ_buf *ret)
{
    *ret = writ_buf_make(2 * WRIT_NOTE_BYTES_MAX);
    ck_assert_ok(writ_text_file(path, ret->max, ret, NULL));
}

START_TEST(anchor_is_url_of_a_name_with_a_scheme_is_true)
{
    ck_assert(writ_anchor_is_url(WRIT_LIT("https://example.com/")));
    ck_assert(writ_anchor_is_url(WRIT_LIT("ftp://example.com/")));
    ck_assert(!writ_anchor_is_url(WRIT_LIT("/srv/anchor.txt")));
    ck_assert(!writ_anchor_is_url(WRIT_LIT("")));
    ck_assert(!writ_anchor_is_url(writ_view(NULL, 0)));
}
END_TEST

START_TEST(anchor_send_writes_the_last_checkpoint)
{
    struct writ_checkpoint head, sent;
    struct writ_buf text;
    struct stat status;
    struct place place;
    struct writ_view note;

    place_init(&place);
    for (int i = 0; i < 3; i++) {
        ck_assert_ok(send(&place, place.path, &sent));
        ck_assert_ok(writ_proofs_head(place.proofs, &head, &note, NULL));
        ck_assert_uint_eq(sent.size, head.size);
        get(place.path, &text);
        ck_assert(writ_view_equal(writ_buf_view(&text), note));
        writ_buf_wipe(&text);
        ck_assert_int_eq(stat(place.path, &status), 0);
        ck_assert_uint_eq(status.st_mode & 07777, 0644);
        writ_kit_run(&place.kit, (spec){.argument = i == 0 ? "2" : i == 1 ? "3" : "4"});
    }
    place_wipe(&place);
}
END_TEST

START_TEST(anchor_send_keeps_a_file_that_the_ledger_does_not_continue)
{
    static const char *const strange[] = {"", "x", "writ-ledger/other\n1\n"};
    struct writ_checkpoint sent = {.size = 7};
    struct place place, other;
    struct writ_buf text;

    place_init(&place);
    place_init(&other);
    for (size_t i = 0; i < sizeof strange / sizeof strange[0]; i++) {
        put(place.path, writ_view_str(strange[i]));
        ck_assert_code(send(&place, place.path, &sent), WRIT_E_MISMATCH);
        get(place.path, &text);
        ck_assert(writ_view_is(writ_buf_view(&text), strange[i]));
        writ_buf_wipe(&text);
    }
    ck_assert_ok(send(&other, other.path, &sent));
    sent.size = 7;
    ck_assert_code(send(&place, other.path, &sent), WRIT_E_MISMATCH);
    ck_assert_uint_eq(sent.size, 7);
    place_wipe(&other);
    place_wipe(&place);
}
END_TEST

START_TEST(anchor_send_reads_a_file_up_to_the_maximum_note)
{
    struct writ_buf text = writ_buf_make(WRIT_NOTE_BYTES_MAX + 1);
    struct writ_checkpoint sent;
    struct place place;

    place_init(&place);
    while (text.len < WRIT_NOTE_BYTES_MAX) {
        writ_buf_byte(&text, 'x');
    }
    put(place.path, writ_buf_view(&text));
    ck_assert_code(send(&place, place.path, &sent), WRIT_E_MISMATCH);
    writ_buf_byte(&text, 'x');
    put(place.path, writ_buf_view(&text));
    ck_assert_code(send(&place, place.path, &sent), WRIT_E_LIMIT);
    writ_buf_wipe(&text);
    place_wipe(&place);
}
END_TEST

START_TEST(anchor_send_into_a_locked_folder_is_busy)
{
    struct writ_checkpoint sent;
    struct place place;
    int fd;

    place_init(&place);
    fd = open(place.kit.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(flock(fd, LOCK_EX), 0);
    ck_assert_code(send(&place, place.path, &sent), WRIT_E_BUSY);
    ck_assert_int_eq(access(place.path, F_OK), -1);
    (void)close(fd);
    ck_assert_ok(send(&place, place.path, &sent));
    place_wipe(&place);
}
END_TEST

START_TEST(anchor_send_to_an_unreachable_place_reports_it)
{
    struct writ_checkpoint sent = {.size = 7};
    struct place place;
    struct writ_kit empty;

    place_init(&place);
    ck_assert_code(send(&place, "http://192.0.2.1/", &sent), WRIT_E_INVALID);
    ck_assert_code(send(&place, "http://127.0.0.1:1/", &sent), WRIT_E_IO);
    ck_assert_code(send(&place, "/nonexistent/anchor", &sent), WRIT_E_ABSENT);
    ck_assert_uint_eq(sent.size, 7);
    place_wipe(&place);

    writ_kit_init(&empty);
    ck_assert_ok(writ_proofs_open(empty.path, empty.ring, &place.proofs, NULL));
    (void)snprintf(place.path, sizeof place.path, "%s.anchor", empty.path);
    ck_assert_code(send(&place, place.path, &sent), WRIT_E_ABSENT);
    ck_assert_code(send(&place, "http://127.0.0.1:1/", &sent), WRIT_E_ABSENT);
    ck_assert_int_eq(access(place.path, F_OK), -1);
    writ_proofs_close(place.proofs);
    writ_kit_wipe(&empty);
}
END_TEST

WRIT_UNIT_MAIN("anchor", anchor_is_url_of_a_name_with_a_scheme_is_true,
    anchor_send_writes_the_last_checkpoint,
    anchor_send_keeps_a_file_that_the_ledger_does_not_continue,
    anchor_send_reads_a_file_up_to_the_maximum_note, anchor_send_into_a_locked_folder_is_busy,
    anchor_send_to_an_unreachable_place_reports_it)
