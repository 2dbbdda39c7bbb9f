/* fit.h - rules held against the definitions of the tools that they are for: an argument that the
 * tool does not have, a bound that never or always holds, an argument that no constraint names.
 *
 * What is an error refuses every call that follows the definition, or never does what the rule
 * says; a note says which calls a rule refuses or leaves alone. A definition is a stranger's: it
 * changes no rule, and its texts are made safe. Pure. */
#ifndef WRIT_POLICY_FIT_H
#define WRIT_POLICY_FIT_H

#include "evidence/json/json.h"
#include "policy/model/rule.h"
#include "policy/read/findings.h"

/** One entry of a server's tools/list. */
struct writ_fit_tool {
    struct writ_view name;
    const struct writ_json *definition;
};

/** The tools of the server that the configuration calls `upstream`. */
struct writ_fit_server {
    struct writ_view upstream;
    const struct writ_fit_tool *tools;
    size_t n;
};

/**
 * Adds what is found about the rules for one server.
 *
 * @param findings  errors, warnings and notes, not sorted
 *
 * @return WRIT_OK, WRIT_E_NOMEM
 */
WRIT_RESULT writ_fit_check(const struct writ_config *config, const struct writ_fit_server *server,
    struct writ_findings *findings, struct writ_err *err);

#endif
