/* shared_list.c - eras from the newest to the oldest whose credentials may live; on the way back
 * the groups that later stops name add up.
 *
 * Invariant: stop number i (from 1) revokes the eras below i. An era i ends with stop i + 1: its
 * credentials are over a longest life after that. */
#include "gateway/stops/shared_list.h"

#include "evidence/credential/credential.h"

#define OVER_S (WRIT_CREDENTIAL_LIFETIME_MAX_S + WRIT_CREDENTIAL_SKEW_MAX_S)
#define ERAS   WRIT_SHARED_LIST_ERAS
#define GROUPS WRIT_SHARED_LIST_GROUPS
#define STOPS  WRIT_SHARED_LIST_STOPS
#define BYTES  (GROUPS / 8)

/* The bits of a group: five of the agent, three of the tool, two of the tenant. */
#define AGENT_SHIFT 5
#define TOOL_SHIFT  2
#define AGENT_MASK  UINT32_C(0x3e0)
#define TOOL_MASK   UINT32_C(0x01c)
#define TENANT_MASK UINT32_C(0x003)
#define ALL_MASK    (AGENT_MASK | TOOL_MASK | TENANT_MASK)

_Static_assert(ALL_MASK == GROUPS - 1, "the bits of a group");

struct groups {
    unsigned char bytes[BYTES];
};

/* ---- groups ---- */

static uint64_t
hash_on(uint64_t sum, struct writ_view text)
{
    for (size_t i = 0; i < text.len; i++) {
        sum = (sum ^ (unsigned char)text.ptr[i]) * UINT64_C(1099511628211); /* FNV-1a */
    }
    return sum;
}

static uint32_t
fold(uint64_t sum)
{
    sum ^= sum >> 32;
    sum *= UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(sum >> 40);
}

static uint32_t
hash(struct writ_view text)
{
    return fold(hash_on(UINT64_C(14695981039346656037), text));
}

static uint32_t
tool_of(struct writ_view upstream, struct writ_view tool)
{
    uint64_t sum = hash_on(UINT64_C(14695981039346656037), upstream);

    return fold(hash_on(hash_on(sum, WRIT_LIT("/")), tool)); /* that of "upstream/tool" */
}

uint32_t
writ_shared_list_group(const struct writ_kill_call *call)
{
    return (hash(call->agent_id) << AGENT_SHIFT & AGENT_MASK) |
           (tool_of(call->upstream, call->tool) << TOOL_SHIFT & TOOL_MASK) |
           (hash(call->tenant) & TENANT_MASK);
}

static void
require(struct writ_shared_stop *stop, uint32_t mask, uint32_t bits)
{
    stop->mask |= mask;
    stop->bits |= bits & mask;
}

/* What is unknown names every group. */
static struct writ_shared_stop
stop_of(const struct writ_kill *kill, const uint32_t *group, int64_t at_s)
{
    struct writ_shared_stop stop = {.at_s = at_s};

    switch (kill->by) {
    case WRIT_KILL_AGENT:
        require(&stop, AGENT_MASK, hash(kill->value) << AGENT_SHIFT);
        break;
    case WRIT_KILL_TOOL:
        require(&stop, TOOL_MASK, hash(kill->value) << TOOL_SHIFT);
        break;
    case WRIT_KILL_TENANT:
        require(&stop, TENANT_MASK, hash(kill->value));
        break;
    case WRIT_KILL_CREDENTIAL:
        if (group != NULL && *group < GROUPS) {
            require(&stop, ALL_MASK, *group);
        }
        return stop;
    case WRIT_KILL_POLICY:
    case WRIT_KILL_NONE:
        break;
    }
    if (kill->tenant.len > 0 && kill->by != WRIT_KILL_TENANT) {
        require(&stop, TENANT_MASK, hash(kill->tenant));
    }
    return stop;
}

static bool
names(const struct writ_shared_stop *stop, uint32_t group)
{
    return (group & stop->mask) == stop->bits;
}

/* ---- stops ---- */

int64_t
writ_shared_list_give(const struct writ_shared_list *list, const struct writ_kill_call *call)
{
    return (int64_t)(list->n % ERAS * GROUPS + writ_shared_list_group(call));
}

void
writ_shared_list_count(struct writ_shared_list *list, const struct writ_kill *kill,
    const uint32_t *group, int64_t at_s, int64_t now_s)
{
    struct writ_shared_stop *place = &list->stops[(list->n + 1) % STOPS];

    if (list->n >= STOPS && place->at_s + OVER_S > now_s) { /* it can no longer be remembered */
        int64_t until_s = now_s + OVER_S;

        list->all_until_s = until_s > list->all_until_s ? until_s : list->all_until_s;
    }
    *place = stop_of(kill, group, at_s);
    list->n++;
}

void
writ_shared_list_add_alone(
    struct writ_shared_list *list, const struct writ_kill *kill, int64_t now_s)
{
    uint32_t group = kill->issued != NULL ? writ_shared_list_group(kill->issued) : GROUPS;

    if (list->alone_n == STOPS) {
        writ_shared_list_revoke_all(list);
        return;
    }
    list->alone[list->alone_n++] = stop_of(kill, &group, now_s);
}

void
writ_shared_list_revoke_all(struct writ_shared_list *list)
{
    list->all_until_s = INT64_MAX;
}

/* ---- asking ---- */

static void
mark(struct groups *groups, const struct writ_shared_stop *stop)
{
    for (uint32_t group = 0; group < GROUPS; group++) {
        if (names(stop, group)) {
            groups->bytes[group / 8] = (unsigned char)(groups->bytes[group / 8] | 1 << group % 8);
        }
    }
}

void
writ_shared_list_put(
    const struct writ_shared_list *list, int64_t now_s, char ret[WRIT_STATUS_LIST_BYTES])
{
    struct groups revoked = {{0}};
    uint64_t era = list->n;

    for (size_t i = 0; i < list->alone_n; i++) {
        if (list->alone[i].at_s + OVER_S > now_s) {
            mark(&revoked, &list->alone[i]);
        }
    }
    for (;;) {
        for (size_t i = 0; i < BYTES; i++) {
            char *byte = &ret[era % ERAS * BYTES + i];

            *byte = (char)(*byte | revoked.bytes[i]);
        }
        if (era == 0 || list->n - era == STOPS || list->stops[era % STOPS].at_s + OVER_S <= now_s) {
            break; /* credentials of the eras before are over */
        }
        mark(&revoked, &list->stops[era % STOPS]); /* keeps the invariant */
        era--;
    }
    for (size_t i = 0; list->all_until_s > now_s && i < WRIT_STATUS_LIST_BYTES; i++) {
        ret[i] = (char)0xff;
    }
}

bool
writ_shared_list_has(const struct writ_shared_list *list, int64_t place, int64_t now_s)
{
    char bits[WRIT_STATUS_LIST_BYTES] = {0};

    writ_shared_list_put(list, now_s, bits);
    return ((unsigned char)bits[place / 8] >> place % 8 & 1) != 0;
}
