/* The memory that agents share. Insights come back whole, statistics count all of them, and what
 * exceeds the limits is refused. */
#include "support/unit.h"

#include "base/bytes.h"
#include "writ/crew.h"

#include <math.h>

static struct writ_crew_pool *
filled(void)
{
    static const struct writ_view risk[] = {{"risk", 4}}, both[] = {{"risk", 4}, {"cost", 4}};
    static const struct writ_crew_insight insights[] = {
        {{"a", 1}, {"one", 3}, {"plan", 4}, {NULL, 0}, risk, 1, 0.5},
        {{"b", 1}, {"two", 3}, {"plan", 4}, {"{\"b\":1, \"a\":2}", 14}, both, 2, 0.75},
        {{"a", 1}, {"three", 5}, {"", 0}, {NULL, 0}, NULL, 0, 0.5},
    };
    struct writ_crew_pool *pool = writ_crew_pool_new(3);

    ck_assert_ptr_nonnull(pool);
    for (size_t at = 0; at < sizeof insights / sizeof *insights; at++) {
        ck_assert_ok(writ_crew_pool_add(pool, &insights[at], NULL));
    }
    return pool;
}

/* The first letters of the insights that a filter selects. */
static void
check_filter(const struct writ_crew_pool *pool, const struct writ_crew_filter *filter,
    const char *const *want)
{
    struct writ_crew_value *value = NULL;
    struct writ_view text;

    ck_assert_ok(writ_crew_pool_read(pool, filter, &value));
    text = writ_crew_value_text(value);
    for (; *want != NULL; want++) {
        size_t at = writ_view_search(text, writ_view_str(*want));
        ck_assert_msg(at < text.len, "%s is missing or out of order", *want);
        text = writ_view_sub(text, at, text.len);
    }
    ck_assert_uint_eq(writ_view_search(writ_view_sub(text, 1, text.len), WRIT_LIT("\"content\"")),
        writ_view_sub(text, 1, text.len).len);
    writ_crew_value_free(value);
}

START_TEST(pool_read_selects_by_kind)
{
    static const struct writ_view risk[] = {{"risk", 4}}, cost[] = {{"cost", 4}, {"x", 1}};
    static const struct {
        struct writ_crew_filter filter;
        const char *want[4];
    } cases[] = {
        {{0}, {"\"two\"", "\"one\"", "\"three\"", NULL}},
        {{.limit = 2}, {"\"two\"", "\"one\"", NULL}},
        {{.any_tags = cost, .any_tags_n = 2}, {"\"two\"", NULL}},
        {{.all_tags = risk, .all_tags_n = 1}, {"\"two\"", "\"one\"", NULL}},
        {{.segment = {"plan", 4}}, {"\"two\"", "\"one\"", NULL}},
        {{.segment = {"", 0}}, {"\"three\"", NULL}},
        {{.agent_id = {"b", 1}}, {"\"two\"", NULL}},
        {{.not_agent = {"b", 1}}, {"\"one\"", "\"three\"", NULL}},
        {{.has_least = true, .least_importance = 0.75}, {"\"two\"", NULL}},
    };
    struct writ_crew_pool *pool = filled();

    for (size_t at = 0; at < sizeof cases / sizeof *cases; at++) {
        check_filter(pool, &cases[at].filter, cases[at].want);
    }
    writ_crew_pool_free(pool);
}
END_TEST

START_TEST(pool_read_gives_the_written_insight)
{
    struct writ_crew_pool *pool = filled();
    struct writ_crew_value *value = NULL;

    ck_assert_ok(
        writ_crew_pool_read(pool, &(struct writ_crew_filter){.agent_id = {"b", 1}}, &value));
    ck_assert_view(writ_crew_value_text(value),
        "[{\"agentId\":\"b\",\"content\":\"two\",\"importance\":0.75,\"metadata\":{\"a\":2,\"b\":1}"
        ","
        "\"segment\":\"plan\",\"tags\":[\"risk\",\"cost\"]}]");
    writ_crew_value_free(value);
    writ_crew_pool_free(pool);
}
END_TEST

START_TEST(pool_statistics_count_every_insight)
{
    struct writ_crew_pool *pool = filled(), *empty = writ_crew_pool_new(0);
    struct writ_crew_value *value = NULL;

    ck_assert_ok(writ_crew_pool_statistics(pool, &value));
    ck_assert_view(writ_crew_value_text(value),
        "{\"agents\":{\"a\":2,\"b\":1},\"averageImportance\":0.5833333333333334,\"insights\":3,"
        "\"segments\":{\"\":1,\"plan\":2},\"tags\":{\"cost\":1,\"risk\":2}}");
    writ_crew_value_free(value);
    ck_assert_ok(writ_crew_pool_statistics(empty, &value));
    ck_assert_view(writ_crew_value_text(value),
        "{\"agents\":{},\"averageImportance\":0,\"insights\":0,\"segments\":{},\"tags\":{}}");
    writ_crew_value_free(value);
    writ_crew_pool_free(empty);
    writ_crew_pool_free(pool);
}
END_TEST

START_TEST(pool_put_beyond_its_limits_is_refused)
{
    struct writ_crew_pool *pool = filled(), *roomy = writ_crew_pool_new(9);
    struct writ_crew_insight insight = {.content = {"x", 1}};
    struct writ_view tags[WRIT_CREW_TAGS_MAX + 1];
    struct writ_crew_err err = {0};

    ck_assert_code(writ_crew_pool_add(pool, &insight, &err), WRIT_E_LIMIT);
    insight.importance = INFINITY;
    ck_assert_code(writ_crew_pool_add(roomy, &insight, &err), WRIT_E_INVALID);
    insight.importance = 1;
    insight.metadata = WRIT_LIT("{\"a\":1,\"a\":2}");
    ck_assert_code(writ_crew_pool_add(roomy, &insight, &err), WRIT_E_INVALID);
    insight.metadata = WRIT_LIT("null");
    ck_assert_ok(writ_crew_pool_add(roomy, &insight, &err));
    for (size_t at = 0; at <= WRIT_CREW_TAGS_MAX; at++) {
        tags[at] = WRIT_LIT("t");
    }
    insight.tags = tags;
    insight.tags_n = WRIT_CREW_TAGS_MAX;
    ck_assert_ok(writ_crew_pool_add(roomy, &insight, &err));
    insight.tags_n++;
    ck_assert_code(writ_crew_pool_add(roomy, &insight, &err), WRIT_E_LIMIT);
    insight.tags_n = 1;
    for (size_t at = 0; at < 4; at++) { /* invalid UTF-8 would break every later read */
        struct writ_view *const texts[] = {
            &insight.agent_id, &insight.content, &insight.segment, &tags[0]};
        *texts[at] = WRIT_LIT("\xff");
        ck_assert_code(writ_crew_pool_add(roomy, &insight, &err), WRIT_E_INVALID);
        ck_assert_int_eq(err.error, WRIT_CREW_MALFORMED);
        *texts[at] = WRIT_LIT("x");
    }
    writ_crew_pool_free(roomy);
    writ_crew_pool_free(pool);
}
END_TEST

WRIT_UNIT_MAIN("pool", pool_read_selects_by_kind, pool_read_gives_the_written_insight,
    pool_statistics_count_every_insight, pool_put_beyond_its_limits_is_refused)
