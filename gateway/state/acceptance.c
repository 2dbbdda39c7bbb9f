/* acceptance.c - what is accepted is the definition that was seen, byte for byte. */
#include "gateway/state/acceptance.h"

#include "base/clock.h"
#include "base/text.h"
#include "evidence/json/difference.h"
#include "gateway/mcp/odd.h"
#include "gateway/state/accepted.h"
#include "policy/model/rule.h"

#include <stdlib.h>

#define ARENA_MAX      ((size_t)512 << 20)
#define NAME_SHOWN_MAX 200
#define NAME_BYTES_MAX 4096

/* ---- oddities */

static struct writ_view
server_of(struct writ_view name)
{
    return writ_view_sub(name, 0, writ_view_find(name, '/'));
}

static struct writ_view
tool_of(struct writ_view name)
{
    return writ_view_sub(name, writ_view_find(name, '/') + 1, SIZE_MAX);
}

static size_t
rank_of(const struct writ_config *config, struct writ_view server)
{
    size_t i = 0;

    while (i < config->upstreams_n && !writ_view_equal(config->upstreams[i].name, server)) {
        i++;
    }
    return i;
}

static int
by_skeleton(const void *a, const void *b)
{
    const struct writ_acceptance_name *left = a, *right = b;
    int order = writ_view_compare(left->skeleton, right->skeleton);

    return order != 0 ? order : (left->rank > right->rank) - (left->rank < right->rank);
}

static WRIT_RESULT
read_names(
    struct writ_acceptance *acceptance, const struct writ_config *config, struct writ_err *err)
{
    size_t n = acceptance->seen->n;

    acceptance->arena = writ_arena_new(ARENA_MAX);
    acceptance->names = acceptance->arena != NULL
                            ? writ_arena_get(acceptance->arena, (n + 1) * sizeof *acceptance->names)
                            : NULL;
    if (acceptance->names == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to compare the names of tools");
    }
    for (size_t i = 0; i < n; i++) {
        struct writ_view name = acceptance->seen->items[i].name;
        struct writ_buf skeleton = writ_buf_in(acceptance->arena, WRIT_ODDITY_SKELETON_MAX);

        writ_oddity_skeleton(&skeleton, tool_of(name));
        acceptance->names[i] = (struct writ_acceptance_name){writ_buf_view(&skeleton),
            tool_of(name), &acceptance->seen->items[i].digest, rank_of(config, server_of(name))};
    }
    qsort(acceptance->names, n, sizeof *acceptance->names, by_skeleton);
    return WRIT_DONE;
}

/* Beside the names of that look of earlier upstreams. */
static unsigned
odd_name(const struct writ_acceptance *acceptance, struct writ_view tool,
    const struct writ_digest *digest, size_t rank)
{
    writ_auto_buf text = writ_buf_make(WRIT_ODDITY_SKELETON_MAX);
    struct writ_view skeleton;
    size_t low = 0, high = acceptance->seen->n;
    unsigned odd = 0;

    writ_oddity_skeleton(&text, tool);
    skeleton = writ_buf_view(&text);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (writ_view_compare(acceptance->names[middle].skeleton, skeleton) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < acceptance->seen->n && acceptance->names[low].rank < rank &&
           writ_view_equal(acceptance->names[low].skeleton, skeleton);
         low++) {
        if (!writ_view_equal(acceptance->names[low].tool, tool)) {
            odd |= WRIT_ODD_BIT(WRIT_ODDITY_IMITATES);
        } else if (!writ_digest_equal(acceptance->names[low].digest, digest)) {
            odd |= WRIT_ODD_BIT(WRIT_ODDITY_REPEATS);
        }
    }
    return odd;
}

/* ---- life */

WRIT_RESULT
writ_acceptance_open(const struct writ_config *config, const struct writ_keyring *keys,
    struct writ_acceptance *ret, struct writ_err *err)
{
    writ_result r;

    *ret = (struct writ_acceptance){.seen = NULL};
    r = writ_definitions_load(config->files.ptr, WRIT_DEFINITIONS_SEEN, keys, &ret->seen, err);
    if (r.code == WRIT_E_ABSENT) {
        r = writ_definitions_new(&ret->seen, err);
    }
    WRIT_TRY(r);
    WRIT_TRY(read_names(ret, config, err));
    return writ_accepted_load(config, keys, NULL, &ret->accepted, err);
}

void
writ_acceptance_wipe(struct writ_acceptance *acceptance)
{
    writ_definitions_free(WRIT_TAKE(acceptance->seen));
    writ_definitions_free(WRIT_TAKE(acceptance->accepted));
    writ_arena_free(WRIT_TAKE(acceptance->arena));
    acceptance->names = NULL;
}

const char *
writ_acceptance_state(const struct writ_acceptance *acceptance, struct writ_view name)
{
    const struct writ_definition *seen = writ_definitions_find(acceptance->seen, name);
    const struct writ_definition *accepted = writ_definitions_find(acceptance->accepted, name);

    if (seen == NULL) {
        return "gone";
    }
    if (accepted == NULL) {
        return "new";
    }
    return writ_digest_equal(&seen->digest, &accepted->digest) ? "accepted" : "changed";
}

