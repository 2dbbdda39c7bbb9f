/* Receipts of calls in a real ledger: made by core/store/read/receipts.h, verified by
 * core/evidence/proof/receipt.h. Every changed bit is found, and a receipt never makes a key
 * trusted. */
#include "support/store/kit.h"
#include "support/unit.h"

#include "store/read/receipts.h"

#include <stdio.h>
#include <string.h>

typedef struct writ_kit_spec spec;
typedef struct writ_kit_call call;

/* A ledger, its keys, and how to make receipts of it. */
struct bench {
    struct writ_kit kit;
    struct writ_note_key *key;
    struct writ_reader *reader;
    struct writ_proofs *proofs;
    struct writ_arena *arena;
};

static void
bench_begin(struct bench *b)
{
    *b = (struct bench){0};
    writ_kit_start(&b->kit);
    ck_assert_ok(writ_reader_open(b->kit.path, &b->reader, NULL));
    ck_assert_ok(writ_proofs_open(b->kit.path, b->kit.ring, &b->proofs, NULL));
    ck_assert_ok(writ_checkpoint_key(writ_proofs_origin(b->proofs),
        writ_signer_jwk(writ_keyring_active(b->kit.ring, WRIT_KEY_PURPOSE_LEDGER)), &b->key, NULL));
    b->arena = writ_arena_new(64 << 20);
}

static void
bench_end(struct bench *b)
{
    writ_arena_free(b->arena);
    writ_note_key_free(b->key);
    writ_proofs_close(b->proofs);
    writ_reader_close(b->reader);
    writ_kit_wipe(&b->kit);
}

static writ_result
make(struct bench *b, const char *id, struct writ_buf *ret)
{
    *ret = writ_buf_make(WRIT_RECEIPT_BYTES_MAX);
    return writ_receipts_make(b->reader, b->proofs, b->kit.ring, writ_view_str(id), ret, NULL);
}

static enum writ_reason
verify(struct bench *b, struct writ_view text, struct writ_receipt *ret)
{
    const struct writ_note_key *key = b->key;
    struct writ_checkpoint_trust trust = {.keys = &key, .keys_n = 1};
    enum writ_reason why = WRIT_REASON_NONE;

    writ_arena_reset(b->arena);
    ck_assert_ok(writ_receipt_verify(text, &trust, b->arena, ret, &why, NULL));
    return why;
}

START_TEST(receipt_of_a_call_has_its_outcome)
{
    struct bench b;
    struct writ_receipt receipt = {0};
    struct writ_buf text;

    bench_begin(&b);
    writ_kit_run(&b.kit, (spec){.argument = "1"});
    writ_kit_run(&b.kit, (spec){.argument = "2"});
    ck_assert_ok(make(&b, "d-000000000001", &text));
    ck_assert_int_eq(verify(&b, writ_buf_view(&text), &receipt), WRIT_REASON_EVIDENCE_OK);
    ck_assert_view(receipt.decision.decision.decision_id.view, "d-000000000001");
    ck_assert(writ_decision_is(&receipt.decision.decision, WRIT_DECISION_ALLOW));
    ck_assert_uint_eq(receipt.decision_index, 2);
    ck_assert(receipt.has_outcome);
    ck_assert(writ_outcome_is(&receipt.outcome.outcome, WRIT_OUTCOME_EXECUTED));
    ck_assert_uint_eq(receipt.outcome_index, 3);
    ck_assert_uint_eq(receipt.checkpoint.size, 4);
    writ_buf_wipe(&text);
    bench_end(&b);
}
END_TEST

START_TEST(receipt_of_a_call_in_flight_says_so)
{
    struct bench b;
    struct writ_receipt receipt = {0};
    struct writ_buf text;

    bench_begin(&b);
    writ_kit_call_free(writ_kit_granted(&b.kit, (spec){.argument = "1"}));
    ck_assert_ok(make(&b, "d-000000000000", &text));
    ck_assert_int_eq(verify(&b, writ_buf_view(&text), &receipt), WRIT_REASON_EVIDENCE_OK);
    ck_assert(!receipt.has_outcome);
    writ_buf_wipe(&text);
    bench_end(&b);
}
END_TEST

