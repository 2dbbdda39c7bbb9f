/* stdio_recv.h - the messages of an instance's child. Inside of stdio. */
#ifndef WRIT_GATEWAY_STDIO_RECV_H
#define WRIT_GATEWAY_STDIO_RECV_H

#include "gateway/upstream/stdio_owner.h"

/** One line of the child. */
void writ_stdio_recv_line(struct writ_instance *instance, struct writ_view line);

#endif
