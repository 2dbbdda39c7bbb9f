/* writ export: sends the records of a ledger as events. Signals only set a flag, which the delivery
 * and the pause watch. */
#include "base/text.h"
#include "cli/commands/command.h"
#include "gateway/export/exporter.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>

#define PAUSE_NS   200000000 /* between two looks for new records */
#define RETRY_S    1         /* after the first failure; doubles */
#define LONGEST_S  60
#define SECOND_NS  1000000000L
#define OUTPUT_MAX 512

static atomic_bool stop;

static void
on_signal(int number)
{
    (void)number;
    atomic_store(&stop, true);
}

static void
exporter_freep(struct writ_exporter **exporter)
{
    writ_exporter_close(*exporter);
}

static WRIT_RESULT
read_options(const struct writ_cli *cli, struct writ_exporter_options *ret, struct writ_err *err)
{
    struct writ_sink_options *sink = &ret->sink;

    if (writ_cli_has(cli, "format") &&
        !writ_export_format_find(writ_cli_get(cli, "format"), &sink->format)) {
        WRIT_FAIL(err, WRIT_E_INVALID, "--format is json, ocsf or cef");
    }
    if (writ_cli_has(cli, "from") &&
        !writ_is_ok(writ_text_u64(writ_cli_get(cli, "from"), 0, INT64_MAX, &ret->from))) {
        WRIT_FAIL(err, WRIT_E_INVALID, "--from is the index of a record");
    }
    ret->ledger = writ_cli_operand(cli, 0).ptr;
    ret->cursor = writ_cli_get(cli, "cursor").ptr;
    sink->to = writ_cli_get(cli, "to").ptr;
    sink->ca = writ_cli_get(cli, "ca").ptr;
    sink->cert = writ_cli_get(cli, "cert").ptr;
    sink->key = writ_cli_get(cli, "key").ptr;
    sink->token = writ_cli_get(cli, "token").ptr;
    sink->scheme = writ_cli_get(cli, "scheme").ptr;
    sink->plain_close = writ_cli_has(cli, "plain-close");
    return WRIT_DONE;
}

/* Waits, and ends early at a signal. */
static void
rest(long seconds, long ns)
{
    struct timespec pause = {.tv_nsec = PAUSE_NS};

    for (long i = 0; i < (seconds * SECOND_NS + ns) / PAUSE_NS && !atomic_load(&stop); i++) {
        (void)nanosleep(&pause, NULL);
    }
}

/* Delivers what there is, and with --follow whatever comes, until a signal. */
static WRIT_RESULT
run(const struct writ_cli *cli, struct writ_exporter *exporter,
    struct writ_exporter_progress *total, struct writ_err *err)
{
    bool follows = writ_cli_has(cli, "follow");
    long retry_s = RETRY_S;

    while (!atomic_load(&stop)) {
        struct writ_exporter_progress step = {0};
        writ_result result = writ_exporter_step(exporter, &stop, &step, err);

        total->sent += step.sent;
        total->next = step.next;
        if (atomic_load(&stop)) {
            break;
        }
        if (!writ_is_ok(result) && (!follows || result.code == WRIT_E_MISMATCH)) {
            return result;
        }
        if (!writ_is_ok(result)) {
            (void)fprintf(stderr, "%s\n", err->text);
            rest(retry_s, 0);
            retry_s = 2 * retry_s < LONGEST_S ? 2 * retry_s : LONGEST_S;
            continue;
        }
        retry_s = RETRY_S;
        if (step.sent == 0 && !follows) {
            break;
        }
        rest(0, step.sent == 0 ? PAUSE_NS : 0);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
export_all(
    const struct writ_cli *cli, const struct writ_exporter_options *options, struct writ_err *err)
{
    WRIT_AUTO(struct writ_exporter *, exporter_freep) exporter = NULL;
    struct writ_exporter_progress total = {0};
    const struct sigaction action = {.sa_handler = on_signal};

    WRIT_TRY(writ_exporter_open(options, &exporter, err));
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    WRIT_TRY(run(cli, exporter, &total, err));
    if (options->sink.to != NULL) {
        writ_cli_print(cli->json ? "{\"exported\":%llu,\"next\":%llu}\n"
                                 : "exported %llu events, up to record %llu\n",
            (unsigned long long)total.sent, (unsigned long long)total.next);
    }
    return WRIT_DONE;
}

enum writ_exit
writ_command_export(const struct writ_cli *cli)
{
    struct writ_exporter_options options = {0};
    struct writ_err err = {0};
    writ_result result = read_options(cli, &options, &err);

    if (!writ_is_ok(result)) {
        return writ_cli_usage(cli, "%s", err.text);
    }
    if (cli->json && options.sink.to == NULL) {
        return writ_cli_usage(cli, "--json needs --to: standard output has the events");
    }
    result = export_all(cli, &options, &err);
    return writ_is_ok(result) ? WRIT_EXIT_OK : writ_cli_fail(cli, result, &err);
}
