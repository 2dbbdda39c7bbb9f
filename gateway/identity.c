#include "gateway/identity.h"

#include "evidence/digest.h"

struct writ_identity_keys {
    const struct writ_config *config;
};

struct writ_identity {
    struct writ_identity_keys *keys;
};

writ_result
writ_identity_keys_new(const struct writ_config *config, const struct writ_clock *clock,
    struct writ_identity_keys **ret, struct writ_err *err)
{
    struct writ_identity_keys *keys = writ_alloc(sizeof *keys);

    (void)clock;
    if (keys == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the issuers' keys");
    }
    keys->config = writ_config_hold(config);
    *ret = keys;
    return WRIT_DONE;
}

void
writ_identity_keys_free(struct writ_identity_keys *keys)
{
    if (keys != NULL) {
        writ_config_drop(keys->config);
        writ_free(keys);
    }
}

bool
writ_identity_keys_ready(struct writ_identity_keys *keys)
{
    return keys != NULL;
}

writ_result
writ_identity_new(struct writ_identity_keys *keys, struct writ_identity **ret, struct writ_err *err)
{
    struct writ_identity *identity = writ_alloc(sizeof *identity);

    if (identity == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a loop's identities");
    }
    identity->keys = keys;
    *ret = identity;
    return WRIT_DONE;
}

void
writ_identity_free(struct writ_identity *identity)
{
    writ_free(identity);
}

static void
ask_anonymous(const struct writ_config *config, bool loopback, struct writ_identity_result *ret)
{
    *ret = (struct writ_identity_result){
        .answer = WRIT_IDENTITY_MISSING, .error = "", .description = "a bearer token is required"};
    for (size_t i = 0; loopback && i < config->agents_n; i++) {
        if (config->agents[i].kind == WRIT_IDENTITY_ANONYMOUS) {
            ret->answer = WRIT_IDENTITY_KNOWN;
            ret->agent = config->agents[i].agent;
            return;
        }
    }
}

void
writ_identity_ask(struct writ_identity *identity, struct writ_view authorization, bool loopback,
    struct writ_arena *arena, struct writ_identity_result *ret)
{
    const struct writ_config *config = identity->keys->config;
    static const struct writ_view scheme = {"Bearer ", sizeof "Bearer " - 1};
    struct writ_digest digest;

    (void)arena;
    if (authorization.ptr == NULL) {
        ask_anonymous(config, loopback, ret);
        return;
    }
    *ret = (struct writ_identity_result){.answer = WRIT_IDENTITY_INVALID,
        .error = "invalid_token",
        .description = "the token is not accepted"};
    if (!writ_view_equal_nocase(writ_view_sub(authorization, 0, scheme.len), scheme)) {
        ret->answer = WRIT_IDENTITY_MALFORMED;
        ret->error = "invalid_request";
        return;
    }
    if (!writ_is_ok(
            writ_digest_bytes(writ_view_sub(authorization, scheme.len, SIZE_MAX), &digest, NULL))) {
        return;
    }
    for (size_t i = 0; i < config->agents_n; i++) { /* all of them: no early end to time */
        if (config->agents[i].kind == WRIT_IDENTITY_BEARER &&
            writ_digest_equal(&config->agents[i].bearer, &digest)) {
            ret->answer = WRIT_IDENTITY_KNOWN;
            ret->agent = config->agents[i].agent;
        }
    }
}

void
writ_identity_challenge(const struct writ_identity_result *result, struct writ_buf *buf)
{
    writ_buf_str(buf, "Bearer");
    if (result->error != NULL && result->error[0] != '\0') {
        writ_buf_fmt(
            buf, " error=\"%s\", error_description=\"%s\"", result->error, result->description);
    }
}
