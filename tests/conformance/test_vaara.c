/* The corpora of Vaara: governance_decision_v0, contiguity_v0, credential_binding_v0 and
 * record_conformance_v0, each with the results that its expected.json says.
 *
 * record_conformance_v0 is in vectors/. The others are under AGPL-3.0 and no part of this project:
 * they are read from $WRIT_SHARED_VECTORS or from ../shared/vectors/external beside the checkout,
 * where they are. vectors/vaara is our own set in the same formats, and has a case for all that
 * they check. */
#include "support/unit.h"
#include "support/evidence/value.h"

#include "base/text.h"
#include "evidence/jose/pem.h"
#include "evidence/vaara/vaara.h"
#include "evidence/vaara/vaara_grant.h"
#include "evidence/vaara/vaara_receipt.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PATH_MAX_ 4096
#define FILES_MAX 64
#define SECRET    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" /* of the corpus: 32 bytes */

#define GD "vaara-governance-decision-v0/"
#define CG "vaara-contiguity-v0/"
#define CB "vaara-credential-binding-v0/"
#define RC WRIT_VECTORS "/vaara-record-conformance-v0/"

/* The folder of the corpora: set by main. */
static char corpora[PATH_MAX_];

/* Wipe the path after use. */
static struct writ_buf
path_of(const char *name)
{
    struct writ_buf path = writ_buf_make(PATH_MAX_);

    writ_buf_fmt(&path, "%s%s%s", name[0] == '/' ? "" : corpora, name[0] == '/' ? "" : "/", name);
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

/* "folder/" and the text of `name` and `suffix`, in the arena. */
static const char *
named(
    struct writ_arena *arena, const char *folder, const struct writ_json *name, const char *suffix)
{
    writ_auto_buf path = writ_buf_make(PATH_MAX_);

    writ_buf_fmt(
        &path, "%s" WRIT_VIEW_FMT "%s", folder, WRIT_VIEW_ARG(writ_json_string(name)), suffix);
    return writ_view_copy(writ_buf_view(&path), arena).ptr;
}

static struct writ_jwk *
key_of(const char *name)
{
    writ_auto_buf path = path_of(name);
    writ_auto_buf text = writ_buf_make(WRIT_PEM_BYTES_MAX);
    struct writ_jwk *key = NULL;

    ck_assert_ok(writ_text_file(path.ptr, WRIT_PEM_BYTES_MAX, &text, NULL));
    ck_assert_ok(writ_pem_read_key(writ_buf_view(&text), &key, NULL));
    return key;
}

static struct writ_vaara_finding
check(struct writ_arena *arena, const struct writ_jwk *key, const char *name)
{
    struct writ_vaara_terms terms = {0};
    struct writ_vaara_finding finding;

    /* the signatures of record_conformance_v0 are made up */
    if (!writ_view_has_prefix(writ_view_str(name), WRIT_LIT(RC))) {
        terms.keys.secret = WRIT_LIT(SECRET);
    }

    if (key != NULL) {
        terms.keys.keys[terms.keys.count++] = key;
    }
    ck_assert_ok(writ_vaara_check(corpus_file(arena, name), &terms, arena, &finding, NULL));
    return finding;
}

static bool
is_true(const struct writ_json *object, const char *name)
{
    return writ_json_type(writ_value_get(object, name)) == WRIT_JSON_TRUE;
}

static int64_t
number_in(const struct writ_json *object, const char *name)
{
    int64_t number = 0;

    ck_assert_ok(writ_json_integer(writ_value_get(object, name), 0, INT64_MAX, &number));
    return number;
}

/* ---- governance_decision_v0 */

START_TEST(binding_cases_have_the_expected_verdicts)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_jwk *key = key_of(GD "keys/es256_public.pem");
    const struct writ_json *cases = writ_value_get(corpus_file(arena, GD "expected.json"), "cases");

    WRIT_JSON_EACH(name, cases)
    {
        const struct writ_json *want = writ_json_value(name);
        const char *file = named(arena, GD "cases/", name, ".json");
        struct writ_vaara_finding finding = check(arena, key, file);

        ck_assert_msg(finding.authentic == is_true(want, "signatures_ok"), "%s", file);
        ck_assert_msg(
            writ_json_is(writ_value_get(want, "expected_verdict"), writ_vaara_verdict(&finding)),
            "%s: %s", file, writ_vaara_verdict(&finding).ptr);
    }
    ck_assert_uint_eq(cases->count, 4);
    writ_jwk_free(key);
}
END_TEST

