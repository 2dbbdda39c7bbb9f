/* fragment.h - other rules in place of the tools of one file: an edit that a person tries. */
#ifndef WRIT_POLICY_FRAGMENT_H
#define WRIT_POLICY_FRAGMENT_H

#include "policy/read/option.h"

/** The edit. */
struct writ_fragment {
    struct writ_view file; /* whose tools it replaces, by the name that findings have */
    struct writ_view text; /* YAML: a map with `tools` alone */
    bool taken;            /* the file was read */
};

/** The root of a file, with the tools of o->fragment when it is for that file. A fault of the
 * fragment is a finding at "edit", and `root` is then returned as it is. */
const struct writ_yaml *writ_fragment_put(
    struct writ_options *o, const struct writ_yaml *root, struct writ_view file);

#endif
