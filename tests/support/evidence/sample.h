/* sample.h - a call and its decision in Writ's form, for tests that change one member at a time. */
#ifndef WRIT_TESTS_SAMPLE_H
#define WRIT_TESTS_SAMPLE_H

#include "evidence/record/binding.h"
#include "evidence/record/profile.h"
#include "evidence/record/record.h"

#define WRIT_SAMPLE_ISSUED_US   INT64_C(1782363600000000) /* 2026-06-25T05:00:00Z */
#define WRIT_SAMPLE_LIFETIME_US INT64_C(300000000)        /* five minutes */

/** Every member that describes the call is set, and no derived one. */
struct writ_decision writ_sample_draft(enum writ_decision_route route);

/** Derived and placed at seq 0; valid. Texts are in the arena. */
struct writ_decision writ_sample_decision(
    enum writ_decision_route route, const struct writ_profile *profile, struct writ_arena *arena);

/** The call that such an allow authorizes. */
struct writ_candidate writ_sample_candidate(const struct writ_decision *authorization);

#endif
