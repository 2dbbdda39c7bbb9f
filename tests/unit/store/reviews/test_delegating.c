/* Delegations that voters set: in the terms of the reviews that open, never to the caller, in no
 * cycle, one person with one vote; at their end and when they are revoked no vote counts by them.
 * A restart finds them, and a verification those that a review names without a record. */
#include "support/store/poll.h"
#include "support/unit.h"

#include "store/read/verify.h"

#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct writ_poll_spec spec;

static bool
is_for_pay(const void *call, const struct writ_view *tools, size_t tools_n)
{
    (void)call;
    return tools_n == 0 || writ_view_is(tools[0], "pay/*");
}

static const struct writ_stand_in stand_ins[] = {
    {WRIT_LIT("zoe"), {"", 0}}, {WRIT_LIT("yan"), {"", 0}}};
static const struct writ_delegable single = {.longest_us = 60 * WRIT_POLL_MINUTE_US,
    .stand_ins = stand_ins,
    .stand_ins_n = 2,
    .is_for = is_for_pay};
static const struct writ_delegable several = {.longest_us = 60 * WRIT_POLL_MINUTE_US,
    .stand_ins = stand_ins,
    .stand_ins_n = 2,
    .several = true,
    .is_for = is_for_pay};

static int64_t
now_us(struct writ_kit *kit)
{
    return writ_clock_wall_us(kit->options.clock);
}

/* A delegation for half an hour. */
static struct writ_delegation
of(struct writ_kit *kit, const char *id, const char *voter, const char *delegate)
{
    return (struct writ_delegation){.id = writ_view_str(id),
        .voter = writ_view_str(voter),
        .delegate = writ_view_str(delegate),
        .tenant = WRIT_LIT(""),
        .until_us = now_us(kit) + 30 * WRIT_POLL_MINUTE_US,
        .key = WRIT_LIT(""),
        .signature = WRIT_LIT(""),
        .ledger = WRIT_LIT("")};
}

static enum writ_reason
set_with(struct writ_kit *kit, struct writ_delegation delegation,
    const struct writ_delegation_edge *edges, size_t edges_n)
{
    struct writ_entry entry = {.kind = WRIT_ENTRY_DELEGATE,
        .delegate = {.delegation = delegation,
            .longest_us = 60 * WRIT_POLL_MINUTE_US,
            .edges = edges,
            .edges_n = edges_n}};

    ck_assert_int_eq(writ_kit_submit(kit, &entry), WRIT_OK);
    return entry.delegate.refused;
}

static enum writ_reason
set(struct writ_kit *kit, struct writ_delegation delegation)
{
    return set_with(kit, delegation, NULL, 0);
}

static enum writ_reason
revoke(struct writ_kit *kit, const char *id, const char *by, bool any)
{
    writ_auto_arena arena = writ_arena_new(WRIT_POLL_ARENA);
    struct writ_entry entry = {.kind = WRIT_ENTRY_UNDELEGATE,
        .arena = arena,
        .undelegate = {.id = writ_view_str(id), .by = writ_view_str(by), .any = any}};

    ck_assert_int_eq(writ_kit_submit(kit, &entry), WRIT_OK);
    return entry.undelegate.refused;
}

static enum writ_reason
revoke_from(struct writ_kit *kit, const char *id, const char *by, const char *tenant)
{
    writ_auto_arena arena = writ_arena_new(WRIT_POLL_ARENA);
    struct writ_entry entry = {.kind = WRIT_ENTRY_UNDELEGATE,
        .arena = arena,
        .undelegate = {
            .id = writ_view_str(id), .by = writ_view_str(by), .tenant = writ_view_str(tenant)}};

    ck_assert_int_eq(writ_kit_submit(kit, &entry), WRIT_OK);
    return entry.undelegate.refused;
}

