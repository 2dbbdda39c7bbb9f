/* writ ledger list: the decisions of a ledger, and with --follow the later ones. The ledger is read
 * and never changed; a gateway may be writing to it. */
#include "base/text.h"
#include "cli/base/print.h"
#include "cli/commands/command.h"
#include "evidence/json/write.h"
#include "evidence/record/extension.h"
#include "evidence/record/reason.h"
#include "evidence/record/record.h"
#include "store/read/reader.h"

#include <signal.h>
#include <stdio.h>

#define LINE_MAX   ((size_t)4 << 20)  /* bytes of one line */
#define LINE_ARENA ((size_t)32 << 20) /* to read the record of one decision */
#define LINES_MAX  ((size_t)4 << 30)  /* --follow: lines that are printed at once */
#define HEADER                                                                                     \
    "TIME                         VERDICT   OUTCOME    AGENT  UPSTREAM  TOOL  REASON  RUN  "       \
    "DECISION\n"
#define LIMIT      50
#define LIMIT_MOST 1000000000
#define LOOK_NS    500000000L /* --follow: between two reads */

/* A call that may still run: its line is printed again when it has ended. */
struct flight {
    struct flight *next;
    uint64_t leaf;
};

/* A line of --follow. */
struct text {
    struct text *next;
    struct writ_view view;
};

struct listing {
    const struct writ_cli *cli;
    struct writ_reader *records;               /* for lookups of a decision's record */
    struct writ_view verdict, reason, outcome; /* only these; empty: any */
    uint64_t count, most;                      /* most: of a list; 0: all */
    bool follows;
    bool again;             /* the lines are of calls that were listed as in flight */
    struct flight *flights; /* --follow */
    struct writ_arena *lines;
    struct text *texts; /* of `lines`: the oldest first */
    writ_result failed;
};

/* A line of a list: the fields of the row, and those of the decision's record. */
struct line {
    const struct writ_reader_item *item;
    struct writ_view upstream, reason; /* of the arena; empty where the record has none */
    bool shadow;
};

/* The text before the next element; nothing is printed before the first one. */
static struct writ_view
separator(const struct listing *listing)
{
    bool first = listing->count == 0;

    if (!listing->cli->json) {
        return first && !listing->follows ? WRIT_LIT(HEADER) : WRIT_LIT("");
    }
    if (listing->follows) {
        return WRIT_LIT("");
    }
    return first ? WRIT_LIT("{\"decisions\":[") : WRIT_LIT(",");
}

/* "in_flight" is a call that may run: it was granted, and has no outcome yet. */
static struct writ_view
outcome_of(const struct writ_reader_item *item)
{
    if (item->has_outcome) {
        return writ_outcome_kind_name(item->outcome);
    }
    if (item->superseded) {
        return WRIT_LIT("replaced");
    }
    return item->granted ? WRIT_LIT("in_flight") : writ_view(NULL, 0);
}

/* An unreadable record adds nothing: `writ ledger verify` reports its fault. */
static struct line
line_of(
    const struct listing *listing, const struct writ_reader_item *item, struct writ_arena *arena)
{
    struct line line = {.item = item};
    struct writ_reader_call call = {0};
    const struct writ_json *value = NULL;
    struct writ_decision d = {0};
    struct writ_extension extension = {0};

    if (writ_is_ok(writ_reader_show(listing->records, item->decision_id, arena, &call, NULL)) &&
        writ_is_ok(writ_json_read(call.decision, &writ_json_limits_default, arena, &value, NULL)) &&
        writ_is_ok(writ_decision_read(value, arena, &d, NULL)) &&
        writ_is_ok(writ_extension_read(&d.extensions, arena, &extension, NULL))) {
        line.upstream = writ_member_view(&extension.upstream);
        line.reason = writ_member_view(&extension.reason);
        line.shadow = extension.shadow.is == WRIT_PRESENT;
    }
    return line;
}

static struct writ_view
verdict_of(const struct line *line)
{
    return writ_reason_verdict(writ_decision_route_name(line->item->route), line->reason);
}

