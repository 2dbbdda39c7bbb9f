/* The members of an event of a review, as a table. Validation knows the words of review.tbl.h;
 * reading keeps every member. */
#include "evidence/record/review_record.h"

#include "evidence/record/table.h"

#define ROW(member, KIND, NULLS, needed, meaning)                                                  \
    WRIT_TABLE_ROW(writ_review_record, member, KIND, NULLS, needed),

static const struct writ_table_row rows[] = {WRIT_REVIEW_MEMBERS(ROW)};

static const struct writ_view events[] = {
#define EVENT(NAME, name, happens) [WRIT_REVIEW_DO_##NAME] = {#name, sizeof #name - 1},
    WRIT_REVIEW_EVENTS(EVENT)
#undef EVENT
};

static const struct writ_table table = {
    .what = "review",
    .rows = rows,
    .rows_count = sizeof rows / sizeof rows[0],
    .others = offsetof(struct writ_review_record, others),
    .choices = events,
    .choices_count = sizeof events / sizeof events[0],
    .choice_fault = "is not an event of a review",
};

WRIT_RESULT
writ_review_record_read(const struct writ_json *value, struct writ_arena *arena,
    struct writ_review_record *ret, struct writ_err *err)
{
    struct writ_review_record record = {0};

    WRIT_TRY(writ_table_read(&table, value, arena, &record, err));
    *ret = record;
    return WRIT_DONE;
}

WRIT_RESULT
writ_review_record_put(
    const struct writ_review_record *record, struct writ_buf *ret, struct writ_err *err)
{
    return writ_table_put(&table, record, ret, err);
}

void
writ_review_record_validate(const struct writ_review_record *record, struct writ_faults *ret)
{
    enum writ_review_state state;
    struct writ_review_ranking ranking;

    writ_table_check(&table, record, ret);
    if (record->state.is == WRIT_PRESENT && !writ_review_state_find(record->state.view, &state)) {
        writ_faults_add(ret, "/state", "is not a state of a review");
    }
    if (record->vote.is == WRIT_PRESENT &&
        writ_review_vote_find(record->vote.view) == WRIT_REVIEW_NO_VOTE) {
        writ_faults_add(ret, "/vote", "is not one of " WRIT_REVIEW_VOTE_WORDS ", nor a candidate");
    }
    if (record->elected.is == WRIT_PRESENT &&
        !writ_review_is_candidate(writ_review_vote_find(record->elected.view))) {
        writ_faults_add(ret, "/elected", "is not a candidate");
    }
    if (record->ranking.is == WRIT_PRESENT &&
        !writ_review_ranking_of(record->ranking.items, record->ranking.count, &ranking)) {
        writ_faults_add(ret, "/ranking", "is not a list of different votes");
    }
    if (record->feedback.is == WRIT_PRESENT && !writ_review_is_feedback(record->feedback.view)) {
        writ_faults_add(ret, "/feedback", "is too long, or has control characters");
    }
    if (record->confidence.is == WRIT_PRESENT &&
        !writ_review_is_confidence(record->confidence.view)) {
        writ_faults_add(ret, "/confidence", "is not a decimal from 0 to 1");
    }
}

bool
writ_review_record_event(const struct writ_review_record *record, enum writ_review_event *ret)
{
    size_t event = writ_table_choice(&table, &record->event);

    if (event >= table.choices_count) {
        return false;
    }
    *ret = (enum writ_review_event)event;
    return true;
}
