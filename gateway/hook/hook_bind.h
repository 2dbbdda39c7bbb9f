/* hook_bind.h - POST /v1/bind: LOOK, STATE and COMPARE. */
#ifndef WRIT_GATEWAY_HOOK_BIND_H
#define WRIT_GATEWAY_HOOK_BIND_H

#include "gateway/hook/hook.h"

/** Reads the request, and asks for the authorization. */
enum writ_step writ_hook_bind_read(struct writ_request *request);

/** Answers with the verdict. */
enum writ_step writ_hook_bind_answer(struct writ_request *request);

#endif
