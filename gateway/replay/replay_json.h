/* replay_json.h - the result of a replay as members of a JSON object (docs/json.md). */
#ifndef WRIT_GATEWAY_REPLAY_JSON_H
#define WRIT_GATEWAY_REPLAY_JSON_H

#include "evidence/json/write.h"
#include "gateway/replay/replay_run.h"

/** How many calls were decided, were not, and have another verdict now. */
void writ_replay_json_counts(const struct writ_replay_run *run, struct writ_write *w);

/** The policies of the records, and the groups of a sorted run; with the arguments of each example
 * when `shows_values`. */
void writ_replay_json_changes(
    const struct writ_replay_run *run, bool shows_values, struct writ_write *w);

/** Where the cause stands in the configuration that decides now: the constraint or the budget, else
 * the rule. NULL: no rule decides. */
const struct writ_yaml *writ_replay_json_place(const struct writ_rejudge_group *group);

#endif
