/* command.tbl.h - `writ crew ...`, a part of cli/commands/command.tbl.h. */
/* clang-format off */

/* options of every command on crews */
#define CREW_ENGINES(id)                                                                           \
    VALUE(id, "engines", "DIR", "Voting engines from the shared objects of this folder.")
#define CREW_FILES(id)                                                                             \
    VALUE(id, "registry", "DIR", "Shapes that may be nested: KEY.json in this folder.")            \
    CREW_ENGINES(id)

COMMAND(crew_check, "crew check", "SHAPE [AGENTS]", 1, 2, "check a crew",
    "Prints every error and warning about a shape, and whether its graph can be built. "
    "Exit 1 when it cannot.")
CREW_FILES(crew_check)

COMMAND(crew_graph, "crew graph", "SHAPE [AGENTS]", 1, 2, "draw a crew",
    "Prints roles, permissions and nesting as a graph for Graphviz: writ crew graph --dot SHAPE | "
    "dot -Tsvg.")
FLAG(crew_graph, "dot", "Write the graph in the language of Graphviz, the only form.")
CREW_FILES(crew_graph)

COMMAND(crew_run, "crew run", "SHAPE [AGENTS]", 1, 2, "run a crew",
    "Runs a crew whose agents are processes, or a script of their answers, and prints the events. "
    "docs/crew.md has the lines that a worker reads and writes. SIGINT, SIGTERM and SIGHUP cancel the "
    "crew and end its workers; a second one kills them. Exit 0 when the crew completed with a "
    "value, 1 when it completed without one or was cancelled.")
REQUIRED(crew_run, "agents", "CMD|SCRIPT",
    "The agents: a command for sh -c, started once for each agent; or a file *.json "
    "with answers.")
FLAG(crew_run, "shared", "Start the command once, for all agents together.")
VALUE(crew_run, "input", "JSON", "The input of the first role; @FILE reads it from a file.")
VALUE(crew_run, "task", "JSON", "The task of the crew, for its log; @FILE reads it from a file.")
VALUE(crew_run, "log", "FILE",
    "Write the log of the session to this file, which must not exist: for crew replay.")
VALUE(crew_run, "timeout", "MS",
    "Time limit of an agent whose role sets none; 600000 by default.")
VALUE(crew_run, "id", "ID", "The id of the crew in its events; run by default.")
CREW_FILES(crew_run)

COMMAND(crew_replay, "crew replay", "LOG", 1, 1, "replay the log of a crew",
    "Computes the session again from the inputs in its log, and compares every line. Exit 0 when "
    "all are identical; 1 when one differs, with its place, or when the log ends before the session does.")
CREW_ENGINES(crew_replay)

COMMAND(crew_vote, "crew vote", "ENGINE BALLOTS", 2, 2, "count votes",
    "Counts the file BALLOTS (- for standard input) and explains the result. ENGINE is a mode of "
    "voting: first_valid, majority, unanimous, weighted_consensus, best_of_n, review, borda, or "
    "engine:NAME. BALLOTS is a list of votes {agentId, roleId, output, fault, stalled}, or an "
    "object {votes, voting, electorate} whose voting has the parameters of the mode. For "
    "{candidates, rankings: {voter: [name, ...]}} ENGINE is majority, borda or the name of an "
    "engine. Exit 1 without a result.")
CREW_ENGINES(crew_vote)

#undef CREW_FILES
#undef CREW_ENGINES
