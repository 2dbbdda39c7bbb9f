/* writ review ...: reads calls under review, from a ledger or a running gateway, and computes
 * verdicts again. */
#include "base/text.h"
#include "cli/base/print.h"
#include "cli/commands/admin_client.h"
#include "cli/commands/command.h"
#include "cli/commands/review_crew.h"
#include "cli/commands/review_plugin.h"
#include "cli/commands/review_sources.h"
#include "gateway/crews/rerun.h"
#include "evidence/json/jcs.h"
#include "evidence/json/write.h"
#include "evidence/record/extension.h"
#include "evidence/record/review_judge.h"
#include "evidence/record/review_story.h"
#include "gateway/service/anchor.h"
#include "store/read/reader.h"
#include "store/sql/sql_uri.h"

#define REVIEW_ARENA ((size_t)64 << 20)
#define OUT_MAX      ((size_t)64 << 20)
#define PATH_MAX     4096
#define REVIEWS      "{\"reviews\":["
#define LINE_TEXT    200 /* bytes of a text in a line for people */

/** One command while it runs. */
struct looking {
    const struct writ_cli *cli;
    struct writ_reader *reader; /* of the ledger; NULL: through a gateway */
    struct writ_admin_client client;
    struct writ_arena *arena;
    struct writ_buf out;
    struct writ_reader_review found;
    struct writ_review_story story;
    struct writ_buf log; /* of a crew; empty: none is given */
    struct writ_review_crew crews;
    size_t votes, signatures; /* votes read, and those of voters with a key: each was verified */
    struct writ_view fault;   /* why the plug-in has not counted; empty: it has, or there is none */
    struct writ_view tool;    /* of the call */
    const struct writ_json *candidates; /* what voters see of each; NULL: none, or not kept */
    const struct writ_json *conditions; /* those that require the approval; NULL: none, or not
                                         * kept */
    const struct writ_json *sources; /* show: where values and labels came from; NULL: not known */
    struct writ_err err;
    bool listed; /* list: one is printed already */
    writ_result failed;
};

static void
looking_wipe(struct looking *l)
{
    writ_reader_close(l->reader);
    writ_admin_client_wipe(&l->client);
    writ_arena_free(l->arena);
    writ_buf_wipe(&l->out);
    writ_buf_wipe(&l->log);
}

static WRIT_RESULT
begin(struct looking *l, const struct writ_cli *cli, bool is_url)
{
    *l = (struct looking){.cli = cli, .out = writ_buf_make(OUT_MAX), .failed = WRIT_DONE};
    l->arena = writ_arena_new(REVIEW_ARENA);
    if (l->arena == NULL) {
        WRIT_FAIL(&l->err, WRIT_E_NOMEM, "no memory to read reviews");
    }
    if (is_url) {
        return writ_admin_client_begin(&l->client, cli);
    }
    return writ_reader_open(writ_cli_operand(cli, 0).ptr, &l->reader, &l->err);
}

static bool
is_url(const struct writ_cli *cli)
{
    struct writ_view source = writ_cli_operand(cli, 0);

    return writ_anchor_is_url(source) && !writ_sql_is_uri(source);
}

/* Whether the options fit the source: a gateway needs a token, a ledger has none. */
static bool
is_usable(const struct writ_cli *cli)
{
    if (is_url(cli)) {
        if (!writ_cli_has(cli, "token")) {
            (void)writ_cli_usage(cli, "a URL needs --token FILE");
            return false;
        }
    } else if (writ_cli_has(cli, "token") || writ_cli_has(cli, "ca")) {
        (void)writ_cli_usage(cli, "--token and --ca are for a URL");
        return false;
    }
    return true;
}

static enum writ_exit
finish(struct looking *l, writ_result result)
{
    if (writ_is_ok(result)) {
        result = writ_buf_check(&l->out, &l->err);
    }
    if (!writ_is_ok(result)) {
        enum writ_exit code =
            writ_cli_fail(l->cli, result, l->client.err.text[0] != '\0' ? &l->client.err : &l->err);

        return l->client.refused ? WRIT_EXIT_NEGATIVE : code;
    }
    writ_cli_put(writ_buf_view(&l->out));
    return WRIT_EXIT_OK;
}

/* ---- reading ---- */

