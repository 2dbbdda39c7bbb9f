/* writ verify export: the events of a receiver, read line by line. The first line that is not an
 * event of the ledger ends the check. */
#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/commands/trust.h"
#include "evidence/event/arrival.h"
#include "evidence/json/write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES ((size_t)1 << 18)
#define ANSWER_MAX 4096

struct check {
    const struct writ_cli *cli;
    struct writ_trust trust;
    struct writ_arrival *arrival;
    struct writ_buf rest; /* from the beginning of a line on */
    uint64_t line;
    int fd;
    bool is_bad; /* the events are the fault, and `why` says which */
    struct writ_err why;
};

static void
check_wipe(struct check *check)
{
    writ_trust_wipe(&check->trust);
    writ_arrival_free(check->arrival);
    writ_buf_wipe(&check->rest);
    if (check->fd > STDERR_FILENO) {
        (void)close(check->fd);
    }
}

/* A fault of the events is a finding, everything else a failure. */
static WRIT_RESULT
judge(struct check *check, writ_result result, struct writ_err *err)
{
    if (result.code == WRIT_E_MISMATCH || result.code == WRIT_E_LIMIT) {
        check->is_bad = true;
        return WRIT_DONE;
    }
    if (!writ_is_ok(result)) {
        WRIT_FAIL(err, result.code, "%s", check->why.text);
    }
    return WRIT_DONE;
}

static WRIT_RESULT
take_lines(struct check *check, bool is_end, struct writ_err *err)
{
    struct writ_view text = writ_buf_view(&check->rest);
    size_t taken = 0;

    while (!check->is_bad) {
        size_t end = writ_view_find(text, '\n');

        if (end == text.len && (!is_end || text.len == 0)) {
            break;
        }
        check->line++;
        WRIT_TRY(judge(check,
            writ_arrival_line(check->arrival, writ_view_sub(text, 0, end), &check->why), err));
        text = writ_view_sub(text, end + 1, text.len);
        taken += end + 1;
    }
    writ_buf_consume(&check->rest, taken < check->rest.len ? taken : check->rest.len);
    return WRIT_DONE;
}

static WRIT_RESULT
read_lines(struct check *check, struct writ_err *err)
{
    ssize_t n = 1;

    while (n > 0 && !check->is_bad) {
        char *to = writ_buf_reserve(&check->rest, READ_BYTES);

        if (to == NULL) {
            WRIT_FAIL(err, WRIT_E_LIMIT, "line %llu is longer than %zu bytes",
                (unsigned long long)check->line + 1, WRIT_ARRIVAL_LINE_MAX);
        }
        n = read(check->fd, to, READ_BYTES);
        if (n < 0) {
            WRIT_FAIL(err, WRIT_E_IO, "the events cannot be read: %s", strerrordesc_np(errno));
        }
        check->rest.len += (size_t)n;
        WRIT_TRY(take_lines(check, n == 0, err));
    }
    return WRIT_DONE;
}

static WRIT_RESULT
open_all(struct check *check, struct writ_err *err)
{
    struct writ_arrival_options options = {0};
    const char *path = writ_cli_operand(check->cli, 0).ptr;
    writ_auto_buf note = writ_buf_make(WRIT_NOTE_BYTES_MAX);

    WRIT_TRY(writ_trust_read(writ_cli_get(check->cli, "key").ptr, &check->trust, err));
    options.keys = (const struct writ_note_key *const *)check->trust.keys;
    options.keys_n = check->trust.n;
    if (writ_cli_has(check->cli, "from")) {
        WRIT_TRY(writ_text_u64(
            writ_cli_get(check->cli, "from"), 0, WRIT_ARRIVAL_LEAF_MAX, &options.from));
    }
    WRIT_TRY(writ_arrival_new(&options, &check->arrival, err));
    if (writ_cli_has(check->cli, "checkpoint")) {
        WRIT_TRY(writ_cli_read(
            writ_cli_get(check->cli, "checkpoint").ptr, WRIT_NOTE_BYTES_MAX, &note, err));
        WRIT_TRY(writ_arrival_checkpoint(check->arrival, writ_buf_view(&note), err));
    }
    check->rest = writ_buf_make(WRIT_ARRIVAL_LINE_MAX + READ_BYTES);
    check->fd =
        writ_view_is(writ_view_str(path), "-") ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (check->fd < 0) {
        WRIT_FAIL(err, errno == ENOENT ? WRIT_E_ABSENT : WRIT_E_IO, "%s: %s", path,
            strerrordesc_np(errno));
    }
    return WRIT_DONE;
}

