/* writ crew run, dispatch and resume: a crew from files, or from its log, and its agents. */
#include "base/text.h"
#include "base/utf8.h"
#include "cli/crew/command.h"
#include "cli/crew/crew_files.h"
#include "cli/crew/hooks.h"
#include "cli/crew/live.h"

#include <stdio.h>

#define TIMEOUT_DEFAULT_MS 600000
#define POOL_DEFAULT       10000

/** A command: its crew, and what it was given. */
struct run {
    const struct writ_cli *cli;
    struct writ_crew_files_engines engines;
    struct writ_roster roster;        /* of a new crew */
    struct writ_recording *recording; /* likewise */
    struct writ_rerun rerun;          /* of one that is continued */
    struct writ_hooks *hooks;
    struct writ_live live;
    struct writ_buf input, task;
    uint64_t timeout_ms, pool_max;
};

static void
run_wipe(struct run *run)
{
    writ_live_wipe(&run->live);
    writ_recording_free(run->recording);
    writ_rerun_wipe(&run->rerun);
    writ_roster_wipe(&run->roster);
    writ_crew_files_engines_wipe(&run->engines);
    writ_hooks_free(run->hooks);
    writ_buf_wipe(&run->input);
    writ_buf_wipe(&run->task);
}

/* ---- options */

/* The text of an option or operand, or the content of @FILE. */
static WRIT_RESULT
read_value(struct run *run, struct writ_view value, struct writ_buf *ret)
{
    *ret = writ_buf_make(WRIT_ROSTER_TEXT_MAX);
    if (writ_view_has_prefix(value, WRIT_LIT("@"))) {
        return writ_cli_read(value.ptr + 1, WRIT_ROSTER_TEXT_MAX, ret, &run->live.drive.err);
    }
    writ_buf_put(ret, value);
    return writ_buf_check(ret, &run->live.drive.err);
}

/* A task is JSON when all of it is one JSON value. Anything else is plain text, except what begins
 * like an object: that is JSON with a mistake in it. */
static WRIT_RESULT
read_task(struct run *run, struct writ_view value)
{
    writ_auto_buf given = writ_buf_make(0);
    struct writ_crew_value *json = NULL;
    struct writ_crew_err below = {0};
    struct writ_view text;
    writ_result read;

    if (value.ptr == NULL) {
        return WRIT_DONE;
    }
    WRIT_TRY(read_value(run, value, &given));
    text = given.len > 0 ? writ_buf_view(&given) : WRIT_LIT("");
    read = writ_crew_value_read(text, NULL, &json, &below);
    run->task = writ_buf_make(2 * WRIT_ROSTER_TEXT_MAX);
    if (writ_is_ok(read)) {
        writ_buf_put(&run->task, writ_crew_value_text(json));
        writ_crew_value_free(json);
        return writ_buf_check(&run->task, &run->live.drive.err);
    }
    if (read.code != WRIT_E_PARSE || writ_view_has_prefix(writ_view_trim(text), WRIT_LIT("{"))) {
        return writ_fail(&run->live.drive.err, read.code, "the task: %s", below.err.text);
    }
    if (!writ_utf8_is_valid(text, NULL)) {
        WRIT_FAIL(&run->live.drive.err, WRIT_E_PARSE, "the task: not UTF-8");
    }
    if (writ_view_has_suffix(text, WRIT_LIT("\n"))) { /* of a file */
        text.len--;
    }
    writ_text_json(&run->task, text);
    return writ_buf_check(&run->task, &run->live.drive.err);
}

static WRIT_RESULT
read_number(struct run *run, const char *name, uint64_t most, const char *unit, uint64_t *ret)
{
    struct writ_view value = writ_cli_get(run->cli, name);

    if (value.ptr != NULL && !writ_is_ok(writ_text_u64(value, 0, most, ret))) {
        WRIT_FAIL(&run->live.drive.err, WRIT_E_UNSET, "--%s must be a number of %s", name, unit);
    }
    return WRIT_DONE;
}

/* What a crew that begins and one that is continued have in common. */
static WRIT_RESULT
read_agents(struct run *run)
{
    struct writ_view hooks = writ_cli_get(run->cli, "hooks");
    uint64_t limit_ms = UINT64_MAX;

    WRIT_TRY(
        read_number(run, "limit", WRIT_DRIVE_TIMEOUT_MAX_MS / 1000, "milliseconds", &limit_ms));
    if (limit_ms != UINT64_MAX) {
        run->live.limit_ms = (double)limit_ms;
    }
    if (hooks.ptr != NULL) {
        WRIT_TRY(writ_hooks_read(hooks.ptr, &run->hooks, &run->live.drive.err));
    }
    return writ_live_agents(&run->live, writ_cli_get(run->cli, "agents"));
}

