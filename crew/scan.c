/* Every fault is noted and reading continues. A member with the wrong type reads as the zero of its
 * type, so a reader needs no branches. */
#include "crew/scan.h"

#include "crew/failure.h"

#include <math.h>

struct writ_scan
writ_scan_begin(struct writ_crew_findings *faults, struct writ_arena *arena)
{
    return (struct writ_scan){.faults = faults, .arena = arena, .path = writ_buf_make(SIZE_MAX)};
}

WRIT_RESULT
writ_scan_end(struct writ_scan *scan, struct writ_crew_err *err)
{
    bool exhausted = scan->exhausted || !writ_is_ok(writ_buf_check(&scan->path, NULL));

    writ_buf_wipe(&scan->path);
    if (exhausted) {
        return writ_failure_memory(err);
    }
    if (scan->n > 0) {
        return writ_failure_set(err, WRIT_E_INVALID, WRIT_CREW_SCHEMA,
            "%s at \"" WRIT_VIEW_FMT "\"%s", scan->first, WRIT_VIEW_ARG(scan->first_path),
            scan->n > 1 ? ", and more: see the list" : "");
    }
    return WRIT_DONE;
}

size_t
writ_scan_enter(struct writ_scan *scan, struct writ_view member)
{
    size_t before = scan->path.len;

    writ_buf_byte(&scan->path, '/');
    for (size_t at = 0; at < member.len; at++) { /* RFC 6901 3 */
        if (member.ptr[at] == '~') {
            writ_buf_str(&scan->path, "~0");
        } else if (member.ptr[at] == '/') {
            writ_buf_str(&scan->path, "~1");
        } else {
            writ_buf_byte(&scan->path, member.ptr[at]);
        }
    }
    return before;
}

size_t
writ_scan_enter_at(struct writ_scan *scan, size_t element)
{
    size_t before = scan->path.len;

    writ_buf_byte(&scan->path, '/');
    writ_buf_u64(&scan->path, element);
    return before;
}

void
writ_scan_leave(struct writ_scan *scan, size_t entered)
{
    if (writ_is_ok(writ_buf_check(&scan->path, NULL))) {
        writ_buf_cut(&scan->path, entered);
    }
}

void
writ_scan_fault(struct writ_scan *scan, const char *kind)
{
    if (scan->n++ == 0) {
        scan->first = kind;
        scan->first_path = writ_scan_copy(scan, writ_buf_view(&scan->path));
    }
    if (!writ_is_ok(writ_failure_find(scan->faults, kind, writ_buf_view(&scan->path)))) {
        scan->exhausted = true;
    }
}

void
writ_scan_fault_at(struct writ_scan *scan, const char *member, const char *kind)
{
    size_t entered = writ_scan_enter(scan, writ_view_str(member));

    writ_scan_fault(scan, kind);
    writ_scan_leave(scan, entered);
}

void *
writ_scan_memory(struct writ_scan *scan, size_t count, size_t size)
{
    void *memory = count < SIZE_MAX / size ? writ_arena_get(scan->arena, count * size) : NULL;

    scan->exhausted |= memory == NULL;
    return memory;
}

struct writ_view
writ_scan_copy(struct writ_scan *scan, struct writ_view text)
{
    struct writ_view copy = writ_view_copy(text, scan->arena);

    scan->exhausted |= copy.ptr == NULL;
    return copy;
}

/* ---- members */

const struct writ_json *
writ_scan_typed(struct writ_scan *scan, const struct writ_json *object, const char *member,
    enum writ_json_type type, enum writ_scan_need need)
{
    const struct writ_json *value = writ_json_get(object, writ_view_str(member));

    if (writ_json_type(value) == type) {
        return value;
    }
    if (value != NULL || need != WRIT_SCAN_OPTIONAL) {
        writ_scan_fault_at(scan, member, WRIT_SCAN_TYPE);
    }
    return NULL;
}

