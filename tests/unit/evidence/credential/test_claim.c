/* The claims of a credential as a table. Each claim is required, has one type and one range, and
 * is named when it is missing or wrong. */
#include "support/unit.h"
#include "support/evidence/value.h"

#include "evidence/credential/claim.h"
#include "evidence/json/jcs.h"

#define D "sha256:1111111111111111111111111111111111111111111111111111111111111111"

static const char good[] =
    "{\"aud\":\"http://a/\",\"authorization_details\":[{\"locations\":[\"http://a/\"],"
    "\"params_hash\":\"" D "\",\"tool\":\"t\",\"type\":\"mcp_tool_call\"}],\"boundary_id\":\"b\","
    "\"continuation_id\":null,\"decision_context_hash\":\"" D
    "\",\"decision_id\":\"id\",\"exp\":60,"
    "\"iat\":0,\"idempotency_key\":\"k\",\"intent_digest\":\"" D "\",\"intent_ref\":\"" D
    "\",\"iss\":\"i\",\"jti\":\"id\",\"nbf\":0,\"normalized_scope\":\"s\",\"params_hash\":\"" D
    "\",\"policy_digest\":\"" D "\",\"receipt_ref\":\"" D "\",\"seq\":0,"
    "\"status\":{\"status_list\":{\"idx\":7,\"uri\":\"http://g/"
    "\"}},\"sub\":\"agent\",\"subject\":\"alice\","
    "\"target_state_digest\":null,\"tenant\":null}";

START_TEST(rows_are_in_canonical_order)
{
    for (const struct writ_claim_row *row = writ_claim_rows; row[1].kind != WRIT_CLAIM_NONE;
         row++) {
        ck_assert_int_lt(
            writ_jcs_compare(writ_view_str(row[0].name), writ_view_str(row[1].name)), 0);
    }
}
END_TEST

START_TEST(good_claims_are_read)
{
    writ_auto_arena arena = writ_value_arena();
    struct writ_claims claims;

    ck_assert_ok(writ_claim_read(writ_value_of(arena, writ_view_str(good)), &claims, NULL));
    ck_assert_view(claims.authorization_details.tool, "t");
    ck_assert_view(claims.authorization_details.location, "http://a/");
    ck_assert_int_eq(claims.exp, 60);
    ck_assert_ptr_null(claims.tenant.ptr);
    ck_assert_view(claims.sub, "agent");
    ck_assert_view(claims.subject, "alice");
    ck_assert_view(claims.status.uri, "http://g/");
    ck_assert_int_eq(claims.status.place, 7);
    ck_assert_ok(writ_claim_check(&claims, NULL));
}
END_TEST

/* Reads the good claims with `name` replaced by `value`, or without it for NULL. */
static writ_result
read_with(const char *name, const char *value, struct writ_claims *ret, struct writ_err *err)
{
    writ_auto_arena arena = writ_value_arena();
    writ_auto_buf text = writ_buf_make(8192);
    const struct writ_json *claims = writ_value_of(arena, writ_view_str(good));
    const char *comma = "";

    writ_buf_byte(&text, '{');
    WRIT_JSON_EACH(member, claims)
    {
        bool this_one = writ_json_is(member, writ_view_str(name));
        if (this_one && value == NULL) {
            continue;
        }
        writ_buf_str(&text, comma);
        ck_assert_ok(writ_jcs_put(&text, member, NULL));
        writ_buf_byte(&text, ':');
        if (this_one) {
            writ_buf_str(&text, value);
        } else {
            ck_assert_ok(writ_jcs_put(&text, writ_json_value(member), NULL));
        }
        comma = ",";
    }
    writ_buf_byte(&text, '}');
    return writ_claim_read(writ_value_of(arena, writ_buf_view(&text)), ret, err);
}

START_TEST(claim_read_names_each_missing_claim)
{
    for (const struct writ_claim_row *row = writ_claim_rows; row->kind != WRIT_CLAIM_NONE; row++) {
        struct writ_claims claims = {.exp = -7};
        struct writ_err err = {0};
        struct writ_view text;

        if (row->kind == WRIT_CLAIM_TEXTA || row->kind == WRIT_CLAIM_STATUS) {
            ck_assert_ok(read_with(row->name, NULL, &claims, &err)); /* these may be absent */
            continue;
        }
        ck_assert_msg(
            read_with(row->name, NULL, &claims, &err).code == WRIT_E_INVALID, "%s", row->name);
        ck_assert_int_eq(claims.exp, -7);
        text = writ_view_str(err.text);
        ck_assert_uint_lt(writ_view_search(text, writ_view_str(row->name)), text.len);
    }
}
END_TEST