/* ---- a new crew */

static WRIT_RESULT
write_line(void *user, struct writ_view line, struct writ_err *err)
{
    return writ_log_file_line(((const struct run *)user)->live.log, line, err);
}

static WRIT_RESULT
open_roster(struct run *run, const char *shape, const char *agents)
{
    struct writ_err *err = &run->live.drive.err;

    WRIT_TRY(writ_crew_files_engines(run->cli, &run->engines, err));
    run->roster.engines = run->engines.engines;
    WRIT_TRY(
        writ_crew_files_read(&run->roster, writ_cli_get(run->cli, "registry"), shape, agents, err));
    WRIT_TRY(writ_roster_build(&run->roster, err));
    WRIT_TRY(writ_live_check(&run->live, &run->roster));
    return writ_crew_files_warn(&run->roster, err);
}

static WRIT_RESULT
open_recording(struct run *run)
{
    struct writ_view id = writ_cli_get(run->cli, "id"), log = writ_cli_get(run->cli, "log");
    struct writ_recording_options options = {.roster = &run->roster,
        .crew_id = id.ptr != NULL ? id : WRIT_LIT("run"),
        .default_timeout_ms = (double)run->timeout_ms,
        .auto_checkpoint = writ_cli_has(run->cli, "checkpoints"),
        .has_pool = true,
        .pool_max = run->pool_max,
        .sink = write_line,
        .user = run};

    if (run->hooks != NULL) {
        options.hooks = writ_hooks_face(run->hooks);
    }
    if (log.ptr != NULL) {
        WRIT_TRY(writ_log_file_create(log.ptr, &run->live.log, &run->live.drive.err));
    }
    WRIT_TRY(writ_recording_open(&options, &run->recording, &run->live.drive.err));
    run->live.drive.recording = run->recording;
    return WRIT_DONE;
}

static WRIT_RESULT
begin(struct run *run, const char *shape, const char *agents, struct writ_view task)
{
    WRIT_TRY(
        read_number(run, "timeout", WRIT_DRIVE_TIMEOUT_MAX_MS, "milliseconds", &run->timeout_ms));
    WRIT_TRY(read_number(run, "pool", WRIT_RECORDING_POOL_MAX, "insights", &run->pool_max));
    WRIT_TRY(read_agents(run));
    WRIT_TRY(open_roster(run, shape, agents));
    WRIT_TRY(read_value(run, writ_cli_get(run->cli, "input"), &run->input));
    WRIT_TRY(read_task(run, task));
    WRIT_TRY(open_recording(run));
    return writ_live_start(&run->live, writ_buf_view(&run->input), writ_buf_view(&run->task));
}

/* ---- a crew that is continued */

/* The first line after the log: what does not belong to it is dropped. */
static WRIT_RESULT
write_beyond(void *user, struct writ_view line, struct writ_err *err)
{
    struct run *run = user;

    if (!run->live.log_positioned) {
        WRIT_TRY(writ_log_file_cut(run->live.log, run->rerun.at, err));
        run->live.log_positioned = true;
    }
    return writ_log_file_line(run->live.log, line, err);
}

/* A copy of the log up to the checkpoint becomes the log that is continued. */
static WRIT_RESULT
copy_log(struct run *run, struct writ_view to)
{
    WRIT_TRY(writ_log_file_create(to.ptr, &run->live.log, &run->live.drive.err));
    run->live.log_positioned = true;
    return writ_log_file_bytes(run->live.log,
        writ_view_sub(writ_buf_view(&run->rerun.log), 0, run->rerun.at), &run->live.drive.err);
}

/* Refuses what is not the beginning of a session. */
static WRIT_RESULT
check_rerun(struct run *run, const char *path)
{
    struct writ_rerun *rerun = &run->rerun;

    if (rerun->differs) {
        struct writ_view why = writ_buf_view(&rerun->why);
        WRIT_FAIL(&run->live.drive.err, WRIT_E_MISMATCH,
            "%s: the log is not that of its session: " WRIT_VIEW_FMT
            "; writ crew replay shows the difference",
            path, WRIT_VIEW_ARG(writ_view_sub(why, 0, writ_view_find(why, '\n'))));
    }
    if (rerun->until.ptr != NULL && !rerun->reached) {
        WRIT_FAIL(&run->live.drive.err, WRIT_E_ABSENT,
            "%s: no checkpoint " WRIT_VIEW_FMT ": list them with writ crew checkpoints", path,
            WRIT_VIEW_ARG(rerun->until));
    }
    if (writ_recording_status(rerun->recording) == WRIT_CREW_IDLE) {
        WRIT_FAIL(&run->live.drive.err, WRIT_E_INVALID,
            "%s: the crew did not start: remove the log, and run it", path);
    }
    return WRIT_DONE;
}

