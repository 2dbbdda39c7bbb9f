/* repeats.c - warns once for each tool whose rule and definition disagree about repetition.
 *
 * A catalog is checked when it changed, and all of them under a new generation. Reported tools are
 * remembered by name, so that a list that changes does not report them again. */
#include "gateway/call/repeats.h"

#include "gateway/upstream/upstream.h"
#include "policy/decide/approval.h"
#include "policy/model/rule.h"

void
writ_repeats_wipe(struct writ_repeats *repeats)
{
    writ_definitions_free(repeats->told);
    *repeats = (struct writ_repeats){.generation = NULL};
}

/* False when it was reported before, or cannot be remembered. */
static bool
is_first(struct writ_view upstream, struct writ_view tool, struct writ_repeats *repeats)
{
    writ_auto_buf name = writ_buf_make(upstream.len + tool.len + 1);
    struct writ_definition told = {.at = WRIT_LIT(""), .text = WRIT_LIT("")};

    writ_buf_put(&name, upstream);
    writ_buf_byte(&name, '/');
    writ_buf_put(&name, tool);
    told.name = writ_buf_view(&name);
    return writ_is_ok(writ_buf_check(&name, NULL)) &&
           writ_definitions_find(repeats->told, told.name) == NULL &&
           writ_is_ok(writ_definitions_put(repeats->told, &told, NULL));
}

static void
tell_upstream(const struct writ_gateway *gateway, const struct writ_generation *generation,
    size_t index, struct writ_repeats *repeats)
{
    struct writ_upstream *upstream = gateway->upstreams[index];
    struct writ_view name = writ_upstream_config(upstream)->name;
    struct writ_catalog *catalog =
        writ_catalog_snapshot_hold(writ_upstream_snapshot(upstream), &repeats->versions[index]);

    for (size_t i = 0; catalog != NULL && i < catalog->n; i++) {
        const struct writ_catalog_tool *tool = &catalog->tools[i];
        if ((tool->hints & WRIT_HINT_READ_ONLY) != 0 &&
            writ_rule_doubts_reads(generation->config->policy, name, tool->name) &&
            is_first(name, tool->name, repeats)) {
            WRIT_LOG(gateway->log, WRIT_EVENT_REPEATS_REFUSED, writ_log_text("upstream", name),
                writ_log_text("tool", tool->name),
                writ_log_str("why",
                    "the tool says readOnlyHint: true, but is not pinned, so an identical call "
                    "is refused. Pin the tool, or set duplicates in its rule"));
        }
    }
    writ_catalog_drop(catalog);
}

void
writ_repeats_tell(const struct writ_gateway *gateway, const struct writ_generation *generation,
    struct writ_repeats *repeats)
{
    if (repeats->generation != generation) {
        writ_repeats_wipe(repeats);
        if (!writ_is_ok(writ_definitions_new(&repeats->told, NULL))) {
            return; /* tried again */
        }
        repeats->generation = generation;
    }
    for (size_t i = 0; i < gateway->upstreams_n; i++) {
        if (writ_catalog_snapshot_version(writ_upstream_snapshot(gateway->upstreams[i])) !=
            repeats->versions[i]) {
            tell_upstream(gateway, generation, i, repeats);
        }
    }
}
