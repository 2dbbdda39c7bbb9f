/* replay_read.c - arguments are those whose digest the signed record has: contents that were
 * changed end the reading. */
#include "gateway/replay/replay_read.h"

#define CALL_ARENA ((size_t)256 << 20) /* the arguments of one call, as values */

WRIT_RESULT
writ_replay_read_begin(
    struct writ_replay_read *r, struct writ_replay_run *run, struct writ_err *err)
{
    *r = (struct writ_replay_read){
        .run = run, .arena = writ_arena_new(CALL_ARENA), .failed = WRIT_DONE};
    if (r->arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for a replay");
    }
    return WRIT_DONE;
}

void
writ_replay_read_wipe(struct writ_replay_read *r)
{
    writ_arena_free(r->arena);
    *r = (struct writ_replay_read){0};
}

WRIT_RESULT
writ_replay_read_check(const struct writ_replay_read *r, struct writ_err *err)
{
    return writ_is_ok(r->failed) ? WRIT_DONE : writ_fail(err, r->failed.code, "%s", r->err.text);
}

static enum writ_replay_run_gap
gap_of(enum writ_content_state state)
{
    switch (state) {
    case WRIT_CONTENT_ABSENT:
        return WRIT_REPLAY_RUN_NOT_KEPT;
    case WRIT_CONTENT_ERASED:
        return WRIT_REPLAY_RUN_ERASED;
    case WRIT_CONTENT_LOCKED:
    case WRIT_CONTENT_CHANGED:
    case WRIT_CONTENT_KEPT:
        return WRIT_REPLAY_RUN_LOCKED;
    }
    return WRIT_REPLAY_RUN_NOT_KEPT;
}

static WRIT_RESULT
take_call(struct writ_replay_read *r, const struct writ_contents_call *call)
{
    const struct writ_content *kept = &call->arguments;
    struct writ_replay_run_record record = {
        .decision = call->decision,
        .extension = call->extension,
        .gap = gap_of(kept->state),
        .nothing_ran = call->nothing_ran,
    };

    if (writ_reason_is_of_run(writ_member_view(&call->extension->reason))) {
        return WRIT_DONE;
    }
    if (kept->state == WRIT_CONTENT_CHANGED) {
        WRIT_FAIL(&r->err, WRIT_E_MISMATCH,
            "the kept arguments of decision " WRIT_VIEW_FMT
            " are not those of its record: they were "
            "changed. Erase them with writ ledger erase, or choose a later --since",
            WRIT_VIEW_ARG(call->decision->decision_id.view));
    }
    if (kept->state == WRIT_CONTENT_KEPT) {
        struct writ_json_limits limits = writ_json_limits_default;

        writ_arena_reset(r->arena);
        limits.bytes = WRIT_CONTENT_MAX;
        WRIT_TRY(writ_json_read(kept->bytes, &limits, r->arena, &record.arguments, &r->err));
        record.canonical = kept->bytes;
        record.in_part = kept->redacted;
        r->looked++;
    }
    return writ_replay_run_take(r->run, &record, &r->err);
}

bool
writ_replay_read_call(void *ctx, const struct writ_contents_call *call)
{
    struct writ_replay_read *r = ctx;

    r->failed = take_call(r, call);
    return writ_is_ok(r->failed);
}
