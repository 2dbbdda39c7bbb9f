/* Whatever calls are learned from (one JSON value a line), the proposal is written into a
 * configuration that is read without a fault, it is the same each time, and it allows every one of
 * the calls that a rule without bounds would allow. */
#include "policy/decide/policy.h"
#include "policy/learn/apply.h"
#include "policy/read/load.h"
#include "support/fuzz.h"

#define INPUT_MAX 65536
#define ARENA_MAX ((size_t)512 << 20)
#define TEXT_MAX  (16 << 20)
#define LINES_MAX 64

static const char empty[] =
    "listen: 127.0.0.1:1\nissuer: https://gateway.example.com\nkeys: k\nstore: sqlite://l\n"
    "upstreams: {s: {http: \"http://127.0.0.1:9/mcp\"}}\n"
    "tools:\n  s/any: {scope: any, arguments: [{arg: \"\", op: type, value: any}]}\n";

struct calls {
    const struct writ_json *items[LINES_MAX];
    size_t n;
};

/* The objects among the lines; a call must be allowed by a rule without bounds. */
static void
read_calls(struct writ_view input, const struct writ_config *config, struct writ_arena *arena,
    struct calls *ret)
{
    static const struct writ_agent agent = {.id = {"dev", 3}};

    while (input.len > 0 && ret->n < LINES_MAX) {
        size_t end = writ_view_find(input, '\n');
        const struct writ_json *value;
        struct writ_policy_call call = {&agent, WRIT_LIT("s"), WRIT_LIT("any"), NULL};
        struct writ_verdict verdict;

        if (writ_is_ok(writ_json_read(
                writ_view_sub(input, 0, end), &writ_json_limits_default, arena, &value, NULL))) {
            call.arguments = value;
            writ_policy_decide(config, &call, arena, &verdict);
            if (verdict.answer == WRIT_POLICY_ALLOW) {
                ret->items[ret->n++] = value;
            }
        }
        input = writ_view_sub(input, end + 1, input.len);
    }
}

/* Learns, and gives the text of the configuration. */
static struct writ_view
learned(const struct calls *calls, uint64_t least, struct writ_arena *arena)
{
    struct writ_learn *learn = NULL;
    struct writ_learned proposal;
    struct writ_apply_change change = {.learned = &proposal};
    struct writ_buf text = writ_buf_in(arena, TEXT_MAX);

    WRIT_INVARIANT(writ_is_ok(writ_learn_new(&learn, NULL)));
    for (size_t round = 0; round < 2; round++) { /* twice, so that some steps have witnesses */
        for (size_t i = 0; i < calls->n; i++) {
            char run = (char)('0' + i % 7 + round);
            struct writ_learn_call call = {.upstream = WRIT_LIT("s"),
                .tool = WRIT_LIT("t"),
                .rule = WRIT_LIT(""),
                .agent = WRIT_LIT("dev"),
                .run = writ_view(&run, 1),
                .decision = WRIT_LIT("d"),
                .arguments = calls->items[i]};
            WRIT_INVARIANT(writ_is_ok(writ_learn_add(learn, &call, NULL)));
        }
    }
    change.tool = writ_learn_tools(learn);
    WRIT_INVARIANT(writ_is_ok(writ_learn_propose(
        learn, change.tool, least, WRIT_LEARN_PER_MILLE, arena, &proposal, NULL)));
    WRIT_INVARIANT(writ_is_ok(writ_apply_put(writ_view_str(empty), &change, &text)));
    writ_learn_free(learn);
    return writ_buf_view(&text);
}

static void
check(const struct calls *calls, uint64_t least, struct writ_arena *arena)
{
    static const struct writ_agent agent = {.id = {"dev", 3}};
    struct writ_view text = learned(calls, least, arena);
    struct writ_config *config = NULL;

    WRIT_INVARIANT(writ_view_equal(text, learned(calls, least, arena)));
    WRIT_INVARIANT(writ_is_ok(writ_load_text(text, "fuzz", NULL, &config, NULL)));
    for (size_t i = 0; i < calls->n; i++) {
        struct writ_policy_call call = {&agent, WRIT_LIT("s"), WRIT_LIT("t"), calls->items[i]};
        struct writ_verdict verdict;

        writ_policy_decide(config, &call, arena, &verdict);
        WRIT_INVARIANT(verdict.answer == WRIT_POLICY_ALLOW);
    }
    writ_config_drop(config);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    writ_auto_arena arena = writ_arena_new(ARENA_MAX);
    struct writ_config *config = NULL;
    struct calls calls = {.n = 0};

    if (size > INPUT_MAX) {
        return 0;
    }
    WRIT_INVARIANT(arena != NULL);
    WRIT_INVARIANT(writ_is_ok(writ_load_text(writ_view_str(empty), "fuzz", NULL, &config, NULL)));
    read_calls(writ_view(data, size), config, arena, &calls);
    if (calls.n > 0) {
        check(&calls, 1, arena);
        check(&calls, 1000, arena);
    }
    writ_config_drop(config);
    return 0;
}
