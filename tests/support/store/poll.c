/* Opens reviews and votes in them through the entries of a ledger. A failure here fails the
 * test. */
#include "support/store/poll.h"
#include "support/unit.h"

#include "crew/panel.h"
#include "evidence/record/derive.h"
#include "evidence/record/profile.h"
#include "store/read/verify.h"
#include "evidence/record/review_judge.h"

#include <stdio.h>

void
writ_poll_start(struct writ_kit *kit)
{
    writ_kit_init(kit);
    kit->options.judge = &writ_panel_judge;
    writ_kit_open(kit);
}

static struct writ_view
digest_of(struct writ_view text, struct writ_arena *arena)
{
    struct writ_digest digest;
    char *ret = writ_arena_get(arena, WRIT_DIGEST_TEXT);

    ck_assert_ptr_nonnull(ret);
    ck_assert_ok(writ_digest_bytes(text, &digest, NULL));
    writ_digest_text(&digest, ret);
    return writ_view_str(ret);
}

/* The call on a state of its target. */
static void
set_state(struct writ_kit_call *call, const char *state)
{
    call->decision.target_state_digest =
        writ_member_text(digest_of(writ_view_str(state), call->arena));
    ck_assert_ok(writ_decision_derive(&call->decision, writ_profile_default(), call->arena, NULL));
}

/* Of the call with another argument. */
static struct writ_view
intent_of(struct writ_kit_call *call, struct writ_view argument)
{
    struct writ_decision other = call->decision;

    other.params_hash = writ_member_text(digest_of(argument, call->arena));
    ck_assert_ok(writ_decision_derive(&other, writ_profile_default(), call->arena, NULL));
    return other.intent_digest.view;
}

/* The review has candidates: of a set all, else the one call. */
static void
put_candidates(struct writ_poll_asking *a, const struct writ_poll_spec *s)
{
    static const struct writ_review_ranking others = {{WRIT_REVIEW_REJECT}, 1};
    const char *set = s->set != NULL ? s->set : s->spec.argument != NULL ? s->spec.argument : "a";

    for (size_t i = 0; set[i] != '\0'; i++) {
        (void)snprintf(a->texts[i], WRIT_DIGEST_TEXT, "sha256:call-%c", set[i]);
        a->candidates[i] = (struct writ_review_candidate){.option = writ_review_candidate_at(i),
            .state_free_digest = writ_view_str(a->texts[i]),
            .intent_digest = intent_of(a->call, writ_view(&set[i], 1)),
            .target_state_digest = a->terms.target_state_digest};
        a->terms.candidates_n = i + 1;
    }
    a->terms.engine = WRIT_LIT("borda");
    a->terms.threshold = writ_view("", 0);
    a->terms.candidates = a->candidates;
    a->terms.intent_digest = a->candidates[0].intent_digest;
    writ_review_offer(&a->terms, &others);
    a->ask.candidates = WRIT_LIT("[{\"arguments\":{\"amount\":100}}]");
    a->ask.boundary = a->call->decision.boundary_id.view;
    a->ask.proposes = s->set != NULL;
}

