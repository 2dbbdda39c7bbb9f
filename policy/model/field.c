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
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct writ_view begin =
            rows[i].is_prefix ? writ_view_sub(name, 0, rows[i].name.len) : name;
        if (writ_view_equal_nocase(begin, rows[i].name)) {
            return rows[i].owner;
        }
    }
    return WRIT_FIELD_FREE;
}
