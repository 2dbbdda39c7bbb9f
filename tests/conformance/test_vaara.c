/* The governance_decision_v0 and contiguity_v0 corpora of Vaara: profile vaara-v0, completeness,
 * binding verdicts, and signatures over the canonical form of whole records.
 *
 * The corpora are under another licence than this project and no part of it. The test reads them
 * from $WRIT_SHARED_VECTORS or from ../shared/vectors/external beside the checkout, and is skipped
 * (exit code 77) where there is neither. vectors/digests/vaara-v0.json is our own set. */
#include "support/governance.h"
#include "support/unit.h"
#include "support/value.h"

#include "base/text.h"
#include "evidence/binding.h"
#include "evidence/jcs.h"
#include "evidence/jwk.h"

#include <dirent.h>
#include <openssl/pem.h>
#include <stdlib.h>
#include <unistd.h>

#define SKIPPED   77
#define PATH_MAX_ 4096

/* The folder of the corpora: set by main. */
static char corpora[PATH_MAX_];

/* Wipe the path after use. */
static struct writ_buf
path_of(const char *name)
{
    struct writ_buf path = writ_buf_make(PATH_MAX_);

    writ_buf_fmt(&path, "%s/%s", corpora, name);
    writ_buf_byte(&path, '\0');
    ck_assert_ok(writ_buf_check(&path, NULL));
    return path;
}

static const struct writ_json *
corpus_file(struct writ_arena *arena, const char *name)
{
    writ_auto_buf path = path_of(name);

    return writ_value_path(arena, path.ptr);
}

/* ---- their records in our members */

static struct writ_member_text
text_of(const struct writ_json *record, const char *name)
{
    const struct writ_json *value = writ_json_get(record, writ_view_str(name));

    if (writ_json_type(value) == WRIT_JSON_STRING) {
        return writ_member_text(writ_json_string(value));
    }
    return (struct writ_member_text){value == NULL ? WRIT_ABSENT : WRIT_NULL, {0}};
}

static struct writ_member_number
number_of(const struct writ_json *record, const char *pointer)
{
    int64_t number = 0;

    ck_assert_ok(writ_json_integer(
        writ_json_pointer(record, writ_view_str(pointer)), 0, INT64_MAX, &number));
    return writ_member_number(number);
}

static struct writ_decision
decision_of(struct writ_arena *arena, const struct writ_json *record)
{
    struct writ_decision decision = writ_governance_decision(arena, record);

    decision.tool = text_of(record, "action_type");
    decision.boundary_id = writ_member_text(
        writ_json_string(writ_json_pointer(record, WRIT_LIT("/completeness/boundaryId"))));
    decision.seq = number_of(record, "/completeness/seq");
    decision.running_count = number_of(record, "/completeness/runningCount");
    ck_assert_ok(writ_member_time_make(
        number_of(record, "/timestamp_ms").value * 1000, arena, &decision.issued_at, NULL));
    return decision;
}

static struct writ_outcome
outcome_of(struct writ_arena *arena, const struct writ_json *record)
{
    struct writ_outcome outcome = writ_governance_outcome(arena, record);

    outcome.outcome = text_of(record, "status");
    outcome.seq = number_of(record, "/completeness/seq");
    return outcome;
}

static struct writ_candidate
candidate_of(const struct writ_decision *decision)
{
    return (struct writ_candidate){
        .agent_id = decision->agent_id,
        .tool = decision->tool,
        .normalized_scope = decision->normalized_scope,
        .params_hash = decision->params_hash,
        .intent_digest = decision->intent_digest,
        .intent_ref = decision->intent_ref,
        .continuation_id = decision->continuation_id,
        .idempotency_key = decision->idempotency_key,
        .target_state_digest = decision->target_state_digest,
    };
}

/* ---- signatures: hex of r||s over JCS(record) */

static struct writ_jwk *
key_of(const char *name)
{
    writ_auto_buf path = path_of(name);
    FILE *file = fopen(path.ptr, "r");
    EVP_PKEY *pkey = file != NULL ? PEM_read_PUBKEY(file, NULL, NULL, NULL) : NULL;
    struct writ_jwk *key = NULL;

    ck_assert_ptr_nonnull(pkey);
    (void)fclose(file);
    ck_assert_ok(writ_jwk_of(pkey, &key, NULL));
    EVP_PKEY_free(pkey);
    return key;
}

