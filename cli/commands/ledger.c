/* writ ledger init, migrate, rebuild, verify, backup, copy, checkpoint, key: the ledger as a whole.
 * ledger_calls.c prints its records. Only init, migrate and rebuild write to it. */
#include "cli/base/print.h"
#include "cli/base/progress.h"
#include "cli/commands/command.h"
#include "evidence/json/write.h"
#include "gateway/service/anchor.h"
#include "gateway/state/mark_key.h"
#include "store/disk/migrate.h"
#include "store/ledger/ledger.h"
#include "store/read/backup.h"
#include "store/read/copy.h"
#include "store/read/proofs.h"
#include "store/read/verify.h"
#include "store/sql/sql_uri.h"
#include "store/trusted/keydir.h"

#include <unistd.h>

#define LINE_MAX ((size_t)4 << 20) /* bytes of one answer */

/* ---- init ---- */

enum writ_exit
writ_command_ledger_init(const struct writ_cli *cli)
{
    struct writ_view path = writ_cli_operand(cli, 0);
    writ_auto_buf line = writ_buf_make(LINE_MAX);
    struct writ_err err = {0};
    struct writ_view role = writ_cli_get(cli, "role"), origin = writ_cli_get(cli, "origin");
    writ_result result;

    if (writ_sql_is_uri(path)) {
        result = writ_ledger_create_shared(path.ptr, origin, role, cli->clock, &err);
    } else if (role.len > 0) {
        result = writ_fail(&err, WRIT_E_INVALID, "--role is for a ledger on PostgreSQL");
    } else {
        result = writ_ledger_create(path.ptr, origin, cli->clock, &err);
    }

    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    if (cli->json) {
        struct writ_write w = writ_write_to(&line);

        writ_write_object_begin(&w);
        writ_write_text_or_null(&w, "created", path);
        writ_write_object_end(&w);
        (void)writ_is_ok(writ_write_end(&w, NULL)); /* a failure stays in the buffer */
    } else {
        writ_buf_str(&line, "created ");
        writ_print_plain(&line, path);
    }
    writ_buf_byte(&line, '\n');
    result = writ_buf_check(&line, &err);
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    writ_cli_put(writ_buf_view(&line));
    return WRIT_EXIT_OK;
}

/* ---- migrate ---- */

static WRIT_RESULT
migrate(const struct writ_cli *cli, struct writ_err *err)
{
    struct writ_view path = writ_cli_operand(cli, 0);
    writ_auto_buf line = writ_buf_make(LINE_MAX);
    struct writ_migrate_report report;
    struct writ_migrations own = writ_migrate_own();

    WRIT_TRY(writ_sql_is_uri(path) ? writ_migrate_run(path.ptr, &own, &report, err)
                                   : writ_migrate_file(path.ptr, &report, err));
    if (cli->json) {
        struct writ_write w = writ_write_to(&line);

        writ_write_object_begin(&w);
        writ_write_count(&w, "from", (uint64_t)report.from);
        writ_write_count(&w, "version", (uint64_t)report.to);
        writ_write_object_end(&w);
        WRIT_IGNORE(writ_write_end(&w, NULL)); /* a failure stays in the buffer */
        writ_buf_byte(&line, '\n');
    } else if (report.from == report.to) {
        writ_buf_fmt(&line, "version %d, nothing to do\n", report.to);
    } else {
        writ_buf_fmt(&line, "version %d, was %d\n", report.to, report.from);
    }
    WRIT_TRY(writ_buf_check(&line, err));
    writ_cli_put(writ_buf_view(&line));
    return WRIT_DONE;
}

enum writ_exit
writ_command_ledger_migrate(const struct writ_cli *cli)
{
    return writ_cli_do(cli, migrate);
}

/* ---- rebuild ---- */

enum writ_exit
writ_command_ledger_rebuild(const struct writ_cli *cli)
{
    struct writ_err err = {0};
    writ_result result = writ_ledger_rebuild(writ_cli_operand(cli, 0).ptr, &err);

    return writ_is_ok(result) ? WRIT_EXIT_OK : writ_cli_fail(cli, result, &err);
}

/* ---- verify ---- */

