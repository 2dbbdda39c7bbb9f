/* A fact has no boundary and follows the fact before it. Some facts are checked against rows: those
 * of the pool and of delegations by files of their own, that of an archive here. */
#include "store/read/check_parts.h"

#include "evidence/record/archive_fact.h"

/* Records before the one that it names may be missing from now on. */
static WRIT_RESULT
check_archived(struct writ_check *v, const struct writ_json *data)
{
    struct writ_tree_source source = writ_heads_source(&v->heads);
    struct writ_archive_fact fact;
    struct writ_tree_edge edge;
    struct writ_digest root = {0}, runs;
    bool read = writ_is_ok(writ_archive_fact_read(data, &fact, NULL)) &&
                fact.before <= v->row.leaf && fact.before > v->until;

    if (!read) {
        writ_check_problem(v, v->row.leaf, "it is not a fact that a ledger writes");
        return WRIT_DONE;
    }
    WRIT_TRY(writ_runs_digest(
        v->statements[WRIT_CHECK_SQL_RUNS_BETWEEN], v->until, fact.before, &runs, v->err));
    writ_check_expect(v, writ_digest_equal(&runs, &fact.runs),
        "the runs whose records were moved to an archive have other rows");
    v->until = fact.before;
    if (!v->lost) {
        WRIT_TRY(writ_tree_edge_of(&source, fact.before, &edge, v->err));
        WRIT_TRY(writ_tree_root(&edge, &root, v->err));
        writ_check_expect(v, writ_digest_equal(&root, &fact.root),
            "the records that were moved to an archive are others");
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_check_parts_fact(struct writ_check *v, const struct writ_json *value)
{
    struct writ_fact fact = {0};

    v->report->facts++;
    if (!writ_is_ok(writ_fact_read(value, &fact, NULL))) {
        writ_check_problem(v, v->row.leaf, "it is not a fact that a ledger writes");
        return WRIT_DONE;
    }
    writ_check_expect(v,
        fact.at_us == v->row.time_us && fact.n == v->row.seq && v->row.boundary == 0 &&
            v->row.verdict == 0 && v->row.flags == 0 && v->row.about == 0 &&
            v->row.decision_id.ptr == NULL && v->row.agent_id.ptr == NULL &&
            v->row.tool.ptr == NULL && v->row.claim == NULL,
        "the columns beside the fact differ from it");
    writ_check_expect(v, fact.n == v->facts, "a fact before it is missing");
    v->facts = fact.n + 1;
    if (fact.event == WRIT_FACT_POOL_PUT || fact.event == WRIT_FACT_POOL_REMOVED) {
        return writ_check_pool_fact(v, &fact);
    }
    if (fact.event == WRIT_FACT_DELEGATED || fact.event == WRIT_FACT_DELEGATION_REVOKED) {
        return writ_check_delegation_fact(v, &fact);
    }
    if (fact.event == WRIT_FACT_RESUMED) {
        v->macs = 0; /* an operator has taken the records before it, also under a lost mark.key */
    }
    return fact.event == WRIT_FACT_ARCHIVED ? check_archived(v, fact.data) : WRIT_DONE;
}
