/* writ ledger list, show, export: the calls of a ledger and their records. */
#include "base/text.h"
#include "cli/cli.h"
#include "cli/exports.h"
#include "cli/put.h"
#include "evidence/extension.h"
#include "evidence/reason.h"
#include "evidence/record.h"
#include "evidence/write.h"
#include "store/reader.h"

#define LINE_MAX     ((size_t)4 << 20) /* bytes of one record with what is printed around it */
#define SHOW_ARENA   ((size_t)32 << 20)
#define EXPORT_ARENA ((size_t)4 << 30) /* ids of all decisions of one boundary */
#define LIST_HEADER                                                                                \
    "TIME                         VERDICT   OUTCOME    AGENT  UPSTREAM  TOOL  REASON  RUN  "       \
    "DECISION\n"
#define LIST_LIMIT 50
#define LIMIT_MOST 1000000000

static void
put_record(struct writ_write *w, const char *name, struct writ_view record)
{
    writ_write_name(w, writ_view_str(name));
    if (record.ptr == NULL) {
        writ_write_null(w);
    } else {
        writ_write_raw(w, record);
    }
}

/* ---- list ---- */

struct listing {
    const struct writ_cli *cli;
    struct writ_view begin;           /* --json: what stands before the first element */
    struct writ_reader *records;      /* list: where the record of a decision is looked up */
    struct writ_view reason, outcome; /* list: only these; empty: any */
    uint64_t count, most;             /* most: of a list; 0: all */
    writ_result failed;
};

/* A line of a list: what the row says, and what the record of the decision adds. */
struct line {
    const struct writ_reader_item *item;
    struct writ_view upstream, reason; /* of the arena; empty where the record has none */
    bool shadow;
};

/* What stands before the next element; nothing is printed before there is something to print. */
static struct writ_view
separator(const struct listing *listing)
{
    if (!listing->cli->json) {
        return WRIT_LIT("");
    }
    return listing->count == 0 ? listing->begin : WRIT_LIT(",");
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

/* A record that cannot be read adds nothing: `writ ledger verify` says what is wrong with it. */
static struct line
line_of(
    const struct listing *listing, const struct writ_reader_item *item, struct writ_arena *arena)
{
    struct line line = {.item = item};
    struct writ_reader_call call = {0};
    const struct writ_json *value = NULL;
    struct writ_decision d = {0};
    struct writ_extension ours = {0};

    if (writ_is_ok(writ_reader_show(listing->records, item->decision_id, arena, &call, NULL)) &&
        writ_is_ok(writ_json_read(call.decision, &writ_json_limits_default, arena, &value, NULL)) &&
        writ_is_ok(writ_decision_read(value, arena, &d, NULL)) &&
        writ_is_ok(writ_extension_read(&d.extensions, arena, &ours, NULL))) {
        line.upstream = writ_member_view(&ours.upstream);
        line.reason = writ_member_view(&ours.reason);
        line.shadow = ours.shadow.is == WRIT_PRESENT;
    }
    return line;
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
    writ_write_text_or_null(&w, "decision", writ_decision_route_name(item->route));
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
        WRIT_VIEW_ARG(line->shadow ? WRIT_LIT("shadow") : writ_decision_route_name(item->route)),
        WRIT_VIEW_ARG(outcome.len > 0 ? outcome : WRIT_LIT("-")));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        writ_buf_str(out, "  ");
        writ_put_plain(out, names[i].len > 0 ? names[i] : WRIT_LIT("-"));
    }
    writ_buf_byte(out, '\n');
}

static bool
is_wanted(const struct listing *listing, const struct line *line)
{
    return (listing->reason.len == 0 || writ_view_equal(listing->reason, line->reason)) &&
           (listing->outcome.len == 0 || writ_view_equal(listing->outcome, outcome_of(line->item)));
}

static bool
list_one(void *ctx, const struct writ_reader_item *item)
{
    struct listing *listing = ctx;
    writ_auto_arena arena = writ_arena_new(SHOW_ARENA);
    writ_auto_buf text = writ_buf_make(LINE_MAX);
    struct line line;

    if (arena == NULL) {
        listing->failed = (writ_result){WRIT_E_NOMEM};
        return false;
    }
    line = line_of(listing, item, arena);
    if (!is_wanted(listing, &line)) {
        return true;
    }
    writ_buf_put(&text, separator(listing));
    if (listing->cli->json) {
        list_json(&text, &line);
    } else {
        writ_buf_str(&text, listing->count == 0 ? LIST_HEADER : "");
        list_text(&text, &line);
    }
    listing->count++;
    listing->failed = writ_buf_check(&text, NULL);
    writ_cli_put(writ_buf_view(&text));
    return writ_is_ok(listing->failed) && (listing->most == 0 || listing->count < listing->most);
}

