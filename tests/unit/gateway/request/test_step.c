/* The table of steps. Every step is reached and reaches an answer, and no path forwards a call
 * without every check. */
#include "gateway/request/step.h"

#include "support/unit.h"

#define FIRST WRIT_STEP_AUTHENTICATE

static bool reached[WRIT_STEP_COUNT];

static void
reach(enum writ_step from)
{
    reached[from] = true;
    for (enum writ_step to = WRIT_STEP_DONE; to < WRIT_STEP_COUNT; to++) {
        if (writ_step_leads_to(from, to) && !reached[to]) {
            reach(to);
        }
    }
}

START_TEST(steps_are_all_reached_from_the_first)
{
    for (enum writ_step step = WRIT_STEP_DONE; step < WRIT_STEP_COUNT; step++) {
        reached[step] = false;
    }
    reach(FIRST);
    for (enum writ_step step = WRIT_STEP_DONE; step < WRIT_STEP_COUNT; step++) {
        ck_assert_msg(reached[step], "%s", writ_step_name(step));
    }
}
END_TEST

START_TEST(steps_all_reach_an_answer)
{
    for (enum writ_step from = FIRST; from < WRIT_STEP_COUNT; from++) {
        for (enum writ_step step = WRIT_STEP_DONE; step < WRIT_STEP_COUNT; step++) {
            reached[step] = false;
        }
        reach(from);
        ck_assert_msg(reached[WRIT_STEP_DONE], "%s", writ_step_name(from));
    }
}
END_TEST

START_TEST(steps_to_forward_include_every_check)
{
    for (enum writ_step from = WRIT_STEP_DONE; from < WRIT_STEP_COUNT; from++) {
        ck_assert(writ_step_leads_to(from, WRIT_STEP_FORWARD) == (from == WRIT_STEP_SIGN));
        ck_assert(writ_step_leads_to(from, WRIT_STEP_SIGN) ==
                  (from == WRIT_STEP_BIND ||
                      from == WRIT_STEP_SIGN)); /* itself, after its upstream has joined again */
        ck_assert(writ_step_leads_to(from, WRIT_STEP_BIND) == (from == WRIT_STEP_CLAIM));
        ck_assert(writ_step_leads_to(from, WRIT_STEP_CLAIM) == (from == WRIT_STEP_DRAFT));
    }
}
END_TEST

START_TEST(step_may_follow_after_an_end_is_false)
{
    const enum writ_step none = WRIT_STEP_COUNT;

    for (enum writ_step to = WRIT_STEP_DONE; to < WRIT_STEP_COUNT; to++) {
        ck_assert(!writ_step_leads_to(WRIT_STEP_DONE, to));
        ck_assert(!writ_step_leads_to(WRIT_STEP_WAIT, to));
        ck_assert(!writ_step_leads_to(none, to));
        ck_assert(!writ_step_leads_to(to, none));
        ck_assert(!writ_step_leads_to(to, (enum writ_step)0xffffffffu));
    }
    ck_assert_str_eq(writ_step_name(WRIT_STEP_JUDGE), "JUDGE");
    ck_assert_str_eq(writ_step_name(WRIT_STEP_WAIT), "WAIT");
    ck_assert_str_eq(writ_step_name(none), "UNKNOWN");
}
END_TEST

WRIT_UNIT_MAIN("step", steps_are_all_reached_from_the_first, steps_all_reach_an_answer,
    steps_to_forward_include_every_check, step_may_follow_after_an_end_is_false)
