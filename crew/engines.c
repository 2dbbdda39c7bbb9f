/* A list of engines that the caller owns. A name occurs once: adding it again replaces its
 * engine. */
#include "crew/engines.h"

#include "crew/failure.h"
#include "crew/vec.h"

struct writ_crew_engines {
    const struct writ_crew_engine **list;
    size_t n, cap;
};

struct writ_crew_engines *
writ_crew_engines_new(void)
{
    return writ_alloc(sizeof(struct writ_crew_engines));
}

void
writ_crew_engines_free(struct writ_crew_engines *engines)
{
    if (engines != NULL) {
        writ_free(engines->list);
        writ_free(engines);
    }
}

const struct writ_crew_engine *
writ_engines_find(const struct writ_crew_engines *engines, struct writ_view name)
{
    for (size_t at = 0; engines != NULL && at < engines->n; at++) {
        if (writ_view_is(name, engines->list[at]->name)) {
            return engines->list[at];
        }
    }
    return NULL;
}

void
writ_engines_list(const struct writ_crew_engines *engines, struct writ_buf *ret)
{
    for (size_t at = 0; engines != NULL && at < engines->n; at++) {
        writ_buf_fmt(ret, ", %s", engines->list[at]->name);
    }
}

static bool
is_name(struct writ_view name)
{
    for (size_t at = 0; at < name.len; at++) {
        char c = name.ptr[at];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                c == '_' || c == '-' || c == '.')) {
            return false;
        }
    }
    return name.len > 0 && name.len <= WRIT_CREW_ENGINE_NAME_MAX;
}

WRIT_RESULT
writ_crew_engines_add(struct writ_crew_engines *engines, const struct writ_crew_engine *engine,
    bool *replaced, struct writ_crew_err *err)
{
    bool known = false;

    if (engine->abi != WRIT_CREW_ENGINE_ABI) {
        return writ_failure_set(err, WRIT_E_INVALID, WRIT_CREW_UNKNOWN_ENGINE,
            "an engine for ABI %u; this program has ABI %d", engine->abi, WRIT_CREW_ENGINE_ABI);
    }
    if (!is_name(writ_view_str(engine->name)) || engine->count == NULL) {
        return writ_failure_set(err, WRIT_E_INVALID, WRIT_CREW_UNKNOWN_ENGINE,
            "an engine without a name of letters, digits, '_', '-' and '.', or without a count");
    }
    for (size_t at = 0; at < engines->n && !known; at++) {
        known = writ_view_is(writ_view_str(engine->name), engines->list[at]->name);
        if (known) {
            engines->list[at] = engine;
        }
    }
    if (!known) {
        if (!writ_is_ok(writ_vec_room(
                &engines->list, &engines->cap, engines->n, sizeof(struct writ_crew_engine *)))) {
            return writ_failure_memory(err);
        }
        engines->list[engines->n++] = engine;
    }
    if (replaced != NULL) {
        *replaced = known;
    }
    return WRIT_DONE;
}
