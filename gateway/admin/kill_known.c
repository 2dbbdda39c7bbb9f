/* kill_known.c - looks for the named agent, tenant, tool or policy in the configuration, then in
 * the ledger. */
#include "gateway/admin/kill_known.h"

#include "policy/decide/policy.h"

static struct writ_view
upstream_of(const struct writ_kill *kill)
{
    return writ_view_sub(kill->value, 0, writ_view_find(kill->value, '/'));
}

static struct writ_view
tool_of(const struct writ_kill *kill)
{
    return writ_view_sub(kill->value, upstream_of(kill).len + 1, kill->value.len);
}

static bool
is_listed(const struct writ_config *config, const struct writ_kill *kill)
{
    static const struct writ_agent any = {.id = {NULL, 0}};
    enum writ_reason why = WRIT_REASON_NONE;

    return writ_policy_find(config, &any, upstream_of(kill), tool_of(kill), &why) != NULL ||
           why == WRIT_REASON_AGENT_NOT_PERMITTED;
}

static bool
is_caller(const struct writ_agent *agent, const struct writ_kill *kill)
{
    if (kill->by == WRIT_KILL_TENANT) {
        return writ_view_equal(agent->tenant, kill->value);
    }
    return writ_view_equal(agent->id, kill->value) &&
           (kill->tenant.len == 0 || writ_view_equal(agent->tenant, kill->tenant));
}

bool
writ_kill_known_is_configured(const struct writ_config *config, const struct writ_kill *kill)
{
    char policy[WRIT_DIGEST_TEXT];

    switch (kill->by) {
    case WRIT_KILL_CREDENTIAL:
        return true;
    case WRIT_KILL_POLICY:
        writ_digest_text(&config->policy_digest, policy);
        return writ_view_is(kill->value, policy);
    case WRIT_KILL_TOOL:
        return is_listed(config, kill);
    case WRIT_KILL_AGENT:
    case WRIT_KILL_TENANT:
        for (size_t i = 0; i < config->agents_n; i++) {
            if (is_caller(&config->agents[i].agent, kill)) {
                return true;
            }
        }
        return false;
    case WRIT_KILL_NONE:
        break;
    }
    return false;
}

struct search {
    const struct writ_kill *kill;
    bool found;
};

static bool
look_at(void *ctx, const struct writ_reader_item *item)
{
    struct search *search = ctx;
    const struct writ_kill *kill = search->kill;
    const struct writ_agent agent = {.id = item->agent_id, .tenant = item->tenant};

    search->found = kill->by == WRIT_KILL_TOOL
                        ? writ_view_equal(item->tool, tool_of(kill)) &&
                              (kill->tenant.len == 0 || writ_view_equal(item->tenant, kill->tenant))
                        : is_caller(&agent, kill);
    return !search->found;
}

bool
writ_kill_known_is_seen(struct writ_reader *reader, const struct writ_kill *kill)
{
    const struct writ_reader_filter newest = {.limit = WRIT_KILL_KNOWN_LOOKS};
    struct search search = {.kill = kill};

    return kill->by != WRIT_KILL_POLICY && reader != NULL &&
           writ_is_ok(writ_reader_list(reader, &newest, look_at, &search, NULL)) && search.found;
}

void
writ_kill_known_put(const struct writ_kill *kill, struct writ_buf *ret)
{
    static const char *const what[] = {
        [WRIT_KILL_NONE] = "nothing",
        [WRIT_KILL_AGENT] = "calls of agent ",
        [WRIT_KILL_TOOL] = "calls of tool ",
        [WRIT_KILL_TENANT] = "calls of all agents of tenant ",
        [WRIT_KILL_POLICY] = "calls under policy ",
        [WRIT_KILL_CREDENTIAL] = "the call of credential ",
    };

    writ_buf_str(ret, what[kill->by]);
    writ_buf_put(ret, kill->value);
    if (kill->by != WRIT_KILL_TENANT && kill->by != WRIT_KILL_CREDENTIAL && kill->tenant.len > 0) {
        writ_buf_str(ret, ", in tenant ");
        writ_buf_put(ret, kill->tenant);
    }
}