static size_t
count(struct writ_kit *kit, const char *by)
{
    writ_auto_arena arena = writ_arena_new(WRIT_POLL_ARENA);
    struct writ_entry entry = {.kind = WRIT_ENTRY_DELEGATIONS, .arena = arena};

    entry.delegations.by = by != NULL ? writ_view_str(by) : (struct writ_view){NULL, 0};
    ck_assert_int_eq(writ_kit_submit(kit, &entry), WRIT_OK);
    return entry.delegations.n;
}

/* "ann>zoe bob eve zoe*": the voters of the terms of a new review, each with its delegate. */
static const char *
terms_of(struct writ_kit *kit, spec s)
{
    static char text[256];
    writ_auto_arena arena = writ_arena_new(WRIT_POLL_ARENA);
    struct writ_buf buf = writ_buf_over(text, sizeof text);
    struct writ_review_told told = writ_poll_look(kit, writ_poll_opened(kit, s), arena);

    for (size_t i = 0; i < told.review.voters_n; i++) {
        const struct writ_review_voter *voter = &told.review.voters[i];

        writ_buf_fmt(&buf, "%s" WRIT_VIEW_FMT "%s%s" WRIT_VIEW_FMT, i > 0 ? " " : "",
            WRIT_VIEW_ARG(voter->id), voter->stand_in ? "*" : "",
            voter->delegate.len > 0 ? ">" : "", WRIT_VIEW_ARG(voter->delegate));
        ck_assert(voter->delegation.len == 0 || voter->delegate.len > 0);
    }
    writ_buf_byte(&buf, '\0');
    return text;
}

#define TERMS(kit, given, argument_)                                                               \
    terms_of(kit, (spec){.delegable = (given), .spec = {.argument = (argument_)}})

