/* Decides at DRAFT what of the arguments is kept, because the record has the digest of a kept form
 * that is not whole; and at CHECK whether the result is. */
#include "gateway/call/retain.h"

#include "gateway/call/call_key.h"

#include "evidence/json/digest.h"
#include "policy/decide/kept.h"

writ_result
writ_retain_describe(struct writ_request *request, struct writ_call *call)
{
    const struct writ_config *config = writ_request_config(request);
    struct writ_call_contents contents = {
        .terms = writ_kept_terms(config, call->callee.name, call->callee.tool, call->verdict.rule)};
    struct writ_buf kept = writ_buf_in(request->x->arena, (size_t)config->limits.body_bytes * 2);
    struct writ_digest digest;

    call->contents = (struct writ_call_contents){0};
    if (contents.terms.keep_us == 0 || call->record.decision.params_hash.is != WRIT_PRESENT) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_kept_arguments(config, call->callee.name, call->callee.tool,
        call->callee.arguments, &kept, &contents.whole));
    contents.arguments = writ_buf_view(&kept);
    if (kept.len > WRIT_CONTENT_MAX) {
        call->record.extension.contents_too_large = writ_member_flag(true);
        return WRIT_DONE;
    }
    if (!contents.whole) {
        WRIT_TRY(writ_digest_bytes(contents.arguments, &digest, NULL));
        WRIT_TRY(writ_call_key_digest(
            &digest, request->x->arena, &call->record.extension.contents_kept));
    }
    call->contents = contents;
    return WRIT_DONE;
}

/* Under another policy the record does not say whether a secret was among the arguments. */
static bool
is_whole(const struct writ_config *config, struct writ_view upstream,
    const struct writ_decision *decision, const struct writ_extension *extension)
{
    char policy[WRIT_DIGEST_TEXT];

    writ_digest_text(&config->policy_digest, policy);
    return extension->contents_kept.is != WRIT_PRESENT &&
           extension->contents_too_large.is != WRIT_PRESENT &&
           (writ_view_is(writ_member_view(&decision->policy_digest), policy) ||
               !writ_kept_hides(config, upstream, decision->tool.view));
}

struct writ_call_contents
writ_retain_of(const struct writ_config *config, struct writ_view upstream,
    const struct writ_decision *decision, const struct writ_tool_rule *rule,
    struct writ_arena *arena)
{
    struct writ_extension extension = {0};
    struct writ_call_contents contents = {0};

    if (writ_is_ok(writ_extension_read(&decision->extensions, arena, &extension, NULL))) {
        contents.terms = writ_kept_terms(config, upstream, decision->tool.view, rule);
        contents.whole = is_whole(config, upstream, decision, &extension);
    }
    return contents;
}

bool
writ_retain_takes(struct writ_call_contents *contents, size_t bytes)
{
    bool fits = bytes <= (size_t)contents->terms.results_bytes;

    if (contents->terms.keep_us == 0 || contents->terms.results_bytes == 0 || !contents->whole) {
        return false;
    }
    contents->too_large = !fits;
    return fits;
}

const struct writ_sealed *
writ_retain_seal(const struct writ_keyring *ring, const struct writ_retained *what,
    struct writ_arena *arena, struct writ_err *err)
{
    const struct writ_wrap_key *key = writ_keyring_wrap(ring);
    struct writ_sealed *sealed = writ_arena_get(arena, sizeof *sealed);
    const struct writ_content_of of = {.decision_id = what->decision->decision_id.view,
        .part = what->part,
        .redacted = what->is_part,
        .expires_us = what->since_us + what->keep_us};

    if (key == NULL || sealed == NULL ||
        !writ_is_ok(writ_content_seal(key, &of, what->text, arena, sealed, err))) {
        return NULL;
    }
    return sealed;
}

const struct writ_sealed *
writ_retain_result(const struct writ_keyring *ring, const struct writ_call_contents *contents,
    const struct writ_decision *decision, const struct writ_outcome *outcome, int64_t now_us,
    struct writ_arena *arena)
{
    struct writ_retained what = {.decision = decision,
        .part = WRIT_CONTENT_RESULT,
        .text = contents->result,
        .since_us = now_us,
        .keep_us = contents->terms.keep_us};

    if (contents->result.ptr == NULL || outcome->tool_output_hash.is != WRIT_PRESENT) {
        return NULL;
    }
    WRIT_IGNORE(writ_time_read(decision->issued_at.view, &what.since_us));
    return writ_retain_seal(ring, &what, arena, NULL);
}
