/* Reads members of a scenario file for the crew library. A member of another type is absent, and
 * never a failure: the scenario then differs. */
#include "cli/vectors/scenario_member.h"

#include "evidence/json/jcs.h"

struct writ_view
writ_scenario_member_text(const struct writ_json *object, const char *member)
{
    return writ_json_string(writ_json_get(object, writ_view_str(member)));
}

double
writ_scenario_member_number(const struct writ_json *object, const char *member)
{
    const struct writ_json *value = writ_json_get(object, writ_view_str(member));

    return writ_json_type(value) == WRIT_JSON_NUMBER ? value->number : 0;
}

struct writ_view
writ_scenario_member_json(struct writ_buf *buf, const struct writ_json *object, const char *member)
{
    const struct writ_json *value = writ_json_get(object, writ_view_str(member));

    writ_buf_clear(buf);
    if (value == NULL || !writ_is_ok(writ_jcs_put_rounded(buf, value, NULL))) {
        return writ_view(NULL, 0);
    }
    return writ_buf_view(buf);
}
