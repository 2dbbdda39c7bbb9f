/* A configuration owns its memory: one arena and the compiled patterns. References are counted
 * atomically, so a reload can drop one configuration while loops still use it. The last reference
 * frees everything; nothing in a configuration is freed alone. */
#include "policy/model/config.h"

#include "base/alloc.h"
#include "policy/model/pattern.h"

#include <stdatomic.h>

/* A configuration with its memory. */
struct writ_config_owner {
    struct writ_config config;
    atomic_uint references;
    struct writ_arena *arena;
    struct writ_pattern_list *patterns;
};

struct writ_config *
writ_config_new(void)
{
    struct writ_config_owner *owned = writ_alloc(sizeof *owned);

    if (owned == NULL) {
        return NULL;
    }
    owned->arena = writ_arena_new(WRIT_CONFIG_MEMORY_MAX);
    if (owned->arena == NULL) {
        writ_free(owned);
        return NULL;
    }
    atomic_init(&owned->references, 1);
    owned->config.owner = owned;
    return &owned->config;
}

struct writ_arena *
writ_config_arena(const struct writ_config *config)
{
    return config->owner->arena;
}

struct writ_pattern_list **
writ_config_patterns(const struct writ_config *config)
{
    return &config->owner->patterns;
}

static void
owned_free(struct writ_config_owner *owned)
{
    if (owned != NULL) {
        writ_pattern_list_free(owned->patterns);
        writ_arena_free(owned->arena);
        writ_free(owned);
    }
}

const struct writ_config *
writ_config_hold(const struct writ_config *config)
{
    (void)atomic_fetch_add_explicit(&config->owner->references, 1, memory_order_relaxed);
    return config;
}

void
writ_config_drop(const struct writ_config *config)
{
    if (config != NULL &&
        atomic_fetch_sub_explicit(&config->owner->references, 1, memory_order_acq_rel) == 1) {
        owned_free(config->owner);
    }
}

const struct writ_upstream_config *
writ_config_upstream(const struct writ_config *config, struct writ_view name)
{
    for (size_t i = 0; i < config->upstreams_n; i++) {
        if (writ_view_equal(config->upstreams[i].name, name)) {
            return &config->upstreams[i];
        }
    }
    return NULL;
}

const struct writ_program_config *
writ_config_program(const struct writ_config *config, struct writ_view name)
{
    for (size_t i = 0; i < config->written_n; i++) {
        if (writ_view_equal(config->written[i].name, name)) {
            return config->written[i].program.n > 0 ? &config->written[i].program : NULL;
        }
    }
    return NULL;
}

const struct writ_labels *
writ_config_read_labels(const struct writ_config *config, struct writ_view upstream)
{
    for (size_t i = 0; config->read_labels != NULL && i < config->written_n; i++) {
        if (writ_view_equal(config->written[i].name, upstream)) {
            return config->read_labels[i];
        }
    }
    return NULL;
}

const struct writ_reviewer_config *
writ_config_reviewer(const struct writ_config *config, struct writ_view id)
{
    for (size_t i = 0; i < config->reviewers_n; i++) {
        if (writ_view_equal(config->reviewers[i].id, id)) {
            return &config->reviewers[i];
        }
    }
    return NULL;
}

const struct writ_engine_config *
writ_config_engine(const struct writ_config *config, struct writ_view name, struct writ_view digest)
{
    const struct writ_engine_config *engine = config->engines;
    char text[WRIT_DIGEST_TEXT];

    while (engine != NULL && !writ_view_equal(engine->name, name)) {
        engine = engine->next;
    }
    if (engine != NULL) {
        writ_digest_text(&engine->digest, text);
    }
    return engine != NULL && writ_view_is(digest, text) ? engine : NULL;
}

const struct writ_framework_config *
writ_config_framework(const struct writ_config *config, struct writ_view name)
{
    for (size_t i = 0; i < config->frameworks_n; i++) {
        if (writ_view_equal(config->frameworks[i].name, name)) {
            return &config->frameworks[i];
        }
    }
    return NULL;
}

bool
writ_config_runs_tools(const struct writ_config *config, struct writ_view name)
{
    return (config->upstreams_n == 0 && config->frameworks_n == 0) ||
           writ_config_upstream(config, name) != NULL ||
           writ_config_framework(config, name) != NULL;
}
