/* The table of formats, and the functions that each names. */
#include "evidence/event/export_format.h"

#include "evidence/event/cef.h"
#include "evidence/event/ocsf.h"
#include "evidence/event/plain.h"

static const struct {
    struct writ_view name;
    const char *type;
    WRIT_RESULT(*put)
    (const struct writ_export_event *event, struct writ_buf *ret, struct writ_err *err);
} formats[] = {
#define FORMAT(NAME, name_, put_, type_)                                                           \
    [WRIT_EXPORT_##NAME] = {.name = {#name_, sizeof #name_ - 1}, .type = (type_), .put = (put_)},
    WRIT_EXPORT_FORMATS(FORMAT)
#undef FORMAT
};

bool
writ_export_format_find(struct writ_view name, enum writ_export_format *ret)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (writ_view_equal(name, formats[i].name)) {
            *ret = (enum writ_export_format)i;
            return true;
        }
    }
    return false;
}

const char *
writ_export_format_type(enum writ_export_format format)
{
    return formats[format].type;
}

WRIT_RESULT
writ_export_format_put(enum writ_export_format format, const struct writ_export_event *event,
    struct writ_buf *ret, struct writ_err *err)
{
    return formats[format].put(event, ret, err);
}
