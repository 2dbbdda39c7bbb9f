/* The limits of a record hold for reading too: a record that the writer would not have written is
 * not read. */
#include "store/tables/body.h"

#include "evidence/record/extension.h"

WRIT_RESULT
writ_body_json(struct writ_view body, struct writ_arena *arena, const struct writ_json **ret,
    struct writ_err *err)
{
    struct writ_json_limits limits = writ_json_limits_default;

    limits.bytes = WRIT_RECORD_MAX_BYTES;
    return writ_json_read(body, &limits, arena, ret, err);
}

WRIT_RESULT
writ_body_decision(struct writ_view body, struct writ_arena *arena, struct writ_decision *ret,
    struct writ_err *err)
{
    const struct writ_json *value = NULL;

    WRIT_TRY(writ_body_json(body, arena, &value, err));
    return writ_decision_read(value, arena, ret, err);
}

WRIT_RESULT
writ_body_profile(const struct writ_decision *decision, struct writ_arena *arena,
    const struct writ_profile **ret, struct writ_err *err)
{
    struct writ_extension extension = {0};
    const struct writ_profile *profile = NULL;
    writ_result read = writ_extension_read(&decision->extensions, arena, &extension, err);

    if (read.code == WRIT_E_NOMEM) {
        return read;
    }
    if (writ_is_ok(read) && extension.profile.is == WRIT_PRESENT) {
        profile = writ_profile_find(extension.profile.view);
    }
    *ret = profile == NULL ? writ_profile_default() : profile;
    return WRIT_DONE;
}