static void
list_json(struct writ_buf *out, const struct line *line)
{
    const struct writ_reader_item *item = line->item;
    struct writ_write w = writ_write_to(out);
    char issued[WRIT_TIME_TEXT];

    writ_time_format(item->issued_at_us, issued);
    writ_write_object_begin(&w);
    writ_write_count(&w, "leaf", item->leaf);
    writ_write_text_or_null(&w, "decision_id", item->decision_id);
    writ_write_text_or_null(&w, "decision", verdict_of(line));
    writ_write_flag(&w, "granted", item->granted);
    writ_write_flag(&w, "shadow", line->shadow);
    writ_write_text_or_null(&w, "reason", line->reason);
    writ_write_text_or_null(&w, "outcome",
        item->has_outcome ? writ_outcome_kind_name(item->outcome) : writ_view(NULL, 0));
    writ_write_flag(&w, "superseded", item->superseded);
    writ_write_text_or_null(&w, "issued_at", writ_view_str(issued));
    writ_write_text_or_null(&w, "tenant", item->tenant);
    writ_write_text_or_null(&w, "agent_id", item->agent_id);
    writ_write_text_or_null(&w, "upstream", line->upstream);
    writ_write_text_or_null(&w, "tool", item->tool);
    writ_write_text_or_null(&w, "boundary_id", item->boundary_id);
    writ_write_count(&w, "seq", item->seq);
    writ_write_flag(&w, "sealed", item->sealed);
    writ_write_object_end(&w);
    (void)writ_is_ok(writ_write_end(&w, NULL)); /* a failure stays in the buffer */
}

static void
list_text(struct writ_buf *out, const struct line *line)
{
    const struct writ_reader_item *item = line->item;
    const struct writ_view names[] = {item->agent_id, line->upstream, item->tool, line->reason,
        item->boundary_id, item->decision_id};
    struct writ_view outcome = outcome_of(item);
    char issued[WRIT_TIME_TEXT];

    writ_time_format(item->issued_at_us, issued);
    writ_buf_fmt(out, "%s  %-8.*s  %-9.*s", issued,
        WRIT_VIEW_ARG(line->shadow ? WRIT_LIT("shadow") : verdict_of(line)),
        WRIT_VIEW_ARG(outcome.len > 0 ? outcome : WRIT_LIT("-")));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        writ_buf_str(out, "  ");
        writ_print_plain(out, names[i].len > 0 ? names[i] : WRIT_LIT("-"));
    }
    writ_buf_byte(out, '\n');
}

static bool
is_wanted(const struct listing *listing, const struct line *line)
{
    return (listing->reason.len == 0 || writ_view_equal(listing->reason, line->reason)) &&
           (listing->verdict.len == 0 || writ_view_equal(listing->verdict, verdict_of(line))) &&
           (listing->outcome.len == 0 || writ_view_equal(listing->outcome, outcome_of(line->item)));
}

static bool
is_in_flight(const struct writ_reader_item *item)
{
    return writ_view_is(outcome_of(item), "in_flight");
}