START_TEST(delegation_is_in_the_terms_of_reviews_that_open_while_it_is_in_force)
{
    struct writ_kit kit;
    struct writ_delegation later, other;
    static const struct writ_view tools[] = {WRIT_LIT("files/*")};

    writ_poll_start(&kit);
    ck_assert_str_eq(TERMS(&kit, &single, "a"), "ann bob eve");
    ck_assert_int_eq(set(&kit, of(&kit, "1", "ann", "zoe")), WRIT_REASON_NONE);
    ck_assert_str_eq(TERMS(&kit, &single, "b"), "ann>zoe bob eve zoe*");
    ck_assert_str_eq(terms_of(&kit, (spec){.spec = {.argument = "c"}}), "ann bob eve");
    ck_assert_str_eq(
        terms_of(&kit, (spec){.delegable = &single, .subject = "zoe", .spec = {.argument = "d"}}),
        "ann bob eve"); /* the caller */
    later = of(&kit, "2", "bob", "yan");
    later.from_us = now_us(&kit) + WRIT_POLL_MINUTE_US;
    ck_assert_int_eq(set(&kit, later), WRIT_REASON_NONE);
    other = of(&kit, "3", "eve", "yan");
    other.tools = tools;
    other.tools_n = 1;
    ck_assert_int_eq(set(&kit, other), WRIT_REASON_NONE);
    other = of(&kit, "4", "eve", "yan");
    other.tenant = WRIT_LIT("another");
    ck_assert_int_eq(set(&kit, other), WRIT_REASON_NONE);
    ck_assert_str_eq(TERMS(&kit, &single, "e"), "ann>zoe bob eve zoe*");
    writ_kit_pass(&kit, 2 * WRIT_POLL_MINUTE_US);
    ck_assert_str_eq(TERMS(&kit, &single, "f"), "ann>zoe bob>yan eve zoe* yan*");
    ck_assert_uint_eq(count(&kit, NULL), 4);
    ck_assert_uint_eq(count(&kit, "zoe"), 1);
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    ck_assert_uint_eq(count(&kit, NULL), 4);
    ck_assert_str_eq(TERMS(&kit, &single, "g"), "ann>zoe bob>yan eve zoe* yan*");
    writ_kit_pass(&kit, 30 * WRIT_POLL_MINUTE_US);
    ck_assert_str_eq(TERMS(&kit, &single, "h"), "ann bob eve");
    ck_assert_uint_eq(count(&kit, NULL), 0);
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(delegation_that_the_review_does_not_permit_counts_not)
{
    struct writ_kit kit;
    struct writ_delegable less = single;
    struct writ_delegation signed_one;

    writ_poll_start(&kit);
    less.longest_us = 10 * WRIT_POLL_MINUTE_US;
    ck_assert_int_eq(set(&kit, of(&kit, "1", "ann", "zoe")), WRIT_REASON_NONE);
    ck_assert_str_eq(TERMS(&kit, &less, "a"), "ann bob eve");
    less = single;
    less.stand_ins_n = 0;
    ck_assert_str_eq(TERMS(&kit, &less, "b"), "ann bob eve");
    ck_assert_int_eq(set(&kit, of(&kit, "2", "bob", "ann")), WRIT_REASON_NONE);
    ck_assert_str_eq(TERMS(&kit, &single, "c"), "ann>zoe bob eve zoe*"); /* ann votes already */
    ck_assert_int_eq(set(&kit, of(&kit, "3", "eve", "zoe")), WRIT_REASON_NONE);
    ck_assert_str_eq(TERMS(&kit, &single, "d"), "ann>zoe bob eve zoe*"); /* zoe votes for ann */
    ck_assert_str_eq(TERMS(&kit, &several, "e"), "ann>zoe bob>ann eve>zoe zoe*");
    signed_one = of(&kit, "4", "eve", "yan");
    signed_one.signature = WRIT_LIT("a.b.c");
    ck_assert_int_eq(set(&kit, signed_one), WRIT_REASON_DELEGATION_FORGED);
    signed_one.key = WRIT_LIT("{\"kty\":\"OKP\"}");
    ck_assert_int_eq(set(&kit, signed_one), WRIT_REASON_DELEGATION_FORGED);
    signed_one.signature = WRIT_LIT("");
    ck_assert_int_eq(set(&kit, signed_one), WRIT_REASON_DELEGATION_UNSIGNED);
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(delegation_of_a_voter_that_votes_for_another_needs_several)
{
    struct writ_kit kit;

    writ_poll_start(&kit);
    ck_assert_int_eq(set(&kit, of(&kit, "1", "ann", "zoe")), WRIT_REASON_NONE);
    ck_assert_str_eq(
        terms_of(&kit, (spec){.delegable = &single, .configured = true, .spec = {.argument = "a"}}),
        "ann bob>ann eve"); /* zoe would vote for bob, too */
    ck_assert_str_eq(
        terms_of(
            &kit, (spec){.delegable = &several, .configured = true, .spec = {.argument = "b"}}),
        "ann>zoe bob>ann eve zoe*");
    ck_assert_int_eq(set(&kit, of(&kit, "2", "bob", "yan")), WRIT_REASON_NONE);
    ck_assert_str_eq(
        terms_of(&kit, (spec){.delegable = &single, .configured = true, .spec = {.argument = "c"}}),
        "ann bob>yan eve yan*"); /* the first one that was set was judged first */
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(delegation_that_cannot_count_leaves_the_one_before)
{
    static const struct writ_view tools[] = {WRIT_LIT("files/*")};
    struct writ_kit kit;
    struct writ_delegation other;

    writ_poll_start(&kit);
    ck_assert_int_eq(set(&kit, of(&kit, "1", "eve", "zoe")), WRIT_REASON_NONE);
    ck_assert_int_eq(set(&kit, of(&kit, "2", "bob", "yan")), WRIT_REASON_NONE);
    ck_assert_int_eq(set(&kit, of(&kit, "3", "bob", "zoe")), WRIT_REASON_NONE);
    ck_assert_str_eq(TERMS(&kit, &single, "a"), "ann bob>yan eve>zoe zoe* yan*");
    ck_assert_str_eq(TERMS(&kit, &several, "b"), "ann bob>zoe eve>zoe zoe*");
    ck_assert_str_eq(
        terms_of(&kit, (spec){.delegable = &single, .subject = "zoe", .spec = {.argument = "c"}}),
        "ann bob>yan eve yan*"); /* the caller */
    other = of(&kit, "4", "bob", "zoe");
    other.tools = tools;
    other.tools_n = 1;
    ck_assert_int_eq(set(&kit, other), WRIT_REASON_NONE);
    ck_assert_str_eq(TERMS(&kit, &single, "d"), "ann bob>yan eve>zoe zoe* yan*");
    ck_assert_int_eq(revoke(&kit, "2", "bob", false), WRIT_REASON_NONE);
    ck_assert_str_eq(TERMS(&kit, &single, "e"), "ann bob eve>zoe zoe*");
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

/* One page of the list from a place; the place of the next one. */
static size_t
page(struct writ_kit *kit, const char *tenant, int64_t after_us, size_t *ret_revocable,
    int64_t *ret_next_us)
{
    writ_auto_arena arena = writ_arena_new(WRIT_POLL_ARENA);
    struct writ_entry entry = {.kind = WRIT_ENTRY_DELEGATIONS,
        .arena = arena,
        .delegations = {.tenant = writ_view_str(tenant), .after_us = after_us}};

    ck_assert_int_eq(writ_kit_submit(kit, &entry), WRIT_OK);
    *ret_revocable = 0;
    for (size_t i = 0; i < entry.delegations.n; i++) {
        ck_assert_int_gt(entry.delegations.items[i].at_us, after_us);
        *ret_revocable += entry.delegations.items[i].revocable ? 1 : 0;
    }
    *ret_next_us = entry.delegations.next_us;
    return entry.delegations.n;
}

START_TEST(delegations_are_listed_in_pages)
{
    static const char *const voters[] = {"ann", "bob", "eve"};
    struct writ_kit kit;
    char id[16], tool[200];
    struct writ_view tools[WRIT_DELEGATION_TOOLS_MAX];
    struct writ_delegation large;
    int64_t next_us = 0, after_us;
    size_t revocable, all = 0;

    writ_poll_start(&kit);
    for (int i = 0; i < 150; i++) {
        (void)snprintf(id, sizeof id, "id-%d", i);
        ck_assert_int_eq(set(&kit, of(&kit, id, voters[i % 3], "zoe")), WRIT_REASON_NONE);
    }
    ck_assert_uint_eq(page(&kit, "", 0, &revocable, &next_us), 100);
    ck_assert_uint_eq(revocable, 100);
    ck_assert_int_eq(revoke(&kit, "id-99", "ann", false), WRIT_REASON_NONE); /* its place stays */
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    ck_assert_uint_eq(page(&kit, "", next_us, &revocable, &next_us), 50);
    ck_assert_int_eq(next_us, 0);
    (void)page(&kit, "acme", 0, &revocable, &next_us);
    ck_assert_uint_eq(revocable, 0); /* they are for all tenants */

    memset(tool, 'x', sizeof tool);
    tool[1] = '/';
    for (size_t i = 0; i < WRIT_DELEGATION_TOOLS_MAX; i++) {
        tools[i] = writ_view(tool, sizeof tool);
    }
    large = of(&kit, "", "ann", "zoe");
    large.tools = tools;
    large.tools_n = WRIT_DELEGATION_TOOLS_MAX;
    large.tenant = WRIT_LIT("acme");
    for (int i = 0; i < 9; i++) {
        (void)snprintf(id, sizeof id, "large-%d", i);
        large.id = writ_view_str(id);
        ck_assert_int_eq(set(&kit, large), WRIT_REASON_NONE);
    }
    next_us = 0;
    do {
        after_us = next_us;
        all += page(&kit, "acme", after_us, &revocable, &next_us);
        ck_assert_int_le((int64_t)revocable, 3); /* the texts of a page are limited, too */
    } while (next_us > 0);
    ck_assert_uint_eq(all, 149 + 9);
    ck_assert_uint_ge(revocable, 1);
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(delegation_that_is_over_in_the_log_cannot_be_set_again)
{
    struct writ_kit kit;
    struct writ_delegation soon;

    writ_poll_start(&kit);
    soon = of(&kit, "1", "ann", "zoe");
    soon.until_us = now_us(&kit) + WRIT_POLL_MINUTE_US;
    ck_assert_int_eq(set(&kit, soon), WRIT_REASON_NONE);
    ck_assert_int_eq(revoke(&kit, "1", "ann", false), WRIT_REASON_NONE);
    writ_kit_pass(&kit, 2 * WRIT_POLL_MINUTE_US);
    (void)writ_poll_opened(&kit, (spec){.delegable = &single}); /* the log is as late */
    writ_kit_close(&kit);
    writ_kit_open(&kit); /* and forgets it */
    writ_kit_pass(&kit, -2 * WRIT_POLL_MINUTE_US);
    ck_assert_int_eq(set(&kit, soon), WRIT_REASON_DELEGATION_MALFORMED);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(delegation_after_the_end_of_one_with_its_id_is_new)
{
    struct writ_kit kit;
    writ_auto_arena arena = writ_arena_new(WRIT_POLL_ARENA);
    struct writ_delegation soon;
    const char *id, *other;

    writ_poll_start(&kit);
    soon = of(&kit, "1", "ann", "zoe");
    soon.until_us = now_us(&kit) + WRIT_POLL_MINUTE_US;
    ck_assert_int_eq(set(&kit, soon), WRIT_REASON_NONE);
    id = writ_poll_opened(&kit, (spec){.delegable = &single, .spec = {.argument = "a"}});
    other = writ_poll_opened(&kit, (spec){.delegable = &single, .spec = {.argument = "b"}});
    writ_poll_vote(&kit, id, "zoe", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
    writ_kit_pass(&kit, 2 * WRIT_POLL_MINUTE_US);
    writ_poll_vote(&kit, other, "eve", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
    writ_kit_close(&kit);
    writ_kit_open(&kit); /* forgets it */
    ck_assert_int_eq(set(&kit, of(&kit, "1", "ann", "yan")), WRIT_REASON_NONE);
    writ_poll_sound(&kit);
    ck_assert_int_eq(revoke(&kit, "1", "ann", false), WRIT_REASON_NONE);
    writ_poll_vote(&kit, id, "eve", WRIT_REVIEW_APPROVE, WRIT_REVIEW_APPROVED);
    ck_assert(!writ_poll_look(&kit, id, arena).review.voters[0].revoked);
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(delegation_for_all_tenants_is_not_revoked_from_one_of_them)
{
    struct writ_kit kit;
    struct writ_delegation own;

    writ_poll_start(&kit);
    ck_assert_int_eq(set(&kit, of(&kit, "1", "ann", "zoe")), WRIT_REASON_NONE);
    own = of(&kit, "2", "ann", "zoe");
    own.tenant = WRIT_LIT("acme");
    ck_assert_int_eq(set(&kit, own), WRIT_REASON_NONE);
    ck_assert_int_eq(revoke_from(&kit, "1", "ann", "acme"), WRIT_REASON_DELEGATION_UNKNOWN);
    ck_assert_int_eq(revoke_from(&kit, "2", "ann", "other"), WRIT_REASON_DELEGATION_UNKNOWN);
    ck_assert_int_eq(revoke_from(&kit, "2", "ann", "acme"), WRIT_REASON_NONE);
    ck_assert_int_eq(revoke_from(&kit, "1", "ann", ""), WRIT_REASON_NONE);
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(delegation_that_comes_back_is_refused)
{
    static const struct writ_delegation_edge edges[] = {
        {WRIT_LIT("eve"), WRIT_LIT("joe")}, {WRIT_LIT("joe"), WRIT_LIT("ann")}};
    struct writ_kit kit;

    writ_poll_start(&kit);
    ck_assert_int_eq(set(&kit, of(&kit, "1", "ann", "ann")), WRIT_REASON_DELEGATION_MALFORMED);
    ck_assert_int_eq(set(&kit, of(&kit, "2", "ann", "bob")), WRIT_REASON_NONE);
    ck_assert_int_eq(set(&kit, of(&kit, "3", "bob", "ann")), WRIT_REASON_DELEGATION_CYCLE);
    ck_assert_int_eq(
        set_with(&kit, of(&kit, "4", "bob", "eve"), edges, 2), WRIT_REASON_DELEGATION_CYCLE);
    ck_assert_int_eq(set_with(&kit, of(&kit, "5", "bob", "eve"), edges, 1), WRIT_REASON_NONE);
    ck_assert_int_eq(set(&kit, of(&kit, "6", "eve", "ann")), WRIT_REASON_DELEGATION_CYCLE);
    ck_assert_int_eq(revoke(&kit, "2", "ann", false), WRIT_REASON_NONE);
    ck_assert_int_eq(set(&kit, of(&kit, "7", "eve", "ann")), WRIT_REASON_NONE);
    ck_assert_str_eq(TERMS(&kit, &several, "a"), "ann bob>eve eve>ann");
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(delegation_limits_of_one_voter_hold)
{
    struct writ_kit kit;
    char ids[WRIT_DELEGATIONS_EACH + 1][16];
    struct writ_delegation past;

    writ_poll_start(&kit);
    for (int i = 0; i < WRIT_DELEGATIONS_EACH; i++) {
        (void)snprintf(ids[i], sizeof ids[i], "id-%d", i);
        ck_assert_int_eq(set(&kit, of(&kit, ids[i], "ann", "zoe")), WRIT_REASON_NONE);
    }
    ck_assert_int_eq(set(&kit, of(&kit, "more", "ann", "zoe")), WRIT_REASON_DELEGATIONS_EXCEEDED);
    past = of(&kit, "other", "ann", "zoe");
    past.tenant = WRIT_LIT("another");
    ck_assert_int_eq(set(&kit, past), WRIT_REASON_NONE);
    ck_assert_int_eq(set(&kit, of(&kit, "id-0", "bob", "zoe")), WRIT_REASON_DELEGATION_REPEATED);
    ck_assert_int_eq(revoke(&kit, "id-0", "ann", false), WRIT_REASON_NONE);
    ck_assert_int_eq(set(&kit, of(&kit, "id-0", "ann", "zoe")), WRIT_REASON_DELEGATION_REPEATED);
    ck_assert_int_eq(set(&kit, of(&kit, "more", "ann", "zoe")), WRIT_REASON_NONE);
    past = of(&kit, "far", "bob", "zoe");
    past.until_us = now_us(&kit) + 60 * WRIT_POLL_MINUTE_US;
    ck_assert_int_eq(set(&kit, past), WRIT_REASON_NONE);
    past.id = WRIT_LIT("further");
    past.until_us += WRIT_POLL_MINUTE_US;
    ck_assert_int_eq(set(&kit, past), WRIT_REASON_DELEGATION_NOT_PERMITTED);
    past = of(&kit, "past", "bob", "zoe");
    past.until_us = now_us(&kit);
    ck_assert_int_eq(set(&kit, past), WRIT_REASON_DELEGATION_MALFORMED);
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(delegation_that_is_revoked_ends_in_open_reviews)
{
    struct writ_kit kit;
    writ_auto_arena arena = writ_arena_new(WRIT_POLL_ARENA);
    enum writ_review_state state = WRIT_REVIEW_ABSENT;
    struct writ_review_told told;
    const char *id, *silent;

    writ_poll_start(&kit);
    ck_assert_int_eq(set(&kit, of(&kit, "1", "ann", "zoe")), WRIT_REASON_NONE);
    id = writ_poll_opened(&kit, (spec){.delegable = &single});
    silent = writ_poll_opened(&kit, (spec){.delegable = &single, .spec = {.argument = "b"}});
    writ_poll_vote(&kit, id, "zoe", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
    ck_assert_int_eq(revoke(&kit, "1", "eve", false), WRIT_REASON_DELEGATION_UNKNOWN);
    ck_assert_int_eq(revoke(&kit, "none", "ann", true), WRIT_REASON_DELEGATION_UNKNOWN);
    ck_assert_int_eq(revoke(&kit, "1", "eve", true), WRIT_REASON_NONE); /* an administrator */
    ck_assert_int_eq(revoke(&kit, "1", "ann", false), WRIT_REASON_DELEGATION_UNKNOWN);
    writ_poll_vote(&kit, id, "bob", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
    told = writ_poll_look(&kit, id, arena);
    ck_assert(told.review.voters[0].revoked);
    ck_assert_uint_eq(told.n, 4); /* open, vote, revoke, vote */
    ck_assert_int_eq(writ_poll_vote_as(&kit, id, "zoe", told.digest, WRIT_REVIEW_APPROVE, &state),
        WRIT_REASON_VOTE_NOT_ENTITLED);
    writ_kit_pass(&kit, 2 * WRIT_KIT_S);
    writ_kit_turn(&kit);
    ck_assert(writ_poll_look(&kit, silent, arena).review.voters[0].revoked);
    writ_kit_close(&kit);
    writ_kit_open(&kit);
    ck_assert(writ_poll_look(&kit, id, arena).review.voters[0].revoked);
    writ_poll_vote(&kit, id, "ann", WRIT_REVIEW_APPROVE, WRIT_REVIEW_APPROVED);
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

/* Runs a command of the shell, with the path of the ledger in place of each %. */
static void
run(struct writ_kit *kit, const char *command)
{
    writ_auto_buf text = writ_buf_make(4096);

    for (; *command != '\0'; command++) {
        if (*command == '%') {
            writ_buf_str(&text, kit->path);
        } else {
            writ_buf_byte(&text, *command);
        }
    }
    writ_buf_byte(&text, '\0');
    ck_assert_ok(writ_buf_check(&text, NULL));
    ck_assert_int_eq(system(text.ptr), 0);
}

/* A group is on disk, and nothing is done after it yet. */
struct killed {
    struct writ_kit *kit;
    sem_t done;
};

static void
copy_and_tell(struct writ_entry *entry)
{
    struct killed *killed = entry->user;

    run(killed->kit, "cp % %.0 && cp %-wal %.0-wal"); /* not this process, which has the locks */
    (void)sem_post(&killed->done);
}

/* The ledger is as a gateway leaves it that is killed right after the entry is on disk. */
static void
submit_and_kill(struct writ_kit *kit, struct writ_entry *entry)
{
    struct killed killed = {.kit = kit};

    ck_assert_int_eq(sem_init(&killed.done, 0, 0), 0);
    entry->done = copy_and_tell;
    entry->user = &killed;
    ck_assert_ok(writ_ledger_submit(kit->ledger, &entry, 1));
    while (sem_wait(&killed.done) != 0) {
    }
    (void)sem_destroy(&killed.done);
    ck_assert_int_eq(entry->code, WRIT_OK);
    writ_kit_close(kit);
    run(kit, "rm -f %-shm && mv %.0 % && mv %.0-wal %-wal");
}

START_TEST(delegation_that_is_revoked_before_a_kill_ends_in_open_reviews)
{
    struct writ_kit kit;
    writ_auto_arena arena = writ_arena_new(WRIT_POLL_ARENA);
    struct writ_delegation soon;
    struct writ_entry revoked = {.kind = WRIT_ENTRY_UNDELEGATE,
        .arena = arena,
        .undelegate = {.id = WRIT_LIT("1"), .by = WRIT_LIT("ann")}};
    struct writ_entry later = {
        .kind = WRIT_ENTRY_DELEGATE, .delegate = {.longest_us = 60 * WRIT_POLL_MINUTE_US}};
    const char *id;

    writ_poll_start(&kit);
    soon = of(&kit, "1", "ann", "zoe");
    soon.until_us = now_us(&kit) + WRIT_POLL_MINUTE_US;
    ck_assert_int_eq(set(&kit, soon), WRIT_REASON_NONE);
    id = writ_poll_opened(&kit, (spec){.delegable = &single});
    writ_poll_vote(&kit, id, "zoe", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
    submit_and_kill(&kit, &revoked);

    writ_kit_pass(&kit, 2 * WRIT_POLL_MINUTE_US);
    writ_kit_open(&kit); /* the log goes past the end of the delegation */
    later.delegate.delegation = of(&kit, "2", "bob", "yan");
    submit_and_kill(&kit, &later);

    writ_kit_open(&kit);
    writ_poll_vote(&kit, id, "eve", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
    ck_assert(writ_poll_look(&kit, id, arena).review.voters[0].revoked);
    soon = of(&kit, "1", "eve", "yan");
    ck_assert_int_eq(set(&kit, soon), WRIT_REASON_DELEGATION_REPEATED);
    writ_kit_close(&kit);
    writ_kit_open(&kit); /* which forgets it */
    ck_assert_int_eq(set(&kit, soon), WRIT_REASON_NONE);
    writ_poll_vote(&kit, id, "ann", WRIT_REVIEW_APPROVE, WRIT_REVIEW_APPROVED);
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

START_TEST(vote_after_the_end_of_the_delegation_counts_not)
{
    struct writ_kit kit;
    writ_auto_arena arena = writ_arena_new(WRIT_POLL_ARENA);
    enum writ_review_state state = WRIT_REVIEW_ABSENT;
    struct writ_delegation soon;
    struct writ_review_told told;
    const char *id;

    writ_poll_start(&kit);
    soon = of(&kit, "1", "ann", "zoe");
    soon.until_us = now_us(&kit) + WRIT_POLL_MINUTE_US;
    ck_assert_int_eq(set(&kit, soon), WRIT_REASON_NONE);
    soon = of(&kit, "2", "bob", "eve"); /* a voter */
    soon.until_us = now_us(&kit) + WRIT_POLL_MINUTE_US;
    ck_assert_int_eq(set(&kit, soon), WRIT_REASON_NONE);
    id = writ_poll_opened(&kit, (spec){.delegable = &several, .quorum = "3"});
    writ_kit_pass(&kit, 2 * WRIT_POLL_MINUTE_US);
    told = writ_poll_look(&kit, id, arena);
    ck_assert_int_eq(writ_poll_vote_as(&kit, id, "zoe", told.digest, WRIT_REVIEW_APPROVE, &state),
        WRIT_REASON_VOTE_NOT_ENTITLED);
    writ_poll_vote(&kit, id, "eve", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
    writ_poll_vote(&kit, id, "ann", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
    writ_poll_vote(&kit, id, "bob", WRIT_REVIEW_APPROVE, WRIT_REVIEW_APPROVED);
    writ_poll_sound(&kit);
    writ_kit_wipe(&kit);
}
END_TEST

WRIT_UNIT_MAIN("delegating", delegation_is_in_the_terms_of_reviews_that_open_while_it_is_in_force,
    delegation_that_the_review_does_not_permit_counts_not,
    delegation_of_a_voter_that_votes_for_another_needs_several,
    delegation_that_cannot_count_leaves_the_one_before, delegations_are_listed_in_pages,
    delegation_that_is_over_in_the_log_cannot_be_set_again,
    delegation_after_the_end_of_one_with_its_id_is_new,
    delegation_for_all_tenants_is_not_revoked_from_one_of_them,
    delegation_that_comes_back_is_refused, delegation_limits_of_one_voter_hold,
    delegation_that_is_revoked_ends_in_open_reviews,
    delegation_that_is_revoked_before_a_kill_ends_in_open_reviews,
    vote_after_the_end_of_the_delegation_counts_not)
