/* detector.h - named, versioned detectors, and sets of them. Immutable after reading; any number of
 * threads may use one. */
#ifndef WRIT_POLICY_DETECTOR_H
#define WRIT_POLICY_DETECTOR_H

#include "base/bytes.h"
#include "policy/model/pattern.h"

#define WRIT_DETECTORS_OWN_MAX 256 /* entries of `detectors` */
#define WRIT_DETECTOR_NAME_MAX 64  /* bytes of a name */

/** The built-in ones. */
enum writ_detector_id {
#define DETECTOR(family, ID, name, version, sentence) WRIT_DETECTOR_##ID,
#include "policy/detect/detector.tbl.h"
#undef DETECTOR
    WRIT_DETECTOR_COUNT,
};

/** What must be right about a text that a pattern matches. */
enum writ_checksum {
    WRIT_CHECKSUM_NONE = 0,
    WRIT_CHECKSUM_LUHN,  /* its digits, of which the last one is the check digit */
    WRIT_CHECKSUM_MOD97, /* its letters and digits, as an IBAN (ISO 13616) */
};

/** One of them. Views live as long as the configuration; those of built-in ones always. */
struct writ_detector {
    struct writ_view name, called; /* "card.number", "card.number@1" */
    unsigned version;
    const char *sentence;               /* of a built-in one; else NULL */
    const struct writ_pattern *pattern; /* for searching; NULL: built in */
    enum writ_checksum checksum;
};

/** Those of the configuration. */
struct writ_detectors {
    const struct writ_detector *items;
    size_t n;
};

/** Which of them are looked for. Zero: none. */
struct writ_detector_set {
    bool builtin[WRIT_DETECTOR_COUNT];
    const struct writ_detectors *own; /* NULL: none */
    const bool *own_wanted;           /* of each of them; NULL: none */
};

/** A place in a text, as it was given. Several may overlap, and one may be reported twice. */
struct writ_detection {
    const struct writ_detector *detector;
    size_t offset, length; /* bytes; length > 0 */
};

/** Takes one; borrowed until it returns. False: no more are wanted. */
typedef bool writ_detector_fn(void *ctx, const struct writ_detection *found);

/** A built-in one; id below WRIT_DETECTOR_COUNT. Static storage. */
const struct writ_detector *writ_detector_builtin(size_t id);

/** The detectors by number: the built-in ones, then those of the configuration. NULL: no more. */
const struct writ_detector *writ_detector_of(const struct writ_detectors *own, size_t number);

/** Whether a name is in a namespace of built-in detectors: secret, card, bank, contact, host,
 * hidden and prompt. */
bool writ_detector_is_reserved(struct writ_view name);

/** Whether a detector's name is `wanted`, or matches it: secret.* */
bool writ_detector_is_named(const struct writ_detector *detector, struct writ_view wanted);

/** Whether the checksum of a text is right; other characters than letters and digits do not count.
 */
bool writ_detector_checksum_holds(enum writ_checksum checksum, struct writ_view text);

#endif
