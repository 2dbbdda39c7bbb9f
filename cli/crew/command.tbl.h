/* command.tbl.h - `writ crew ...`, a part of cli/commands/command.tbl.h. */
/* clang-format off */

/* options of every command on crews */
#define CREW_ENGINES(id)                                                                           \
    VALUE(id, "engines", "DIR", "Voting engines from the shared objects of this folder.")          \
    VALUE(id, "engine-seconds", "SECONDS",                                                         \
        "Time limit of one count of such an engine, 1 to 86400; default: 10.")
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

/* options of every command that runs one */
#define CREW_AGENTS(id)                                                                            \
    REQUIRED(id, "agents", "CMD|SCRIPT",                                                           \
        "The agents: a command for sh -c, started once for each agent; or a file *.json "          \
        "with answers.")                                                                           \
    FLAG(id, "shared", "Start the command once, for all agents together.")                         \
    VALUE(id, "hooks", "FILE", "Commands and URLs by the names of the shape's hooks.")             \
    VALUE(id, "limit", "MS", "Time limit of the whole crew from now on; then it is aborted.")
#define CREW_BEGIN(id)                                                                             \
    VALUE(id, "input", "JSON", "The input of the first role; @FILE reads it from a file.")         \
    VALUE(id, "log", "FILE",                                                                       \
        "Write the log of the session to this file, which must not exist: for crew replay and "    \
        "resume.")                                                                                 \
    VALUE(id, "timeout", "MS",                                                                     \
        "Time limit of an agent whose role sets none; 600000 by default.")                         \
    VALUE(id, "id", "ID", "The id of the crew in its events; run by default.")                     \
    VALUE(id, "pool", "N", "Insights that the shared pool holds; 10000 by default.")               \
    FLAG(id, "checkpoints", "Take a checkpoint after each phase.")                                 \
    CREW_FILES(id)

COMMAND(crew_run, "crew run", "SHAPE [AGENTS]", 1, 2, "run a crew",
    "Runs a crew whose agents are processes, or a script of their answers, and prints the events. "
    "docs/crew.md has the lines that a worker reads and writes. SIGINT, SIGTERM and SIGHUP cancel the "
    "crew and end its workers; a second one kills them. Exit 0 when the crew completed with a "
    "value, 1 when it completed without one or was cancelled.")
CREW_AGENTS(crew_run)
VALUE(crew_run, "task", "TASK",
    "The task of the crew: a JSON value, or plain text; @FILE reads it from a file.")
CREW_BEGIN(crew_run)

COMMAND(crew_dispatch, "crew dispatch", "TASK", 1, 1, "let the agents choose who does a task",
    "Asks all agents of a shape in parallel who should do the task, elects one of them by their "
    "rankings, and gives it the task. TASK is a JSON value, or plain text; @FILE reads it from a "
    "file. An object may name its handler, which is not put to the vote; a list has one task after "
    "the other. Half of the agents must give a ranking that can be read. Options, exit codes and "
    "the log are those of crew run; crew ballots shows the rankings.")
REQUIRED(crew_dispatch, "shape", "SHAPE", "The crew: each role has one agent.")
VALUE(crew_dispatch, "engine", "ENGINE",
    "Who elects: majority, borda, first_valid, unanimous, weighted_consensus, or a plug-in; as the "
    "shape says by default, else majority.")
CREW_AGENTS(crew_dispatch)
CREW_BEGIN(crew_dispatch)

COMMAND(crew_resume, "crew resume", "LOG", 1, 1, "continue a crew from its log",
    "Continues a crew whose program was killed, from its log: computes the session again, asks the "
    "agents without an answer again, and runs the crew to its end in the same log. With --from it "
    "continues from a checkpoint, in a new log. Exit codes are those of crew run.")
CREW_AGENTS(crew_resume)
VALUE(crew_resume, "pending", "POLICY",
    "Steps without an answer: ask (the default), fail, or refuse to continue.")
VALUE(crew_resume, "from", "CHECKPOINT", "Continue from this checkpoint of the log.")
VALUE(crew_resume, "log", "FILE", "The new log, with --from.")
CREW_ENGINES(crew_resume)

COMMAND(crew_checkpoints, "crew checkpoints", "LOG", 1, 1, "list the checkpoints of a log",
    "Prints the ids of the checkpoints in the log of a crew, in their order, with their times.")
CREW_ENGINES(crew_checkpoints)

COMMAND(crew_snapshot, "crew snapshot", "LOG", 1, 1, "print the state of a crew",
    "Prints the snapshot of a crew as JSON, at the end of its log or at a checkpoint: with it a "
    "program that uses the library resumes the crew.")
VALUE(crew_snapshot, "at", "CHECKPOINT", "The state after the input that took this checkpoint.")
CREW_ENGINES(crew_snapshot)

COMMAND(crew_ballots, "crew ballots", "LOG", 1, 1, "show the elections of a crew as a table",
    "Prints who ranked whom in each election of the log, who was elected, by which engine, and why. "
    "It reads the lines as they are: crew replay checks them.")

COMMAND(crew_replay, "crew replay", "LOG", 1, 1, "replay the log of a crew",
    "Computes the session again from the inputs in its log, and compares every line. Exit 0 when "
    "all are identical; 1 when one differs, with its place, or when the log ends before the session does.")
CREW_ENGINES(crew_replay)

COMMAND(crew_vote, "crew vote", "ENGINE BALLOTS", 2, 2, "count votes",
    "Counts the file BALLOTS (- for standard input) and explains the result. ENGINE is a mode of "
    "voting: first_valid, majority, unanimous, weighted_consensus, best_of_n, review, borda, or "
    "the name of a plug-in. BALLOTS is a list of votes {agentId, roleId, output, fault, stalled}, or an "
    "object {votes, voting, electorate} whose voting has the parameters of the mode. For "
    "{candidates, rankings: {voter: [name, ...]}} ENGINE is majority, borda, first_valid, unanimous, "
    "weighted_consensus or the name of a plug-in. Exit 1 without a result.")
CREW_ENGINES(crew_vote)

#undef CREW_BEGIN
#undef CREW_AGENTS
#undef CREW_FILES
#undef CREW_ENGINES
