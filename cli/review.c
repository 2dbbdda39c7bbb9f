/* writ review ...: looks at calls under review, and computes verdicts again. */
#include "base/text.h"
#include "cli/cli.h"
#include "cli/put.h"
#include "crew/panel.h"
#include "evidence/review_story.h"
#include "evidence/write.h"
#include "store/reader.h"

#define REVIEW_ARENA ((size_t)64 << 20)
#define OUT_MAX      ((size_t)64 << 20)
#define LINE_TEXT    200 /* bytes of a text in a line for people */

/** One command while it runs. */
struct looking {
    const struct writ_cli *cli;
    struct writ_reader *reader;
    struct writ_arena *arena;
    struct writ_buf out;
    struct writ_reader_review found;
    struct writ_review_story story;
    size_t votes, signatures; /* votes read, and those of voters with a key: each was verified */
    struct writ_view tool;    /* of the call */
    struct writ_err err;
    writ_result failed;
};

static void
looking_wipe(struct looking *l)
{
    writ_reader_close(l->reader);
    writ_arena_free(l->arena);
    writ_buf_wipe(&l->out);
}

static WRIT_RESULT
begin(struct looking *l, const struct writ_cli *cli)
{
    *l = (struct looking){.cli = cli, .out = writ_buf_make(OUT_MAX), .failed = WRIT_DONE};
    l->arena = writ_arena_new(REVIEW_ARENA);
    if (l->arena == NULL) {
        WRIT_FAIL(&l->err, WRIT_E_NOMEM, "no memory to read reviews");
    }
    return writ_reader_open(writ_cli_operand(cli, 0).ptr, &l->reader, &l->err);
}

/* Reads one review out of its records; `before_verdict`: only what came before the verdict. */
static WRIT_RESULT
read_story(struct looking *l, struct writ_view id, bool before_verdict)
{
    const struct writ_json *decision = NULL;

    l->story = (struct writ_review_story){0};
    l->found = (struct writ_reader_review){0};
    l->votes = l->signatures = 0;
    WRIT_TRY(writ_reader_review(l->reader, id, l->arena, &l->found, &l->err));
    WRIT_TRY(
        writ_json_read(l->found.decision, &writ_json_limits_default, l->arena, &decision, &l->err));
    l->tool = writ_json_string(writ_json_get(decision, WRIT_LIT("tool")));
    for (size_t i = 0; i < l->found.records_n; i++) {
        const struct writ_json *value = NULL;
        struct writ_review_record record = {0};

        WRIT_TRY(writ_json_read(
            l->found.records[i], &writ_json_limits_default, l->arena, &value, &l->err));
        WRIT_TRY(writ_review_record_read(value, l->arena, &record, &l->err));
        WRIT_TRY(writ_review_story_add(&l->story, &record, l->arena, &l->err));
        l->votes += record.vote.is == WRIT_PRESENT;
        l->signatures += record.vote.is == WRIT_PRESENT && record.signature.is == WRIT_PRESENT;
        if (before_verdict && l->story.verdict != WRIT_REVIEW_DO_OPEN) {
            break;
        }
    }
    return WRIT_DONE;
}

/* For people: nothing of it that a terminal would act on. */
static void
put_safe(struct writ_buf *out, struct writ_view text)
{
    writ_text_json_safe(out, text, LINE_TEXT);
}

static size_t
votes_of(const struct writ_review *review)
{
    size_t n = 0;

    for (size_t i = 0; i < review->voters_n; i++) {
        n += review->voters[i].vote != WRIT_REVIEW_NO_VOTE;
    }
    return n;
}

/* ---- list ---- */

static void
list_text(struct looking *l)
{
    const struct writ_review *review = &l->story.review;

    writ_buf_fmt(&l->out, WRIT_VIEW_FMT "  " WRIT_VIEW_FMT "  ", WRIT_VIEW_ARG(review->id),
        WRIT_VIEW_ARG(writ_review_state_name(l->story.state)));
    put_safe(&l->out, review->name);
    writ_buf_str(&l->out, " ");
    put_safe(&l->out, review->agent_id);
    writ_buf_str(&l->out, " ");
    put_safe(&l->out, l->tool);
    writ_buf_fmt(&l->out, " %zu of %zu have voted\n", votes_of(review), review->voters_n);
}