/* Values that no claim of a kind may have. */
struct kind_row {
    enum writ_claim_kind kind;
    const char *value;
};

static const struct kind_row wrong[] = {
    {WRIT_CLAIM_TEXT, "null"},
    {WRIT_CLAIM_TEXT, "\"\""},
    {WRIT_CLAIM_TEXT, "1"},
    {WRIT_CLAIM_TEXT, "true"},
    {WRIT_CLAIM_TEXT, "[\"a\"]"},
    {WRIT_CLAIM_TEXT, "{}"},
    {WRIT_CLAIM_TEXTA, "null"},
    {WRIT_CLAIM_TEXTA, "\"\""},
    {WRIT_CLAIM_TEXTA, "1"},
    {WRIT_CLAIM_STATUS, "null"},
    {WRIT_CLAIM_STATUS, "7"},
    {WRIT_CLAIM_STATUS, "{}"},
    {WRIT_CLAIM_STATUS, "{\"status_list\":{\"idx\":-1,\"uri\":\"u\"}}"},
    {WRIT_CLAIM_STATUS, "{\"status_list\":{\"idx\":1.5,\"uri\":\"u\"}}"},
    {WRIT_CLAIM_STATUS, "{\"status_list\":{\"idx\":1,\"uri\":\"\"}}"},
    {WRIT_CLAIM_STATUS, "{\"status_list\":{\"idx\":1}}"},
    {WRIT_CLAIM_STATUS, "{\"status_list\":{\"idx\":1,\"uri\":\"u\",\"more\":1}}"},
    {WRIT_CLAIM_STATUS, "{\"status_list\":{\"idx\":1,\"uri\":\"u\"},\"more\":1}"},
    {WRIT_CLAIM_TEXT0, "\"\""},
    {WRIT_CLAIM_TEXT0, "1"},
    {WRIT_CLAIM_TEXT0, "false"},
    {WRIT_CLAIM_TEXT0, "[]"},
    {WRIT_CLAIM_DIGEST, "null"},
    {WRIT_CLAIM_DIGEST, "\"\""},
    {WRIT_CLAIM_DIGEST, "\"1111111111111111111111111111111111111111111111111111111111111111\""},
    {WRIT_CLAIM_DIGEST,
        "\"SHA256:1111111111111111111111111111111111111111111111111111111111111111\""},
    {WRIT_CLAIM_DIGEST,
        "\"sha256:111111111111111111111111111111111111111111111111111111111111111\""},
    {WRIT_CLAIM_DIGEST,
        "\"sha256:111111111111111111111111111111111111111111111111111111111111111A\""},
    {WRIT_CLAIM_DIGEST, "\"" D " \""},
    {WRIT_CLAIM_DIGEST0, "\"\""},
    {WRIT_CLAIM_DIGEST0, "0"},
    {WRIT_CLAIM_DIGEST0, "\"sha256:\""},
    {WRIT_CLAIM_SECONDS, "null"},
    {WRIT_CLAIM_SECONDS, "\"60\""},
    {WRIT_CLAIM_SECONDS, "60.0"},
    {WRIT_CLAIM_SECONDS, "60.5"},
    {WRIT_CLAIM_SECONDS, "6e1"},
    {WRIT_CLAIM_SECONDS, "-1"},
    {WRIT_CLAIM_SECONDS, "9007199254740992"},
    {WRIT_CLAIM_SECONDS, "1e300"},
    {WRIT_CLAIM_SECONDS, "true"},
    {WRIT_CLAIM_SECONDS, "[60]"},
    {WRIT_CLAIM_COUNT, "null"},
    {WRIT_CLAIM_COUNT, "-1"},
    {WRIT_CLAIM_COUNT, "\"0\""},
    {WRIT_CLAIM_COUNT, "0.5"},
    {WRIT_CLAIM_DETAILS, "null"},
    {WRIT_CLAIM_DETAILS, "{}"},
    {WRIT_CLAIM_DETAILS, "[]"},
    {WRIT_CLAIM_DETAILS, "[{}]"},
    {WRIT_CLAIM_DETAILS, "[1]"},
#define DETAILS(locations, hash, tool, type)                                                       \
    "{\"locations\":" locations ",\"params_hash\":" hash ",\"tool\":" tool ",\"type\":" type "}"
#define FINE DETAILS("[\"a\"]", "\"" D "\"", "\"t\"", "\"mcp_tool_call\"")
    {WRIT_CLAIM_DETAILS, FINE},
    {WRIT_CLAIM_DETAILS, "[" FINE "," FINE "]"},
    {WRIT_CLAIM_DETAILS, "[" DETAILS("\"a\"", "\"" D "\"", "\"t\"", "\"mcp_tool_call\"") "]"},
    {WRIT_CLAIM_DETAILS, "[" DETAILS("[]", "\"" D "\"", "\"t\"", "\"mcp_tool_call\"") "]"},
    {WRIT_CLAIM_DETAILS,
        "[" DETAILS("[\"a\",\"b\"]", "\"" D "\"", "\"t\"", "\"mcp_tool_call\"") "]"},
    {WRIT_CLAIM_DETAILS, "[" DETAILS("[\"a\"]", "null", "\"t\"", "\"mcp_tool_call\"") "]"},
    {WRIT_CLAIM_DETAILS, "[" DETAILS("[\"a\"]", "\"" D "\"", "\"\"", "\"mcp_tool_call\"") "]"},
    {WRIT_CLAIM_DETAILS, "[" DETAILS("[\"a\"]", "\"" D "\"", "\"t\"", "\"payment\"") "]"},
    {WRIT_CLAIM_DETAILS, "[" DETAILS("[\"a\"]", "\"" D "\"", "\"t\"", "\"MCP_TOOL_CALL\"") "]"},
    {WRIT_CLAIM_DETAILS,
        "[" DETAILS("[\"a\"]", "\"" D "\"", "\"t\"", "\"mcp_tool_call\",\"actions\":[]") "]"},
};

