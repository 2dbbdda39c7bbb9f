/* identity.c - from a bearer token to an agent.
 *
 * Invariants:
 * (1) The answer is INVALID until a token has passed every check.
 * (2) A verdict is cached for the exact text of a token, by its SHA-256, at most until the token
 *     expires or the keys change. */
#include "gateway/auth/identity.h"

#include "evidence/jose/jws.h"
#include "gateway/auth/issuers.h"
#include "gateway/auth/token_cache.h"
#include "policy/model/scopes.h"

#define US_PER_S INT64_C(1000000)
#define TIME_MAX (INT64_C(1) << 42) /* seconds; still a number when in microseconds */

struct writ_identity_keys {
    const struct writ_config *config;
    const struct writ_clock *clock;
    struct writ_issuers *issuers;
    size_t *place; /* of agents[i] among the issuers' places; JWT entries only */
};

struct writ_identity {
    struct writ_identity_keys *keys;
    struct writ_token_cache *verdicts;
};

static void
keys_freep(struct writ_identity_keys **keys)
{
    writ_identity_keys_free(*keys);
}

static void
set_freep(struct writ_issuers_set **set)
{
    writ_issuers_drop(*set);
}

/* ---- the keys of a configuration */

static WRIT_RESULT
open_issuers(struct writ_identity_keys *keys, struct writ_log *log, struct writ_err *err)
{
    const struct writ_config *config = keys->config;
    size_t room = config->agents_n > 0 ? config->agents_n : 1;
    struct writ_issuers_place *places = writ_alloc(room * sizeof(*places));
    writ_result opened = {WRIT_E_NOMEM};
    size_t n = 0;

    keys->place = writ_alloc(room * sizeof(*keys->place));
    if (places != NULL && keys->place != NULL) {
        for (size_t i = 0; i < config->agents_n; i++) {
            if (config->agents[i].kind == WRIT_IDENTITY_JWT) {
                keys->place[i] = n;
                places[n++] =
                    (struct writ_issuers_place){config->agents[i].jwks, config->agents[i].issuer};
            }
        }
        opened = writ_issuers_new(places, n, NULL, keys->clock, log, &keys->issuers, err);
    }
    writ_free(places);
    return opened;
}

writ_result
writ_identity_keys_new(const struct writ_config *config, const struct writ_clock *clock,
    struct writ_log *log, struct writ_identity_keys **ret, struct writ_err *err)
{
    WRIT_AUTO(struct writ_identity_keys *, keys_freep) keys = writ_alloc(sizeof(*keys));

    if (keys == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the issuers' keys");
    }
    keys->config = writ_config_hold(config);
    keys->clock = clock != NULL ? clock : writ_clock_system();
    WRIT_TRY(open_issuers(keys, log, err));
    *ret = WRIT_TAKE(keys);
    return WRIT_DONE;
}

void
writ_identity_keys_inherit(struct writ_identity_keys *keys, const struct writ_identity_keys *before)
{
    writ_issuers_inherit(keys->issuers, before->issuers);
}

void
writ_identity_keys_free(struct writ_identity_keys *keys)
{
    if (keys != NULL) {
        writ_issuers_free(keys->issuers);
        writ_free(keys->place);
        writ_config_drop(keys->config);
        writ_free(keys);
    }
}

bool
writ_identity_keys_ready(struct writ_identity_keys *keys)
{
    return writ_issuers_ready(keys->issuers);
}

writ_result
writ_identity_new(struct writ_identity_keys *keys, struct writ_identity **ret, struct writ_err *err)
{
    struct writ_identity *identity = writ_alloc(sizeof(*identity));
    struct writ_token_cache *verdicts = writ_token_cache_new();

    if (identity == NULL || verdicts == NULL) {
        writ_free(identity);
        writ_token_cache_free(verdicts);
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a loop's identities");
    }
    identity->keys = keys;
    identity->verdicts = verdicts;
    *ret = identity;
    return WRIT_DONE;
}

void
writ_identity_free(struct writ_identity *identity)
{
    if (identity != NULL) {
        writ_token_cache_free(identity->verdicts);
        writ_free(identity);
    }
}

/* ---- answers */