static void
expect_signed(const struct writ_jwk *key, const char *name, const struct writ_json *wrapper)
{
    writ_auto_buf text = writ_buf_make(WRIT_RECORD_MAX_BYTES);
    struct writ_view hex = writ_json_string(writ_value_get(wrapper, "signature"));
    uint8_t signature[64];

    ck_assert_ok(writ_hex_read(hex, signature, sizeof signature));
    ck_assert_ok(writ_jcs_put(&text, writ_value_get(wrapper, "record"), NULL));
    ck_assert_msg(writ_is_ok(writ_jwk_verify(
                      key, writ_buf_view(&text), writ_view(signature, sizeof signature), NULL)),
        "%s: the signature does not hold over our canonical form", name);
}

/* ---- governance_decision_v0 */

#define GD "vaara-governance-decision-v0/"

static const struct writ_profile *
vaara(void)
{
    return writ_profile_find(WRIT_LIT("vaara-v0"));
}

static void
expect_recomputes(const char *name, const struct writ_decision *decision)
{
    writ_auto_buf line = writ_buf_make(8192);
    struct writ_faults faults = {0};

    ck_assert_ok(writ_decision_recompute(decision, vaara(), &faults, NULL));
    writ_faults_put(&faults, &line);
    ck_assert_msg(
        faults.count == 0, "%s: " WRIT_VIEW_FMT, name, WRIT_VIEW_ARG(writ_buf_view(&line)));
}

/* Every {record, signature} in a case file, by whatever name it has there. */
static void
check_wrapper(struct writ_arena *arena, const struct writ_jwk *key, const char *name,
    const struct writ_json *wrapper)
{
    const struct writ_json *record = writ_value_get(wrapper, "record");

    expect_signed(key, name, wrapper);
    if (writ_json_get(record, WRIT_LIT("decision")) != NULL) {
        struct writ_decision decision = decision_of(arena, record);
        expect_recomputes(name, &decision);
    }
}

START_TEST(cases_recompute_and_are_signed)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_jwk *key = key_of(GD "keys/es256_public.pem");
    static const char *const pairs[] = {GD "cases/continuation_mismatch.json",
        GD "cases/exact_intent_mismatch.json", GD "cases/target_state_drift.json"};
    const struct writ_json *duplicate = corpus_file(arena, GD "cases/duplicate_outcome.json");
    const struct writ_json *unicode = corpus_file(arena, GD "cases/unicode_scope.json");

    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const struct writ_json *pair = corpus_file(arena, pairs[i]);
        check_wrapper(arena, key, pairs[i], writ_value_get(pair, "approved"));
        check_wrapper(arena, key, pairs[i], writ_value_get(pair, "candidate"));
    }
    check_wrapper(arena, key, "duplicate", writ_value_get(duplicate, "first"));
    check_wrapper(arena, key, "duplicate", writ_value_get(duplicate, "second"));
    check_wrapper(arena, key, "unicode_scope", unicode);
    writ_jwk_free(key);
}
END_TEST

START_TEST(the_unicode_scope_has_the_expected_intent)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_json *expected =
        writ_value_get(corpus_file(arena, GD "expected.json"), "unicode_scope");
    struct writ_decision decision = decision_of(
        arena, writ_value_get(corpus_file(arena, GD "cases/unicode_scope.json"), "record"));

    ck_assert_ok(writ_decision_derive(&decision, vaara(), arena, NULL));
    writ_governance_expect("unicode_scope", expected, "intent_ref", &decision.intent_ref);
    writ_governance_expect("unicode_scope", expected, "params_hash", &decision.params_hash);
}
END_TEST

/* Their word for a drifted state is revise; ours, as the contract has it, revalidate. */
static struct writ_view
verdict_word(enum writ_binding_verdict verdict)
{
    return verdict == WRIT_BINDING_REVALIDATE ? WRIT_LIT("revise")
                                              : writ_binding_verdict_name(verdict);
}

START_TEST(the_binding_verdicts_are_the_expected_ones)
{
    writ_auto_arena arena = writ_value_arena();
    static const struct {
        const char *file;
        enum writ_reason reason;
    } cases[] = {
        {GD "cases/continuation_mismatch.json", WRIT_REASON_CONTINUATION_MISMATCH},
        {GD "cases/exact_intent_mismatch.json", WRIT_REASON_NORMALIZED_SCOPE_MISMATCH},
        {GD "cases/target_state_drift.json", WRIT_REASON_TARGET_STATE_DRIFT},
    };
    struct writ_binding_set none = {NULL, 0};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct writ_json *pair = corpus_file(arena, cases[i].file);
        struct writ_decision approved =
            decision_of(arena, writ_value_get(writ_value_get(pair, "approved"), "record"));
        struct writ_decision other =
            decision_of(arena, writ_value_get(writ_value_get(pair, "candidate"), "record"));
        struct writ_candidate candidate = candidate_of(&other);
        int64_t now_us = 0;
        struct writ_binding binding;

        ck_assert(writ_member_time(approved.issued_at.view, &now_us));
        binding = writ_binding_check(&approved, &candidate, now_us, writ_binding_outcomes(&none));
        ck_assert_view(writ_reason_name(binding.reason), writ_reason_name(cases[i].reason).ptr);
        ck_assert_msg(
            writ_json_is(writ_value_get(pair, "expected_verdict"), verdict_word(binding.verdict)),
            "%s", cases[i].file);
    }
}
END_TEST