static writ_result
read_route(struct writ_view word, struct writ_reader_filter *filter, struct writ_err *err)
{
    static const enum writ_decision_route routes[] = {WRIT_DECISION_DENY, WRIT_DECISION_ALLOW,
        WRIT_DECISION_REQUIRE_APPROVAL, WRIT_DECISION_REVISE};

    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
        if (writ_view_equal(word, writ_decision_route_name(routes[i]))) {
            filter->has_route = true;
            filter->route = routes[i];
            return WRIT_DONE;
        }
    }
    WRIT_FAIL(err, WRIT_E_INVALID, "--decision is allow, deny, require_approval or revise");
}

static writ_result
read_wanted(const struct writ_cli *cli, struct listing *ret, struct writ_err *err)
{
    static const char *const outcomes[] = {
        "executed", "error", "blocked", "timeout", "in_flight", "replaced"};
    struct writ_view outcome = writ_cli_get(cli, "outcome"), reason = writ_cli_get(cli, "reason");
    bool known = outcome.ptr == NULL;

    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++) {
        known = known || writ_view_is(outcome, outcomes[i]);
    }
    if (!known) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "--outcome is executed, error, blocked, timeout, in_flight or replaced");
    }
    if (reason.ptr != NULL && writ_reason_find(reason) == WRIT_REASON_NONE) {
        WRIT_FAIL(err, WRIT_E_INVALID, "--reason is a name of docs/reasons.md");
    }
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
    uint64_t most = LIST_LIMIT;

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
        WRIT_FAIL(err, WRIT_E_INVALID, "--since is a time such as 2026-06-25T05:00:00Z");
    }
    if (until.ptr != NULL && !writ_is_ok(writ_time_read(until, &ret->until_us))) {
        WRIT_FAIL(err, WRIT_E_INVALID, "--until is a time such as 2026-06-25T05:00:00Z");
    }
    if (limit.ptr != NULL && !writ_is_ok(writ_text_u64(limit, 0, LIMIT_MOST, &most))) {
        WRIT_FAIL(err, WRIT_E_INVALID, "--limit is a number from 0 to %d", LIMIT_MOST);
    }
    *ret_most = (size_t)most;
    return WRIT_DONE;
}

static writ_result
list_all(const struct writ_cli *cli, const struct writ_reader_filter *filter,
    struct listing *listing, struct writ_err *err)
{
    writ_auto_reader reader = NULL;
    writ_auto_reader records = NULL;

    WRIT_TRY(writ_reader_open(writ_cli_operand(cli, 0).ptr, &reader, err));
    WRIT_TRY(writ_reader_open(writ_cli_operand(cli, 0).ptr, &records, err));
    listing->records = records;
    WRIT_TRY(writ_reader_list(reader, filter, list_one, listing, err));
    return listing->failed;
}

enum writ_exit
writ_command_ledger_list(const struct writ_cli *cli)
{
    struct listing listing = {
        .cli = cli, .begin = WRIT_LIT("{\"decisions\":["), .failed = WRIT_DONE};
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
    result = list_all(cli, &filter, &listing, &err);
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    if (cli->json) {
        writ_cli_put(listing.count == 0 ? listing.begin : WRIT_LIT(""));
        writ_cli_put(WRIT_LIT("]}\n"));
    }
    return WRIT_EXIT_OK;
}

/* ---- show ---- */

static void
show_json(struct writ_buf *out, const struct writ_reader_call *call)
{
    struct writ_write w = writ_write_to(out);

    writ_write_object_begin(&w);
    writ_write_count(&w, "leaf", call->leaf);
    writ_write_text_or_null(&w, "tenant", call->tenant);
    writ_write_text_or_null(&w, "boundary_id", call->boundary_id);
    put_record(&w, "decision", call->decision);
    writ_write_name(&w, WRIT_LIT("outcome_leaf"));
    if (call->has_outcome) {
        writ_write_u64(&w, call->outcome_leaf);
    } else {
        writ_write_null(&w);
    }
    put_record(&w, "outcome", call->outcome);
    writ_write_text_or_null(&w, "superseded_by", call->superseded_by);
    writ_write_flag(&w, "sealed", call->sealed);
    put_record(&w, "seal", call->seal);
    writ_write_object_end(&w);
    (void)writ_is_ok(writ_write_end(&w, NULL)); /* a failure stays in the buffer */
    writ_buf_byte(out, '\n');
}

/* The members of a record, one line each. */
static void
show_record(struct writ_buf *out, struct writ_view title, uint64_t leaf, struct writ_view record,
    struct writ_arena *arena)
{
    const struct writ_json *value = NULL;

    writ_buf_fmt(
        out, WRIT_VIEW_FMT " (record %llu)\n", WRIT_VIEW_ARG(title), (unsigned long long)leaf);
    if (!writ_is_ok(writ_json_read(record, &writ_json_limits_default, arena, &value, NULL))) {
        writ_buf_str(out, "  not readable: see `writ ledger verify`\n");
        return;
    }
    WRIT_JSON_EACH(name, value)
    {
        writ_buf_str(out, "  ");
        writ_put_plain(out, writ_json_string(name));
        writ_buf_byte(out, ' ');
        writ_put_json(out, writ_json_value(name));
        writ_buf_byte(out, '\n');
    }
}

