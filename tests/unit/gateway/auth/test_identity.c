/* Who a caller is: static tokens, JWTs, client certificates, anonymous agents. Only an exact match
 * gives an agent, with exact ends for every time. */
#include "policy/read/load.h"
#include "support/evidence/keys.h"
#include "support/unit.h"

#include "evidence/jose/jws.h"
#include "evidence/json/digest.h"
#include "gateway/auth/identity.h"
#include "gateway/auth/token_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOW_S INT64_C(1782363600)

static char folder[64];
static struct writ_signer *signer, *other;
static struct writ_config *config;
static struct writ_identity_keys *keys;
static struct writ_identity *identity;
static struct writ_arena *arena;
static int64_t now_s;

static int64_t
wall(void *ctx)
{
    (void)ctx;
    return now_s * 1000000;
}

static const struct writ_clock test_clock = {wall, wall, NULL};

static void
write_keys(const char *name, const struct writ_signer *one)
{
    const struct writ_jwk *set[] = {writ_signer_jwk(one)};
    writ_auto_buf text = writ_buf_make(8192);
    char path[128];
    FILE *file;

    writ_jwks_put(&text, set, 1);
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "w");
    ck_assert_uint_eq(fwrite(text.ptr, 1, text.len, file), text.len);
    ck_assert_int_eq(fclose(file), 0);
}

static const char agents[] =
    "keys: keys\n"
    "public_url: https://gateway.example/writ\n"
    "agents:\n"
    "  - {id: dev, tenant: acme, role: operator, credential_scope: files, credential_tier: service,"
    "     bearer_sha256: \"%s\"}\n"
    "  - {id: dots, bearer_sha256: \"%s\"}\n"
    "  - {issuer: \"https://issuer.example/\", audience: \"https://gateway.example/mcp\","
    "     jwks: \"%s/one.json\", tenant: acme, role: guest,"
    "     claims: {role: /realm/role, credential_tier: \"https://issuer.example/tier\"}}\n"
    "  - {issuer: \"https://issuer.example/\", audience: second, jwks: \"%s/two.json\","
    "     claims: {id: client_id, tenant: org}}\n"
    "  - {issuer: \"https://as.example\", jwks: \"%s/one.json\", required_scopes: [mcp, x]}\n"
    "%s"
    "upstreams: {x: {stdio: [true]}}\n";

static void
put_hash(const char *token, struct writ_buf *ret)
{
    struct writ_digest digest;

    ck_assert_ok(writ_digest_bytes(writ_view_str(token), &digest, NULL));
    writ_hex_put(ret, digest.bytes, sizeof(digest.bytes));
    writ_buf_byte(ret, '\0');
}

