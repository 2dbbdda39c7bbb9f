/* Derives the phase of a decision from its own members and its facts. A time that cannot be read
 * counts against the decision: it ends it at once, and never makes it fresher. */
#include "evidence/proof/decision_validity.h"

struct writ_view
writ_decision_validity_name(enum writ_decision_validity phase)
{
    switch (phase) {
    case WRIT_DECISION_VALIDITY_REFUSED:
        return WRIT_LIT("refused");
    case WRIT_DECISION_VALIDITY_UNBORN:
        return WRIT_LIT("unborn");
    case WRIT_DECISION_VALIDITY_FRESH:
        return WRIT_LIT("fresh");
    case WRIT_DECISION_VALIDITY_PENDING:
        return WRIT_LIT("pending");
    case WRIT_DECISION_VALIDITY_RESUMED:
        return WRIT_LIT("resumed");
    case WRIT_DECISION_VALIDITY_CONSUMED:
        return WRIT_LIT("consumed");
    case WRIT_DECISION_VALIDITY_STALE:
        return WRIT_LIT("stale");
    case WRIT_DECISION_VALIDITY_REVALIDATED:
        return WRIT_LIT("revalidated");
    case WRIT_DECISION_VALIDITY_EXPIRED:
        return WRIT_LIT("expired");
    }
    return WRIT_LIT("refused");
}

/* The times at which a decision becomes and ceases to be spendable; INT64_MAX: never. */
struct times {
    int64_t issued_us, outcome_us, successor_us, changed_us, expires_us;
};

/* The time of a record that ends something: an unreadable one ended it at once. */
static int64_t
end_of(const struct writ_member_text *time)
{
    int64_t us;

    return time->is == WRIT_PRESENT && writ_member_time(time->view, &us) ? us : INT64_MIN;
}

static struct times
times_of(const struct writ_decision *decision, const struct writ_decision_validity_facts *facts)
{
    const struct writ_member_text *issued = &decision->issued_at, *expires = &decision->expires_at;
    struct times times = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};

    if (issued->is == WRIT_PRESENT) {
        (void)writ_member_time(issued->view, &times.issued_us);
    }
    if (expires->is == WRIT_PRESENT || expires->is == WRIT_WRONG) {
        times.expires_us = end_of(expires);
    }
    if (facts->outcome != NULL) {
        times.outcome_us = end_of(&facts->outcome->completed_at);
    }
    if (facts->successor != NULL) {
        times.successor_us = end_of(&facts->successor->issued_at);
    }
    if (facts->changed_us != 0) {
        times.changed_us = facts->changed_us;
    }
    return times;
}

/* A successor that took up the continuation of an approval, and was allowed. */
static bool
is_redeemed(const struct writ_decision *decision, const struct writ_decision *successor)
{
    return writ_decision_is(successor, WRIT_DECISION_ALLOW) &&
           writ_member_text_equal(&decision->continuation_id, &successor->continuation_id, false);
}

/* Where several phases apply, what was done with the decision comes before the effect of time. */
enum writ_decision_validity
writ_decision_validity_at(const struct writ_decision *decision,
    const struct writ_decision_validity_facts *facts, int64_t t_us)
{
    const struct times times = times_of(decision, facts);
    bool allow = writ_decision_is(decision, WRIT_DECISION_ALLOW);

    if (!allow && !writ_decision_is(decision, WRIT_DECISION_REQUIRE_APPROVAL)) {
        return WRIT_DECISION_VALIDITY_REFUSED;
    }
    if (times.issued_us > t_us || times.issued_us == INT64_MAX) {
        return WRIT_DECISION_VALIDITY_UNBORN;
    }
    if (times.outcome_us <= t_us) {
        return WRIT_DECISION_VALIDITY_CONSUMED;
    }
    if (times.successor_us <= t_us) {
        return !allow && is_redeemed(decision, facts->successor)
                   ? WRIT_DECISION_VALIDITY_RESUMED
                   : WRIT_DECISION_VALIDITY_REVALIDATED;
    }
    if (times.expires_us < t_us) {
        return WRIT_DECISION_VALIDITY_EXPIRED;
    }
    if (times.changed_us <= t_us) {
        return WRIT_DECISION_VALIDITY_STALE;
    }
    return allow ? WRIT_DECISION_VALIDITY_FRESH : WRIT_DECISION_VALIDITY_PENDING;
}

static int64_t
earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

bool
writ_decision_validity_spendable(const struct writ_decision *decision,
    const struct writ_decision_validity_facts *facts, int64_t *ret_from_us, int64_t *ret_until_us)
{
    const struct times times = times_of(decision, facts);
    int64_t until_us = earlier(
        earlier(times.outcome_us, times.successor_us), earlier(times.changed_us, times.expires_us));

    if (!writ_decision_is(decision, WRIT_DECISION_ALLOW) || times.issued_us == INT64_MAX ||
        until_us < times.issued_us) {
        return false;
    }
    *ret_from_us = times.issued_us;
    *ret_until_us = until_us;
    return true;
}

/* ---- refusals */

struct writ_view
writ_decision_validity_enforcement_name(enum writ_decision_validity_enforcement enforcement)
{
    switch (enforcement) {
    case WRIT_DECISION_VALIDITY_UNPROVEN:
        return WRIT_LIT("unproven");
    case WRIT_DECISION_VALIDITY_ENFORCED:
        return WRIT_LIT("enforced");
    case WRIT_DECISION_VALIDITY_VIOLATION:
        return WRIT_LIT("violation");
    case WRIT_DECISION_VALIDITY_SHADOWED:
        return WRIT_LIT("shadowed");
    case WRIT_DECISION_VALIDITY_NO_REFUSAL:
        return WRIT_LIT("no_refusal");
    }
    return WRIT_LIT("unproven");
}

enum writ_decision_validity_enforcement
writ_decision_validity_enforced(
    const struct writ_decision *decision, const struct writ_outcome *outcome, bool shadow)
{
    if (!writ_decision_is(decision, WRIT_DECISION_DENY) &&
        !writ_decision_is(decision, WRIT_DECISION_REVISE)) {
        return WRIT_DECISION_VALIDITY_NO_REFUSAL;
    }
    if (outcome == NULL) {
        return WRIT_DECISION_VALIDITY_UNPROVEN;
    }
    if (writ_outcome_nothing_ran(outcome)) {
        return WRIT_DECISION_VALIDITY_ENFORCED;
    }
    return shadow ? WRIT_DECISION_VALIDITY_SHADOWED : WRIT_DECISION_VALIDITY_VIOLATION;
}