static void
show_text(struct writ_buf *out, const struct writ_reader_call *call, struct writ_arena *arena)
{
    show_record(out, WRIT_LIT("decision"), call->leaf, call->decision, arena);
    if (call->has_outcome) {
        show_record(out, WRIT_LIT("outcome"), call->outcome_leaf, call->outcome, arena);
    } else if (call->superseded_by.len > 0) {
        writ_buf_str(out, "the next round has the outcome: ");
        writ_put_plain(out, call->superseded_by);
        writ_buf_byte(out, '\n');
    } else {
        writ_buf_str(out, "no outcome yet\n");
    }
    if (call->sealed) {
        show_record(out, WRIT_LIT("seal of its boundary"), call->seal_leaf, call->seal, arena);
    } else {
        writ_buf_str(out, "its boundary is open\n");
    }
}

enum writ_exit
writ_command_ledger_show(const struct writ_cli *cli)
{
    writ_auto_reader reader = NULL;
    writ_auto_arena arena = writ_arena_new(SHOW_ARENA);
    writ_auto_buf out = writ_buf_make(2 * LINE_MAX);
    struct writ_reader_call call = {0};
    struct writ_err err = {0};
    writ_result result = writ_reader_open(writ_cli_operand(cli, 0).ptr, &reader, &err);

    if (writ_is_ok(result)) {
        result = arena == NULL
                     ? (writ_result){WRIT_E_NOMEM}
                     : writ_reader_show(reader, writ_cli_operand(cli, 1), arena, &call, &err);
    }
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    if (cli->json) {
        show_json(&out, &call);
    } else {
        show_text(&out, &call, arena);
    }
    result = writ_buf_check(&out, &err);
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    writ_cli_put(writ_buf_view(&out));
    return WRIT_EXIT_OK;
}

/* ---- export ---- */

static bool
export_one(void *ctx, uint64_t leaf, enum writ_reader_kind kind, struct writ_view record)
{
    static const char *const kinds[] = {
        [WRIT_READER_NONE] = "none",
        [WRIT_READER_DECISION] = "decision",
        [WRIT_READER_OUTCOME] = "outcome",
        [WRIT_READER_SEAL] = "seal",
        [WRIT_READER_REVIEW] = "review",
    };
    struct listing *listing = ctx;
    writ_auto_buf line = writ_buf_make(LINE_MAX);
    struct writ_write w;

    writ_buf_put(&line, separator(listing));
    w = writ_write_to(&line);
    writ_write_object_begin(&w);
    writ_write_count(&w, "leaf", leaf);
    writ_write_text_or_null(&w, "kind", writ_view_str(kinds[kind]));
    put_record(&w, "record", record);
    writ_write_object_end(&w);
    (void)writ_is_ok(writ_write_end(&w, NULL)); /* a failure stays in the buffer */
    writ_buf_str(&line, listing->cli->json ? "" : "\n");
    listing->count++;
    listing->failed = writ_buf_check(&line, NULL);
    writ_cli_put(writ_buf_view(&line));
    return writ_is_ok(listing->failed);
}

static writ_result
export_end(
    const struct listing *listing, const struct writ_completeness *report, struct writ_err *err)
{
    writ_auto_buf line = writ_buf_make(LINE_MAX);
    bool json = listing->cli->json;

    writ_buf_put(&line, json && listing->count == 0 ? listing->begin : WRIT_LIT(""));
    writ_buf_str(&line, json ? "],\"completeness\":" : "{\"kind\":\"completeness\",\"report\":");
    WRIT_TRY(writ_completeness_put(report, &line, err));
    writ_buf_str(&line, "}\n");
    WRIT_TRY(writ_buf_check(&line, err));
    writ_cli_put(writ_buf_view(&line));
    return WRIT_DONE;
}

enum writ_exit
writ_command_ledger_export(const struct writ_cli *cli)
{
    writ_auto_reader reader = NULL;
    writ_auto_arena arena = writ_arena_new(EXPORT_ARENA);
    struct listing listing = {.cli = cli, .begin = WRIT_LIT("{\"records\":["), .failed = WRIT_DONE};
    struct writ_completeness report = {0};
    struct writ_err err = {0};
    writ_result result;

    if (writ_exports_is_asked(cli)) {
        return writ_exports_bundle(cli);
    }
    result = writ_reader_open(writ_cli_operand(cli, 0).ptr, &reader, &err);
    if (writ_is_ok(result) && arena == NULL) {
        result = (writ_result){WRIT_E_NOMEM};
    }
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    result = writ_reader_export(reader, writ_cli_get(cli, "tenant"), writ_cli_operand(cli, 1),
        export_one, &listing, arena, &report, &err);
    if (writ_is_ok(result)) {
        result = listing.failed;
    }
    if (writ_is_ok(result)) {
        result = export_end(&listing, &report, &err);
    }
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    return report.whole ? WRIT_EXIT_OK : WRIT_EXIT_NEGATIVE;
}