static WRIT_RESULT
remember_flight(struct listing *listing, const struct writ_reader_item *item)
{
    struct flight *flight = writ_alloc(sizeof *flight);

    if (flight == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    *flight = (struct flight){.next = listing->flights, .leaf = item->leaf};
    listing->flights = flight;
    return WRIT_DONE;
}

/* Lists come newest first, and --follow prints the oldest first. */
static WRIT_RESULT
keep_text(struct listing *listing, struct writ_view view)
{
    struct text *text = writ_arena_get(listing->lines, sizeof *text);

    if (text == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    *text = (struct text){.next = listing->texts, .view = writ_view_copy(view, listing->lines)};
    listing->texts = text;
    return text->view.ptr == NULL ? (writ_result){WRIT_E_NOMEM} : WRIT_DONE;
}

static WRIT_RESULT
put_line(struct listing *listing, const struct line *line)
{
    writ_auto_buf text = writ_buf_make(LINE_MAX);

    writ_buf_put(&text, separator(listing));
    if (listing->cli->json) {
        list_json(&text, line);
        writ_buf_str(&text, listing->follows ? "\n" : "");
    } else {
        list_text(&text, line);
    }
    listing->count++;
    WRIT_TRY(writ_buf_check(&text, NULL));
    if (listing->follows) {
        return keep_text(listing, writ_buf_view(&text));
    }
    writ_cli_put(writ_buf_view(&text));
    return WRIT_DONE;
}

static bool
list_one(void *ctx, const struct writ_reader_item *item)
{
    struct listing *listing = ctx;
    writ_auto_arena arena = writ_arena_new(LINE_ARENA);
    struct line line;

    if (arena == NULL) {
        listing->failed = (writ_result){WRIT_E_NOMEM};
        return false;
    }
    listing->failed = WRIT_DONE;
    if (listing->follows && !listing->again && is_in_flight(item)) {
        listing->failed = remember_flight(listing, item);
    }
    line = line_of(listing, item, arena);
    if (writ_is_ok(listing->failed) && is_wanted(listing, &line)) {
        listing->failed = put_line(listing, &line);
    }
    return writ_is_ok(listing->failed) && (listing->most == 0 || listing->count < listing->most);
}

static writ_result
read_route(struct writ_view word, struct writ_reader_filter *filter, struct writ_err *err)
{
    filter->has_route = writ_decision_route_find(word, &filter->route);
    if (filter->has_route || writ_reason_is_of_run(word)) {
        return WRIT_DONE;
    }
    WRIT_FAIL(err, WRIT_E_INVALID,
        "--decision must be one of " WRIT_DECISION_ROUTES_WITH(
            WRIT_RECORD_WORD, ", ") ", task_stated, content_read");
}

static writ_result
read_wanted(const struct writ_cli *cli, struct listing *ret, struct writ_err *err)
{
    enum writ_outcome_kind kind;
    struct writ_view outcome = writ_cli_get(cli, "outcome"), reason = writ_cli_get(cli, "reason");

    if (outcome.ptr != NULL && !writ_outcome_kind_find(outcome, &kind) &&
        !writ_view_is(outcome, "in_flight") && !writ_view_is(outcome, "replaced")) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "--outcome must be executed, error, blocked, timeout, in_flight or replaced");
    }
    if (reason.ptr != NULL && writ_reason_find(reason) == WRIT_REASON_NONE) {
        WRIT_FAIL(err, WRIT_E_INVALID, "--reason must be a name of docs/reasons.md");
    }
    ret->verdict = writ_cli_get(cli, "decision");
    ret->outcome = outcome;
    ret->reason = reason;
    return WRIT_DONE;
}

static writ_result
read_filter(const struct writ_cli *cli, struct writ_reader_filter *ret, size_t *ret_most,
    struct writ_err *err)
{
    struct writ_view limit = writ_cli_get(cli, "limit"), route = writ_cli_get(cli, "decision");
    struct writ_view since = writ_cli_get(cli, "since"), until = writ_cli_get(cli, "until");
    uint64_t most = LIMIT;

    *ret = (struct writ_reader_filter){
        .tenant = writ_cli_get(cli, "tenant"),
        .boundary_id = writ_cli_get(cli, "boundary"),
        .agent_id = writ_cli_get(cli, "agent"),
        .tool = writ_cli_get(cli, "tool"),
    };
    if (route.ptr != NULL) {
        WRIT_TRY(read_route(route, ret, err));
    }
    if (since.ptr != NULL && !writ_is_ok(writ_time_read(since, &ret->since_us))) {
        WRIT_FAIL(err, WRIT_E_INVALID, "--since must be a time such as 2026-06-25T05:00:00Z");
    }
    if (until.ptr != NULL && !writ_is_ok(writ_time_read(until, &ret->until_us))) {
        WRIT_FAIL(err, WRIT_E_INVALID, "--until must be a time such as 2026-06-25T05:00:00Z");
    }
    if (limit.ptr != NULL && !writ_is_ok(writ_text_u64(limit, 0, LIMIT_MOST, &most))) {
        WRIT_FAIL(err, WRIT_E_INVALID, "--limit must be a number from 0 to %d", LIMIT_MOST);
    }
    *ret_most = (size_t)most;
    return WRIT_DONE;
}

/* ---- --follow */

static void
listing_wipe(struct listing *listing)
{
    while (listing->flights != NULL) {
        struct flight *flight = listing->flights;

        listing->flights = flight->next;
        writ_free(flight);
    }
    writ_reader_close(listing->records);
    writ_arena_free(listing->lines);
}

static void
print_texts(struct listing *listing)
{
    for (const struct text *text = listing->texts; text != NULL; text = text->next) {
        writ_cli_put(text->view);
    }
    (void)fflush(stdout); /* a failure stays in the stream: `follow` ends then */
    listing->texts = NULL;
    writ_arena_reset(listing->lines);
}

static bool
take_leaf(void *ctx, const struct writ_reader_item *item)
{
    *(uint64_t *)ctx = item->leaf + 1;
    return false;
}

