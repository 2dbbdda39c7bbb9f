/* Copies members of foreign records into ours, without judging them: a member of a wrong type is
 * absent. */
#include "evidence/vaara/vaara_read.h"

#define TIME_MS_MAX INT64_C(253402300799999) /* the last instant of the year 9999 */

const struct writ_profile *
writ_vaara_read_profile(void)
{
    return writ_profile_find(WRIT_LIT("vaara-v0"));
}

const struct writ_json *
writ_vaara_read_at(const struct writ_json *value, const char *pointer)
{
    return writ_json_pointer(value, writ_view_str(pointer));
}

struct writ_member_text
writ_vaara_read_text(const struct writ_json *record, const char *pointer)
{
    const struct writ_json *value = writ_vaara_read_at(record, pointer);

    if (writ_json_type(value) == WRIT_JSON_STRING) {
        return writ_member_text(writ_json_string(value));
    }
    return (struct writ_member_text){value == NULL                             ? WRIT_ABSENT
                                     : writ_json_type(value) == WRIT_JSON_NULL ? WRIT_NULL
                                                                               : WRIT_WRONG,
        {NULL, 0}};
}

struct writ_member_number
writ_vaara_read_number(const struct writ_json *record, const char *pointer)
{
    int64_t number;

    if (writ_is_ok(writ_json_integer(
            writ_vaara_read_at(record, pointer), 0, WRIT_DECISION_SEQ_MAX, &number))) {
        return writ_member_number(number);
    }
    return (struct writ_member_number){WRIT_ABSENT, 0};
}

WRIT_RESULT
writ_vaara_read_decision(const struct writ_json *record, struct writ_arena *arena,
    struct writ_decision *ret, struct writ_err *err)
{
    int64_t ms;

    WRIT_TRY(writ_decision_read(record, arena, ret, err));
    ret->tool = writ_vaara_read_text(record, "/action_type");
    ret->boundary_id = writ_vaara_read_text(record, "/completeness/boundaryId");
    ret->seq = writ_vaara_read_number(record, "/completeness/seq");
    ret->running_count = writ_vaara_read_number(record, "/completeness/runningCount");
    ret->issued_at = (struct writ_member_text){WRIT_ABSENT, {NULL, 0}};
    if (writ_is_ok(
            writ_json_integer(writ_vaara_read_at(record, "/timestamp_ms"), 0, TIME_MS_MAX, &ms))) {
        return writ_member_time_make(ms * 1000, arena, &ret->issued_at, err);
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_vaara_read_outcome(const struct writ_json *record, struct writ_arena *arena,
    struct writ_outcome *ret, struct writ_err *err)
{
    WRIT_TRY(writ_outcome_read(record, arena, ret, err));
    ret->outcome = writ_vaara_read_text(record, "/status");
    ret->boundary_id = writ_vaara_read_text(record, "/completeness/boundaryId");
    ret->seq = writ_vaara_read_number(record, "/completeness/seq");
    return WRIT_DONE;
}
