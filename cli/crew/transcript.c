/* Events of a crew in lines for people: one row per type of event gives its line. A value is cut,
 * and nothing in it acts on a terminal. */
#include "cli/crew/transcript.h"

#include "base/text.h"
#include "cli/base/cli.h"
#include "gateway/crews/event.h"

#define LINE_BYTES_MAX  ((size_t)64 << 10)
#define VALUE_BYTES_MAX ((size_t)1 << 30)

/** A piece of a line: words, and the member behind them; a member that is absent is left out with
 * its words, or replaced. */
struct piece {
    const char *words, *member; /* NULL: words alone */
    const char *absent;         /* in place of both; NULL: nothing */
};

static const struct row {
    const char *type;
    struct piece first, second;
} rows[] = {
    {"crew.started", {"crew ", "crewId", NULL}, {" is given ", "rootInput", NULL}},
    {"role.entered", {"role ", "roleId", NULL}, {NULL, NULL, NULL}},
    {"agent.step.requested", {"  ", "agentId", NULL}, {" is asked", NULL, NULL}},
    {"fixer.invoked", {"  ", "agentId", NULL}, {" is to fix: ", "reason", NULL}},
    {"permission.denied", {"  denied: ", "from", NULL}, {" to ", "to", NULL}},
    {"vote.resolved", {"  vote, ", "mode", NULL}, {": ", "resolved", ": no value"}},
    {"checkpoint.taken", {"  checkpoint ", "checkpointId", NULL}, {NULL, NULL, NULL}},
    {"memex.command.emitted", {"  ", "agentId", NULL}, {" remembers ", "command", NULL}},
    {"nested.crew.started", {"  ", "agentId", NULL}, {" begins the crew ", "nestedName", NULL}},
    {"nested.crew.completed", {"  ", "agentId", NULL}, {" ends its crew: ", "output", NULL}},
    {"dispatch.started", {"who does it, among ", "candidates", NULL}, {" by ", "engine", NULL}},
    {"dispatch.ballot", {"  ballot of ", "agentId", NULL}, {": ", "ranking", NULL}},
    {"dispatch.ballot.unreadable", {"  ballot of ", "agentId", NULL},
        {" cannot be read", NULL, NULL}},
    {"dispatch.ballot.missing", {"  ballot of ", "agentId", NULL}, {" is missing", NULL, NULL}},
    {"dispatch.elected", {"  elected: ", "agentId", NULL}, {" by ", "engine", ", by the task"}},
    {"dispatch.failed", {"  no agent is elected: ", "why", NULL}, {NULL, NULL, NULL}},
    {"pool.answered", {"  ", "agentId", NULL}, {" uses the pool: ", "request", NULL}},
    {"pool.insight", {"  ", "agentId", NULL}, {" learns ", "insight", NULL}},
    {"agent.action.resolved", {"  ", "agentId", NULL},
        {" requests an action, allowed: ", "allowed", NULL}},
    {"agent.message", {"  ", "agentId", NULL}, {" gets a message: ", "message", NULL}},
    {"crew.aborted", {"aborted: ", "reason", NULL}, {NULL, NULL, NULL}},
    {"crew.completed", {"completed", NULL, NULL}, {": ", "finalOutput", " without a value"}},
};

static void
put_piece(struct writ_buf *line, const struct writ_json *event, const struct piece *piece)
{
    writ_auto_buf value = writ_buf_make(VALUE_BYTES_MAX);
    struct writ_view text = {NULL, 0};

    if (piece->member != NULL) {
        text = writ_event_json(event, piece->member, &value);
        if (text.ptr == NULL) {
            writ_buf_str(line, piece->absent != NULL ? piece->absent : "");
            return;
        }
    }
    writ_buf_str(line, piece->words != NULL ? piece->words : "");
    writ_text_safe(line, text, WRIT_TRANSCRIPT_SHOWN);
    if (text.len > WRIT_TRANSCRIPT_SHOWN) {
        writ_buf_fmt(line, "... (%zu bytes)", text.len);
    }
}

static void
say(struct writ_buf *line)
{
    writ_buf_byte(line, '\n');
    writ_cli_put(writ_buf_view(line));
}

/* Begins a line with the name of an agent. */
static void
put_agent(struct writ_buf *line, struct writ_view agent)
{
    writ_buf_str(line, "  ");
    writ_text_json_safe(line, agent, WRIT_TRANSCRIPT_SHOWN);
}

void
writ_transcript_event(const struct writ_json *event)
{
    writ_auto_buf line = writ_buf_make(LINE_BYTES_MAX);

    for (size_t at = 0; at < sizeof rows / sizeof rows[0]; at++) {
        if (writ_event_is(event, rows[at].type)) {
            put_piece(&line, event, &rows[at].first);
            put_piece(&line, event, &rows[at].second);
            say(&line);
        }
    }
}

void
writ_transcript_answer(struct writ_view agent, const struct writ_json *answer)
{
    static const struct piece output = {" answers ", "output", " answers without output"};
    static const struct piece failure = {" fails: ", "error", " fails"};
    writ_auto_buf line = writ_buf_make(LINE_BYTES_MAX);

    put_agent(&line, agent);
    put_piece(&line, answer, writ_event_is(answer, "agent.step.completed") ? &output : &failure);
    if (writ_json_is_true(answer, WRIT_LIT("fault"))) {
        writ_buf_str(&line, ", at fault");
    }
    if (writ_json_is_true(answer, WRIT_LIT("stalled"))) {
        writ_buf_str(&line, ", stalled");
    }
    say(&line);
}

void
writ_transcript_failed(struct writ_view agent, const char *why)
{
    writ_auto_buf line = writ_buf_make(LINE_BYTES_MAX);

    put_agent(&line, agent);
    writ_buf_str(&line, " fails: ");
    writ_text_safe(&line, writ_view_str(why), WRIT_TRANSCRIPT_SHOWN);
    say(&line);
}
