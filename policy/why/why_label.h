/* why_label.h - how a label came into a run: by which record, and for `detected` by which detector
 * and where in the result it looked. From records alone. Pure. */
#ifndef WRIT_POLICY_WHY_LABEL_H
#define WRIT_POLICY_WHY_LABEL_H

#include "evidence/json/json.h"
#include "evidence/json/write.h"
#include "policy/why/why_label.tbl.h"

enum writ_why_label_by {
#define WRIT_WHY_LABEL_ENUM(NAME, word, sentence) WRIT_WHY_LABEL_##NAME,
    WRIT_WHY_LABELS(WRIT_WHY_LABEL_ENUM)
#undef WRIT_WHY_LABEL_ENUM
};

/** One label that a rule of `flows` looked at. What is not known is empty. */
struct writ_why_label {
    struct writ_view label;
    enum writ_why_label_by by;
    struct writ_view decision_id; /* of the call that brought it */
    struct writ_view tool;        /* "upstream/tool" of that call; empty until it is looked up */
    struct writ_view resource;    /* of a resource: the pattern whose labels it has */
    struct writ_view detector;    /* "secret.jwt@1" */
    struct writ_view at;          /* JSON Pointer into the result: where it found something */
};

/** Reads how the first record of a run with the label brought it: a decision or an outcome. Sets
 * all but the tool; views of the record. */
void writ_why_label_read(
    const struct writ_json *record, bool is_outcome, struct writ_why_label *label);

/** The way with that word; UNKNOWN for any other one. */
enum writ_why_label_by writ_why_label_find(struct writ_view word);

/** Writes the object of one label (docs/json.md). */
void writ_why_label_put(const struct writ_why_label *label, struct writ_write *w);

/** Appends it for people: "private: SENTENCE, from web/fetch, decision D: secret.jwt@1, at
 * /content/0/text". */
void writ_why_label_text(const struct writ_why_label *label, struct writ_buf *ret);

#endif
