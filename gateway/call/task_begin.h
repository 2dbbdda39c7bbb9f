/* task_begin.h - a tools/call whose result is a task has no outcome yet: it waits for its end. */
#ifndef WRIT_GATEWAY_TASK_BEGIN_H
#define WRIT_GATEWAY_TASK_BEGIN_H

#include "gateway/request/request.h"

#define WRIT_TASK_BEGIN_ID_MAX 1024 /* bytes of a task id */

/** Looks at the result of a tools/call: when it is a task, the conclusion says under which name the
 * call waits, and for how long. */
void writ_task_begin_look(struct writ_request *request, const struct writ_json *result);

#endif