static void
answer(struct writ_identity_result *ret, enum writ_identity_answer how, const char *error,
    const char *description)
{
    *ret = (struct writ_identity_result){.answer = how, .error = error, .description = description};
}

static void
answer_invalid(struct writ_identity_result *ret, const char *description)
{
    answer(ret, WRIT_IDENTITY_INVALID, "invalid_token", description);
}

static void
answer_known(struct writ_identity_result *ret, const struct writ_agent *agent)
{
    answer(ret, WRIT_IDENTITY_KNOWN, "", "");
    ret->agent = *agent;
}

/* A valid token may still lack the scopes that every call here needs. */
static void
answer_token(struct writ_identity_result *ret, const struct writ_identity_config *entry,
    const struct writ_agent *agent, int64_t exp_s)
{
    answer_known(ret, agent);
    if (!writ_scopes_has_all(agent->scopes, &entry->required_scopes)) {
        answer(ret, WRIT_IDENTITY_NARROW, "insufficient_scope",
            "the token lacks a scope that is needed here");
        ret->agent.scopes = agent->scopes;
    }
    ret->issuer = entry;
    ret->expires_us = (exp_s + WRIT_IDENTITY_SKEW_S) * US_PER_S;
}

/* ---- static tokens */

/* Compares every entry, also after a match: the time reveals nothing. */
static const struct writ_identity_config *
find_static(const struct writ_config *config, const struct writ_digest *digest)
{
    const struct writ_identity_config *found = NULL;

    for (size_t i = 0; i < config->agents_n; i++) {
        const struct writ_identity_config *entry = &config->agents[i];
        if (entry->kind == WRIT_IDENTITY_BEARER && writ_digest_equal(&entry->bearer, digest)) {
            found = entry;
        }
    }
    return found;
}

/* ---- verdicts that are remembered */

/* keeps (2) */
static const struct writ_token_cache_seen *
find_seen(struct writ_identity *identity, const struct writ_digest *token,
    struct writ_view endpoint, int64_t now_s)
{
    const struct writ_token_cache_seen *seen = writ_token_cache_find(identity->verdicts, token);

    return seen != NULL && now_s < seen->exp_s &&
                   (seen->endpoint.len == 0 || writ_view_equal(seen->endpoint, endpoint)) &&
                   writ_issuers_version(identity->keys->issuers, seen->place) == seen->version
               ? seen
               : NULL;
}

/* The agent of a verdict, copied: the slot may change during the request. */
static bool
copy_agent(const struct writ_agent *agent, struct writ_arena *arena, struct writ_agent *ret)
{
    *ret = (struct writ_agent){0}; /* a member that no token sets stays empty */
    for (size_t i = 0; i < WRIT_TOKEN_CACHE_FIELDS; i++) {
        struct writ_view copy = writ_view_copy(writ_token_cache_value(agent, i), arena);
        if (copy.ptr == NULL) {
            return false;
        }
        writ_token_cache_set(ret, i, copy);
    }
    return true;
}

/* ---- JWT */

/* The state of the checks of one token. */
struct check {
    struct writ_identity *identity;
    struct writ_arena *arena;
    struct writ_view endpoint;
    int64_t now_s;
    struct writ_jws jws;
    const struct writ_json *claims;
    struct writ_token_cache_seen verdict;
};

/* Takes `part` off the beginning of `text`, if it is there. */
static bool
take_part(struct writ_view *text, struct writ_view part)
{
    if (!writ_view_has_prefix(*text, part)) {
        return false;
    }
    *text = writ_view_sub(*text, part.len, text->len);
    return true;
}

/* The audience of an entry, else the URL of the endpoint: compared exactly. */
static bool
is_audience(
    const struct check *check, const struct writ_identity_config *entry, struct writ_view aud)
{
    const struct writ_config *config = check->identity->keys->config;

    if (entry->audience.len > 0) {
        return writ_view_equal(aud, entry->audience);
    }
    return config->public_origin.len > 0 && take_part(&aud, config->public_origin) &&
           take_part(&aud, config->public_path) && writ_view_equal(aud, check->endpoint);
}

