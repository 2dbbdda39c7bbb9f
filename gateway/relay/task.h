/* task.h - calls that go on as tasks, in both forms: 2025-11-25 (`params.task`, tasks/get,
 * tasks/result, tasks/list, tasks/cancel) and the extension of 2026-07-28 (`resultType: task`,
 * tasks/get, tasks/update, tasks/cancel).
 *
 * A tools/call that is answered with a task has no outcome yet: it waits in the ledger, for as long
 * as the task is good. Only the agent whose call began a task may ask about it; such a question is
 * not governed. The first answer that ends the task, on any connection and loop, records the call's
 * outcome, and is shown when that is durable. A task without such an answer in time is
 * task_expired. */
#ifndef WRIT_GATEWAY_TASK_H
#define WRIT_GATEWAY_TASK_H

#include "gateway/request/request.h"

#endif
