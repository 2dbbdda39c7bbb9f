/* template_read.h - reads the templates of the configuration. */
#ifndef WRIT_POLICY_TEMPLATE_READ_H
#define WRIT_POLICY_TEMPLATE_READ_H

#include "policy/decide/template.h"
#include "policy/read/option.h"

/** The template of a scope, target or URI at `node`; NULL after a fault (in the findings). */
const struct writ_template *writ_template_read_text(
    struct writ_options *o, const struct writ_yaml *node);

/** The template of an object of arguments at `node`; NULL after a fault (in the findings). */
const struct writ_template *writ_template_read_object(
    struct writ_options *o, const struct writ_yaml *node);

#endif
