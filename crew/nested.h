/* nested.h - crews inside crews: spawning them, and taking what they came to. */
#ifndef WRIT_CREW_NESTED_H
#define WRIT_CREW_NESTED_H

#include "crew/machine.h"

/** Starts the crew that is nested in an agent. */
void writ_nested_spawn(
    struct writ_machine *m, size_t agent, struct writ_crew_value *input, size_t replaced);
/** Takes the result of a nested crew that has completed. */
void writ_nested_absorb(struct writ_machine *m, struct writ_handle *handle);
/** Adds a handle, which is taken, at the end. */
void writ_nested_add(struct writ_machine *m, struct writ_handle *handle);
void writ_nested_free(struct writ_handle *handle);

#endif