static void
setup_with(const char *anonymous)
{
    writ_auto_buf text = writ_buf_make(8192);
    writ_auto_buf first = writ_buf_make(100);
    writ_auto_buf second = writ_buf_make(100);
    struct writ_err err = {0};

    now_s = NOW_S;
    (void)snprintf(folder, sizeof(folder), "/tmp/writ-identity-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    signer = writ_keys_signer(WRIT_JWK_ALG_ES256);
    other = writ_keys_signer(WRIT_JWK_ALG_EDDSA);
    write_keys("one.json", signer);
    write_keys("two.json", other);
    put_hash("s3cret", &first);
    put_hash("with.two.dots", &second);
    writ_buf_fmt(&text, agents, first.ptr, second.ptr, folder, folder, folder, anonymous);
    ck_assert_msg(
        writ_is_ok(writ_load_text(writ_buf_view(&text), "test.yaml", NULL, &config, &err)), "%s",
        err.text);
    ck_assert_msg(
        writ_is_ok(writ_identity_keys_new(config, &test_clock, NULL, &keys, &err)), "%s", err.text);
    ck_assert_ok(writ_identity_new(keys, &identity, NULL));
    arena = writ_arena_new((size_t)1 << 20);
}

static void
setup(void)
{
    setup_with("");
}

static void
teardown(void)
{
    char path[128];

    writ_identity_free(identity);
    writ_identity_keys_free(keys);
    writ_config_drop(config);
    writ_arena_free(arena);
    writ_signer_free(signer);
    writ_signer_free(other);
    (void)snprintf(path, sizeof(path), "%s/one.json", folder);
    (void)unlink(path);
    (void)snprintf(path, sizeof(path), "%s/two.json", folder);
    (void)unlink(path);
    (void)rmdir(folder);
}

static struct writ_view endpoint = WRIT_LIT("/mcp");

static struct writ_identity_result
ask_at(struct writ_identity *whom, struct writ_view authorization, bool loopback,
    struct writ_arena *memory)
{
    const struct writ_identity_question question = {
        .authorization = authorization, .loopback = loopback, .endpoint = endpoint};
    struct writ_identity_result result;

    writ_identity_ask(whom, &question, memory, &result);
    return result;
}

static struct writ_identity_result
ask(const char *authorization)
{
    return ask_at(identity, writ_view_str(authorization), false, arena);
}

/* "Bearer " and a token of these claims; in the arena. */
static const char *
bearer(const struct writ_signer *by, const char *typ, const char *claims)
{
    writ_auto_buf text = writ_buf_make(16384);

    writ_buf_str(&text, "Bearer ");
    ck_assert_ok(writ_jws_sign(by, writ_view_str(typ), writ_view_str(claims), &text, NULL));
    return writ_view_copy(writ_buf_view(&text), arena).ptr;
}

#define BASE                                                                                       \
    "{\"iss\":\"https://issuer.example/\",\"aud\":\"https://gateway.example/mcp\","                \
    "\"https://issuer.example/tier\":\"gold\","
#define TIMES "\"exp\":1782363660,\"nbf\":1782363600,\"iat\":1782363600"
#define GOOD  BASE "\"sub\":\"agent-7\"," TIMES "}"

START_TEST(identity_of_a_static_token_is_found_by_its_hash)
{
    struct writ_identity_result result;

    setup();
    result = ask("Bearer s3cret");
    ck_assert_int_eq(result.answer, WRIT_IDENTITY_KNOWN);
    ck_assert_view(result.agent.id, "dev");
    ck_assert_view(result.agent.tenant, "acme");
    ck_assert_view(result.agent.role, "operator");
    ck_assert_view(result.agent.credential_scope, "files");
    ck_assert_view(result.agent.credential_tier, "service");
    ck_assert_view(ask("bEARER   with.two.dots").agent.id, "dots");
    teardown();
}
END_TEST

START_TEST(identity_of_an_unknown_token_is_invalid)
{
    static const char *const texts[] = {"Bearer s3cre", "Bearer s3cret2", "Bearer S3cret",
        "Bearer 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "Bearer a.b.c",
        "Bearer ..", "Bearer dev"};

    setup();
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct writ_identity_result result = ask(texts[i]);
        ck_assert_msg(result.answer == WRIT_IDENTITY_INVALID, "%s", texts[i]);
        ck_assert_str_eq(result.error, "invalid_token");
        ck_assert_ptr_null(result.agent.id.ptr);
    }
    teardown();
}
END_TEST

START_TEST(bearer_field_malformed_or_missing_is_distinguished)
{
    static const struct {
        const char *text;
        enum writ_identity_answer answer;
    } rows[] = {
        {"Bearer ", WRIT_IDENTITY_MALFORMED},
        {"Bearer    ", WRIT_IDENTITY_MALFORMED},
        {"Bearer s3cret x", WRIT_IDENTITY_MALFORMED},
        {"Bearer s3cret ", WRIT_IDENTITY_MALFORMED},
        {"Bearer s3cret\t", WRIT_IDENTITY_MALFORMED},
        {"Bearer s3cr\xc3\xa9t", WRIT_IDENTITY_MALFORMED},
        {"Bearer", WRIT_IDENTITY_MISSING},
        {"", WRIT_IDENTITY_MISSING},
        {"Basic czNjcmV0", WRIT_IDENTITY_MISSING},
        {"s3cret", WRIT_IDENTITY_MISSING},
        {" Bearer s3cret", WRIT_IDENTITY_MISSING},
        {"Bearers s3cret", WRIT_IDENTITY_MISSING},
    };

    setup();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ck_assert_msg(ask(rows[i].text).answer == rows[i].answer, "%s", rows[i].text);
    }
    teardown();
}
END_TEST