struct writ_poll_asking *
writ_poll_asking(struct writ_kit *kit, struct writ_poll_spec s)
{
    static struct writ_poll_asking store[64];
    static size_t used;
    struct writ_poll_asking *a = &store[used++ % 64];
    struct writ_entry_decision *d;
    struct writ_digest call;

    *a = (struct writ_poll_asking){0};
    s.spec.route = WRIT_DECISION_REQUIRE_APPROVAL;
    a->call = writ_kit_call(kit, s.spec);
    set_state(a->call, s.state != NULL ? s.state : "state");
    d = &a->call->entry.decision;
    a->voters[0] = (struct writ_review_voter){.id = WRIT_LIT("ann"), .weight = 1};
    a->voters[1] = (struct writ_review_voter){.id = WRIT_LIT("bob"), .weight = 1, .veto = s.veto};
    if (s.configured) {
        a->voters[1].delegate = WRIT_LIT("ann");
    }
    a->voters[2] = (struct writ_review_voter){.id = WRIT_LIT("eve"), .weight = 1};
    a->terms = (struct writ_review){
        .id = a->call->decision.decision_id.view,
        .name = WRIT_LIT("finance"),
        .engine = WRIT_LIT("review"),
        .threshold = WRIT_LIT("2/3"),
        .quorum = writ_view_str(s.quorum != NULL ? s.quorum : "2"),
        .lifetime_us = 15 * WRIT_POLL_MINUTE_US,
        .redeem_us = 5 * WRIT_POLL_MINUTE_US,
        .subject = writ_view_str(s.subject != NULL ? s.subject : "agent"),
        .tenant = d->tenant,
        .agent_id = a->call->decision.agent_id.view,
        .intent_digest = a->call->decision.intent_digest.view,
        .target_state_digest = a->call->decision.target_state_digest.view,
        .rules_digest = writ_view_str(s.rules != NULL ? s.rules : "sha256:rules"),
        .voters = a->voters,
        .voters_n = 3,
    };
    if (s.plugin) {
        a->terms.engine = WRIT_LIT("tally.so");
        a->terms.engine_digest =
            WRIT_LIT("sha256:0000000000000000000000000000000000000000000000000000000000000000");
        a->terms.options = (struct writ_review_ranking){
            {WRIT_REVIEW_APPROVE, WRIT_REVIEW_MODIFY, WRIT_REVIEW_REJECT}, 3};
    }
    a->ask.terms = &a->terms;
    if (s.delegable != NULL) {
        a->ask.delegable = *s.delegable;
    }
    a->ask.arguments = WRIT_LIT("{\"amount\":100}");
    a->ask.continuation = writ_view_str(s.continuation);
    if (s.continuation == NULL) {
        a->ask.continuation = (struct writ_view){NULL, 0};
    }
    call = d->claim.call;
    if (s.set != NULL || s.alone) {
        put_candidates(a, &s);
    }
    if (s.set != NULL) {
        ck_assert_ok(writ_digest_bytes(writ_view_str(s.set), &call, NULL));
    }
    ck_assert_ok(writ_ledger_review(&call, a->call->decision.boundary_id.view,
        (struct writ_view){NULL, 0}, &a->ask.name, NULL));
    d->ask = &a->ask;
    return a;
}

struct writ_poll_asking *
writ_poll_asked(struct writ_kit *kit, struct writ_poll_spec s)
{
    struct writ_poll_asking *a = writ_poll_asking(kit, s);

    ck_assert_int_eq(writ_kit_decide(kit, a->call), WRIT_OK);
    return a;
}

const char *
writ_poll_opened(struct writ_kit *kit, struct writ_poll_spec s)
{
    static char ids[16][64];
    static size_t used;
    char *id = ids[used++ % 16];
    struct writ_poll_asking *a = writ_poll_asked(kit, s);
    struct writ_view view = a->ask.id;

    ck_assert(!a->call->entry.decision.granted);
    ck_assert(writ_decision_is(&a->call->decision, WRIT_DECISION_REQUIRE_APPROVAL));
    ck_assert_int_eq(a->ask.state, WRIT_REVIEW_OPEN);
    ck_assert(writ_view_equal(a->call->decision.continuation_id.view, view));
    ck_assert_uint_lt(view.len, 64);
    (void)writ_view_place(view, id);
    id[view.len] = '\0';
    writ_kit_call_free(a->call);
    return id;
}

void
writ_poll_told(struct writ_kit *kit, struct writ_poll_spec s, enum writ_reason reason)
{
    struct writ_poll_asking *a = writ_poll_asked(kit, s);

    ck_assert(!a->call->entry.decision.granted);
    ck_assert_msg(a->call->entry.decision.refused == reason, "told " WRIT_VIEW_FMT,
        WRIT_VIEW_ARG(writ_reason_name(a->call->entry.decision.refused)));
    writ_kit_call_free(a->call);
}