static void
put_summary(struct looking *l, struct writ_write *w)
{
    const struct writ_review *review = &l->story.review;

    writ_write_text(w, "id", review->id);
    writ_write_text(w, "state", writ_review_state_name(l->story.state));
    writ_write_text(w, "review", review->name);
    writ_write_text(w, "agent_id", review->agent_id);
    writ_write_text(w, "tool", l->tool);
    writ_write_text(w, "review_digest", writ_view_str(l->story.digest));
    writ_write_count(w, "votes", votes_of(review));
    writ_write_count(w, "voters", review->voters_n);
}

static bool
list_one(void *ctx, struct writ_view id)
{
    struct looking *l = ctx;
    struct writ_write w;

    l->failed = read_story(l, id, false);
    if (!writ_is_ok(l->failed)) {
        return false;
    }
    if (l->cli->json) {
        writ_buf_str(&l->out, l->out.len > 1 ? "," : "");
        w = writ_write_to(&l->out);
        writ_write_object_begin(&w);
        put_summary(l, &w);
        writ_write_object_end(&w);
        WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer remembers */
    } else {
        list_text(l);
    }
    return true;
}

enum writ_exit
writ_command_review_list(const struct writ_cli *cli)
{
    WRIT_AUTO(struct looking, looking_wipe) l;
    writ_result result = begin(&l, cli);

    writ_buf_str(&l.out, cli->json ? "[" : "");
    if (writ_is_ok(result)) {
        result = writ_reader_reviews(l.reader, list_one, &l, &l.err);
    }
    result = writ_is_ok(result) ? l.failed : result;
    writ_buf_str(&l.out, cli->json ? "]\n" : "");
    if (writ_is_ok(result)) {
        result = writ_buf_check(&l.out, &l.err);
    }
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &l.err);
    }
    writ_cli_put(writ_buf_view(&l.out));
    return WRIT_EXIT_OK;
}

/* ---- show ---- */

static void
show_text(struct looking *l)
{
    const struct writ_review *review = &l->story.review;

    list_text(l);
    writ_buf_fmt(&l->out,
        "engine " WRIT_VIEW_FMT ", threshold " WRIT_VIEW_FMT ", quorum " WRIT_VIEW_FMT "\n",
        WRIT_VIEW_ARG(review->engine), WRIT_VIEW_ARG(review->threshold),
        WRIT_VIEW_ARG(review->quorum));
    writ_buf_fmt(
        &l->out, "intent_digest " WRIT_VIEW_FMT "\n", WRIT_VIEW_ARG(review->intent_digest));
    writ_buf_fmt(&l->out, "review_digest %s\n", l->story.digest);
    for (size_t i = 0; i < review->voters_n; i++) {
        const struct writ_review_voter *voter = &review->voters[i];

        writ_buf_str(&l->out, "voter ");
        put_safe(&l->out, voter->id);
        writ_buf_fmt(&l->out, " weight %lld%s: " WRIT_VIEW_FMT "\n", (long long)voter->weight,
            voter->veto ? ", veto" : "",
            WRIT_VIEW_ARG(voter->vote == WRIT_REVIEW_NO_VOTE ? WRIT_LIT("silent")
                                                             : writ_review_vote_name(voter->vote)));
    }
    if (l->found.arguments.ptr != NULL) {
        writ_buf_str(&l->out, "arguments ");
        writ_text_safe(&l->out, l->found.arguments, l->found.arguments.len);
        writ_buf_byte(&l->out, '\n');
    }
}

static void
show_json(struct looking *l)
{
    struct writ_write w = writ_write_to(&l->out);

    writ_write_object_begin(&w);
    put_summary(l, &w);
    if (l->found.arguments.ptr != NULL) {
        writ_write_name(&w, WRIT_LIT("arguments"));
        writ_write_raw(&w, l->found.arguments);
    }
    writ_write_name(&w, WRIT_LIT("decision"));
    writ_write_raw(&w, l->found.decision);
    writ_write_name(&w, WRIT_LIT("records"));
    writ_write_array_begin(&w);
    for (size_t i = 0; i < l->found.records_n; i++) {
        writ_write_raw(&w, l->found.records[i]);
    }
    writ_write_array_end(&w);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer remembers */
    writ_buf_byte(&l->out, '\n');
}

