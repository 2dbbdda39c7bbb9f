/* A share exists while something is charged to it. A charge is released once, from the same two
 * owners. */
#include "store/tables/shares.h"

#include "base/alloc.h"

#define OWNERS_BUCKETS 1024

WRIT_RESULT
writ_shares_init(struct writ_shares *ret, size_t most, struct writ_err *err)
{
    struct writ_shares shares = {
        .agent_most = most - most / 2,
        .tenant_most = most - most / 4,
    };

    WRIT_TRY(writ_map_init(&shares.owners, OWNERS_BUCKETS, err));
    *ret = shares;
    return WRIT_DONE;
}

static size_t
part_of(size_t most, unsigned percent)
{
    return most / 100 * percent + (most % 100 * percent + 99) / 100;
}

void
writ_shares_divide(
    struct writ_shares *shares, size_t most, unsigned agent_percent, unsigned tenant_percent)
{
    shares->agent_most = part_of(most, agent_percent);
    shares->tenant_most = part_of(most, tenant_percent);
}

/* Charges that were never released belonged to things that the end of the process cut short. */
void
writ_shares_wipe(struct writ_shares *shares)
{
    for (size_t i = 0; i < shares->owners.bucket_count; i++) {
        while (shares->owners.buckets[i] != NULL) {
            struct writ_share *share =
                WRIT_MAP_OF(shares->owners.buckets[i], struct writ_share, by_owner);

            writ_map_remove(&shares->owners, &share->by_owner);
            writ_free(share);
        }
    }
    writ_map_wipe(&shares->owners);
    *shares = (struct writ_shares){0};
}

/* A tenant is tagged as one part, an agent as two: no agent can equal a tenant. */
static WRIT_RESULT
tag_owner(struct writ_view tenant, const struct writ_view *agent_id, struct writ_tag *ret,
    struct writ_err *err)
{
    uint64_t length = tenant.len;
    struct writ_view pieces[] = {
        writ_view(agent_id != NULL ? "a" : "t", 1),
        writ_view(&length, sizeof length),
        tenant,
        agent_id != NULL ? *agent_id : writ_view(NULL, 0),
    };
    struct writ_digest digest;

    WRIT_TRY(writ_digest_pieces(pieces, sizeof pieces / sizeof pieces[0], &digest, err));
    *ret = writ_tag_of(&digest);
    return WRIT_DONE;
}

static struct writ_share *
find(const struct writ_shares *shares, struct writ_tag tag)
{
    return WRIT_MAP_OF(writ_map_find(&shares->owners, tag), struct writ_share, by_owner);
}

WRIT_RESULT
writ_shares_owner(struct writ_view tenant, struct writ_view agent_id, struct writ_owner *ret,
    struct writ_err *err)
{
    struct writ_owner owner;

    WRIT_TRY(tag_owner(tenant, &agent_id, &owner.agent, err));
    WRIT_TRY(tag_owner(tenant, NULL, &owner.tenant, err));
    *ret = owner;
    return WRIT_DONE;
}

bool
writ_shares_have_room_for(const struct writ_shares *shares, const struct writ_owner *owner)
{
    const struct writ_share *of_agent = find(shares, owner->agent);
    const struct writ_share *of_tenant = find(shares, owner->tenant);

    return (of_agent == NULL || of_agent->held < shares->agent_most) &&
           (of_tenant == NULL || of_tenant->held < shares->tenant_most);
}

bool
writ_shares_have_room(
    const struct writ_shares *shares, struct writ_view tenant, struct writ_view agent_id)
{
    struct writ_owner owner;

    return writ_is_ok(writ_shares_owner(tenant, agent_id, &owner, NULL)) &&
           writ_shares_have_room_for(shares, &owner);
}

bool
writ_shares_is_of(const struct writ_shares *shares, const struct writ_charge *charge,
    struct writ_view tenant, struct writ_view agent_id)
{
    struct writ_tag tag;

    return charge->agent != NULL && writ_is_ok(tag_owner(tenant, &agent_id, &tag, NULL)) &&
           find(shares, tag) == charge->agent;
}

static WRIT_RESULT
hold(struct writ_shares *shares, struct writ_tag tag, struct writ_share **ret, struct writ_err *err)
{
    struct writ_share *share = find(shares, tag);

    if (share == NULL) {
        share = writ_alloc(sizeof *share);
        if (share == NULL) {
            WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to count a share");
        }
        writ_map_add(&shares->owners, &share->by_owner, tag);
    }
    share->held++;
    *ret = share;
    return WRIT_DONE;
}

