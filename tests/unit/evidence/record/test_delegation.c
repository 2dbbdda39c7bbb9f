/* What a voter sets and signs, as data and back: another form is refused, and a signature counts
 * for exactly one delegation. */
#include "support/unit.h"

#include "evidence/record/delegation.h"

#define ARENA (1 << 20)

static const struct writ_view tools[] = {WRIT_LIT("pay/*"), WRIT_LIT("files/read")};

static struct writ_delegation
sample(void)
{
    return (struct writ_delegation){.id = WRIT_LIT("one-1"),
        .voter = WRIT_LIT("ann"),
        .delegate = WRIT_LIT("zoe"),
        .tenant = WRIT_LIT("acme"),
        .tools = tools,
        .tools_n = 2,
        .from_us = INT64_C(1782363600000000),
        .until_us = INT64_C(1782367200000000),
        .key = WRIT_LIT(""),
        .signature = WRIT_LIT(""),
        .ledger = WRIT_LIT("")};
}

static const struct writ_json *
read_json(struct writ_view text, struct writ_arena *arena)
{
    const struct writ_json *value = NULL;

    ck_assert_ok(writ_json_read(text, &writ_json_limits_default, arena, &value, NULL));
    return value;
}

START_TEST(delegation_is_read_as_it_was_put)
{
    writ_auto_arena arena = writ_arena_new(ARENA);
    writ_auto_buf data = writ_buf_make(ARENA);
    struct writ_delegation given = sample(), read;
    struct writ_digest one, other;

    ck_assert_ok(writ_delegation_put(&given, &data, NULL));
    ck_assert_view(writ_buf_view(&data),
        "{\"delegate\":\"zoe\",\"from\":\"2026-06-25T05:00:00.000000Z\",\"id\":\"one-1\","
        "\"tenant\":\"acme\",\"tools\":[\"pay/*\",\"files/read\"],"
        "\"until\":\"2026-06-25T06:00:00.000000Z\",\"voter\":\"ann\"}");
    ck_assert_ok(writ_delegation_read(read_json(writ_buf_view(&data), arena), arena, &read, NULL));
    ck_assert_view(read.delegate, "zoe");
    ck_assert_uint_eq(read.tools_n, 2);
    ck_assert_view(read.tools[1], "files/read");
    ck_assert_int_eq(read.from_us, given.from_us);
    ck_assert_int_eq(read.until_us, given.until_us);
    ck_assert_ok(writ_delegation_digest(&given, &one, NULL));
    ck_assert_ok(writ_delegation_digest(&read, &other, NULL));
    ck_assert(writ_digest_equal(&one, &other));
    read.until_us++;
    ck_assert_ok(writ_delegation_digest(&read, &other, NULL));
    ck_assert(!writ_digest_equal(&one, &other));
}
END_TEST

#define REST "\"id\":\"a\",\"tenant\":\"\",\"until\":\"2026-06-25T06:00:00Z\",\"voter\":\"ann\"}"

START_TEST(delegation_of_another_form_is_refused)
{
    static const char *const others[] = {"{}", "{\"delegate\":\"ann\"," REST,
        "{\"delegate\":\"\"," REST, "{\"delegate\":7," REST,
        "{\"delegate\":\"zoe\",\"from\":\"2026-06-25T06:00:00Z\"," REST,
        "{\"delegate\":\"zoe\",\"from\":1," REST, "{\"delegate\":\"zoe\",\"tools\":[]," REST,
        "{\"delegate\":\"zoe\",\"tools\":[7]," REST,
        "{\"delegate\":\"zoe\",\"tools\":\"a/b\"," REST,
        "{\"delegate\":\"zoe\",\"tools\":[\"a/\"]," REST,
        "{\"delegate\":\"zoe\",\"tools\":[\"/b\"]," REST,
        "{\"delegate\":\"zoe\",\"id\":\"A\",\"until\":\"2026-06-25T06:00:00Z\",\"voter\":\"ann\"}",
        "{\"delegate\":\"zoe\",\"id\":\"a\",\"until\":\"never\",\"voter\":\"ann\"}",
        "{\"delegate\":\"zoe\",\"id\":\"a\",\"voter\":\"ann\"}"};

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        writ_auto_arena arena = writ_arena_new(ARENA);
        struct writ_delegation read = {.tools_n = 99};

        ck_assert_code(
            writ_delegation_read(read_json(writ_view_str(others[i]), arena), arena, &read, NULL),
            WRIT_E_MISMATCH);
        ck_assert_uint_eq(read.tools_n, 99);
    }
}
END_TEST

