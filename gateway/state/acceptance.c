/* acceptance.c - what is accepted is the definition that was seen, byte for byte. */
#include "gateway/state/acceptance.h"

#include "base/clock.h"
#include "evidence/json/difference.h"
#include "gateway/state/accepted.h"

#define ARENA_MAX ((size_t)512 << 20)

WRIT_RESULT
writ_acceptance_open(const struct writ_config *config, const struct writ_keyring *keys,
    struct writ_acceptance *ret, struct writ_err *err)
{
    writ_result r;

    *ret = (struct writ_acceptance){NULL, NULL};
    r = writ_definitions_load(config->files.ptr, WRIT_DEFINITIONS_SEEN, keys, &ret->seen, err);
    if (r.code == WRIT_E_ABSENT) {
        r = writ_definitions_new(&ret->seen, err);
    }
    WRIT_TRY(r);
    return writ_accepted_load(config, keys, NULL, &ret->accepted, err);
}

void
writ_acceptance_wipe(struct writ_acceptance *acceptance)
{
    writ_definitions_free(WRIT_TAKE(acceptance->seen));
    writ_definitions_free(WRIT_TAKE(acceptance->accepted));
}

const char *
writ_acceptance_state(const struct writ_acceptance *acceptance, struct writ_view name)
{
    const struct writ_definition *seen = writ_definitions_find(acceptance->seen, name);
    const struct writ_definition *accepted = writ_definitions_find(acceptance->accepted, name);

    if (seen == NULL) {
        return "gone";
    }
    if (accepted == NULL) {
        return "new";
    }
    return writ_digest_equal(&seen->digest, &accepted->digest) ? "accepted" : "changed";
}

static WRIT_RESULT
parse(const struct writ_definition *definition, struct writ_arena *arena,
    const struct writ_json **ret, struct writ_err *err)
{
    struct writ_json_limits limits = writ_json_limits_default;

    if (definition == NULL || definition->text.len == 0) {
        *ret = NULL;
        return WRIT_DONE;
    }
    limits.bytes = limits.string_bytes = WRIT_DEFINITION_BYTES_MAX;
    limits.values = 1u << 20;
    return writ_json_read(definition->text, &limits, arena, ret, err);
}

WRIT_RESULT
writ_acceptance_never_seen(struct writ_view name, struct writ_err *err)
{
    WRIT_FAIL(err, WRIT_E_ABSENT,
        WRIT_VIEW_FMT ": no such definition was seen. A running gateway notes a tool when it is "
                      "listed or called, and writes that down within two seconds: list or call "
                      "it, then run this again.",
        WRIT_VIEW_ARG(name));
}

WRIT_RESULT
writ_acceptance_difference(const struct writ_acceptance *acceptance, struct writ_view name,
    struct writ_buf *ret, size_t *ret_lines, struct writ_err *err)
{
    const struct writ_definition *seen = writ_definitions_find(acceptance->seen, name);
    const struct writ_definition *accepted = writ_definitions_find(acceptance->accepted, name);
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    const struct writ_json *before, *after;

    if (arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to compare definitions");
    }
    if (seen == NULL && accepted == NULL) {
        return writ_acceptance_never_seen(name, err);
    }
    if (seen != NULL && accepted != NULL && writ_digest_equal(&seen->digest, &accepted->digest)) {
        *ret_lines = 0; /* also when the file no longer has the text of the accepted definition */
        return WRIT_DONE;
    }
    WRIT_TRY(parse(accepted, arena, &before, err));
    WRIT_TRY(parse(seen, arena, &after, err));
    *ret_lines = writ_difference_put(before, after, SIZE_MAX, ret); /* everything was shown */
    return WRIT_DONE;
}

WRIT_RESULT
writ_acceptance_take(struct writ_acceptance *acceptance, const struct writ_definition *seen,
    int64_t now_us, struct writ_err *err)
{
    const struct writ_definition *before = writ_definitions_find(acceptance->accepted, seen->name);
    struct writ_definition accepted = *seen;
    char now[WRIT_TIME_TEXT];
    int64_t before_us;

    if (before != NULL && writ_is_ok(writ_time_read(before->at, &before_us)) &&
        before_us >= now_us) {
        now_us = before_us + 1;
    }
    writ_time_format(now_us, now);
    accepted.at = writ_view(now, WRIT_TIME_TEXT - 1);
    return writ_definitions_put(acceptance->accepted, &accepted, err);
}
