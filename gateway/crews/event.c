/* Reads JSON lines of crews, one at a time into one arena. A value that was returned lives until
 * the next line is read. */
#include "gateway/crews/event.h"

#include "evidence/json/jcs.h"

#define ARENA_MAX  ((size_t)16 << 30) /* address space, used as needed */
#define VALUES_MAX ((size_t)128 << 20)

static const struct writ_json_limits limits = {.bytes = WRIT_JSON_BYTES_MAX,
    .depth = WRIT_JSON_DEPTH_MAX,
    .values = VALUES_MAX,
    .name_bytes = WRIT_JSON_BYTES_MAX,
    .string_bytes = WRIT_JSON_BYTES_MAX,
    .number_bytes = WRIT_NUMBER_MAX};

WRIT_RESULT
writ_event_read(struct writ_event_reader *reader, struct writ_view text,
    const struct writ_json **ret, struct writ_err *err)
{
    const struct writ_json *event = NULL;

    if (reader->arena == NULL && (reader->arena = writ_arena_new(ARENA_MAX)) == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory");
    }
    writ_arena_reset(reader->arena);
    WRIT_TRY(writ_json_read(text, &limits, reader->arena, &event, err));
    if (writ_json_type(event) != WRIT_JSON_OBJECT) {
        WRIT_FAIL(err, WRIT_E_PARSE, "not a JSON object");
    }
    *ret = event;
    return WRIT_DONE;
}

void
writ_event_reader_wipe(struct writ_event_reader *reader)
{
    writ_arena_free(reader->arena);
}

struct writ_view
writ_event_text(const struct writ_json *event, const char *member)
{
    return writ_json_string(writ_json_get(event, writ_view_str(member)));
}

double
writ_event_number(const struct writ_json *event, const char *member, double otherwise)
{
    const struct writ_json *value = writ_json_get(event, writ_view_str(member));

    return writ_json_type(value) == WRIT_JSON_NUMBER ? value->number : otherwise;
}

struct writ_view
writ_event_json(const struct writ_json *event, const char *member, struct writ_buf *buf)
{
    const struct writ_json *value = writ_json_get(event, writ_view_str(member));
    size_t from = buf->len;

    if (value == NULL || !writ_is_ok(writ_jcs_put_rounded(buf, value, NULL))) {
        return writ_view(NULL, 0);
    }
    return writ_view_sub(writ_buf_view(buf), from, buf->len);
}

bool
writ_event_is(const struct writ_json *event, const char *type)
{
    return writ_view_is(writ_event_text(event, "type"), type);
}