START_TEST(receipt_of_a_missing_call_is_absent)
{
    struct bench b;
    struct writ_buf text;

    bench_begin(&b);
    ck_assert_code(make(&b, "d-000000000000", &text), WRIT_E_ABSENT);
    ck_assert_uint_eq(text.len, 0);
    writ_kit_run(&b.kit, (spec){.argument = "1"});
    ck_assert_code(make(&b, "", &text), WRIT_E_ABSENT);
    bench_end(&b);
}
END_TEST

START_TEST(receipt_verify_of_every_changed_bit_fails)
{
    struct bench b;
    struct writ_receipt receipt = {.decision_index = 7};
    struct writ_buf text;

    bench_begin(&b);
    writ_kit_run(&b.kit, (spec){.argument = "1"});
    writ_kit_run(&b.kit, (spec){.argument = "2"});
    ck_assert_ok(make(&b, "d-000000000000", &text));
    for (size_t bit = 0; bit < text.len * 8; bit++) {
        char changed = (char)(1 << bit % 8);

        text.ptr[bit / 8] = (char)(text.ptr[bit / 8] ^ changed);
        ck_assert_msg(
            verify(&b, writ_buf_view(&text), &receipt) != WRIT_REASON_EVIDENCE_OK, "bit %zu", bit);
        ck_assert_uint_eq(receipt.decision_index, 7);
        text.ptr[bit / 8] = (char)(text.ptr[bit / 8] ^ changed);
    }
    ck_assert_int_eq(verify(&b, writ_buf_view(&text), &receipt), WRIT_REASON_EVIDENCE_OK);
    writ_buf_wipe(&text);
    bench_end(&b);
}
END_TEST

START_TEST(receipt_verify_trusts_no_key_of_the_receipt)
{
    struct bench b, other;
    struct writ_receipt receipt;
    struct writ_buf text, none;
    enum writ_reason why;

    bench_begin(&b);
    bench_begin(&other);
    writ_kit_run(&b.kit, (spec){.argument = "1"});
    ck_assert_ok(make(&b, "d-000000000000", &text));
    writ_proofs_close(b.proofs); /* nor is one made with keys that did not sign */
    b.proofs = NULL;
    ck_assert_ok(writ_proofs_open(b.kit.path, other.kit.ring, &b.proofs, NULL));
    ck_assert_code(make(&b, "d-000000000000", &none), WRIT_E_MISMATCH);
    ck_assert_int_eq(
        verify(&other, writ_buf_view(&text), &receipt), WRIT_REASON_CHECKPOINT_UNSIGNED);
    ck_assert_ok(writ_receipt_verify(
        writ_buf_view(&text), &(struct writ_checkpoint_trust){0}, b.arena, &receipt, &why, NULL));
    ck_assert_int_eq(why, WRIT_REASON_CHECKPOINT_UNSIGNED);
    writ_buf_wipe(&text);
    bench_end(&other);
    bench_end(&b);
}
END_TEST

/* Two receipts of one checkpoint, so that records can be exchanged among them. */
struct pair {
    struct writ_buf text[2];
    struct writ_view records[2][2]; /* decision, outcome: each with its kind and proof */
};

static void
pair_make(struct bench *b, struct pair *ret)
{
    writ_kit_run(&b->kit, (spec){.argument = "1"});
    writ_kit_run(&b->kit, (spec){.argument = "2"});
    for (size_t i = 0; i < 2; i++) {
        const char *begin, *middle;

        ck_assert_ok(make(b, i == 0 ? "d-000000000000" : "d-000000000001", &ret->text[i]));
        writ_buf_byte(&ret->text[i], '\0');
        begin = strstr(ret->text[i].ptr, "{\"kind\":\"decision\"");
        middle = strstr(ret->text[i].ptr, "{\"kind\":\"outcome\"");
        ret->records[i][0] = writ_view(begin, (size_t)(middle - 1 - begin));
        ret->records[i][1] = writ_view(middle, strlen(middle) - strlen("]}\n"));
    }
}

