/* Reads, writes and checks any record by the rows of its table. The rows and the members of an
 * object are both in canonical order, so one walk joins them; no member is lost. */
#include "evidence/record/table.h"

#include "base/text.h"
#include "evidence/json/digest.h"
#include "evidence/json/jcs.h"

#define INTEGER_MAX (((int64_t)1 << 53) - 1) /* RFC 7493 2.2 */

/* The field of a row in a record struct. Rows are made by WRIT_TABLE_ROW, so the offset is inside
 * and the type is that of the row's kind. */
static void *
field_of(const struct writ_table_row *row, void *record)
{
    return (char *)record + row->offset;
}

static const void *
const_field_of(const struct writ_table_row *row, const void *record)
{
    return (const char *)record + row->offset;
}

/* Every field begins with its presence. */
static enum writ_presence
presence_of(const struct writ_table_row *row, const void *record)
{
    return *(const enum writ_presence *)const_field_of(row, record);
}

static const struct writ_member_others *
others_of(const struct writ_table *table, const void *record)
{
    return (const struct writ_member_others *)((const char *)record + table->others);
}

/* ---- reading */

static WRIT_RESULT
read_list(const struct writ_table_row *row, const struct writ_json *value, struct writ_arena *arena,
    struct writ_member_list *ret, struct writ_err *err)
{
    struct writ_view *items;
    size_t count = 0;

    if (writ_json_type(value) != WRIT_JSON_ARRAY) {
        ret->is = WRIT_WRONG;
        return WRIT_DONE;
    }
    if (value->count > WRIT_RECORD_MAX_ITEMS) {
        WRIT_FAIL(
            err, WRIT_E_LIMIT, "%s has more than %d elements", row->pointer, WRIT_RECORD_MAX_ITEMS);
    }
    items = writ_arena_get(arena, value->count * sizeof *items);
    if (items == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to read %s", row->pointer);
    }
    WRIT_JSON_EACH(item, value)
    {
        if (writ_json_type(item) != WRIT_JSON_STRING) {
            ret->is = WRIT_WRONG;
            return WRIT_DONE;
        }
        items[count++] = writ_json_string(item);
    }
    *ret = writ_member_list(items, count);
    return WRIT_DONE;
}

static void
read_text(const struct writ_json *value, struct writ_member_text *ret)
{
    if (writ_json_type(value) == WRIT_JSON_STRING) {
        *ret = writ_member_text(writ_json_string(value));
    } else {
        ret->is = WRIT_WRONG;
    }
}

static void
read_number(const struct writ_json *value, struct writ_member_number *ret)
{
    int64_t number;

    if (writ_is_ok(writ_json_integer(value, -INTEGER_MAX, INTEGER_MAX, &number))) {
        *ret = writ_member_number(number);
    } else {
        ret->is = WRIT_WRONG;
    }
}

static void
read_flag(const struct writ_json *value, struct writ_member_flag *ret)
{
    enum writ_json_type type = writ_json_type(value);

    if (type == WRIT_JSON_TRUE || type == WRIT_JSON_FALSE) {
        *ret = writ_member_flag(type == WRIT_JSON_TRUE);
    } else {
        ret->is = WRIT_WRONG;
    }
}

static void
read_object(const struct writ_json *value, struct writ_member_object *ret)
{
    if (writ_json_type(value) == WRIT_JSON_OBJECT) {
        *ret = (struct writ_member_object){.is = WRIT_PRESENT, .value = value};
    } else {
        ret->is = WRIT_WRONG;
    }
}

static WRIT_RESULT
read_member(const struct writ_table_row *row, const struct writ_json *value,
    struct writ_arena *arena, void *record, struct writ_err *err)
{
    void *field = field_of(row, record);

    if (writ_json_type(value) == WRIT_JSON_NULL) {
        *(enum writ_presence *)field = WRIT_NULL;
        return WRIT_DONE;
    }
    switch (row->kind) {
    case WRIT_TABLE_TEXT:
    case WRIT_TABLE_DIGEST:
    case WRIT_TABLE_LABEL:
    case WRIT_TABLE_TIME:
    case WRIT_TABLE_CHOICE:
        read_text(value, field);
        break;
    case WRIT_TABLE_LIST:
        return read_list(row, value, arena, field, err);
    case WRIT_TABLE_COUNT:
    case WRIT_TABLE_NUMBER:
        read_number(value, field);
        break;
    case WRIT_TABLE_FLAG:
        read_flag(value, field);
        break;
    case WRIT_TABLE_OBJECT:
        read_object(value, field);
        break;
    }
    return WRIT_DONE;
}

