/* The addon of Node.js over writ/verify.h: one class, Verifier. verify.mjs gives it its types.
 *
 * A Verifier owns one struct writ_verify, which is freed when JavaScript collects it. Every value
 * of JavaScript is checked before it is used, and nothing here keeps one beyond the call. `use` is
 * called during `credential`, on the same thread; an error of it refuses the call and is thrown
 * when the call has ended. */
#include "writ/verify.h"

#include <node_api.h>
#include <stdlib.h>
#include <string.h>

#define TEXTS_MAX 16 /* texts of one call */

/* The outcome of a call to Node: when it fails, an exception is pending, and NULL is returned. */
#define MUST(env, call)                                                                            \
    do {                                                                                           \
        if ((call) != napi_ok) {                                                                   \
            broken(env);                                                                           \
            return NULL;                                                                           \
        }                                                                                          \
    } while (0)

static const char *const codes[] = {"unset", "ok", "invalid", "parse", "limit", "mismatch",
    "absent", "busy", "no_memory", "io", "crypto"};

/* ---- errors */

static void
broken(napi_env env)
{
    bool pending = false;

    if (napi_is_exception_pending(env, &pending) == napi_ok && !pending) {
        napi_throw_error(env, "writ", "a call of Node.js failed");
    }
}

static napi_value
throw_result(napi_env env, writ_result result, const struct writ_err *err)
{
    const char *code = result.code < sizeof codes / sizeof *codes ? codes[result.code] : codes[0];

    napi_throw_error(env, code, err->text[0] != '\0' ? err->text : code);
    return NULL;
}

/* ---- texts of JavaScript, freed together */

struct texts {
    char *list[TEXTS_MAX];
    size_t n;
};

static void
texts_wipe(struct texts *texts)
{
    while (texts->n > 0) {
        free(texts->list[--texts->n]);
    }
}

/* A string as UTF-8; undefined and null are absent. False: an exception is pending. */
static bool
text_of(napi_env env, struct texts *texts, napi_value value, struct writ_view *ret)
{
    napi_valuetype type = napi_undefined;
    size_t len = 0;
    char *copy;

    if (napi_typeof(env, value, &type) != napi_ok) {
        return broken(env), false;
    }
    if (type == napi_undefined || type == napi_null) {
        *ret = (struct writ_view){NULL, 0};
        return true;
    }
    if (type != napi_string) {
        return napi_throw_type_error(env, "writ", "a text is not a string"), false;
    }
    if (texts->n == TEXTS_MAX || napi_get_value_string_utf8(env, value, NULL, 0, &len) != napi_ok) {
        return broken(env), false;
    }
    copy = malloc(len + 1);
    if (copy == NULL) {
        return napi_throw_error(env, "no_memory", "no memory"), false;
    }
    texts->list[texts->n++] = copy;
    if (napi_get_value_string_utf8(env, value, copy, len + 1, &len) != napi_ok) {
        return broken(env), false;
    }
    *ret = (struct writ_view){copy, len};
    return true;
}

static bool
text_member(
    napi_env env, struct texts *texts, napi_value object, const char *name, struct writ_view *ret)
{
    napi_value value;

    if (napi_get_named_property(env, object, name, &value) != napi_ok) {
        return broken(env), false;
    }
    return text_of(env, texts, value, ret);
}

static bool
flag_member(napi_env env, napi_value object, const char *name, bool *ret)
{
    napi_value value;
    napi_valuetype type;

    if (napi_get_named_property(env, object, name, &value) != napi_ok ||
        napi_typeof(env, value, &type) != napi_ok) {
        return broken(env), false;
    }
    /* only true is true: what is something else compares */
    return type != napi_boolean || napi_get_value_bool(env, value, ret) == napi_ok;
}

static bool
number_member(napi_env env, napi_value object, const char *name, int64_t *ret)
{
    napi_value value;
    double number;

    if (napi_get_named_property(env, object, name, &value) != napi_ok) {
        return broken(env), false;
    }
    if (napi_get_value_double(env, value, &number) != napi_ok ||
        !(number >= -9007199254740992.0 && number <= 9007199254740992.0)) {
        return napi_throw_type_error(env, "writ", "a number of seconds is not a number"), false;
    }
    *ret = (int64_t)number;
    return true;
}

/* ---- the class */

static void
finalize(napi_env env, void *data, void *hint)
{
    (void)env;
    (void)hint;
    writ_verify_free(data);
}

static napi_value
construct(napi_env env, napi_callback_info info)
{
    struct writ_verify *verify = NULL;
    struct writ_err err = {0};
    napi_value self, target = NULL;
    writ_result made;

    MUST(env, napi_get_new_target(env, info, &target));
    if (target == NULL) {
        return napi_throw_type_error(env, "writ", "Verifier needs new"), NULL;
    }
    MUST(env, napi_get_cb_info(env, info, NULL, NULL, &self, NULL));
    made = writ_verify_new(&verify, &err);
    if (made.code != WRIT_OK) {
        return throw_result(env, made, &err);
    }
    if (napi_wrap(env, self, verify, finalize, NULL, NULL) != napi_ok) {
        writ_verify_free(verify);
        return broken(env), NULL;
    }
    return self;
}

