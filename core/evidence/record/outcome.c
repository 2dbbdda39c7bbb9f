/* The members of an outcome, as a table, and the rules between them. The kind zero claims the
 * least: the call may have run. */
#include "evidence/record/outcome.h"

#include "evidence/record/decision.h"
#include "evidence/record/table.h"

#define ROW(member, KIND, NULLS, needed, meaning)                                                  \
    WRIT_TABLE_ROW(writ_outcome, member, KIND, NULLS, needed),

static const struct writ_table_row rows[] = {WRIT_OUTCOME_MEMBERS(ROW)};

static const struct writ_view kinds[] = {
#define KIND(NAME, word) [WRIT_OUTCOME_##NAME] = {#word, sizeof #word - 1},
    WRIT_OUTCOME_KINDS(KIND)
#undef KIND
};

static const struct writ_table table = {
    .what = "outcome",
    .rows = rows,
    .rows_count = sizeof rows / sizeof rows[0],
    .others = offsetof(struct writ_outcome, others),
    .choices = kinds,
    .choices_count = sizeof kinds / sizeof kinds[0],
    .choice_fault = "is not one of " WRIT_OUTCOME_KINDS_WITH(WRIT_RECORD_WORD, ", "),
};

struct writ_view
writ_outcome_kind_name(enum writ_outcome_kind kind)
{
    WRIT_INVARIANT((size_t)kind < table.choices_count);
    return kinds[kind];
}

struct writ_member_text
writ_outcome_kind_text(enum writ_outcome_kind kind)
{
    return writ_member_text(writ_outcome_kind_name(kind));
}

static bool
find_kind(const struct writ_member_text *text, enum writ_outcome_kind *ret)
{
    size_t choice = writ_table_choice(&table, text);

    if (choice == table.choices_count) {
        return false;
    }
    *ret = (enum writ_outcome_kind)choice;
    return true;
}

bool
writ_outcome_kind_find(struct writ_view name, enum writ_outcome_kind *ret)
{
    struct writ_member_text text = writ_member_text(name);

    return find_kind(&text, ret);
}

bool
writ_outcome_kind_of(const struct writ_outcome *outcome, enum writ_outcome_kind *ret)
{
    return find_kind(&outcome->outcome, ret);
}

bool
writ_outcome_is(const struct writ_outcome *outcome, enum writ_outcome_kind kind)
{
    return writ_table_choice(&table, &outcome->outcome) == (size_t)kind;
}

bool
writ_outcome_nothing_ran(const struct writ_outcome *outcome)
{
    if (writ_outcome_is(outcome, WRIT_OUTCOME_BLOCKED)) {
        return true;
    }
    return writ_outcome_is(outcome, WRIT_OUTCOME_ERROR) && outcome->error_type.is == WRIT_PRESENT &&
           writ_view_is(outcome->error_type.view, WRIT_OUTCOME_NOT_SENT);
}

WRIT_RESULT
writ_outcome_read(const struct writ_json *value, struct writ_arena *arena, struct writ_outcome *ret,
    struct writ_err *err)
{
    struct writ_outcome outcome = {0};

    WRIT_TRY(writ_table_read(&table, value, arena, &outcome, err));
    *ret = outcome;
    return WRIT_DONE;
}

WRIT_RESULT
writ_outcome_put(const struct writ_outcome *outcome, struct writ_buf *ret, struct writ_err *err)
{
    return writ_table_put(&table, outcome, ret, err);
}

void
writ_outcome_validate(const struct writ_outcome *outcome, struct writ_faults *ret)
{
    writ_table_check(&table, outcome, ret);
}

/* ---- making one */

/* A value of the decision, repeated in an outcome: an absent one becomes null. */
static struct writ_member_text
repeated(struct writ_member_text text)
{
    return text.is == WRIT_PRESENT ? text : (struct writ_member_text){WRIT_NULL, {0}};
}

struct writ_outcome
writ_outcome_for(const struct writ_decision *decision, enum writ_outcome_kind kind)
{
    return (struct writ_outcome){
        .decision_id = decision->decision_id,
        .intent_ref = repeated(decision->intent_ref),
        .idempotency_key = repeated(decision->idempotency_key),
        .boundary_id = decision->boundary_id,
        .seq = decision->seq,
        .outcome = writ_outcome_kind_text(kind),
        .receipt_ref = {WRIT_NULL, {0}},
        .tool_output_hash = {WRIT_NULL, {0}},
    };
}
