/* writ ledger ...: makes a ledger, and looks at one. */
#include "base/text.h"
#include "cli/cli.h"
#include "cli/exports.h"
#include "evidence/write.h"
#include "gateway/anchor.h"
#include "store/keydir.h"
#include "store/ledger.h"
#include "store/proofs.h"
#include "store/reader.h"
#include "store/verify.h"

#include <unistd.h>

#define LINE_MAX      ((size_t)4 << 20) /* bytes of one record with what is printed around it */
#define SHOW_ARENA    ((size_t)32 << 20)
#define EXPORT_ARENA  ((size_t)4 << 30) /* ids of all decisions of one boundary */
#define LIST_LIMIT    50
#define LIMIT_MOST    1000000000
#define SAFE_MAX      200 /* bytes of one name in a line for people */
#define PROGRESS_EACH 65536

static void
put_member(struct writ_write *w, const char *name, struct writ_view text)
{
    writ_write_name(w, writ_view_str(name));
    writ_write_string_or_null(w, text);
}

static void
put_count(struct writ_write *w, const char *name, uint64_t count)
{
    writ_write_name(w, writ_view_str(name));
    writ_write_u64(w, count);
}

static void
put_flag(struct writ_write *w, const char *name, bool flag)
{
    writ_write_name(w, writ_view_str(name));
    writ_write_bool(w, flag);
}

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

/* A name in a line for people: as it is when it is plain, else as a JSON string without anything
 * that a terminal would act on. */
static void
put_name(struct writ_buf *line, struct writ_view name)
{
    bool plain = name.len > 0 && name.len <= SAFE_MAX;

    for (size_t i = 0; i < name.len && plain; i++) {
        plain = name.ptr[i] > ' ' && name.ptr[i] < 0x7f;
    }
    if (plain) {
        writ_buf_put(line, name);
    } else {
        writ_text_json_safe(line, name, SAFE_MAX);
    }
}

/* ---- init ---- */

enum writ_exit
writ_command_ledger_init(const struct writ_cli *cli)
{
    struct writ_view path = writ_cli_operand(cli, 0);
    writ_auto_buf line = writ_buf_make(LINE_MAX);
    struct writ_err err = {0};
    writ_result result = writ_ledger_create(path.ptr, cli->clock, &err);

    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    if (cli->json) {
        struct writ_write w = writ_write_to(&line);

        writ_write_object_begin(&w);
        put_member(&w, "created", path);
        writ_write_object_end(&w);
        (void)writ_is_ok(writ_write_end(&w, NULL)); /* a failure stays in the buffer */
    } else {
        writ_buf_str(&line, "created ");
        put_name(&line, path);
    }
    writ_buf_byte(&line, '\n');
    result = writ_buf_check(&line, &err);
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    writ_cli_put(writ_buf_view(&line));
    return WRIT_EXIT_OK;
}

/* ---- list ---- */

struct listing {
    const struct writ_cli *cli;
    struct writ_view begin; /* --json: what stands before the first element */
    uint64_t count;
    writ_result failed;
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

static void
list_json(struct writ_buf *line, const struct writ_reader_item *item)
{
    struct writ_write w = writ_write_to(line);
    char issued[WRIT_TIME_TEXT];

    writ_time_format(item->issued_at_us, issued);
    writ_write_object_begin(&w);
    put_count(&w, "leaf", item->leaf);
    put_member(&w, "decision_id", item->decision_id);
    put_member(&w, "decision", writ_decision_route_name(item->route));
    put_flag(&w, "granted", item->granted);
    put_member(&w, "outcome",
        item->has_outcome ? writ_outcome_kind_name(item->outcome) : writ_view(NULL, 0));
    put_flag(&w, "superseded", item->superseded);
    put_member(&w, "issued_at", writ_view_str(issued));
    put_member(&w, "tenant", item->tenant);
    put_member(&w, "agent_id", item->agent_id);
    put_member(&w, "tool", item->tool);
    put_member(&w, "boundary_id", item->boundary_id);
    put_count(&w, "seq", item->seq);
    put_flag(&w, "sealed", item->sealed);
    writ_write_object_end(&w);
    (void)writ_is_ok(writ_write_end(&w, NULL)); /* a failure stays in the buffer */
}

static void
list_text(struct writ_buf *line, const struct writ_reader_item *item)
{
    const struct writ_view names[] = {
        item->agent_id, item->tool, item->boundary_id, item->decision_id};
    struct writ_view outcome = item->has_outcome  ? writ_outcome_kind_name(item->outcome)
                               : item->superseded ? WRIT_LIT("replaced")
                                                  : WRIT_LIT("in flight");
    char issued[WRIT_TIME_TEXT];

    writ_time_format(item->issued_at_us, issued);
    writ_buf_fmt(line, "%s  %-8.*s  %-9.*s", issued,
        WRIT_VIEW_ARG(writ_decision_route_name(item->route)), WRIT_VIEW_ARG(outcome));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        writ_buf_str(line, "  ");
        put_name(line, names[i]);
    }
    writ_buf_byte(line, '\n');
}

