/* 1. The table has what is on disk and what the present group records; the op undoes it.
 * 2. Two statements that close a cycle together meet here: one thread takes them one after the
 *    other, and knows those of other gateways before.
 * 3. One that is over by the times of the log is over for every gateway, whatever its clock says:
 *    its id may be forgotten.
 * 4. One that was revoked is forgotten after the open reviews that name it have recorded that, also
 *    when a gateway was killed before they had. */
#include "store/reviews/delegating.h"

#include "store/reviews/delegated_terms.h"
#include "store/write/facts.h"
#include "store/write/group.h"

#define SCRATCH_MAX ((size_t)1 << 20) /* to check a signature, or to read a fact */
#define EVER_MAX    1024              /* of one voter, revoked ones among them, that are not over */
#define OPEN_US     INT64_C(2678400000000) /* a review is open for less: 31 days */
#define PAGE        100                    /* of a list */
#define PAGE_BYTES  32768                  /* of the texts of a page: it may be in a small arena */

static bool
is_of_tenant(const struct writ_delegation *delegation, struct writ_view tenant)
{
    return delegation->tenant.len == 0 || tenant.len == 0 ||
           writ_view_equal(delegation->tenant, tenant);
}

/* ---- setting one ---- */

static void
undo_set(struct writ_ledger *ledger, const struct writ_op *op)
{
    writ_delegations_remove(&ledger->delegations,
        writ_delegations_find(&ledger->delegations, op->entry->delegate.delegation.id));
}

static const struct writ_op_steps set_steps = {.undo = undo_set};

static enum writ_reason
check_signature(const struct writ_ledger *ledger, const struct writ_delegation *delegation)
{
    struct writ_arena *scratch;
    writ_result result = {WRIT_E_NOMEM};

    if (delegation->key.len == 0) {
        return delegation->signature.len > 0 ? WRIT_REASON_DELEGATION_FORGED : WRIT_REASON_NONE;
    }
    if (delegation->signature.len == 0) {
        return WRIT_REASON_DELEGATION_UNSIGNED;
    }
    if (!writ_view_equal(delegation->ledger, writ_buf_view(&ledger->trust.origin))) {
        return WRIT_REASON_DELEGATION_FORGED;
    }
    scratch = writ_arena_new_small(SCRATCH_MAX);
    if (scratch != NULL) {
        result = writ_delegation_verify(delegation, scratch, NULL);
    }
    writ_arena_free(scratch);
    return writ_is_ok(result) ? WRIT_REASON_NONE : WRIT_REASON_DELEGATION_FORGED;
}

static bool
has_room(const struct writ_ledger *ledger, const struct writ_delegation *delegation, int64_t now_us)
{
    size_t standing = 0, all = 0;

    for (const struct writ_delegated *at =
             writ_delegations_of(&ledger->delegations, delegation->voter);
         at != NULL; at = writ_delegations_before(at)) {
        /* another tenant has a voter of that name, with delegations of its own */
        if (writ_view_equal(at->delegation.tenant, delegation->tenant)) {
            standing += writ_delegations_stands(at, now_us) ? 1 : 0;
            all++;
        }
    }
    return standing < WRIT_DELEGATIONS_EACH && all < EVER_MAX;
}

/** The voters that a delegation reaches through others. */
struct reach {
    struct writ_buf names; /* of struct writ_view */
};

static void
reach_one(struct reach *reach, struct writ_view name)
{
    const struct writ_view *names = (const struct writ_view *)(const void *)reach->names.ptr;

    for (size_t i = 0; i < reach->names.len / sizeof *names; i++) {
        if (writ_view_equal(names[i], name)) {
            return;
        }
    }
    writ_buf_put(&reach->names, writ_view((const char *)&name, sizeof name));
}

