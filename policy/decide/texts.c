/* texts.c - see texts.h. */
#include "policy/decide/texts.h"

#include "base/utf8.h"
#include "evidence/json/jcs.h"
#include "policy/model/trail.h"

struct walking {
    struct writ_view path[WRIT_TEXTS_DEPTH_MAX];
    size_t depth;
    struct writ_buf at; /* the same as a pointer, cut */
    struct writ_arena *arena;
    writ_texts_fn *each;
    void *ctx;
    bool cut;
};

static void
tell(struct walking *w, struct writ_view text)
{
    const struct writ_texts_place place = {
        .path = w->path, .depth = w->depth, .at = writ_buf_view(&w->at)};

    w->each(w->ctx, &place, text);
}

/* A member's name as a token of a pointer. */
static struct writ_view
token_of(struct writ_view name, struct writ_arena *arena)
{
    struct writ_buf escaped = writ_buf_in(arena, 2 * name.len + 1);

    if (writ_view_find(name, '~') == name.len && writ_view_find(name, '/') == name.len) {
        return name;
    }
    writ_trail_token(name, &escaped);
    return writ_buf_view(&escaped);
}

/* Goes down; the way back is the length of the pointer before. */
static size_t
enter(struct walking *w, struct writ_view token)
{
    size_t before = w->at.len;

    w->path[w->depth++] = token;
    writ_buf_str(&w->at, "/");
    writ_buf_put(&w->at, writ_utf8_cut(token, WRIT_FIELDS_AT_MAX - w->at.len));
    return before;
}

static void
leave(struct walking *w, size_t before)
{
    writ_buf_cut(&w->at, before);
    w->depth--;
}

static void
walk(struct walking *w, const struct writ_json *value)
{
    struct writ_buf number = writ_buf_in(w->arena, 64);
    size_t before;

    if (w->depth == WRIT_TEXTS_DEPTH_MAX) {
        w->cut = true;
        return;
    }
    switch (writ_json_type(value)) {
    case WRIT_JSON_STRING:
        tell(w, writ_json_string(value));
        return;
    case WRIT_JSON_NUMBER:
        WRIT_IGNORE(writ_jcs_put(&number, value, NULL));
        tell(w, writ_buf_view(&number));
        return;
    case WRIT_JSON_ARRAY:
        before = enter(w, WRIT_LIT("*"));
        WRIT_JSON_EACH(element, value)
        {
            walk(w, element);
        }
        leave(w, before);
        return;
    case WRIT_JSON_OBJECT:
        WRIT_JSON_EACH(name, value)
        {
            before = enter(w, token_of(writ_json_string(name), w->arena));
            walk(w, writ_json_value(name));
            leave(w, before);
        }
        return;
    case WRIT_JSON_NONE:
    case WRIT_JSON_NULL:
    case WRIT_JSON_FALSE:
    case WRIT_JSON_TRUE:
        return;
    }
}

/* The JSON object or array in a result's only text, as servers without outputSchema send it. */
static const struct writ_json *
json_in(const struct writ_json *content, struct writ_arena *arena)
{
    const struct writ_json *only = writ_json_type(content) == WRIT_JSON_ARRAY && content->count == 1
                                       ? writ_json_first(content)
                                       : NULL;
    struct writ_view text = writ_json_string(writ_json_get(only, WRIT_LIT("text")));
    const struct writ_json *value = NULL;

    if (text.len == 0 || (text.ptr[0] != '{' && text.ptr[0] != '[') ||
        !writ_is_ok(writ_json_read(text, &writ_json_limits_default, arena, &value, NULL))) {
        return NULL;
    }
    return value;
}

bool
writ_texts_each(
    const struct writ_json *result, struct writ_arena *arena, writ_texts_fn *each, void *ctx)
{
    const struct writ_json *value = writ_json_get(result, WRIT_LIT("structuredContent"));
    const struct writ_json *content = writ_json_get(result, WRIT_LIT("content"));
    char at[WRIT_FIELDS_AT_MAX];
    struct walking w = {
        .at = writ_buf_over(at, sizeof at), .arena = arena, .each = each, .ctx = ctx};

    if (value == NULL) {
        value = json_in(content, arena);
    }
    if (value == NULL && content != NULL) {
        (void)enter(&w, WRIT_LIT("content"));
        value = content;
    }
    walk(&w, value != NULL ? value : result);
    return !w.cut;
}