static bool
list_one(void *ctx, const struct writ_reader_item *item)
{
    struct listing *listing = ctx;
    writ_auto_buf line = writ_buf_make(LINE_MAX);

    writ_buf_put(&line, separator(listing));
    if (listing->cli->json) {
        list_json(&line, item);
    } else {
        list_text(&line, item);
    }
    listing->count++;
    listing->failed = writ_buf_check(&line, NULL);
    writ_cli_put(writ_buf_view(&line));
    return writ_is_ok(listing->failed);
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
read_filter(const struct writ_cli *cli, struct writ_reader_filter *ret, struct writ_err *err)
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
    ret->limit = (size_t)most;
    return WRIT_DONE;
}

enum writ_exit
writ_command_ledger_list(const struct writ_cli *cli)
{
    writ_auto_reader reader = NULL;
    struct listing listing = {
        .cli = cli, .begin = WRIT_LIT("{\"decisions\":["), .failed = WRIT_DONE};
    struct writ_reader_filter filter;
    struct writ_err err = {0};
    writ_result result = read_filter(cli, &filter, &err);

    if (!writ_is_ok(result)) {
        return writ_cli_usage(cli, "%s", err.text);
    }
    result = writ_reader_open(writ_cli_operand(cli, 0).ptr, &reader, &err);
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    result = writ_reader_list(reader, &filter, list_one, &listing, &err);
    if (writ_is_ok(result)) {
        result = listing.failed;
    }
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
    put_count(&w, "leaf", call->leaf);
    put_member(&w, "tenant", call->tenant);
    put_member(&w, "boundary_id", call->boundary_id);
    put_record(&w, "decision", call->decision);
    writ_write_name(&w, WRIT_LIT("outcome_leaf"));
    if (call->has_outcome) {
        writ_write_u64(&w, call->outcome_leaf);
    } else {
        writ_write_null(&w);
    }
    put_record(&w, "outcome", call->outcome);
    put_member(&w, "superseded_by", call->superseded_by);
    put_flag(&w, "sealed", call->sealed);
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
        struct writ_write w;

        writ_buf_str(out, "  ");
        put_name(out, writ_json_string(name));
        writ_buf_byte(out, ' ');
        w = writ_write_to(out);
        writ_write_value(&w, writ_json_value(name));
        (void)writ_is_ok(writ_write_end(&w, NULL)); /* a failure stays in the buffer */
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
        put_name(out, call->superseded_by);
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

/* ---- verify ---- */

/* On a terminal one line that is written over again. */
static bool
show_progress(void *ctx, uint64_t done, uint64_t all)
{
    (void)ctx;
    if (done % PROGRESS_EACH == 0 || done == all) {
        writ_auto_buf line = writ_buf_make(128);

        writ_buf_fmt(&line, "\r%llu of %llu records%s", (unsigned long long)done,
            (unsigned long long)all, done == all ? "\n" : "");
        (void)!write(STDERR_FILENO, line.ptr, line.len); /* only for the eye */
    }
    return true;
}

static void
verify_json(struct writ_buf *out, const struct writ_verify_report *report)
{
    struct writ_write w = writ_write_to(out);

    writ_write_object_begin(&w);
    put_flag(&w, "sound", report->problems == 0);
    put_count(&w, "records", report->records);
    put_count(&w, "decisions", report->decisions);
    put_count(&w, "outcomes", report->outcomes);
    put_count(&w, "seals", report->seals);
    put_count(&w, "review_events", report->reviews);
    put_count(&w, "boundaries", report->boundaries);
    put_count(&w, "sealed", report->sealed);
    put_count(&w, "in_flight", report->in_flight);
    put_count(&w, "checkpoints", report->checkpoints);
    put_flag(&w, "signatures_verified", report->is_signed);
    put_count(&w, "late", report->late);
    put_count(&w, "problem_count", report->problems);
    writ_write_name(&w, WRIT_LIT("problems"));
    writ_write_array_begin(&w);
    for (size_t i = 0; i < report->problems && i < WRIT_VERIFY_PROBLEMS; i++) {
        writ_write_object_begin(&w);
        put_count(&w, "leaf", report->list[i].leaf);
        put_member(&w, "what", writ_view_str(report->list[i].what));
        writ_write_object_end(&w);
    }
    writ_write_array_end(&w);
    writ_write_object_end(&w);
    (void)writ_is_ok(writ_write_end(&w, NULL)); /* a failure stays in the buffer */
    writ_buf_byte(out, '\n');
}

static void
verify_text(struct writ_buf *out, const struct writ_verify_report *report)
{
    for (size_t i = 0; i < report->problems && i < WRIT_VERIFY_PROBLEMS; i++) {
        writ_buf_fmt(out, "record %llu: ", (unsigned long long)report->list[i].leaf);
        writ_buf_str(out, report->list[i].what);
        writ_buf_byte(out, '\n');
    }
    if (report->problems > WRIT_VERIFY_PROBLEMS) {
        writ_buf_fmt(out, "... and %llu more\n",
            (unsigned long long)(report->problems - WRIT_VERIFY_PROBLEMS));
    }
    writ_buf_fmt(out,
        "%s: %llu records: %llu decisions, %llu outcomes, %llu seals, %llu events of reviews; %llu "
        "boundaries, %llu sealed; %llu calls in flight; %llu checkpoints, %s",
        report->problems == 0 ? "sound" : "NOT SOUND", (unsigned long long)report->records,
        (unsigned long long)report->decisions, (unsigned long long)report->outcomes,
        (unsigned long long)report->seals, (unsigned long long)report->reviews,
        (unsigned long long)report->boundaries, (unsigned long long)report->sealed,
        (unsigned long long)report->in_flight, (unsigned long long)report->checkpoints,
        report->is_signed ? "all signed by its keys" : "signatures not verified (--keys)");
    if (report->late > 0) {
        writ_buf_fmt(out, "; %llu by one that was revoked by then, under a later one by another",
            (unsigned long long)report->late);
    }
    writ_buf_byte(out, '\n');
}

static WRIT_RESULT
verify(const struct writ_cli *cli, struct writ_verify_report *report, struct writ_err *err)
{
    writ_auto_keyring ring = NULL;
    struct writ_view keys = writ_cli_get(cli, "keys");
    bool watched = !cli->json && isatty(STDERR_FILENO) != 0;

    if (keys.ptr != NULL) {
        WRIT_TRY(writ_keydir_list(keys.ptr, &ring, err));
    }
    return writ_verify_ledger(
        writ_cli_operand(cli, 0).ptr, ring, watched ? show_progress : NULL, NULL, report, err);
}

enum writ_exit
writ_command_ledger_verify(const struct writ_cli *cli)
{
    writ_auto_buf out = writ_buf_make(LINE_MAX);
    struct writ_verify_report report = {0};
    struct writ_err err = {0};
    writ_result result = verify(cli, &report, &err);

    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    if (cli->json) {
        verify_json(&out, &report);
    } else {
        verify_text(&out, &report);
    }
    result = writ_buf_check(&out, &err);
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    writ_cli_put(writ_buf_view(&out));
    return report.problems == 0 ? WRIT_EXIT_OK : WRIT_EXIT_NEGATIVE;
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
    put_count(&w, "leaf", leaf);
    put_member(&w, "kind", writ_view_str(kinds[kind]));
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

/* ---- checkpoint, key ---- */

static void
checkpoint_json(struct writ_buf *out, const struct writ_checkpoint *head, struct writ_view note)
{
    struct writ_write w = writ_write_to(out);
    char root[WRIT_DIGEST_TEXT];

    writ_digest_text(&head->root, root);
    writ_write_object_begin(&w);
    put_member(&w, "origin", head->origin);
    put_count(&w, "size", head->size);
    put_member(&w, "root", writ_view_str(root));
    put_member(&w, "checkpoint", note);
    writ_write_object_end(&w);
    (void)writ_is_ok(writ_write_end(&w, NULL)); /* a failure stays in the buffer */
    writ_buf_byte(out, '\n');
}

static WRIT_RESULT
run_checkpoint(const struct writ_cli *cli, struct writ_err *err)
{
    const struct writ_anchor anchor = {
        .to = writ_cli_get(cli, "to").ptr, .ca = writ_cli_get(cli, "ca").ptr};
    writ_auto_keyring ring = NULL;
    writ_auto_proofs proofs = NULL;
    writ_auto_buf out = writ_buf_make(LINE_MAX);
    struct writ_checkpoint head;
    struct writ_view note;

    WRIT_TRY(writ_keydir_list(writ_cli_get(cli, "keys").ptr, &ring, err));
    WRIT_TRY(writ_proofs_open(writ_cli_operand(cli, 0).ptr, ring, &proofs, err));
    if (anchor.to != NULL) {
        WRIT_TRY(writ_anchor_send(&anchor, proofs, NULL, &head, &note, err));
    } else {
        WRIT_TRY(writ_proofs_head(proofs, &head, &note, err));
    }
    if (cli->json) {
        checkpoint_json(&out, &head, note);
    } else if (anchor.to != NULL) {
        writ_buf_fmt(&out, WRIT_VIEW_FMT " %llu\n", WRIT_VIEW_ARG(head.origin),
            (unsigned long long)head.size);
    } else {
        writ_buf_put(&out, note);
    }
    WRIT_TRY(writ_buf_check(&out, err));
    writ_cli_put(writ_buf_view(&out));
    return WRIT_DONE;
}

/* The revoked keys of the ledger, with `w` as members of an array; else as lines that no reader of
 * keys takes for a key. */
static WRIT_RESULT
put_revoked(struct writ_buf *out, struct writ_write *w, const struct writ_keyring *ring,
    struct writ_view origin, struct writ_err *err)
{
    for (size_t i = 0; i < writ_keyring_count(ring); i++) {
        const struct writ_keyring_key *key = writ_keyring_key(ring, i);
        writ_auto_note_key named = NULL;
        char room[WRIT_NOTE_KEY_TEXT_MAX], since[WRIT_TIME_TEXT];
        struct writ_buf vkey = writ_buf_over(room, sizeof room);

        if (key->purpose != WRIT_KEY_PURPOSE_LEDGER || key->state != WRIT_KEY_STATE_REVOKED) {
            continue;
        }
        WRIT_TRY(writ_checkpoint_key(origin, key->public, &named, err));
        writ_note_key_put(&vkey, named);
        WRIT_TRY(writ_buf_check(&vkey, err));
        writ_time_format(key->revoked_us, since);
        if (w == NULL) {
            writ_buf_fmt(out, "# revoked since %s: " WRIT_VIEW_FMT "\n", since,
                WRIT_VIEW_ARG(writ_buf_view(&vkey)));
            continue;
        }
        writ_write_object_begin(w);
        put_member(w, "key", writ_buf_view(&vkey));
        put_member(w, "revoked_since", writ_view_str(since));
        writ_write_object_end(w);
    }
    return WRIT_DONE;
}

/* `ring` NULL: nothing is said of revoked keys. */
static WRIT_RESULT
key_json(struct writ_buf *out, struct writ_view lines, const struct writ_keyring *ring,
    struct writ_view origin, struct writ_err *err)
{
    struct writ_write w = writ_write_to(out);

    writ_write_object_begin(&w);
    writ_write_name(&w, WRIT_LIT("keys"));
    writ_write_array_begin(&w);
    while (lines.len > 0) {
        size_t end = writ_view_find(lines, '\n');

        writ_write_string(&w, writ_view_sub(lines, 0, end));
        lines = writ_view_sub(lines, end + 1, lines.len);
    }
    writ_write_array_end(&w);
    if (ring != NULL) {
        writ_write_name(&w, WRIT_LIT("revoked"));
        writ_write_array_begin(&w);
        WRIT_TRY(put_revoked(out, &w, ring, origin, err));
        writ_write_array_end(&w);
    }
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, err));
    writ_buf_byte(out, '\n');
    return writ_buf_check(out, err);
}

