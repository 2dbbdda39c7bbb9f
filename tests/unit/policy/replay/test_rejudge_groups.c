/* Changes of the same kind, tool, agent and constraint are one group, with the shortest arguments
 * as its example. */
#include "policy/replay/rejudge_groups.h"

#include "support/unit.h"

#define auto_groups WRIT_AUTO(struct writ_rejudge_groups *, release)

static void
release(struct writ_rejudge_groups **groups)
{
    writ_rejudge_groups_free(*groups);
}

static const struct writ_rejudge_verdict allowed = {.effect = WRIT_EFFECT_ALLOWED};
static const struct writ_rejudge_verdict review = {.effect = WRIT_EFFECT_REVIEW,
    .reason = WRIT_REASON_APPROVAL_REQUIRED,
    .constraint = {"desk", 4}};

static struct writ_rejudge_verdict
refused_at(const char *argument, const char *constraint)
{
    return (struct writ_rejudge_verdict){.effect = WRIT_EFFECT_REFUSED,
        .reason = WRIT_REASON_CONSTRAINT_FAILED,
        .argument = writ_view_str(argument),
        .constraint = writ_view_str(constraint)};
}

static void
add(struct writ_rejudge_groups *groups, const char *id, const char *agent,
    const struct writ_rejudge_verdict *before, const struct writ_rejudge_verdict *after,
    const char *arguments)
{
    struct writ_past past = {.decision_id = writ_view_str(id),
        .agent = {.id = writ_view_str(agent)},
        .upstream = WRIT_LIT("u"),
        .tool = WRIT_LIT("t")};
    struct writ_rejudge_comparison one = {&past, before, after, writ_view_str(arguments)};

    ck_assert_ok(writ_rejudge_groups_add(groups, &one, NULL));
}

START_TEST(add_of_equal_changes_counts_one_group_with_the_smallest_example)
{
    auto_groups groups = writ_rejudge_groups_new(true);
    struct writ_rejudge_verdict refused = refused_at("/a", "a le");

    add(groups, "d1", "dev", &allowed, &refused, "{\"a\":100}");
    add(groups, "d2", "dev", &allowed, &refused, "{\"a\":9}");
    add(groups, "d3", "dev", &allowed, &refused, "{\"a\":8}");
    add(groups, "d4", "dev", &allowed, &allowed, "{}");
    ck_assert_uint_eq(groups->n, 1);
    ck_assert_uint_eq(groups->list[0]->calls, 3);
    ck_assert_uint_eq(groups->list[0]->bytes, 7);
    ck_assert_view(writ_buf_view(&groups->list[0]->example), "d2");
    ck_assert_view(writ_buf_view(&groups->list[0]->arguments), "{\"a\":9}");
    ck_assert_uint_eq(groups->changes[WRIT_REJUDGE_REFUSED], 3);
    ck_assert_uint_eq(groups->changes[WRIT_REJUDGE_SAME], 1);
}
END_TEST

START_TEST(add_without_arguments_to_keep_keeps_none)
{
    auto_groups groups = writ_rejudge_groups_new(false);
    struct writ_rejudge_verdict refused = refused_at("/a", "a le");

    add(groups, "d1", "dev", &allowed, &refused, "{\"a\":100}");
    ck_assert_uint_eq(groups->list[0]->arguments.len, 0);
    ck_assert_uint_eq(groups->list[0]->bytes, 9);
}
END_TEST

START_TEST(add_of_other_causes_makes_other_groups)
{
    auto_groups groups = writ_rejudge_groups_new(false);
    struct writ_rejudge_verdict a = refused_at("/a", "a le"), b = refused_at("/b", "b le");

    add(groups, "d1", "dev", &allowed, &a, "{}");
    add(groups, "d2", "ann", &allowed, &a, "{}");
    add(groups, "d3", "dev", &allowed, &b, "{}");
    add(groups, "d4", "dev", &a, &allowed, "{}");
    add(groups, "d5", "dev", &b, &allowed, "{}");
    add(groups, "d6", "dev", &a, &review, "{}");
    add(groups, "d7", "dev", &review, &a, "{}");
    ck_assert_uint_eq(groups->n, 7);
    ck_assert_uint_eq(groups->changes[WRIT_REJUDGE_REFUSED], 4);
    ck_assert_uint_eq(groups->changes[WRIT_REJUDGE_ALLOWED], 2);
    ck_assert_uint_eq(groups->changes[WRIT_REJUDGE_REVIEW], 1);
}
END_TEST

