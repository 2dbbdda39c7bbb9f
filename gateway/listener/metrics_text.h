/* metrics_text.h - reads what a gateway answers to GET /metrics: the Prometheus text format, as our
 * own listener writes it. Pure; views are parts of the text. */
#ifndef WRIT_GATEWAY_METRICS_TEXT_H
#define WRIT_GATEWAY_METRICS_TEXT_H

#include "base/bytes.h"

/** One sample: a line that is not a comment. */
struct writ_metrics_text_sample {
    struct writ_view name;
    struct writ_view labels; /* between the braces; empty: none */
    double value;
};

/** Takes the next sample from `rest`; false at the end. Other lines are skipped. */
bool writ_metrics_text_next(struct writ_view *rest, struct writ_metrics_text_sample *ret);

/** The value of a label; empty when it is absent. Escapes stay as they are written. */
struct writ_view writ_metrics_text_label(
    const struct writ_metrics_text_sample *sample, struct writ_view name);

/** The sum of all samples of that name whose label `label` is `value`; with an empty `label` of all
 * samples of the name. `ret_found` (may be NULL) says whether there is one. */
double writ_metrics_text_sum(struct writ_view text, struct writ_view name, struct writ_view label,
    struct writ_view value, bool *ret_found);

#endif