static void
put_json(struct writ_buf *out, const struct check *check, const struct writ_arrival_report *r)
{
    struct writ_write w = writ_write_to(out);

    writ_write_object_begin(&w);
    writ_write_flag(&w, "ok", !check->is_bad && r->missing == 0);
    if (check->is_bad) {
        writ_write_count(&w, "line", check->line);
        writ_write_text(&w, "detail", writ_view_str(check->why.text));
    } else {
        writ_write_count(&w, "events", r->events);
        writ_write_count(&w, "repeats", r->repeats);
        writ_write_count(&w, "from", r->from);
        writ_write_count(&w, "size", r->size);
        writ_write_count(&w, "missing", r->missing);
        if (r->missing > 0) {
            writ_write_count(&w, "first_missing", r->first_missing);
        }
        writ_write_count(&w, "checkpoints", r->checkpoints);
        writ_write_flag(&w, "tree", r->tree);
    }
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer keeps the failure */
    writ_buf_byte(out, '\n');
}

static void
put_text(struct writ_buf *out, const struct check *check, const struct writ_arrival_report *r)
{
    if (check->is_bad) {
        writ_buf_fmt(out, "line %llu: %s\n", (unsigned long long)check->line, check->why.text);
        return;
    }
    if (r->missing > 0) {
        writ_buf_fmt(out, "missing %llu of the records %llu to %llu, the first of them %llu\n",
            (unsigned long long)r->missing, (unsigned long long)r->from,
            (unsigned long long)r->size - 1, (unsigned long long)r->first_missing);
        return;
    }
    writ_buf_fmt(out, "ok\nrecords      %llu to %llu, none missing\n", (unsigned long long)r->from,
        (unsigned long long)r->size - 1);
    writ_buf_fmt(out, "events       %llu, %llu of them repeats\n", (unsigned long long)r->events,
        (unsigned long long)r->repeats);
    writ_buf_fmt(out, "checkpoints  %llu, %s\n", (unsigned long long)r->checkpoints,
        r->tree ? "each the root of the tree over the events"
                : "whose trees need the records before");
}

static WRIT_RESULT
run(struct check *check, struct writ_arrival_report *report, struct writ_err *err)
{
    writ_auto_buf out = writ_buf_make(ANSWER_MAX);

    WRIT_TRY(open_all(check, err));
    WRIT_TRY(read_lines(check, err));
    if (!check->is_bad) {
        WRIT_TRY(judge(check, writ_arrival_end(check->arrival, report, &check->why), err));
    }
    if (!check->is_bad && report->size == 0) {
        WRIT_FAIL(err, WRIT_E_INVALID, "there is no event");
    }
    if (check->cli->json) {
        put_json(&out, check, report);
    } else {
        put_text(&out, check, report);
    }
    WRIT_TRY(writ_buf_check(&out, err));
    writ_cli_put(writ_buf_view(&out));
    return WRIT_DONE;
}

enum writ_exit
writ_command_verify_export(const struct writ_cli *cli)
{
    WRIT_AUTO(struct check, check_wipe) check = {.cli = cli, .fd = -1};
    struct writ_arrival_report report = {0};
    struct writ_err err = {0};
    writ_result result = run(&check, &report, &err);

    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    return check.is_bad || report.missing > 0 ? WRIT_EXIT_NEGATIVE : WRIT_EXIT_OK;
}
