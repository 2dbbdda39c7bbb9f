/* writ ledger show, export: calls of a ledger with their records, as the ledger has them. The
 * ledger is read and never changed. */
#include "cli/base/print.h"
#include "cli/base/progress.h"
#include "cli/commands/archive_option.h"
#include "cli/commands/exports.h"
#include "evidence/json/write.h"
#include "evidence/proof/detached_record.h"
#include "gateway/admin/contents_answer.h"
#include "store/read/reader.h"

#define LINE_MAX     ((size_t)4 << 20) /* bytes of one record with what is printed around it */
#define SHOW_ARENA   ((size_t)32 << 20)
#define EXPORT_ARENA ((size_t)4 << 30) /* ids of all decisions of one boundary */

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

/* ---- show ---- */

/* Whether arguments and result are kept: no key is used. */
struct kept {
    const char *arguments, *result;
};

static WRIT_RESULT
read_kept(
    const struct writ_cli *cli, struct writ_arena *arena, struct kept *ret, struct writ_err *err)
{
    writ_auto_contents contents = NULL;
    struct writ_contents_call call;

    WRIT_TRY(writ_contents_open(writ_cli_operand(cli, 0).ptr, NULL, cli->clock, &contents, err));
    writ_result got = writ_contents_get(contents, writ_cli_operand(cli, 1), arena, &call, err);

    if (got.code == WRIT_E_ABSENT && writ_cli_has(cli, "archive")) {
        call = (struct writ_contents_call){0}; /* they go before the records do */
        got = WRIT_DONE;
    }
    WRIT_TRY(got);
    ret->arguments = writ_contents_answer_unread(call.arguments.state);
    ret->result = writ_contents_answer_unread(call.result.state);
    return WRIT_DONE;
}

static void
show_json(struct writ_buf *out, const struct writ_reader_call *call, const struct kept *kept)
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
    writ_write_name(&w, WRIT_LIT("contents"));
    writ_write_object_begin(&w);
    writ_write_text(&w, "arguments", writ_view_str(kept->arguments));
    writ_write_text(&w, "result", writ_view_str(kept->result));
    writ_write_object_end(&w);
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
        writ_buf_str(out, "  not readable: run `writ ledger verify`\n");
        return;
    }
    WRIT_JSON_EACH(name, value)
    {
        writ_buf_str(out, "  ");
        writ_print_plain(out, writ_json_string(name));
        writ_buf_byte(out, ' ');
        writ_print_json(out, writ_json_value(name));
        writ_buf_byte(out, '\n');
    }
}

static void
show_text(struct writ_buf *out, const struct writ_reader_call *call, const struct kept *kept,
    struct writ_arena *arena)
{
    show_record(out, WRIT_LIT("decision"), call->leaf, call->decision, arena);
    if (call->has_outcome) {
        show_record(out, WRIT_LIT("outcome"), call->outcome_leaf, call->outcome, arena);
    } else if (call->superseded_by.len > 0) {
        writ_buf_str(out, "the next round has the outcome: ");
        writ_print_plain(out, call->superseded_by);
        writ_buf_byte(out, '\n');
    } else {
        writ_buf_str(out, "no outcome yet\n");
    }
    if (call->sealed) {
        show_record(out, WRIT_LIT("seal of its boundary"), call->seal_leaf, call->seal, arena);
    } else {
        writ_buf_str(out, "its boundary is open\n");
    }
    writ_buf_fmt(out, "contents: arguments %s, result %s\n", kept->arguments, kept->result);
}

