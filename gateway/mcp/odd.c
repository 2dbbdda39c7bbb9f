/* odd.c - kinds as bits. What cannot be examined counts as odd in every way. */
#include "gateway/mcp/odd.h"

#define ARENA_MAX ((size_t)256 << 20)
#define TEXT_MAX  ((size_t)4 << 20)

#define OWN                                                                                        \
    (WRIT_ODD_BIT(WRIT_ODDITY_HIDDEN) | WRIT_ODD_BIT(WRIT_ODDITY_LOOKALIKE) |                      \
        WRIT_ODD_BIT(WRIT_ODDITY_ADDRESSES))

static unsigned
look(const struct writ_json *definition, struct writ_arena *arena)
{
    struct writ_oddities list = {.arena = arena};
    const struct writ_oddity_tool tool = {.server = WRIT_LIT(""),
        .name = writ_json_string(writ_json_get(definition, WRIT_LIT("name"))),
        .definition = definition};
    unsigned odd = 0;

    writ_oddity_of_tool(&list, &tool);
    for (size_t i = 0; i < list.n; i++) {
        odd |= WRIT_ODD_BIT(list.items[i].kind);
    }
    return list.total > list.n ? OWN : odd;
}

unsigned
writ_odd_of(const struct writ_json *definition)
{
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);

    return arena != NULL ? look(definition, arena) : OWN;
}

unsigned
writ_odd_of_text(struct writ_view definition)
{
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    struct writ_json_limits limits = writ_json_limits_default;
    const struct writ_json *value = NULL;

    limits.bytes = limits.string_bytes = TEXT_MAX;
    limits.values = 1u << 20;
    if (arena == NULL || !writ_is_ok(writ_json_read(definition, &limits, arena, &value, NULL))) {
        return OWN;
    }
    return look(value, arena);
}

static enum writ_odd
then(const struct writ_odd_config *config, enum writ_oddity_kind kind)
{
    switch (kind) {
    case WRIT_ODDITY_HIDDEN:
        return config->hidden;
    case WRIT_ODDITY_LOOKALIKE:
        return config->lookalike;
    case WRIT_ODDITY_REPEATS:
        return config->repeats;
    case WRIT_ODDITY_IMITATES:
        return config->imitates;
    case WRIT_ODDITY_ADDRESSES:
        return config->addresses;
    case WRIT_ODDITY_NONE:
    case WRIT_ODDITY_CHANGED: /* `pin` */
    case WRIT_ODDITY_NEW:
    case WRIT_ODDITY_DOUBLED: /* never listed: listed.h */
        break;
    }
    return WRIT_ODD_TELL;
}

static unsigned
up_to(const struct writ_odd_config *config, unsigned odd, enum writ_odd most)
{
    unsigned ret = 0;

    for (int kind = WRIT_ODDITY_NONE; kind <= WRIT_ODDITY_ADDRESSES; kind++) {
        if ((odd & WRIT_ODD_BIT(kind)) != 0 && then(config, (enum writ_oddity_kind)kind) <= most) {
            ret |= WRIT_ODD_BIT(kind);
        }
    }
    return ret;
}

unsigned
writ_odd_withheld(const struct writ_odd_config *config, unsigned odd, bool named)
{
    if (named && config->repeats == WRIT_ODD_HIDE) {
        odd &= ~WRIT_ODD_BIT(WRIT_ODDITY_REPEATS);
    }
    return up_to(config, odd, WRIT_ODD_HIDE);
}

unsigned
writ_odd_refused(const struct writ_odd_config *config, unsigned odd)
{
    return up_to(config, odd, WRIT_ODD_REFUSE);
}

enum writ_oddity_kind
writ_odd_first(unsigned odd)
{
    for (int kind = WRIT_ODDITY_NONE; kind <= WRIT_ODDITY_ADDRESSES; kind++) {
        if ((odd & WRIT_ODD_BIT(kind)) != 0) {
            return (enum writ_oddity_kind)kind;
        }
    }
    return WRIT_ODDITY_NONE;
}

void
writ_odd_write(struct writ_write *w, unsigned odd)
{
    writ_write_name(w, WRIT_LIT("odd"));
    writ_write_array_begin(w);
    while (odd != 0) {
        enum writ_oddity_kind kind = writ_odd_first(odd);

        odd &= ~WRIT_ODD_BIT(kind);
        writ_write_string(w, writ_view_str(writ_oddity_name(kind)));
    }
    writ_write_array_end(w);
}

void
writ_odd_put(struct writ_buf *ret, unsigned odd)
{
    while (odd != 0) {
        enum writ_oddity_kind kind = writ_odd_first(odd);

        odd &= ~WRIT_ODD_BIT(kind);
        writ_buf_str(ret, writ_oddity_name(kind));
        writ_buf_str(ret, odd != 0 ? ", " : "");
    }
}
