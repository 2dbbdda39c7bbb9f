/* Walks the whole file before its sections are read. Names of members are never placeholders. */
#include "policy/read/placeholder.h"

#define SHOWN_MAX 64 /* bytes of a placeholder in a message */

bool
writ_placeholder_is(const struct writ_yaml *node)
{
    return node->type == WRIT_YAML_SCALAR &&
           writ_view_has_prefix(node->text, WRIT_LIT(WRIT_PLACEHOLDER_PREFIX));
}

void
writ_placeholder_refuse(struct writ_options *o, const struct writ_yaml *root)
{
    for (struct writ_yaml *node = root->first; node != NULL; node = node->next) {
        if (writ_placeholder_is(node)) {
            WRIT_OPTION_FAULT(o, node,
                "is still the placeholder " WRIT_VIEW_FMT ". Write your own value in its place",
                WRIT_VIEW_ARG(writ_view_sub(node->text, 0, SHOWN_MAX)));
            node->type = WRIT_YAML_NONE;
        }
        writ_placeholder_refuse(o, node);
    }
}
