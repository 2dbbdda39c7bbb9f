/* writ verify receipt ...: what somebody does who was handed evidence, as a tool. */
#include "base/text.h"
#include "cli/cli.h"
#include "cli/trust.h"
#include "evidence/receipt.h"
#include "evidence/write.h"

#include <stdio.h>

#define ANSWER_MAX ((size_t)1 << 20)
#define SAFE_MAX   200 /* bytes of one name in a line for people */

static void
arena_freep(struct writ_arena **arena)
{
    writ_arena_free(*arena);
}

static void
put_text(struct writ_write *w, const char *name, struct writ_view text)
{
    writ_write_name(w, writ_view_str(name));
    writ_write_string(w, text);
}

static void
put_count(struct writ_write *w, const char *name, uint64_t count)
{
    writ_write_name(w, writ_view_str(name));
    writ_write_u64(w, count);
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
    writ_write_name(&w, WRIT_LIT("ok"));
    writ_write_bool(&w, ok);
    put_text(&w, "reason", ok ? WRIT_LIT("ok") : writ_reason_name(why));
    put_text(&w, "sentence", writ_reason_sentence(why));
    if (!ok) {
        put_text(&w, "detail", writ_view_str(more->text));
    } else {
        writ_digest_text(&receipt->checkpoint.root, root);
        put_text(&w, "decision_id", receipt->decision.decision.decision_id.view);
        put_text(&w, "decision", receipt->decision.decision.decision.view);
        put_count(&w, "decision_index", receipt->decision_index);
        writ_write_name(&w, WRIT_LIT("outcome"));
        if (receipt->has_outcome) {
            writ_write_string(&w, receipt->outcome.outcome.outcome.view);
            put_count(&w, "outcome_index", receipt->outcome_index);
        } else {
            writ_write_null(&w);
        }
        put_count(&w, "decisions", receipt->decisions);
        put_count(&w, "review_events", receipt->reviews);
        put_text(&w, "origin", receipt->checkpoint.origin);
        put_count(&w, "size", receipt->checkpoint.size);
        put_text(&w, "root", writ_view_str(root));
    }
    writ_write_object_end(&w);
    WRIT_IGNORE(writ_write_end(&w, NULL)); /* the buffer remembers */
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
        writ_buf_str(out, "outcome   none in this receipt: it does not say how the call ended\n");
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
    WRIT_AUTO(struct writ_arena *, arena_freep) arena = writ_arena_new(WRIT_RECEIPT_ARENA);
    WRIT_AUTO(struct writ_trust, writ_trust_wipe) trust = {0};
    writ_auto_buf text = writ_buf_make(WRIT_RECEIPT_BYTES_MAX + 1);
    writ_auto_buf out = writ_buf_make(ANSWER_MAX);
    struct writ_receipt receipt = {0};
    struct writ_err more = {0};

    if (arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    WRIT_TRY(writ_trust_read(writ_cli_get(cli, "key").ptr, &trust, err));
    WRIT_TRY(writ_cli_read(writ_cli_operand(cli, 0).ptr, WRIT_RECEIPT_BYTES_MAX, &text, err));
    WRIT_TRY(writ_receipt_verify(writ_buf_view(&text),
        (const struct writ_note_key *const *)trust.keys, trust.n, arena, &receipt, ret, &more));
    if (cli->json) {
        receipt_json(&out, &receipt, *ret, &more);
    } else if (*ret == WRIT_REASON_EVIDENCE_OK) {
        receipt_text(&out, &receipt);
    } else {
        writ_buf_fmt(&out, WRIT_VIEW_FMT "\n", WRIT_VIEW_ARG(writ_reason_name(*ret)));
        (void)fprintf(stderr, "%s\n", more.text);
    }
    WRIT_TRY(writ_buf_check(&out, err));
    writ_cli_put(writ_buf_view(&out));
    return WRIT_DONE;
}

enum writ_exit
writ_command_verify_receipt(const struct writ_cli *cli)
{
    enum writ_reason why = WRIT_REASON_NONE;
    struct writ_err err = {0};
    writ_result result = verify_receipt(cli, &why, &err);

    if (!writ_is_ok(result)) {
        return writ_cli_fail(cli, result, &err);
    }
    return why == WRIT_REASON_EVIDENCE_OK ? WRIT_EXIT_OK : WRIT_EXIT_NEGATIVE;
}
