/* telemetry.c - the collector has a URL whose traffic no other party can read, and the share of
 * traces is a number from 0 to 1, kept as a bound of 56 bits of the trace id. */
#include "policy/read/telemetry.h"

#include "base/decimal.h"
#include "policy/model/host.h"

#define DIGITS_MAX 15 /* of a share: a power of ten that 64 bits hold beside 56 */

/* The share of all trace ids: digit by digit, as in a long division. */
static uint64_t
bound_of(const struct writ_decimal *share)
{
    unsigned __int128 bound = share->coefficient * WRIT_SAMPLE_ALL;

    for (int i = share->exponent; i < 0; i++) {
        bound /= 10;
    }
    return (uint64_t)bound;
}

static bool
read_share(struct writ_view text, uint64_t *ret)
{
    const struct writ_decimal one = writ_decimal_of(1);
    struct writ_decimal share;

    if (!writ_is_ok(writ_decimal_read(text, &share)) || share.negative ||
        writ_decimal_compare(&share, &one) > 0 || share.exponent < -DIGITS_MAX) {
        return false;
    }
    *ret = bound_of(&share);
    return true;
}

static bool
is_base_url(struct writ_view text)
{
    struct writ_url url;

    return writ_is_ok(writ_host_read_url(text, &url)) && writ_host_is_protected(text) &&
           text.ptr[text.len - 1] != '/' && writ_view_find(url.rest, '?') == url.rest.len &&
           writ_view_find(url.rest, '#') == url.rest.len;
}

void
writ_telemetry_read(struct writ_options *o, const struct writ_yaml *root,
    const struct writ_raw_telemetry *raw, struct writ_telemetry_config *ret)
{
    const struct writ_yaml *node = writ_option_of(root, "telemetry");

    *ret = (struct writ_telemetry_config){
        .otlp = raw->otlp,
        .headers_file = raw->headers_file,
        .ca = raw->ca,
        .traces = raw->traces,
        .metrics = raw->metrics,
        .logs = raw->logs,
        .incoming = (enum writ_incoming)raw->incoming,
        .metrics_every_us = raw->metrics_every_us,
        .resource = raw->resource,
    };
    (void)writ_option_together(o, WRIT_SECTION_telemetry, node);
    if (raw->otlp.len > 0 && !is_base_url(raw->otlp)) {
        WRIT_OPTION_FAULT(o, writ_option_of(node, "otlp"),
            "must be an https URL, or an http URL on loopback, without query, fragment and a slash "
            "at its end");
    }
    if (raw->ca.len > 0 && !writ_view_has_prefix(raw->otlp, WRIT_LIT("https:"))) {
        WRIT_OPTION_FAULT(o, writ_option_of(node, "ca"), "is only for an https URL");
    }
    if (raw->sample.len > 0 && !read_share(raw->sample, &ret->sample)) {
        WRIT_OPTION_FAULT(o, writ_option_of(node, "sample"),
            "must be a share from 0 to 1 with at most %d digits, as 0.05", DIGITS_MAX);
    }
}
