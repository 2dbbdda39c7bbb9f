/* The table of reasons as an array. A value outside of the table reads as no reason, which never
 * allows. */
#include "evidence/record/reason.h"

struct row {
    struct writ_view name, sentence, hint;
    unsigned groups;
};

#define ROW(NAME, name_, groups_, sentence_, hint_)                                                \
    [WRIT_REASON_##NAME] = {                                                                       \
        .name = {#name_, sizeof #name_ - 1},                                                       \
        .sentence = {"" sentence_, sizeof sentence_ - 1},                                          \
        .hint = {"" hint_, sizeof hint_ - 1},                                                      \
        .groups = (groups_),                                                                       \
    },

static const struct row rows[WRIT_REASON_COUNT] = {
    [WRIT_REASON_NONE] = {.name = {"none", 4}, .sentence = {"no reason was given", 19}},
    WRIT_REASONS(ROW)};

/* An unknown value is shown as none, not as an error: it ends up in a refusal. */
static const struct row *
row_of(enum writ_reason reason)
{
    return (size_t)reason < WRIT_REASON_COUNT ? &rows[reason] : &rows[WRIT_REASON_NONE];
}

struct writ_view
writ_reason_name(enum writ_reason reason)
{
    return row_of(reason)->name;
}

struct writ_view
writ_reason_sentence(enum writ_reason reason)
{
    return row_of(reason)->sentence;
}

struct writ_view
writ_reason_hint(enum writ_reason reason)
{
    return row_of(reason)->hint;
}

unsigned
writ_reason_groups(enum writ_reason reason)
{
    return row_of(reason)->groups;
}

bool
writ_reason_is_of_run(struct writ_view name)
{
    return (writ_reason_groups(writ_reason_find(name)) & WRIT_REASON_IN_RUN) != 0;
}

struct writ_view
writ_reason_verdict(struct writ_view decision, struct writ_view reason)
{
    return writ_reason_is_of_run(reason) ? reason : decision;
}

enum writ_reason
writ_reason_find(struct writ_view name)
{
    for (size_t i = WRIT_REASON_NONE + 1; name.len > 0 && i < WRIT_REASON_COUNT; i++) {
        if (writ_view_equal(rows[i].name, name)) {
            return (enum writ_reason)i;
        }
    }
    return WRIT_REASON_NONE;
}
