/* Names and sentences are those of remove.tbl.h. */
#include "store/tables/remove.h"

static const struct {
    const char *name, *sentence;
} limits[] = {
#define LIMIT_ROW(NAME, name, sentence) [WRIT_REMOVE_##NAME] = {#name, sentence},
    WRIT_REMOVE_LIMITS(LIMIT_ROW)
#undef LIMIT_ROW
};

struct writ_view
writ_remove_limit_name(enum writ_remove_limit limit)
{
    return writ_view_str(limits[limit].name);
}

enum writ_remove_limit
writ_remove_limit_find(struct writ_view name)
{
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        if (writ_view_is(name, limits[i].name)) {
            return (enum writ_remove_limit)i;
        }
    }
    return WRIT_REMOVE_NONE;
}

struct writ_view
writ_remove_limit_sentence(enum writ_remove_limit limit)
{
    return writ_view_str(limits[limit].sentence);
}
