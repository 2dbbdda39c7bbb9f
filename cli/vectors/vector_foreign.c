/* writ-foreign/1: documents in foreign formats, and the findings about them. */
#include "base/clock.h"
#include "cli/vectors/vector.h"
#include "evidence/json/write.h"
#include "evidence/vaara/vaara.h"
#include "evidence/vaara/vaara_receipt.h"

#define DOCUMENTS_MAX 1024
#define SECOND_US     1000000

struct keys {
    struct writ_jwk *held[WRIT_VAARA_KEYS_MAX];
    size_t n;
};

static void
keys_wipe(struct keys *keys)
{
    for (size_t i = 0; i < keys->n; i++) {
        writ_jwk_free(keys->held[i]);
    }
}

static WRIT_RESULT
read_terms(const struct writ_json *set, const struct writ_json *vector, struct keys *keys,
    struct writ_vaara_terms *ret, struct writ_err *err)
{
    struct writ_view revoked = writ_json_string(writ_json_get(vector, WRIT_LIT("revoked")));
    size_t at = writ_view_find(revoked, '@');
    int64_t since_us;

    WRIT_JSON_EACH(value, writ_json_get(set, WRIT_LIT("keys")))
    {
        if (keys->n == WRIT_VAARA_KEYS_MAX) {
            WRIT_FAIL(err, WRIT_E_LIMIT, "more than %d keys", WRIT_VAARA_KEYS_MAX);
        }
        WRIT_TRY(writ_jwk_read(value, &keys->held[keys->n], err));
        ret->keys.keys[ret->keys.count++] = keys->held[keys->n++];
    }
    ret->keys.secret = writ_json_string(writ_json_get(set, WRIT_LIT("secret")));
    if (revoked.len > 0) {
        if (!writ_is_ok(writ_time_read(writ_view_sub(revoked, at + 1, revoked.len), &since_us))) {
            WRIT_FAIL(err, WRIT_E_PARSE, "revoked is not ID@TIME");
        }
        ret->revoked = writ_view_sub(revoked, 0, at);
        ret->revoked_since_s = since_us / SECOND_US;
    }
    return WRIT_DONE;
}

static void
put_finding(struct writ_write *w, const struct writ_vaara_finding *finding)
{
    struct writ_view verdict = writ_vaara_verdict(finding);

    writ_write_object_begin(w);
    writ_write_text(w, "kind", writ_view_str(writ_vaara_kind_name(finding->kind)));
    writ_write_flag(w, "holds", finding->holds);
    writ_write_flag(w, "authentic", finding->authentic);
    writ_write_text_or_null(w, "verdict", verdict.len > 0 ? verdict : writ_view(NULL, 0));
    writ_write_name(w, WRIT_LIT("reason"));
    writ_write_string_or_null(
        w, verdict.len > 0 ? writ_reason_name(finding->reason) : writ_view(NULL, 0));
    writ_write_name(w, WRIT_LIT("faults"));
    writ_write_array_begin(w);
    for (size_t i = 0; finding->faults != NULL && i < finding->faults->count; i++) {
        writ_write_string(w, writ_view_str(finding->faults->list[i].pointer));
    }
    writ_write_array_end(w);
    writ_write_name(w, WRIT_LIT("failed"));
    writ_write_array_begin(w);
    for (int i = 0; i < WRIT_VAARA_RECEIPT_COUNT; i++) {
        if ((finding->failed >> i & 1) != 0) {
            writ_write_string(
                w, writ_view_str(writ_vaara_receipt_id((enum writ_vaara_receipt_check)i)));
        }
    }
    writ_write_array_end(w);
    writ_write_object_end(w);
}

static void
put_report(struct writ_write *w, const struct writ_completeness *report)
{
    writ_write_object_begin(w);
    writ_write_flag(w, "whole", report->whole);
    writ_write_count(w, "held", report->held);
    writ_write_count(w, "expected", report->expected);
    writ_write_flag(w, "sealed", report->sealed);
    writ_completeness_put_missing(w, report);
    writ_write_object_end(w);
}

static WRIT_RESULT
put_all(const struct writ_vaara_finding *findings, size_t n, const struct writ_completeness *report,
    struct writ_buf *ret, struct writ_err *err)
{
    struct writ_write w = writ_write_to(ret);
    bool ok = report == NULL || report->whole;

    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("documents"));
    writ_write_array_begin(&w);
    for (size_t i = 0; i < n; i++) {
        put_finding(&w, &findings[i]);
        ok = ok && findings[i].holds;
    }
    writ_write_array_end(&w);
    writ_write_name(&w, WRIT_LIT("completeness"));
    if (report != NULL) {
        put_report(&w, report);
    } else {
        writ_write_null(&w);
    }
    writ_write_flag(&w, "ok", ok);
    writ_write_object_end(&w);
    return writ_write_end(&w, err);
}

writ_result
writ_vector_foreign(const struct writ_json *set, const struct writ_json *vector,
    struct writ_arena *arena, struct writ_buf *ret, struct writ_err *err)
{
    WRIT_AUTO(struct keys, keys_wipe) keys = {0};
    const struct writ_json *documents =
        writ_json_get_typed(vector, WRIT_LIT("documents"), WRIT_JSON_ARRAY);
    struct writ_vaara_finding *findings;
    struct writ_vaara_terms terms = {0};
    struct writ_completeness report;
    bool any = false;
    size_t n = 0;

    if (documents == NULL || documents->count > DOCUMENTS_MAX ||
        !writ_json_is(writ_json_get(set, WRIT_LIT("profile")), WRIT_LIT("vaara-v0"))) {
        WRIT_FAIL(err, WRIT_E_PARSE, "no documents, or of another profile than vaara-v0");
    }
    findings = writ_arena_get(arena, (documents->count + 1) * sizeof *findings);
    if (findings == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    WRIT_TRY(read_terms(set, vector, &keys, &terms, err));
    WRIT_JSON_EACH(document, documents)
    {
        WRIT_TRY(writ_vaara_check(document, &terms, arena, &findings[n++], err));
    }
    WRIT_TRY(writ_vaara_join(findings, n, arena, &report, &any, err));
    return put_all(findings, n, any ? &report : NULL, ret, err);
}
