/* The records of a ledger in order. Each comes once, with the decision that it is about and the
 * checkpoint that covers it. */
#include "support/store/kit.h"
#include "support/unit.h"

#include "evidence/log/checkpoint.h"
#include "store/disk/disk.h"
#include "store/read/tail.h"

#define RECORDS 10 /* of writ_kit_two_runs */

struct seen {
    uint64_t next, n, stop_after;
};

static bool
see(void *ctx, const struct writ_tail_record *record)
{
    struct seen *seen = ctx;
    struct writ_checkpoint checkpoint;
    struct writ_note note;

    ck_assert_uint_eq(record->leaf, seen->next);
    ck_assert_uint_gt(record->body.len, 0);
    ck_assert_ok(writ_note_read(record->note, &note, NULL));
    ck_assert_ok(writ_checkpoint_read(note.text, &checkpoint, NULL));
    ck_assert_uint_gt(checkpoint.size, record->leaf);
    if (record->kind == WRIT_ROW_OUTCOME) {
        ck_assert(
            writ_view_search(record->decision, WRIT_LIT("\"decision\":\"")) < record->decision.len);
    } else {
        ck_assert_uint_eq(record->decision.len, 0);
    }
    seen->next++;
    seen->n++;
    return seen->n != seen->stop_after;
}

START_TEST(tail_read_gives_each_record_once_from_any_index)
{
    struct writ_kit kit;
    struct writ_tail *tail = NULL;
    uint64_t size = 0;

    writ_kit_start(&kit);
    writ_kit_two_runs(&kit, NULL);
    ck_assert_ok(writ_tail_open(kit.path, &tail, NULL));
    ck_assert_ok(writ_tail_size(tail, &size, NULL));
    ck_assert_uint_eq(size, RECORDS);
    for (uint64_t from = 0; from <= size; from++) {
        for (uint64_t most = 1; most <= size + 1; most++) {
            struct seen seen = {.next = from};

            ck_assert_ok(writ_tail_read(tail, from, most, see, &seen, NULL));
            ck_assert_uint_eq(seen.n, most < size - from ? most : size - from);
        }
    }
    struct seen stopped = {.stop_after = 3};
    ck_assert_ok(writ_tail_read(tail, 0, size, see, &stopped, NULL));
    ck_assert_uint_eq(stopped.n, 3);
    ck_assert_uint_gt(writ_tail_origin(tail).len, 0);
    writ_tail_close(tail);
    writ_kit_wipe(&kit);
}
END_TEST

WRIT_UNIT_MAIN("tail", tail_read_gives_each_record_once_from_any_index)