static bool
has_landed(void *ctx, const struct writ_reader_item *item)
{
    *(bool *)ctx = !is_in_flight(item);
    return false;
}

/* Calls that were in flight and have ended: their lines again. */
static WRIT_RESULT
list_landed(struct listing *listing, struct writ_reader *reader, struct writ_err *err)
{
    for (struct flight **link = &listing->flights; *link != NULL;) {
        struct flight *flight = *link;
        struct writ_reader_filter one = {
            .from_leaf = flight->leaf, .before_leaf = flight->leaf + 1};
        bool landed = false;

        WRIT_TRY(writ_reader_list(reader, &one, has_landed, &landed, err));
        if (!landed) {
            link = &flight->next;
            continue;
        }
        WRIT_TRY(writ_reader_list(reader, &one, list_one, listing, err));
        WRIT_TRY(listing->failed);
        *link = flight->next;
        writ_free(flight);
    }
    return WRIT_DONE;
}

/* The records since the last read; `next` is the index of the next record. */
static WRIT_RESULT
look(struct listing *listing, struct writ_reader *reader, struct writ_reader_filter *filter,
    uint64_t *next, struct writ_err *err)
{
    const struct writ_reader_filter all = {.limit = 1};
    uint64_t end = *next;

    listing->again = true;
    WRIT_TRY(list_landed(listing, reader, err));
    print_texts(listing);
    listing->again = false;
    WRIT_TRY(writ_reader_list(reader, &all, take_leaf, &end, err));
    if (end > *next) {
        filter->from_leaf = *next;
        filter->before_leaf = end;
        WRIT_TRY(writ_reader_list(reader, filter, list_one, listing, err));
        WRIT_TRY(listing->failed);
        print_texts(listing);
        *next = end;
    }
    return WRIT_DONE;
}

static WRIT_RESULT
follow(struct listing *listing, struct writ_reader *reader, struct writ_reader_filter *filter,
    struct writ_err *err)
{
    const struct timespec pause = {.tv_nsec = LOOK_NS};
    uint64_t next = 0;
    sigset_t ends;

    (void)sigemptyset(&ends);
    (void)sigaddset(&ends, SIGINT);
    (void)sigaddset(&ends, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &ends, NULL);
    listing->lines = writ_arena_new(LINES_MAX);
    if (listing->lines == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a list");
    }
    writ_cli_put(listing->cli->json ? WRIT_LIT("") : WRIT_LIT(HEADER));
    do {
        WRIT_TRY(look(listing, reader, filter, &next, err));
        listing->most = 0; /* the limit applies to the earlier decisions */
    } while (ferror(stdout) == 0 && sigtimedwait(&ends, NULL, &pause) < 0);
    return WRIT_DONE; /* the frame reports output that was lost */
}

/* ---- the command */

static writ_result
list_all(struct writ_reader_filter *filter, struct listing *listing, struct writ_err *err)
{
    const struct writ_cli *cli = listing->cli;
    writ_auto_reader reader = NULL;

    WRIT_TRY(writ_reader_open(writ_cli_operand(cli, 0).ptr, &reader, err));
    WRIT_TRY(writ_reader_open(writ_cli_operand(cli, 0).ptr, &listing->records, err));
    if (listing->follows) {
        return follow(listing, reader, filter, err);
    }
    WRIT_TRY(writ_reader_list(reader, filter, list_one, listing, err));
    WRIT_TRY(listing->failed);
    if (cli->json) {
        writ_cli_put(listing->count == 0 ? separator(listing) : WRIT_LIT(""));
        writ_cli_put(WRIT_LIT("]}\n"));
    }
    return WRIT_DONE;
}

enum writ_exit
writ_command_ledger_list(const struct writ_cli *cli)
{
    WRIT_AUTO(struct listing, listing_wipe)
    listing = {.cli = cli, .follows = writ_cli_has(cli, "follow"), .failed = WRIT_DONE};
    struct writ_reader_filter filter;
    struct writ_err err = {0};
    size_t most = 0;
    writ_result result = read_filter(cli, &filter, &most, &err);

    if (writ_is_ok(result)) {
        result = read_wanted(cli, &listing, &err);
    }
    if (!writ_is_ok(result)) {
        return writ_cli_usage(cli, "%s", err.text);
    }
    listing.most = most;
    result = list_all(&filter, &listing, &err);
    return writ_is_ok(result) ? WRIT_EXIT_OK : writ_cli_fail(cli, result, &err);
}
