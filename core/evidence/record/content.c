/* One form of the authenticated bytes, and one place that says which signed digest a content must
 * have. */
#include "evidence/record/content.h"

#include "evidence/json/digest.h"

#define AAD_MAX 2048 /* a decision_id has at most half of that */

static const char *const part_names[] = {
    [WRIT_CONTENT_NONE] = "",
    [WRIT_CONTENT_ARGUMENTS] = "arguments",
    [WRIT_CONTENT_RESULT] = "result",
    [WRIT_CONTENT_CREW_LOG] = "crew_log",
};

const char *
writ_content_part_name(enum writ_content_part part)
{
    return (size_t)part < sizeof part_names / sizeof part_names[0] ? part_names[part] : "";
}

/* "writ content v1", then a line each for part, mark, time and decision_id, which is the last one
 * and may have any bytes. */
static WRIT_RESULT
put_aad(const struct writ_content_of *of, struct writ_buf *ret, struct writ_err *err)
{
    if (of->decision_id.len == 0 || writ_content_part_name(of->part)[0] == '\0') {
        WRIT_FAIL(err, WRIT_E_INVALID, "a content needs its decision_id and its part");
    }
    writ_buf_str(ret, "writ content v1\n");
    writ_buf_str(ret, writ_content_part_name(of->part));
    writ_buf_str(ret, of->redacted ? "\nredacted\n" : "\nwhole\n");
    writ_buf_fmt(ret, "%lld\n", (long long)of->expires_us);
    writ_buf_put(ret, of->decision_id);
    return writ_buf_check(ret, err);
}

WRIT_RESULT
writ_content_seal(const struct writ_wrap_key *key, const struct writ_content_of *of,
    struct writ_view plain, struct writ_arena *arena, struct writ_sealed *ret, struct writ_err *err)
{
    char memory[AAD_MAX];
    struct writ_buf aad = writ_buf_over(memory, sizeof memory);
    struct writ_buf bytes = writ_buf_in(arena, WRIT_CONTENT_MAX + WRIT_WRAP_OVERHEAD);
    struct writ_sealed sealed = {
        .kid = writ_wrap_key_kid(key), .redacted = of->redacted, .expires_us = of->expires_us};

    WRIT_TRY(put_aad(of, &aad, err));
    WRIT_TRY(writ_wrap_key_seal(key, writ_buf_view(&aad), plain, sealed.wrapped, &bytes, err));
    sealed.bytes = writ_buf_view(&bytes);
    *ret = sealed;
    return WRIT_DONE;
}

WRIT_RESULT
writ_content_open(const struct writ_keyring *ring, struct writ_view decision_id,
    enum writ_content_part part, const struct writ_sealed *sealed, struct writ_arena *arena,
    struct writ_view *ret, struct writ_err *err)
{
    const struct writ_content_of of = {.decision_id = decision_id,
        .part = part,
        .redacted = sealed->redacted,
        .expires_us = sealed->expires_us};
    const struct writ_wrap_key *key = writ_keyring_unwrap(ring, sealed->kid);
    char memory[AAD_MAX];
    struct writ_buf aad = writ_buf_over(memory, sizeof memory);
    struct writ_buf plain = writ_buf_in(arena, WRIT_CONTENT_MAX + 1);

    if (key == NULL) {
        WRIT_FAIL(err, WRIT_E_ABSENT,
            "no key of contents " WRIT_VIEW_FMT " with its secret in the key directory: it was "
            "retired or revoked, or the directory is another one",
            WRIT_VIEW_ARG(sealed->kid));
    }
    WRIT_TRY(put_aad(&of, &aad, err));
    WRIT_TRY(writ_wrap_key_open(key, writ_buf_view(&aad),
        writ_view(sealed->wrapped, sizeof sealed->wrapped), sealed->bytes, &plain, err));
    *ret = writ_buf_view(&plain);
    return WRIT_DONE;
}

/* ---- the signed digest ---- */

static struct writ_view
present(const struct writ_member_text *member)
{
    return member->is == WRIT_PRESENT ? member->view : writ_view(NULL, 0);
}

struct writ_view
writ_content_arguments(
    const struct writ_decision *decision, const struct writ_extension *extension, bool redacted)
{
    return present(redacted ? &extension->contents_kept : &decision->params_hash);
}

struct writ_view
writ_content_result(
    const struct writ_outcome *outcome, const struct writ_extension *extension, bool redacted)
{
    if (redacted) {
        return present(&extension->contents_kept);
    }
    return present(extension->output_after.is == WRIT_PRESENT ? &extension->output_after
                                                              : &outcome->tool_output_hash);
}

WRIT_RESULT
writ_content_check(struct writ_view plain, struct writ_view signed_digest, struct writ_err *err)
{
    struct writ_digest found, wanted;

    if (!writ_is_ok(writ_digest_read(signed_digest, &wanted, NULL))) {
        WRIT_FAIL(err, WRIT_E_MISMATCH, "the signed record has no digest for this content");
    }
    WRIT_TRY(writ_digest_bytes(plain, &found, err));
    if (!writ_digest_equal(&found, &wanted)) {
        WRIT_FAIL(err, WRIT_E_MISMATCH,
            "the content does not match the digest in its signed "
            "record");
    }
    return WRIT_DONE;
}
