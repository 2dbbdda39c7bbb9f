/* Requests to token endpoints and their answers. The client authenticates as configured, and an
 * answer without a usable token keeps the old token. */
#include "support/evidence/keys.h"
#include "support/gateway/peer.h"
#include "support/unit.h"

#include "evidence/jose/jws.h"
#include "gateway/auth/token_request.h"

#include <stdio.h>
#include <string.h>

static char answer[65536];
static const struct peer_step script[] = {PEER_DO(READ), PEER_SAY(SEND, answer), PEER_DO(END)};

static struct peer *
server(const char *status, const char *body)
{
    const struct peer_step *const scripts[] = {script};

    (void)snprintf(answer, sizeof answer,
        "HTTP/1.1 %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s", status, strlen(body),
        body);
    return peer_open(&(struct peer_options){.scripts = scripts, .count = 1});
}

static writ_result
ask(const struct peer *peer, struct writ_authorization_config *config,
    const struct writ_signer *signer, struct writ_token *ret, struct writ_err *err)
{
    static char url[128];
    const struct writ_token_request request = {
        .config = config,
        .resource = config->resource,
        .secret = signer == NULL ? WRIT_LIT("s3/c:ret \xc3\xa4") : writ_view(NULL, 0),
        .signer = signer,
        .clock = writ_clock_system(),
        .timeout_ms = 2000,
    };

    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/token", peer_port(peer));
    config->client_id = WRIT_LIT("writ 1");
    config->token_endpoint = writ_view_str(url);
    return writ_token_request_send(&request, ret, err);
}

START_TEST(token_request_with_a_secret_sends_encoded_basic)
{
    struct peer *peer =
        server("200 OK", "{\"access_token\":\"abc\",\"token_type\":\"bearer\",\"expires_in\":60}");
    struct writ_authorization_config config = {
        .scopes = WRIT_LIT("a b"), .resource = WRIT_LIT("https://up.example/mcp?x=1")};
    struct writ_token token;
    struct writ_err err = {{0}, 0, 0};
    char request[4096];

    ck_assert_msg(writ_is_ok(ask(peer, &config, NULL, &token, &err)), "%s", err.text);
    ck_assert_view(writ_buf_view(&token.text), "abc");
    ck_assert_int_eq(token.lifetime_s, 60);
    writ_buf_wipe_secret(&token.text);
    peer_last(peer, request, sizeof request);
    /* writ+1:s3%2Fc%3Aret+%C3%A4, RFC 6749 2.3.1 */
    ck_assert_ptr_nonnull(
        strstr(request, "Authorization: Basic d3JpdCsxOnMzJTJGYyUzQXJldCslQzMlQTQ=\r\n"));
    ck_assert_ptr_nonnull(strstr(request, "Content-Type: application/x-www-form-urlencoded\r\n"));
    ck_assert_ptr_nonnull(
        strstr(request, "\r\n\r\ngrant_type=client_credentials&scope=a+b&resource="
                        "https%3A%2F%2Fup.example%2Fmcp%3Fx%3D1"));
    ck_assert_ptr_null(strstr(request, "Expect:"));
    peer_close(peer);
}
END_TEST

START_TEST(client_assertion_is_signed_with_the_key)
{
    struct peer *peer = server("200 OK", "{\"access_token\":\"abc\",\"token_type\":\"Bearer\"}");
    struct writ_signer *signer = writ_keys_signer(WRIT_JWK_ALG_ES256);
    struct writ_authorization_config config = {.resource = {NULL, 0}};
    struct writ_arena *arena = writ_arena_new(1 << 20);
    struct writ_token token;
    const struct writ_json *claims;
    struct writ_jws jws;
    char request[4096];
    char *assertion;

    ck_assert_ok(ask(peer, &config, signer, &token, NULL));
    ck_assert_int_eq(token.lifetime_s, -1);
    writ_buf_wipe_secret(&token.text);
    peer_last(peer, request, sizeof request);
    ck_assert_ptr_null(strstr(request, "Authorization"));
    ck_assert_ptr_null(strstr(request, "scope="));
    ck_assert_ptr_null(strstr(request, "resource="));
    ck_assert_ptr_nonnull(strstr(request, "client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3A"
                                          "client-assertion-type%3Ajwt-bearer&client_assertion="));
    assertion = strstr(request, "client_assertion=") + 17;
    ck_assert_ok(writ_jws_read(writ_view_str(assertion), arena, &jws, NULL));
    ck_assert_ok(writ_jws_check(&jws, writ_signer_jwk(signer), NULL));
    ck_assert_ok(writ_jws_claims(&jws, arena, &claims, NULL));
    ck_assert(writ_json_is(writ_json_get(claims, WRIT_LIT("iss")), WRIT_LIT("writ 1")));
    ck_assert(writ_json_is(writ_json_get(claims, WRIT_LIT("sub")), WRIT_LIT("writ 1")));
    ck_assert(writ_json_is(writ_json_get(claims, WRIT_LIT("aud")), config.token_endpoint));
    writ_arena_free(arena);
    writ_signer_free(signer);
    peer_close(peer);
}
END_TEST

