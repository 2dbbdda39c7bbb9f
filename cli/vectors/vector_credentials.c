/* writ-credentials/1: credentials, and the first reason against each. */
#include "cli/vectors/vector.h"
#include "evidence/credential/credential.h"
#include "evidence/json/jcs.h"
#include "evidence/json/write.h"

#define ARGUMENTS_MAX ((size_t)1 << 20)

/* The verifier's memory in the case. */
struct memory {
    bool unlisted, revoked, used;
};

static enum writ_status
status(void *ctx, const struct writ_claims *claims)
{
    const struct memory *memory = ctx;

    (void)claims;
    return memory->unlisted  ? WRIT_STATUS_UNKNOWN
           : memory->revoked ? WRIT_STATUS_REVOKED
                             : WRIT_STATUS_VALID;
}

static enum writ_credential_use
use(void *ctx, struct writ_view jti, int64_t until_s)
{
    const struct memory *memory = ctx;

    (void)jti;
    (void)until_s;
    return memory->used ? WRIT_CREDENTIAL_USE_SPENT : WRIT_CREDENTIAL_USE_FRESH;
}

static const struct writ_json *
get(const struct writ_json *object, const char *name)
{
    return writ_json_get(object, writ_view_str(name));
}

static bool
is_true(const struct writ_json *value)
{
    return writ_json_type(value) == WRIT_JSON_TRUE;
}

/* A number of the call, if present. */
static WRIT_RESULT
take(const struct writ_json *call, const char *name, int64_t *ret, struct writ_err *err)
{
    if (get(call, name) != NULL &&
        !writ_is_ok(writ_json_integer(get(call, name), 0, INT64_MAX, ret))) {
        WRIT_FAIL(err, WRIT_E_PARSE, "call/%s is not a number", name);
    }
    return WRIT_DONE;
}

/* As the call file of `writ verify credential`: absent members are not compared. */
static WRIT_RESULT
read_call(const struct writ_json *call, struct memory *memory, struct writ_credential_expect *ret,
    struct writ_err *err)
{
    const struct writ_json *state = get(call, "target_state_digest");

    *memory = (struct memory){is_true(get(call, "status_unknown")), is_true(get(call, "revoked")),
        is_true(get(call, "used"))};
    *ret = (struct writ_credential_expect){
        .issuer = writ_json_string(get(call, "iss")),
        .any_issuer = get(call, "iss") == NULL,
        .audience = writ_json_string(get(call, "aud")),
        .typ = writ_json_string(get(call, "typ")),
        .tool = writ_json_string(get(call, "tool")),
        .agent_id = writ_json_string(get(call, "agent_id")),
        .any_agent = get(call, "agent_id") == NULL,
        .tenant = writ_json_string(get(call, "tenant")),
        .any_tenant = get(call, "tenant") == NULL,
        .target_state = {writ_json_type(state) == WRIT_JSON_NULL ? WRIT_NULL : WRIT_PRESENT,
            writ_json_string(state)},
        .any_target_state = state == NULL,
        .status = status,
        .use = use,
        .ctx = memory,
    };
    WRIT_TRY(take(call, "now", &ret->now_s, err));
    WRIT_TRY(take(call, "skew", &ret->skew_s, err));
    WRIT_TRY(take(call, "lifetime_max", &ret->lifetime_max_s, err));
    if (get(call, "arguments") == NULL) {
        return writ_digest_bytes(WRIT_LIT("{}"), &ret->params_hash, err);
    }
    if (!writ_jcs_all_exact(get(call, "arguments"))) {
        ret->inexact_params = true;
        return WRIT_DONE;
    }
    return writ_digest_json(get(call, "arguments"), ARGUMENTS_MAX, &ret->params_hash, err);
}

writ_result
writ_vector_credentials(const struct writ_json *set, const struct writ_json *vector,
    struct writ_arena *arena, struct writ_buf *ret, struct writ_err *err)
{
    writ_auto_jwks keys = NULL;
    writ_auto_buf text = writ_buf_make(WRIT_JWKS_BYTES_MAX);
    struct writ_credential_expect expect;
    struct writ_write w = writ_write_to(ret);
    enum writ_reason why = WRIT_REASON_NONE;
    struct memory memory;
    bool ok;

    WRIT_TRY(writ_vector_text(get(set, "jwks"), "jwks", &text, err));
    WRIT_TRY(writ_jwks_read(writ_buf_view(&text), &keys, err));
    WRIT_TRY(read_call(get(vector, "call"), &memory, &expect, err));
    expect.keys = keys;
    WRIT_TRY(writ_credential_verify(
        writ_json_string(get(vector, "token")), &expect, arena, NULL, &why, err));
    ok = why == WRIT_REASON_CREDENTIAL_OK;
    writ_write_object_begin(&w);
    writ_write_flag(&w, "ok", ok);
    writ_write_text(&w, "reason", ok ? WRIT_LIT("ok") : writ_reason_name(why));
    writ_write_object_end(&w);
    return writ_write_end(&w, err);
}