static void
verify_members(struct writ_write *w, const struct writ_verify_report *report)
{
    writ_write_flag(w, "sound", report->problems == 0);
    writ_write_count(w, "records", report->records);
    writ_write_count(w, "first", report->first);
    writ_write_count(w, "decisions", report->decisions);
    writ_write_count(w, "outcomes", report->outcomes);
    writ_write_count(w, "seals", report->seals);
    writ_write_count(w, "review_events", report->reviews);
    writ_write_count(w, "facts", report->facts);
    writ_write_count(w, "boundaries", report->boundaries);
    writ_write_count(w, "sealed", report->sealed);
    writ_write_count(w, "in_flight", report->in_flight);
    writ_write_count(w, "checkpoints", report->checkpoints);
    writ_write_flag(w, "signatures_verified", report->is_signed);
    writ_write_count(w, "unsigned", report->unsigned_records);
    writ_write_flag(w, "unsigned_authenticated", report->tail_checked);
    writ_write_count(w, "late", report->late);
    writ_write_count(w, "problem_count", report->problems);
    writ_write_name(w, WRIT_LIT("problems"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < report->problems && i < WRIT_VERIFY_PROBLEMS; i++) {
        writ_write_object_begin(w);
        writ_write_count(w, "leaf", report->list[i].leaf);
        writ_write_text_or_null(w, "what", writ_view_str(report->list[i].what));
        writ_write_object_end(w);
    }
    writ_write_array_end(w);
}

static void
verify_json(struct writ_buf *out, const struct writ_verify_report *report)
{
    struct writ_write w = writ_write_to(out);

    writ_write_object_begin(&w);
    verify_members(&w, report);
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
        "%s: %llu records: %llu decisions, %llu outcomes, %llu seals, %llu events of reviews, %llu "
        "facts; %llu boundaries, %llu sealed; %llu calls in flight; %llu checkpoints, %s",
        report->problems == 0 ? "sound" : "NOT SOUND", (unsigned long long)report->records,
        (unsigned long long)report->decisions, (unsigned long long)report->outcomes,
        (unsigned long long)report->seals, (unsigned long long)report->reviews,
        (unsigned long long)report->facts, (unsigned long long)report->boundaries,
        (unsigned long long)report->sealed, (unsigned long long)report->in_flight,
        (unsigned long long)report->checkpoints,
        report->is_signed ? "all signed by its keys" : "signatures not verified (--keys)");
    if (report->first > 0) {
        writ_buf_fmt(out, "; records before %llu are in an archive (--archive)",
            (unsigned long long)report->first);
    }
    if (report->late > 0) {
        writ_buf_fmt(out, "; %llu by one that was revoked by then, under a later one by another",
            (unsigned long long)report->late);
    }
    if (report->unsigned_records > 0) {
        writ_buf_fmt(out, "; the last %llu are not signed yet%s",
            (unsigned long long)report->unsigned_records,
            report->tail_checked ? "" : ", and not authenticated");
    }
    writ_buf_byte(out, '\n');
}

/* The keys of --keys, and that of the last records, which an auditor does not have. Wipe `tail`. */
static WRIT_RESULT
read_keys(const struct writ_cli *cli, uint8_t tail[WRIT_LEDGER_TAIL_KEY],
    struct writ_view *ret_tail, struct writ_keyring **ret, struct writ_err *err)
{
    writ_auto_mark_key marks = NULL;
    struct writ_view keys = writ_cli_get(cli, "keys");

