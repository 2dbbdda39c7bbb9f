/* writ ledger archive, verify archive: the records as a static log. */
#include "base/text.h"
#include "cli/base/print.h"
#include "cli/base/progress.h"
#include "cli/commands/command.h"
#include "cli/commands/trust.h"
#include "evidence/json/write.h"
#include "store/read/archive.h"
#include "store/read/archive_check.h"
#include "store/trusted/keydir.h"

#define ANSWER_MAX 8192

static WRIT_RESULT
print(const struct writ_buf *out, struct writ_err *err)
{
    WRIT_TRY(writ_buf_check(out, err));
    writ_cli_put(writ_buf_view(out));
    return WRIT_DONE;
}

/* ---- writing ---- */

static void
put_written(
    const struct writ_cli *cli, const struct writ_archive_report *report, struct writ_buf *out)
{
    if (cli->json) {
        struct writ_write w = writ_write_to(out);

        writ_write_object_begin(&w);
        writ_write_count(&w, "before", report->before);
        writ_write_count(&w, "size", report->size);
        writ_write_object_end(&w);
        WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer keeps the failure */
        writ_buf_byte(out, '\n');
    } else {
        writ_buf_fmt(out, "%llu records, %llu of them new\n", (unsigned long long)report->size,
            (unsigned long long)(report->size - report->before));
    }
}

static WRIT_RESULT
run_archive(const struct writ_cli *cli, struct writ_err *err)
{
    writ_auto_keyring ring = NULL;
    writ_auto_buf out = writ_buf_make(ANSWER_MAX);
    struct writ_archive archive = {.ledger = writ_cli_operand(cli, 0).ptr,
        .folder = writ_cli_operand(cli, 1).ptr,
        .progress = writ_progress_step};
    struct writ_archive_report report;
    struct writ_progress progress;
    writ_result result;

    WRIT_TRY(writ_keydir_list(writ_cli_get(cli, "keys").ptr, &ring, err));
    progress = writ_progress_begin(cli, "records");
    archive.ring = ring;
    archive.ctx = &progress;
    result = writ_archive_write(&archive, &report, err);
    writ_progress_end(&progress);
    WRIT_TRY(result);
    put_written(cli, &report, &out);
    return print(&out, err);
}

enum writ_exit
writ_command_ledger_archive(const struct writ_cli *cli)
{
    return writ_cli_do(cli, run_archive);
}

/* ---- verifying ---- */

static void
put_verified(
    const struct writ_cli *cli, const struct writ_archive_state *state, struct writ_buf *out)
{
    struct writ_view origin = writ_buf_view(&state->origin);
    char root[WRIT_DIGEST_TEXT];

    writ_digest_text(&state->root, root);
    if (cli->json) {
        struct writ_write w = writ_write_to(out);

        writ_write_object_begin(&w);
        writ_write_flag(&w, "ok", true);
        writ_write_text_or_null(&w, "origin", origin);
        writ_write_count(&w, "size", state->size);
        writ_write_text(&w, "root", writ_view_str(root));
        writ_write_object_end(&w);
        WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer keeps the failure */
        writ_buf_byte(out, '\n');
    } else {
        writ_buf_str(out, "ok\norigin   ");
        writ_print_plain(out, origin);
        writ_buf_fmt(out, "\nrecords  %llu\nroot     %s\n", (unsigned long long)state->size, root);
    }
}

static void
put_finding(const struct writ_cli *cli, const char *detail, struct writ_buf *out)
{
    if (cli->json) {
        struct writ_write w = writ_write_to(out);

        writ_write_object_begin(&w);
        writ_write_flag(&w, "ok", false);
        writ_write_text(&w, "detail", writ_view_str(detail));
        writ_write_object_end(&w);
        WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer keeps the failure */
    } else {
        writ_buf_str(out, detail);
    }
    writ_buf_byte(out, '\n');
}

static void
state_wipe(struct writ_archive_state *state)
{
    writ_buf_wipe(&state->origin);
}

/* A fault of the archive is a finding, everything else a failure. */
static WRIT_RESULT
verify(
    const struct writ_cli *cli, const struct writ_trust *trust, bool *ret_ok, struct writ_err *err)
{
    WRIT_AUTO(struct writ_archive_state, state_wipe) state = {.size = 0};
    writ_auto_buf out = writ_buf_make(ANSWER_MAX);
    struct writ_progress progress = writ_progress_begin(cli, "records");
    const struct writ_archive_check check = {.folder = writ_cli_operand(cli, 0).ptr,
        .keys = (const struct writ_note_key *const *)trust->keys,
        .keys_n = trust->n,
        .progress = writ_progress_step,
        .ctx = &progress};
    writ_result result = writ_archive_check_run(&check, &state, err);

    writ_progress_end(&progress);
    *ret_ok = writ_is_ok(result);
    if (*ret_ok) {
        put_verified(cli, &state, &out);
    } else if (result.code == WRIT_E_MISMATCH) {
        put_finding(cli, err->text, &out);
    } else {
        return result;
    }
    return print(&out, err);
}

enum writ_exit
writ_command_verify_archive(const struct writ_cli *cli)
{
    WRIT_AUTO(struct writ_trust, writ_trust_wipe) trust = {.n = 0};
    struct writ_err err = {0};
    bool ok = false;
    writ_result result = writ_trust_read(writ_cli_get(cli, "key").ptr, &trust, &err);

    if (writ_is_ok(result)) {
        result = verify(cli, &trust, &ok, &err);
    }
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    return ok ? WRIT_EXIT_OK : WRIT_EXIT_NEGATIVE;
}
