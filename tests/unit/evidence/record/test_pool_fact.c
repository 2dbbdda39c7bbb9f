/* What the log has of an insight: digests that its canonical bytes give, and no word of it. Data of
 * another form is refused. */
#include "support/unit.h"

#include "evidence/record/pool_fact.h"

#include <string.h>

#define ARENA (1 << 20)

static const struct writ_pool_fact sample = {.tenant = WRIT_LIT("acme"),
    .agent_id = WRIT_LIT("ann"),
    .digest = {.bytes = {1}},
    .tags = {.bytes = {2}},
    .key = WRIT_LIT("sha256:0000000000000000000000000000000000000000000000000000000000000003"),
    .expires_us = INT64_C(1782363600000000),
    .insight = 7};

static const struct writ_json *
read_json(struct writ_view text, struct writ_arena *arena)
{
    const struct writ_json *value = NULL;

    ck_assert_ok(writ_json_read(text, &writ_json_limits_default, arena, &value, NULL));
    return value;
}

START_TEST(fact_is_read_as_it_was_put)
{
    for (int removed = 0; removed <= 1; removed++) {
        writ_auto_arena arena = writ_arena_new(ARENA);
        writ_auto_buf data = writ_buf_make(ARENA);
        struct writ_pool_fact read;

        ck_assert_ok(writ_pool_fact_put(&sample, removed == 1, &data, NULL));
        ck_assert_ok(
            writ_pool_fact_read(read_json(writ_buf_view(&data), arena), removed == 1, &read, NULL));
        ck_assert_view(read.tenant, "acme");
        ck_assert_view(read.agent_id, "ann");
        ck_assert(writ_digest_equal(&read.digest, &sample.digest));
        ck_assert(writ_digest_equal(&read.tags, &sample.tags));
        ck_assert_uint_eq(read.key.len, removed == 1 ? 0 : sample.key.len);
        ck_assert_int_eq(read.expires_us, removed == 1 ? 0 : sample.expires_us);
        ck_assert_uint_eq(read.insight, removed == 1 ? 7 : 0);
        /* one kind is not read as the other */
        ck_assert_code(
            writ_pool_fact_read(read_json(writ_buf_view(&data), arena), removed == 0, &read, NULL),
            WRIT_E_MISMATCH);
    }
}
END_TEST

#define D "sha256:0000000000000000000000000000000000000000000000000000000000000001"

START_TEST(fact_of_another_form_is_refused)
{
    static const char *const others[] = {"{}",
        "{\"agent_id\":\"\",\"digest\":\"" D "\",\"insight\":1,\"tags\":\"" D
        "\",\"tenant\":\"t\"}",
        "{\"agent_id\":\"a\",\"digest\":\"x\",\"insight\":1,\"tags\":\"" D "\",\"tenant\":\"t\"}",
        "{\"agent_id\":\"a\",\"digest\":\"" D "\",\"insight\":1,\"tags\":7,\"tenant\":\"t\"}",
        "{\"agent_id\":\"a\",\"digest\":\"" D "\",\"insight\":-1,\"tags\":\"" D
        "\",\"tenant\":\"t\"}",
        "{\"agent_id\":\"a\",\"digest\":\"" D "\",\"insight\":1,\"tags\":\"" D "\"}"};

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        writ_auto_arena arena = writ_arena_new(ARENA);
        struct writ_pool_fact read = {.insight = 99};

        ck_assert_code(
            writ_pool_fact_read(read_json(writ_view_str(others[i]), arena), true, &read, NULL),
            WRIT_E_MISMATCH);
        ck_assert_uint_eq(read.insight, 99);
    }
}
END_TEST

START_TEST(digest_is_of_the_bytes_and_of_the_list_of_tags)
{
    writ_auto_arena arena = writ_arena_new(ARENA);
    struct writ_pool_fact fact = {0}, other = {0};
    struct writ_digest want;

    ck_assert_ok(writ_pool_fact_digest(
        WRIT_LIT("{\"content\":\"a\",\"tags\":[\"x\"]}"), arena, &fact, NULL));
    ck_assert_ok(writ_digest_bytes(WRIT_LIT("[\"x\"]"), &want, NULL));
    ck_assert(writ_digest_equal(&fact.tags, &want));
    ck_assert_ok(writ_digest_bytes(WRIT_LIT("{\"content\":\"a\",\"tags\":[\"x\"]}"), &want, NULL));
    ck_assert(writ_digest_equal(&fact.digest, &want));
    ck_assert_ok(writ_pool_fact_digest(WRIT_LIT("{\"content\":\"a\"}"), arena, &other, NULL));
    ck_assert_ok(writ_digest_bytes(WRIT_LIT("[]"), &want, NULL));
    ck_assert(writ_digest_equal(&other.tags, &want));
    ck_assert_code(writ_pool_fact_digest(WRIT_LIT("[]"), arena, &other, NULL), WRIT_E_PARSE);
    ck_assert_code(writ_pool_fact_digest(WRIT_LIT("{"), arena, &other, NULL), WRIT_E_PARSE);
}
END_TEST

WRIT_UNIT_MAIN("pool_fact", fact_is_read_as_it_was_put, fact_of_another_form_is_refused,
    digest_is_of_the_bytes_and_of_the_list_of_tags)