static bool
audience_fits(const struct check *check, const struct writ_identity_config *entry)
{
    const struct writ_json *aud = writ_json_get(check->claims, WRIT_LIT("aud"));

    if (writ_json_type(aud) == WRIT_JSON_STRING) {
        return is_audience(check, entry, writ_json_string(aud));
    }
    WRIT_JSON_EACH(one, writ_json_type(aud) == WRIT_JSON_ARRAY ? aud : NULL)
    {
        if (writ_json_type(one) == WRIT_JSON_STRING &&
            is_audience(check, entry, writ_json_string(one))) {
            return true;
        }
    }
    return false;
}

/* The entry of the configuration for the token: exact issuer, exact audience. NULL: the error text
 * of the token. */
static const char *
find_entry(struct check *check)
{
    const struct writ_config *config = check->identity->keys->config;
    const struct writ_json *iss = writ_json_get(check->claims, WRIT_LIT("iss"));
    const char *fault = "the token is of another issuer";

    for (size_t i = 0; i < config->agents_n; i++) {
        const struct writ_identity_config *entry = &config->agents[i];
        if (entry->kind != WRIT_IDENTITY_JWT || !writ_json_is(iss, entry->issuer)) {
            continue;
        }
        fault = "the token is for another audience";
        if (audience_fits(check, entry)) {
            check->verdict.entry = entry;
            check->verdict.place = check->identity->keys->place[i];
            check->verdict.endpoint =
                entry->audience.len > 0 ? (struct writ_view){NULL, 0} : check->endpoint;
            return NULL;
        }
    }
    return fault;
}

/* Accepts an access token, or a JWT without a kind; a typ of another kind is refused (RFC 8725
 * 3.11, RFC 9068 4). */
static bool
typ_is_right(struct writ_view typ)
{
    return typ.ptr == NULL || writ_view_equal_nocase(typ, WRIT_LIT("JWT")) ||
           writ_view_equal_nocase(typ, WRIT_LIT("at+jwt")) ||
           writ_view_equal_nocase(typ, WRIT_LIT("application/at+jwt"));
}

/* Reads a time; an absent one is `otherwise`. False: not an integer. */
static bool
take_time(const struct check *check, struct writ_view name, int64_t otherwise, int64_t *ret)
{
    const struct writ_json *value = writ_json_get(check->claims, name);

    *ret = otherwise;
    return value == NULL || writ_is_ok(writ_json_integer(value, 0, TIME_MAX, ret));
}

/* NULL, or the fault of the lifetime (RFC 7519 4.1.4 to 4.1.6). */
static const char *
time_fault(struct check *check)
{
    int64_t latest = check->now_s + WRIT_IDENTITY_SKEW_S;
    int64_t exp, nbf, iat;

    if (!take_time(check, WRIT_LIT("exp"), -1, &exp) || exp < 0 ||
        !take_time(check, WRIT_LIT("nbf"), 0, &nbf) ||
        !take_time(check, WRIT_LIT("iat"), check->now_s, &iat)) {
        return "the token has no exp, or a time that is not an integer";
    }
    if (nbf > latest || iat > latest) {
        return "the token is not valid yet";
    }
    if (check->now_s - WRIT_IDENTITY_SKEW_S >= exp) {
        return "the token has expired";
    }
    if (exp - iat > WRIT_IDENTITY_LIFETIME_MAX_S) {
        return "the token lives too long";
    }
    check->verdict.exp_s = exp;
    return NULL;
}

static bool
value_is_right(struct writ_view value)
{
    for (size_t i = 0; i < value.len; i++) {
        if ((unsigned char)value.ptr[i] < 0x20 || value.ptr[i] == 0x7f) {
            return false; /* a control character in a name is an attack */
        }
    }
    return value.len > 0 && value.len <= WRIT_IDENTITY_VALUE_MAX;
}

/* A claim by its name, or by a JSON Pointer when that begins with a slash. */
static const struct writ_json *
claim_of(const struct check *check, struct writ_view name)
{
    return name.ptr[0] == '/' ? writ_json_pointer(check->claims, name)
                              : writ_json_get(check->claims, name);
}

/* A claim that the configuration names gives the member. Without it the entry's own value applies.
 * Without either the token is refused: an agent never has an empty name. */
