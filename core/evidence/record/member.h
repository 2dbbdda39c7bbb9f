/* member.h - the common parts of the records of the contract: members that may be absent, null or
 * present, and unknown members.
 *
 * A record is a struct with one field per row of member.tbl.h. Reading refuses only input that is
 * not an object or too large; everything else is kept, so that a record passes through without
 * loss: unknown members and members of a wrong type are written again as they came. Validation
 * reports the faults, all at once.
 *
 * Views and nodes in a record are borrowed from the arena or document it was made from. Functions
 * here do no I/O; threads may share a record that no thread changes. */
#ifndef WRIT_EVIDENCE_MEMBER_H
#define WRIT_EVIDENCE_MEMBER_H

#include "base/bytes.h"
#include "evidence/record/member.tbl.h"

struct writ_json;
struct writ_extension;

#define WRIT_RECORD_MAX_BYTES  (1U << 20) /* canonical form of one record */
#define WRIT_RECORD_MAX_OTHERS 256        /* members of a record without a row */
#define WRIT_RECORD_MAX_ITEMS  1024       /* elements of one list */

/** Whether a member is there. WRONG: there, with a value of another type; it is kept among the
 * others, and counts as absent except for writing and validation. */
enum writ_presence { WRIT_ABSENT = 0, WRIT_NULL, WRIT_PRESENT, WRIT_WRONG };

/* One member, by kind. All begin with its presence; the value counts only when PRESENT. */
struct writ_member_text {
    enum writ_presence is;
    struct writ_view view;
};
struct writ_member_list {
    enum writ_presence is;
    const struct writ_view *items;
    size_t count;
};
struct writ_member_number {
    enum writ_presence is;
    int64_t value;
};
struct writ_member_flag {
    enum writ_presence is;
    bool value;
};
/** An object: `value` when it was read; for extensions that we made, `canonical` is the JCS text
 * and `made` its source (extension.h). */
struct writ_member_object {
    enum writ_presence is;
    const struct writ_json *value;
    struct writ_view canonical;
    const struct writ_extension *made;
};

/** Members without a row, and those of a wrong type, in JCS order. */
struct writ_member_others {
    const struct writ_json *const *names; /* each with its value behind it: writ_json_value */
    size_t count;
};

/* One field of a record struct, from its row in member.tbl.h. */
#define WRIT_MEMBER_TYPE_TEXT                                   struct writ_member_text
#define WRIT_MEMBER_TYPE_DIGEST                                 struct writ_member_text
#define WRIT_MEMBER_TYPE_LABEL                                  struct writ_member_text
#define WRIT_MEMBER_TYPE_TIME                                   struct writ_member_text
#define WRIT_MEMBER_TYPE_CHOICE                                 struct writ_member_text
#define WRIT_MEMBER_TYPE_LIST                                   struct writ_member_list
#define WRIT_MEMBER_TYPE_COUNT                                  struct writ_member_number
#define WRIT_MEMBER_TYPE_NUMBER                                 struct writ_member_number
#define WRIT_MEMBER_TYPE_FLAG                                   struct writ_member_flag
#define WRIT_MEMBER_TYPE_OBJECT                                 struct writ_member_object
#define WRIT_MEMBER_FIELD(member, KIND, NULLS, needed, meaning) WRIT_MEMBER_TYPE_##KIND member;

/** A present string. */
static inline struct writ_member_text
writ_member_text(struct writ_view view)
{
    return (struct writ_member_text){WRIT_PRESENT, view};
}

/** A present string, or null for an empty view. */
static inline struct writ_member_text
writ_member_text_or_null(struct writ_view view)
{
    return (struct writ_member_text){view.len > 0 ? WRIT_PRESENT : WRIT_NULL, view};
}

/** A present string, or no member for an empty view. */
static inline struct writ_member_text
writ_member_text_or_absent(struct writ_view view)
{
    return (struct writ_member_text){view.len > 0 ? WRIT_PRESENT : WRIT_ABSENT, view};
}

/** Its text, borrowed as the member's; {NULL, 0} without one. */
static inline struct writ_view
writ_member_view(const struct writ_member_text *member)
{
    return member->is == WRIT_PRESENT ? member->view : writ_view(NULL, 0);
}

/** A present list; the items are borrowed as long as the record is used. */
static inline struct writ_member_list
writ_member_list(const struct writ_view *items, size_t count)
{
    return (struct writ_member_list){WRIT_PRESENT, items, count};
}

static inline struct writ_member_number
writ_member_number(int64_t value)
{
    return (struct writ_member_number){WRIT_PRESENT, value};
}

static inline struct writ_member_flag
writ_member_flag(bool value)
{
    return (struct writ_member_flag){WRIT_PRESENT, value};
}

/** Both present with the same bytes; or, where `absent_equal`, both without a value (absent and
 * null are the same here, a wrong type is never equal). */
bool writ_member_text_equal(
    const struct writ_member_text *a, const struct writ_member_text *b, bool absent_equal);

/** Appends a list as a JSON array of strings. */
void writ_member_put_list(const struct writ_member_list *list, struct writ_buf *ret);

/** True for a time in the form of records: YYYY-MM-DDTHH:MM:SS, up to nine digits below the second
 * after a dot, and Z; the day and the time must exist. `ret_us` (may be NULL) is cut to
 * microseconds. */
bool writ_member_time(struct writ_view text, int64_t *ret_us);

/** Makes the text of a time in the arena; WRIT_E_NOMEM. */
WRIT_RESULT writ_member_time_make(
    int64_t wall_us, struct writ_arena *arena, struct writ_member_text *ret, struct writ_err *err);

#endif