static void
reach_from(struct reach *reach, const struct writ_ledger *ledger,
    const struct writ_entry_delegate *asked, struct writ_view name, int64_t now_us)
{
    for (const struct writ_delegated *at = writ_delegations_of(&ledger->delegations, name);
         at != NULL; at = writ_delegations_before(at)) {
        if (writ_delegations_stands(at, now_us) &&
            is_of_tenant(&at->delegation, asked->delegation.tenant)) {
            reach_one(reach, at->delegation.delegate);
        }
    }
    for (size_t i = 0; i < asked->edges_n; i++) {
        if (writ_view_equal(asked->edges[i].from, name)) {
            reach_one(reach, asked->edges[i].to);
        }
    }
}

/* Whatever times and tools, as in the configuration: whether a cycle closes must not depend on the
 * call. keeps (2) */
static WRIT_RESULT
comes_back(const struct writ_ledger *ledger, const struct writ_entry_delegate *asked,
    int64_t now_us, bool *ret)
{
    struct reach reach = {.names = writ_buf_make(SIZE_MAX)};
    bool back = false;
    writ_result result;

    reach_one(&reach, asked->delegation.delegate);
    for (size_t i = 0; (i + 1) * sizeof(struct writ_view) <= reach.names.len && !back; i++) {
        struct writ_view name = ((const struct writ_view *)(const void *)reach.names.ptr)[i];

        back = writ_view_equal(name, asked->delegation.voter);
        reach_from(&reach, ledger, asked, name, now_us);
    }
    result = writ_buf_check(&reach.names, NULL);
    writ_buf_wipe(&reach.names);
    WRIT_TRY(result);
    *ret = back;
    return WRIT_DONE;
}

static WRIT_RESULT
check(const struct writ_ledger *ledger, const struct writ_entry_delegate *asked, int64_t now_us,
    enum writ_reason *ret)
{
    const struct writ_delegation *delegation = &asked->delegation;
    bool back = false;

