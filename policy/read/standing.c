/* The compiled policy keeps the nodes that it was made of: they live as long as the configuration.
 */
#include "policy/read/standing.h"

#include "base/text.h"

const struct writ_constraint *
writ_standing_named(const struct writ_constraint_set *set, struct writ_view name)
{
    for (size_t i = 0; i < set->n; i++) {
        const struct writ_constraint *c = &set->items[i];
        struct writ_view rest = writ_view_sub(name, c->name.len, name.len);

        if (writ_view_equal(c->name, name)) {
            return c;
        }
        if (c->op == WRIT_OP_EACH && writ_view_has_prefix(name, c->name) &&
            writ_view_has_prefix(rest, WRIT_LIT(", "))) {
            return writ_standing_named(c->value.each, writ_view_sub(rest, 2, rest.len));
        }
    }
    return NULL;
}

struct writ_view
writ_standing_file(const struct writ_config *config, const struct writ_yaml *node)
{
    const struct writ_yaml_source *source = writ_yaml_source(node);

    return source != NULL ? source->file : config->file;
}

void
writ_standing_bound(const struct writ_constraint *constraint, struct writ_buf *ret)
{
    const struct writ_yaml *value = writ_yaml_get(constraint->node, WRIT_LIT("value"));

    if (value != NULL && value->type == WRIT_YAML_SCALAR) {
        writ_text_safe(ret, value->text, WRIT_STANDING_BOUND_MAX);
    }
    WRIT_YAML_EACH(element, value)
    {
        if (element->type == WRIT_YAML_SCALAR && ret->len < WRIT_STANDING_BOUND_MAX) {
            writ_buf_str(ret, ret->len > 0 ? ", " : "");
            writ_text_safe(ret, element->text, WRIT_STANDING_BOUND_MAX);
        }
    }
}