/* Keeps a member without a usable row. */
static WRIT_RESULT
keep_other(const struct writ_table *table, const struct writ_json *object,
    const struct writ_json *name, struct writ_arena *arena, void *record, struct writ_err *err)
{
    struct writ_member_others *others =
        (struct writ_member_others *)((char *)record + table->others);
    const struct writ_json **names = (const struct writ_json **)others->names;

    if (names == NULL) {
        size_t most =
            object->count < WRIT_RECORD_MAX_OTHERS ? object->count : WRIT_RECORD_MAX_OTHERS;
        names = writ_arena_get(arena, most * sizeof *names);
        if (names == NULL) {
            WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to read a %s", table->what);
        }
        others->names = names;
    }
    if (others->count == WRIT_RECORD_MAX_OTHERS) {
        WRIT_FAIL(err, WRIT_E_LIMIT, "a %s has more than %d unknown members", table->what,
            WRIT_RECORD_MAX_OTHERS);
    }
    names[others->count++] = name;
    return WRIT_DONE;
}

WRIT_RESULT
writ_table_read(const struct writ_table *table, const struct writ_json *value,
    struct writ_arena *arena, void *record, struct writ_err *err)
{
    size_t at = 0;

    if (writ_json_type(value) != WRIT_JSON_OBJECT) {
        WRIT_FAIL(err, WRIT_E_PARSE, "a %s must be a JSON object", table->what);
    }
    /* both sides are in canonical order, so one walk finds every row */
    for (const struct writ_json *name = writ_json_sorted_first(value); name != NULL;
         name = writ_json_sorted_next(name)) {
        struct writ_view text = writ_json_string(name);
        const struct writ_table_row *row;

        while (at < table->rows_count && writ_jcs_compare(table->rows[at].name, text) < 0) {
            at++;
        }
        row = at < table->rows_count && writ_view_equal(table->rows[at].name, text)
                  ? &table->rows[at]
                  : NULL;
        if (row != NULL) {
            WRIT_TRY(read_member(row, writ_json_value(name), arena, record, err));
        }
        if (row == NULL || presence_of(row, record) == WRIT_WRONG) {
            WRIT_TRY(keep_other(table, value, name, arena, record, err));
        }
    }
    return WRIT_DONE;
}

/* ---- writing */

static WRIT_RESULT
put_object(const struct writ_member_object *object, struct writ_buf *ret, struct writ_err *err)
{
    if (object->value != NULL) {
        return writ_jcs_put(ret, object->value, err);
    }
    writ_buf_put(ret, object->canonical);
    return WRIT_DONE;
}

static WRIT_RESULT
put_value(const struct writ_table_row *row, const void *record, struct writ_buf *ret,
    struct writ_err *err)
{
    const void *field = const_field_of(row, record);

    if (presence_of(row, record) == WRIT_NULL) {
        writ_buf_str(ret, "null");
        return WRIT_DONE;
    }
    switch (row->kind) {
    case WRIT_TABLE_TEXT:
    case WRIT_TABLE_DIGEST:
    case WRIT_TABLE_LABEL:
    case WRIT_TABLE_TIME:
    case WRIT_TABLE_CHOICE:
        writ_text_json(ret, ((const struct writ_member_text *)field)->view);
        break;
    case WRIT_TABLE_LIST:
        writ_member_put_list(field, ret);
        break;
    case WRIT_TABLE_COUNT:
    case WRIT_TABLE_NUMBER:
        writ_buf_i64(ret, ((const struct writ_member_number *)field)->value);
        break;
    case WRIT_TABLE_FLAG:
        writ_buf_str(ret, ((const struct writ_member_flag *)field)->value ? "true" : "false");
        break;
    case WRIT_TABLE_OBJECT:
        return put_object(field, ret, err);
    }
    return WRIT_DONE;
}

/* One member with a row; nothing for one that is absent or kept among the others. */
static WRIT_RESULT
put_row(const struct writ_table_row *row, const void *record, bool *first, struct writ_buf *ret,
    struct writ_err *err)
{
    enum writ_presence is = presence_of(row, record);

    if (is != WRIT_PRESENT && is != WRIT_NULL) {
        return WRIT_DONE;
    }
    writ_buf_byte(ret, *first ? '{' : ',');
    writ_buf_put(ret, row->key);
    *first = false;
    return put_value(row, record, ret, err);
}

static WRIT_RESULT
put_other(const struct writ_json *name, bool *first, struct writ_buf *ret, struct writ_err *err)
{
    writ_buf_byte(ret, *first ? '{' : ',');
    writ_text_json(ret, writ_json_string(name));
    writ_buf_byte(ret, ':');
    *first = false;
    return writ_jcs_put(ret, writ_json_value(name), err);
}

WRIT_RESULT
writ_table_put(
    const struct writ_table *table, const void *record, struct writ_buf *ret, struct writ_err *err)
{
    const struct writ_member_others *others = others_of(table, record);
    size_t at = 0;
    bool first = true;

    for (size_t i = 0; i < table->rows_count; i++) {
        const struct writ_table_row *row = &table->rows[i];

        while (at < others->count &&
               writ_jcs_compare(writ_json_string(others->names[at]), row->name) < 0) {
            WRIT_TRY(put_other(others->names[at++], &first, ret, err));
        }
        if (at < others->count && presence_of(row, record) != WRIT_WRONG &&
            writ_view_equal(writ_json_string(others->names[at]), row->name)) {
            /* a member that was read as wrong got a value: a name must not be there twice */
            WRIT_FAIL(err, WRIT_E_INVALID, "%s has two values", row->pointer);
        }
        WRIT_TRY(put_row(row, record, &first, ret, err));
    }
    while (at < others->count) {
        WRIT_TRY(put_other(others->names[at++], &first, ret, err));
    }
    writ_buf_str(ret, first ? "{}" : "}");
    return writ_buf_check(ret, err);
}

