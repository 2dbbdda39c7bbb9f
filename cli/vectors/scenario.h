/* scenario.h - runs one scenario file of the format crew-vector/1 against the crew library. */
#ifndef WRIT_CLI_SCENARIO_H
#define WRIT_CLI_SCENARIO_H

#include "evidence/json/json.h"

/**
 * Runs a scenario and compares all results with the expected ones.
 *
 * @param scenario  the file; borrowed for the call
 * @param report    gets one line for each difference: where, expected and got, shortened
 * @param ret_same  whether nothing differs
 *
 * @return WRIT_OK, also when things differ
 *         WRIT_E_PARSE  not a scenario of this format; err has the reason
 *         WRIT_E_NOMEM
 */
WRIT_RESULT writ_scenario_run(const struct writ_json *scenario, struct writ_buf *report,
    bool *ret_same, struct writ_err *err);

#endif