START_TEST(claim_read_of_another_type_is_refused)
{
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        bool tried = false;

        for (const struct writ_claim_row *row = writ_claim_rows; row->kind != WRIT_CLAIM_NONE;
             row++) {
            struct writ_claims claims;

            if (row->kind == wrong[i].kind) {
                tried = true;
                ck_assert_msg(
                    read_with(row->name, wrong[i].value, &claims, NULL).code == WRIT_E_INVALID,
                    "%s: %s", row->name, wrong[i].value);
            }
        }
        ck_assert(tried);
    }
}
END_TEST

START_TEST(fine_details_are_read)
{
    struct writ_claims claims;

    ck_assert_ok(read_with("authorization_details", "[" FINE "]", &claims, NULL));
}
END_TEST

START_TEST(claim_check_requires_a_short_jti_equal_to_the_decision_id)
{
    for (int extra = 0; extra <= 1; extra++) {
        writ_auto_arena arena = writ_value_arena();
        writ_auto_buf id = writ_buf_make(1000);
        struct writ_claims claims;

        ck_assert_code(read_with("jti", "\"other\"", &claims, NULL), WRIT_E_INVALID);
        ck_assert_ok(writ_claim_read(writ_value_of(arena, writ_view_str(good)), &claims, NULL));
        while (id.len < (size_t)(WRIT_CLAIM_JTI_MAX + extra)) {
            writ_buf_byte(&id, 'x');
        }
        claims.jti = claims.decision_id = writ_buf_view(&id);
        ck_assert_int_eq(
            writ_claim_check(&claims, NULL).code, extra == 0 ? WRIT_OK : WRIT_E_INVALID);
    }
}
END_TEST

START_TEST(claim_check_of_made_claims_applies_the_same_rules)
{
    for (const struct writ_claim_row *row = writ_claim_rows; row->kind != WRIT_CLAIM_NONE; row++) {
        writ_auto_arena arena = writ_value_arena();
        struct writ_claims claims;

        ck_assert_ok(writ_claim_read(writ_value_of(arena, writ_view_str(good)), &claims, NULL));
        switch (row->kind) {
        case WRIT_CLAIM_TEXT:
        case WRIT_CLAIM_TEXT0:
        case WRIT_CLAIM_TEXTA:
        case WRIT_CLAIM_DIGEST:
        case WRIT_CLAIM_DIGEST0:
            *writ_claim_text(&claims, row) = WRIT_LIT("");
            break;
        case WRIT_CLAIM_SECONDS:
        case WRIT_CLAIM_COUNT:
            *writ_claim_number(&claims, row) = -1;
            break;
        case WRIT_CLAIM_DETAILS:
            claims.authorization_details.tool = WRIT_LIT("");
            break;
        case WRIT_CLAIM_STATUS:
            claims.status.place = -1;
            break;
        case WRIT_CLAIM_NONE:
            break;
        }
        ck_assert_msg(writ_claim_check(&claims, NULL).code == WRIT_E_INVALID, "%s", row->name);
    }
}
END_TEST

WRIT_UNIT_MAIN("claim", rows_are_in_canonical_order, good_claims_are_read,
    claim_read_names_each_missing_claim, claim_read_of_another_type_is_refused,
    fine_details_are_read, claim_check_requires_a_short_jti_equal_to_the_decision_id,
    claim_check_of_made_claims_applies_the_same_rules)
