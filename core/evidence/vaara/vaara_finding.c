/* The faults of a finding are allocated at the first one: most findings have none. */
#include "evidence/vaara/vaara_finding.h"

WRIT_RESULT
writ_vaara_finding_fault(struct writ_vaara_finding *finding, struct writ_arena *arena,
    const char *pointer, const char *what, struct writ_err *err)
{
    if (finding->faults == NULL) {
        finding->faults = writ_arena_get(arena, sizeof *finding->faults);
        if (finding->faults == NULL) {
            WRIT_FAIL(err, WRIT_E_NOMEM, "no memory for the faults of a record");
        }
        *finding->faults = (struct writ_faults){0};
    }
    writ_faults_add(finding->faults, pointer, what);
    finding->holds = false;
    return WRIT_DONE;
}

WRIT_RESULT
writ_vaara_finding_faults(struct writ_vaara_finding *finding, struct writ_arena *arena,
    const struct writ_faults *faults, struct writ_err *err)
{
    for (size_t i = 0; i < faults->count; i++) {
        WRIT_TRY(writ_vaara_finding_fault(
            finding, arena, faults->list[i].pointer, faults->list[i].what, err));
    }
    return WRIT_DONE;
}
