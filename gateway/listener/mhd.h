/* mhd.h - what depends on the version of libmicrohttpd: how strictly it reads a request.
 *
 * mhd_0_9_75.c or mhd_1.c, by the version that the build finds. What each of them cannot see
 * is in docs/security-limits.md. Inside of the listener. */
#ifndef WRIT_GATEWAY_MHD_H
#define WRIT_GATEWAY_MHD_H

#include "gateway/http/framing.h"

#include <microhttpd.h>

/** WRIT_E_INVALID when the libmicrohttpd that runs is one that this was not built for. */
WRIT_RESULT writ_mhd_check(struct writ_err *err);

/** Flags of a daemon beside those that every version has. */
unsigned writ_mhd_flags(void);

/** The option that makes a daemon strict; MHD_OPTION_END where there is none. */
struct MHD_OptionItem writ_mhd_option(void);

/**
 * Finds what libmicrohttpd forgave in a head.
 *
 * @param raw   where it has the head: from the first byte of the method to the end of the empty
 *              line, after it was read
 * @param head  the tokens as libmicrohttpd gives them: not copied, values not trimmed
 *
 * @return true when nothing was forgiven. Thread-safe.
 */
bool writ_mhd_is_strict(struct writ_view raw, const struct writ_framing_head *head);

/** False for a field of the head that libmicrohttpd lists as a trailer. */
bool writ_mhd_is_trailer(struct writ_view raw, const char *name);

#endif
