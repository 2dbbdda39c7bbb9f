/* token_cache.c - a direct-mapped table by the first bytes of the token's digest. A slot with
 * `exp_s` 0 is empty. A slot that could not be filled completely stays empty. */
#include "gateway/auth/token_cache.h"

struct slot {
    struct writ_token_cache_seen seen; /* none while exp_s is 0 */
    struct writ_buf texts;             /* where the agent's views point */
};

struct writ_token_cache {
    struct slot slots[WRIT_TOKEN_CACHE_MAX]; /* by the first bytes of the digest */
};

const struct writ_token_cache_field writ_token_cache_fields[WRIT_TOKEN_CACHE_FIELDS] = {
    {offsetof(struct writ_agent, id), offsetof(struct writ_claim_names, id)},
    {offsetof(struct writ_agent, tenant), offsetof(struct writ_claim_names, tenant)},
    {offsetof(struct writ_agent, role), offsetof(struct writ_claim_names, role)},
    {offsetof(struct writ_agent, credential_scope),
        offsetof(struct writ_claim_names, credential_scope)},
    {offsetof(struct writ_agent, credential_tier),
        offsetof(struct writ_claim_names, credential_tier)},
    {offsetof(struct writ_agent, scopes), offsetof(struct writ_claim_names, scopes)},
};

static struct writ_view
view_at(const void *from, size_t offset)
{
    return *(const struct writ_view *)(const void *)((const char *)from + offset);
}

struct writ_view
writ_token_cache_value(const struct writ_agent *agent, size_t i)
{
    return view_at(agent, writ_token_cache_fields[i].agent);
}

struct writ_view
writ_token_cache_name(const struct writ_claim_names *names, size_t i)
{
    return view_at(names, writ_token_cache_fields[i].name);
}

void
writ_token_cache_set(struct writ_agent *agent, size_t i, struct writ_view value)
{
    *(struct writ_view *)(void *)((char *)agent + writ_token_cache_fields[i].agent) = value;
}

struct writ_token_cache *
writ_token_cache_new(void)
{
    return writ_alloc(sizeof(struct writ_token_cache));
}

void
writ_token_cache_free(struct writ_token_cache *verdicts)
{
    if (verdicts != NULL) {
        for (size_t i = 0; i < WRIT_TOKEN_CACHE_MAX; i++) {
            writ_buf_wipe(&verdicts->slots[i].texts);
        }
        writ_free(verdicts);
    }
}

static size_t
slot_of(const struct writ_digest *token)
{
    return ((size_t)token->bytes[0] << 8 | token->bytes[1]) % WRIT_TOKEN_CACHE_MAX;
}

const struct writ_token_cache_seen *
writ_token_cache_find(const struct writ_token_cache *verdicts, const struct writ_digest *token)
{
    const struct slot *slot = &verdicts->slots[slot_of(token)];

    return slot->seen.exp_s > 0 && writ_digest_equal(&slot->seen.token, token) ? &slot->seen : NULL;
}

void
writ_token_cache_put(struct writ_token_cache *verdicts, const struct writ_token_cache_seen *seen)
{
    struct slot *slot = &verdicts->slots[slot_of(&seen->token)];
    struct writ_buf texts;
    size_t total = 1;
    char *at;

    for (size_t i = 0; i < WRIT_TOKEN_CACHE_FIELDS; i++) {
        total += writ_token_cache_value(&seen->agent, i).len;
    }
    writ_buf_wipe(&slot->texts);
    *slot = (struct slot){0};
    texts = writ_buf_make(total);
    at = writ_buf_reserve(&texts, total); /* the full size at once, so that the views stay valid */
    if (at == NULL) {
        return;
    }
    slot->seen = *seen;
    slot->texts = texts;
    for (size_t i = 0; i < WRIT_TOKEN_CACHE_FIELDS; i++) {
        struct writ_view value = writ_token_cache_value(&seen->agent, i);
        writ_buf_put(&slot->texts, value);
        writ_token_cache_set(&slot->seen.agent, i, writ_view(at, value.len));
        at += value.len;
    }
}
