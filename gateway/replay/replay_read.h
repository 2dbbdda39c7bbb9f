/* replay_read.h - hands kept calls to a replay.
 *
 *     WRIT_TRY(writ_replay_read_begin(&read, &run, err));
 *     WRIT_TRY(writ_contents_each(contents, &filter, writ_replay_read_call, &read, err));
 *     WRIT_TRY(writ_replay_read_check(&read, err));
 */
#ifndef WRIT_GATEWAY_REPLAY_READ_H
#define WRIT_GATEWAY_REPLAY_READ_H

#include "gateway/replay/replay_run.h"
#include "store/read/contents.h"

/** One reading. A failure in a callback ends it. */
struct writ_replay_read {
    struct writ_replay_run *run;
    struct writ_arena *arena; /* the arguments of one call */
    uint64_t looked;          /* contents that were opened */
    writ_result failed;
    struct writ_err err;
};

/** WRIT_E_NOMEM. `run` is borrowed until the wipe. */
WRIT_RESULT writ_replay_read_begin(
    struct writ_replay_read *r, struct writ_replay_run *run, struct writ_err *err);
void writ_replay_read_wipe(struct writ_replay_read *r);

/** For writ_contents_each, with `ctx` a struct writ_replay_read. */
bool writ_replay_read_call(void *ctx, const struct writ_contents_call *call);

/** How the calls fared. WRIT_E_MISMATCH (kept arguments that were changed), else as
 * writ_replay_run_take. */
WRIT_RESULT writ_replay_read_check(const struct writ_replay_read *r, struct writ_err *err);

#endif
