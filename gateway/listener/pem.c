/* pem.c - reads the configured files completely. The key's buffer is wiped as a secret. */
#include "gateway/listener/pem.h"

#include "base/text.h"

void
writ_pem_wipe(struct writ_pem *pem)
{
    writ_buf_wipe(&pem->cert);
    writ_buf_wipe_secret(&pem->key);
    writ_buf_wipe(&pem->client_ca);
}

writ_result
writ_pem_read(const struct writ_tls_config *config, struct writ_pem *pem,
    struct writ_listener_tls *ret_tls, struct writ_err *err)
{
    *ret_tls = (struct writ_listener_tls){0};
    if (config->cert.len == 0) {
        return WRIT_DONE;
    }
    pem->cert = pem->key = pem->client_ca = writ_buf_make(WRIT_PEM_FILE_MAX);
    WRIT_TRY(writ_text_file(config->cert.ptr, WRIT_PEM_FILE_MAX, &pem->cert, err));
    WRIT_TRY(writ_text_file(config->key.ptr, WRIT_PEM_FILE_MAX, &pem->key, err));
    if (config->client_ca.len > 0) {
        WRIT_TRY(writ_text_file(config->client_ca.ptr, WRIT_PEM_FILE_MAX, &pem->client_ca, err));
    }
    *ret_tls = (struct writ_listener_tls){.certificate = writ_buf_view(&pem->cert),
        .key = writ_buf_view(&pem->key),
        .client_ca = writ_buf_view(&pem->client_ca),
        .client_required = config->client_ca.len > 0};
    return WRIT_DONE;
}