START_TEST(unicode_scope_has_the_expected_intent)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_jwk *key = key_of(GD "keys/es256_public.pem");
    const struct writ_json *want =
        writ_value_get(corpus_file(arena, GD "expected.json"), "unicode_scope");
    struct writ_vaara_finding finding = check(arena, key, GD "cases/unicode_scope.json");
    const struct writ_json *record = writ_value_get(finding.document, "record");

    ck_assert(finding.authentic && is_true(want, "signature_ok"));
    ck_assert(finding.holds); /* so the stated digest equals the recomputed one */
    ck_assert(
        writ_json_equal(writ_value_get(want, "intent_ref"), writ_value_get(record, "intent_ref")));
    ck_assert(writ_json_equal(
        writ_value_get(want, "params_hash"), writ_value_get(record, "params_hash")));
    writ_jwk_free(key);
}
END_TEST

/* ---- sets: the files of a folder together */

static size_t
check_folder(struct writ_arena *arena, const struct writ_jwk *key, const char *folder,
    struct writ_vaara_finding *ret)
{
    writ_auto_buf path = path_of(folder);
    DIR *dir = opendir(path.ptr);
    size_t n = 0;

    ck_assert_ptr_nonnull(dir);
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        if (writ_view_has_suffix(writ_view_str(entry->d_name), WRIT_LIT(".json"))) {
            writ_auto_buf name = writ_buf_make(PATH_MAX_);
            writ_buf_fmt(&name, "%s/%s%c", folder, entry->d_name, '\0');
            ck_assert_uint_lt(n, FILES_MAX);
            ret[n++] = check(arena, key, name.ptr);
        }
    }
    (void)closedir(dir);
    return n;
}

static void
expect_set(struct writ_arena *arena, const struct writ_jwk *key, const char *folder,
    const char *grant, const struct writ_json *want)
{
    struct writ_vaara_finding findings[FILES_MAX + 1];
    size_t n = check_folder(arena, key, folder, findings);
    const struct writ_json *missing = writ_value_get(want, "missingSeqs");
    struct writ_completeness report;
    bool any = false;

    if (grant != NULL) {
        findings[n++] = check(arena, key, grant);
    }
    ck_assert_ok(writ_vaara_join(findings, n, arena, &report, &any, NULL));
    for (size_t i = 0; i < n; i++) {
        ck_assert_msg(findings[i].holds && findings[i].authentic, "%s: %zu", folder, i);
    }
    ck_assert(any);
    ck_assert_msg(report.whole == is_true(want, "ok"), "%s", folder);
    ck_assert_int_eq((int64_t)report.expected, number_in(want, "expected"));
    ck_assert_int_eq((int64_t)report.held, number_in(want, "present"));
    ck_assert_uint_eq(report.missing_total, missing->count);
    for (size_t i = 0; i < report.missing_count; i++) {
        int64_t seq = -1;
        ck_assert_uint_eq(report.missing[i].first, report.missing[i].last);
        ck_assert_ok(writ_json_integer(writ_json_element(missing, i), 0, INT64_MAX, &seq));
        ck_assert_int_eq(seq, (int64_t)report.missing[i].first);
    }
}

START_TEST(streams_are_as_complete_as_expected)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_jwk *key = key_of(GD "keys/es256_public.pem");
    const struct writ_json *expected =
        writ_value_get(corpus_file(arena, GD "expected.json"), "stream");

    WRIT_JSON_EACH(name, expected)
    {
        const struct writ_json *want = writ_json_value(name);
        ck_assert(is_true(want, "all_signatures_ok"));
        expect_set(arena, key, named(arena, GD "stream/", name, ""), NULL,
            writ_value_get(want, "sealed_contiguity"));
    }
    ck_assert_uint_eq(expected->count, 4);
    writ_jwk_free(key);
}
END_TEST

START_TEST(completeness_of_dropped_authorizations_names_each_of_the_grant)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_jwk *key = key_of(CG "keys/es256_public.pem");
    const struct writ_json *expected = corpus_file(arena, CG "expected.json");

    WRIT_JSON_EACH(name, expected)
    {
        const struct writ_json *want = writ_json_value(name);
        ck_assert(is_true(want, "all_signatures_ok"));
        ck_assert(is_true(want, "all_evidence_bindings_resolve"));
        expect_set(arena, key, named(arena, CG, name, ""), CG "grant.json",
            writ_value_get(want, "contiguity"));
    }
    ck_assert_uint_eq(expected->count, 2);
    writ_jwk_free(key);
}
END_TEST

/* ---- credential_binding_v0, and the grant with capabilities */

START_TEST(grants_have_the_expected_verdicts)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_json *cases = writ_value_get(corpus_file(arena, CB "expected.json"), "cases");

    WRIT_JSON_EACH(name, cases)
    {
        const struct writ_json *want = writ_json_value(name);
        const char *file = named(arena, CB "cases/", name, ".json");
        struct writ_vaara_finding finding = check(arena, NULL, file);

        ck_assert_msg(finding.authentic == is_true(want, "signature_ok"), "%s", file);
        ck_assert_msg(
            writ_json_is(writ_value_get(want, "expected_verdict"), writ_vaara_verdict(&finding)),
            "%s: %s", file, writ_vaara_verdict(&finding).ptr);
    }
    ck_assert_uint_eq(cases->count, 5);
}
END_TEST

