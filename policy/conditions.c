#include "policy/conditions.h"

#include "policy/approval.h"
#include "policy/constraint.h"
#include "policy/rule.h"

/* NULL: there is no such rule, or it says something else than it did for the review. */
static const struct writ_approval *
find_approval(const struct writ_config *config, struct writ_view ref, struct writ_view rules_digest)
{
    for (size_t i = 0; i < config->policy->n; i++) {
        const struct writ_tool_entry *entry = &config->policy->entries[i];

        for (size_t n = 0; n < entry->rules_n; n++) {
            const struct writ_approval *approval = entry->rules[n].approval;
            char text[WRIT_DIGEST_TEXT];

            if (approval == NULL || !writ_view_equal(entry->rules[n].ref, ref)) {
                continue;
            }
            writ_digest_text(&approval->rules, text);
            return writ_view_is(rules_digest, text) ? approval : NULL;
        }
    }
    return NULL;
}

void
writ_conditions_put(struct writ_write *w, const struct writ_config *config, struct writ_view ref,
    struct writ_view rules_digest, const struct writ_json *arguments, struct writ_arena *arena)
{
    const struct writ_approval *approval = find_approval(config, ref, rules_digest);
    const struct writ_constraint_set *when = approval != NULL ? approval->when : NULL;

    if (when == NULL) {
        return;
    }
    writ_write_name(w, WRIT_LIT("conditions"));
    writ_write_array_begin(w);
    for (size_t i = 0; i < when->n; i++) {
        const struct writ_constraint *c = &when->items[i];
        bool holds = writ_constraint_holds(when, c, arguments, arena, NULL) == WRIT_HOLDS_YES;

        writ_write_object_begin(w);
        writ_write_text(w, "condition", c->name);
        writ_write_text(w, "wants", c->accepted);
        writ_write_text(w, "found", holds ? WRIT_LIT("holds") : WRIT_LIT("cannot be told"));
        writ_write_object_end(w);
    }
    writ_write_array_end(w);
}