/* The verdict on a receipt of these records. */
static enum writ_reason
verify_records(struct bench *b, const struct pair *pair, const struct writ_view *records, size_t n)
{
    const char *begin = pair->text[0].ptr;
    struct writ_buf text = writ_buf_make(1 << 20);
    struct writ_receipt receipt;
    enum writ_reason why;

    writ_buf_put(&text, writ_view(begin, (size_t)(pair->records[0][0].ptr - begin)));
    for (size_t i = 0; i < n; i++) {
        writ_buf_str(&text, i > 0 ? "," : "");
        writ_buf_put(&text, records[i]);
    }
    writ_buf_str(&text, "]}\n");
    why = verify(b, writ_buf_view(&text), &receipt);
    writ_buf_wipe(&text);
    return why;
}

START_TEST(receipt_verify_with_records_of_another_call_fails)
{
    struct bench b;
    struct pair p = {0};

    bench_begin(&b);
    pair_make(&b, &p);
#define RECORDS(...)                                                                               \
    verify_records(&b, &p, (struct writ_view[]){__VA_ARGS__},                                      \
        sizeof((struct writ_view[]){__VA_ARGS__}) / sizeof(struct writ_view))
    ck_assert_int_eq(RECORDS(p.records[0][0], p.records[0][1]), WRIT_REASON_EVIDENCE_OK);
    ck_assert_int_eq(RECORDS(p.records[0][0]), WRIT_REASON_EVIDENCE_OK);
    ck_assert_int_eq(RECORDS(p.records[0][1]), WRIT_REASON_RECORD_FOREIGN);
    ck_assert_int_eq(RECORDS(p.records[0][0], p.records[1][1]), WRIT_REASON_RECORD_FOREIGN);
    ck_assert_int_eq(RECORDS(p.records[0][0], p.records[1][0]), WRIT_REASON_RECORD_FOREIGN);
    ck_assert_int_eq(
        RECORDS(p.records[0][0], p.records[0][1], p.records[0][1]), WRIT_REASON_RECORD_FOREIGN);
    ck_assert_int_eq(verify_records(&b, &p, NULL, 0), WRIT_REASON_EVIDENCE_MALFORMED);
    writ_buf_wipe(&p.text[0]);
    writ_buf_wipe(&p.text[1]);
    bench_end(&b);
}
END_TEST

START_TEST(receipt_verify_of_another_text_is_malformed)
{
    static const char *const bad[] = {"", "{}", "[]", "{\"format\":\"writ-receipt/1\"}",
        "{\"format\":\"writ-receipt/1\",\"keys\":[],\"records\":[]}",
        "{\"format\":\"writ-receipt/1\",\"keys\":[],\"records\":[{}]}",
        "{\"format\":\"writ-receipt/1\",\"keys\":[],\"records\":[1]}",
        ("{\"format\":\"writ-receipt/1\",\"keys\":[],\"records\":[{\"kind\":\"decision\",\"proof\":"
         "\"c2sp.org/tlog-proof@v1\\nindex 0\\n\\nx\\n\",\"record\":{}}]}")};
    struct bench b;
    struct writ_receipt receipt;

    bench_begin(&b);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_int_eq(
            verify(&b, writ_view_str(bad[i]), &receipt), WRIT_REASON_EVIDENCE_MALFORMED);
    }
    bench_end(&b);
}
END_TEST

WRIT_UNIT_MAIN("receipts", receipt_of_a_call_has_its_outcome, receipt_of_a_call_in_flight_says_so,
    receipt_of_a_missing_call_is_absent, receipt_verify_of_every_changed_bit_fails,
    receipt_verify_trusts_no_key_of_the_receipt, receipt_verify_with_records_of_another_call_fails,
    receipt_verify_of_another_text_is_malformed)
