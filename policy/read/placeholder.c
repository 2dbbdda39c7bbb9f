/* Walks a file before its sections are read. Names of members are never placeholders. */
#include "policy/read/placeholder.h"

#define SHOWN_MAX 64 /* bytes of a placeholder in a message */

bool
writ_placeholder_is(const struct writ_yaml *node)
{
    return node->type == WRIT_YAML_SCALAR &&
           writ_view_has_prefix(node->text, WRIT_LIT(WRIT_PLACEHOLDER_PREFIX));
}

bool
writ_placeholder_any(const struct writ_yaml *node)
{
    WRIT_YAML_EACH(child, node)
    {
        if (writ_placeholder_any(child)) {
            return true;
        }
    }
    return writ_placeholder_is(node);
}

static void
tell(struct writ_options *o, enum writ_severity severity, const struct writ_yaml *node)
{
    writ_yaml_find(o->findings, severity, node,
        "is still the placeholder " WRIT_VIEW_FMT ". Write your own value in its place",
        WRIT_VIEW_ARG(writ_view_sub(node->text, 0, SHOWN_MAX)));
}

void
writ_placeholder_warn(struct writ_options *o, const struct writ_yaml *node)
{
    if (writ_placeholder_is(node)) {
        tell(o, WRIT_SEVERITY_WARNING, node);
    }
    WRIT_YAML_EACH(child, node)
    {
        writ_placeholder_warn(o, child);
    }
}

void
writ_placeholder_refuse(struct writ_options *o, const struct writ_yaml *node)
{
    for (struct writ_yaml *child = node->first; child != NULL; child = child->next) {
        if (writ_placeholder_is(child)) {
            tell(o, WRIT_SEVERITY_ERROR, child);
            child->type = WRIT_YAML_NONE;
        }
        writ_placeholder_refuse(o, child);
    }
}
