/* writ verify receipt, bundle: checks evidence without its ledger. Only keys and witnesses that the
 * options name are trusted; the answer is `ok` or the first reason against the file. */
#include "base/text.h"
#include "cli/base/print.h"
#include "cli/base/progress.h"
#include "cli/commands/command.h"
#include "cli/commands/trust.h"
#include "evidence/json/write.h"
#include "evidence/proof/bundle_check.h"
#include "evidence/proof/receipt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ANSWER_MAX ((size_t)1 << 20)
#define SAFE_MAX   200 /* bytes of one name in a line for people */
#define READ_BYTES ((size_t)256 << 10)

/* The required signers of the checkpoint, by the options. */
struct signers {
    struct writ_trust logs, witnesses;
    struct writ_checkpoint_trust trust;
};

static void
signers_wipe(struct signers *signers)
{
    writ_trust_wipe(&signers->logs);
    writ_trust_wipe(&signers->witnesses);
}

static WRIT_RESULT
signers_read(const struct writ_cli *cli, struct signers *ret, struct writ_err *err)
{
    struct writ_checkpoint_trust *trust = &ret->trust;
    struct writ_view quorum = writ_cli_get(cli, "quorum");
    uint64_t most, least;

    WRIT_TRY(writ_trust_read(writ_cli_get(cli, "key").ptr, &ret->logs, err));
    if (writ_cli_has(cli, "witness")) {
        WRIT_TRY(writ_trust_read_witnesses(writ_cli_get(cli, "witness").ptr, &ret->witnesses, err));
    }
    trust->keys = (const struct writ_note_key *const *)ret->logs.keys;
    trust->keys_n = ret->logs.n;
    trust->witnesses = (const struct writ_note_key *const *)ret->witnesses.keys;
    trust->witnesses_n = ret->witnesses.n;
    most = writ_checkpoint_witnesses(trust->witnesses, trust->witnesses_n);
    least = most + ret->witnesses.unknown; /* all: also those that cannot be checked */
    if (quorum.ptr != NULL && !writ_is_ok(writ_text_u64(quorum, 1, most, &least))) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            "--quorum must be a number from 1 to that of the witnesses, %llu",
            (unsigned long long)most);
    }
    trust->quorum = (size_t)least;
    return WRIT_DONE;
}

/* ---- receipt */

static void
receipt_json(struct writ_buf *out, const struct writ_receipt *receipt, enum writ_reason why,
    const struct writ_err *more)
{
    bool ok = why == WRIT_REASON_EVIDENCE_OK;
    struct writ_write w = writ_write_to(out);
    char root[WRIT_DIGEST_TEXT];

    writ_write_object_begin(&w);
    writ_write_flag(&w, "ok", ok);
    writ_write_text(&w, "reason", ok ? WRIT_LIT("ok") : writ_reason_name(why));
    writ_write_text(&w, "sentence", writ_reason_sentence(why));
    if (!ok) {
        writ_write_text(&w, "detail", writ_view_str(more->text));
    } else {
        writ_digest_text(&receipt->checkpoint.root, root);
        writ_write_text(&w, "decision_id", receipt->decision.decision.decision_id.view);
        writ_write_text(&w, "decision", receipt->decision.decision.decision.view);
        writ_write_count(&w, "decision_index", receipt->decision_index);
        writ_write_name(&w, WRIT_LIT("outcome"));
        if (receipt->has_outcome) {
            writ_write_string(&w, receipt->outcome.outcome.outcome.view);
            writ_write_count(&w, "outcome_index", receipt->outcome_index);
        } else {
            writ_write_null(&w);
        }
        writ_write_count(&w, "decisions", receipt->decisions);
        writ_write_count(&w, "review_events", receipt->reviews);
        writ_write_text(&w, "origin", receipt->checkpoint.origin);
        writ_write_count(&w, "size", receipt->checkpoint.size);
        writ_write_text(&w, "root", writ_view_str(root));
    }
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer keeps the failure */
    writ_buf_byte(out, '\n');
}

