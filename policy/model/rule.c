/* Exact names of tools are found by hash, patterns in the order of the file. An exact name always
 * wins over a pattern. */
#include "policy/model/rule.h"

#include "policy/model/glob.h"

/* FNV-1a: only the configuration chooses the entries of the table. */
static size_t
hash(struct writ_view upstream, struct writ_view tool)
{
    uint64_t h = 0xcbf29ce484222325ULL;

    for (size_t i = 0; i < upstream.len; i++) {
        h = (h ^ (unsigned char)upstream.ptr[i]) * 0x100000001b3ULL;
    }
    h = (h ^ '/') * 0x100000001b3ULL;
    for (size_t i = 0; i < tool.len; i++) {
        h = (h ^ (unsigned char)tool.ptr[i]) * 0x100000001b3ULL;
    }
    return (size_t)(h ^ h >> 32);
}

size_t
writ_rule_buckets(size_t n)
{
    size_t size = 16;

    while (size < 2 * n) {
        size *= 2;
    }
    return size;
}

void
writ_rule_index(struct writ_tool_entry *entries, size_t n, size_t *buckets, struct writ_policy *ret)
{
    size_t size = writ_rule_buckets(n);

    *ret = (struct writ_policy){.entries = entries, .n = n, .buckets = buckets, .mask = size - 1};
    for (size_t i = 0; i < size; i++) {
        buckets[i] = 0;
    }
    for (size_t i = 0; i < n; i++) {
        if (!entries[i].pattern) {
            size_t *bucket = &buckets[hash(entries[i].upstream, entries[i].tool) & ret->mask];
            entries[i].next = *bucket;
            *bucket = i + 1;
        }
    }
}

int64_t
writ_rule_longest_window(const struct writ_policy *policy)
{
    int64_t longest_us = 0;

    for (size_t i = 0; i < policy->n; i++) {
        for (size_t r = 0; r < policy->entries[i].rules_n; r++) {
            const struct writ_tool_rule *rule = &policy->entries[i].rules[r];
            for (size_t b = 0; b < rule->budgets_n; b++) {
                longest_us = rule->budgets[b].window_us > longest_us ? rule->budgets[b].window_us
                                                                     : longest_us;
            }
        }
    }
    return longest_us;
}

const struct writ_tool_rule *
writ_rule_keeps(const struct writ_policy *policy)
{
    for (size_t i = 0; i < policy->n; i++) {
        for (size_t r = 0; r < policy->entries[i].rules_n; r++) {
            if (policy->entries[i].rules[r].contents.keep_us > 0) {
                return &policy->entries[i].rules[r];
            }
        }
    }
    return NULL;
}

size_t
writ_rule_shadowed(const struct writ_policy *policy)
{
    size_t n = 0;

    for (size_t i = 0; i < policy->n; i++) {
        for (size_t r = 0; r < policy->entries[i].rules_n; r++) {
            const struct writ_tool_rule *rule = &policy->entries[i].rules[r];
            n += rule->shadow && rule->agreed ? 1 : 0;
        }
    }
    return n;
}

const struct writ_tool_entry *
writ_rule_entry(const struct writ_policy *policy, struct writ_view upstream, struct writ_view tool)
{
    size_t at = policy->buckets[hash(upstream, tool) & policy->mask];

    for (; at != 0; at = policy->entries[at - 1].next) {
        const struct writ_tool_entry *entry = &policy->entries[at - 1];
        if (writ_view_equal(entry->tool, tool) && writ_view_equal(entry->upstream, upstream)) {
            return entry;
        }
    }
    for (size_t i = 0; i < policy->n; i++) {
        const struct writ_tool_entry *entry = &policy->entries[i];
        if (entry->pattern && writ_view_equal(entry->upstream, upstream) &&
            writ_glob_match(entry->tool, tool) == WRIT_GLOB_YES) {
            return entry;
        }
    }
    return NULL;
}

bool
writ_rule_is_named(
    const struct writ_policy *policy, struct writ_view upstream, struct writ_view tool)
{
    const struct writ_tool_entry *entry = writ_rule_entry(policy, upstream, tool);

    return entry != NULL && !entry->pattern;
}

bool
writ_rule_doubts_reads(
    const struct writ_policy *policy, struct writ_view upstream, struct writ_view tool)
{
    const struct writ_tool_entry *entry = writ_rule_entry(policy, upstream, tool);

    for (size_t i = 0; entry != NULL && i < entry->rules_n; i++) {
        if (entry->rules[i].doubts_reads) {
            return true;
        }
    }
    return false;
}