static void
let_go(struct writ_shares *shares, struct writ_share *share)
{
    if (share != NULL && --share->held == 0) {
        writ_map_remove(&shares->owners, &share->by_owner);
        writ_free(share);
    }
}

WRIT_RESULT
writ_shares_charge_to(struct writ_shares *shares, const struct writ_owner *owner,
    struct writ_charge *ret, struct writ_err *err)
{
    struct writ_charge charge = {0};
    writ_result held;

    WRIT_TRY(hold(shares, owner->agent, &charge.agent, err));
    held = hold(shares, owner->tenant, &charge.tenant, err);
    if (!writ_is_ok(held)) {
        let_go(shares, charge.agent);
        return held;
    }
    *ret = charge;
    return WRIT_DONE;
}

WRIT_RESULT
writ_shares_charge(struct writ_shares *shares, struct writ_view tenant, struct writ_view agent_id,
    struct writ_charge *ret, struct writ_err *err)
{
    struct writ_owner owner;

    WRIT_TRY(writ_shares_owner(tenant, agent_id, &owner, err));
    return writ_shares_charge_to(shares, &owner, ret, err);
}

/* A place for each last letter, by which the names of many agents differ. */
static struct writ_shares_known *
place_of(struct writ_shares *shares, struct writ_view tenant, struct writ_view agent_id)
{
    size_t last = agent_id.len > 0 ? (unsigned char)agent_id.ptr[agent_id.len - 1] : 0;

    return &shares->known[(last + tenant.len) % WRIT_SHARES_KNOWN];
}

static bool
is_known(const struct writ_shares_known *known, struct writ_view tenant, struct writ_view agent_id)
{
    return known->agent_len > 0 &&
           writ_view_equal(writ_view(known->names, known->tenant_len), tenant) &&
           writ_view_equal(writ_view(known->names + known->tenant_len, known->agent_len), agent_id);
}

static WRIT_RESULT
find_owner(struct writ_shares *shares, struct writ_view tenant, struct writ_view agent_id,
    struct writ_owner *ret, struct writ_err *err)
{
    struct writ_shares_known *known = place_of(shares, tenant, agent_id);
    struct writ_buf names = writ_buf_over(known->names, sizeof known->names);

    if (is_known(known, tenant, agent_id)) {
        *ret = known->owner;
        return WRIT_DONE;
    }
    WRIT_TRY(writ_shares_owner(tenant, agent_id, ret, err));
    writ_buf_put(&names, tenant);
    writ_buf_put(&names, agent_id);
    known->owner = *ret;
    known->tenant_len = tenant.len;
    known->agent_len = writ_is_ok(writ_buf_check(&names, NULL)) ? agent_id.len : 0;
    return WRIT_DONE;
}

WRIT_RESULT
writ_shares_take(struct writ_shares *shares, struct writ_view tenant, struct writ_view agent_id,
    struct writ_charge *ret, struct writ_err *err)
{
    struct writ_charge charge;
    struct writ_owner owner;

    WRIT_TRY(find_owner(shares, tenant, agent_id, &owner, err));
    WRIT_TRY(writ_shares_charge_to(shares, &owner, &charge, err));
    if (charge.agent->held > shares->agent_most || charge.tenant->held > shares->tenant_most) {
        writ_shares_release(shares, &charge);
        WRIT_FAIL(err, WRIT_E_LIMIT, "the agent or its tenant has its whole share");
    }
    *ret = charge;
    return WRIT_DONE;
}

bool
writ_shares_would_help(const struct writ_shares *shares, const struct writ_charge *charge,
    struct writ_view tenant, struct writ_view agent_id)
{
    const struct writ_share *of_agent, *of_tenant;
    struct writ_tag agent_tag, tenant_tag;

    if (charge->agent == NULL || !writ_is_ok(tag_owner(tenant, &agent_id, &agent_tag, NULL)) ||
        !writ_is_ok(tag_owner(tenant, NULL, &tenant_tag, NULL))) {
        return false;
    }
    of_agent = find(shares, agent_tag);
    of_tenant = find(shares, tenant_tag);
    return charge->agent == of_agent ||
           (charge->tenant == of_tenant &&
               (of_agent == NULL || of_agent->held < shares->agent_most));
}

void
writ_shares_release(struct writ_shares *shares, struct writ_charge *charge)
{
    let_go(shares, charge->agent);
    let_go(shares, charge->tenant);
    *charge = (struct writ_charge){0};
}
