/* A file of strict JSON becomes the same tree without YAML's help: YAML 1.1 readers stumble over
 * some JSON (surrogate pairs as escapes, U+2028 in strings, long names). */
#include "policy/read/yaml.h"

#include "evidence/json/json.h"

struct converter {
    struct writ_view text;
    struct writ_arena *arena;
    size_t at, line; /* how far lines were counted, and the line there */
    bool over;       /* a limit of members was exceeded */
};

/* The line of a byte offset; offsets must not go back. */
static size_t
line_of(struct converter *c, size_t offset)
{
    for (; c->at < offset; c->at++) {
        c->line += c->text.ptr[c->at] == '\n' ? 1 : 0;
    }
    return c->line;
}

static struct writ_yaml *convert(struct converter *c, const struct writ_json *value);

static struct writ_view
word_of(const struct writ_json *value)
{
    switch (writ_json_type(value)) {
    case WRIT_JSON_TRUE:
        return WRIT_LIT("true");
    case WRIT_JSON_FALSE:
        return WRIT_LIT("false");
    case WRIT_JSON_NULL:
        return WRIT_LIT("null");
    case WRIT_JSON_NONE:
    case WRIT_JSON_NUMBER:
    case WRIT_JSON_STRING:
    case WRIT_JSON_ARRAY:
    case WRIT_JSON_OBJECT:
        return writ_json_text(value);
    }
    return writ_json_text(value);
}

static bool
convert_children(struct converter *c, const struct writ_json *value, struct writ_yaml *ret)
{
    bool map = ret->type == WRIT_YAML_MAP;

    c->over = c->over || value->count > WRIT_YAML_MEMBERS_MAX;
    for (const struct writ_json *child = writ_json_first(value); child != NULL && !c->over;
         child = writ_json_next(value, child)) {
        size_t key_line = map ? line_of(c, child->at) : 0;
        struct writ_yaml *node = convert(c, map ? writ_json_value(child) : child);
        if (node == NULL) {
            return false;
        }
        node->parent = ret;
        node->index = ret->count++;
        node->key_line = map ? key_line : node->line;
        node->key = map ? writ_view_copy(writ_json_string(child), c->arena) : writ_view(NULL, 0);
        if (map && node->key.ptr == NULL) {
            return false;
        }
        *(ret->last != NULL ? &ret->last->next : &ret->first) = node;
        ret->last = node;
    }
    return !c->over;
}

static struct writ_yaml *
convert(struct converter *c, const struct writ_json *value)
{
    enum writ_json_type type = writ_json_type(value);
    struct writ_yaml *node = writ_arena_get(c->arena, sizeof *node);
    bool scalar = type != WRIT_JSON_ARRAY && type != WRIT_JSON_OBJECT;

    if (node == NULL) {
        return NULL;
    }
    *node = (struct writ_yaml){.type = scalar                    ? WRIT_YAML_SCALAR
                                       : type == WRIT_JSON_ARRAY ? WRIT_YAML_LIST
                                                                 : WRIT_YAML_MAP,
        .plain = scalar && type != WRIT_JSON_STRING,
        .line = line_of(c, type == WRIT_JSON_STRING || type == WRIT_JSON_NUMBER ? value->at : 0)};
    if (scalar) {
        node->text = writ_view_copy(word_of(value), c->arena);
        return node->text.ptr != NULL ? node : NULL;
    }
    if (!convert_children(c, value, node)) {
        return NULL;
    }
    node->line = node->first != NULL ? node->first->key_line : node->line;
    return node;
}

bool
writ_yaml_from_json(struct writ_view text, struct writ_arena *arena, const struct writ_yaml **ret)
{
    const struct writ_json_limits limits = {.bytes = text.len,
        .depth = WRIT_YAML_DEPTH_MAX,
        .values = WRIT_YAML_NODES_MAX,
        .name_bytes = text.len,
        .string_bytes = text.len,
        .number_bytes = WRIT_NUMBER_MAX};
    struct converter c = {.text = text, .arena = arena, .line = 1};
    const struct writ_json *value;
    struct writ_yaml *root;

    if (!writ_is_ok(writ_json_read(text, &limits, arena, &value, NULL))) {
        return false;
    }
    root = convert(&c, value);
    if (root == NULL) {
        return false;
    }
    root->key_line = root->line;
    *ret = root;
    return true;
}
