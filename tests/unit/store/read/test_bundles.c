/* Bundles of real ledgers: made by core/store/read/bundles.h, verified by
 * core/evidence/proof/bundle_check.h. Every changed bit, and every missing or moved record, is
 * found. */
#include "support/store/kit.h"
#include "support/unit.h"

#include "evidence/proof/bundle_check.h"
#include "store/read/bundles.h"
#include "store/read/proofs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct writ_kit_spec spec;
typedef struct writ_kit_call call;

#define CALLS      2100 /* of a large one */
#define SAMPLES    40
#define MADE_LINES 64

/* A ledger, and the key of its checkpoints. */
struct bench {
    struct writ_kit kit;
    struct writ_note_key *key;
    struct writ_bundles_order order;
    struct writ_buf text;
};

static struct writ_signer *
signer_of(struct writ_kit *kit)
{
    return (struct writ_signer *)writ_keyring_active(kit->ring, WRIT_KEY_PURPOSE_LEDGER);
}

static void
bench_begin(struct bench *b)
{
    struct writ_proofs *proofs = NULL;

    *b = (struct bench){0};
    writ_kit_start(&b->kit);
    ck_assert_ok(writ_proofs_open(b->kit.path, b->kit.ring, &proofs, NULL));
    ck_assert_ok(writ_checkpoint_key(
        writ_proofs_origin(proofs), writ_signer_jwk(signer_of(&b->kit)), &b->key, NULL));
    writ_proofs_close(proofs);
    b->order = (struct writ_bundles_order){.path = b->kit.path, .ring = b->kit.ring};
}

static void
bench_end(struct bench *b)
{
    writ_buf_wipe(&b->text);
    writ_note_key_free(b->key);
    writ_kit_wipe(&b->kit);
}

static bool
put(void *ctx, struct writ_view lines)
{
    writ_buf_put(ctx, lines);
    return true;
}

static writ_result
make(struct bench *b, struct writ_bundle_report *ret)
{
    writ_buf_wipe(&b->text);
    b->text = writ_buf_make((size_t)1 << 30);
    WRIT_TRY(writ_bundles_make(&b->order, put, &b->text, ret, NULL));
    writ_buf_byte(&b->text, '\0'); /* for strstr; not counted */
    b->text.len--;
    return WRIT_DONE;
}

/* The verdict on a file. */
static enum writ_reason
verify(struct bench *b, struct writ_view text, struct writ_bundle_report *ret)
{
    const struct writ_note_key *key = b->key;
    struct writ_checkpoint_trust trust = {.keys = &key, .keys_n = 1};
    struct writ_bundle_check *check = NULL;
    struct writ_checkpoint head;
    enum writ_reason why = WRIT_REASON_EVIDENCE_OK;

    ck_assert_ok(writ_bundle_check_new(&trust, &check, NULL));
    while (text.len > 0 && why == WRIT_REASON_EVIDENCE_OK) {
        size_t end = writ_view_find(text, '\n');

        if (end == text.len) {
            why = WRIT_REASON_EVIDENCE_MALFORMED;
            break;
        }
        ck_assert_ok(writ_bundle_check_line(check, writ_view_sub(text, 0, end), &why, NULL));
        text = writ_view_sub(text, end + 1, text.len);
    }
    if (why == WRIT_REASON_EVIDENCE_OK && !writ_bundle_check_ended(check, ret, &head)) {
        why = WRIT_REASON_EVIDENCE_MALFORMED;
    }
    writ_bundle_check_free(check);
    return why;
}

static struct writ_bundle_report
made_and_verified(struct bench *b)
{
    struct writ_bundle_report made = {0}, verified = {0};

    ck_assert_ok(make(b, &made));
    ck_assert_int_eq(verify(b, writ_buf_view(&b->text), &verified), WRIT_REASON_EVIDENCE_OK);
    ck_assert_mem_eq(&made, &verified, sizeof made);
    return made;
}

