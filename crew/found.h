/* found.h - a list of findings. */
#ifndef WRIT_CREW_FOUND_H
#define WRIT_CREW_FOUND_H

#include "base/bytes.h"
#include "writ/crew.h"

/** Adds one; `code` is static storage, `path` is copied. Into NULL nothing is added. WRIT_E_NOMEM.
 */
WRIT_RESULT writ_found_add(
    struct writ_crew_findings *findings, const char *code, struct writ_view path);

#endif
