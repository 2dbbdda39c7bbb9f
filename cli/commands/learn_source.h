/* learn_source.h - the past calls that `writ policy learn` reads, one after the other and as often
 * as asked: kept contents of a ledger, or a file with one call a line. */
#ifndef WRIT_CLI_LEARN_SOURCE_H
#define WRIT_CLI_LEARN_SOURCE_H

#include "cli/base/cli.h"
#include "policy/decide/policy.h"

/** Why a call is not learned from, before its rules are asked. */
enum writ_learn_gap {
    WRIT_LEARN_GAP_NONE = 0,
    WRIT_LEARN_GAP_NOT_EXECUTED, /* its outcome is not `executed` */
    WRIT_LEARN_GAP_FAILED,       /* its kept result says that it failed */
    WRIT_LEARN_GAP_NOT_KEPT,     /* its arguments are not kept, or not any more, or locked */
    WRIT_LEARN_GAP_CHANGED,      /* they are not those that were recorded */
    WRIT_LEARN_GAP_PARTIAL,      /* secret members were left out of them */
};

/** One past call. All borrowed. */
struct writ_learn_past {
    struct writ_agent agent;
    struct writ_policy_call call; /* its agent is the one above */
    struct writ_view run, decision;
    enum writ_learn_gap gap;
};

struct writ_learn_source;

/** Opens what the command line names: the operand STORE, or --calls. WRIT_E_INVALID when it names
 * both or neither, or a filter is wrong; the errors of the store. */
WRIT_RESULT writ_learn_source_open(const struct writ_cli *cli, const struct writ_config *config,
    struct writ_learn_source **ret, struct writ_err *err);
/** NULL is permitted. */
void writ_learn_source_close(struct writ_learn_source *source);

/** Calls `take` for each call that the filters of the command line admit, the oldest first, until
 * it fails. */
WRIT_RESULT writ_learn_source_each(struct writ_learn_source *source,
    WRIT_RESULT (*take)(void *user, const struct writ_learn_past *past, struct writ_err *err),
    void *user, struct writ_err *err);

/** Records in the ledger that its contents were read, if any were; print nothing of them before. As
 * writ_contents_source_record. */
WRIT_RESULT writ_learn_source_record(struct writ_learn_source *source, struct writ_err *err);

#endif