START_TEST(bundle_of_a_run_verifies)
{
    struct bench b;
    struct writ_bundle_report r;

    bench_begin(&b);
    writ_kit_two_runs(&b.kit, "other");
    b.order.select.boundary_id = WRIT_LIT("one");
    r = made_and_verified(&b);
    ck_assert_uint_eq(r.records, 5);
    ck_assert_uint_eq(r.decisions, 2);
    ck_assert_uint_eq(r.outcomes, 2);
    ck_assert_uint_eq(r.seals, 1);
    ck_assert_uint_eq(r.skipped, 5);
    ck_assert_uint_eq(r.inside, 0);
    ck_assert_uint_eq(r.boundaries, 1);
    ck_assert_uint_eq(r.faulty + r.unsealed + r.in_flight + r.unmatched, 0);
    b.order.select.boundary_id = WRIT_LIT("two");
    r = made_and_verified(&b);
    ck_assert_uint_eq(r.unsealed, 1);
    ck_assert_uint_eq(r.in_flight, 1);
    ck_assert_uint_eq(r.faulty, 0);
    bench_end(&b);
}
END_TEST

START_TEST(bundle_of_an_agent_names_the_seqs_of_others)
{
    struct bench b;
    struct writ_bundle_report r;

    bench_begin(&b);
    writ_kit_two_runs(&b.kit, "other");
    b.order.select.agent_id = WRIT_LIT("other");
    r = made_and_verified(&b);
    ck_assert_uint_eq(r.records, 2);
    ck_assert_uint_eq(r.faulty, 1);
    ck_assert_ptr_nonnull(strstr(b.text.ptr, "\"missing\":{\"total\":1,\"seqs\":[[0,0]]}"));
    bench_end(&b);
}
END_TEST

START_TEST(bundle_of_a_time_has_all_its_records)
{
    struct bench b;
    struct writ_bundle_report r;
    char text[WRIT_TIME_TEXT];

    bench_begin(&b);
    writ_kit_run(&b.kit, (spec){.argument = "1"});
    writ_kit_pass(&b.kit, 10 * WRIT_KIT_S);
    writ_time_format(WRIT_KIT_WALL_US + 5 * WRIT_KIT_S, text);
    writ_kit_run(&b.kit, (spec){.argument = "2"});
    b.order.select.since = writ_view_str(text);
    r = made_and_verified(&b);
    ck_assert_uint_eq(r.records, 2);
    ck_assert_uint_eq(r.skipped, 2);
    ck_assert_uint_eq(r.inside, 0);
    b.order.select.since = writ_view(NULL, 0);
    b.order.select.until = writ_view_str(text);
    r = made_and_verified(&b);
    ck_assert_uint_eq(r.records, 2);
    b.order.select.until = WRIT_LIT("yesterday");
    ck_assert_code(make(&b, &r), WRIT_E_INVALID);
    bench_end(&b);
}
END_TEST

START_TEST(bundle_of_an_empty_selection_is_refused)
{
    struct bench b;
    struct writ_bundle_report r = {.records = 7};

    bench_begin(&b);
    ck_assert_code(make(&b, &r), WRIT_E_ABSENT);
    writ_kit_two_runs(&b.kit, "other");
    b.order.select.boundary_id = WRIT_LIT("three");
    ck_assert_code(make(&b, &r), WRIT_E_ABSENT);
    ck_assert_uint_eq(r.records, 7);
    bench_end(&b);
}
END_TEST

START_TEST(phase_of_every_decision_is_reported)
{
    struct bench b;
    char text[WRIT_TIME_TEXT];

    bench_begin(&b);
    writ_kit_two_runs(&b.kit, "other");
    writ_time_format(WRIT_KIT_WALL_US + WRIT_KIT_S, text);
    b.order.select.at = writ_view_str(text);
    (void)made_and_verified(&b);
    ck_assert_ptr_nonnull(
        strstr(b.text.ptr, "{\"kind\":\"phase\",\"decision_id\":\"d-000000000000\","
                           "\"phase\":\"consumed\",\"whole\":true}"));
    ck_assert_ptr_nonnull(strstr(b.text.ptr, "\"d-000000000002\",\"phase\":\"refused\""));
    ck_assert_ptr_nonnull(strstr(b.text.ptr, "\"d-000000000004\",\"phase\":\"fresh\""));
    bench_end(&b);
}
END_TEST