static void
put_safe(struct writ_buf *out, const char *name, const struct writ_member_text *text)
{
    if (text->is == WRIT_PRESENT) {
        writ_buf_fmt(out, "  %s ", name);
        writ_text_json_safe(out, text->view, SAFE_MAX);
    }
}

static void
receipt_text(struct writ_buf *out, const struct writ_receipt *receipt)
{
    const struct writ_decision *decision = &receipt->decision.decision;

    writ_buf_fmt(out, "ok\ndecision  " WRIT_VIEW_FMT, WRIT_VIEW_ARG(decision->decision.view));
    put_safe(out, "of", &decision->agent_id);
    put_safe(out, "tool", &decision->tool);
    put_safe(out, "at", &decision->issued_at);
    writ_buf_fmt(out, "  record %llu\n", (unsigned long long)receipt->decision_index);
    if (receipt->has_outcome) {
        writ_buf_fmt(
            out, "outcome   " WRIT_VIEW_FMT, WRIT_VIEW_ARG(receipt->outcome.outcome.outcome.view));
        put_safe(out, "at", &receipt->outcome.outcome.completed_at);
        writ_buf_fmt(out, "  record %llu\n", (unsigned long long)receipt->outcome_index);
    } else {
        writ_buf_str(
            out, "outcome   none in this receipt: it does not cover the end of the call\n");
    }
    if (receipt->reviews > 0) {
        writ_buf_fmt(out, "review    %zu events\n", receipt->reviews);
    }
    writ_buf_fmt(out, "log       " WRIT_VIEW_FMT ", %llu records\n",
        WRIT_VIEW_ARG(receipt->checkpoint.origin), (unsigned long long)receipt->checkpoint.size);
}

