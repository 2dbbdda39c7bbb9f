/* learn_run.h - one run of `writ policy learn`: calls are learned, the proposal is written into the
 * text of the configuration, and every learned call is judged by it. */
#ifndef WRIT_CLI_LEARN_RUN_H
#define WRIT_CLI_LEARN_RUN_H

#include "cli/commands/learn_source.h"
#include "policy/learn/apply.h"

#define WRIT_LEARN_LEFT_MAX 24 /* reasons for which calls are left out */

/** Calls that are left out, or let in though the rules refuse them, for one reason. */
struct writ_learn_left {
    struct writ_view reason;
    uint64_t calls;
    struct writ_view decisions[WRIT_LEARN_DECISIONS_MAX];
    size_t decisions_n;
};

/** A tool, its proposal, and where that goes. */
struct writ_learn_result {
    struct writ_apply_change change;
    struct writ_learned learned;
    struct writ_view file; /* that is edited */
    bool *drop;            /* of change */
    size_t news, dropped;
    struct writ_agent agent; /* of its first call */
};

/** A file with its text before and after, and the configuration with that text. */
struct writ_learn_file {
    struct writ_view name, before, after;
    struct writ_config *config;
};

struct writ_learn_run {
    const struct writ_cli *cli;
    struct writ_config *config;
    struct writ_learn_source *source;
    struct writ_learn *learn;
    struct writ_arena *arena;   /* of the answer */
    struct writ_arena *scratch; /* of one call */
    uint64_t least, per_mille;
    bool include_refused;
    uint64_t seen, learned_from;
    struct writ_learn_left left[WRIT_LEARN_LEFT_MAX], loosened[WRIT_LEARN_LEFT_MAX];
    size_t left_n, loosened_n;
    struct writ_learn_result *results;
    size_t results_n;
    struct writ_learn_file *files;
    size_t files_n;
    uint64_t refused; /* learned calls that the proposal refuses: must be none */
    struct writ_view refused_decision;
    struct writ_buf cases; /* the file of --cases */
    size_t cases_n;
};

/** Learns, edits and judges. */
WRIT_RESULT writ_learn_run(struct writ_learn_run *run, struct writ_err *err);
void writ_learn_run_wipe(struct writ_learn_run *run);

/** The result whose tool and rule are those of a call; NULL when it is not learned from. Decides by
 * the configuration as it is; `ret_refused` (may be NULL) is true for a call that it refuses by a
 * constraint. */
struct writ_learn_result *writ_learn_run_result(
    struct writ_learn_run *run, const struct writ_learn_past *past);

/** The configuration with the proposal of a result. */
const struct writ_config *writ_learn_run_config(
    const struct writ_learn_run *run, const struct writ_learn_result *result);

#endif