static bool
take_agent(struct check *check)
{
    const struct writ_identity_config *entry = check->verdict.entry;

    for (size_t i = 0; i < WRIT_TOKEN_CACHE_FIELDS - 1; i++) {
        struct writ_view name = writ_token_cache_name(&entry->claims, i);
        struct writ_view value = writ_token_cache_value(&entry->agent, i);
        const struct writ_json *claim = name.len > 0 ? claim_of(check, name) : NULL;

        if (claim != NULL) {
            value = writ_json_string(claim);
        }
        if (name.len > 0 && !value_is_right(value)) {
            return false;
        }
        writ_token_cache_set(&check->verdict.agent, i, value);
    }
    return check->verdict.agent.id.len > 0;
}

/* The scopes of a token: words of one text (RFC 9068 2.2.3), or a list. Absent means an empty list;
 * a malformed scope makes the token unreadable. */
static bool
take_scopes(struct check *check)
{
    const struct writ_json *claim = claim_of(check, check->verdict.entry->claims.scopes);
    struct writ_view words = writ_json_string(claim), word;
    struct writ_buf list = writ_buf_in(check->arena, WRIT_SCOPES_MAX);
    bool good = true;

    if (writ_json_type(claim) == WRIT_JSON_ARRAY) {
        WRIT_JSON_EACH(one, claim)
        {
            good = good && writ_scopes_is_one(writ_json_string(one));
            writ_scopes_add(&list, writ_json_string(one));
        }
    } else {
        good = claim == NULL || writ_json_type(claim) == WRIT_JSON_STRING;
        while ((word = writ_scopes_next(&words)).len > 0) {
            good = good && writ_scopes_is_one(word);
            writ_scopes_add(&list, word);
        }
    }
    check->verdict.agent.scopes = writ_buf_view(&list);
    return good && writ_is_ok(writ_buf_check(&list, NULL));
}

/* Whether the signature verifies under a key of the entry; else sets the reason in `ret`. */
static bool
signature_holds(struct check *check, struct writ_identity_result *ret)
{
    struct writ_issuers *issuers = check->identity->keys->issuers;
    WRIT_AUTO(struct writ_issuers_set *, set_freep)
    set = writ_issuers_hold(issuers, check->verdict.place);
    const struct writ_jwk *key;

    if (set == NULL) {
        answer(ret, WRIT_IDENTITY_UNAVAILABLE, "", "the issuer's keys cannot be had at the moment");
        return false;
    }
    key = writ_jwks_find(writ_issuers_keys(set, &check->verdict.version), check->jws.kid);
    if (key == NULL) {
        writ_issuers_unknown(issuers, check->verdict.place);
        answer_invalid(ret, "the token is signed with an unknown key");
        return false;
    }
    if (!writ_is_ok(writ_jws_check(&check->jws, key, NULL))) {
        answer_invalid(ret, "the signature of the token is not valid");
        return false;
    }
    return true;
}

static void
judge(struct check *check, struct writ_view token, struct writ_identity_result *ret)
{
    const char *fault;

    if (!writ_is_ok(writ_jws_read(token, check->arena, &check->jws, NULL)) ||
        !writ_is_ok(writ_jws_claims(&check->jws, check->arena, &check->claims, NULL)) ||
        !typ_is_right(check->jws.typ)) {
        answer_invalid(ret, "the token is not accepted");
        return;
    }
    fault = find_entry(check);
    if (fault != NULL) {
        answer_invalid(ret, fault);
        return;
    }
    if (!signature_holds(check, ret)) {
        return;
    }
    fault = time_fault(check);
    if (fault == NULL && !take_agent(check)) {
        fault = "the token does not say who the agent is";
    }
    if (fault == NULL && !take_scopes(check)) {
        fault = "the scopes of the token cannot be read";
    }
    if (fault != NULL) {
        answer_invalid(ret, fault);
        return;
    }
    writ_token_cache_put(check->identity->verdicts, &check->verdict);
    answer_token(ret, check->verdict.entry, &check->verdict.agent, check->verdict.exp_s);
}