START_TEST(token_request_answered_without_a_token_leaves_ret_unchanged)
{
    static const struct {
        const char *status, *body;
        enum writ_code code;
        const char *told;
    } rows[] = {
        {"400 Bad Request", "{\"error\":\"invalid_client\",\"error_description\":\"s3cret\"}",
            WRIT_E_IO, "status 400, invalid_client"},
        {"401 Unauthorized", "{\"error\":\"LEAK s3cret\"}", WRIT_E_IO, "status 401, no reason"},
        {"400 Bad Request", "{\"error\":{\"s3cret\":1}}", WRIT_E_IO, "status 400, no reason"},
        {"500 Oops", "s3cret", WRIT_E_IO, "status 500, no reason"},
        {"302 Found", "", WRIT_E_IO, "status 302, no reason"},
        {"201 Created", "{\"access_token\":\"s3cret\",\"token_type\":\"Bearer\"}", WRIT_E_IO,
            "status 201, no reason"},
        {"200 OK", "s3cret", WRIT_E_PARSE, "not a JSON object"},
        {"200 OK", "[]", WRIT_E_PARSE, "not a JSON object"},
        {"200 OK", "{\"access_token\":\"s3cret\"}", WRIT_E_PARSE, "with a bearer token"},
        {"200 OK", "{\"access_token\":\"s3cret\",\"token_type\":\"DPoP\"}", WRIT_E_PARSE,
            "with a bearer token"},
        {"200 OK", "{\"access_token\":\"s3 cret\",\"token_type\":\"Bearer\"}", WRIT_E_PARSE,
            "with a bearer token"},
        {"200 OK", "{\"access_token\":\"\",\"token_type\":\"Bearer\"}", WRIT_E_PARSE,
            "with a bearer token"},
        {"200 OK", "{\"access_token\":\"s3cret\",\"token_type\":\"Bearer\",\"expires_in\":0}",
            WRIT_E_PARSE, "with a bearer token"},
        {"200 OK", "{\"access_token\":\"s3cret\",\"token_type\":\"Bearer\",\"expires_in\":\"9\"}",
            WRIT_E_PARSE, "with a bearer token"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct peer *peer = server(rows[i].status, rows[i].body);
        struct writ_authorization_config config = {.resource = {NULL, 0}};
        struct writ_token token = {.lifetime_s = 77};
        struct writ_err err = {{0}, 0, 0};
        writ_result r = ask(peer, &config, NULL, &token, &err);

        ck_assert_msg(r.code == rows[i].code, "%zu: %s", i, writ_code_name(r.code));
        ck_assert_msg(strstr(err.text, rows[i].told) != NULL, "%zu: %s", i, err.text);
        ck_assert_ptr_null(strstr(err.text, "s3"));
        ck_assert_int_eq(token.lifetime_s, 77);
        peer_close(peer);
    }
}
END_TEST

START_TEST(token_request_limits_the_token)
{
    for (size_t extra = 0; extra <= 1; extra++) {
        writ_auto_buf body = writ_buf_make(60000);
        struct writ_authorization_config config = {.resource = {NULL, 0}};
        struct writ_token token = {.lifetime_s = 77};
        struct peer *peer;
        writ_result r;

        writ_buf_str(&body, "{\"token_type\":\"Bearer\",\"access_token\":\"");
        for (size_t i = 0; i < WRIT_TOKEN_BYTES_MAX + extra; i++) {
            writ_buf_byte(&body, 'x');
        }
        writ_buf_str(&body, "\"}");
        writ_buf_byte(&body, '\0');
        peer = server("200 OK", body.ptr);
        r = ask(peer, &config, NULL, &token, NULL);
        ck_assert_int_eq(r.code, extra == 0 ? WRIT_OK : WRIT_E_LIMIT);
        ck_assert_int_eq(token.lifetime_s, extra == 0 ? -1 : 77);
        if (writ_is_ok(r)) {
            writ_buf_wipe_secret(&token.text);
        }
        peer_close(peer);
    }
}
END_TEST

WRIT_UNIT_MAIN("token_request", token_request_with_a_secret_sends_encoded_basic,
    client_assertion_is_signed_with_the_key,
    token_request_answered_without_a_token_leaves_ret_unchanged, token_request_limits_the_token)