/* An ended crew lacks at most the last line of its log. */
static WRIT_RESULT
finish(struct run *run)
{
    if (!run->rerun.closed) {
        WRIT_TRY(writ_recording_close(run->rerun.recording, &run->live.drive.err));
    }
    return writ_log_file_flush(run->live.log, &run->live.drive.err);
}

static writ_result
repeat(
    void *user, const struct writ_json *input, struct writ_crew_events events, struct writ_err *err)
{
    return writ_drive_repeat(&((struct run *)user)->live.drive, input, events, err);
}

static WRIT_RESULT
go_on(struct run *run, const char *path, enum writ_crew_resume policy)
{
    struct writ_view from = writ_cli_get(run->cli, "from"), to = writ_cli_get(run->cli, "log");
    struct writ_recording_hooks hooks = {0};

    WRIT_TRY(read_agents(run));
    if (from.ptr == NULL) {
        WRIT_TRY(writ_log_file_open(path, &run->live.log, &run->live.drive.err));
    }
    if (run->hooks != NULL) {
        hooks = writ_hooks_face(run->hooks);
    }
    run->rerun.taken = repeat;
    run->rerun.beyond = write_beyond;
    run->rerun.user = run;
    run->rerun.until = from;
    run->rerun.hooks = run->hooks != NULL ? &hooks : NULL;
    WRIT_TRY(writ_crew_files_engines(run->cli, &run->engines, &run->live.drive.err));
    run->rerun.engines = run->engines.engines;
    WRIT_TRY(writ_crew_files_rerun(&run->rerun, path, &run->live.drive.err));
    WRIT_TRY(check_rerun(run, path));
    run->live.drive.recording = run->rerun.recording;
    WRIT_TRY(writ_live_check(&run->live, &run->rerun.roster));
    if (from.ptr != NULL) {
        WRIT_TRY(copy_log(run, to));
    }
    return writ_recording_status(run->rerun.recording) == WRIT_CREW_AWAITING_RESPONSES
               ? writ_live_resume(&run->live, &run->rerun, policy)
               : finish(run);
}

/* ---- commands */

static enum writ_exit
report(struct run *run, writ_result result)
{
    if (result.code == WRIT_E_UNSET) {
        return writ_cli_usage(run->cli, "%s", run->live.drive.err.text);
    }
    if (!writ_is_ok(result)) {
        return writ_cli_fail(run->cli, result, &run->live.drive.err);
    }
    if (run->cli->json) {
        writ_live_tell(&run->live);
    }
    return writ_drive_resolved(&run->live.drive) ? WRIT_EXIT_OK : WRIT_EXIT_NEGATIVE;
}

static void
open_run(struct run *run, const struct writ_cli *cli)
{
    *run = (struct run){.cli = cli, .timeout_ms = TIMEOUT_DEFAULT_MS, .pool_max = POOL_DEFAULT};
    writ_live_init(&run->live, cli);
}

enum writ_exit
writ_command_crew_run(const struct writ_cli *cli)
{
    WRIT_AUTO(struct run, run_wipe) run = {0};

    open_run(&run, cli);
    return report(&run, begin(&run, writ_cli_operand(cli, 0).ptr,
                            cli->operand_count > 1 ? writ_cli_operand(cli, 1).ptr : NULL,
                            writ_cli_get(cli, "task")));
}

enum writ_exit
writ_command_crew_dispatch(const struct writ_cli *cli)
{
    WRIT_AUTO(struct run, run_wipe) run = {0};
    writ_result result;

    open_run(&run, cli);
    result = writ_roster_elect(&run.roster, writ_cli_get(cli, "engine"), &run.live.drive.err);
    if (writ_is_ok(result)) {
        result = begin(&run, writ_cli_get(cli, "shape").ptr, NULL, writ_cli_operand(cli, 0));
    }
    return report(&run, result);
}

enum writ_exit
writ_command_crew_resume(const struct writ_cli *cli)
{
    WRIT_AUTO(struct run, run_wipe) run = {0};
    struct writ_view pending = writ_cli_get(cli, "pending");
    enum writ_crew_resume policy = WRIT_CREW_RESUME_RE_EMIT;

    open_run(&run, cli);
    if (pending.ptr != NULL && !writ_recording_policy_read(pending, &policy)) {
        return writ_cli_usage(cli, "--pending must be ask, fail or refuse");
    }
    if ((writ_cli_get(cli, "from").ptr == NULL) != (writ_cli_get(cli, "log").ptr == NULL)) {
        return writ_cli_usage(cli, "--from and --log go together: a checkpoint, and a new log");
    }
    return report(&run, go_on(&run, writ_cli_operand(cli, 0).ptr, policy));
}