static void
ask_jwt(struct writ_identity *identity, struct writ_view token, const struct writ_digest *digest,
    struct writ_view endpoint, struct writ_arena *arena, struct writ_identity_result *ret)
{
    struct check check = {
        .identity = identity,
        .arena = arena,
        .endpoint = endpoint,
        .now_s = writ_clock_wall_us(identity->keys->clock) / US_PER_S,
        .verdict = {.token = *digest},
    };
    const struct writ_token_cache_seen *seen = find_seen(identity, digest, endpoint, check.now_s);
    struct writ_agent agent;

    if (seen == NULL) {
        judge(&check, token, ret);
    } else if (copy_agent(&seen->agent, arena, &agent)) {
        answer_token(ret, seen->entry, &agent, seen->exp_s);
    }
}

/* ---- asking */

static void
ask_nobody(const struct writ_config *config, bool loopback, struct writ_identity_result *ret)
{
    answer(ret, WRIT_IDENTITY_MISSING, "", "a bearer token is required");
    for (size_t i = 0; loopback && i < config->agents_n; i++) {
        if (config->agents[i].kind == WRIT_IDENTITY_ANONYMOUS) {
            answer_known(ret, &config->agents[i].agent);
            return;
        }
    }
}

static void
ask_certificate(
    const struct writ_config *config, struct writ_view name, struct writ_identity_result *ret)
{
    answer_invalid(ret, "the certificate belongs to no configured agent");
    for (size_t i = 0; i < config->agents_n; i++) {
        const struct writ_identity_config *entry = &config->agents[i];
        if (entry->kind == WRIT_IDENTITY_CERTIFICATE && writ_view_equal(entry->certificate, name)) {
            answer_known(ret, &entry->agent);
            return;
        }
    }
}

static void
ask_token(struct writ_identity *identity, struct writ_view token, struct writ_view endpoint,
    struct writ_arena *arena, struct writ_identity_result *ret)
{
    const struct writ_identity_config *entry;
    struct writ_digest digest;

    if (token.len > WRIT_IDENTITY_TOKEN_MAX ||
        !writ_is_ok(writ_digest_bytes(token, &digest, NULL))) {
        return;
    }
    entry = find_static(identity->keys->config, &digest);
    if (entry != NULL) {
        answer_known(ret, &entry->agent);
    } else if (writ_view_find(token, '.') < token.len) {
        ask_jwt(identity, token, &digest, endpoint, arena, ret);
    }
}

/* The rest after the scheme: one token of visible characters (RFC 6750 2.1 allows fewer). */
static bool
take_token(struct writ_view authorization, size_t scheme, struct writ_view *ret)
{
    struct writ_view token = writ_view_sub(authorization, scheme, authorization.len);

    while (token.len > 0 && token.ptr[0] == ' ') {
        token = writ_view_sub(token, 1, token.len);
    }
    for (size_t i = 0; i < token.len; i++) {
        if (token.ptr[i] <= ' ' || token.ptr[i] > '~') {
            return false;
        }
    }
    *ret = token;
    return token.len > 0;
}

void
writ_identity_ask(struct writ_identity *identity, const struct writ_identity_question *question,
    struct writ_arena *arena, struct writ_identity_result *ret)
{
    static const struct writ_view scheme = {"Bearer ", sizeof("Bearer ") - 1};
    struct writ_view authorization = question->authorization, token;

    if (authorization.ptr == NULL && question->certificate.len > 0) {
        ask_certificate(identity->keys->config, question->certificate, ret);
        return;
    }
    if (authorization.ptr == NULL) {
        ask_nobody(identity->keys->config, question->loopback, ret);
        return;
    }
    answer_invalid(ret, "the token is not accepted"); /* keeps (1) */
    if (!writ_view_equal_nocase(writ_view_sub(authorization, 0, scheme.len), scheme)) {
        /* another scheme counts as no token, but the caller does not become anonymous */
        answer(ret, WRIT_IDENTITY_MISSING, "", "a bearer token is required");
    } else if (!take_token(authorization, scheme.len, &token)) {
        answer(ret, WRIT_IDENTITY_MALFORMED, "invalid_request",
            "the Authorization field is not a bearer token");
    } else {
        ask_token(identity, token, question->endpoint, arena, ret);
    }
}
