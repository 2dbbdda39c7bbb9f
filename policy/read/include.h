/* include.h - the files in the folder that `include` names, as parts of the configuration. */
#ifndef WRIT_POLICY_INCLUDE_H
#define WRIT_POLICY_INCLUDE_H

#include "policy/read/option.h"

#define WRIT_INCLUDE_SUFFIX ".yaml" /* of the names of included files */
#define WRIT_INCLUDE_FILES_MAX                                                                     \
    256 /* most included files; each has at most WRIT_CONFIG_BYTES_MAX                             \
         */

/**
 * Reads the files and adds their sections to those of the configuration, in the order of names.
 *
 * @param root    of the configuration file; its nodes become part of the result
 * @param config  has its file name; gets `include` and `not_agreed`
 *
 * @return the whole configuration; `root` without an option `include`, or after a fault (in the
 *         findings)
 */
const struct writ_yaml *writ_include_read(
    struct writ_options *o, const struct writ_yaml *root, struct writ_config *config);

#endif