struct writ_view
writ_scan_text(struct writ_scan *scan, const struct writ_json *object, const char *member,
    enum writ_scan_need need)
{
    const struct writ_json *value = writ_scan_typed(scan, object, member, WRIT_JSON_STRING, need);

    if (value == NULL) {
        return writ_view(NULL, 0);
    }
    if (need == WRIT_SCAN_NONEMPTY && value->len == 0) {
        writ_scan_fault_at(scan, member, WRIT_SCAN_SMALL);
    }
    return writ_scan_copy(scan, writ_json_string(value));
}

struct writ_scan_texts
writ_scan_texts(
    struct writ_scan *scan, const struct writ_json *object, const char *member, bool *ret_given)
{
    const struct writ_json *value =
        writ_scan_typed(scan, object, member, WRIT_JSON_ARRAY, WRIT_SCAN_OPTIONAL);
    size_t entered = writ_scan_enter(scan, writ_view_str(member)), n = 0;
    struct writ_view *list = NULL;

    if (ret_given != NULL) {
        *ret_given = value != NULL;
    }
    if (value != NULL) {
        list = writ_scan_memory(scan, value->count + 1, sizeof *list);
    }
    WRIT_JSON_EACH(element, value)
    {
        if (list == NULL) {
            break;
        }
        if (writ_json_type(element) == WRIT_JSON_STRING) {
            list[n] = writ_scan_copy(scan, writ_json_string(element));
        } else {
            size_t at = writ_scan_enter_at(scan, n);
            writ_scan_fault(scan, WRIT_SCAN_TYPE);
            writ_scan_leave(scan, at);
            list[n] = writ_view(NULL, 0);
        }
        n++;
    }
    writ_scan_leave(scan, entered);
    return (struct writ_scan_texts){list, n};
}

bool
writ_scan_bool(
    struct writ_scan *scan, const struct writ_json *object, const char *member, bool fallback)
{
    const struct writ_json *value = writ_json_get(object, writ_view_str(member));
    enum writ_json_type type = writ_json_type(value);

    if (type == WRIT_JSON_TRUE || type == WRIT_JSON_FALSE) {
        return type == WRIT_JSON_TRUE;
    }
    if (value != NULL) {
        writ_scan_fault_at(scan, member, WRIT_SCAN_TYPE);
    }
    return fallback;
}

double
writ_scan_whole(struct writ_scan *scan, const struct writ_json *object, const char *member,
    double least, enum writ_scan_need need)
{
    const struct writ_json *value = writ_scan_typed(scan, object, member, WRIT_JSON_NUMBER, need);
    const char *wrong = NULL;

    if (value == NULL) {
        return -1;
    }
    if (value->number != trunc(value->number)) {
        wrong = WRIT_SCAN_TYPE;
    } else if (value->number < least) {
        wrong = WRIT_SCAN_SMALL;
    } else if (value->number > WRIT_SCAN_INTEGER_MAX) {
        wrong = WRIT_SCAN_BIG;
    }
    if (wrong != NULL) {
        writ_scan_fault_at(scan, member, wrong);
        return -1;
    }
    return value->number;
}

size_t
writ_scan_word(struct writ_scan *scan, const struct writ_json *object, const char *member,
    const char *const *words)
{
    const struct writ_json *value = writ_json_get(object, writ_view_str(member));

    if (value == NULL) {
        return 0;
    }
    for (size_t at = 0; words[at] != NULL; at++) {
        if (writ_json_is(value, writ_view_str(words[at]))) {
            return at;
        }
    }
    writ_scan_fault_at(scan, member, WRIT_SCAN_VALUE);
    return 0;
}

void
writ_scan_version(struct writ_scan *scan, const struct writ_json *object)
{
    if (!writ_json_is(writ_json_get(object, WRIT_LIT("schema_version")), WRIT_LIT("1.0"))) {
        writ_scan_fault_at(scan, "schema_version", WRIT_SCAN_VALUE);
    }
}