START_TEST(bundle_with_withheld_records_keeps_digests_and_proofs)
{
    struct bench b;
    struct writ_bundle_report r;

    bench_begin(&b);
    writ_kit_two_runs(&b.kit, "other");
    b.order.redacted[0] = WRIT_LIT("error_type");
    b.order.redacted_n = 1;
    r = made_and_verified(&b);
    ck_assert_uint_eq(r.withheld, 1);
    ck_assert_uint_eq(r.records, 9);
    ck_assert_ptr_null(memmem(b.text.ptr, b.text.len, "not_sent", 8));
    b.order.redacted[0] = WRIT_LIT("normalized_scope"); /* every decision that is an allow */
    b.order.select.boundary_id = WRIT_LIT("one");
    r = made_and_verified(&b);
    ck_assert_uint_eq(r.withheld, 2);
    ck_assert_uint_eq(r.faulty, 0); /* the seal counts and hashes withheld records */
    bench_end(&b);
}
END_TEST

START_TEST(bundle_check_of_every_changed_bit_fails)
{
    struct bench b;
    struct writ_bundle_report r = {.records = 7};

    bench_begin(&b);
    writ_kit_two_runs(&b.kit, "other");
    b.order.select.boundary_id = WRIT_LIT("two");
    b.order.select.at = WRIT_LIT("2026-06-25T05:00:10Z");
    b.order.redacted[0] = WRIT_LIT("error_type");
    b.order.redacted_n = 1;
    ck_assert_ok(make(&b, &r));
    r.records = 7;
    for (size_t bit = 0; bit < b.text.len * 8; bit++) {
        char changed = (char)(1 << bit % 8);

        b.text.ptr[bit / 8] = (char)(b.text.ptr[bit / 8] ^ changed);
        ck_assert_msg(
            verify(&b, writ_buf_view(&b.text), &r) != WRIT_REASON_EVIDENCE_OK, "bit %zu", bit);
        b.text.ptr[bit / 8] = (char)(b.text.ptr[bit / 8] ^ changed);
    }
    ck_assert_uint_eq(r.records, 7);
    ck_assert_int_eq(verify(&b, writ_buf_view(&b.text), &r), WRIT_REASON_EVIDENCE_OK);
    bench_end(&b);
}
END_TEST

/* The lines of a bundle. */
static size_t
lines_of(const struct writ_buf *text, struct writ_view *ret, size_t most)
{
    struct writ_view rest = writ_buf_view(text);
    size_t n = 0;

    while (rest.len > 0 && n < most) {
        size_t end = writ_view_find(rest, '\n');

        ret[n++] = writ_view_sub(rest, 0, end + 1);
        rest = writ_view_sub(rest, end + 1, rest.len);
    }
    return n;
}

static enum writ_reason
verify_lines(struct bench *b, const struct writ_view *lines, size_t n)
{
    struct writ_buf text = writ_buf_make(1 << 24);
    struct writ_bundle_report r;
    enum writ_reason why;

    for (size_t i = 0; i < n; i++) {
        writ_buf_put(&text, lines[i]);
    }
    why = verify(b, writ_buf_view(&text), &r);
    writ_buf_wipe(&text);
    return why;
}

START_TEST(bundle_check_of_a_missing_repeated_or_moved_record_fails)
{
    struct bench b;
    struct writ_bundle_report r;
    struct writ_view lines[MADE_LINES], other[MADE_LINES];
    size_t n;

    bench_begin(&b);
    writ_kit_two_runs(&b.kit, "other");
    b.order.select.at = WRIT_LIT("2026-06-25T05:00:10Z");
    ck_assert_ok(make(&b, &r));
    n = lines_of(&b.text, lines, MADE_LINES);
    ck_assert_int_eq(verify_lines(&b, lines, n), WRIT_REASON_EVIDENCE_OK);
    for (size_t i = 0; i < n; i++) {
        size_t m = 0;

        for (size_t j = 0; j < n; j++) {
            if (j != i) {
                other[m++] = lines[j];
            }
        }
        ck_assert_msg(verify_lines(&b, other, m) != WRIT_REASON_EVIDENCE_OK, "without %zu", i);
        ck_assert_int_ne(verify_lines(&b, lines, i), WRIT_REASON_EVIDENCE_OK); /* cut off */
        m = 0;
        for (size_t j = 0; j < n; j++) {
            other[m++] = lines[j];
            if (j == i) {
                other[m++] = lines[j];
            }
        }
        ck_assert_msg(verify_lines(&b, other, m) != WRIT_REASON_EVIDENCE_OK, "twice %zu", i);
        for (size_t j = i + 1; j < n; j++) {
            memcpy(other, lines, n * sizeof *lines);
            other[i] = lines[j];
            other[j] = lines[i];
            ck_assert_msg(
                verify_lines(&b, other, n) != WRIT_REASON_EVIDENCE_OK, "%zu and %zu", i, j);
        }
    }
    bench_end(&b);
}
END_TEST

