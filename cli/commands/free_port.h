/* free_port.h - a port of this machine for the listeners of a new gateway. */
#ifndef WRIT_CLI_FREE_PORT_H
#define WRIT_CLI_FREE_PORT_H

#include <stdint.h>

#define WRIT_PORT_USUAL 8700 /* of a gateway's listener */

/** The first of `first`, `first` + 10, ... that is free on 127.0.0.1 together with its next port;
 * `first` if none of ten pairs is. Another program can take them at any time, so the gateway checks
 * again when it starts. */
uint16_t writ_free_port_pair(uint16_t first);

#endif
