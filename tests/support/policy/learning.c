/* Learned rules go into a configuration as `writ policy learn` writes them. */
#include "support/policy/learning.h"

#include "support/evidence/value.h"
#include "support/unit.h"

#define TEXT_MAX (8 << 20)

const char writ_learning_empty[] =
    "listen: 127.0.0.1:1\nissuer: https://gateway.example.com\nkeys: k\nstore: sqlite://l\n"
    "upstreams: {s: {http: \"http://127.0.0.1:9/mcp\"}}\n"
    "tools: {}\n";

void
writ_learning_add(struct writ_learn *learn, const char *arguments, size_t run)
{
    static size_t number;
    writ_auto_arena arena = writ_value_arena();
    char run_text[32], decision[32];
    struct writ_buf run_buf = writ_buf_over(run_text, sizeof run_text);
    struct writ_buf decision_buf = writ_buf_over(decision, sizeof decision);
    struct writ_learn_call call = {.upstream = WRIT_LIT("s"),
        .tool = WRIT_LIT("t"),
        .rule = WRIT_LIT(""),
        .agent = WRIT_LIT("dev"),
        .arguments = writ_value_of(arena, writ_view_str(arguments))};

    writ_buf_fmt(&run_buf, "run %zu", run);
    writ_buf_fmt(&decision_buf, "decision %zu", ++number);
    call.run = run > 0 ? writ_buf_view(&run_buf) : WRIT_LIT("");
    call.decision = writ_buf_view(&decision_buf);
    ck_assert_ok(writ_learn_add(learn, &call, NULL));
}

struct writ_learned
writ_learning_propose(const struct writ_learn *learn, uint64_t least, struct writ_arena *arena)
{
    struct writ_learned learned;

    ck_assert_ptr_nonnull(writ_learn_tools(learn));
    ck_assert_ok(writ_learn_propose(
        learn, writ_learn_tools(learn), least, WRIT_LEARN_PER_MILLE, arena, &learned, NULL));
    return learned;
}

const char *
writ_learning_yaml(
    const struct writ_learn *learn, const struct writ_learned *learned, struct writ_arena *arena)
{
    struct writ_apply_change change = {.tool = writ_learn_tools(learn), .learned = learned};
    struct writ_buf text = writ_buf_in(arena, TEXT_MAX);

    ck_assert_ok(writ_apply_put(writ_view_str(writ_learning_empty), &change, &text));
    writ_buf_byte(&text, '\0');
    ck_assert_ok(writ_buf_check(&text, NULL));
    return text.ptr;
}

const struct writ_learned_argument *
writ_learning_argument(const struct writ_learned *learned, const char *pointer)
{
    const struct writ_learned_argument *argument = learned->arguments;

    while (argument != NULL && !writ_view_is(argument->pointer, pointer)) {
        argument = argument->next;
    }
    ck_assert_msg(argument != NULL, "nothing is said about %s", pointer);
    return argument;
}
