/* source_labels.h - which calls of a run brought its labels: its records are read in their order
 * until each label has one. As the readers: one thread, blocks on the disk. */
#ifndef WRIT_GATEWAY_SOURCE_LABELS_H
#define WRIT_GATEWAY_SOURCE_LABELS_H

#include "policy/why/why_label.h"
#include "store/read/reader.h"

#define WRIT_SOURCE_LABELS_RECORDS                                                                 \
    10000 /* of one run; labels that came later are not looked up                                  \
           */

/** The run, as a call of it saw it. All borrowed. */
struct writ_source_labels {
    struct writ_reader *reader;
    struct writ_view tenant, boundary_id;
    uint64_t leaf; /* of the decision about the call */
};

/** Sets all but the tool of each of the labels; views in the arena. One that no record explains, or
 * none that can be read, stays UNKNOWN. */
void writ_source_labels_find(const struct writ_source_labels *of, struct writ_why_label *labels,
    size_t n, struct writ_arena *arena);

#endif