START_TEST(anonymous_agent_needs_loopback_and_configuration)
{
    struct writ_identity_result result;

    setup();
    result = ask_at(identity, writ_view(NULL, 0), true, arena);
    ck_assert_int_eq(result.answer, WRIT_IDENTITY_MISSING);
    ck_assert_str_eq(result.error, "");
    teardown();
    setup_with("  - {anonymous: true, id: anyone}\n");
    result = ask_at(identity, writ_view(NULL, 0), true, arena);
    ck_assert_int_eq(result.answer, WRIT_IDENTITY_KNOWN);
    ck_assert_view(result.agent.id, "anyone");
    result = ask_at(identity, writ_view(NULL, 0), false, arena);
    ck_assert_int_eq(result.answer, WRIT_IDENTITY_MISSING);
    /* a caller with an invalid token does not become anonymous */
    result = ask_at(identity, WRIT_LIT("Bearer x"), true, arena);
    ck_assert_int_eq(result.answer, WRIT_IDENTITY_INVALID);
    result = ask_at(identity, WRIT_LIT("Basic x"), true, arena);
    ck_assert_int_eq(result.answer, WRIT_IDENTITY_MISSING);
    result = ask_at(identity, WRIT_LIT(""), true, arena);
    ck_assert_int_eq(result.answer, WRIT_IDENTITY_MISSING);
    teardown();
}
END_TEST

static struct writ_identity_result
ask_with(const char *certificate, const char *authorization)
{
    const struct writ_identity_question question = {.authorization = writ_view_str(authorization),
        .certificate = writ_view_str(certificate),
        .endpoint = endpoint};
    struct writ_identity_result result;

    writ_identity_ask(identity, &question, arena, &result);
    return result;
}

START_TEST(identity_of_a_certificate_needs_its_whole_name_and_yields_to_a_token)
{
    setup_with("  - {id: ann, tenant: acme, certificate: 'urn:ann'}\n"
               "admin_tls: {cert: a, key: b, client_ca: c}\n");
    struct writ_identity_result result = ask_with("urn:ann", NULL);

    ck_assert_int_eq(result.answer, WRIT_IDENTITY_KNOWN);
    ck_assert_view(result.agent.id, "ann");
    ck_assert_view(result.agent.tenant, "acme");
    ck_assert_int_eq(ask_with("urn:ann2", NULL).answer, WRIT_IDENTITY_INVALID);
    ck_assert_int_eq(ask_with("urn:an", NULL).answer, WRIT_IDENTITY_INVALID);
    ck_assert_int_eq(ask_with(NULL, NULL).answer, WRIT_IDENTITY_MISSING);
    ck_assert_int_eq(ask_with("urn:ann", "Bearer made-up").answer, WRIT_IDENTITY_INVALID);
    teardown();
}
END_TEST

START_TEST(identity_of_a_jwt_comes_from_its_claims)
{
    struct writ_identity_result result;

    setup();
    result = ask(bearer(signer, "JWT", GOOD));
    ck_assert_msg(result.answer == WRIT_IDENTITY_KNOWN, "%s", result.description);
    ck_assert_view(result.agent.id, "agent-7");
    ck_assert_view(result.agent.tenant, "acme"); /* the entry's own */
    ck_assert_view(result.agent.role, "guest");  /* its claim is missing */
    ck_assert_view(result.agent.credential_tier, "gold");
    ck_assert_view(result.agent.credential_scope, "");
    result = ask(bearer(
        signer, "at+jwt", BASE "\"sub\":\"agent-7\",\"realm\":{\"role\":\"boss\"}," TIMES "}"));
    ck_assert_view(result.agent.role, "boss");
    result = ask(bearer(other, "JWT",
        "{\"iss\":\"https://issuer.example/\",\"aud\":[\"x\",\"second\"],\"client_id\":\"c\","
        "\"org\":\"umbrella\",\"sub\":\"s\",\"exp\":1782363660}"));
    ck_assert_msg(result.answer == WRIT_IDENTITY_KNOWN, "%s", result.description);
    ck_assert_view(result.agent.id, "c");
    ck_assert_view(result.agent.tenant, "umbrella");
    teardown();
}
END_TEST

