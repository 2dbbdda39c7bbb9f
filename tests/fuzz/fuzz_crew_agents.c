/* The whole input is an agents file for a fixed shape. It is refused with a reason, or the crew
 * builds within its limits and can be started. */
#include "support/crew/crewkit.h"
#include "support/fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_crewkit kit = {0};

    if (writ_crewkit_open(&kit, writ_view_str(writ_crewkit_shape),
            writ_view(size > 0 ? data : (void *)"", size))) {
        WRIT_INVARIANT(writ_crew_graph_count(kit.graph) <= writ_crewkit_limits.crew_agents);
        writ_crewkit_start(&kit);
    }
    writ_crewkit_wipe(&kit);
    return 0;
}
