/* The input is requests to a pool, one a line, of two agents in turn. For every one: an answer is
 * canonical, and a refused one changes nothing that the statistics show. */
#include "support/crew/crewkit.h"
#include "support/fuzz.h"

#define POOL_MAX 50

static void
check_value(struct writ_crew_value *value)
{
    struct writ_view text = writ_crew_value_text(value);
    const struct writ_crew_events events = {&text, 1};

    writ_crewkit_check(&events);
}

static void
take(void *user, struct writ_view agent_id, struct writ_view insight)
{
    const struct writ_crew_events events = {&insight, 1};

    (void)user;
    WRIT_INVARIANT(agent_id.len == 1);
    writ_crewkit_check(&events);
}

static void
run_line(struct writ_crew_pool *pool, struct writ_view agent, struct writ_view line)
{
    static const struct writ_crew_pool_reader reader = {take, NULL};
    struct writ_crew_value *before = NULL, *after = NULL, *answer = NULL;
    writ_result done;

    WRIT_INVARIANT(writ_is_ok(writ_crew_pool_statistics(pool, &before)));
    done = writ_crew_pool_request(pool, agent, line, &reader, &answer, NULL);
    WRIT_INVARIANT(writ_is_ok(writ_crew_pool_statistics(pool, &after)));
    if (writ_is_ok(done)) {
        check_value(answer);
    } else {
        WRIT_INVARIANT(writ_view_equal(writ_crew_value_text(before), writ_crew_value_text(after)));
    }
    check_value(after);
    writ_crew_value_free(before);
    writ_crew_value_free(after);
    writ_crew_value_free(answer);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct writ_view input = writ_view(data, size);
    struct writ_crew_pool *pool = writ_crew_pool_new(POOL_MAX);

    WRIT_INVARIANT(pool != NULL);
    for (size_t turn = 0; input.len > 0; turn++) {
        size_t end = writ_view_find(input, '\n');
        run_line(pool, turn % 2 == 0 ? WRIT_LIT("a") : WRIT_LIT("b"), writ_view_sub(input, 0, end));
        input = writ_view_sub(input, end + 1, input.len);
    }
    writ_crew_pool_free(pool);
    return 0;
}
