/* mhd.h - the code that depends on the version of libmicrohttpd: how strictly it reads a request.
 *
 * mhd_0_9_75.c or mhd_1.c, by the version that the build finds. docs/security-limits.md lists what
 * each of them cannot detect. Inside of the listener. */
#ifndef WRIT_GATEWAY_MHD_H
#define WRIT_GATEWAY_MHD_H

#include "gateway/http/framing.h"

#include <microhttpd.h>

/** WRIT_E_INVALID when the running libmicrohttpd is not a version that this was built for. */
WRIT_RESULT writ_mhd_check(struct writ_err *err);

/** Flags of a daemon besides those of every version. */
unsigned writ_mhd_flags(void);

/** The option that makes a daemon strict; MHD_OPTION_END without one. */
struct MHD_OptionItem writ_mhd_option(void);

/**
 * Finds faults in a head that libmicrohttpd accepted.
 *
 * @param raw   its copy of the head: from the first byte of the method to the end of the empty
 *              line, after it was read
 * @param head  the tokens as libmicrohttpd gives them: not copied, values not trimmed
 *
 * @return true when there is no fault. Thread-safe.
 */
bool writ_mhd_is_strict(struct writ_view raw, const struct writ_framing_head *head);

/** False for a field of the head that libmicrohttpd lists as a trailer. */
bool writ_mhd_is_trailer(struct writ_view raw, const char *name);

#endif