static const napi_type_tag tag = {0x7772697420766572, 0x6966696572206f66};

/* The verifier of `this`, and the arguments. NULL: an exception is pending. */
static struct writ_verify *
receive(napi_env env, napi_callback_info info, size_t n, napi_value *args)
{
    napi_value self;
    void *verify = NULL;
    bool ours = false;

    if (napi_get_cb_info(env, info, &n, args, &self, NULL) != napi_ok ||
        napi_check_object_type_tag(env, self, &tag, &ours) != napi_ok || !ours ||
        napi_unwrap(env, self, &verify) != napi_ok || verify == NULL) {
        napi_throw_type_error(env, "writ", "this is not a Verifier");
        return NULL;
    }
    return verify;
}

typedef writ_result take(struct writ_verify *, struct writ_view, struct writ_err *);

static napi_value
take_text(napi_env env, napi_callback_info info, take *function)
{
    struct texts texts = {.n = 0};
    struct writ_err err = {0};
    struct writ_view text;
    napi_value arg = NULL, ret = NULL;
    struct writ_verify *verify = receive(env, info, 1, &arg);
    writ_result took;

    if (verify == NULL || !text_of(env, &texts, arg, &text)) {
        texts_wipe(&texts);
        return NULL;
    }
    took = function(verify, text, &err);
    texts_wipe(&texts);
    if (took.code != WRIT_OK) {
        return throw_result(env, took, &err);
    }
    MUST(env, napi_get_undefined(env, &ret));
    return ret;
}

static napi_value
keys(napi_env env, napi_callback_info info)
{
    return take_text(env, info, writ_verify_keys);
}

static napi_value
pin(napi_env env, napi_callback_info info)
{
    return take_text(env, info, writ_verify_pin);
}

static napi_value
status(napi_env env, napi_callback_info info)
{
    return take_text(env, info, writ_verify_status);
}

/* ---- objects of JavaScript */

static bool
put_text(napi_env env, napi_value object, const char *name, struct writ_view text)
{
    napi_value value;

    return (text.ptr == NULL
                   ? napi_get_null(env, &value)
                   : napi_create_string_utf8(env, text.ptr, text.len, &value)) == napi_ok &&
           napi_set_named_property(env, object, name, value) == napi_ok;
}

static bool
put_string(napi_env env, napi_value object, const char *name, const char *text)
{
    return put_text(env, object, name, (struct writ_view){text, strlen(text)});
}

static bool
put_number(napi_env env, napi_value object, const char *name, int64_t number)
{
    napi_value value;

    return napi_create_int64(env, number, &value) == napi_ok &&
           napi_set_named_property(env, object, name, value) == napi_ok;
}

static bool
put_flag(napi_env env, napi_value object, const char *name, bool flag)
{
    napi_value value;

    return napi_get_boolean(env, flag, &value) == napi_ok &&
           napi_set_named_property(env, object, name, value) == napi_ok;
}

static napi_value
left_out(napi_env env, napi_callback_info info)
{
    napi_value unused = NULL, ret;
    struct writ_verify *verify = receive(env, info, 0, &unused);
    const char *why = "";
    size_t n;

    if (verify == NULL) {
        return NULL;
    }
    n = writ_verify_left_out(verify, &why);
    MUST(env, napi_create_object(env, &ret));
    if (!put_number(env, ret, "count", (int64_t)n) || !put_string(env, ret, "why", why)) {
        return broken(env), NULL;
    }
    return ret;
}

/* ---- a credential */

/** The function `use` of a call. */
struct use {
    napi_env env;
    napi_value function;
};

/* Anything but the two words, an exception included, means that the lookup failed. */
static enum writ_verify_use
remember(void *ctx, struct writ_view jti, int64_t until_s)
{
    const struct use *use = ctx;
    napi_value undefined, answer, args[2];
    char word[8] = "";
    size_t len = 0;

    if (napi_get_undefined(use->env, &undefined) != napi_ok ||
        napi_create_string_utf8(use->env, jti.ptr, jti.len, &args[0]) != napi_ok ||
        napi_create_int64(use->env, until_s, &args[1]) != napi_ok ||
        napi_call_function(use->env, undefined, use->function, 2, args, &answer) != napi_ok ||
        napi_get_value_string_utf8(use->env, answer, word, sizeof word, &len) != napi_ok) {
        return WRIT_VERIFY_USE_UNKNOWN;
    }
    return strcmp(word, "fresh") == 0   ? WRIT_VERIFY_USE_FRESH
           : strcmp(word, "spent") == 0 ? WRIT_VERIFY_USE_SPENT
                                        : WRIT_VERIFY_USE_UNKNOWN;
}

/* The call of JavaScript as that of verify.h: verify.mjs fills in every member. */
static bool
read_call(napi_env env, struct texts *texts, napi_value object, struct writ_verify_call *ret,
    struct use *use)
{
    napi_valuetype type = napi_undefined;
    napi_value function;

