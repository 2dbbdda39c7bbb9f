/* Implements verify.h on evidence/credential/credential.h: translates the request of a tool server
 * and the answer of the checks. */
#include "writ/verify.h"

#include "evidence/credential/credential.h"
#include "evidence/jose/rotation.h"
#include "evidence/json/jcs.h"

#define TOKEN_ARENA_MAX  ((size_t)65536)
#define STATUS_ARENA_MAX ((size_t)1 << 20)
#define CALL_ARENA_MAX   ((size_t)512 << 20)
#define CANONICAL_MAX                                                                              \
    (6 * WRIT_VERIFY_ARGUMENTS_MAX) /* "1e20" has 21 digits: nothing grows more                    \
                                     */

_Static_assert(WRIT_VERIFY_SKEW_MAX_S == WRIT_CREDENTIAL_SKEW_MAX_S, "one limit");
_Static_assert(WRIT_VERIFY_LIFETIME_S == WRIT_CREDENTIAL_LIFETIME_MAX_S, "one limit");

static const struct writ_json_limits argument_limits = {
    .bytes = WRIT_VERIFY_ARGUMENTS_MAX,
    .depth = 64,
    .values = (size_t)4 << 20,
    .name_bytes = WRIT_VERIFY_ARGUMENTS_MAX,
    .string_bytes = WRIT_VERIFY_ARGUMENTS_MAX,
    .number_bytes = WRIT_NUMBER_MAX,
};

struct writ_verify {
    struct writ_jwks *keys; /* NULL: none yet */
    bool needs_status;
    struct writ_arena *memory; /* of the list */
    struct writ_status_list list;
};

WRIT_RESULT
writ_verify_new(struct writ_verify **ret, struct writ_err *err)
{
    struct writ_verify *verify = writ_alloc(sizeof *verify);

    if (verify == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a verifier");
    }
    *ret = verify;
    return WRIT_DONE;
}

void
writ_verify_free(struct writ_verify *verify)
{
    if (verify != NULL) {
        writ_jwks_free(verify->keys);
        writ_arena_free(verify->memory);
        writ_free(verify);
    }
}

WRIT_RESULT
writ_verify_keys(struct writ_verify *verify, struct writ_view jwks, struct writ_err *err)
{
    struct writ_jwks *keys = NULL;

    WRIT_TRY(writ_jwks_read(jwks, &keys, err));
    writ_jwks_free(verify->keys);
    verify->keys = keys;
    return WRIT_DONE;
}

WRIT_RESULT
writ_verify_pin(struct writ_verify *verify, struct writ_view trusted, struct writ_err *err)
{
    writ_auto_jwks keys = WRIT_TAKE(verify->keys);
    writ_auto_jwks pin = NULL;

    if (keys == NULL) {
        return WRIT_DONE; /* an empty set has no keys to drop */
    }
    WRIT_TRY(writ_jwks_read(trusted, &pin, err));
    WRIT_TRY(writ_rotation_follow(keys, pin, err));
    verify->keys = WRIT_TAKE(keys);
    return WRIT_DONE;
}

WRIT_RESULT
writ_verify_status(struct writ_verify *verify, struct writ_view token, struct writ_err *err)
{
    writ_auto_arena memory = writ_arena_new(STATUS_ARENA_MAX);
    struct writ_status_list list;

    verify->needs_status = true;
    if (memory == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a status list");
    }
    if (token.len == 0) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_status_list_read(token, verify->keys, memory, &list, err));
    if (list.issued_s < verify->list.issued_s) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the status list is older than the one before");
    }
    writ_arena_free(verify->memory);
    verify->memory = WRIT_TAKE(memory);
    verify->list = list;
    return WRIT_DONE;
}

size_t
writ_verify_left_out(const struct writ_verify *verify, const char **ret_why)
{
    *ret_why = "";
    return verify->keys != NULL ? writ_jwks_left_out(verify->keys, ret_why) : 0;
}

/* ---- the call */

/* The arguments of a call, as the checks need them. */
struct arguments {
    struct writ_digest hash;
    bool inexact;
};

/* An inexact number has the digest of the double that is nearest to it, so no digest is taken. */
static WRIT_RESULT
digest_text(struct writ_view text, struct arguments *ret, struct writ_err *err)
{
    writ_auto_arena arena = writ_arena_new(CALL_ARENA_MAX);
    const struct writ_json *value = NULL;

    if (arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the arguments");
    }
    WRIT_TRY(writ_json_read(text, &argument_limits, arena, &value, err));
    if (writ_json_type(value) != WRIT_JSON_OBJECT) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the arguments are not a JSON object");
    }
    if (!writ_jcs_all_exact(value)) {
        *ret = (struct arguments){.inexact = true};
        return WRIT_DONE;
    }
    return writ_digest_json(value, CANONICAL_MAX, &ret->hash, err);
}

static WRIT_RESULT
digest_arguments(const struct writ_verify_call *call, struct arguments *ret, struct writ_err *err)
{
    if (call->any_arguments) {
        return WRIT_DONE;
    }
    if (call->params_hash.len == 0) {
        return digest_text(call->arguments.len > 0 ? call->arguments : WRIT_LIT("{}"), ret, err);
    }
    if (call->arguments.len > 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the call has both arguments and params_hash");
    }
    if (!writ_is_ok(writ_digest_read(call->params_hash, &ret->hash, NULL))) {
        WRIT_FAIL(err, WRIT_E_INVALID, "params_hash is no digest");
    }
    return WRIT_DONE;
}