START_TEST(delegation_limits_hold_on_both_sides)
{
    struct writ_delegation d = sample();
    struct writ_view many[WRIT_DELEGATION_TOOLS_MAX + 1];
    char pattern[WRIT_DELEGATION_TOOL_MAX + 1], id[WRIT_DELEGATION_ID_MAX + 1];

    for (size_t i = 0; i < sizeof pattern; i++) {
        pattern[i] = i == 1 ? '/' : 'a';
    }
    for (size_t i = 0; i < sizeof id; i++) {
        id[i] = 'a';
    }
    for (size_t i = 0; i <= WRIT_DELEGATION_TOOLS_MAX; i++) {
        many[i] = writ_view(pattern, WRIT_DELEGATION_TOOL_MAX);
    }
    d.tools = many;
    d.tools_n = WRIT_DELEGATION_TOOLS_MAX;
    d.id = writ_view(id, WRIT_DELEGATION_ID_MAX);
    ck_assert_ok(writ_delegation_check(&d, NULL));
    d.tools_n++;
    ck_assert_code(writ_delegation_check(&d, NULL), WRIT_E_INVALID);
    d.tools_n = 1;
    many[0].len++;
    ck_assert_code(writ_delegation_check(&d, NULL), WRIT_E_INVALID);
    many[0].len--;
    d.id.len++;
    ck_assert_code(writ_delegation_check(&d, NULL), WRIT_E_INVALID);
}
END_TEST

START_TEST(delegation_signature_counts_for_this_one_alone)
{
    writ_auto_arena arena = writ_arena_new(ARENA);
    writ_auto_buf token = writ_buf_make(ARENA), key = writ_buf_make(ARENA),
                  strange = writ_buf_make(ARENA);
    struct writ_signer *signer = NULL, *other = NULL;
    struct writ_delegation given = sample(), read;

    ck_assert_ok(writ_signer_new(WRIT_JWK_ALG_EDDSA, &signer, NULL));
    ck_assert_ok(writ_signer_new(WRIT_JWK_ALG_EDDSA, &other, NULL));
    writ_jwk_put(&key, writ_signer_jwk(signer));
    writ_jwk_put(&strange, writ_signer_jwk(other));
    given.ledger = WRIT_LIT("writ-ledger/1");
    ck_assert_ok(writ_delegation_sign(&given, signer, &token, NULL));
    ck_assert_ok(writ_delegation_open(writ_buf_view(&token), arena, &read, NULL));
    ck_assert_view(read.voter, "ann");
    ck_assert_view(read.ledger, "writ-ledger/1");
    read.tenant = WRIT_LIT("acme"); /* the gateway knows it, the voter does not sign it */
    read.key = writ_buf_view(&key);
    ck_assert_ok(writ_delegation_verify(&read, arena, NULL));
    read.key = writ_buf_view(&strange);
    ck_assert_code(writ_delegation_verify(&read, arena, NULL), WRIT_E_MISMATCH);
    read.key = writ_buf_view(&key);
    for (int change = 0; change < 6; change++) {
        struct writ_delegation changed = read;

        *(change == 0     ? &changed.voter
            : change == 1 ? &changed.delegate
            : change == 2 ? &changed.ledger
                          : &changed.id) = WRIT_LIT("eve");
        changed.until_us += change == 4 ? 1 : 0;
        changed.tools_n -= change == 5 ? 1 : 0;
        ck_assert_code(writ_delegation_verify(&changed, arena, NULL), WRIT_E_MISMATCH);
    }
    writ_signer_free(signer);
    writ_signer_free(other);
}
END_TEST

START_TEST(revocation_is_read_as_it_was_put)
{
    writ_auto_arena arena = writ_arena_new(ARENA);
    writ_auto_buf data = writ_buf_make(ARENA);
    struct writ_view id, by;

    ck_assert_ok(writ_delegation_put_revoked(WRIT_LIT("one-1"), WRIT_LIT("ann"), &data, NULL));
    ck_assert_view(writ_buf_view(&data), "{\"by\":\"ann\",\"id\":\"one-1\"}");
    ck_assert_ok(
        writ_delegation_read_revoked(read_json(writ_buf_view(&data), arena), &id, &by, NULL));
    ck_assert_view(id, "one-1");
    ck_assert_view(by, "ann");
    ck_assert_code(writ_delegation_read_revoked(
                       read_json(WRIT_LIT("{\"by\":\"\",\"id\":\"a\"}"), arena), &id, &by, NULL),
        WRIT_E_MISMATCH);
}
END_TEST

WRIT_UNIT_MAIN("delegation", delegation_is_read_as_it_was_put,
    delegation_of_another_form_is_refused, delegation_limits_hold_on_both_sides,
    delegation_signature_counts_for_this_one_alone, revocation_is_read_as_it_was_put)