struct jwt_row {
    const char *what, *claims, *description;
};

#define SUB "\"sub\":\"agent-7\","

static const struct jwt_row refusals[] = {
    {"another issuer",
        "{\"iss\":\"https://issuer.example\",\"aud\":\"https://gateway.example/mcp\"," SUB TIMES
        "}",
        "another issuer"},
    {"another audience",
        "{\"iss\":\"https://issuer.example/\",\"aud\":\"https://gateway.example/\"," SUB TIMES "}",
        "another audience"},
    {"no audience", "{\"iss\":\"https://issuer.example/\"," SUB TIMES "}", "another audience"},
    {"audience an object",
        "{\"iss\":\"https://issuer.example/\",\"aud\":{\"x\":\"https://gateway.example/mcp\"}," SUB
            TIMES "}",
        "another audience"},
    {"no issuer", "{\"aud\":\"https://gateway.example/mcp\"," SUB TIMES "}", "another issuer"},
    {"no exp", BASE SUB "\"iat\":1782363600}", "no exp"},
    {"exp a string", BASE SUB "\"exp\":\"1782363660\"}", "no exp"},
    {"exp a fraction", BASE SUB "\"exp\":1782363660.5}", "no exp"},
    {"iat a string", BASE SUB "\"exp\":1782363660,\"iat\":\"1782363600\"}", "not an integer"},
    {"nbf null", BASE SUB "\"exp\":1782363660,\"nbf\":null}", "not an integer"},
    {"expired", BASE SUB "\"exp\":1782363595}", "has expired"},
    {"not yet", BASE SUB "\"exp\":1782363660,\"nbf\":1782363606}", "not valid yet"},
    {"issued later", BASE SUB "\"exp\":1782363660,\"iat\":1782363606}", "not valid yet"},
    {"lives too long", BASE SUB "\"exp\":1782450001,\"iat\":1782363600}", "too long"},
    {"lives too long, without iat", BASE SUB "\"exp\":1782450001}", "too long"},
    {"no sub", BASE TIMES "}", "who the agent is"},
    {"sub empty", BASE "\"sub\":\"\"," TIMES "}", "who the agent is"},
    {"sub a number", BASE "\"sub\":7," TIMES "}", "who the agent is"},
    {"sub with a control character", BASE "\"sub\":\"a\\u0007\"," TIMES "}", "who the agent is"},
    {"sub with a NUL", BASE "\"sub\":\"a\\u0000b\"," TIMES "}", "who the agent is"},
    {"role a list", BASE SUB "\"realm\":{\"role\":[\"boss\"]}," TIMES "}", "who the agent is"},
    {"a claim that has no value of the entry",
        "{\"iss\":\"https://issuer.example/\",\"aud\":\"https://gateway.example/mcp\"," SUB TIMES
        "}",
        "who the agent is"},
    {"sub twice", BASE SUB SUB TIMES "}", "not accepted"},
    {"no object", "[1]", "not accepted"},
};

START_TEST(identity_of_a_wrong_jwt_is_invalid)
{
    setup();
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct writ_identity_result result = ask(bearer(signer, "JWT", refusals[i].claims));

        ck_assert_msg(result.answer == WRIT_IDENTITY_INVALID, "%s", refusals[i].what);
        ck_assert_str_eq(result.error, "invalid_token");
        ck_assert_msg(strstr(result.description, refusals[i].description) != NULL, "%s: %s",
            refusals[i].what, result.description);
    }
    teardown();
}
END_TEST

START_TEST(skew_and_lifetime_have_exact_ends)
{
    setup();
    ck_assert_int_eq(
        ask(bearer(signer, "JWT", BASE SUB "\"exp\":1782363596}")).answer, WRIT_IDENTITY_KNOWN);
    ck_assert_int_eq(
        ask(bearer(signer, "JWT", BASE SUB "\"exp\":1782363660,\"nbf\":1782363605}")).answer,
        WRIT_IDENTITY_KNOWN);
    ck_assert_int_eq(
        ask(bearer(signer, "JWT", BASE SUB "\"exp\":1782450000}")).answer, WRIT_IDENTITY_KNOWN);
    teardown();
}
END_TEST