    *ret = WRIT_REASON_NONE;
    if (!writ_is_ok(writ_delegation_check(delegation, NULL)) || delegation->until_us <= now_us) {
        *ret = WRIT_REASON_DELEGATION_MALFORMED;
    } else if (delegation->until_us - now_us > asked->longest_us) {
        *ret = WRIT_REASON_DELEGATION_NOT_PERMITTED;
    } else if (writ_delegations_find(&ledger->delegations, delegation->id) != NULL) {
        *ret = WRIT_REASON_DELEGATION_REPEATED;
    } else if (!has_room(ledger, delegation, now_us)) {
        *ret = WRIT_REASON_DELEGATIONS_EXCEEDED;
    } else {
        WRIT_TRY(comes_back(ledger, asked, now_us, &back));
        *ret = back ? WRIT_REASON_DELEGATION_CYCLE : check_signature(ledger, delegation);
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_delegating_set(struct writ_ledger *ledger, struct writ_entry *entry)
{
    struct writ_entry_delegate *asked = &entry->delegate;
    writ_auto_buf data = writ_buf_make(WRIT_DELEGATION_BYTES_MAX);
    struct writ_delegated *delegated = NULL;
    int64_t now_us = writ_group_now(ledger); /* keeps (3) */
    writ_result result;

    WRIT_TRY(check(ledger, asked, now_us, &asked->refused));
    if (asked->refused != WRIT_REASON_NONE) {
        return WRIT_DONE;
    }
    WRIT_TRY(writ_delegation_put(&asked->delegation, &data, NULL));
    WRIT_TRY(
        writ_delegations_add(&ledger->delegations, &asked->delegation, now_us, &delegated, NULL));
    result = writ_facts_add(ledger, WRIT_FACT_DELEGATED, writ_buf_view(&data), &asked->leaf);
    if (!writ_is_ok(result)) {
        writ_delegations_remove(&ledger->delegations, delegated);
        return result;
    }
    asked->at_us = delegated->at_us = ledger->log.last_us;
    writ_digest_text(&delegated->digest, asked->digest);
    (void)writ_group_op(&ledger->group, &set_steps, entry);
    return WRIT_DONE;
}

/* ---- taking it back ---- */

static void
finish_revoke(struct writ_ledger *ledger, const struct writ_op *op)
{
    writ_delegated_terms_look(
        ledger, writ_delegations_find(&ledger->delegations, op->entry->undelegate.id));
}

static void
undo_revoke(struct writ_ledger *ledger, const struct writ_op *op)
{
    writ_delegations_find(&ledger->delegations, op->entry->undelegate.id)->revoked = false;
}

static const struct writ_op_steps revoke_steps = {.finish = finish_revoke, .undo = undo_revoke};

/* One that is in force for all tenants is not ended by a person of one of them, who may have the
 * name of the voter and be another one. */
static bool
is_revocable_from(const struct writ_delegation *delegation, struct writ_view tenant)
{
    return tenant.len == 0 || writ_view_equal(delegation->tenant, tenant);
}

static bool
may_revoke(const struct writ_entry_undelegate *asked, const struct writ_delegated *delegated)
{
    const struct writ_delegation *delegation = &delegated->delegation;

    return is_revocable_from(delegation, asked->tenant) &&
           (asked->any || writ_view_equal(delegation->voter, asked->by) ||
               writ_view_equal(delegation->delegate, asked->by));
}

WRIT_RESULT
writ_delegating_revoke(struct writ_ledger *ledger, struct writ_entry *entry)
{
    struct writ_entry_undelegate *asked = &entry->undelegate;
    struct writ_delegated *delegated = writ_delegations_find(&ledger->delegations, asked->id);
    writ_auto_buf data = writ_buf_make(WRIT_DELEGATION_BYTES_MAX);

    asked->refused = WRIT_REASON_NONE;
    if (delegated == NULL || !writ_delegations_stands(delegated, writ_group_now(ledger)) ||
        !may_revoke(asked, delegated)) {
        asked->refused = WRIT_REASON_DELEGATION_UNKNOWN;
        return WRIT_DONE;
    }
    WRIT_TRY(writ_delegations_copy(&delegated->delegation, entry->arena, &asked->delegation, NULL));
    WRIT_TRY(writ_delegation_put_revoked(asked->id, asked->by, &data, NULL));
    WRIT_TRY(
        writ_facts_add(ledger, WRIT_FACT_DELEGATION_REVOKED, writ_buf_view(&data), &asked->leaf));
    delegated->revoked = true;
    (void)writ_group_op(&ledger->group, &revoke_steps, entry);
    return WRIT_DONE;
}

/* ---- reading them ---- */

static bool
is_wanted(const struct writ_entry_delegations *asked, const struct writ_delegated *delegated,
    int64_t now_us)
{
    const struct writ_delegation *delegation = &delegated->delegation;

    return writ_delegations_stands(delegated, now_us) && is_of_tenant(delegation, asked->tenant) &&
           (asked->by.ptr == NULL || writ_view_equal(delegation->voter, asked->by) ||
               writ_view_equal(delegation->delegate, asked->by));
}

static size_t
bytes_of(const struct writ_delegation *delegation)
{
    size_t bytes = delegation->signature.len + delegation->key.len;

    for (size_t i = 0; i < delegation->tools_n; i++) {
        bytes += delegation->tools[i].len;
    }
    return bytes;
}

static WRIT_RESULT
tell(const struct writ_delegated *delegated, const struct writ_entry_delegations *asked,
    struct writ_arena *arena, struct writ_delegation_told *ret)
{
    WRIT_TRY(writ_delegations_copy(&delegated->delegation, arena, &ret->delegation, NULL));
    writ_digest_text(&delegated->digest, ret->digest);
    ret->at_us = delegated->at_us;
    ret->revocable = is_revocable_from(&delegated->delegation, asked->tenant);
    return WRIT_DONE;
}

/* A place in the list is the time of a record: these only grow, also over restarts and for all
 * gateways of the ledger. */
WRIT_RESULT
writ_delegating_list(struct writ_ledger *ledger, struct writ_entry *entry)
{
    struct writ_entry_delegations *asked = &entry->delegations;
    int64_t now_us = writ_group_now(ledger);
    struct writ_delegation_told *items = writ_arena_get(entry->arena, PAGE * sizeof *items);
    size_t bytes = 0;

    asked->n = 0;
    asked->next_us = 0;
    asked->ledger = writ_view_copy(writ_buf_view(&ledger->trust.origin), entry->arena);
    if (items == NULL || asked->ledger.ptr == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    for (const struct writ_delegated *at = ledger->delegations.first; at != NULL; at = at->next) {
        if (at->at_us <= asked->after_us || !is_wanted(asked, at, now_us)) {
            continue;
        }
        bytes += bytes_of(&at->delegation);
        if (asked->n == PAGE || (asked->n > 0 && bytes > PAGE_BYTES)) {
            asked->next_us = items[asked->n - 1].at_us;
            break;
        }
        WRIT_TRY(tell(at, asked, entry->arena, &items[asked->n]));
        asked->n++;
    }
    asked->items = items;
    return WRIT_DONE;
}

/* ---- from the log ---- */

static WRIT_RESULT
hear_set(struct writ_ledger *ledger, const struct writ_fact *fact, struct writ_arena *arena,
    struct writ_err *err)
{
    struct writ_delegation delegation;
    struct writ_delegated *delegated = NULL;

    WRIT_TRY(writ_delegation_read(fact->data, arena, &delegation, err));
    if (delegation.until_us <= ledger->log.last_us - OPEN_US) { /* keeps (4): else prune decides */
        return WRIT_DONE;
    }
    return writ_delegations_add(&ledger->delegations, &delegation, fact->at_us, &delegated, err);
}

static WRIT_RESULT
hear_revoked(struct writ_ledger *ledger, const struct writ_fact *fact, struct writ_err *err)
{
    struct writ_view id, by;
    struct writ_delegated *delegated;

    WRIT_TRY(writ_delegation_read_revoked(fact->data, &id, &by, err));
    delegated = writ_delegations_find(&ledger->delegations, id);
    if (delegated != NULL) {
        delegated->revoked = true;
        writ_delegated_terms_look(ledger, delegated);
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_delegating_hear(struct writ_ledger *ledger, const struct writ_fact *fact, struct writ_err *err)
{
    struct writ_arena *scratch;
    writ_result result;

    if (fact->event == WRIT_FACT_DELEGATION_REVOKED) {
        return hear_revoked(ledger, fact, err);
    }
    if (fact->event != WRIT_FACT_DELEGATED) {
        return WRIT_DONE;
    }
    scratch = writ_arena_new_small(SCRATCH_MAX);
    result = scratch == NULL ? writ_fail(err, WRIT_E_NOMEM, "no memory for a delegation")
                             : hear_set(ledger, fact, scratch, err);
    writ_arena_free(scratch);
    return result;
}

/* ---- the end of their time ---- */

static bool
is_awaited(const struct writ_ledger *ledger, const struct writ_delegated *delegated)
{
    const struct writ_reviewed *review = ledger->reviews.ring;
    bool awaited = false;

    for (size_t i = 0; delegated->revoked && !awaited && i < ledger->reviews.count; i++) {
        awaited = writ_delegated_terms_awaits(review, delegated);
        review = review->next;
    }
    return awaited;
}

void
writ_delegating_prune(struct writ_ledger *ledger)
{
    struct writ_delegated *at = ledger->delegations.first;

    while (at != NULL) {
        struct writ_delegated *next = at->next;

        if (at->delegation.until_us <= ledger->log.last_us && !is_awaited(ledger, at)) {
            writ_delegations_remove(&ledger->delegations, at);
        }
        at = next;
    }
}