    if (keys.ptr == NULL) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_keydir_list(keys.ptr, ret, err));
    if (writ_is_ok(writ_mark_key_read(keys.ptr, &marks, NULL)) &&
        writ_is_ok(writ_mark_key_tail(marks, tail, NULL))) {
        *ret_tail = writ_view((const char *)tail, WRIT_LEDGER_TAIL_KEY);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
verify(const struct writ_cli *cli, struct writ_verify_report *report, struct writ_err *err)
{
    writ_auto_keyring ring = NULL;
    struct writ_verify_sources sources = {.path = writ_cli_operand(cli, 0).ptr,
        .archive = writ_cli_get(cli, "archive").ptr,
        .signed_all = true};
    uint8_t tail[WRIT_LEDGER_TAIL_KEY];
    struct writ_progress progress;
    writ_result result;

    WRIT_TRY(read_keys(cli, tail, &sources.tail_key, &ring, err));
    sources.ring = ring;
    progress = writ_progress_begin(cli, "records");
    result = writ_verify_joined(&sources, writ_progress_step, &progress, report, err);
    writ_progress_end(&progress);
    writ_wipe(tail, sizeof tail);
    return result;
}

/* Runs `check`, and prints its report. */
static enum writ_exit
report_of(const struct writ_cli *cli, WRIT_RESULT (*check)(const struct writ_cli *cli,
                                          struct writ_verify_report *ret, struct writ_err *err))
{
    writ_auto_buf out = writ_buf_make(LINE_MAX);
    struct writ_verify_report report = {0};
    struct writ_err err = {0};
    writ_result result = check(cli, &report, &err);

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

enum writ_exit
writ_command_ledger_verify(const struct writ_cli *cli)
{
    return report_of(cli, verify);
}

/* ---- backup ---- */

/* The progress of a copy, and then of its verification. */
struct backing_up {
    const struct writ_cli *cli;
    struct writ_progress progress;
    bool verifies;
};

static bool
step_copied(void *ctx, uint64_t done, uint64_t all)
{
    struct backing_up *b = ctx;

    return writ_progress_step(&b->progress, done, all);
}

static bool
step_verified(void *ctx, uint64_t done, uint64_t all)
{
    struct backing_up *b = ctx;

    if (!b->verifies) {
        b->verifies = true;
        writ_progress_end(&b->progress);
        b->progress = writ_progress_begin(b->cli, "records");
    }
    return writ_progress_step(&b->progress, done, all);
}

static WRIT_RESULT
backup(const struct writ_cli *cli, struct writ_verify_report *ret, struct writ_err *err)
{
    struct backing_up b = {.cli = cli, .progress = writ_progress_begin(cli, "pages")};
    struct writ_backup backup = {.from = writ_cli_operand(cli, 0).ptr,
        .to = writ_cli_operand(cli, 1).ptr,
        .copied = step_copied,
        .verified = step_verified,
        .ctx = &b};
    writ_auto_keyring ring = NULL;
    uint8_t tail[WRIT_LEDGER_TAIL_KEY];
    writ_result result;

    WRIT_TRY(read_keys(cli, tail, &backup.tail_key, &ring, err));
    backup.ring = ring;
    result = writ_backup_make(&backup, ret, err);
    writ_progress_end(&b.progress);
    writ_wipe(tail, sizeof tail);
    return result;
}

enum writ_exit
writ_command_ledger_backup(const struct writ_cli *cli)
{
    return report_of(cli, backup);
}

/* ---- copy ---- */

static void
copy_json(struct writ_buf *out, const struct writ_copy_report *report)
{
    struct writ_write w = writ_write_to(out);

    writ_write_object_begin(&w);
    writ_write_count(&w, "before", report->before);
    writ_write_count(&w, "sessions", report->sessions);
    writ_write_count(&w, "waits", report->waits);
    writ_write_count(&w, "reviews", report->reviews);
    writ_write_count(&w, "results", report->results);
    writ_write_count(&w, "contents", report->contents);
    verify_members(&w, &report->verified);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* a failure stays in the buffer */
    writ_buf_byte(out, '\n');
}

static void
copy_text(struct writ_buf *out, const struct writ_copy_report *report)
{
    writ_buf_fmt(out,
        "%llu records, %llu of them by an earlier run; %llu sessions, %llu waiting calls, %llu "
        "open "
        "reviews, %llu stored results, %llu kept contents\n",
        (unsigned long long)report->verified.records, (unsigned long long)report->before,
        (unsigned long long)report->sessions, (unsigned long long)report->waits,
        (unsigned long long)report->reviews, (unsigned long long)report->results,
        (unsigned long long)report->contents);
    verify_text(out, &report->verified);
}

static WRIT_RESULT
copy(const struct writ_cli *cli, struct writ_copy_report *ret, struct writ_err *err)
{
    struct backing_up b = {.cli = cli, .progress = writ_progress_begin(cli, "records")};
    struct writ_copy copy = {.from = writ_cli_operand(cli, 0).ptr,
        .to = writ_cli_operand(cli, 1).ptr,
        .role = writ_cli_get(cli, "role"),
        .clock = cli->clock,
        .copied = step_copied,
        .verified = step_verified,
        .ctx = &b};
    writ_auto_keyring ring = NULL;
    struct writ_view keys = writ_cli_get(cli, "keys");
    writ_result result;

    if (keys.ptr != NULL) {
        WRIT_TRY(writ_keydir_list(keys.ptr, &ring, err));
        copy.ring = ring;
    }
    result = writ_copy_ledger(&copy, ret, err);
    writ_progress_end(&b.progress);
    return result;
}

enum writ_exit
writ_command_ledger_copy(const struct writ_cli *cli)
{
    writ_auto_buf out = writ_buf_make(LINE_MAX);
    struct writ_copy_report report = {0};
    struct writ_err err = {0};
    writ_result result = copy(cli, &report, &err);

    if (writ_is_ok(result)) {
        if (cli->json) {
            copy_json(&out, &report);
        } else {
            copy_text(&out, &report);
        }
        result = writ_buf_check(&out, &err);
    }
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    writ_cli_put(writ_buf_view(&out));
    return report.verified.problems == 0 ? WRIT_EXIT_OK : WRIT_EXIT_NEGATIVE;
}

/* ---- checkpoint, key ---- */

static void
checkpoint_json(struct writ_buf *out, const struct writ_checkpoint *head, struct writ_view note)
{
    struct writ_write w = writ_write_to(out);
    char root[WRIT_DIGEST_TEXT];

    writ_digest_text(&head->root, root);
    writ_write_object_begin(&w);
    writ_write_text_or_null(&w, "origin", head->origin);
    writ_write_count(&w, "size", head->size);
    writ_write_text_or_null(&w, "root", writ_view_str(root));
    writ_write_text_or_null(&w, "checkpoint", note);
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

/* The revoked keys of the ledger, with `w` as members of an array; else as lines that no reader
 * takes for a key. */
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
        writ_write_text_or_null(w, "key", writ_buf_view(&vkey));
        writ_write_text_or_null(w, "revoked_since", writ_view_str(since));
        writ_write_object_end(w);
    }
    return WRIT_DONE;
}

/* `ring` NULL: without revoked keys. */
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
            "the key directory has no key for the ledger: make one with `writ keys new`");
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
