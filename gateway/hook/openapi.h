/* openapi.h - the description of the hook API (OpenAPI 3.1), gateway/hook/openapi.json as it is. */
#ifndef WRIT_GATEWAY_OPENAPI_H
#define WRIT_GATEWAY_OPENAPI_H

#include <stddef.h>

extern const char writ_openapi_json[];
extern const size_t writ_openapi_json_len;

#endif
