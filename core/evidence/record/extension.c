/* Our part of `extensions` by the table of members. It is made once in canonical form, and a record
 * that was read keeps every unknown member beside it. */
#include "evidence/record/extension.h"

#include "evidence/json/json.h"
#include "evidence/record/table.h"

#define ROW(member, KIND, NULLS, needed, meaning)                                                  \
    WRIT_TABLE_ROW(writ_extension, member, KIND, NULLS, needed),

static const struct writ_table_row rows[] = {WRIT_EXTENSION_MEMBERS(ROW)};

static const struct writ_table table = {
    .what = "member extensions.writ",
    .rows = rows,
    .rows_count = sizeof rows / sizeof rows[0],
    .others = offsetof(struct writ_extension, others),
};

WRIT_RESULT
writ_extension_make(const struct writ_extension *extension, struct writ_arena *arena,
    struct writ_member_object *ret, struct writ_err *err)
{
    struct writ_extension *made = writ_arena_get(arena, sizeof *made);
    struct writ_buf text = writ_buf_in(arena, WRIT_RECORD_MAX_BYTES);

    writ_buf_str(&text, "{\"writ\":");
    WRIT_TRY(writ_table_put(&table, extension, &text, err));
    writ_buf_byte(&text, '}');
    WRIT_TRY(writ_buf_check(&text, err));
    if (made == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the extensions of a record");
    }
    *made = *extension;
    *ret = (struct writ_member_object){WRIT_PRESENT, NULL, writ_buf_view(&text), made};
    return WRIT_DONE;
}

WRIT_RESULT
writ_extension_read(const struct writ_member_object *extensions, struct writ_arena *arena,
    struct writ_extension *ret, struct writ_err *err)
{
    const struct writ_json *member =
        writ_json_get_typed(extensions->value, WRIT_LIT("writ"), WRIT_JSON_OBJECT);
    struct writ_extension extension = {0};

    if (extensions->is == WRIT_PRESENT && extensions->made != NULL) {
        extension = *extensions->made;
    } else if (extensions->is == WRIT_PRESENT && member != NULL) {
        WRIT_TRY(writ_table_read(&table, member, arena, &extension, err));
    }
    *ret = extension;
    return WRIT_DONE;
}
