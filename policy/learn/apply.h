/* apply.h - writes learned constraints into the text of a configuration file, and changes nothing
 * else in it.
 *
 * A rule keeps what it says: learned constraints come behind its own, and one that says no more
 * than an own one is left out. A tool that only a pattern is for gets a rule of its own, a copy of
 * the pattern's, because the exact name wins. A tool without a rule gets a new one. */
#ifndef WRIT_POLICY_APPLY_H
#define WRIT_POLICY_APPLY_H

#include "policy/learn/learn.h"
#include "policy/model/rule.h"

struct writ_apply_change {
    const struct writ_learn_tool *tool;
    const struct writ_learned *learned;
    const struct writ_tool_entry *entry; /* the tool's entry in the configuration, or NULL */
    const struct writ_tool_rule *rule;   /* the one of it that decides, or NULL */
    const bool *drop;                    /* constraints of the rule that leave it; NULL: none */
};

/** Writes one change. `text` is the whole file in which the rule stands; a new rule goes into any
 * file with `tools`.
 * WRIT_OK; WRIT_E_ABSENT (the file has no place for it), WRIT_E_PARSE, WRIT_E_LIMIT, WRIT_E_NOMEM;
 * then `ret` is of no use. */
WRIT_RESULT writ_apply_put(
    struct writ_view text, const struct writ_apply_change *change, struct writ_buf *ret);

/** How many of the learned constraints the rule does not say yet. */
size_t writ_apply_news(const struct writ_apply_change *change);

#endif
