/* remove.h - what keeps records in the ledger that could be removed by their time. */
#ifndef WRIT_STORE_REMOVE_H
#define WRIT_STORE_REMOVE_H

#include "base/bytes.h"
#include "store/tables/remove.tbl.h"

/** What keeps records in the ledger: WRIT_REMOVE_LIMITS. */
enum writ_remove_limit {
#define WRIT_REMOVE_ENUM(NAME, name, sentence) WRIT_REMOVE_##NAME,
    WRIT_REMOVE_LIMITS(WRIT_REMOVE_ENUM)
#undef WRIT_REMOVE_ENUM
};

/** The name of a limit, and what it says. Static storage. */
struct writ_view writ_remove_limit_name(enum writ_remove_limit limit);
struct writ_view writ_remove_limit_sentence(enum writ_remove_limit limit);
/** NONE: no limit has that name. */
enum writ_remove_limit writ_remove_limit_find(struct writ_view name);

#endif
