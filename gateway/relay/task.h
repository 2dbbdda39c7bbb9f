/* task.h - calls that go on as tasks, in both forms: 2025-11-25 (`params.task`, tasks/get,
 * tasks/result, tasks/list, tasks/cancel) and the extension of 2026-07-28 (`resultType: task`,
 * tasks/get, tasks/update, tasks/cancel).
 *
 * A tools/call that is answered with a task has no outcome yet: it waits in the ledger, for as long
 * as the task is good. What is asked about a task is for the agent whose call began it and for
 * nobody else; it is not governed. Whoever asks first learns that the task is over, on whatever
 * connection and loop: then the call's outcome is recorded, and the answer shown when that is
 * durable. A task that nobody asks for in time is task_expired. */
#ifndef WRIT_GATEWAY_TASK_H
#define WRIT_GATEWAY_TASK_H

#include "gateway/request/request.h"

#endif
