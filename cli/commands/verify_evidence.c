/* writ verify receipt, bundle: checks evidence without its ledger. Only keys and witnesses that the
 * options name are trusted; the answer is `ok` or the first reason against the file. */
#include "base/text.h"
#include "cli/base/print.h"
#include "cli/commands/bundle_file.h"
#include "cli/commands/command.h"
#include "cli/commands/signers.h"
#include "evidence/json/write.h"
#include "evidence/proof/receipt.h"

#include <stdio.h>

#define ANSWER_MAX ((size_t)1 << 20)
#define SAFE_MAX   200 /* bytes of one name in a line for people */

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
    WRIT_AUTO(struct writ_signers, writ_signers_wipe) signers = {0};
    writ_auto_buf text = writ_buf_make(WRIT_RECEIPT_BYTES_MAX + 1);
    writ_auto_buf out = writ_buf_make(ANSWER_MAX);
    struct writ_receipt receipt = {0};
    struct writ_err more = {0};

    if (arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    WRIT_TRY(writ_signers_read(cli, &signers, err));
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

static void
bundle_json(struct writ_buf *out, const struct writ_bundle_file *file)
{
    struct writ_write w = writ_write_to(out);

    writ_write_object_begin(&w);
    writ_bundle_file_put(&w, file, file->why);
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
    WRIT_AUTO(struct writ_bundle_file, writ_bundle_file_wipe) file = {.fd = -1};
    writ_auto_buf out = writ_buf_make(ANSWER_MAX);

    WRIT_TRY(writ_bundle_file_verify(cli, NULL, NULL, &file, err));
    if (cli->json) {
        bundle_json(&out, &file);
    } else if (file.why == WRIT_REASON_EVIDENCE_OK) {
        bundle_text(&out, &file.report, &file.head);
    } else {
        writ_bundle_file_print_reason(&file);
    }
    WRIT_TRY(writ_buf_check(&out, err));
    writ_cli_put(writ_buf_view(&out));
    *ret = file.why;
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