START_TEST(identity_of_a_jwt_by_a_key_of_another_entry_is_invalid)
{
    struct writ_signer *stranger = writ_keys_signer(WRIT_JWK_ALG_ES256);
    struct writ_identity_result result;

    setup();
    result = ask(bearer(stranger, "JWT", GOOD));
    ck_assert_int_eq(result.answer, WRIT_IDENTITY_INVALID);
    ck_assert_ptr_nonnull(strstr(result.description, "unknown key"));
    result = ask(bearer(other, "JWT", GOOD)); /* the key of the other entry */
    ck_assert_int_eq(result.answer, WRIT_IDENTITY_INVALID);
    ck_assert_ptr_nonnull(strstr(result.description, "unknown key"));
    writ_signer_free(stranger);
    teardown();
}
END_TEST

START_TEST(identity_of_another_kind_of_token_is_invalid)
{
    static const char *const kinds[] = {
        "logout+jwt", "dpop+jwt", "id+jwt", "JWT2", "writ-credential+jwt", ""};

    setup();
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        ck_assert_msg(
            ask(bearer(signer, kinds[i], GOOD)).answer == WRIT_IDENTITY_INVALID, "%s", kinds[i]);
    }
    teardown();
}
END_TEST

START_TEST(identity_of_a_damaged_signature_is_invalid_also_when_cached)
{
    char *text;
    size_t len;

    setup();
    text = (char *)(uintptr_t)bearer(signer, "JWT", GOOD);
    len = strlen(text);
    ck_assert_int_eq(ask(text).answer, WRIT_IDENTITY_KNOWN);
    text[len - 10] = text[len - 10] == 'A' ? 'B' : 'A';
    ck_assert_int_eq(ask(text).answer, WRIT_IDENTITY_INVALID);
    teardown();
}
END_TEST

START_TEST(identity_is_cached_until_the_token_expires)
{
    struct writ_identity_result first, again;
    struct writ_arena *request;
    const char *text;

    setup();
    text = bearer(signer, "JWT", GOOD);
    first = ask(text);
    ck_assert_int_eq(first.answer, WRIT_IDENTITY_KNOWN);
    /* 2 KiB are not enough to take the token apart: this answer comes from memory */
    request = writ_arena_new(2048);
    again = ask_at(identity, writ_view_str(text), false, request);
    ck_assert_int_eq(again.answer, WRIT_IDENTITY_KNOWN);
    ck_assert_view(again.agent.id, "agent-7");
    ck_assert_view(again.agent.credential_tier, "gold");
    ck_assert_view(again.agent.credential_scope, "");
    writ_arena_free(request);
    now_s = NOW_S + 60;
    ck_assert_int_eq(ask(text).answer, WRIT_IDENTITY_KNOWN); /* by the skew */
    now_s = NOW_S + 65;
    ck_assert_int_eq(ask(text).answer, WRIT_IDENTITY_INVALID);
    teardown();
}
END_TEST

START_TEST(identity_of_an_overlong_token_is_invalid)
{
    setup();
    for (size_t extra = 0; extra <= 1; extra++) {
        writ_auto_buf text = writ_buf_make(16384);
        struct writ_identity_result result;

        writ_buf_str(&text, "Bearer ");
        while (text.len < 7 + WRIT_IDENTITY_TOKEN_MAX + extra) {
            writ_buf_byte(&text, '.');
        }
        result = ask_at(identity, writ_buf_view(&text), false, arena);
        ck_assert_int_eq(result.answer, WRIT_IDENTITY_INVALID);
    }
    teardown();
}
END_TEST

START_TEST(values_of_claims_have_a_longest_length)
{
    setup();
    for (size_t extra = 0; extra <= 1; extra++) {
        writ_auto_buf claims = writ_buf_make(4096);

        writ_buf_str(&claims, BASE "\"sub\":\"");
        for (size_t i = 0; i < WRIT_IDENTITY_VALUE_MAX + extra; i++) {
            writ_buf_byte(&claims, 'x');
        }
        writ_buf_str(&claims, "\"," TIMES "}");
        writ_buf_byte(&claims, '\0');
        ck_assert_int_eq(ask(bearer(signer, "JWT", claims.ptr)).answer,
            extra == 0 ? WRIT_IDENTITY_KNOWN : WRIT_IDENTITY_INVALID);
    }
    teardown();
}
END_TEST