START_TEST(the_second_of_two_outcomes_is_a_duplicate)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_json *file = corpus_file(arena, GD "cases/duplicate_outcome.json");
    const struct writ_json *pair = corpus_file(arena, GD "cases/continuation_mismatch.json");
    struct writ_outcome first =
        outcome_of(arena, writ_value_get(writ_value_get(file, "first"), "record"));
    struct writ_decision approved =
        decision_of(arena, writ_value_get(writ_value_get(pair, "approved"), "record"));
    struct writ_candidate candidate = candidate_of(&approved);
    struct writ_binding_set set = {&first, 0};
    struct writ_binding binding;
    int64_t now_us = 0;

    ck_assert(writ_member_time(approved.issued_at.view, &now_us));
    ck_assert_ok(writ_outcome_join(&first, &approved, vaara(), NULL));
    binding = writ_binding_check(&approved, &candidate, now_us, writ_binding_outcomes(&set));
    ck_assert_int_eq(binding.verdict, WRIT_BINDING_ALLOW);
    set.count = 1;
    binding = writ_binding_check(&approved, &candidate, now_us, writ_binding_outcomes(&set));
    ck_assert_int_eq(binding.reason, WRIT_REASON_DUPLICATE_OUTCOME);
    ck_assert(
        writ_json_is(writ_value_get(file, "expected_verdict"), verdict_word(binding.verdict)));
}
END_TEST

/* ---- streams */

static void
set_free(struct writ_completeness_set **set)
{
    writ_completeness_free(*set);
}

/* Calls `fn` with every file of a folder of the corpora whose name ends with `suffix`. */
static void
each_file(const char *folder, const char *suffix,
    void (*fn)(const char *name, const struct writ_json *value, void *arg), void *arg,
    struct writ_arena *arena)
{
    writ_auto_buf path = path_of(folder);
    DIR *dir = opendir(path.ptr);

    ck_assert_ptr_nonnull(dir);
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        if (writ_view_has_suffix(writ_view_str(entry->d_name), writ_view_str(suffix))) {
            writ_auto_buf name = writ_buf_make(PATH_MAX_);
            writ_buf_fmt(&name, "%s/%s", folder, entry->d_name);
            writ_buf_byte(&name, '\0');
            fn(entry->d_name, corpus_file(arena, name.ptr), arg);
        }
    }
    (void)closedir(dir);
}

struct stream {
    struct writ_arena *arena;
    const struct writ_jwk *key;
    struct writ_completeness_set *set;
};

static void
add_decision(const char *name, const struct writ_json *value, void *arg)
{
    struct stream *stream = arg;
    struct writ_decision decision = decision_of(stream->arena, writ_value_get(value, "record"));

    expect_signed(stream->key, name, value);
    expect_recomputes(name, &decision);
    ck_assert_ok(writ_completeness_add(stream->set, &decision, NULL));
}

static void
add_seal(const char *name, const struct writ_json *value, void *arg)
{
    struct stream *stream = arg;
    const struct writ_json *record = writ_value_get(value, "record");
    struct writ_seal seal = writ_governance_seal(stream->arena, record);

    expect_signed(stream->key, name, value);
    seal.boundary_id = text_of(record, "boundaryId");
    writ_completeness_seal(stream->set, &seal);
}

/* The numbers in `missing` are the expected ones, in order. */
static void
expect_missing(const struct writ_json *want, const struct writ_completeness *report)
{
    size_t at = 0;

    ck_assert_uint_eq(report->missing_total, want->count);
    for (size_t i = 0; i < report->missing_count; i++) {
        for (uint64_t seq = report->missing[i].first; seq <= report->missing[i].last; seq++) {
            int64_t number = -1;
            ck_assert_ok(writ_json_integer(writ_json_element(want, at++), 0, INT64_MAX, &number));
            ck_assert_int_eq(number, (int64_t)seq);
        }
    }
}

