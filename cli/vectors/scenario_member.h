/* scenario_member.h - reads the members of a scenario file for the crew library. A member of
 * another type is absent: the scenario then differs. */
#ifndef WRIT_CLI_SCENARIO_MEMBER_H
#define WRIT_CLI_SCENARIO_MEMBER_H

#include "evidence/json/json.h"

#define WRIT_SCENARIO_TEXT_MAX ((size_t)64 << 20) /* bytes of one canonical text */

/** The text of a string; absent (`ptr` NULL) otherwise. Borrowed from the file. */
struct writ_view writ_scenario_member_text(const struct writ_json *object, const char *member);

/** The number, or 0. */
double writ_scenario_member_number(const struct writ_json *object, const char *member);

/** The canonical JSON of a value of any type; absent when there is none. Replaces the content of
 * `buf` and is borrowed from it. */
struct writ_view writ_scenario_member_json(
    struct writ_buf *buf, const struct writ_json *object, const char *member);

#endif
