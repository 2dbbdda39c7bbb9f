/* policy_use.c - a list with the row of the last record first: records that follow each other
 * mostly have the same policy and tenant. A row owns its tenant, which follows it. */
#include "gateway/state/policy_use.h"

#include "base/alloc.h"

struct row {
    struct row *next;
    struct writ_policy_use_row shown;
    char tenant[];
};

struct writ_policy_use {
    struct row *first;
    size_t n;
};

WRIT_RESULT
writ_policy_use_new(struct writ_policy_use **ret, struct writ_err *err)
{
    struct writ_policy_use *use = writ_alloc(sizeof *use);

    if (use == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the policies of the page");
    }
    *ret = use;
    return WRIT_DONE;
}

void
writ_policy_use_free(struct writ_policy_use *use)
{
    while (use != NULL && use->first != NULL) {
        struct row *next = use->first->next;

        writ_free(use->first);
        use->first = next;
    }
    writ_free(use);
}

/* Takes the row out of the list; NULL: there is none. */
static struct row *
take(struct writ_policy_use *use, const struct writ_digest *policy, struct writ_view tenant)
{
    for (struct row **at = &use->first; *at != NULL; at = &(*at)->next) {
        struct row *row = *at;

        if (writ_digest_equal(&row->shown.policy, policy) &&
            writ_view_equal(row->shown.tenant, tenant)) {
            *at = row->next;
            return row;
        }
    }
    return NULL;
}

static WRIT_RESULT
new_row(struct writ_policy_use *use, const struct writ_digest *policy, struct writ_view tenant,
    struct row **ret)
{
    struct row *row;

    if (use->n == WRIT_POLICY_USE_MAX) {
        return (writ_result){WRIT_E_LIMIT};
    }
    row = writ_alloc(sizeof *row + tenant.len);
    if (row == NULL) {
        return (writ_result){WRIT_E_NOMEM};
    }
    row->shown = (struct writ_policy_use_row){
        .policy = *policy, .tenant = writ_view_place(tenant, row->tenant)};
    use->n++;
    *ret = row;
    return WRIT_DONE;
}

WRIT_RESULT
writ_policy_use_add(
    struct writ_policy_use *use, struct writ_view policy, struct writ_view tenant, int64_t at_us)
{
    struct writ_digest digest;
    struct row *row;

    WRIT_TRY(writ_digest_read(policy, &digest, NULL));
    row = take(use, &digest, tenant);
    if (row == NULL) {
        WRIT_TRY(new_row(use, &digest, tenant, &row));
    }
    row->next = use->first;
    use->first = row;
    if (row->shown.decisions == 0 || at_us < row->shown.first_us) {
        row->shown.first_us = at_us;
    }
    if (row->shown.decisions == 0 || at_us > row->shown.last_us) {
        row->shown.last_us = at_us;
    }
    row->shown.decisions++;
    return WRIT_DONE;
}

void
writ_policy_use_each(const struct writ_policy_use *use,
    void (*each)(void *ctx, const struct writ_policy_use_row *row), void *ctx)
{
    for (const struct row *row = use->first; row != NULL; row = row->next) {
        each(ctx, &row->shown);
    }
}