static void
expect_report(const char *name, const struct writ_json *want, const struct stream *stream)
{
    struct writ_completeness report;

    ck_assert_ok(writ_completeness_report(stream->set, stream->arena, &report, NULL));
    ck_assert_msg(
        report.whole == (writ_json_type(writ_value_get(want, "ok")) == WRIT_JSON_TRUE), "%s", name);
    ck_assert_int_eq((int64_t)report.expected, number_of(want, "/expected").value);
    ck_assert_int_eq((int64_t)report.held, number_of(want, "/present").value);
    expect_missing(writ_value_get(want, "missingSeqs"), &report);
}

START_TEST(streams_are_as_complete_as_expected)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_jwk *key = key_of(GD "keys/es256_public.pem");
    const struct writ_json *expected =
        writ_value_get(corpus_file(arena, GD "expected.json"), "stream");

    WRIT_JSON_EACH(name, expected)
    {
        WRIT_AUTO(struct writ_completeness_set *, set_free) set = writ_completeness_new(100);
        writ_auto_buf folder = writ_buf_make(PATH_MAX_);
        struct stream stream = {arena, key, set};

        writ_buf_fmt(&folder, GD "stream/" WRIT_VIEW_FMT, WRIT_VIEW_ARG(writ_json_string(name)));
        writ_buf_byte(&folder, '\0');
        each_file(folder.ptr, "-decision.json", add_decision, &stream, arena);
        each_file(folder.ptr, "seal.json", add_seal, &stream, arena);
        expect_report(
            folder.ptr, writ_value_get(writ_json_value(name), "sealed_contiguity"), &stream);
    }
    writ_jwk_free(key);
}
END_TEST

/* ---- contiguity_v0: the position is in the evidence of an authorization record */

#define CG "vaara-contiguity-v0/"

static void
add_evidence(const char *name, const struct writ_json *value, void *arg)
{
    struct stream *stream = arg;
    const struct writ_json *evidence = writ_value_get(value, "evidence");
    const struct writ_json *bound =
        writ_json_pointer(value, WRIT_LIT("/record/decisionDerived/evidenceRef/digest"));
    struct writ_member_text digest = writ_governance_hash(stream->arena, evidence);
    struct writ_decision decision = {
        .boundary_id = writ_member_text(
            writ_json_string(writ_json_pointer(evidence, WRIT_LIT("/completeness/boundaryId")))),
        .seq = number_of(evidence, "/completeness/seq"),
        .running_count = number_of(evidence, "/completeness/runningCount"),
    };

    ck_assert_msg(writ_json_is(bound, digest.view), "%s: the evidence is not the bound one", name);
    ck_assert_ok(writ_completeness_add(stream->set, &decision, NULL));
}

START_TEST(dropped_authorizations_are_missed)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_json *expected = corpus_file(arena, CG "expected.json");

    WRIT_JSON_EACH(name, expected)
    {
        WRIT_AUTO(struct writ_completeness_set *, set_free) set = writ_completeness_new(100);
        writ_auto_buf folder = writ_buf_make(PATH_MAX_);
        struct stream stream = {arena, NULL, set};

        writ_buf_fmt(&folder, CG WRIT_VIEW_FMT, WRIT_VIEW_ARG(writ_json_string(name)));
        writ_buf_byte(&folder, '\0');
        each_file(folder.ptr, ".json", add_evidence, &stream, arena);
        expect_report(folder.ptr, writ_value_get(writ_json_value(name), "contiguity"), &stream);
    }
}
END_TEST

/* ---- main */

static bool
corpora_at(const char *folder)
{
    int len = snprintf(corpora, sizeof corpora, "%s", folder);
    char probe[PATH_MAX_ + 64];

    (void)snprintf(probe, sizeof probe, "%s/" GD "expected.json", corpora);
    return len > 0 && (size_t)len < sizeof corpora && access(probe, R_OK) == 0;
}

int
main(void)
{
    const TTest *const tests[] = {cases_recompute_and_are_signed,
        the_unicode_scope_has_the_expected_intent, the_binding_verdicts_are_the_expected_ones,
        the_second_of_two_outcomes_is_a_duplicate, streams_are_as_complete_as_expected,
        dropped_authorizations_are_missed};
    const char *stated = getenv("WRIT_SHARED_VECTORS");

    if (stated != NULL && !corpora_at(stated)) {
        (void)printf("the corpora are not at %s, as WRIT_SHARED_VECTORS says\n", corpora);
        return EXIT_FAILURE;
    }
    if (stated == NULL && !corpora_at(WRIT_SOURCE_DIR "/../shared/vectors/external")) {
        (void)printf("SKIPPED: the corpora are not at %s\n", corpora);
        return SKIPPED;
    }
    return writ_unit_run("vaara", tests, sizeof tests / sizeof tests[0]);
}
