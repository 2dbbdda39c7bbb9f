/* intake.h - from the first line of a request to its handler. Inside of the listener.
 *
 * What a daemon calls: on_line with the request target, on_access for the head, for each piece of
 * the body, for the end and, until there is an answer, again and again; on_completed in any case.
 */
#ifndef WRIT_GATEWAY_INTAKE_H
#define WRIT_GATEWAY_INTAKE_H

#include <microhttpd.h>

void *writ_intake_on_line(void *cls, const char *uri, struct MHD_Connection *mhd);
enum MHD_Result writ_intake_on_access(void *cls, struct MHD_Connection *mhd, const char *url,
    const char *method, const char *version, const char *data, size_t *data_len, void **ctx);
void writ_intake_on_completed(
    void *cls, struct MHD_Connection *mhd, void **ctx, enum MHD_RequestTerminationCode code);

#endif
