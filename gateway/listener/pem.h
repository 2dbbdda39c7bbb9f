/* pem.h - the PEM files of a listener, read into memory that is wiped. */
#ifndef WRIT_GATEWAY_PEM_H
#define WRIT_GATEWAY_PEM_H

#include "gateway/listener/listener.h"
#include "policy/model/config.h"

#define WRIT_PEM_FILE_MAX (1024 * 1024) /* bytes of one file */

/** The contents of the files. Zeroed: none. */
struct writ_pem {
    struct writ_buf cert, key, client_ca;
};

/** Wipes and frees. A zeroed one is fine. */
void writ_pem_wipe(struct writ_pem *pem);

/**
 * Reads the files of `config`. A configuration without TLS gives a zeroed `ret_tls`.
 *
 * @param pem      zeroed; owned by the caller, which wipes it also after a failure
 * @param ret_tls  borrows from `pem`
 *
 * @return WRIT_OK, WRIT_E_ABSENT, WRIT_E_IO, WRIT_E_LIMIT, WRIT_E_NOMEM. Blocks.
 */
WRIT_RESULT writ_pem_read(const struct writ_tls_config *config, struct writ_pem *pem,
    struct writ_listener_tls *ret_tls, struct writ_err *err);

#endif
