/* The members of a decision, as a table, and the rules between them. Reading keeps every member;
 * only validation judges them. */
#include "evidence/record/decision.h"

#include "evidence/record/table.h"

#define ROW(member, KIND, NULLS, needed, meaning)                                                  \
    WRIT_TABLE_ROW(writ_decision, member, KIND, NULLS, needed),

static const struct writ_table_row rows[] = {WRIT_DECISION_MEMBERS(ROW)};

static const struct writ_view routes[] = {
#define ROUTE(NAME, word) [WRIT_DECISION_##NAME] = {#word, sizeof #word - 1},
    WRIT_DECISION_ROUTES(ROUTE)
#undef ROUTE
};

static const struct writ_table table = {
    .what = "decision",
    .rows = rows,
    .rows_count = sizeof rows / sizeof rows[0],
    .others = offsetof(struct writ_decision, others),
    .choices = routes,
    .choices_count = sizeof routes / sizeof routes[0],
    .choice_fault = "is not one of " WRIT_DECISION_ROUTES_WITH(WRIT_RECORD_WORD, ", "),
};

struct writ_view
writ_decision_route_name(enum writ_decision_route route)
{
    WRIT_INVARIANT((size_t)route < table.choices_count);
    return routes[route];
}

struct writ_member_text
writ_decision_route_text(enum writ_decision_route route)
{
    return writ_member_text(writ_decision_route_name(route));
}

static bool
find_route(const struct writ_member_text *text, enum writ_decision_route *ret)
{
    size_t choice = writ_table_choice(&table, text);

    if (choice == table.choices_count) {
        return false;
    }
    *ret = (enum writ_decision_route)choice;
    return true;
}

bool
writ_decision_route_find(struct writ_view name, enum writ_decision_route *ret)
{
    struct writ_member_text text = writ_member_text(name);

    return find_route(&text, ret);
}

bool
writ_decision_route_of(const struct writ_decision *decision, enum writ_decision_route *ret)
{
    return find_route(&decision->decision, ret);
}

bool
writ_decision_is(const struct writ_decision *decision, enum writ_decision_route route)
{
    return writ_table_choice(&table, &decision->decision) == (size_t)route;
}

WRIT_RESULT
writ_decision_read(const struct writ_json *value, struct writ_arena *arena,
    struct writ_decision *ret, struct writ_err *err)
{
    struct writ_decision decision = {0};

    WRIT_TRY(writ_table_read(&table, value, arena, &decision, err));
    *ret = decision;
    return WRIT_DONE;
}

WRIT_RESULT
writ_decision_put(const struct writ_decision *decision, struct writ_buf *ret, struct writ_err *err)
{
    return writ_table_put(&table, decision, ret, err);
}

/* False when one of them is not a time. */
static bool
is_before(struct writ_view a, struct writ_view b)
{
    int64_t a_us, b_us;

    if (a.len == b.len && writ_view_compare(a, b) >= 0) {
        return false; /* with equal digits their order is the order of the times */
    }
    return writ_member_time(a, &a_us) && writ_member_time(b, &b_us) && a_us < b_us;
}

void
writ_decision_validate(const struct writ_decision *decision, struct writ_faults *ret)
{
    writ_table_check(&table, decision, ret);
    if (decision->seq.is == WRIT_PRESENT && decision->running_count.is == WRIT_PRESENT &&
        decision->running_count.value != decision->seq.value + 1) {
        writ_faults_add(ret, "/running_count", "is not seq + 1");
    }
    if (decision->issued_at.is == WRIT_PRESENT && decision->expires_at.is == WRIT_PRESENT &&
        is_before(decision->expires_at.view, decision->issued_at.view)) {
        writ_faults_add(ret, "/expires_at", "is before issued_at");
    }
}
