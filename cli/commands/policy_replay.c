/* writ policy replay: past calls decided again by a configuration. Reads the options, hands the
 * records of the ledger to a run in their order, and prints its report. Fails when there is nothing
 * to decide: an empty replay must not look like one without changes. */
#include "cli/commands/command.h"
#include "cli/commands/contents_source.h"
#include "cli/commands/replay_report.h"
#include "gateway/replay/replay_read.h"
#include "policy/read/load.h"

#define OUTPUT_MAX  ((size_t)64 << 20)
#define RENAMED_MAX 64

/* The conditions of exit 1, as bits. */
enum fail_on {
    FAIL_ON_UNDECIDED = 1,
#define FAIL_ON(NAME, name, title) FAIL_ON_##NAME = 1 << (1 + WRIT_REJUDGE_##NAME),
    WRIT_REJUDGE_CHANGES(FAIL_ON)
#undef FAIL_ON
};

#define FAIL_ON_BIT(NAME, name, title) | FAIL_ON_##NAME
#define FAIL_ON_ANY                    (0 WRIT_REJUDGE_CHANGES(FAIL_ON_BIT))

static const struct {
    const char *word;
    unsigned bits;
} conditions[] = {
#define CONDITION(NAME, name, title) {#name, FAIL_ON_##NAME},
    WRIT_REJUDGE_CHANGES(CONDITION)
#undef CONDITION
        {"undecided", FAIL_ON_UNDECIDED},
    {"any", FAIL_ON_ANY},
    {"none", 0},
};

struct replay {
    const struct writ_cli *cli;
    struct writ_config *config, *against;
    struct writ_replay_run run;
    struct writ_pair renamed[RENAMED_MAX];
    size_t renamed_n;
    unsigned fail_on;
    struct writ_buf output;
};

static void
replay_wipe(struct replay *replay)
{
    writ_replay_run_wipe(&replay->run);
    writ_config_drop(replay->config);
    writ_config_drop(replay->against);
    writ_buf_wipe_secret(&replay->output);
}

/* ---- the command line */

/* The next of several words with commas between; false at their end. */
static bool
next_word(struct writ_view *rest, struct writ_view *ret)
{
    size_t end = writ_view_find(*rest, ',');

    if (rest->ptr == NULL || rest->len == 0) {
        return false;
    }
    *ret = writ_view_sub(*rest, 0, end);
    *rest = writ_view_sub(*rest, end + 1, rest->len);
    return true;
}

static bool
refuse_fail_on(const struct replay *replay)
{
    (void)writ_cli_usage(replay->cli,
        "--fail-on takes refused, allowed, review, undecided, any or none, with commas between");
    return false;
}

static bool
read_fail_on(struct replay *replay)
{
    struct writ_view rest = writ_cli_get(replay->cli, "fail-on"), word;
    size_t n = sizeof conditions / sizeof conditions[0];

    replay->fail_on = rest.ptr == NULL ? FAIL_ON_ANY : 0;
    if (writ_cli_has(replay->cli, "fail-on") && rest.len == 0) {
        return refuse_fail_on(replay); /* such as a variable that is not set; else it never fails */
    }
    while (next_word(&rest, &word)) {
        size_t i = 0;

        while (i < n && !writ_view_is(word, conditions[i].word)) {
            i++;
        }
        if (i == n) {
            return refuse_fail_on(replay);
        }
        replay->fail_on |= conditions[i].bits;
    }
    return true;
}

static bool
read_renamed(struct replay *replay)
{
    struct writ_view rest = writ_cli_get(replay->cli, "renamed"), word;

    while (next_word(&rest, &word)) {
        size_t equals = writ_view_find(word, '=');

        if (replay->renamed_n == RENAMED_MAX || equals == 0 || equals + 1 >= word.len) {
            (void)writ_cli_usage(replay->cli,
                "--renamed takes up to %d pairs OLD=NEW, with commas between", RENAMED_MAX);
            return false;
        }
        replay->renamed[replay->renamed_n++] = (struct writ_pair){
            writ_view_sub(word, 0, equals), writ_view_sub(word, equals + 1, word.len)};
    }
    return true;
}

/* ---- reading and deciding */

