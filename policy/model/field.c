/* The rows of field.tbl.h as an array, searched from the front. */
#include "policy/model/field.h"

static const struct {
    struct writ_view name;
    enum writ_field_owner owner;
    bool is_prefix;
} rows[] = {
#define FIELD(name, who)  {WRIT_LIT(name), WRIT_FIELD_##who, false},
#define FIELDS(name, who) {WRIT_LIT(name), WRIT_FIELD_##who, true},
#include "policy/model/field.tbl.h"
#undef FIELD
#undef FIELDS
};

enum writ_field_owner
writ_field_owner(struct writ_view name)
{
    char first = name.len > 0 ? (char)(name.ptr[0] | 0x20) : '\0'; /* small, if it is a letter */

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct writ_view row = rows[i].name;

        if (row.ptr[0] == first &&
            writ_view_equal_nocase(
                rows[i].is_prefix ? writ_view_sub(name, 0, row.len) : name, row)) {
            return rows[i].owner;
        }
    }
    return WRIT_FIELD_FREE;
}
