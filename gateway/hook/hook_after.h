/* hook_after.h - POST /v1/after and POST /v1/seal. */
#ifndef WRIT_GATEWAY_HOOK_AFTER_H
#define WRIT_GATEWAY_HOOK_AFTER_H

#include "gateway/hook/hook.h"

/** Reads an outcome, and asks for its decision. */
enum writ_step writ_hook_after_read(struct writ_request *request);

/** Answers when the outcome is recorded, or could not be. */
enum writ_step writ_hook_after_answer(struct writ_request *request);

/** Reads which run is over, and has it sealed. */
enum writ_step writ_hook_after_read_seal(struct writ_request *request);

#endif
