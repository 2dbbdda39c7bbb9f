/* lint.h - the findings about a shape that runs by another process than it says. */
#ifndef WRIT_CREW_LINT_H
#define WRIT_CREW_LINT_H

#include "writ/crew.h"

/** As writ_crew_shape_lint; `consensual` in place of what the shape says. */
WRIT_RESULT writ_lint_run(const struct writ_crew_shape *shape,
    const struct writ_crew_engines *engines, bool consensual, struct writ_crew_findings *errors,
    struct writ_crew_findings *warnings);

#endif