static WRIT_RESULT
parse(const struct writ_definition *definition, struct writ_arena *arena,
    const struct writ_json **ret, struct writ_err *err)
{
    struct writ_json_limits limits = writ_json_limits_default;

    if (definition == NULL || definition->text.len == 0) {
        *ret = NULL;
        return WRIT_DONE;
    }
    limits.bytes = limits.string_bytes = WRIT_DEFINITION_BYTES_MAX;
    limits.values = 1u << 20;
    return writ_json_read(definition->text, &limits, arena, ret, err);
}

unsigned
writ_acceptance_odd(const struct writ_acceptance *acceptance, const struct writ_config *config,
    struct writ_view name)
{
    const struct writ_definition *seen = writ_definitions_find(acceptance->seen, name);

    if (seen == NULL) {
        return 0;
    }
    return writ_odd_of_text(seen->text) |
           odd_name(acceptance, tool_of(name), &seen->digest, rank_of(config, server_of(name)));
}

unsigned
writ_acceptance_withheld(const struct writ_config *config, struct writ_view name, unsigned odd)
{
    return writ_odd_withheld(&config->definitions, odd,
        writ_rule_is_named(config->policy, server_of(name), tool_of(name)));
}

WRIT_RESULT
writ_acceptance_permit(const struct writ_config *config, struct writ_view name, unsigned odd,
    bool told, struct writ_err *err)
{
    unsigned refused = writ_odd_refused(&config->definitions, odd);
    unsigned withheld = writ_acceptance_withheld(config, name, odd);
    writ_auto_buf safe = writ_buf_make(NAME_BYTES_MAX);
    writ_auto_buf kinds = writ_buf_make(NAME_BYTES_MAX);

    writ_text_safe(&safe, name, NAME_SHOWN_MAX);
    writ_odd_put(&kinds, refused != 0 ? refused : withheld);
    if (refused != 0) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            WRIT_VIEW_FMT ": the definition is odd: " WRIT_VIEW_FMT
                          ". The option definitions refuses that: it cannot be accepted.",
            WRIT_VIEW_ARG(writ_buf_view(&safe)), WRIT_VIEW_ARG(writ_buf_view(&kinds)));
    }
    if (withheld != 0 && !told) {
        WRIT_FAIL(err, WRIT_E_INVALID,
            WRIT_VIEW_FMT ": the definition is odd: " WRIT_VIEW_FMT
                          ". Review it with writ tools diff; accept it with --odd.",
            WRIT_VIEW_ARG(writ_buf_view(&safe)), WRIT_VIEW_ARG(writ_buf_view(&kinds)));
    }
    return WRIT_DONE;
}

WRIT_RESULT
writ_acceptance_never_seen(struct writ_view name, struct writ_err *err)
{
    WRIT_FAIL(err, WRIT_E_ABSENT,
        WRIT_VIEW_FMT ": no such definition was seen. A running gateway notes a tool when it is "
                      "listed or called, and writes that down within two seconds: list or call "
                      "it, then run this again.",
        WRIT_VIEW_ARG(name));
}

WRIT_RESULT
writ_acceptance_difference(const struct writ_acceptance *acceptance, struct writ_view name,
    struct writ_buf *ret, size_t *ret_lines, struct writ_err *err)
{
    const struct writ_definition *seen = writ_definitions_find(acceptance->seen, name);
    const struct writ_definition *accepted = writ_definitions_find(acceptance->accepted, name);
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    const struct writ_json *before, *after;

    if (arena == NULL) {
        WRIT_FAIL(err, WRIT_E_NOMEM, "no memory to compare definitions");
    }
    if (seen == NULL && accepted == NULL) {
        return writ_acceptance_never_seen(name, err);
    }
    if (seen != NULL && accepted != NULL && writ_digest_equal(&seen->digest, &accepted->digest)) {
        *ret_lines = 0; /* also when the file no longer has the text of the accepted definition */
        return WRIT_DONE;
    }
    WRIT_TRY(parse(accepted, arena, &before, err));
    WRIT_TRY(parse(seen, arena, &after, err));
    *ret_lines = writ_difference_put(before, after, SIZE_MAX, ret); /* everything was shown */
    return WRIT_DONE;
}

WRIT_RESULT
writ_acceptance_take(struct writ_acceptance *acceptance, const struct writ_definition *seen,
    int64_t now_us, struct writ_err *err)
{
    const struct writ_definition *before = writ_definitions_find(acceptance->accepted, seen->name);
    struct writ_definition accepted = *seen;
    char now[WRIT_TIME_TEXT];
    int64_t before_us;

    if (before != NULL && writ_is_ok(writ_time_read(before->at, &before_us)) &&
        before_us >= now_us) {
        now_us = before_us + 1;
    }
    writ_time_format(now_us, now);
    accepted.at = writ_view(now, WRIT_TIME_TEXT - 1);
    return writ_definitions_put(acceptance->accepted, &accepted, err);
}
