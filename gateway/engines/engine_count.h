/* engine_count.h - one count of a plug-in, in a process of its own (engine_process.h). */
#ifndef WRIT_GATEWAY_ENGINE_COUNT_H
#define WRIT_GATEWAY_ENGINE_COUNT_H

#include "crew/panel.h"
#include "gateway/engines/engine_message.h"

/** A plug-in, and the limits of a count. */
struct writ_engine_count {
    struct writ_view object; /* as its file has it */
    unsigned seconds;        /* of a count; 1 to WRIT_ENGINE_SECONDS_MAX */
    int stop;                /* a descriptor: the count ends when it is readable; -1: none */
};

/** What a plug-in says of itself. */
struct writ_engine_about {
    uint32_t abi;                             /* WRIT_CREW_ENGINE_ABI: that of this program */
    char name[WRIT_CREW_ENGINE_NAME_MAX + 1]; /* empty: too long, or of another ABI */
};

/** Asks a plug-in about itself, which loads it. As writ_engine_count_run. */
WRIT_RESULT writ_engine_count_describe(
    const struct writ_engine_count *count, struct writ_engine_about *ret, struct writ_err *err);

/** Whether it can count: it can be loaded, and is of this ABI. As writ_engine_count_run. */
WRIT_RESULT writ_engine_count_check(const struct writ_engine_count *count, struct writ_err *err);

/**
 * Counts. Blocks, for at most its seconds. Any thread.
 *
 * @param tally       gets the winner and the explanation
 * @param ret_refused written only on success: whether the plug-in refuses the ballots
 *
 * @return WRIT_OK
 *         WRIT_E_BUSY, as writ_engine_process_ask
 *         WRIT_E_IO, WRIT_E_NOMEM, WRIT_E_LIMIT  no answer: the error completes "the plug-in: "
 */
WRIT_RESULT writ_engine_count_run(const struct writ_engine_count *count,
    const struct writ_crew_poll *poll, struct writ_crew_tally *tally, bool *ret_refused,
    struct writ_err *err);

/** The same for the judge of a review. Borrowed as long as it is used. */
struct writ_panel_plugin writ_engine_count_plugin(const struct writ_engine_count *count);

#endif