enum writ_exit
writ_command_review_show(const struct writ_cli *cli)
{
    WRIT_AUTO(struct looking, looking_wipe) l;
    writ_result result = begin(&l, cli);

    if (writ_is_ok(result)) {
        result = read_story(&l, writ_cli_operand(cli, 1), false);
    }
    if (writ_is_ok(result)) {
        if (cli->json) {
            show_json(&l);
        } else {
            show_text(&l);
        }
        result = writ_buf_check(&l.out, &l.err);
    }
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &l.err);
    }
    writ_cli_put(writ_buf_view(&l.out));
    return WRIT_EXIT_OK;
}

/* ---- replay ---- */

/* The first event that is another one; the number of events when none is. */
static size_t
first_difference(const struct writ_member_list *recorded, const struct writ_review_finding *again)
{
    size_t i = 0;

    while (i < recorded->count && i < again->log_n &&
           writ_view_equal(recorded->items[i], again->log[i])) {
        i++;
    }
    return i;
}

static void
put_replay(struct looking *l, const struct writ_review_finding *again, bool same, size_t at)
{
    struct writ_write w;

    if (!l->cli->json) {
        writ_buf_fmt(&l->out, "%s: " WRIT_VIEW_FMT ", %zu events, %zu votes (%zu signed)",
            same ? "same" : "DIFFERENT", WRIT_VIEW_ARG(writ_review_event_name(again->verdict)),
            again->log_n, l->votes, l->signatures);
        if (!same) {
            writ_buf_fmt(&l->out, "; recorded " WRIT_VIEW_FMT ", first difference in event %zu",
                WRIT_VIEW_ARG(writ_review_event_name(l->story.verdict)), at);
        }
        writ_buf_byte(&l->out, '\n');
        return;
    }
    w = writ_write_to(&l->out);
    writ_write_object_begin(&w);
    writ_write_flag(&w, "same", same);
    writ_write_text(&w, "verdict", writ_review_event_name(again->verdict));
    writ_write_text(&w, "recorded", writ_review_event_name(l->story.verdict));
    writ_write_count(&w, "votes", l->votes);
    writ_write_count(&w, "signed", l->signatures);
    writ_write_name(&w, WRIT_LIT("events"));
    writ_write_array_begin(&w);
    for (size_t i = 0; i < again->log_n; i++) {
        writ_write_raw(&w, again->log[i]);
    }
    writ_write_array_end(&w);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer remembers */
    writ_buf_byte(&l->out, '\n');
}

static WRIT_RESULT
replay(struct looking *l, bool *ret_same)
{
    struct writ_review_finding again = {.verdict = WRIT_REVIEW_DO_VOTE};
    size_t at;

    WRIT_TRY(read_story(l, writ_cli_operand(l->cli, 1), true));
    if (l->story.verdict == WRIT_REVIEW_DO_OPEN) {
        WRIT_FAIL(&l->err, WRIT_E_MISMATCH, "the review has no verdict to compute again");
    }
    WRIT_TRY(writ_panel_judge.count(
        writ_panel_judge.ctx, &l->story.review, true, l->arena, &again, &l->err));
    at = first_difference(&l->story.log, &again);
    *ret_same =
        again.verdict == l->story.verdict && at == again.log_n && again.log_n == l->story.log.count;
    put_replay(l, &again, *ret_same, at);
    return writ_buf_check(&l->out, &l->err);
}

enum writ_exit
writ_command_review_replay(const struct writ_cli *cli)
{
    WRIT_AUTO(struct looking, looking_wipe) l;
    bool same = false;
    writ_result result = begin(&l, cli);

    if (writ_is_ok(result)) {
        result = replay(&l, &same);
    }
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &l.err);
    }
    writ_cli_put(writ_buf_view(&l.out));
    return same ? WRIT_EXIT_OK : WRIT_EXIT_NEGATIVE;
}
