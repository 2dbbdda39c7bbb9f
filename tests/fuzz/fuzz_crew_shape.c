/* The whole input is a shape. It is refused, with findings when it is JSON but not a shape; or it
 * lints, and then a crew of it builds exactly when lint has no error, unless a reason of the graph
 * is given, and can be started. */
#include "support/crew/crewkit.h"
#include "support/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_crew_findings *errors = writ_crew_findings_new();
    struct writ_crew_findings *warnings = writ_crew_findings_new();
    struct writ_crewkit kit = {0};
    bool built = writ_crewkit_open(&kit, writ_view(data, size), writ_view(NULL, 0));

    if (kit.shape != NULL) {
        WRIT_INVARIANT(writ_is_ok(writ_crew_shape_lint(kit.shape, NULL, errors, warnings)));
        WRIT_INVARIANT(!built || writ_crew_findings_count(errors) == 0);
    }
    if (built) {
        writ_crewkit_start(&kit);
    }
    writ_crew_findings_free(errors);
    writ_crew_findings_free(warnings);
    writ_crewkit_wipe(&kit);
    return 0;
}