/* A member of the gateway's answer in the form of the ledger. */
static WRIT_RESULT
take_canonical(struct looking *l, const struct writ_json *value, struct writ_view *ret)
{
    struct writ_buf text = writ_buf_in(l->arena, OUT_MAX);

    WRIT_TRY(writ_jcs_put(&text, value, &l->err));
    WRIT_TRY(writ_buf_check(&text, &l->err));
    *ret = writ_buf_view(&text);
    return WRIT_DONE;
}

static size_t
count_of(const struct writ_json *list)
{
    return list != NULL ? list->count : 0;
}

/* The records of a review, as from a ledger; the rest is computed from them. */
static WRIT_RESULT
ask_review(struct looking *l, struct writ_view id)
{
    writ_auto_buf path = writ_buf_make(PATH_MAX);
    const struct writ_json *arguments, *records;
    struct writ_view *items;
    size_t n = 0;

    WRIT_TRY(writ_admin_client_check_id(id, "a review", &l->err));
    writ_buf_fmt(&path, "/v1/reviews/" WRIT_VIEW_FMT "%c", WRIT_VIEW_ARG(id), '\0');
    WRIT_TRY(writ_buf_check(&path, &l->err));
    WRIT_TRY(writ_admin_client_ask(&l->client, path.ptr, NULL));
    records = writ_json_get_typed(l->client.value, WRIT_LIT("records"), WRIT_JSON_ARRAY);
    arguments = writ_json_get(l->client.value, WRIT_LIT("arguments"));
    l->conditions = writ_json_get(l->client.value, WRIT_LIT("conditions"));
    l->candidates = writ_json_get(l->client.value, WRIT_LIT("candidates"));
    items = writ_arena_get(l->arena, (count_of(records) + 1) * sizeof *items);
    if (items == NULL) {
        WRIT_FAIL(&l->err, WRIT_E_NOMEM, "no memory to read reviews");
    }
    WRIT_JSON_EACH(record, records)
    {
        WRIT_TRY(take_canonical(l, record, &items[n++]));
    }
    if (n == 0) {
        WRIT_FAIL(&l->err, WRIT_E_IO,
            "an answer without records: check that the URL is that of the admin listener");
    }
    if (arguments != NULL) {
        WRIT_TRY(take_canonical(l, arguments, &l->found.arguments));
    }
    l->found.records = items;
    l->found.records_n = n;
    return take_canonical(
        l, writ_json_get(l->client.value, WRIT_LIT("decision")), &l->found.decision);
}

/* Of a count that failed. */
static WRIT_RESULT
take_fault(struct looking *l, const struct writ_review_record *record)
{
    struct writ_extension extension = {0};

    if (record->extensions.is == WRIT_PRESENT) {
        WRIT_TRY(writ_extension_read(&record->extensions, l->arena, &extension, &l->err));
    }
    if (extension.count_fault.is == WRIT_PRESENT) {
        l->fault = extension.count_fault.view;
    }
    return WRIT_DONE;
}

/* Reads one review from its records; `before_verdict`: only those before the verdict. */
static WRIT_RESULT
read_story(struct looking *l, struct writ_view id, bool before_verdict)
{
    const struct writ_json *decision = NULL;

    l->story = (struct writ_review_story){0};
    l->found = (struct writ_reader_review){0};
    l->conditions = l->candidates = NULL;
    l->votes = l->signatures = 0;
    WRIT_TRY(l->reader == NULL ? ask_review(l, id)
                               : writ_reader_review(l->reader, id, l->arena, &l->found, &l->err));
    WRIT_TRY(
        writ_json_read(l->found.decision, &writ_json_limits_default, l->arena, &decision, &l->err));
    l->tool = writ_json_string(writ_json_get(decision, WRIT_LIT("tool")));
    if (l->found.candidates.len > 0) {
        WRIT_TRY(writ_json_read(
            l->found.candidates, &writ_json_limits_default, l->arena, &l->candidates, &l->err));
    }
    if (l->found.conditions.len > 0) {
        WRIT_TRY(writ_json_read(
            l->found.conditions, &writ_json_limits_default, l->arena, &l->conditions, &l->err));
    }
    for (size_t i = 0; i < l->found.records_n; i++) {
        const struct writ_json *value = NULL;
        struct writ_review_record record = {0};

        WRIT_TRY(writ_json_read(
            l->found.records[i], &writ_json_limits_default, l->arena, &value, &l->err));
        WRIT_TRY(writ_review_record_read(value, l->arena, &record, &l->err));
        WRIT_TRY(writ_review_story_add(&l->story, &record, l->arena, &l->err));
        WRIT_TRY(writ_review_crew_take(&l->crews, &record, l->arena, &l->err));
        WRIT_TRY(take_fault(l, &record));
        l->votes += record.vote.is == WRIT_PRESENT;
        l->signatures += record.vote.is == WRIT_PRESENT && record.signature.is == WRIT_PRESENT;
        if (before_verdict && l->story.verdict != WRIT_REVIEW_DO_OPEN) {
            break;
        }
    }
    return WRIT_DONE;
}

