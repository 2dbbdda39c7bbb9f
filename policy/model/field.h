/* field.h - the owner of an HTTP field in a request to an upstream (field.tbl.h). Pure. */
#ifndef WRIT_POLICY_FIELD_H
#define WRIT_POLICY_FIELD_H

#include "base/bytes.h"

enum writ_field_owner {
    WRIT_FIELD_FREE = 0, /* an option may name it */
    WRIT_FIELD_HOP,
    WRIT_FIELD_MESSAGE,
    WRIT_FIELD_TRACE,
};

enum writ_field_owner writ_field_owner(struct writ_view name);

#endif
