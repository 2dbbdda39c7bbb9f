/* changes.h - the effect of a reload on the options that changed, by the column of option.tbl.h.
 *
 * Every option that is not LIVE leaves a note when a configuration is read: its path and its value.
 * A reload compares the notes of two configurations; an option that only one of them has is
 * compared with its default. */
#ifndef WRIT_POLICY_CHANGES_H
#define WRIT_POLICY_CHANGES_H

#include "policy/read/setting.h"

#define WRIT_CHANGES_NAMES_MAX 2048 /* bytes of the names that writ_changes_check gives */

/** For option.c: notes the value of an option that is not LIVE.
 *
 * @param field     the value in the form of the option's kind
 * @param left_out  the value that the option has when it is left out
 */
void writ_changes_note(struct writ_options *o, const struct writ_setting *setting,
    const struct writ_option_place *place, const void *field, const void *left_out);

/**
 * Compares a configuration with that of the start.
 *
 * @param fresh      as it was read
 * @param ret_waits  gets the paths of the changed RESTART options, as "limits.body,
 *                   upstreams.fs.timeout"; the paths that do not fit are counted
 *
 * @return WRIT_E_INVALID  REFUSED options changed; `err` has their paths
 */
WRIT_RESULT writ_changes_check(const struct writ_config *start, const struct writ_config *fresh,
    struct writ_buf *ret_waits, struct writ_err *err);

/** Gives `fresh` the values that RESTART options had at the start; the running reviewers keep
 * theirs. `start` outlives `fresh`, which borrows from it from now on and is not shared yet. */
void writ_changes_keep(const struct writ_config *start, struct writ_config *fresh);

#endif