static WRIT_RESULT
verify_receipt(const struct writ_cli *cli, enum writ_reason *ret, struct writ_err *err)
{
    writ_auto_arena arena = writ_arena_new(WRIT_RECEIPT_ARENA);
    WRIT_AUTO(struct signers, signers_wipe) signers = {0};
    writ_auto_buf text = writ_buf_make(WRIT_RECEIPT_BYTES_MAX + 1);
    writ_auto_buf out = writ_buf_make(ANSWER_MAX);
    struct writ_receipt receipt = {0};
    struct writ_err more = {0};

    if (arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    WRIT_TRY(signers_read(cli, &signers, err));
    WRIT_TRY(writ_cli_read(writ_cli_operand(cli, 0).ptr, WRIT_RECEIPT_BYTES_MAX, &text, err));
    WRIT_TRY(
        writ_receipt_verify(writ_buf_view(&text), &signers.trust, arena, &receipt, ret, &more));
    if (cli->json) {
        receipt_json(&out, &receipt, *ret, &more);
    } else if (*ret == WRIT_REASON_EVIDENCE_OK) {
        receipt_text(&out, &receipt);
    } else {
        writ_print_refusal(&out, *ret, more.text);
    }
    WRIT_TRY(writ_buf_check(&out, err));
    writ_cli_put(writ_buf_view(&out));
    return WRIT_DONE;
}

/* ---- bundle */

struct lines {
    const struct writ_cli *cli;
    struct writ_bundle_check *check;
    int fd;
    uint64_t size, done; /* bytes; size 0: not known */
    struct writ_progress progress;
    uint64_t number;      /* of the line */
    struct writ_buf rest; /* the input read so far, from the beginning of a line on */
    enum writ_reason why;
    struct writ_err more;
};

static void
check_freep(struct writ_bundle_check **check)
{
    writ_bundle_check_free(*check);
}

static void
lines_wipe(struct lines *lines)
{
    if (lines->fd > STDERR_FILENO) {
        (void)close(lines->fd);
    }
    writ_buf_wipe(&lines->rest);
}

static WRIT_RESULT
lines_open(const char *path, struct lines *ret, struct writ_err *err)
{
    struct stat st;

    ret->rest = writ_buf_make(WRIT_BUNDLE_LINE_MAX + READ_BYTES);
    ret->fd = STDIN_FILENO;
    if (!writ_view_is(writ_view_str(path), "-")) {
        ret->fd = open(path, O_RDONLY | O_CLOEXEC);
    }
    if (ret->fd < 0) {
        WRIT_FAIL(err, errno == ENOENT ? WRIT_E_ABSENT : WRIT_E_IO, "%s: %s", path,
            strerrordesc_np(errno));
    }
    if (fstat(ret->fd, &st) == 0 && S_ISREG(st.st_mode)) {
        ret->size = (uint64_t)st.st_size;
    }
    return WRIT_DONE;
}

/* Takes the complete lines. */
static WRIT_RESULT
take_lines(struct lines *lines, struct writ_err *err)
{
    struct writ_view text = writ_buf_view(&lines->rest);
    size_t end, taken = 0;

    while ((end = writ_view_find(text, '\n')) < text.len) {
        lines->number++;
        WRIT_TRY(writ_bundle_check_line(
            lines->check, writ_view_sub(text, 0, end), &lines->why, &lines->more));
        if (lines->why != WRIT_REASON_EVIDENCE_OK) {
            return WRIT_DONE;
        }
        text = writ_view_sub(text, end + 1, text.len);
        taken += end + 1;
    }
    writ_buf_consume(&lines->rest, taken);
    if (lines->rest.len > WRIT_BUNDLE_LINE_MAX) {
        lines->number++;
        lines->why = WRIT_REASON_EVIDENCE_MALFORMED;
        (void)writ_fail(
            &lines->more, WRIT_E_LIMIT, "a line is longer than %zu bytes", WRIT_BUNDLE_LINE_MAX);
    }
    (void)err;
    return WRIT_DONE;
}

static WRIT_RESULT
read_all(struct lines *lines, struct writ_err *err)
{
    lines->why = WRIT_REASON_EVIDENCE_OK;
    for (;;) {
        char *to = writ_buf_reserve(&lines->rest, READ_BYTES);
        ssize_t n;

        if (to == NULL) {
            return writ_buf_check(&lines->rest, err);
        }
        n = read(lines->fd, to, READ_BYTES);
        if (n < 0) {
            WRIT_FAIL(err, WRIT_E_IO, "the bundle cannot be read: %s", strerrordesc_np(errno));
        }
        lines->rest.len += (size_t)n;
        if (n == 0) {
            return WRIT_DONE;
        }
        lines->done += (uint64_t)n;
        WRIT_TRY(take_lines(lines, err));
        if (lines->why != WRIT_REASON_EVIDENCE_OK) {
            return WRIT_DONE;
        }
        (void)writ_progress_step(&lines->progress, lines->done, lines->size);
    }
}

static void
bundle_json(struct writ_buf *out, const struct lines *lines, const struct writ_bundle_report *r,
    const struct writ_checkpoint *head)
{
    bool ok = lines->why == WRIT_REASON_EVIDENCE_OK;
    struct writ_write w = writ_write_to(out);

    writ_write_object_begin(&w);
    writ_write_flag(&w, "ok", ok);
    writ_write_text(&w, "reason", ok ? WRIT_LIT("ok") : writ_reason_name(lines->why));
    writ_write_text(&w, "sentence", writ_reason_sentence(lines->why));
    if (ok) {
        writ_bundle_check_put(&w, r, head);
    } else {
        writ_write_count(&w, "line", lines->number);
        writ_write_text(&w, "detail", writ_view_str(lines->more.text));
    }
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer keeps the failure */
    writ_buf_byte(out, '\n');
}

static void
bundle_text(
    struct writ_buf *out, const struct writ_bundle_report *r, const struct writ_checkpoint *head)
{
    writ_buf_fmt(out,
        "ok\nrecords   %llu: %llu decisions, %llu outcomes, %llu seals, %llu events of reviews; "
        "%llu "
        "withheld\n",
        (unsigned long long)r->records, (unsigned long long)r->decisions,
        (unsigned long long)r->outcomes, (unsigned long long)r->seals,
        (unsigned long long)r->reviews, (unsigned long long)r->withheld);
    writ_buf_fmt(out, "runs      %llu: %llu with faults, %llu unsealed\n",
        (unsigned long long)r->boundaries, (unsigned long long)r->faulty,
        (unsigned long long)r->unsealed);
    writ_buf_fmt(out,
        "lacks     %llu outcomes, %llu decisions of outcomes, %llu records in between\n",
        (unsigned long long)r->in_flight, (unsigned long long)r->unmatched,
        (unsigned long long)r->inside);
    if (r->twice > 0) {
        writ_buf_fmt(out, "twice     %llu calls under a key that another one had claimed\n",
            (unsigned long long)r->twice);
    }
    writ_buf_fmt(out, "log       " WRIT_VIEW_FMT ", %llu records\n", WRIT_VIEW_ARG(head->origin),
        (unsigned long long)head->size);
}

static WRIT_RESULT
verify_bundle(const struct writ_cli *cli, enum writ_reason *ret, struct writ_err *err)
{
    WRIT_AUTO(struct signers, signers_wipe) signers = {0};
    WRIT_AUTO(struct writ_bundle_check *, check_freep) check = NULL;
    WRIT_AUTO(struct lines, lines_wipe) lines = {.cli = cli, .fd = -1};
    writ_auto_buf out = writ_buf_make(ANSWER_MAX);
    struct writ_bundle_report report = {0};
    struct writ_checkpoint head = {0};
    writ_result result;

    WRIT_TRY(signers_read(cli, &signers, err));
    WRIT_TRY(lines_open(writ_cli_operand(cli, 0).ptr, &lines, err));
    WRIT_TRY(writ_bundle_check_new(&signers.trust, &check, err));
    lines.check = check;
    lines.progress = writ_progress_begin(cli, "bytes");
    result = read_all(&lines, err);
    writ_progress_end(&lines.progress);
    WRIT_TRY(result);
    if (lines.why == WRIT_REASON_EVIDENCE_OK &&
        (!writ_bundle_check_ended(check, &report, &head) || lines.rest.len > 0)) {
        lines.why = WRIT_REASON_EVIDENCE_MALFORMED;
        (void)writ_fail(&lines.more, WRIT_E_INVALID, "the file is truncated");
    }
    if (cli->json) {
        bundle_json(&out, &lines, &report, &head);
    } else if (lines.why == WRIT_REASON_EVIDENCE_OK) {
        bundle_text(&out, &report, &head);
    } else {
        writ_buf_fmt(&out, WRIT_VIEW_FMT "\n", WRIT_VIEW_ARG(writ_reason_name(lines.why)));
        (void)fprintf(stderr, "line %llu: %s\n", (unsigned long long)lines.number, lines.more.text);
    }
    WRIT_TRY(writ_buf_check(&out, err));
    writ_cli_put(writ_buf_view(&out));
    *ret = lines.why;
    return WRIT_DONE;
}

/* Runs one of them. */
static enum writ_exit
answer(const struct writ_cli *cli,
    WRIT_RESULT (*fn)(const struct writ_cli *, enum writ_reason *, struct writ_err *))
{
    enum writ_reason why = WRIT_REASON_NONE;
    struct writ_err err = {0};
    writ_result result;

    if (writ_cli_has(cli, "quorum") && !writ_cli_has(cli, "witness")) {
        return writ_cli_usage(cli, "--quorum needs --witness");
    }
    result = fn(cli, &why, &err);
    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    return why == WRIT_REASON_EVIDENCE_OK ? WRIT_EXIT_OK : WRIT_EXIT_NEGATIVE;
}

enum writ_exit
writ_command_verify_receipt(const struct writ_cli *cli)
{
    return answer(cli, verify_receipt);
}

enum writ_exit
writ_command_verify_bundle(const struct writ_cli *cli)
{
    return answer(cli, verify_bundle);
}
