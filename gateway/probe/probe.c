/* probe.c - writes the request and reads its answer. The state is known only when the answer has
 * every selected member and its digest could be made; otherwise it stays unknown. */
#include "gateway/probe/probe.h"

#include "base/id.h"
#include "base/text.h"
#include "evidence/json/jcs.h"

#define CANONICAL_MAX (4u << 20)
#define LINES_MAX     256
#define RANDOM_BYTES  16

/* ---- the question */

writ_result
writ_probe_make_id(const char *prefix, char ret[WRIT_PROBE_ID_MAX])
{
    unsigned char bytes[RANDOM_BYTES];
    struct writ_buf id = writ_buf_over(ret, WRIT_PROBE_ID_MAX);

    WRIT_TRY(writ_random(bytes, sizeof bytes, NULL));
    writ_buf_str(&id, prefix);
    writ_hex_put(&id, bytes, sizeof bytes);
    writ_buf_byte(&id, '\0');
    return writ_buf_check(&id, NULL);
}

struct writ_view
writ_probe_method(const struct writ_probe_request *wanted)
{
    return wanted->probe->kind == WRIT_PROBE_TOOL ? WRIT_LIT("tools/call")
                                                  : WRIT_LIT("resources/read");
}

writ_result
writ_probe_put(struct writ_buf *buf, const struct writ_probe_request *wanted, struct writ_view id,
    const struct writ_mcp_message *asked)
{
    struct writ_write w = writ_write_to(buf);

    writ_mcp_open_own(&w, id, writ_probe_method(wanted), asked);
    if (wanted->probe->kind == WRIT_PROBE_TOOL) {
        writ_write_text(&w, "name", wanted->probe->tool);
        writ_write_name(&w, WRIT_LIT("arguments"));
        writ_write_value(&w, wanted->arguments);
    } else {
        writ_write_text(&w, "uri", wanted->uri);
    }
    writ_write_object_end(&w);
    writ_write_object_end(&w);
    return writ_write_end(&w, NULL);
}

/* ---- what an answer says */

/* The state of reading one answer. */
struct reading {
    const struct writ_probe_request *wanted;
    bool show;
    struct writ_arena *arena;
    struct writ_probe_state *ret;
};

/* The target could not be read. */
static void
missing(const struct reading *r, bool exists_not)
{
    if (exists_not && r->wanted->probe->on_error == WRIT_PROBE_MISSING_ABSENT) {
        r->ret->known = writ_is_ok(writ_digest_bytes(WRIT_LIT("null"), &r->ret->digest, NULL));
    }
}

static bool
has_all(const struct reading *r, const struct writ_json *value)
{
    const struct writ_views *select = &r->wanted->probe->select;

    for (size_t i = 0; i < select->n; i++) {
        if (writ_json_pointer(value, select->items[i]) == NULL) {
            return false;
        }
    }
    return value != NULL;
}

/* Digests a value, and keeps its text for the voters of the call. */
static WRIT_RESULT
digest_value(const struct reading *r, const struct writ_json *value)
{
    writ_auto_buf text = writ_buf_make(WRIT_PROBE_SHOWN_MAX);

    if (r->show && writ_is_ok(writ_jcs_put(&text, value, NULL))) {
        r->ret->text = writ_view_copy(writ_buf_view(&text), r->arena);
    }
    return writ_digest_json(value, CANONICAL_MAX, &r->ret->digest, NULL);
}

/* {pointer: value, ...}, made canonical by parsing it again. */
static WRIT_RESULT
digest_selection(const struct reading *r, const struct writ_json *value)
{
    const struct writ_views *select = &r->wanted->probe->select;
    writ_auto_buf text = writ_buf_make(CANONICAL_MAX);
    struct writ_write w = writ_write_to(&text);
    const struct writ_json *selection;

    if (select->n == 0) {
        return digest_value(r, value);
    }
    writ_write_object_begin(&w);
    for (size_t i = 0; i < select->n; i++) {
        writ_write_name(&w, select->items[i]);
        writ_write_value(&w, writ_json_pointer(value, select->items[i]));
    }
    writ_write_object_end(&w);
    WRIT_TRY(writ_write_end(&w, NULL));
    WRIT_TRY(writ_json_read(
        writ_buf_view(&text), &writ_json_limits_default, r->arena, &selection, NULL));
    return digest_value(r, selection);
}