START_TEST(add_of_elements_of_a_list_is_one_place)
{
    auto_groups groups = writ_rejudge_groups_new(false);
    struct writ_rejudge_verdict first = refused_at("/items/0/price", "items each, price le");
    struct writ_rejudge_verdict tenth = refused_at("/items/10/price", "items each, price le");

    add(groups, "d1", "dev", &allowed, &first, "{}");
    add(groups, "d2", "dev", &allowed, &tenth, "{}");
    ck_assert_uint_eq(groups->n, 1);
    ck_assert_view(groups->list[0]->argument, "/items/*/price");
}
END_TEST

START_TEST(add_beyond_the_most_groups_counts_the_others)
{
    auto_groups groups = writ_rejudge_groups_new(false);

    for (size_t i = 0; i < WRIT_REJUDGE_GROUPS_MAX + 3; i++) {
        writ_auto_buf name = writ_buf_make(64);
        struct writ_rejudge_verdict refused;

        writ_buf_fmt(&name, "/m%zu", i);
        writ_buf_byte(&name, '\0');
        refused = refused_at(name.ptr, "");
        add(groups, "d1", "dev", &allowed, &refused, "{}");
    }
    ck_assert_uint_eq(groups->n, WRIT_REJUDGE_GROUPS_MAX);
    ck_assert_uint_eq(groups->others, 3);
    ck_assert_uint_eq(groups->changes[WRIT_REJUDGE_REFUSED], WRIT_REJUDGE_GROUPS_MAX + 3);
}
END_TEST

START_TEST(add_of_an_unknown_change_makes_no_group)
{
    auto_groups groups = writ_rejudge_groups_new(false);
    struct writ_rejudge_verdict in_part = refused_at("/pin", "pin min_length");

    in_part.in_part = true;
    add(groups, "d1", "dev", &allowed, &in_part, "{}");
    ck_assert_uint_eq(groups->n, 0);
    ck_assert_uint_eq(groups->unknown, 1);
}
END_TEST

START_TEST(sort_puts_refusals_first_and_large_groups_before_small_ones)
{
    auto_groups groups = writ_rejudge_groups_new(false);
    struct writ_rejudge_verdict a = refused_at("/a", "a le"), b = refused_at("/b", "b le");

    add(groups, "d1", "dev", &a, &allowed, "{}");
    add(groups, "d2", "dev", &a, &review, "{}");
    add(groups, "d3", "dev", &allowed, &b, "{}");
    add(groups, "d4", "dev", &allowed, &a, "{}");
    add(groups, "d5", "ann", &allowed, &b, "{}");
    add(groups, "d6", "dev", &allowed, &b, "{}");
    writ_rejudge_groups_sort(groups);
    ck_assert_uint_eq(groups->n, 5);
    ck_assert_view(writ_buf_view(&groups->list[0]->example), "d3"); /* two calls */
    ck_assert_view(writ_buf_view(&groups->list[1]->example), "d4"); /* "a le" before "b le" */
    ck_assert_view(writ_buf_view(&groups->list[2]->example), "d5");
    ck_assert_view(writ_buf_view(&groups->list[3]->example), "d2");
    ck_assert_view(writ_buf_view(&groups->list[4]->example), "d1");
}
END_TEST

WRIT_UNIT_MAIN("rejudge_groups", add_of_equal_changes_counts_one_group_with_the_smallest_example,
    add_without_arguments_to_keep_keeps_none, add_of_other_causes_makes_other_groups,
    add_of_elements_of_a_list_is_one_place, add_beyond_the_most_groups_counts_the_others,
    add_of_an_unknown_change_makes_no_group,
    sort_puts_refusals_first_and_large_groups_before_small_ones)