struct writ_poll_asking *
writ_poll_redeemed(struct writ_kit *kit, struct writ_poll_spec s)
{
    struct writ_poll_asking *a = writ_poll_asked(kit, s);

    ck_assert_msg(a->call->entry.decision.granted, "refused: " WRIT_VIEW_FMT,
        WRIT_VIEW_ARG(writ_reason_name(a->call->entry.decision.refused)));
    ck_assert(writ_decision_is(&a->call->decision, WRIT_DECISION_ALLOW));
    ck_assert_int_eq(a->call->decision.supersedes.is, WRIT_PRESENT);
    return a;
}

struct writ_poll_event
writ_poll_sent(struct writ_kit *kit, struct writ_entry_review r)
{
    struct writ_poll_event e = {.entry = {.kind = WRIT_ENTRY_REVIEW, .review = r}};

    e.entry.arena = writ_arena_new(WRIT_POLL_ARENA);
    e.code = writ_kit_submit(kit, &e.entry);
    return e;
}

struct writ_review_told
writ_poll_look(struct writ_kit *kit, const char *id, struct writ_arena *arena)
{
    struct writ_entry entry = {.kind = WRIT_ENTRY_REVIEW_GET, .arena = arena};

    entry.review_get.id = writ_view_str(id);
    ck_assert_int_eq(writ_kit_submit(kit, &entry), WRIT_OK);
    return entry.review_get.told;
}

enum writ_reason
writ_poll_vote_as(struct writ_kit *kit, const char *id, const char *by, const char *digest,
    enum writ_review_vote vote, enum writ_review_state *ret)
{
    struct writ_poll_event e = writ_poll_sent(kit, (struct writ_entry_review){
                                                       .event = WRIT_REVIEW_DO_VOTE,
                                                       .id = writ_view_str(id),
                                                       .by = writ_view_str(by),
                                                       .digest = writ_view_str(digest),
                                                       .vote = vote,
                                                       .feedback = WRIT_LIT("because"),
                                                       .confidence = WRIT_LIT("0.9"),
                                                   });
    enum writ_reason refused = e.entry.review.refused;

    ck_assert_int_eq(e.code, WRIT_OK);
    *ret = e.entry.review.told.state;
    writ_arena_free(e.entry.arena);
    return refused;
}

void
writ_poll_vote(struct writ_kit *kit, const char *id, const char *by, enum writ_review_vote vote,
    enum writ_review_state want)
{
    struct writ_arena *arena = writ_arena_new(WRIT_POLL_ARENA);
    struct writ_review_told now = writ_poll_look(kit, id, arena);
    enum writ_review_state state = WRIT_REVIEW_ABSENT;

    ck_assert_int_eq(writ_poll_vote_as(kit, id, by, now.digest, vote, &state), WRIT_REASON_NONE);
    ck_assert_msg(
        state == want, "by %s: " WRIT_VIEW_FMT, by, WRIT_VIEW_ARG(writ_review_state_name(state)));
    writ_arena_free(arena);
}

void
writ_poll_rank(struct writ_kit *kit, const char *id, const char *by, enum writ_review_vote first,
    enum writ_review_state want)
{
    static const enum writ_review_vote all[] = {
        WRIT_REVIEW_APPROVE, WRIT_REVIEW_MODIFY, WRIT_REVIEW_REJECT};
    struct writ_arena *arena = writ_arena_new(WRIT_POLL_ARENA);
    struct writ_review_told now = writ_poll_look(kit, id, arena);
    struct writ_review_ranking ranking = {{first}, 1};
    struct writ_poll_event e;

    for (size_t i = 0; i < 3; i++) {
        if (all[i] != first) {
            ranking.list[ranking.n++] = all[i];
        }
    }
    e = writ_poll_sent(kit, (struct writ_entry_review){.event = WRIT_REVIEW_DO_VOTE,
                                .id = writ_view_str(id),
                                .by = writ_view_str(by),
                                .digest = writ_view_str(now.digest),
                                .vote = first,
                                .ranking = ranking});
    ck_assert_int_eq(e.code, WRIT_OK);
    ck_assert_int_eq(e.entry.review.refused, WRIT_REASON_NONE);
    ck_assert_int_eq(e.entry.review.told.state, want);
    writ_arena_free(e.entry.arena);
    writ_arena_free(arena);
}

