/* A plug-in is read once, with the configuration, and pinned by its digest: what counts is what the
 * policy_digest names, whatever happens to the file later. */
#include "policy/read/engines.h"

#include "base/text.h"
#include "store/trusted/trusted.h"

static bool
read_object(struct writ_options *o, const struct writ_yaml *node, struct writ_view folder,
    struct writ_engine_config *engine)
{
    writ_auto_buf object = writ_buf_make(WRIT_ENGINES_FILE_MAX);
    writ_auto_buf path = writ_buf_make(WRIT_TEXT_PATH_MAX);
    struct writ_err err = {0};
    writ_result result;

    writ_buf_put(&path, folder);
    writ_buf_byte(&path, '/');
    writ_buf_put(&path, engine->name);
    writ_buf_byte(&path, '\0');
    if (!writ_is_ok(writ_buf_check(&path, NULL))) {
        WRIT_OPTION_FAULT(o, node, "the path of the plug-in is too long");
        return false;
    }
    result = writ_trusted_load(path.ptr, WRIT_TRUSTED_UNWRITABLE, &object, &err);
    if (!writ_is_ok(result)) {
        WRIT_OPTION_FAULT(o, node, "a plug-in of the folder engines cannot be read: %s", err.text);
        return false;
    }
    engine->object = writ_view_copy(writ_buf_view(&object), o->arena);
    o->nomem = o->nomem || engine->object.ptr == NULL ||
               !writ_is_ok(writ_digest_bytes(engine->object, &engine->digest, NULL));
    return !o->nomem;
}

const struct writ_engine_config *
writ_engines_read(struct writ_options *o, const struct writ_yaml *node, struct writ_view name,
    struct writ_config *config)
{
    const struct writ_engine_config **at = &config->engines;
    struct writ_engine_config *engine;

    while (*at != NULL && writ_view_compare((*at)->name, name) < 0) {
        at = (const struct writ_engine_config **)(uintptr_t) & (*at)->next;
    }
    if (*at != NULL && writ_view_equal((*at)->name, name)) {
        return *at;
    }
    if (config->engines_folder.len == 0) {
        WRIT_OPTION_FAULT(
            o, node, "is the file of a plug-in, and there is no folder of plug-ins: set engines");
        return NULL;
    }
    engine = writ_option_memory(o, 1, sizeof *engine);
    if (engine == NULL) {
        return NULL;
    }
    *engine = (struct writ_engine_config){.name = name, .node = node, .next = *at};
    if (!read_object(o, node, config->engines_folder, engine)) {
        return NULL;
    }
    *at = engine;
    return engine;
}
