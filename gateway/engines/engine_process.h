/* engine_process.h - one exchange with the process of a voting engine (engine_child.h).
 *
 * The process is this program again. Whatever happens there, the caller gets an answer of the right
 * form within the time, or a failure that says what happened; then the process and its group are
 * gone. */
#ifndef WRIT_GATEWAY_ENGINE_PROCESS_H
#define WRIT_GATEWAY_ENGINE_PROCESS_H

#include "gateway/engines/engine_message.h"

/**
 * Starts a process, gives it the plug-in and the request, and reads its answer. Blocks, for at most
 * `seconds`. Any thread may call it; SIGPIPE is not raised.
 *
 * @param object   a shared object, as its file has it
 * @param seconds  of the clock, and of processor time; 1 to WRIT_ENGINE_SECONDS_MAX
 * @param stop     a descriptor that ends the exchange when it is readable; -1: none
 * @param request  as engine_message.h writes it
 * @param arena    of the answer
 * @param ret      written only on success; has no fault
 *
 * @return WRIT_OK
 *         WRIT_E_BUSY  its process cannot start now: the host has no memory, descriptor or process
 *         WRIT_E_IO, WRIT_E_NOMEM  no answer, or not one of the right form: the error says why, in
 *                                  words that complete "the plug-in: "
 */
WRIT_RESULT writ_engine_process_ask(struct writ_view object, unsigned seconds, int stop,
    struct writ_view request, struct writ_arena *arena, struct writ_engine_answer *ret,
    struct writ_err *err);

#endif
