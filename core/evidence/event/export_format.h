/* export_format.h - the encodings of an event, by name. */
#ifndef WRIT_EVIDENCE_EXPORT_FORMAT_H
#define WRIT_EVIDENCE_EXPORT_FORMAT_H

#include "evidence/event/export_event.h"

/** X(NAME, name, function, "media type of a batch") */
#define WRIT_EXPORT_FORMATS(X)                                                                     \
    X(JSON, json, writ_plain_put, "application/x-ndjson")                                          \
    X(OCSF, ocsf, writ_ocsf_put, "application/x-ndjson")                                           \
    X(CEF, cef, writ_cef_put, "text/plain; charset=utf-8")

enum writ_export_format {
#define WRIT_EXPORT_FORMAT_ENUM(NAME, name, put, type) WRIT_EXPORT_##NAME,
    WRIT_EXPORT_FORMATS(WRIT_EXPORT_FORMAT_ENUM)
#undef WRIT_EXPORT_FORMAT_ENUM
};

/** The format of that name. False: none; `ret` is untouched. */
bool writ_export_format_find(struct writ_view name, enum writ_export_format *ret);

/** The media type of lines of that format. Static storage. */
const char *writ_export_format_type(enum writ_export_format format);

/** Appends one event without a line feed. The failures of the buffer. */
WRIT_RESULT writ_export_format_put(enum writ_export_format format,
    const struct writ_export_event *event, struct writ_buf *ret, struct writ_err *err);

#endif
