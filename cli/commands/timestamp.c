/* writ timestamp query, writ verify timestamp: time stamps of checkpoints (RFC 3161). A stamp
 * covers the bytes of a checkpoint with all its signatures. */
#include "evidence/log/timestamp.h"

#include "cli/base/print.h"
#include "cli/commands/command.h"
#include "evidence/json/write.h"
#include "evidence/log/checkpoint.h"

#include <stdio.h>

#define QUERY_MAX  1024
#define ANSWER_MAX 8192

/* Reads the operand, a checkpoint. The stamp covers its bytes with all signatures; the check of its
 * form protects people from stamping another file. */
static WRIT_RESULT
read_checkpoint(const struct writ_cli *cli, struct writ_buf *ret, struct writ_err *err)
{
    const char *path = writ_cli_operand(cli, 0).ptr;
    struct writ_checkpoint checkpoint;
    struct writ_note note;

    WRIT_TRY(writ_cli_read(path, WRIT_NOTE_BYTES_MAX, ret, err));
    WRIT_TRY(writ_fail_in(err, writ_note_read(writ_buf_view(ret), &note, err), path));
    return writ_fail_in(err, writ_checkpoint_read(note.text, &checkpoint, err), path);
}

static WRIT_RESULT
query_json(struct writ_view query, struct writ_buf *ret, struct writ_err *err)
{
    writ_auto_buf base64 = writ_buf_make(QUERY_MAX * 2);
    struct writ_write w = writ_write_to(ret);

    writ_base64_put(&base64, query);
    WRIT_TRY(writ_buf_check(&base64, err));
    writ_write_object_begin(&w);
    writ_write_text(&w, "query", writ_buf_view(&base64));
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, err));
    writ_buf_byte(ret, '\n');
    return writ_buf_check(ret, err);
}

static WRIT_RESULT
run_query(const struct writ_cli *cli, struct writ_err *err)
{
    writ_auto_buf checkpoint = writ_buf_make(WRIT_NOTE_BYTES_MAX);
    writ_auto_buf query = writ_buf_make(QUERY_MAX);
    writ_auto_buf json = writ_buf_make(ANSWER_MAX);

    WRIT_TRY(read_checkpoint(cli, &checkpoint, err));
    WRIT_TRY(writ_timestamp_query(writ_buf_view(&checkpoint), &query, err));
    if (cli->json) {
        WRIT_TRY(query_json(writ_buf_view(&query), &json, err));
    }
    writ_cli_put(writ_buf_view(cli->json ? &json : &query));
    return WRIT_DONE;
}

enum writ_exit
writ_command_timestamp_query(const struct writ_cli *cli)
{
    struct writ_err err = {0};
    writ_result result = run_query(cli, &err);

    return writ_is_ok(result) ? WRIT_EXIT_OK : writ_cli_fail(cli, result, &err);
}

static void
answer_json(struct writ_buf *out, const char *time, enum writ_reason why, const char *detail)
{
    bool ok = why == WRIT_REASON_EVIDENCE_OK;
    struct writ_write w = writ_write_to(out);

    writ_write_object_begin(&w);
    writ_write_flag(&w, "ok", ok);
    writ_write_text(&w, "reason", ok ? WRIT_LIT("ok") : writ_reason_name(why));
    writ_write_text(&w, "sentence", writ_reason_sentence(why));
    writ_write_text(&w, ok ? "time" : "detail", writ_view_str(ok ? time : detail));
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer keeps the failure */
    writ_buf_byte(out, '\n');
}

static WRIT_RESULT
run_verify(const struct writ_cli *cli, enum writ_reason *ret, struct writ_err *err)
{
    writ_auto_buf checkpoint = writ_buf_make(WRIT_NOTE_BYTES_MAX);
    writ_auto_buf response = writ_buf_make(WRIT_TIMESTAMP_BYTES_MAX);
    writ_auto_buf authorities = writ_buf_make(WRIT_TIMESTAMP_CA_MAX);
    writ_auto_buf out = writ_buf_make(ANSWER_MAX);
    struct writ_timestamp stamp = {0};
    struct writ_err more = {0};
    char time[WRIT_TIME_TEXT];

    WRIT_TRY(read_checkpoint(cli, &checkpoint, err));
    WRIT_TRY(writ_cli_read(writ_cli_operand(cli, 1).ptr, WRIT_TIMESTAMP_BYTES_MAX, &response, err));
    WRIT_TRY(writ_cli_read(writ_cli_get(cli, "ca").ptr, WRIT_TIMESTAMP_CA_MAX, &authorities, err));
    writ_result result = writ_timestamp_verify(writ_buf_view(&checkpoint), writ_buf_view(&response),
        writ_buf_view(&authorities), &stamp, ret, &more);
    if (!writ_is_ok(result)) {
        WRIT_FAIL(err, result.code, "%s: %s", writ_cli_get(cli, "ca").ptr, more.text);
    }
    writ_time_format(stamp.time_us, time);
    if (cli->json) {
        answer_json(&out, time, *ret, more.text);
    } else if (*ret == WRIT_REASON_EVIDENCE_OK) {
        writ_buf_fmt(&out, "ok\ntime      %s\n", time);
    } else {
        writ_print_refusal(&out, *ret, more.text);
    }
    WRIT_TRY(writ_buf_check(&out, err));
    writ_cli_put(writ_buf_view(&out));
    return WRIT_DONE;
}

enum writ_exit
writ_command_verify_timestamp(const struct writ_cli *cli)
{
    enum writ_reason why = WRIT_REASON_NONE;
    struct writ_err err = {0};
    writ_result result = run_verify(cli, &why, &err);

    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    return why == WRIT_REASON_EVIDENCE_OK ? WRIT_EXIT_OK : WRIT_EXIT_NEGATIVE;
}