START_TEST(bundle_check_of_a_changed_large_bundle_fails)
{
    struct bench b;
    struct writ_bundle_report r;
    char argument[16], run[16];
    uint64_t random = 88172645463325252U;

    bench_begin(&b);
    for (int i = 0; i < CALLS; i++) {
        (void)snprintf(argument, sizeof argument, "%d", i);
        (void)snprintf(run, sizeof run, "run-%d", i % 7);
        writ_kit_run(&b.kit, (spec){.boundary = run, .argument = argument});
    }
    b.order.select.boundary_id = WRIT_LIT("run-3");
    r = made_and_verified(&b);
    ck_assert_uint_eq(r.records, 2 * (CALLS / 7));
    for (int i = 0; i < SAMPLES; i++) {
        size_t bit;

        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        bit = random % (b.text.len * 8);
        b.text.ptr[bit / 8] = (char)(b.text.ptr[bit / 8] ^ 1 << bit % 8);
        ck_assert_msg(
            verify(&b, writ_buf_view(&b.text), &r) != WRIT_REASON_EVIDENCE_OK, "bit %zu", bit);
        b.text.ptr[bit / 8] = (char)(b.text.ptr[bit / 8] ^ 1 << bit % 8);
    }
    bench_end(&b);
}
END_TEST

START_TEST(bundle_check_without_a_trusted_key_fails)
{
    struct bench b, other;
    struct writ_bundle_report r;

    bench_begin(&b);
    bench_begin(&other);
    writ_kit_two_runs(&b.kit, "other");
    ck_assert_ok(make(&b, &r));
    ck_assert_int_eq(verify(&other, writ_buf_view(&b.text), &r), WRIT_REASON_CHECKPOINT_UNSIGNED);
    b.order.ring = other.kit.ring;
    ck_assert_code(make(&b, &r), WRIT_E_MISMATCH);
    bench_end(&other);
    bench_end(&b);
}
END_TEST

START_TEST(bundle_check_of_unrequested_records_reports_foreign)
{
    struct bench b;
    struct writ_bundle_report r;
    struct writ_view lines[MADE_LINES];
    struct writ_buf first = writ_buf_make(1 << 16);
    size_t n;

    bench_begin(&b);
    writ_kit_two_runs(&b.kit, "other");
    b.order.select.boundary_id = WRIT_LIT("two");
    ck_assert_ok(make(&b, &r));
    (void)lines_of(&b.text, lines, 1);
    writ_buf_put(&first, lines[0]);
    b.order.select.boundary_id = writ_view(NULL, 0);
    ck_assert_ok(make(&b, &r));
    n = lines_of(&b.text, lines, MADE_LINES);
    lines[0] = writ_buf_view(&first);
    ck_assert_int_eq(verify_lines(&b, lines, n), WRIT_REASON_RECORD_FOREIGN);
    writ_buf_wipe(&first);
    bench_end(&b);
}
END_TEST

WRIT_UNIT_MAIN("bundles", bundle_of_a_run_verifies, bundle_of_an_agent_names_the_seqs_of_others,
    bundle_of_a_time_has_all_its_records, bundle_of_an_empty_selection_is_refused,
    phase_of_every_decision_is_reported, bundle_with_withheld_records_keeps_digests_and_proofs,
    bundle_check_of_every_changed_bit_fails,
    bundle_check_of_a_missing_repeated_or_moved_record_fails,
    bundle_check_of_a_changed_large_bundle_fails, bundle_check_without_a_trusted_key_fails,
    bundle_check_of_unrequested_records_reports_foreign)
