/* An untrusted configuration, a refused call, and another call, between lines of `---`.
 *
 * For every input: the edits end. Each step is a configuration or ends them. When they let the call
 * pass, the other one passes if it did before, also for another agent; and without a rule for the
 * tool before, the call with one member more does not pass. */
#include "policy/read/repair.h"

#include "policy/read/load.h"
#include "support/fuzz.h"

#define ARENA_MAX ((size_t)64 << 20)
#define TEXT_MAX  ((size_t)1 << 20)
#define INPUT_MAX 16384
#define STEPS_MAX 64

static struct writ_arena *arena;

static const struct writ_agent dev = {.id = {"dev", 3}, .role = {"operator", 8}};
static const struct writ_agent other = {.id = {"eve", 3}, .role = {"admin", 5}};

static struct writ_policy_call
call_of(const struct writ_agent *agent, const struct writ_json *arguments)
{
    return (struct writ_policy_call){agent, WRIT_LIT("u"), WRIT_LIT("t"), arguments};
}

static bool
passes(const struct writ_config *config, const struct writ_policy_call *call)
{
    struct writ_verdict verdict;

    writ_policy_decide(config, call, arena, &verdict);
    return verdict.answer == WRIT_POLICY_ALLOW;
}

static struct writ_config *
config_of(struct writ_view text)
{
    struct writ_config *config = NULL;

    (void)writ_is_ok(writ_load_text(text, "fuzz", NULL, &config, NULL));
    return config;
}

static void
config_freep(struct writ_config **config)
{
    writ_config_drop(*config);
}

/* The edited text when the call passes; ptr NULL when no edit lets it. */
static struct writ_view
repaired(const struct writ_policy_call *call, struct writ_view text)
{
    for (size_t i = 0; i < STEPS_MAX; i++) {
        WRIT_AUTO(struct writ_config *, config_freep) config = config_of(text);
        struct writ_buf next = writ_buf_in(arena, TEXT_MAX);
        bool allowed = false;

        if (config == NULL || !writ_is_ok(writ_repair_step(
                                  config, call, config->file, text, arena, &allowed, &next))) {
            break;
        }
        if (allowed) {
            return text;
        }
        text = writ_buf_view(&next);
    }
    return writ_view(NULL, 0);
}

/* The part before the next line of `---`. */
static struct writ_view
take_part(struct writ_view *rest)
{
    size_t end = writ_view_search(*rest, WRIT_LIT("\n---\n"));
    struct writ_view part = writ_view_sub(*rest, 0, end);

    *rest = writ_view_sub(*rest, end + 5, rest->len);
    return part;
}

static const struct writ_json *
arguments_of(struct writ_view text)
{
    const struct writ_json *value = NULL;

    if (!writ_is_ok(writ_json_read(text, &writ_json_limits_default, arena, &value, NULL)) ||
        writ_json_type(value) != WRIT_JSON_OBJECT) {
        return NULL;
    }
    return value;
}

static void
check(struct writ_view text, const struct writ_json *refused, const struct writ_json *another)
{
    WRIT_AUTO(struct writ_config *, config_freep) before = config_of(text);
    WRIT_AUTO(struct writ_config *, config_freep) after = NULL;
    struct writ_policy_call call = call_of(&dev, refused);
    const struct writ_policy_call others[] = {
        call_of(&dev, another), call_of(&other, another), call_of(&other, refused)};
    struct writ_view edited;

    if (before == NULL || passes(before, &call)) {
        return;
    }
    edited = repaired(&call, text);
    if (edited.ptr == NULL) {
        return;
    }
    after = config_of(edited);
    WRIT_INVARIANT(after != NULL && passes(after, &call));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        WRIT_INVARIANT(!passes(before, &others[i]) || passes(after, &others[i]));
    }
    if (writ_rule_entry(before->policy, WRIT_LIT("u"), WRIT_LIT("t")) == NULL) {
        WRIT_INVARIANT(!passes(after, &others[2]));
        WRIT_INVARIANT(another->count == refused->count ||
                       writ_json_type(another) != WRIT_JSON_OBJECT || !passes(after, &others[0]));
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_view rest = writ_view(data, size), text = take_part(&rest);
    const struct writ_json *refused, *another;

    if (arena == NULL) {
        arena = writ_arena_new(ARENA_MAX);
        WRIT_INVARIANT(arena != NULL);
    }
    writ_arena_reset(arena);
    if (size > INPUT_MAX || writ_view_find(text, '\0') < text.len) {
        return 0;
    }
    refused = arguments_of(take_part(&rest));
    another = arguments_of(rest);
    if (refused != NULL && another != NULL) {
        check(text, refused, another);
    }
    return 0;
}
