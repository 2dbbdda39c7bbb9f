/* governance.h - shared by the conformance tests of the governance contract: reads records out of
 * vectors, and compares derived values with those of the vector. */
#ifndef WRIT_TESTS_GOVERNANCE_H
#define WRIT_TESTS_GOVERNANCE_H

#include "evidence/proof/completeness.h"
#include "evidence/record/profile.h"
#include "evidence/record/record.h"

/** Reads a decision, outcome or seal of a vector, and ignores other members of the object. */
struct writ_decision writ_governance_decision(
    struct writ_arena *arena, const struct writ_json *value);
struct writ_outcome writ_governance_outcome(
    struct writ_arena *arena, const struct writ_json *value);
struct writ_seal writ_governance_seal(struct writ_arena *arena, const struct writ_json *value);

/** H(value) as the text of a member; null stays null. */
struct writ_member_text writ_governance_hash(
    struct writ_arena *arena, const struct writ_json *value);

/** A field that the profile derives; absent when it cannot. `outcome` may be NULL. */
struct writ_member_text writ_governance_derive(struct writ_arena *arena,
    const struct writ_profile *profile, enum writ_profile_field field,
    const struct writ_decision *decision, const struct writ_outcome *outcome);

/** Fails the test `id` unless `got` equals the vector's member `name`: the same text, or null for
 * null. It fails too when the vector lacks the member. */
void writ_governance_expect(const char *id, const struct writ_json *vector, const char *name,
    const struct writ_member_text *got);

/** The id of a vector, for messages. */
const char *writ_governance_id(struct writ_arena *arena, const struct writ_json *vector);

/** The report on an array of decisions and a seal (NULL or null: none). */
struct writ_completeness writ_governance_report(
    struct writ_arena *arena, const struct writ_json *decisions, const struct writ_json *seal);

#endif