/* For people: without bytes that a terminal would act on. */
static void
put_safe(struct writ_buf *out, struct writ_view text)
{
    writ_text_json_safe(out, text, LINE_TEXT);
}

/* Stand-ins aside: their votes are those of others. */
static size_t
votes_of(const struct writ_review *review)
{
    size_t n = 0;

    for (size_t i = 0; i < writ_review_electors(review); i++) {
        n += writ_review_speaker(review, &review->voters[i])->vote != WRIT_REVIEW_NO_VOTE;
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
    writ_buf_fmt(
        &l->out, " %zu of %zu have voted\n", votes_of(review), writ_review_electors(review));
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
    writ_write_text_if(w, "elected", writ_review_vote_name(l->story.elected));
    writ_write_count(w, "votes", votes_of(review));
    writ_write_count(w, "voters", writ_review_electors(review));
}

/* Prints it: the memory of a list does not depend on its length. */
static bool
list_one(void *ctx, struct writ_view id)
{
    struct looking *l = ctx;
    struct writ_write w;

    writ_arena_reset(l->arena);
    writ_buf_clear(&l->out);
    l->failed = read_story(l, id, false);
    if (!writ_is_ok(l->failed)) {
        return false;
    }
    if (l->cli->json) {
        writ_buf_str(&l->out, l->listed ? "," : REVIEWS);
        w = writ_write_to(&l->out);
        writ_write_object_begin(&w);
        put_summary(l, &w);
        writ_write_object_end(&w);
        WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer keeps the failure */
    } else {
        list_text(l);
    }
    l->failed = writ_buf_check(&l->out, &l->err);
    if (writ_is_ok(l->failed)) {
        writ_cli_put(writ_buf_view(&l->out));
        l->listed = true;
    }
    writ_buf_clear(&l->out);
    return writ_is_ok(l->failed);
}

/* True when the gateway answered that it has no such review; clears that error. */
static bool
is_gone(struct looking *l)
{
    struct writ_admin_client *client = &l->client;

    if (!client->refused || !writ_view_has_prefix(writ_view_str(client->err.text),
                                writ_reason_name(WRIT_REASON_REVIEW_UNKNOWN))) {
        return false;
    }
    client->refused = false;
    client->err = (struct writ_err){0};
    return true;
}

/* The ids of a page of the gateway's list, in memory of their own. *place: what to ask the next
 * page with; empty: there is none. */
static WRIT_RESULT
ask_page(struct looking *l, struct writ_buf *place, struct writ_arena *arena,
    struct writ_view **ret, size_t *ret_n)
{
    const struct writ_json *reviews;
    struct writ_view *ids;
    uint64_t next;
    size_t n = 0;

    writ_arena_reset(l->client.arena);
    WRIT_TRY(writ_admin_client_ask(&l->client, place->ptr, NULL));
    reviews = writ_json_get_typed(l->client.value, WRIT_LIT("reviews"), WRIT_JSON_ARRAY);
    ids = writ_arena_get(arena, (count_of(reviews) + 1) * sizeof *ids);
    if (ids == NULL) {
        WRIT_FAIL(&l->err, WRIT_E_NOMEM, "no memory to read reviews");
    }
    WRIT_JSON_EACH(review, reviews)
    {
        ids[n] = writ_view_copy(writ_json_string(writ_json_get(review, WRIT_LIT("id"))), arena);
        n += ids[n].len > 0;
    }
    next = writ_admin_client_count(l->client.value, "next");
    writ_buf_clear(place);
    if (next > 0) {
        writ_buf_fmt(place, "/v1/reviews?after=%llu&from=%llu%c",
            (unsigned long long)writ_admin_client_count(l->client.value, "at"),
            (unsigned long long)next, '\0');
    }
    *ret = ids;
    *ret_n = n;
    return writ_buf_check(place, &l->err);
}

/* Open reviews that the caller may see. One that ends between two answers is left out. */
static WRIT_RESULT
list_page(struct looking *l, struct writ_buf *place)
{
    writ_auto_arena arena = writ_arena_new(REVIEW_ARENA);
    struct writ_view *ids = NULL;
    size_t n = 0;

    if (arena == NULL) {
        WRIT_FAIL(&l->err, WRIT_E_NOMEM, "no memory to read reviews");
    }
    WRIT_TRY(ask_page(l, place, arena, &ids, &n));
    for (size_t i = 0; i < n; i++) {
        writ_arena_reset(l->client.arena);
        if (!list_one(l, ids[i]) && !is_gone(l)) {
            return l->failed;
        }
    }
    l->failed = WRIT_DONE;
    return WRIT_DONE;
}

static WRIT_RESULT
list_asked(struct looking *l)
{
    writ_auto_buf place = writ_buf_make(PATH_MAX);

    writ_buf_put(&place, writ_view("/v1/reviews", sizeof "/v1/reviews"));
    WRIT_TRY(writ_buf_check(&place, &l->err));
    while (place.len > 0) {
        WRIT_TRY(list_page(l, &place));
    }
    return WRIT_DONE;
}

enum writ_exit
writ_command_review_list(const struct writ_cli *cli)
{
    WRIT_AUTO(struct looking, looking_wipe) l = {0};
    writ_result result;

    if (!is_usable(cli)) {
        return WRIT_EXIT_USAGE;
    }
    result = begin(&l, cli, is_url(cli));
    if (writ_is_ok(result)) {
        result =
            l.reader == NULL ? list_asked(&l) : writ_reader_reviews(l.reader, list_one, &l, &l.err);
    }
    result = writ_is_ok(result) ? l.failed : result;
    if (cli->json) {
        writ_buf_str(&l.out, l.listed ? "]}\n" : REVIEWS "]}\n");
    }
    return finish(&l, result);
}

/* ---- show ---- */

static void
put_text_of(struct writ_buf *out, const struct writ_json *value, const char *name)
{
    struct writ_view text = writ_json_string(writ_json_get(value, writ_view_str(name)));

    writ_text_safe(out, text, text.len);
}

/* " until TIME (delegation ID, revoked)" of one that the voter set itself */
static void
show_delegation(struct looking *l, const struct writ_review_voter *voter)
{
    char until[WRIT_TIME_TEXT];

    if (voter->delegation.len > 0) {
        writ_time_format(voter->delegated_until_us, until);
        writ_buf_fmt(&l->out, " until %s (delegation ", until);
        writ_print_plain(&l->out, voter->delegation);
        writ_buf_str(&l->out, voter->revoked ? ", revoked)" : ")");
    }
}

/* " weight 1/2, veto, delegates to "bob": approve by "bob"" */
static void
show_vote(struct looking *l, const struct writ_review_voter *voter)
{
    const struct writ_review_voter *speaker = writ_review_speaker(&l->story.review, voter);

    if (voter->stand_in) {
        writ_buf_str(&l->out, " stands in");
    } else {
        writ_buf_str(&l->out, " weight ");
        writ_review_weight_text(voter, &l->out);
    }
    writ_buf_str(&l->out, voter->veto ? ", veto" : "");
    if (voter->delegate.len > 0) {
        writ_buf_str(&l->out, ", delegates to ");
        put_safe(&l->out, voter->delegate);
        show_delegation(l, voter);
    }
    writ_buf_fmt(&l->out, ": " WRIT_VIEW_FMT,
        WRIT_VIEW_ARG(speaker->vote == WRIT_REVIEW_NO_VOTE ? WRIT_LIT("silent")
                                                           : writ_review_vote_name(speaker->vote)));
    for (size_t i = 1; i < speaker->ranking.n; i++) {
        writ_buf_fmt(&l->out, ", " WRIT_VIEW_FMT,
            WRIT_VIEW_ARG(writ_review_vote_name(speaker->ranking.list[i])));
    }
    if (speaker != voter) {
        writ_buf_str(&l->out, " by ");
        put_safe(&l->out, speaker->id);
    }
    writ_buf_byte(&l->out, '\n');
}

/* A plug-in counts when all have voted: its quorum says nothing. */
static void
show_engine(struct looking *l)
{
    const struct writ_review *review = &l->story.review;

    writ_buf_fmt(&l->out, "engine " WRIT_VIEW_FMT, WRIT_VIEW_ARG(review->engine));
    if (writ_review_is_plugin(review->engine)) {
        writ_buf_fmt(
            &l->out, ", a plug-in, " WRIT_VIEW_FMT "\n", WRIT_VIEW_ARG(review->engine_digest));
        if (l->fault.len > 0) {
            writ_buf_str(&l->out, "the plug-in failed: ");
            writ_text_safe(&l->out, l->fault, l->fault.len);
            writ_buf_byte(&l->out, '\n');
        }
        return;
    }
    writ_buf_fmt(&l->out, "%s" WRIT_VIEW_FMT ", quorum " WRIT_VIEW_FMT "\n",
        review->threshold.len > 0 ? ", threshold " : "", WRIT_VIEW_ARG(review->threshold),
        WRIT_VIEW_ARG(review->quorum));
}

/* "candidate 1 {"amount":100}", as a line of its own. */
static void
show_candidate(struct looking *l, const struct writ_json *candidate)
{
    writ_auto_buf arguments = writ_buf_make(OUT_MAX);

    writ_buf_str(&l->out, "candidate ");
    put_text_of(&l->out, candidate, "option");
    writ_buf_byte(&l->out, ' ');
    if (writ_is_ok(
            writ_jcs_put(&arguments, writ_json_get(candidate, WRIT_LIT("arguments")), &l->err)) &&
        writ_is_ok(writ_buf_check(&arguments, &l->err))) {
        writ_text_safe(&l->out, writ_buf_view(&arguments), arguments.len);
    } else {
        l->out.failed = WRIT_E_LIMIT;
    }
    writ_buf_byte(&l->out, '\n');
}

static void
show_text(struct looking *l)
{
    const struct writ_review *review = &l->story.review;

    list_text(l);
    show_engine(l);
    writ_buf_fmt(
        &l->out, "intent_digest " WRIT_VIEW_FMT "\n", WRIT_VIEW_ARG(review->intent_digest));
    writ_buf_fmt(&l->out, "review_digest %s\n", l->story.digest);
    if (l->story.elected != WRIT_REVIEW_NO_VOTE) {
        writ_buf_fmt(&l->out, "elected " WRIT_VIEW_FMT "\n",
            WRIT_VIEW_ARG(writ_review_vote_name(l->story.elected)));
    }
    for (size_t i = 0; i < review->voters_n; i++) {
        const struct writ_review_voter *voter = &review->voters[i];

        writ_buf_str(&l->out, "voter ");
        put_safe(&l->out, voter->id);
        show_vote(l, voter);
    }
    WRIT_JSON_EACH(condition, l->conditions)
    {
        writ_buf_str(&l->out, "condition ");
        put_text_of(&l->out, condition, "condition");
        writ_buf_str(&l->out, ": ");
        put_text_of(&l->out, condition, "wants");
        writ_buf_str(&l->out, " (");
        put_text_of(&l->out, condition, "found");
        writ_buf_str(&l->out, ")\n");
    }
    WRIT_JSON_EACH(candidate, l->candidates)
    {
        show_candidate(l, candidate);
    }
    writ_review_sources_text(l->sources, &l->out);
    if (l->found.arguments.ptr != NULL && l->candidates == NULL) {
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
    if (l->candidates != NULL) {
        writ_write_name(&w, WRIT_LIT("candidates"));
        writ_write_value(&w, l->candidates);
    }
    if (l->conditions != NULL) {
        writ_write_name(&w, WRIT_LIT("conditions"));
        writ_write_value(&w, l->conditions);
    }
    if (l->sources != NULL) {
        writ_write_name(&w, WRIT_LIT("sources"));
        writ_write_value(&w, writ_json_get(l->sources, WRIT_LIT("sources")));
        writ_write_name(&w, WRIT_LIT("labels"));
        writ_write_value(&w, writ_json_get(l->sources, WRIT_LIT("labels")));
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
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer keeps the failure */
    writ_buf_byte(&l->out, '\n');
}

/* The next answer of a gateway takes the place of the one before: the review comes last. */
static WRIT_RESULT
show(struct looking *l)
{
    struct writ_view id = writ_cli_operand(l->cli, 1);

    if (l->reader == NULL) {
        WRIT_TRY(writ_review_sources_ask(&l->client, id, l->arena, &l->sources, &l->err));
        return read_story(l, id, false);
    }
    WRIT_TRY(read_story(l, id, false));
    return writ_review_sources_read(l->reader, id, l->arena, &l->sources, &l->err);
}

enum writ_exit
writ_command_review_show(const struct writ_cli *cli)
{
    WRIT_AUTO(struct looking, looking_wipe) l = {0};
    writ_result result;

    if (!is_usable(cli)) {
        return WRIT_EXIT_USAGE;
    }
    result = begin(&l, cli, is_url(cli));
    if (writ_is_ok(result)) {
        result = show(&l);
    }
    if (writ_is_ok(result)) {
        if (cli->json) {
            show_json(&l);
        } else {
            show_text(&l);
        }
    }
    return finish(&l, result);
}

/* ---- replay ---- */

/* The first event that differs; the number of events without a difference. */
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
        if (l->crews.votes > 0) {
            writ_buf_fmt(&l->out, "; of crews: %zu (%zu computed again%s)", l->crews.votes,
                l->crews.replayed, l->crews.differs ? ", DIFFERENT" : "");
        }
        writ_buf_byte(&l->out, '\n');
        return;
    }
    w = writ_write_to(&l->out);
    writ_write_object_begin(&w);
    writ_write_flag(&w, "same", same && !l->crews.differs);
    writ_write_count(&w, "crews", l->crews.votes);
    writ_write_count(&w, "replayed", l->crews.replayed);
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
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer keeps the failure */
    writ_buf_byte(&l->out, '\n');
}

/* The log of a crew, where one is given. */
static WRIT_RESULT
read_log(struct looking *l)
{
    struct writ_view path = writ_cli_get(l->cli, "log");

    if (path.ptr == NULL) {
        return WRIT_DONE;
    }
    l->log = writ_buf_make(WRIT_RERUN_LOG_MAX);
    WRIT_TRY(writ_cli_read(path.ptr, WRIT_RERUN_LOG_MAX, &l->log, &l->err));
    l->crews.log = l->log.len > 0 ? writ_buf_view(&l->log) : writ_view(NULL, 0);
    return WRIT_DONE;
}

static WRIT_RESULT
replay(struct looking *l, bool *ret_same)
{
    struct writ_review_finding again = {.verdict = WRIT_REVIEW_DO_VOTE};
    size_t at;

    WRIT_TRY(read_log(l));
    WRIT_TRY(read_story(l, writ_cli_operand(l->cli, 1), true));
    if (writ_cli_has(l->cli, "log") && l->crews.replayed == 0) {
        WRIT_FAIL(&l->err, WRIT_E_MISMATCH, "the log is not that of a vote of this review");
    }
    if (l->story.verdict == WRIT_REVIEW_DO_OPEN) {
        WRIT_FAIL(&l->err, WRIT_E_MISMATCH, "the review has no verdict to compute again");
    }
    if (l->story.verdict == WRIT_REVIEW_DO_FAIL) {
        WRIT_FAIL(&l->err, WRIT_E_MISMATCH,
            "the plug-in " WRIT_VIEW_FMT " failed, so the review has no verdict to compute again",
            WRIT_VIEW_ARG(l->story.review.engine));
    }
    WRIT_TRY(writ_review_plugin_recount(
        &l->story.review, writ_cli_get(l->cli, "engines").ptr, l->arena, &again, &l->err));
    at = first_difference(&l->story.log, &again);
    *ret_same = again.verdict == l->story.verdict && again.elected == l->story.elected &&
                at == again.log_n && again.log_n == l->story.log.count;
    put_replay(l, &again, *ret_same, at);
    *ret_same &= !l->crews.differs;
    return writ_buf_check(&l->out, &l->err);
}

enum writ_exit
writ_command_review_replay(const struct writ_cli *cli)
{
    WRIT_AUTO(struct looking, looking_wipe) l;
    bool same = false;
    writ_result result = begin(&l, cli, false);

    if (writ_is_ok(result)) {
        result = replay(&l, &same);
    }
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &l.err);
    }
    writ_cli_put(writ_buf_view(&l.out));
    return same ? WRIT_EXIT_OK : WRIT_EXIT_NEGATIVE;
}