static void
expect_grant(
    struct writ_arena *arena, const struct writ_jwk *key, const char *args, enum writ_reason want)
{
    const struct writ_json *grant = corpus_file(arena, CG "grant.json");
    struct writ_vaara_keys keys = {.keys = {key}, .count = 1};
    struct writ_vaara_call call = {
        .args = writ_value_of(arena, writ_view_str(args)),
        .tool = WRIT_LIT("pay.send"),
        .tenant = WRIT_LIT("tenant-a"),
        .known = writ_value_of(arena,
            WRIT_LIT(
                "[\"sha256:abababababababababababababababababababababababababababababababab\"]")),
        .now_us = INT64_C(1781784005000000), /* 2026-06-18T12:00:05Z */
    };
    enum writ_reason why = WRIT_REASON_NONE;

    ck_assert_ok(writ_vaara_grant_verify(grant, &keys, &call, &why, NULL));
    ck_assert_view(writ_reason_name(why), writ_reason_name(want).ptr);
}

START_TEST(grant_with_capabilities_bounds_its_call)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_jwk *key = key_of(CG "keys/es256_public.pem");

    expect_grant(arena, key, "{\"amount\":400,\"vendor\":\"acme\",\"destination\":\"0xABC\"}",
        WRIT_REASON_CREDENTIAL_OK);
    expect_grant(arena, key, "{\"amount\":600,\"vendor\":\"acme\",\"destination\":\"0xABC\"}",
        WRIT_REASON_CAPABILITY_EXCEEDED);
    expect_grant(arena, key, "{\"amount\":400,\"vendor\":\"evil\",\"destination\":\"0xABC\"}",
        WRIT_REASON_CAPABILITY_EXCEEDED);
    expect_grant(
        arena, key, "{\"amount\":400,\"vendor\":\"acme\"}", WRIT_REASON_CAPABILITY_EXCEEDED);
    expect_grant(arena, key,
        "{\"amount\":400,\"vendor\":\"acme\",\"destination\":\"0xABC\",\"memo\":\"\"}",
        WRIT_REASON_CAPABILITY_UNCOVERED);
    writ_jwk_free(key);
}
END_TEST

/* ---- record_conformance_v0 */

/* The failed checks of that sort are the listed ones. */
static void
expect_failed(const char *file, uint32_t failed, bool required, const struct writ_json *list)
{
    size_t n = 0;

    for (int i = 0; i < WRIT_VAARA_RECEIPT_COUNT; i++) {
        enum writ_vaara_receipt_check one = (enum writ_vaara_receipt_check)i;
        if ((failed >> i & 1) != 0 && writ_vaara_receipt_required(one) == required) {
            ck_assert_msg(
                writ_json_is(writ_json_element(list, n), writ_view_str(writ_vaara_receipt_id(one))),
                "%s: %s", file, writ_vaara_receipt_id(one));
            n++;
        }
    }
    ck_assert_msg(n == list->count, "%s", file);
}

START_TEST(records_conform_as_expected)
{
    writ_auto_arena arena = writ_value_arena();
    const struct writ_json *expected = corpus_file(arena, RC "expected.json");

    WRIT_JSON_EACH(name, expected)
    {
        const struct writ_json *want = writ_json_value(name);
        const char *file = named(arena, RC "records/", name, ".json");
        struct writ_vaara_finding finding = check(arena, NULL, file);

        ck_assert_int_eq(finding.kind, WRIT_VAARA_RECEIPT);
        ck_assert_msg(finding.holds == is_true(want, "conforms"), "%s", file);
        expect_failed(file, finding.failed, true, writ_value_get(want, "requiredFailed"));
        expect_failed(file, finding.failed, false, writ_value_get(want, "advisories"));
    }
    ck_assert_uint_eq(expected->count, 10);
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
    const TTest *const tests[] = {records_conform_as_expected,
        binding_cases_have_the_expected_verdicts, unicode_scope_has_the_expected_intent,
        streams_are_as_complete_as_expected,
        completeness_of_dropped_authorizations_names_each_of_the_grant,
        grants_have_the_expected_verdicts, grant_with_capabilities_bounds_its_call};
    const char *stated = getenv("WRIT_SHARED_VECTORS");
    bool all = corpora_at(stated != NULL ? stated : WRIT_SOURCE_DIR "/../shared/vectors/external");

    if (stated != NULL && !all) {
        (void)printf("the corpora are not at %s, as WRIT_SHARED_VECTORS says\n", corpora);
        return EXIT_FAILURE;
    }
    if (!all) {
        (void)printf("only record_conformance_v0: the other corpora are not at %s\n", corpora);
    }
    return writ_unit_run("vaara", tests, all ? sizeof tests / sizeof tests[0] : 1);
}