static WRIT_RESULT
run_key(const struct writ_cli *cli, struct writ_err *err)
{
    writ_auto_keyring ring = NULL;
    writ_auto_proofs proofs = NULL;
    writ_auto_buf lines = writ_buf_make(LINE_MAX);
    writ_auto_buf json = writ_buf_make(LINE_MAX);
    bool history = writ_cli_has(cli, "history");
    struct writ_view origin;

    WRIT_TRY(writ_keydir_list(writ_cli_get(cli, "keys").ptr, &ring, err));
    WRIT_TRY(writ_proofs_open(writ_cli_operand(cli, 0).ptr, NULL, &proofs, err));
    origin = writ_proofs_origin(proofs);
    WRIT_TRY(writ_checkpoint_keys(ring, origin, history, &lines, err));
    if (lines.len == 0) {
        WRIT_FAIL(err, WRIT_E_ABSENT,
            "no key for the ledger in the key directory: make one with `writ keys new`");
    }
    if (cli->json) {
        WRIT_TRY(key_json(&json, writ_buf_view(&lines), history ? ring : NULL, origin, err));
    } else if (history) {
        WRIT_TRY(put_revoked(&lines, NULL, ring, origin, err));
        WRIT_TRY(writ_buf_check(&lines, err));
    }
    writ_cli_put(writ_buf_view(cli->json ? &json : &lines));
    return WRIT_DONE;
}

enum writ_exit
writ_command_ledger_checkpoint(const struct writ_cli *cli)
{
    if (writ_cli_has(cli, "ca") && !writ_anchor_is_url(writ_cli_get(cli, "to"))) {
        return writ_cli_usage(cli, "--ca is for a URL");
    }
    return writ_cli_do(cli, run_checkpoint);
}

enum writ_exit
writ_command_ledger_key(const struct writ_cli *cli)
{
    return writ_cli_do(cli, run_key);
}
