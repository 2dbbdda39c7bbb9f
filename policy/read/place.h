/* place.h - where a node stands in the text of a file, for edits that change nothing else. */
#ifndef WRIT_POLICY_PLACE_H
#define WRIT_POLICY_PLACE_H

#include "base/bytes.h"
#include "policy/read/yaml.h"

struct writ_place {
    enum writ_yaml_type type;
    size_t start, end; /* bytes of the text */
    bool block;        /* a list or map of one element a line */
    size_t column;     /* of a block: the spaces before an element */
    size_t count;      /* elements or members */
};

/** Finds the node at a JSON Pointer. WRIT_E_ABSENT when there is none; WRIT_E_PARSE, WRIT_E_NOMEM.
 * Does not block. */
WRIT_RESULT writ_place_find(
    struct writ_view text, struct writ_view pointer, struct writ_place *ret);

/** Where a line is added behind a node that ends at `end`: behind its comment. */
size_t writ_place_line_end(struct writ_view text, size_t end);

#endif
