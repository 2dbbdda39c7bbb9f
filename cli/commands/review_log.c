/* writ review log: the log of a crew that voted, out of the kept contents of a ledger. */
#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/commands/contents_source.h"
#include "evidence/json/write.h"
#include "policy/read/load.h"

#define LOG_ARENA ((size_t)64 << 20)
#define OUT_MAX   (8 * WRIT_CONTENT_MAX)

/** One run of the command. */
struct run {
    const struct writ_cli *cli;
    struct writ_config *config;
    struct writ_arena *arena;
    struct writ_contents_source source;
    struct writ_contents_log log;
};

static void
run_wipe(struct run *run)
{
    writ_contents_source_wipe(&run->source);
    writ_config_drop(run->config);
    writ_arena_free(run->arena);
}

/* Reads it; one that is kept is recorded as looked at. */
static WRIT_RESULT
take_log(struct run *run, struct writ_err *err)
{
    struct writ_view id = writ_cli_operand(run->cli, 1);

    run->arena = writ_arena_new(LOG_ARENA);
    if (run->arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to read a log");
    }
    WRIT_TRY(writ_load_file(writ_cli_operand(run->cli, 0).ptr, NULL, &run->config, err));
    const struct writ_contents_source_order order = {.cli = run->cli,
        .path = run->config->store.ptr,
        .config = run->config,
        .purpose = "replay",
        .decision_id = id};
    WRIT_TRY(writ_contents_source_open(&order, &run->source, err));
    WRIT_TRY(writ_contents_log(
        run->source.contents, id, writ_cli_operand(run->cli, 2), run->arena, &run->log, err));
    return run->log.log.state == WRIT_CONTENT_KEPT
               ? writ_contents_source_record(&run->source, 0, 1, err)
               : WRIT_DONE;
}

static void
put_log(const struct run *run)
{
    struct writ_view bytes = run->log.log.bytes;
    writ_auto_buf text = writ_buf_make(OUT_MAX);
    struct writ_write w = writ_write_to(&text);

    if (!run->cli->json) {
        writ_cli_put(bytes);
        return;
    }
    writ_write_object_begin(&w);
    writ_write_text(&w, "digest", run->log.digest);
    writ_write_text(&w, "log", bytes);
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* it fits: six bytes for one */
    writ_cli_put(writ_buf_view(&text));
    writ_cli_print("\n");
}

enum writ_exit
writ_command_review_log(const struct writ_cli *cli)
{
    WRIT_AUTO(struct run, run_wipe) run = {.cli = cli};
    struct writ_err err = {0};
    writ_result result = take_log(&run, &err);

    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    if (run.log.log.state != WRIT_CONTENT_KEPT) {
        (void)writ_fail(&err, WRIT_E_ABSENT,
            run.log.log.state == WRIT_CONTENT_LOCKED
                ? "the key of the log is not in the key directory (any more)"
                : "the log is not kept any more: its time is over, or it was erased");
        (void)writ_cli_fail(cli, (writ_result){WRIT_E_ABSENT}, &err);
        return WRIT_EXIT_NEGATIVE;
    }
    put_log(&run);
    return WRIT_EXIT_OK;
}