static void
read_value(const struct reading *r, const struct writ_json *value)
{
    r->ret->known = has_all(r, value) && writ_is_ok(digest_selection(r, value));
}

/* "size: 3\nmodified: ..." as an object of strings; NULL when a line has another form. */
static const struct writ_json *
lines_as_object(struct writ_arena *arena, struct writ_view text)
{
    writ_auto_buf json = writ_buf_make(2 * text.len + 4096);
    struct writ_view copy;
    const struct writ_json *value = NULL;
    size_t lines = 0;

    writ_buf_byte(&json, '{');
    while (text.len > 0 && lines++ < LINES_MAX) {
        struct writ_view line = writ_view_sub(text, 0, writ_view_find(text, '\n'));
        size_t colon = writ_view_find(line, ':');
        if (colon == line.len) {
            return NULL;
        }
        writ_buf_str(&json, json.len > 1 ? "," : "");
        writ_text_json(&json, writ_view_trim(writ_view_sub(line, 0, colon)));
        writ_buf_byte(&json, ':');
        writ_text_json(&json, writ_view_trim(writ_view_sub(line, colon + 1, SIZE_MAX)));
        text = writ_view_sub(text, line.len + 1, SIZE_MAX);
    }
    writ_buf_byte(&json, '}');
    copy = writ_view_copy(writ_buf_view(&json), arena);
    if (copy.ptr != NULL) {
        WRIT_IGNORE(writ_json_read(copy, &writ_json_limits_default, arena, &value, NULL));
    }
    return value;
}

static void
read_tool(const struct reading *r, const struct writ_json *result)
{
    const struct writ_json *structured = writ_json_get(result, WRIT_LIT("structuredContent"));
    struct writ_view text =
        writ_json_string(writ_json_pointer(result, WRIT_LIT("/content/0/text")));
    const struct writ_json *parsed = NULL;

    if (writ_json_is_true(result, WRIT_LIT("isError"))) {
        missing(r, true);
        return;
    }
    if (has_all(r, structured)) {
        read_value(r, structured);
        return;
    }
    if (r->wanted->probe->select.n == 0 || text.ptr == NULL) {
        read_value(r, result);
        return;
    }
    WRIT_IGNORE(writ_json_read(text, &writ_json_limits_default, r->arena, &parsed, NULL));
    if (!has_all(r, parsed)) {
        parsed = lines_as_object(r->arena, text);
    }
    read_value(r, has_all(r, parsed) ? parsed : result);
}

void
writ_probe_read_response(const struct writ_probe_request *wanted, struct writ_view answer,
    bool show, struct writ_arena *arena, struct writ_probe_state *ret)
{
    const struct reading r = {wanted, show, arena, ret};
    const struct writ_json *message = NULL, *result;

    *ret = (struct writ_probe_state){0};
    if (!writ_is_ok(writ_json_read(answer, &writ_json_limits_default, arena, &message, NULL))) {
        return;
    }
    result = writ_json_get(message, WRIT_LIT("result"));
    if (writ_json_get(message, WRIT_LIT("error")) != NULL) {
        missing(&r, wanted->probe->kind == WRIT_PROBE_RESOURCE);
    } else if (wanted->probe->kind == WRIT_PROBE_TOOL) {
        read_tool(&r, result);
    } else {
        read_value(&r, writ_json_get(result, WRIT_LIT("contents")));
    }
}

void
writ_probe_read_page(const struct writ_probe_request *wanted, unsigned status,
    struct writ_view body, bool show, struct writ_arena *arena, struct writ_probe_state *ret)
{
    const struct reading r = {wanted, show, arena, ret};
    const struct writ_json *value = NULL;

    *ret = (struct writ_probe_state){0};
    if (status == 404) {
        missing(&r, true);
    } else if (status >= 200 && status <= 299 &&
               writ_is_ok(writ_json_read(body, &writ_json_limits_default, arena, &value, NULL))) {
        read_value(&r, value);
    }
}
