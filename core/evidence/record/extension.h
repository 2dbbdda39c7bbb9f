/* extension.h - extensions.writ, our own part of a record: the members that the contract lacks. */
#ifndef WRIT_EVIDENCE_EXTENSION_H
#define WRIT_EVIDENCE_EXTENSION_H

#include "evidence/record/member.h"

/** Our own part of a record's extensions (member.tbl.h). Zero-initialised: no member. A new member
 * goes into docs/evidence.md and both verifiers of tests/conformance too. */
struct writ_extension {
    WRIT_EXTENSION_MEMBERS(WRIT_MEMBER_FIELD)
    struct writ_member_others others;
};

/**
 * Makes the member `extensions` of a new record, {"writ":{...}}, in canonical form in the arena.
 * The views and items of `extension` are borrowed as long as the record is used.
 *
 * @return WRIT_OK
 *         WRIT_E_LIMIT  longer than WRIT_RECORD_MAX_BYTES
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_extension_make(const struct writ_extension *extension, struct writ_arena *arena,
    struct writ_member_object *ret, struct writ_err *err);

/**
 * Gives extensions.writ of a record that was read or made, so that a caller can change it and make
 * it again. Without the member, or when it is not an object: a zeroed extension.
 *
 * @return WRIT_OK
 *         WRIT_E_LIMIT  over WRIT_RECORD_MAX_OTHERS or WRIT_RECORD_MAX_ITEMS
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_extension_read(const struct writ_member_object *extensions,
    struct writ_arena *arena, struct writ_extension *ret, struct writ_err *err);

#endif