/* One request, for the two functions below. */
struct question {
    const struct writ_verify *verify;
    const struct writ_verify_call *call;
};

/* An expired list, or another list, gives no status. */
static enum writ_status
ask_status(void *ctx, const struct writ_claims *claims)
{
    const struct question *question = ctx;
    const struct writ_status_list *list = &question->verify->list;

    if (list->uri.ptr == NULL || !writ_view_equal(list->uri, claims->status.uri) ||
        list->expires_s <= question->call->now_s - question->call->skew_s) {
        return WRIT_STATUS_UNKNOWN;
    }
    return writ_status_list_at(list, claims->status.place);
}

/* Calls `use` of the caller, whose values equal ours. */
static enum writ_credential_use
ask_use(void *ctx, struct writ_view jti, int64_t until_s)
{
    const struct writ_verify_call *call = ((const struct question *)ctx)->call;

    switch (call->use(call->ctx, jti, until_s)) {
    case WRIT_VERIFY_USE_FRESH:
        return WRIT_CREDENTIAL_USE_FRESH;
    case WRIT_VERIFY_USE_SPENT:
        return WRIT_CREDENTIAL_USE_SPENT;
    case WRIT_VERIFY_USE_UNKNOWN:
        break;
    }
    return WRIT_CREDENTIAL_USE_UNKNOWN;
}

static WRIT_RESULT
check_call(const struct writ_verify_call *call, struct writ_err *err)
{
    if (call->tool.len == 0 || call->audience.len == 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "the call lacks the tool or the audience");
    }
    if (call->target_state_digest.len > 0 && !writ_digest_is(call->target_state_digest)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "target_state_digest is no digest");
    }
    return WRIT_DONE;
}

static struct writ_credential_expect
expectation(struct question *question, const struct arguments *arguments)
{
    const struct writ_verify *verify = question->verify;
    const struct writ_verify_call *call = question->call;

    return (struct writ_credential_expect){
        .keys = verify->keys,
        .issuer = call->issuer,
        .any_issuer = call->any_issuer,
        .audience = call->audience,
        .typ = call->typ,
        .tool = call->tool,
        .agent_id = call->agent_id,
        .any_agent = call->any_agent,
        .tenant = call->tenant,
        .any_tenant = call->any_tenant,
        .params_hash = arguments->hash,
        .inexact_params = arguments->inexact,
        .any_params = call->any_arguments,
        .target_state = {call->target_state_digest.len > 0 ? WRIT_PRESENT : WRIT_NULL,
            call->target_state_digest},
        .any_target_state = call->any_target_state,
        .now_s = call->now_s,
        .skew_s = call->skew_s,
        .lifetime_max_s = call->lifetime_max_s,
        .status = verify->needs_status ? ask_status : NULL,
        .use = call->use != NULL ? ask_use : NULL,
        .ctx = question,
    };
}

/* ---- the answer */

static void
put_claims(const struct writ_claims *claims, struct writ_verify_answer *ret)
{
    ret->jti = claims->jti;
    ret->issuer = claims->iss;
    ret->agent_id = claims->sub;
    ret->tenant = claims->tenant;
    ret->subject = claims->subject;
    ret->params_hash = claims->params_hash;
    ret->target_state_digest = claims->target_state_digest;
    ret->normalized_scope = claims->normalized_scope;
    ret->idempotency_key = claims->idempotency_key;
    ret->boundary_id = claims->boundary_id;
    ret->issued_at_s = claims->iat;
    ret->expires_at_s = claims->exp;
}

WRIT_RESULT
writ_verify_credential(const struct writ_verify *verify, struct writ_view token,
    const struct writ_verify_call *call, struct writ_verify_answer *ret, struct writ_err *err)
{
    writ_auto_arena arena = writ_arena_new(TOKEN_ARENA_MAX);
    struct question question = {verify, call};
    struct writ_credential_expect expect;
    struct writ_verify_answer answer = {0};
    struct writ_claims claims = {0};
    enum writ_reason why = WRIT_REASON_NONE;
    struct arguments arguments = {.inexact = false};

    if (arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a token");
    }
    WRIT_TRY(check_call(call, err));
    WRIT_TRY(digest_arguments(call, &arguments, err));
    expect = expectation(&question, &arguments);
    WRIT_TRY(writ_credential_verify(token, &expect, arena, &claims, &why, err));
    answer.ok = why == WRIT_REASON_CREDENTIAL_OK;
    answer.reason = answer.ok ? "ok" : writ_reason_name(why).ptr;
    answer.sentence = writ_reason_sentence(why).ptr;
    answer.hint = writ_reason_hint(why).ptr;
    if (answer.ok) {
        put_claims(&claims, &answer);
        answer.memory = WRIT_TAKE(arena);
    }
    *ret = answer;
    return WRIT_DONE;
}

void
writ_verify_wipe(struct writ_verify_answer *answer)
{
    writ_arena_free(answer->memory);
    *answer = (struct writ_verify_answer){0};
}
