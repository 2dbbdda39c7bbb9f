/* The parties that the gateway depends on: the servers, asked as `writ check --tools` does, and the
 * issuers of tokens, asked for their keys. */
#include "base/text.h"
#include "cli/commands/check_tools.h"
#include "cli/commands/doctor.h"
#include "gateway/auth/discovery.h"
#include "gateway/auth/issuers.h"
#include "gateway/http/fetch.h"

#define FINDINGS_MAX 4096
#define UPSTREAMS    "/upstreams/"

/* A finding about a server itself; all others are about rules. */
static bool
is_of_server(const struct writ_finding *finding)
{
    return writ_view_has_prefix(finding->pointer, WRIT_LIT(UPSTREAMS)) &&
           writ_view_find(writ_view_sub(finding->pointer, sizeof UPSTREAMS - 1, SIZE_MAX), '/') ==
               finding->pointer.len - (sizeof UPSTREAMS - 1);
}

WRIT_RESULT
writ_doctor_upstreams(struct writ_doctor *d, struct writ_err *err)
{
    WRIT_AUTO(struct writ_findings, writ_findings_wipe) findings = {.max = FINDINGS_MAX};
    struct writ_check_tools asked = {0};

    WRIT_TRY(writ_check_tools_run(d->config, &findings, &asked, err));
    for (size_t i = 0; i < findings.n; i++) {
        const struct writ_finding *one = &findings.items[i];

        if (one->severity == WRIT_SEVERITY_ERROR) {
            writ_doctor_add(d,
                is_of_server(one) ? WRIT_DOCTOR_UPSTREAM_SILENT : WRIT_DOCTOR_RULE_UNFIT,
                (struct writ_doctor_place){.path = one->file.len > 0
                                                       ? writ_view_copy(one->file, d->arena)
                                                       : writ_view_str(d->file),
                    .line = one->line,
                    .pointer = writ_view_copy(one->pointer, d->arena)},
                WRIT_VIEW_FMT, WRIT_VIEW_ARG(one->message));
        }
    }
    return WRIT_DONE;
}

/* ---- issuers */

/* The text of a key set: of a file, of a URL, or where the metadata of the issuer say. */
static WRIT_RESULT
read_set(const struct writ_identity_config *issuer, struct writ_buf *ret, struct writ_err *err)
{
    writ_auto_buf url = writ_buf_make(WRIT_DISCOVERY_URL_MAX);
    struct writ_view jwks = issuer->jwks;

    if (jwks.len > 0 && writ_view_search(jwks, WRIT_LIT("://")) == jwks.len) {
        return writ_text_file(jwks.ptr, WRIT_JWKS_BYTES_MAX, ret, err);
    }
    if (jwks.len > 0) {
        writ_buf_put(&url, jwks);
    } else {
        WRIT_TRY(writ_discovery_find(
            issuer->issuer.ptr, "jwks_uri", WRIT_ISSUERS_FETCH_MS, NULL, &url, err));
    }
    writ_buf_byte(&url, '\0');
    WRIT_TRY(writ_buf_check(&url, err));
    return writ_fetch_get(url.ptr, WRIT_ISSUERS_FETCH_MS, NULL, ret, err);
}

static void
look_at_issuer(
    struct writ_doctor *d, const struct writ_identity_config *issuer, const char *pointer)
{
    writ_auto_buf text = writ_buf_make(WRIT_JWKS_BYTES_MAX);
    struct writ_doctor_place place = writ_doctor_option(d, pointer);
    writ_auto_jwks set = NULL;
    const char *left_out = "";
    struct writ_err why = {0};
    writ_result result = read_set(issuer, &text, &why);

    if (writ_is_ok(result)) {
        result = writ_jwks_read(writ_buf_view(&text), &set, &why);
    }
    if (!writ_is_ok(result)) {
        writ_doctor_add(d, WRIT_DOCTOR_ISSUER_UNREACHABLE, place, WRIT_VIEW_FMT ": %s",
            WRIT_VIEW_ARG(issuer->issuer), why.text);
    } else if (writ_jwks_count(set) == 0) {
        (void)writ_jwks_left_out(set, &left_out);
        writ_doctor_add(d, WRIT_DOCTOR_ISSUER_KEYLESS, place, WRIT_VIEW_FMT ": no usable key%s%s",
            WRIT_VIEW_ARG(issuer->issuer), left_out[0] != '\0' ? ": " : "", left_out);
    }
}

WRIT_RESULT
writ_doctor_issuers(struct writ_doctor *d, struct writ_err *err)
{
    for (size_t i = 0; i < d->config->agents_n; i++) {
        struct writ_buf pointer = writ_buf_in(d->arena, 64);

        if (d->config->agents[i].kind == WRIT_IDENTITY_JWT) {
            writ_buf_fmt(&pointer, "/agents/%zu%c", i, '\0');
            WRIT_TRY(writ_buf_check(&pointer, err));
            look_at_issuer(d, &d->config->agents[i], pointer.ptr);
        }
    }
    return WRIT_DONE;
}