static WRIT_RESULT
load(struct replay *replay, struct writ_err *err)
{
    const struct writ_cli *cli = replay->cli;
    struct writ_view since = writ_cli_get(cli, "since");
    struct writ_replay_run *run = &replay->run;

    if (since.ptr != NULL && !writ_is_ok(writ_time_read(since, &run->since_us))) {
        WRIT_FAIL(err, WRIT_E_INVALID, "--since must be a time such as 2026-06-25T05:00:00Z");
    }
    WRIT_TRY(writ_load_file(writ_cli_operand(cli, 0).ptr, NULL, &replay->config, err));
    if (writ_cli_has(cli, "against")) {
        WRIT_TRY(writ_load_file(writ_cli_get(cli, "against").ptr, NULL, &replay->against, err));
    }
    run->now.rejudge =
        (struct writ_rejudge_side){replay->config, replay->renamed, replay->renamed_n};
    run->before.rejudge.config = replay->against; /* it has the names of the records */
    return writ_replay_run_begin(run, writ_cli_has(cli, "values"), err);
}

static WRIT_RESULT
read_all(struct replay *replay, struct writ_contents_source *source, struct writ_replay_read *r,
    struct writ_err *err)
{
    const struct writ_contents_filter filter = {
        .since_us = writ_replay_run_from(&replay->run), .every = true};

    WRIT_TRY(writ_replay_read_begin(r, &replay->run, err));
    WRIT_TRY(writ_contents_source_each(source, &filter, writ_replay_read_call, r, err));
    WRIT_TRY(writ_replay_read_check(r, err));
    if (replay->run.decided == 0) {
        WRIT_FAIL(err, WRIT_E_ABSENT,
            "no call of the range can be decided: of %llu calls nothing is kept. Set contents in "
            "the configuration of the gateway, or choose an earlier --since",
            (unsigned long long)(replay->run.decisions - replay->run.continued));
    }
    return WRIT_DONE;
}

/* ---- the answer */

static bool
has_failed(const struct replay *replay)
{
    const struct writ_replay_run *run = &replay->run;
    unsigned found = writ_replay_run_undecided(run) > 0 ? FAIL_ON_UNDECIDED : 0;

#define FOUND(NAME, name, title)                                                                   \
    found |= run->groups->changes[WRIT_REJUDGE_##NAME] > 0 ? (unsigned)FAIL_ON_##NAME : 0;
    WRIT_REJUDGE_CHANGES(FOUND)
#undef FOUND
    return (found & replay->fail_on) != 0;
}

static WRIT_RESULT
report(struct replay *replay, bool *ret_failed, struct writ_err *err)
{
    const struct writ_cli *cli = replay->cli;
    struct writ_replay_report report = {.run = &replay->run,
        .file = writ_cli_operand(cli, 0),
        .against = writ_cli_get(cli, "against"),
        .path = writ_cli_operand(cli, 1),
        .shows_values = writ_cli_has(cli, "values"),
        .failed = has_failed(replay)};

    writ_rejudge_groups_sort(replay->run.groups);
    if (cli->json) {
        writ_replay_report_json(&report, &replay->output);
    } else {
        writ_replay_report_text(&report, &replay->output);
    }
    *ret_failed = report.failed;
    return writ_buf_check(&replay->output, err);
}

static WRIT_RESULT
run(struct replay *replay, bool *ret_failed, struct writ_err *err)
{
    WRIT_AUTO(struct writ_contents_source, writ_contents_source_wipe) source = {0};
    WRIT_AUTO(struct writ_replay_read, writ_replay_read_wipe) r = {0};
    struct writ_contents_source_order order = {
        .cli = replay->cli, .path = writ_cli_operand(replay->cli, 1).ptr, .purpose = "replay"};

    WRIT_TRY(load(replay, err));
    order.config = replay->config;
    WRIT_TRY(writ_contents_source_open(&order, &source, err));
    WRIT_TRY(read_all(replay, &source, &r, err));
    WRIT_TRY(report(replay, ret_failed, err));
    return writ_contents_source_record(&source, replay->run.since_us, r.looked, err);
}

enum writ_exit
writ_command_policy_replay(const struct writ_cli *cli)
{
    WRIT_AUTO(struct replay, replay_wipe)
    replay = {.cli = cli, .output = writ_buf_make(OUTPUT_MAX)};
    bool failed = true;
    struct writ_err err = {0};
    writ_result result;

    if (!read_fail_on(&replay) || !read_renamed(&replay)) {
        return WRIT_EXIT_USAGE;
    }
    result = run(&replay, &failed, &err);
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    writ_cli_put(writ_buf_view(&replay.output));
    return failed ? WRIT_EXIT_NEGATIVE : WRIT_EXIT_OK;
}
