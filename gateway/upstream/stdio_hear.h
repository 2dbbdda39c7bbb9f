/* stdio_hear.h - what the child of an instance says. Inside of stdio. */
#ifndef WRIT_GATEWAY_STDIO_HEAR_H
#define WRIT_GATEWAY_STDIO_HEAR_H

#include "gateway/upstream/stdio_owner.h"

/** One line of the child. */
void writ_stdio_hear_line(struct writ_instance *instance, struct writ_view line);

#endif
