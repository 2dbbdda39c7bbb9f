/* exposition.h - a strict reader of the Prometheus text format, version 0.0.4
 * (prometheus.io/docs/instrumenting/exposition_formats), for tests. */
#ifndef WRIT_TESTS_EXPOSITION_H
#define WRIT_TESTS_EXPOSITION_H

#include "base/bytes.h"

#include <stdbool.h>

/** True when the text is well-formed: every line ends with LF; a family has HELP, then TYPE, then
 * its samples together, and appears once; names, labels and values are of their grammar; no sample
 * appears twice; counters end in _total and are not negative; the buckets of a histogram grow, end
 * with +Inf, and agree with its count. On false, `ret_line` is the number of the bad line. */
bool exposition_is_valid(struct writ_view text, size_t *ret_line);

/** The value of the sample that is written exactly so ("name" or "name{label=\"x\"}"), or -1. */
double exposition_value(struct writ_view text, const char *sample);

#endif