START_TEST(identity_of_many_tokens_stays_right_under_eviction)
{
    setup();
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 300; i++) {
            char claims[512], id[32];
            struct writ_identity_result result;

            (void)snprintf(id, sizeof(id), "agent-%d", i);
            (void)snprintf(claims, sizeof(claims), BASE "\"sub\":\"%s\"," TIMES "}", id);
            result = ask(bearer(signer, "JWT", claims));
            ck_assert_view(result.agent.id, id);
            writ_arena_reset(arena);
        }
    }
    teardown();
}
END_TEST

#define AS    "{\"iss\":\"https://as.example\",\"sub\":\"s\"," TIMES
#define AT(x) ",\"aud\":\"https://gateway.example/writ" x "\""
#define WIDE  ",\"scope\":\"mcp x y\""

START_TEST(identity_of_an_entry_without_audience_requires_that_of_the_endpoint)
{
    static const struct {
        const char *claims, *endpoint;
        enum writ_identity_answer answer;
    } rows[] = {
        {AS AT("/mcp") WIDE "}", "/mcp", WRIT_IDENTITY_KNOWN},
        {AS AT("/mcp") WIDE "}", "/mcp/fs", WRIT_IDENTITY_INVALID},
        {AS AT("/mcp/fs") WIDE "}", "/mcp/fs", WRIT_IDENTITY_KNOWN},
        {AS AT("/mcp/fs") WIDE "}", "/mcp", WRIT_IDENTITY_INVALID},
        {AS AT("/mcp") WIDE "}", "/mcp", WRIT_IDENTITY_KNOWN}, /* remembered, for that one only */
        {AS AT("/mcp") WIDE "}", "/mcp/f", WRIT_IDENTITY_INVALID},
        {AS ",\"aud\":[\"x\",7,\"https://gateway.example/writ/mcp\"]" WIDE "}", "/mcp",
            WRIT_IDENTITY_KNOWN},
        {AS AT("/mcp/") WIDE "}", "/mcp", WRIT_IDENTITY_INVALID},
        {AS AT("") WIDE "}", "/mcp", WRIT_IDENTITY_INVALID},
        {AS ",\"aud\":\"https://gateway.example/mcp\"" WIDE "}", "/mcp", WRIT_IDENTITY_INVALID},
        {AS ",\"aud\":\"https://gateway.examplf/writ/mcp\"" WIDE "}", "/mcp",
            WRIT_IDENTITY_INVALID},
        {AS ",\"aud\":\"\"" WIDE "}", "/mcp", WRIT_IDENTITY_INVALID},
        {AS WIDE "}", "/mcp", WRIT_IDENTITY_INVALID},
    };

    setup();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct writ_identity_result result;

        endpoint = writ_view_str(rows[i].endpoint);
        result = ask(bearer(signer, "at+jwt", rows[i].claims));
        ck_assert_msg(result.answer == rows[i].answer, "%zu: %s", i, result.description);
        if (result.answer == WRIT_IDENTITY_INVALID) {
            ck_assert_str_eq(result.description, "the token is for another audience");
        }
    }
    endpoint = WRIT_LIT("/mcp");
    teardown();
}
END_TEST

