/* Splits a template into literals and references. Each reference is kept as a JSON Pointer; a brace
 * that is not part of a reference or a pair is refused. */
#include "policy/read/template_read.h"

#include "policy/model/trail.h"
#include "policy/read/value_read.h"

struct scan {
    struct writ_options *o;
    const struct writ_yaml *node;
    struct writ_view text;
    size_t at;
    struct writ_template_part *parts;
    size_t n;
};

static bool
add_part(struct scan *s, enum writ_template_part_kind kind, const struct writ_buf *text)
{
    struct writ_view kept = writ_view_copy(writ_buf_view(text), s->o->arena);

    if (kept.ptr == NULL) {
        s->o->nomem = true;
        return false;
    }
    s->parts[s->n++] = (struct writ_template_part){kind, kept};
    return true;
}

/* Literal text up to the next reference; `{{` and `}}` become braces. */
static bool
scan_literal(struct scan *s)
{
    writ_auto_buf literal = writ_buf_make(s->text.len);

    while (s->at < s->text.len) {
        char c = s->text.ptr[s->at];
        bool twice = s->at + 1 < s->text.len && s->text.ptr[s->at + 1] == c;
        if (c == '{' && !twice) {
            break;
        }
        if (c == '}' && !twice) {
            WRIT_OPTION_FAULT(s->o, s->node, "has a } without {; write }} for a brace");
            return false;
        }
        writ_buf_byte(&literal, c);
        s->at += c == '{' || c == '}' ? 2 : 1;
    }
    if (!writ_is_ok(writ_buf_check(&literal, NULL))) {
        s->o->nomem = true;
        return false;
    }
    return literal.len == 0 || add_part(s, WRIT_TEMPLATE_PART_LITERAL, &literal);
}

/* `{name}`, `{/pointer}`, `{+...}` at a brace. */
static bool
scan_reference(struct scan *s)
{
    struct writ_view rest = writ_view_sub(s->text, s->at + 1, s->text.len);
    size_t end = writ_view_find(rest, '}');
    struct writ_view name = writ_view_sub(rest, 0, end);
    bool path = writ_view_has_prefix(name, WRIT_LIT("+"));
    writ_auto_buf pointer = writ_buf_make(2 * s->text.len + 2);

    name = path ? writ_view_sub(name, 1, name.len) : name;
    if (end == rest.len || name.len == 0 || writ_view_find(name, '{') < name.len) {
        WRIT_OPTION_FAULT(s->o, s->node, "has a { that does not begin {argument}");
        return false;
    }
    if (name.ptr[0] == '/' ? !writ_json_is_pointer(name) : false) {
        WRIT_OPTION_FAULT(s->o, s->node, "names an argument by a malformed JSON Pointer");
        return false;
    }
    s->at += 1 + end + 1;
    if (path && s->at < s->text.len) {
        WRIT_OPTION_FAULT(s->o, s->node, "{+argument} is permitted at the end only");
        return false;
    }
    if (name.ptr[0] == '/') {
        writ_buf_put(&pointer, name);
    } else {
        writ_buf_byte(&pointer, '/');
        writ_trail_token(name, &pointer);
    }
    if (!writ_is_ok(writ_buf_check(&pointer, NULL))) {
        s->o->nomem = true;
        return false;
    }
    return add_part(s, path ? WRIT_TEMPLATE_PART_PATH : WRIT_TEMPLATE_PART_VALUE, &pointer);
}

static bool
scan_text(struct writ_options *o, const struct writ_yaml *node, struct writ_template *ret)
{
    struct scan s = {.o = o, .node = node, .text = node->text};

    /* a part takes at least one byte of the text */
    s.parts = writ_option_memory(o, s.text.len, sizeof *s.parts);
    while (s.parts != NULL && s.at < s.text.len) {
        if (!scan_literal(&s) || (s.at < s.text.len && !scan_reference(&s))) {
            return false;
        }
    }
    ret->kind = WRIT_TEMPLATE_TEXT;
    ret->parts = s.parts;
    ret->parts_n = s.n;
    return s.parts != NULL;
}

static struct writ_template *
new_template(struct writ_options *o)
{
    struct writ_template *t = writ_option_memory(o, 1, sizeof *t);

    if (t != NULL) {
        *t = (struct writ_template){0};
    }
    return t;
}

const struct writ_template *
writ_template_read_text(struct writ_options *o, const struct writ_yaml *node)
{
    struct writ_template *t = new_template(o);

    return t != NULL && writ_option_text(o, node) && scan_text(o, node, t) ? t : NULL;
}

static struct writ_template *read_node(struct writ_options *o, const struct writ_yaml *node);

static bool
read_children(struct writ_options *o, const struct writ_yaml *node, struct writ_template *ret)
{
    const struct writ_template **end = &ret->first;

    ret->kind = node->type == WRIT_YAML_MAP ? WRIT_TEMPLATE_MAP : WRIT_TEMPLATE_LIST;
    WRIT_YAML_EACH(child, node)
    {
        struct writ_template *t = read_node(o, child);
        if (t == NULL) {
            return false;
        }
        t->key = child->key;
        *end = t;
        end = &t->next;
    }
    return true;
}

static struct writ_template *
read_node(struct writ_options *o, const struct writ_yaml *node)
{
    struct writ_template *t = new_template(o);

    if (t == NULL || node->type == WRIT_YAML_NONE) {
        return NULL;
    }
    if (node->type != WRIT_YAML_SCALAR) {
        return read_children(o, node, t) ? t : NULL;
    }
    if (node->plain && writ_view_find(node->text, '{') == node->text.len) {
        const struct writ_json *value = writ_value_read(o, node);
        if (value == NULL) {
            return NULL;
        }
        if (writ_json_type(value) != WRIT_JSON_STRING) {
            t->kind = WRIT_TEMPLATE_FIXED;
            t->fixed = value;
            return t;
        }
    }
    t->raw = true;
    return scan_text(o, node, t) ? t : NULL;
}

const struct writ_template *
writ_template_read_object(struct writ_options *o, const struct writ_yaml *node)
{
    if (node->type != WRIT_YAML_MAP) {
        WRIT_OPTION_FAULT(o, node, "must be a map of arguments");
        return NULL;
    }
    return read_node(o, node);
}
