/* review_rules.c - submits the rules in force as one entry, which owns its memory. Without memory
 * the entry is skipped: the reviews then end by their own terms. */
#include "gateway/reviewers/review_rules.h"

#include "policy/decide/approval.h"

#define ARENA_MAX ((size_t)64 << 20)

/* On the writer's thread: the entry and all that it names is in its arena. */
static void
told(struct writ_entry *entry)
{
    writ_arena_free(entry->arena);
}

void
writ_review_rules_tell(struct writ_ledger *ledger, const struct writ_config *config)
{
    struct writ_arena *arena = writ_arena_new(ARENA_MAX);
    struct writ_entry *entry = arena != NULL ? writ_arena_get(arena, sizeof *entry) : NULL;
    struct writ_views rules = {NULL, 0};

    if (entry == NULL || !writ_is_ok(writ_approval_rules(config, arena, &rules))) {
        writ_arena_free(arena);
        return;
    }
    *entry = (struct writ_entry){.kind = WRIT_ENTRY_REVIEW_RULES,
        .done = told,
        .arena = arena,
        .review_rules = {rules.items, rules.n}};
    if (!writ_is_ok(writ_ledger_submit(ledger, &entry, 1))) {
        writ_arena_free(arena);
    }
}