    if (!text_member(env, texts, object, "tool", &ret->tool) ||
        !text_member(env, texts, object, "arguments", &ret->arguments) ||
        !text_member(env, texts, object, "paramsHash", &ret->params_hash) ||
        !text_member(env, texts, object, "audience", &ret->audience) ||
        !text_member(env, texts, object, "issuer", &ret->issuer) ||
        !text_member(env, texts, object, "agentId", &ret->agent_id) ||
        !text_member(env, texts, object, "tenant", &ret->tenant) ||
        !text_member(env, texts, object, "targetStateDigest", &ret->target_state_digest) ||
        !text_member(env, texts, object, "typ", &ret->typ) ||
        !flag_member(env, object, "anyIssuer", &ret->any_issuer) ||
        !flag_member(env, object, "anyAgent", &ret->any_agent) ||
        !flag_member(env, object, "anyTenant", &ret->any_tenant) ||
        !flag_member(env, object, "anyTargetState", &ret->any_target_state) ||
        !flag_member(env, object, "anyArguments", &ret->any_arguments) ||
        !number_member(env, object, "nowS", &ret->now_s) ||
        !number_member(env, object, "skewS", &ret->skew_s) ||
        !number_member(env, object, "lifetimeMaxS", &ret->lifetime_max_s)) {
        return false;
    }
    if (napi_get_named_property(env, object, "use", &function) != napi_ok ||
        napi_typeof(env, function, &type) != napi_ok) {
        return broken(env), false;
    }
    if (type == napi_undefined) {
        return true;
    }
    if (type != napi_function) {
        return napi_throw_type_error(env, "writ", "use is not a function"), false;
    }
    *use = (struct use){env, function};
    ret->use = remember;
    ret->ctx = use;
    return true;
}

static bool
put_answer(napi_env env, napi_value ret, const struct writ_verify_answer *answer)
{
    if (!put_flag(env, ret, "ok", answer->ok) || !put_string(env, ret, "reason", answer->reason) ||
        !put_string(env, ret, "sentence", answer->sentence) ||
        !put_string(env, ret, "hint", answer->hint)) {
        return false;
    }
    return !answer->ok ||
           (put_text(env, ret, "jti", answer->jti) &&
               put_text(env, ret, "issuer", answer->issuer) &&
               put_text(env, ret, "agentId", answer->agent_id) &&
               put_text(env, ret, "tenant", answer->tenant) &&
               put_text(env, ret, "subject", answer->subject) &&
               put_text(env, ret, "paramsHash", answer->params_hash) &&
               put_text(env, ret, "targetStateDigest", answer->target_state_digest) &&
               put_text(env, ret, "normalizedScope", answer->normalized_scope) &&
               put_text(env, ret, "idempotencyKey", answer->idempotency_key) &&
               put_text(env, ret, "boundaryId", answer->boundary_id) &&
               put_number(env, ret, "issuedAtS", answer->issued_at_s) &&
               put_number(env, ret, "expiresAtS", answer->expires_at_s));
}

static napi_value
credential(napi_env env, napi_callback_info info)
{
    struct texts texts = {.n = 0};
    struct writ_verify_call call = {.any_issuer = false};
    struct writ_verify_answer answer = {.ok = false};
    struct use use = {.env = NULL};
    struct writ_err err = {0};
    struct writ_view token;
    napi_value args[2] = {NULL, NULL}, ret;
    const struct writ_verify *verify = receive(env, info, 2, args);
    writ_result verified;
    bool pending = false, put;

    if (verify == NULL || !text_of(env, &texts, args[0], &token) ||
        !read_call(env, &texts, args[1], &call, &use)) {
        texts_wipe(&texts);
        return NULL;
    }
    verified = writ_verify_credential(verify, token, &call, &answer, &err);
    texts_wipe(&texts);
    if (napi_is_exception_pending(env, &pending) != napi_ok || pending) {
        writ_verify_wipe(&answer); /* `use` threw */
        return NULL;
    }
    if (verified.code != WRIT_OK) {
        return throw_result(env, verified, &err);
    }
    put = napi_create_object(env, &ret) == napi_ok && put_answer(env, ret, &answer);
    writ_verify_wipe(&answer);
    return put ? ret : (broken(env), NULL);
}

/* ---- the module */

static napi_value
make(napi_env env, napi_callback_info info)
{
    napi_value self = construct(env, info);

    if (self != NULL) {
        MUST(env, napi_type_tag_object(env, self, &tag));
    }
    return self;
}

NAPI_MODULE_INIT()
{
    static const struct {
        const char *name;
        napi_callback method;
    } methods[] = {{"keys", keys}, {"pin", pin}, {"status", status}, {"leftOut", left_out},
        {"credential", credential}};
    napi_property_descriptor list[sizeof methods / sizeof *methods] = {0};
    napi_value class;

    for (size_t at = 0; at < sizeof methods / sizeof *methods; at++) {
        list[at].utf8name = methods[at].name;
        list[at].method = methods[at].method;
    }
    MUST(env, napi_define_class(env, "Verifier", NAPI_AUTO_LENGTH, make, NULL,
                  sizeof methods / sizeof *methods, list, &class));
    MUST(env, napi_set_named_property(env, exports, "Verifier", class));
    return exports;
}
