/* ruling.h - configurations and verdicts for tests, without error handling: a failure in here fails
 * the test. */
#ifndef WRIT_TESTS_RULING_H
#define WRIT_TESTS_RULING_H

#include "policy/decide/policy.h"

/** The configuration of that YAML text, to be dropped; a fault in it fails the test. */
struct writ_config *writ_ruling_config(const char *yaml);

/** The configuration whose tool u/t has these constraints, a list in JSON that need not be one; to
 * be dropped. NULL when it is refused. For fuzz targets. */
struct writ_config *writ_ruling_of_constraints(struct writ_view constraints);

/** How the agent "dev" of tenant "acme" with role "operator" is answered. `tool` is
 * "upstream/tool". */
void writ_ruling_decide(const struct writ_config *config, const char *tool,
    const struct writ_json *arguments, struct writ_arena *arena, struct writ_verdict *ret);

/** The same with arguments as JSON text. */
void writ_ruling_decide_text(const struct writ_config *config, const char *tool,
    const char *arguments, struct writ_arena *arena, struct writ_verdict *ret);

/** The reason's name for those arguments. Static storage. */
struct writ_view writ_ruling_reason(
    const struct writ_config *config, const char *tool, const char *arguments);

/** Reads a faulty configuration; gives what `writ check` would print (file "c.yaml"), to be wiped.
 * A text without faults fails the test. */
struct writ_buf writ_ruling_faults(struct writ_view yaml);

/** The same output of a configuration that may have warnings alone. */
struct writ_buf writ_ruling_warnings(const char *yaml);

#endif