enum writ_reason
writ_poll_counted(
    struct writ_kit *kit, const char *id, enum writ_review_event verdict, uint64_t records)
{
    static const struct writ_view log[] = {WRIT_LIT("{\"type\":\"crew.completed\"}")};
    struct writ_arena *arena = writ_arena_new(WRIT_POLL_ARENA);
    struct writ_review_told now = writ_poll_look(kit, id, arena);
    struct writ_review_finding finding = {.verdict = verdict, .log = log, .log_n = 1};
    enum writ_reason refused;
    struct writ_poll_event e;

    if (verdict == WRIT_REVIEW_DO_FAIL) {
        finding = (struct writ_review_finding){.verdict = verdict, .fault = WRIT_LIT("it crashed")};
    }
    e = writ_poll_sent(kit, (struct writ_entry_review){.event = verdict,
                                .id = writ_view_str(id),
                                .digest = writ_view_str(now.digest),
                                .finding = &finding,
                                .counted = records});
    refused = e.entry.review.refused;
    ck_assert_int_eq(e.code, WRIT_OK);
    writ_arena_free(e.entry.arena);
    writ_arena_free(arena);
    return refused;
}

void
writ_poll_place(struct writ_kit *kit, const char *id, const char *by, const char *places,
    enum writ_review_state want)
{
    struct writ_arena *arena = writ_arena_new(WRIT_POLL_ARENA);
    struct writ_review_told now = writ_poll_look(kit, id, arena);
    struct writ_review_ranking ranking = {.n = 0};
    struct writ_poll_event e;

    for (size_t i = 0; places[i] != '\0'; i++) {
        ranking.list[ranking.n++] = writ_review_vote_find(writ_view(&places[i], 1));
    }
    ranking.list[ranking.n++] = WRIT_REVIEW_REJECT;
    for (size_t i = 0; places[0] == '\0' && i < now.review.candidates_n; i++) {
        ranking.list[ranking.n++] = now.review.candidates[i].option;
    }
    e = writ_poll_sent(kit, (struct writ_entry_review){.event = WRIT_REVIEW_DO_VOTE,
                                .id = writ_view_str(id),
                                .by = writ_view_str(by),
                                .digest = writ_view_str(now.digest),
                                .vote = ranking.list[0],
                                .ranking = ranking});
    ck_assert_int_eq(e.code, WRIT_OK);
    ck_assert_int_eq(e.entry.review.refused, WRIT_REASON_NONE);
    ck_assert_msg(e.entry.review.told.state == want, "by %s: " WRIT_VIEW_FMT, by,
        WRIT_VIEW_ARG(writ_review_state_name(e.entry.review.told.state)));
    writ_arena_free(e.entry.arena);
    writ_arena_free(arena);
}

void
writ_poll_approve(struct writ_kit *kit, const char *id)
{
    writ_poll_vote(kit, id, "ann", WRIT_REVIEW_APPROVE, WRIT_REVIEW_OPEN);
    writ_poll_vote(kit, id, "bob", WRIT_REVIEW_APPROVE, WRIT_REVIEW_APPROVED);
}

enum writ_reason
writ_poll_happens(struct writ_kit *kit, const char *id, enum writ_review_event event)
{
    struct writ_poll_event e =
        writ_poll_sent(kit, (struct writ_entry_review){.event = event, .id = writ_view_str(id)});
    enum writ_reason refused = e.entry.review.refused;

    ck_assert_int_eq(e.code, WRIT_OK);
    writ_arena_free(e.entry.arena);
    return refused;
}

void
writ_poll_sound(struct writ_kit *kit)
{
    struct writ_verify_report report;

    ck_assert_ok(writ_verify_ledger(kit->path, kit->ring, NULL, NULL, &report, NULL));
    ck_assert_msg(report.problems == 0, "record %llu: %s", (unsigned long long)report.list[0].leaf,
        report.list[0].what);
}
