/* micro_bundle.c - measures time and memory of verifying a bundle.
 *
 *     micro_bundle [RECORDS [RUNS]]
 *
 * Makes the records of calls with all members of a governed call, two per call, in RUNS runs that
 * all stay open, and verifies their bundle while it is made, so that memory never has the whole
 * bundle. Counts only the time of verifying, on one core. */
#include "decision.h"

#include "evidence/proof/bundle_check.h"
#include "evidence/record/derive.h"
#include "evidence/record/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#define RUNS    64
#define RECORDS 100000
#define BEGIN   INT64_C(1782363600000000) /* 2026-06-25T05:00:00Z */

struct bench {
    struct writ_arena *arena;
    struct writ_buf body;
    char id[64], run[32];
    uint64_t runs;
    struct writ_decision decision;
};

static void
check(writ_result result, const char *what, const struct writ_err *err)
{
    if (!writ_is_ok(result)) {
        (void)fprintf(stderr, "micro_bundle: %s: %s\n", what, err->text);
        exit(1);
    }
}

static double
now_s(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The text of record `n`: the decision of a call, then its outcome. */
static struct writ_view
record_of(struct bench *b, uint64_t n)
{
    const struct writ_profile *profile = writ_profile_default();
    uint64_t call = n / 2;
    struct writ_err err = {0};

    writ_buf_clear(&b->body);
    if (n % 2 == 0) {
        writ_arena_reset(b->arena);
        (void)snprintf(b->id, sizeof b->id, "d-%020llu", (unsigned long long)call);
        (void)snprintf(b->run, sizeof b->run, "run-%llu", (unsigned long long)(call % b->runs));
        b->decision = writ_bench_decision(b->id, b->id, b->run);
        check(writ_decision_derive(&b->decision, profile, b->arena, &err), "derive", &err);
        check(writ_decision_place(&b->decision, profile, call / b->runs, BEGIN + (int64_t)n,
                  60000000, b->arena, &err),
            "place", &err);
        check(writ_decision_put(&b->decision, &b->body, &err), "put", &err);
    } else {
        struct writ_outcome outcome = writ_outcome_for(&b->decision, WRIT_OUTCOME_EXECUTED);
        struct writ_outcome_texts texts;

        check(writ_outcome_place(&outcome, &b->decision, profile, BEGIN + (int64_t)n, &texts, &err),
            "place", &err);
        check(writ_outcome_put(&outcome, &b->body, &err), "put", &err);
    }
    return writ_buf_view(&b->body);
}

/* The checkpoint over all records, signed. */
static struct writ_checkpoint
sign(struct bench *b, uint64_t records, const struct writ_signer *signer,
    const struct writ_note_key *key, struct writ_buf *note)
{
    struct writ_checkpoint head = {.origin = writ_note_key_name(key), .size = records};
    struct writ_tree_edge edge = {0};
    struct writ_err err = {0};
    size_t end;

    for (uint64_t n = 0; n < records; n++) {
        struct writ_digest leaf;

        check(writ_tree_leaf(record_of(b, n), &leaf, &err), "leaf", &err);
        check(writ_tree_append(&edge, &leaf, &err), "append", &err);
    }
    check(writ_tree_root(&edge, &head.root, &err), "root", &err);
    writ_checkpoint_put(note, &head);
    end = note->len;
    writ_buf_byte(note, '\n');
    check(writ_note_sign(writ_view(note->ptr, end), key, signer, 0, note, &err), "sign", &err);
    return head;
}

/* Verifies the lines so far and drops them; returns the seconds that this took. */
static double
take(struct writ_bundle_check *checking, struct writ_buf *lines)
{
    struct writ_view text = writ_buf_view(lines);
    double begin = now_s();

    while (text.len > 0) {
        size_t end = writ_view_find(text, '\n');
        enum writ_reason why = WRIT_REASON_NONE;
        struct writ_err err = {0};

        check(writ_bundle_check_line(checking, writ_view_sub(text, 0, end), &why, &err), "line",
            &err);
        if (why != WRIT_REASON_EVIDENCE_OK) {
            check((writ_result){WRIT_E_INVALID}, "refused", &err);
        }
        text = writ_view_sub(text, end + 1, text.len);
    }
    writ_buf_clear(lines);
    return now_s() - begin;
}

int
main(int argc, char **argv)
{
    uint64_t records = argc > 1 ? strtoull(argv[1], NULL, 10) : RECORDS;
    struct bench b = {.arena = writ_arena_new(1 << 20),
        .body = writ_buf_make(1 << 20),
        .runs = argc > 2 ? strtoull(argv[2], NULL, 10) : RUNS};
    struct writ_buf note = writ_buf_make(WRIT_NOTE_BYTES_MAX), out = writ_buf_make(1 << 30);
    struct writ_bundle_select select = {0};
    struct writ_bundle_report report;
    struct writ_bundle_check *checking = NULL;
    struct writ_bundle *bundle = NULL;
    struct writ_signer *signer = NULL;
    struct writ_note_key *key = NULL;
    const struct writ_note_key *keys[1];
    struct writ_checkpoint_trust trust = {.keys = keys, .keys_n = 1};
    struct writ_checkpoint head;
    enum writ_reason why = WRIT_REASON_NONE;
    struct writ_err err = {0};
    struct rusage usage;
    double seconds = 0;

    check(writ_signer_new(WRIT_JWK_ALG_EDDSA, &signer, &err), "key", &err);
    check(writ_checkpoint_key(WRIT_LIT("writ-ledger/bench"), writ_signer_jwk(signer), &key, &err),
        "key", &err);
    keys[0] = key;
    head = sign(&b, records, signer, key, &note);
    check(writ_bundle_check_new(&trust, &checking, &err), "check", &err);
    check(
        writ_bundle_begin(&select, WRIT_LIT(""), writ_buf_view(&note), &head, &out, &bundle, &err),
        "begin", &err);
    for (uint64_t n = 0; n < records; n++) {
        seconds += take(checking, &out);
        check(writ_bundle_record(bundle,
                  n % 2 == 0 ? WRIT_DETACHED_RECORD_DECISION : WRIT_DETACHED_RECORD_OUTCOME,
                  record_of(&b, n), &out, &why, &err),
            "record", &err);
    }
    check(writ_bundle_end(bundle, &out, &report, &why, &err), "end", &err);
    seconds += take(checking, &out);
    (void)getrusage(RUSAGE_SELF, &usage);
    (void)printf("%llu records in %llu runs: %.0f a second and core, %.1f us each; resident %.1f "
                 "MiB at most\n",
        (unsigned long long)records, (unsigned long long)b.runs, (double)records / seconds,
        seconds * 1e6 / (double)records, (double)usage.ru_maxrss / 1024);
    writ_bundle_check_free(checking);
    writ_bundle_free(bundle);
    writ_note_key_free(key);
    writ_signer_free(signer);
    writ_arena_free(b.arena);
    writ_buf_wipe(&b.body);
    writ_buf_wipe(&note);
    writ_buf_wipe(&out);
    return 0;
}