/* ---- checking */

size_t
writ_table_choice(const struct writ_table *table, const struct writ_member_text *text)
{
    size_t i = 0;

    while (i < table->choices_count &&
           (text->is != WRIT_PRESENT || !writ_view_equal(text->view, table->choices[i]))) {
        i++;
    }
    return i;
}

static const char *
wrong_type(enum writ_table_kind kind)
{
    switch (kind) {
    case WRIT_TABLE_LIST:
        return "is not a list of strings";
    case WRIT_TABLE_COUNT:
        return "is not an integer from 0";
    case WRIT_TABLE_NUMBER:
        return "is not an integer";
    case WRIT_TABLE_FLAG:
        return "is not true or false";
    case WRIT_TABLE_OBJECT:
        return "is not an object";
    case WRIT_TABLE_TEXT:
    case WRIT_TABLE_DIGEST:
    case WRIT_TABLE_LABEL:
    case WRIT_TABLE_TIME:
    case WRIT_TABLE_CHOICE:
        break;
    }
    return "is not a string";
}

static bool
is_label(struct writ_view text)
{
    struct writ_view prefix = WRIT_LIT("sha256:");

    return writ_view_has_prefix(text, prefix) && text.len > prefix.len;
}

/* The fault of a value of the right type, or NULL. */
static const char *
format_fault(const struct writ_table *table, const struct writ_table_row *row, const void *record)
{
    const struct writ_member_text *text = const_field_of(row, record);

    switch (row->kind) {
    case WRIT_TABLE_DIGEST:
        return writ_digest_is(text->view) ? NULL : "is not sha256: and 64 lower-case hex digits";
    case WRIT_TABLE_LABEL:
        return is_label(text->view) ? NULL : "is not sha256: and more";
    case WRIT_TABLE_TIME:
        return writ_member_time(text->view, NULL) ? NULL
                                                  : "is not a time like 2026-11-21T22:20:00.5Z";
    case WRIT_TABLE_CHOICE:
        return writ_table_choice(table, text) < table->choices_count ? NULL : table->choice_fault;
    case WRIT_TABLE_COUNT:
        return ((const struct writ_member_number *)const_field_of(row, record))->value >= 0
                   ? NULL
                   : wrong_type(row->kind);
    case WRIT_TABLE_TEXT:
    case WRIT_TABLE_LIST:
    case WRIT_TABLE_NUMBER:
    case WRIT_TABLE_FLAG:
    case WRIT_TABLE_OBJECT:
        break;
    }
    return NULL;
}

static bool
is_empty(const struct writ_table_row *row, const void *record)
{
    if (row->kind == WRIT_TABLE_TEXT) {
        return ((const struct writ_member_text *)const_field_of(row, record))->view.len == 0;
    }
    if (row->kind == WRIT_TABLE_LIST) {
        return ((const struct writ_member_list *)const_field_of(row, record))->count == 0;
    }
    return false;
}

static const char *
row_fault(const struct writ_table *table, const struct writ_table_row *row, const void *record,
    bool needed)
{
    switch (presence_of(row, record)) {
    case WRIT_ABSENT:
        return needed ? "is missing" : NULL;
    case WRIT_NULL:
        if (row->nulls == WRIT_TABLE_NEVER) {
            return "is null";
        }
        return needed && row->nulls == WRIT_TABLE_OR_NULL ? "is null, but needed" : NULL;
    case WRIT_WRONG:
        return wrong_type(row->kind);
    case WRIT_PRESENT:
        break;
    }
    if (needed && is_empty(row, record)) {
        return "is empty, but needed";
    }
    return format_fault(table, row, record);
}

/* The set with the record's choice in it. Without a known choice the record needs the members of
 * every choice. */
static unsigned
choice_bit(const struct writ_table *table, const void *record)
{
    for (size_t i = 0; i < table->rows_count; i++) {
        if (table->rows[i].kind == WRIT_TABLE_CHOICE) {
            size_t choice = writ_table_choice(table, const_field_of(&table->rows[i], record));
            return choice < table->choices_count ? 1U << choice : 1U << 31;
        }
    }
    return 1U << 31;
}

void
writ_table_check(const struct writ_table *table, const void *record, struct writ_faults *ret)
{
    unsigned choice = choice_bit(table, record);

    for (size_t i = 0; i < table->rows_count; i++) {
        const struct writ_table_row *row = &table->rows[i];
        const char *fault = row_fault(table, row, record, (row->needed & choice) != 0);

        if (fault != NULL) {
            writ_faults_add(ret, row->pointer, fault);
        }
    }
}