START_TEST(identity_scopes_are_words_or_a_list)
{
    static const struct {
        const char *scope, *held;
        enum writ_identity_answer answer;
    } rows[] = {
        {",\"scope\":\"mcp x\"", "mcp x", WRIT_IDENTITY_KNOWN},
        {",\"scope\":\" x  mcp mcp y\"", "x mcp y", WRIT_IDENTITY_KNOWN},
        {",\"scope\":[\"x\",\"mcp\"]", "x mcp", WRIT_IDENTITY_KNOWN},
        {",\"scope\":\"mcp\"", "mcp", WRIT_IDENTITY_NARROW},
        {",\"scope\":\"\"", "", WRIT_IDENTITY_NARROW},
        {",\"scope\":[]", "", WRIT_IDENTITY_NARROW},
        {",\"scp\":\"mcp x\"", "", WRIT_IDENTITY_NARROW},
        {"", "", WRIT_IDENTITY_NARROW},
        {",\"scope\":\"mcp \\u00e4 x\"", "", WRIT_IDENTITY_INVALID},
        {",\"scope\":\"mcp \\\"x\\\" x\"", "", WRIT_IDENTITY_INVALID},
        {",\"scope\":[\"mcp x\"]", "", WRIT_IDENTITY_INVALID},
        {",\"scope\":[\"mcp\",\"x\",1]", "", WRIT_IDENTITY_INVALID},
        {",\"scope\":7", "", WRIT_IDENTITY_INVALID},
        {",\"scope\":null", "", WRIT_IDENTITY_INVALID},
    };

    setup();
    for (int round = 0; round < 2; round++) { /* the second from memory */
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            struct writ_identity_result result;
            char claims[512];

            (void)snprintf(claims, sizeof claims, AS AT("/mcp") "%s}", rows[i].scope);
            result = ask(bearer(signer, "at+jwt", claims));
            ck_assert_msg(result.answer == rows[i].answer, "%zu: %s", i, result.description);
            ck_assert_view(result.agent.scopes, rows[i].held);
            ck_assert_int_eq(result.issuer != NULL, result.answer != WRIT_IDENTITY_INVALID);
            if (result.answer == WRIT_IDENTITY_NARROW) {
                ck_assert_str_eq(result.error, "insufficient_scope");
                ck_assert_view(result.agent.id, "");
            }
        }
    }
    teardown();
}
END_TEST

START_TEST(identity_before_the_keys_are_fetched_is_unavailable)
{
    static const char text[] =
        "keys: keys\n"
        "agents:\n"
        "  - {issuer: \"https://issuer.example/\", audience: \"https://gateway.example/mcp\","
        "     jwks: \"http://127.0.0.1:1/jwks\"}\n"
        "upstreams: {x: {stdio: [true]}}\n";
    struct writ_config *late = NULL;
    struct writ_identity_keys *late_keys = NULL;
    struct writ_identity *late_identity = NULL;
    struct writ_identity_result result;
    struct writ_err err = {0};

    setup();
    ck_assert_msg(
        writ_is_ok(writ_load_text(writ_view_str(text), "t", NULL, &late, &err)), "%s", err.text);
    ck_assert_ok(writ_identity_keys_new(late, NULL, NULL, &late_keys, NULL));
    ck_assert_ok(writ_identity_new(late_keys, &late_identity, NULL));
    ck_assert(!writ_identity_keys_ready(late_keys));
    ck_assert(writ_identity_keys_ready(keys));
    result = ask_at(late_identity, writ_view_str(bearer(signer, "JWT", GOOD)), false, arena);
    ck_assert_int_eq(result.answer, WRIT_IDENTITY_UNAVAILABLE);
    writ_identity_free(late_identity);
    writ_identity_keys_free(late_keys);
    writ_config_drop(late);
    teardown();
}
END_TEST

WRIT_UNIT_MAIN("identity", identity_of_a_static_token_is_found_by_its_hash,
    identity_of_an_unknown_token_is_invalid, bearer_field_malformed_or_missing_is_distinguished,
    anonymous_agent_needs_loopback_and_configuration,
    identity_of_a_certificate_needs_its_whole_name_and_yields_to_a_token,
    identity_of_a_jwt_comes_from_its_claims, identity_of_a_wrong_jwt_is_invalid,
    skew_and_lifetime_have_exact_ends, identity_of_a_jwt_by_a_key_of_another_entry_is_invalid,
    identity_of_another_kind_of_token_is_invalid,
    identity_of_a_damaged_signature_is_invalid_also_when_cached,
    identity_is_cached_until_the_token_expires, identity_of_an_overlong_token_is_invalid,
    values_of_claims_have_a_longest_length, identity_of_many_tokens_stays_right_under_eviction,
    identity_of_an_entry_without_audience_requires_that_of_the_endpoint,
    identity_scopes_are_words_or_a_list, identity_before_the_keys_are_fetched_is_unavailable)