enum writ_exit
writ_command_ledger_show(const struct writ_cli *cli)
{
    writ_auto_reader reader = NULL;
    writ_auto_arena arena = writ_arena_new(SHOW_ARENA);
    writ_auto_buf out = writ_buf_make(2 * LINE_MAX);
    struct writ_reader_call call = {0};
    struct kept kept;
    struct writ_err err = {0};
    writ_result result = writ_archive_option_open(cli,
        (struct writ_joined_order){
            .path = writ_cli_operand(cli, 0).ptr, .decision_id = writ_cli_operand(cli, 1)},
        &reader, &err);

    if (writ_is_ok(result)) {
        result = arena == NULL
                     ? (writ_result){WRIT_E_NOMEM}
                     : writ_reader_show(reader, writ_cli_operand(cli, 1), arena, &call, &err);
    }
    if (writ_is_ok(result)) {
        result = read_kept(cli, arena, &kept, &err);
    }
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    if (cli->json) {
        show_json(&out, &call, &kept);
    } else {
        show_text(&out, &call, &kept, arena);
    }
    result = writ_buf_check(&out, &err);
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    writ_cli_put(writ_buf_view(&out));
    return WRIT_EXIT_OK;
}

/* ---- export ---- */

struct export
{
    bool json;
    uint64_t count;
    uint64_t first, records; /* the first record of the run; all records of the ledger */
    struct writ_progress progress;
    writ_result failed;
};

/* The text before the next element; nothing is printed before the first one. */
static struct writ_view
separator(const struct export *export)
{
    if (!export->json) {
        return WRIT_LIT("");
    }
    return export->count == 0 ? WRIT_LIT("{\"records\":[") : WRIT_LIT(",");
}

static bool
export_one(void *ctx, uint64_t leaf, enum writ_detached_record_kind kind, struct writ_view record)
{
    struct export *export = ctx;
    writ_auto_buf line = writ_buf_make(LINE_MAX);
    struct writ_write w;

    writ_buf_put(&line, separator(export));
    w = writ_write_to(&line);
    writ_write_object_begin(&w);
    writ_write_count(&w, "leaf", leaf);
    /* the same numbers: core/store/read/receipts.c asserts it */
    writ_write_text_or_null(&w, "kind", writ_detached_record_kind_name(kind));
    put_record(&w, "record", record);
    writ_write_object_end(&w);
    (void)writ_is_ok(writ_write_end(&w, NULL)); /* a failure stays in the buffer */
    writ_buf_str(&line, export->json ? "" : "\n");
    export->first = export->count == 0 ? leaf : export->first;
    export->count++;
    (void)writ_progress_step(
        &export->progress, leaf - export->first + 1, export->records - export->first);
    export->failed = writ_buf_check(&line, NULL);
    writ_cli_put(writ_buf_view(&line));
    return writ_is_ok(export->failed);
}

static writ_result
export_end(
    const struct export *export, const struct writ_completeness *report, struct writ_err *err)
{
    writ_auto_buf line = writ_buf_make(LINE_MAX);

    writ_buf_put(&line, export->count == 0 ? separator(export) : WRIT_LIT(""));
    writ_buf_str(
        &line, export->json ? "],\"completeness\":" : "{\"kind\":\"completeness\",\"report\":");
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
    struct export export = {.json = cli->json, .failed = WRIT_DONE};
    struct writ_reader_extent extent = {0};
    struct writ_completeness report = {0};
    struct writ_err err = {0};
    writ_result result;

    if (writ_exports_is_asked(cli)) {
        return writ_exports_bundle(cli);
    }
    result = writ_archive_option_open(cli,
        (struct writ_joined_order){.path = writ_cli_operand(cli, 0).ptr,
            .boundary_id = writ_cli_operand(cli, 1),
            .tenant = writ_cli_get(cli, "tenant")},
        &reader, &err);
    if (writ_is_ok(result) && arena == NULL) {
        result = (writ_result){WRIT_E_NOMEM};
    }
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    result = writ_reader_extent(reader, 0, &extent, &err);
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    export.records = extent.records;
    export.progress = writ_progress_begin(cli, "records");
    result = writ_reader_export(reader, writ_cli_get(cli, "tenant"), writ_cli_operand(cli, 1),
        export_one, &export, arena, &report, &err);
    writ_progress_end(&export.progress);
    if (writ_is_ok(result)) {
        result = export.failed;
    }
    if (writ_is_ok(result)) {
        result = export_end(&export, &report, &err);
    }
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    return report.whole ? WRIT_EXIT_OK : WRIT_EXIT_NEGATIVE;
}
