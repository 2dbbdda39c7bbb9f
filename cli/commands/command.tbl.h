/* command.tbl.h - every command of `writ` and its options: dispatch, option parsing, --help and the
 * manual page docs/writ.1 are made from this table. In the order of the help. The tables of
 * cli/crew and cli/vectors (`writ-vectors`, docs/writ-vectors.1) have the same rows.
 *
 * COMMAND(id, "words", "OPERANDS", least, most, "summary", "text")
 * id        writ_command_<id> runs it, in <first word>.c beside the table
 * words     one or two words, as typed
 * OPERANDS  the operands in help; least..most of them are accepted
 * summary   a few words, no full stop
 * text      whole sentences; "" when the summary is enough
 * FLAG(id, "name", "sentence")                 an option without a value
 * VALUE(id, "name", "ARG", "sentence")         at most once
 * REQUIRED(id, "name", "ARG", "sentence")      exactly once
 *
 * --json and --help are options of every command and not in this table. */
/* clang-format off */

#include "cli/base/command.tbl.h"

#define WITH_ARCHIVE(id)                                                                           \
    VALUE(id, "archive", "DIR",                                                                    \
        "The archive of the ledger: reads its records in place of those that were removed (ledger archive --before).")

COMMAND(init, "init", "[URL...] [-- CMD...]", 0, 256, "write a first configuration for tool servers",
    "Asks each server for its tools and writes writ.yaml with a rule for each: constraints from its schema, its annotations "
    "and its names, each with a comment that says why. Also makes keys, a ledger, a token for the agent and one for you, who "
    "approve calls. A server is a URL, or NAME=URL, or one command after all URLs. What names a path, a URL, a host or an "
    "amount of money gets a placeholder, which writ check wants replaced; what deletes, sends, pays or runs commands "
    "needs an approval. Prints what is left to do, and the block for the client with the agent's token. Overwrites nothing. "
    "With --from the servers are those of a client's own file, and with --client or --from and no servers a configuration "
    "that is there is used as it is, so that its client can be written later.")
VALUE(init, "from", "FILE",
    "Take all servers of this file of an MCP client, with their variables and secrets; --apply leads them to Writ.")
VALUE(init, "skip", "NAMES", "Servers of --from to leave as they are, such as notes,web.")
VALUE(init, "token-file", "FILE",
    "File with the secret that the one URL needs; of several NAME=FILE,NAME=FILE. Other users must not be able to read it.")
VALUE(init, "token-header", "NAME", "Header of that secret; by default Authorization, with Bearer before it.")
VALUE(init, "client", "NAME",
    "Show the block as this client reads it: claude-desktop, claude-code, vscode, cursor, windsurf, cline, zed or gemini-cli.")
VALUE(init, "file", "FILE", "The client's file, if it is not the user's own one that its documentation names.")
FLAG(init, "apply",
    "Write the block into the client's file, with a backup beside it; the file then has mode 0600. Other members, comments and "
    "their order stay.")
FLAG(init, "undo",
    "Take back what --apply wrote: the file of before, or if it changed since, Writ's entries alone. Exit 1 when there is "
    "nothing to undo.")
FLAG(init, "socket",
    "Listen on a Unix socket in place of a port; the client starts writ wrap for each server, which starts the gateway.")
VALUE(init, "out", "FOLDER", "Folder of all files, made if absent; or a file that ends in .yaml. By default the current folder.")
VALUE(init, "name", "NAME", "Name of the one server in the configuration; by default from its URL or command.")
VALUE(init, "agent", "ID", "Id of the agent that calls the tools; agent by default.")
VALUE(init, "inherit", "NAMES", "Environment variables that the command needs, such as API_KEY,REGION.")
VALUE(init, "port", "N", "Port of the gateway on 127.0.0.1; by default the first of 8700, 8710, ... that is free. The admin listener has the next one.")

COMMAND(serve, "serve", "CONFIG", 1, 1, "run the gateway",
    "Serves by the configuration file until SIGTERM or SIGINT. SIGHUP reads the file again: "
    "policy, agents and keys change at once for new calls; a bad file changes nothing and is logged. "
    "The ledger must exist (writ ledger init) and the key directory must hold an "
    "active key (writ keys new).")
VALUE(serve, "idle", "SECONDS",
    "End when no connection is open, no call under way and no review open for so long. Without it the gateway "
    "serves until a signal ends it.")
COMMAND(wrap, "wrap", "[URL... | -- COMMAND...]", 0, 256,
    "speak MCP on standard input and output, through the gateway",
    "For clients that start their servers: put it before the server's own command, or URL. It carries messages between "
    "standard input and output and the gateway of a configuration that listens on a Unix socket, and starts that "
    "gateway when it is not there. Policy, ledger, credentials and reviews are the gateway's; several wraps share "
    "one. Standard output carries MCP alone; everything else goes to standard error. A COMMAND that differs from the "
    "one of the configuration is refused. Without --config the configuration is ~/.config/writ/writ.yaml, made at "
    "first use; for a server that is new, rules are proposed in servers/NAME.yaml beside it, and every call is refused "
    "until you agree.")
VALUE(wrap, "config", "FILE", "The gateway's configuration; its listen is unix: and a path.")
VALUE(wrap, "name", "NAME",
    "The upstream of the configuration; by default its only one, or without --config a name made of the command.")
VALUE(wrap, "agree", "NAME",
    "Run nothing: check the rules of servers/NAME.yaml, set agreed: true in it, and have the gateway read it.")
FLAG(wrap, "scan",
    "Run nothing: list what the servers of the command line, of --config or of --client-config offer and what is odd "
    "about it, as tools scan does.")
VALUE(wrap, "client-config", "FILE", "With --scan: ask the servers of this file of an MCP client.")
VALUE(wrap, "token", "FILE",
    "File with the bearer token of the agent. Without it the client is the anonymous agent, or without --config the "
    "agent of the configuration made at first use.")
VALUE(wrap, "idle", "SECONDS",
    "A gateway that is started here ends when it is unused for so long; 600 by default.")

COMMAND(json_canon, "json canon", "[FILE]", 0, 1, "print the canonical form of a JSON text",
    "Reads one JSON text strictly from FILE, or from standard input without FILE or with -, and "
    "prints its canonical form (RFC 8785). A pipe or file gets exactly the canonical bytes; a "
    "terminal gets a line end after them. Duplicate member names, invalid UTF-8, lone surrogates, "
    "integers from 2^53 on that a double would change, numbers that it would change into 0, and bytes "
    "after the value are refused with the byte offset. Any other number is written as the double "
    "nearest to it, as RFC 8785 requires (99.99999999999999999999 as 100). In the arguments of a call "
    "such a number is refused: number_not_exact.")
COMMAND(json_digest, "json digest", "[FILE]", 0, 1, "print the digest of a JSON text",
    "Reads as json canon does and prints sha256: and the SHA-256 of the canonical form in "
    "hexadecimal, the digest that records and credentials carry.")

COMMAND(check, "check", "[CONFIG]", 0, 1, "validate a configuration file",
    "Reads CONFIG as the gateway would and prints every error and warning, "
    "one line each: file:line: /json/pointer: message. It opens no file that CONFIG names. "
    "Exit 0 means that the gateway would accept it (possibly with warnings), 1 that it would not.")
FLAG(check, "schema", "Print the JSON Schema of the configuration file (config/writ.schema.json).")
FLAG(check, "manual", "Print the list of all options (docs/configuration.md).")
FLAG(check, "tools",
    "Start or connect to every server of CONFIG, list its tools, and hold the rules against their definitions. "
    "Notes do not change the exit code.")

COMMAND(doctor, "doctor", "[CONFIG]", 0, 1, "look for what is wrong with a gateway",
    "Looks at the configuration, its files and their modes, keys, certificates, ledger, clock, disk, addresses, servers, "
    "issuers and limits, whether the gateway runs or not, and names each finding with its place and what to do. CONFIG is "
    "writ.yaml of the current folder by default. It starts the programs of servers over stdio to ask for their tools, and "
    "changes nothing. Run it as the user of the gateway. Exit 0 when nothing was found, else 1. docs/doctor.md has every finding.")
VALUE(doctor, "days", "N", "How far ahead disk and certificates must last; 30 by default.")
VALUE(doctor, "url", "URL", "The admin listener of the running gateway; by default admin_listen of CONFIG.")
VALUE(doctor, "ca", "FILE", "PEM file of the authorities of that listener's certificate.")

COMMAND(top, "top", "URL", 1, 1, "watch a running gateway in a terminal",
    "URL is that of the admin listener. Shows calls and refusals per second by tool and reason, latencies, servers, reviews "
    "and stops, again and again until q is pressed. When standard output is not a terminal it prints one table, with the rates "
    "of one interval. A gateway that does not answer is named until it does.")
VALUE(top, "every", "SECONDS", "The interval; 2 by default.")
FLAG(top, "once", "Print one table, on a terminal too.")
VALUE(top, "token", "FILE", "File with the bearer token of an administrator: shows the number of stops.")
VALUE(top, "ca", "FILE", "PEM file of the authorities of the gateway's certificate.")

COMMAND(explain, "explain", "CONFIG CALL", 2, 2, "show how the policy decides a call",
    "Judges the call in CALL (- for standard input), a JSON object {agent, tool, arguments} with "
    "optional target_state_digest, boundary_id and idempotency_key, and prints the decision, every "
    "constraint with hold or fail, scope, target, and the digests. agent is the id of a configured "
    "agent, or an object {id, tenant, role}. Exit 0 means allow, 1 deny. Facts of a ledger alone "
    "(duplicates, the rest of budgets) are not judged.")

COMMAND(why, "why", "DECISION_ID", 1, 1, "show why a recorded call was decided as it was",
    "Finds the decision in the ledger of the configuration and prints its reason, the rule and the constraint with "
    "file and line, what would be accepted, and the nearest rule that allows the call. With the arguments of the "
    "call it judges again, and prints an edit of the configuration that would allow this call, and calls like it; "
    "it writes nothing. Arguments that a review keeps are used, and never printed. With --contents those of the kept contents "
    "are used: the gateway of --url opens them, else this program does, while no gateway has the ledger open. The look is "
    "recorded in the ledger first. Exit 0 whatever the verdict.")
REQUIRED(why, "config", "FILE", "The configuration file of the gateway; its ledger is read.")
WITH_ARCHIVE(why)
VALUE(why, "arguments", "FILE",
    "The arguments of the call as JSON, - for standard input; refused unless they have the digest that is recorded.")
FLAG(why, "contents", "Use the arguments that the ledger keeps (option contents of the gateway).")
VALUE(why, "url", "URL", "The admin listener of the gateway that has the ledger open, whose content_readers name the caller.")
VALUE(why, "token", "FILE", "File with the bearer token of an entry of agents; for --url.")
VALUE(why, "ca", "FILE", "PEM file of the authorities of the gateway's certificate; for --url.")
VALUE(why, "keys", "DIR", "The key directory, which has the keys of contents; by default the one of the configuration.")

COMMAND(policy_test, "policy test", "CASES", 1, 1, "run test cases for a policy",
    "CASES is a YAML or JSON file {config, cases: [{name, call, expect}]}: config is a "
    "configuration file, relative to CASES; call is as for explain; expect is allow, deny, or an "
    "object of decision, reason, constraint, scope, target, shadow. Prints the failed cases and a "
    "summary; with --json every verdict. Exit 1 when a case failed.")
VALUE(policy_test, "config", "FILE", "Use this configuration in place of the one that CASES names.")
COMMAND(policy_replay, "policy replay", "CONFIG LEDGER", 2, 2, "decide past calls again, and list what changes",
    "Decides the calls whose contents LEDGER keeps (option contents of the gateway) by CONFIG, in their order and with its "
    "budgets, and lists the calls that are newly refused, allowed or under review by tool, agent and constraint, each with "
    "its smallest example. Kept arguments must have the digests of their records; one that does not is an error. The replay "
    "is recorded in the ledger before it prints: by the gateway of --url, else by this program, while no gateway has the "
    "ledger open. Exit 1 when something changes, as --fail-on says; 3 when "
    "the ledger keeps no call of the range.")
VALUE(policy_replay, "against", "OLD", "Compare with the verdicts of this configuration in place of those recorded.")
VALUE(policy_replay, "since", "TIME", "Only calls decided at this time or later, such as 2026-06-25T05:00:00Z.")
VALUE(policy_replay, "url", "URL",
    "The admin listener of the gateway that has LEDGER open, whose content_readers name the caller.")
VALUE(policy_replay, "token", "FILE", "File with the bearer token of an entry of agents; for --url.")
VALUE(policy_replay, "ca", "FILE", "PEM file of the authorities of the gateway's certificate; for --url.")
VALUE(policy_replay, "keys", "DIR", "The key directory, which has the keys of contents; by default the one of CONFIG.")
VALUE(policy_replay, "fail-on", "CHANGES",
    "What exit 1 means, with commas between: refused, allowed, review, undecided (some calls are not kept, or have no "
    "certain answer), any (of the first three, the default) or none.")
VALUE(policy_replay, "renamed", "NAMES", "Upstreams that have another name in CONFIG: OLD=NEW, with commas between.")
FLAG(policy_replay, "values", "Print the arguments of examples of up to 2048 bytes.")

COMMAND(policy_learn, "policy learn", "CONFIG [LEDGER]", 1, 2, "propose rules from calls that were made",
    "Reads the calls whose contents LEDGER keeps (option contents of the gateway) and that were executed, or the calls "
    "of a file, and proposes for each tool the tightest constraints that allow every one of them, generalised only by the "
    "steps of docs/learn.md, each with the calls behind it. Prints a report, then the difference of CONFIG for patch -p0; "
    "it changes no file. A call that the constraints of CONFIG refuse is left out and listed. Every learned call is judged "
    "by the proposal before it is printed. The reading is recorded in the ledger first: by the gateway of --url, else by "
    "this program, while no gateway has the ledger open.")
VALUE(policy_learn, "calls", "FILE", "Learn from a file with one call a line, each as for explain, in place of a ledger.")
VALUE(policy_learn, "since", "TIME", "Only calls decided at this time or later, such as 2026-06-25T05:00:00Z.")
VALUE(policy_learn, "url", "URL",
    "The admin listener of the gateway that has LEDGER open, whose content_readers name the caller.")
VALUE(policy_learn, "token", "FILE", "File with the bearer token of an entry of agents; for --url.")
VALUE(policy_learn, "ca", "FILE", "PEM file of the authorities of the gateway's certificate; for --url.")
VALUE(policy_learn, "keys", "DIR", "The key directory, which has the keys of contents; by default the one of CONFIG.")
VALUE(policy_learn, "agent", "ID", "Only calls of this agent.")
VALUE(policy_learn, "tool", "UPSTREAM/TOOL", "Only calls of this tool.")
VALUE(policy_learn, "cases", "FILE", "Write test cases for policy test into this new file.")
VALUE(policy_learn, "least", "N", "Generalise an argument only when N calls have it; 20 by default.")
VALUE(policy_learn, "refuse", "PERCENT",
    "Generalise until at most this share of the calls would have been refused before their run was seen; 1 by default.")
FLAG(policy_learn, "include-refused",
    "Learn also from calls that the constraints of CONFIG refuse, and remove these constraints; both are listed.")

COMMAND(tools_scan, "tools scan", "[URL... | -- COMMAND...]", 0, 256, "list what servers offer and what is odd about it",
    "Asks tool servers for their tools, calls none, and prints what is odd about their texts and names: changed since it "
    "was seen, hidden characters, names that imitate another server's, texts that tell the model what to do "
    "(docs/policy.md). Exit 0 means that every server answered and nothing is odd, 1 otherwise.")
VALUE(tools_scan, "config", "FILE", "Ask the servers of this configuration, and compare with definitions seen before.")
VALUE(tools_scan, "client-config", "FILE",
    "Ask the servers of this file of an MCP client: mcpServers of most, servers of VS Code, context_servers of Zed.")

COMMAND(tools_list, "tools list", "CONFIG", 1, 1, "show the definitions of tools and their acceptance",
    "Shows the definitions that the gateway of CONFIG saw last and those that were accepted, from the files beside its "
    "ledger. States: accepted, changed (differs from the accepted one), new (never accepted), gone "
    "(accepted, but no longer listed).")
COMMAND(tools_diff, "tools diff", "CONFIG UPSTREAM/TOOL", 2, 2,
    "show how a definition differs from the accepted one",
    "One line for each place, by its JSON Pointer: + was added, - was removed, ~ was changed. Exit 0 "
    "without a difference, 1 with one.")
COMMAND(tools_accept, "tools accept", "CONFIG UPSTREAM/TOOL", 2, 2,
    "accept the last definition of a tool",
    "Shows the difference to the definition accepted before and stores the new one beside the ledger, "
    "signed with its key. "
    "The name may be a pattern as in a policy, such as fs/read_*. Calls of pinned tools are refused "
    "until their definition is accepted; a running gateway loads it, and records it in the ledger, "
    "when it reloads (SIGHUP), a stopped one when it starts.")
FLAG(tools_accept, "odd",
    "Accept it although it is odd in a way for which the option definitions withholds it (docs/policy.md).")
VALUE(tools_accept, "digest", "DIGEST",
    "Accept only this definition: the one you reviewed, even if another was seen since.")

COMMAND(tools_program, "tools program", "CONFIG UPSTREAM", 2, 2,
    "print the digests of a server's program",
    "Reads the files that a server over stdio is made of: its program, the arguments that are paths of files, and those "
    "of its program_digest. Prints lines for program_digest, each with the state of the file: new (not in "
    "program_digest), same, changed, missing, or not_accepted. It starts nothing. Exit 1 when a file of program_digest is "
    "none of new and same, 0 otherwise.")
FLAG(tools_program, "accept",
    "Accept the digests of the files that say accepted in program_digest, as writ tools accept does a definition: they "
    "are stored beside the ledger, signed with its key. A running gateway takes them within about a second.")

COMMAND(ledger_init, "ledger init", "PATH|URI", 1, 1, "create an empty ledger",
    "The gateway never creates one, so that a wrong path cannot begin an empty history. PATH must "
    "not exist; its directory must not be writable by all users. The file gets mode 0600. A URI "
    "(postgresql://HOSTS/DATABASE) makes the tables of a ledger that several gateways share; the password "
    "is in the file that its `passfile` names, or in PGPASSWORD.")
VALUE(ledger_init, "role", "NAME",
    "With a URI: the role of the gateways, which gets their rights. They add records and can neither change "
    "nor remove one.")
VALUE(ledger_init, "origin", "NAME",
    "The name of the ledger in its checkpoints and keys, such as example.com/ledger: a name that no other "
    "ledger ever has. writ-ledger/ and a random id by default.")
COMMAND(ledger_migrate, "ledger migrate", "PATH", 1, 1, "bring the tables of a ledger to this version",
    "The tables of a ledger have a version; a gateway reads one version and refuses the others. Brings older "
    "tables forwards, in one transaction for each version, never backwards: in a file those of the version before, on "
    "PostgreSQL those of any. Refuses while a gateway is live, and on PostgreSQL names it: stop all gateways first. On "
    "PostgreSQL run it as the owner of the tables.")
COMMAND(ledger_list, "ledger list", "PATH", 1, 1, "list decisions, newest first",
    "Works while a gateway writes the ledger. Each line has time, verdict (shadow: it was recorded, and the "
    "call ran), outcome (in_flight: the call may run), agent, upstream, tool, reason of a refusal, run and "
    "decision. Without --limit the newest 50 are listed. Times are "
    "RFC 3339, such as 2026-06-25T05:00:00Z.")
VALUE(ledger_list, "tenant", "TENANT", "Only decisions of this tenant.")
VALUE(ledger_list, "boundary", "ID", "Only decisions of this run or session.")
VALUE(ledger_list, "agent", "ID", "Only decisions about calls of this agent.")
VALUE(ledger_list, "tool", "NAME", "Only decisions about this tool, by the upstream's own name.")
VALUE(ledger_list, "decision", "VERDICT", "Only allow, deny, require_approval, revise, task_stated or content_read.")
VALUE(ledger_list, "reason", "NAME", "Only refusals with this reason.")
VALUE(ledger_list, "outcome", "OUTCOME", "Only executed, error, blocked, timeout, in_flight or replaced.")
VALUE(ledger_list, "since", "TIME", "Only decisions made at this time or later.")
VALUE(ledger_list, "until", "TIME", "Only decisions made before this time.")
VALUE(ledger_list, "limit", "N", "List at most N decisions; 0 lists all.")
FLAG(ledger_list, "follow",
    "List the oldest first, and continue with decisions as they are recorded; one that was in_flight is listed again when "
    "it has ended. --limit limits the earlier decisions. Ends with SIGINT or SIGTERM, or with exit code 4 when its "
    "output cannot be written. With --json each line is one JSON object.")
COMMAND(ledger_show, "ledger show", "PATH DECISION_ID", 2, 2, "show one call with its records",
    "Prints the decision, its outcome, whether its run or session is sealed, and whether its contents are kept: kept, "
    "erased (also by their time) or none.")
WITH_ARCHIVE(ledger_show)
#define CONTENTS_SOURCE(id)                                                                        \
    VALUE(id, "token", "FILE", "File with the bearer token of an entry of agents; for a URL.")     \
    VALUE(id, "ca", "FILE", "PEM file of the authorities of the gateway's certificate; for a URL.")

COMMAND(ledger_contents, "ledger contents", "CONFIG|URL DECISION_ID", 2, 2,
    "show the kept arguments and result of one call",
    "CONFIG is the configuration of a gateway that does not run; its key directory must have the keys of contents. "
    "URL is the admin listener of one that runs, whose `content_readers` name the caller. The look is recorded in the "
    "ledger first, with the name of the user or caller. What is shown has the digest that the signed record has. Exit 1 "
    "when nothing is kept (any more), or when the gateway refuses.")
CONTENTS_SOURCE(ledger_contents)
COMMAND(ledger_erase, "ledger erase", "CONFIG|URL", 1, 1, "destroy the kept contents of calls",
    "Prints how many contents the options select together (arguments and results each), and destroys them with "
    "--yes: the keys and the ciphertext, results kept for repeated calls, and arguments kept for voters. No record "
    "changes, every proof stays valid, and the erase is recorded. CONFIG is the configuration of a gateway that does not "
    "run, URL the admin listener of one that runs, of which the caller is an administrator. Backups of the ledger "
    "keep what they have (docs/contents.md). Exit 1 without --yes, or when the gateway refuses.")
CONTENTS_SOURCE(ledger_erase)
VALUE(ledger_erase, "decision", "ID", "Of this call.")
VALUE(ledger_erase, "agent", "ID", "Of the calls of this agent.")
VALUE(ledger_erase, "tenant", "TENANT", "Of the calls of this tenant.")
VALUE(ledger_erase, "before", "TIME", "Of the calls that were decided before this time.")
FLAG(ledger_erase, "yes", "Destroy them; without it they are only counted.")
#undef CONTENTS_SOURCE
COMMAND(ledger_verify, "ledger verify", "PATH", 1, 1, "check every record",
    "Checks indexes, times, canonical bytes, validity, every digest, seq and running_count, that "
    "each call has one decision and at most one outcome that joins it, that the records of a review "
    "follow from each other, every seal, the tree over all records and every checkpoint. Names each "
    "fault by the index of its record. Exit 1 for any fault. A suffix that was cut off "
    "together with its checkpoints is detected with a checkpoint kept elsewhere: see ledger.pinned.")
VALUE(ledger_verify, "archive", "DIR",
    "The archive of the ledger: checks its records in place of those that were removed (ledger archive --before).")
VALUE(ledger_verify, "keys", "DIR",
    "The key directory: verifies the signature of every checkpoint. Opens no private key.")
COMMAND(ledger_export, "ledger export", "PATH [BOUNDARY]", 1, 2, "export records, with their proofs",
    "Prints all records of the run or session as JSON lines {leaf, kind, record}, where record is the "
    "canonical form in the ledger, and a last line {kind: completeness, report}. Exit 1 "
    "when its decisions are incomplete. With --json all of it is one JSON object. With --keys it is a "
    "bundle (docs/receipts.md): of the run, of an agent, of a time, or of all, which writ verify "
    "bundle checks without the ledger.")
WITH_ARCHIVE(ledger_export)
VALUE(ledger_export, "tenant", "TENANT", "Of this tenant; needed when several tenants have a run of that name.")
VALUE(ledger_export, "keys", "DIR",
    "Make a bundle under the last checkpoint, which a key of this directory must have signed. "
    "Opens no private key.")
VALUE(ledger_export, "agent", "ID", "A bundle of the calls of this agent.")
VALUE(ledger_export, "since", "TIME", "A bundle of records of this time or later.")
VALUE(ledger_export, "until", "TIME", "A bundle of records before this time.")
VALUE(ledger_export, "at", "TIME", "Add the phase of every decision in the bundle at this time.")
VALUE(ledger_export, "redact", "NAMES",
    "Withhold records of the bundle that have one of these members, such as target,error_message: "
    "their digests stay, and all proofs hold.")
VALUE(ledger_export, "checkpoint", "FILE",
    "Make the bundle under this checkpoint, such as one that witnesses signed, from the records it covers.")
COMMAND(ledger_checkpoint, "ledger checkpoint", "PATH", 1, 1, "print the last checkpoint, or send it",
    "Prints a checkpoint (c2sp.org/tlog-checkpoint): the origin of the ledger, the number of its "
    "records, and the root of the tree over them (RFC 6962), signed with the ledger's key. A kept checkpoint "
    "proves later that a record it covers was changed or cut off. Works while a gateway "
    "writes the ledger.")
REQUIRED(ledger_checkpoint, "keys", "DIR",
    "The key directory: one of its keys must have signed. Opens no private key.")
VALUE(ledger_checkpoint, "to", "WHERE",
    "Write it to a file, completely or not at all, or post it to an https URL (http on loopback), and print "
    "origin and size. Leaves a file unchanged, with exit 3, when it holds anything but a "
    "checkpoint that the ledger still contains.")
VALUE(ledger_checkpoint, "ca", "FILE", "PEM file of the authorities of the URL's certificate.")
COMMAND(ledger_key, "ledger key", "PATH", 1, 1, "print the keys that sign the ledger's checkpoints",
    "One line for each verifying key, the signing one first: a vkey of c2sp.org/signed-note, "
    "<origin>+<id>+<key>. Give them to verifiers by a way that they trust.")
REQUIRED(ledger_key, "keys", "DIR", "The key directory.")
FLAG(ledger_key, "history",
    "Retired keys too, for receipts of their time; and revoked ones, behind a #, so that no reader trusts them.")
COMMAND(ledger_rebuild, "ledger rebuild", "PATH", 1, 1,
    "make the next start read the records",
    "For a ledger whose start reports a broken table `segment`, while no gateway runs. Drops the data that "
    "the ledger keeps there for a quick start; no record is touched. The next start reads the records "
    "instead, which takes longer, and builds the table again. Run `writ ledger verify` first.")
COMMAND(ledger_backup, "ledger backup", "PATH TO", 2, 2, "copy a ledger, also while a gateway writes it",
    "Copies the ledger as it is at one moment to a new file, verifies the copy as `writ ledger verify` does, "
    "and only then gives it the name TO. Prints what it verified, with exit 1 and no copy when the ledger is not "
    "sound. A run that is killed leaves TO.partial, which the next run replaces. The copy has kept contents with "
    "their wrapped keys. `writ ledger resume` continues with a copy.")
VALUE(ledger_backup, "keys", "DIR", "The key directory: its keys must have signed the checkpoints. Opens no private key.")
COMMAND(ledger_copy, "ledger copy", "FROM TO", 2, 2, "move a ledger from SQLite to PostgreSQL, or back",
    "Copies the records and everything beside them, by which sessions, reviews and waiting calls continue. FROM and "
    "TO are a path or a URI each; TO is made, unless it is an empty ledger. Ids, receipts, proofs and checkpoints stay valid. "
    "No gateway may have FROM open. A run that is killed leaves a TO that no gateway opens; the next run continues "
    "with it. At its end it verifies TO as `writ ledger verify` does, and prints what it verified, with exit 1 when the "
    "ledger is not sound: then no gateway opens TO. Afterwards remove FROM, or keep it as a backup: a gateway that went "
    "on with it would let calls run twice.")
VALUE(ledger_copy, "keys", "DIR", "The key directory: its keys must have signed the checkpoints. Opens no private key.")
VALUE(ledger_copy, "role", "NAME", "With a URI as TO: the role of the gateways, as of ledger init.")
COMMAND(ledger_archive, "ledger archive", "PATH DIR", 2, 2, "write the records as files that any web server can serve",
    "Writes the records up to the last checkpoint into a folder, as a static log (c2sp.org/tlog-tiles): bundles of "
    "records, tiles of the tree, and the checkpoint. A later run appends what was recorded since; one that is "
    "killed leaves the former archive. Works while a gateway writes the ledger. The ledger keeps its records, unless "
    "--before is given: then the archive is read again as a whole, and the records from before that time are removed "
    "from the ledger, in so far as it does not need them any more; what it needs is named. A run that is killed is "
    "continued by the next one. `writ verify archive` checks the folder without the ledger, `writ ledger verify "
    "--archive` both together.")
REQUIRED(ledger_archive, "keys", "DIR", "The key directory: one of its keys must have signed. Opens no private key.")
VALUE(ledger_archive, "before", "TIME", "Remove the records from before this time. Needs --url or --config.")
VALUE(ledger_archive, "url", "URL", "With --before: the admin listener of a gateway that runs, which is asked for the removal.")
VALUE(ledger_archive, "token", "FILE", "File with the bearer token of one of its `administrators`; for --url.")
VALUE(ledger_archive, "ca", "FILE", "PEM file of the authorities of the gateway's certificate; for --url.")
VALUE(ledger_archive, "config", "FILE", "With --before: the configuration of the gateway, when none runs.")
COMMAND(ledger_resume, "ledger resume", "CONFIG", 1, 1, "continue with a ledger that lost records",
    "For a ledger that was put back from a copy, while no gateway runs. Ends all its runs, reviews and calls in "
    "flight, forgets its sessions, records the loss, and replaces the checkpoints of `ledger.remember` and of the "
    "files of `ledger.anchors`; the former files stay, as NAME.lost-TIME. For `ledger.claims_kept` the "
    "gateway then refuses calls whose key may have been used in the lost time (`ledger_resumed`).")
FLAG(ledger_resume, "acknowledge-loss", "Confirms that you searched the targets for the calls that the ledger lost. Required.")
COMMAND(ledger_release, "ledger release", "CONFIG UPSTREAM/TOOL", 2, 2,
    "let a tool run again after a loss",
    "Records that no call of the tool from the lost time can do harm when it runs again: after a "
    "`ledger resume` its calls are no longer refused with `ledger_resumed`. Run it while no gateway runs.")
COMMAND(ledger_watch, "ledger watch", "URL", 1, 1, "follow a gateway's checkpoints",
    "Requests the last checkpoint from the admin listener at URL repeatedly, with the proof that it "
    "only appends to the one seen before, which is kept in a file. Writes a line of JSON with origin and "
    "number of records to standard error for each new one. When a checkpoint is not signed by a trusted key, has "
    "fewer records (ROLLBACK) or other ones (FORK), it writes that and ends with exit 1.")
REQUIRED(ledger_watch, "key", "FILE", "Trusted keys, one a line, as writ ledger key prints them.")
REQUIRED(ledger_watch, "state", "FILE", "File for the last good checkpoint; may be absent.")
VALUE(ledger_watch, "every", "S", "Seconds between two requests; 10 by default.")
FLAG(ledger_watch, "once", "Request one checkpoint and end.")
COMMAND(ledger_witness, "ledger witness", "PATH URL", 2, 2, "have a witness sign the last checkpoint",
    "Sends the last checkpoint to the witness at URL (c2sp.org/tlog-witness), with the proof that the "
    "log only appended to the one the witness knows. Prints the checkpoint with the signature of the "
    "witness under it, after verifying it. A witness that has seen more records than the ledger has is reported as "
    "ROLLBACK.")
REQUIRED(ledger_witness, "keys", "DIR",
    "The key directory: one of its keys must have signed. Opens no private key.")
REQUIRED(ledger_witness, "witness", "FILE", "Keys of the witness, one a line: vkeys of type 4.")
VALUE(ledger_witness, "checkpoint", "FILE",
    "Have this one signed, not the last, such as one that another witness signed before.")
COMMAND(timestamp_query, "timestamp query", "CHECKPOINT", 1, 1,
    "make the query for a time stamp of a checkpoint",
    "Prints the query (RFC 3161, in DER) for a stamp over the checkpoint in the file CHECKPOINT, byte for "
    "byte, to send to an authority as application/timestamp-query. With --json it is in base64.")
COMMAND(receipt, "receipt", "DECISION_ID", 1, 1, "make the receipt of a call",
    "Prints one JSON file (docs/receipts.md) with the records of the call, from its first decision to "
    "its outcome, votes included, each with its proof under the last checkpoint, and the keys of the "
    "ledger. A holder of one of the keys can verify it without the ledger: writ verify receipt.")
REQUIRED(receipt, "ledger", "PATH", "The ledger; a gateway may be writing it.")
REQUIRED(receipt, "keys", "DIR",
    "The key directory: one of its keys must have signed. Opens no private key.")
WITH_ARCHIVE(receipt)
VALUE(receipt, "checkpoint", "FILE",
    "Make it under this checkpoint, such as one that witnesses signed; it must cover the call's last record.")
#undef WITH_ARCHIVE
#define REVIEW_SOURCE(id)                                                                          \
    VALUE(id, "token", "FILE", "File with the bearer token of an entry of agents; for a URL.")     \
    VALUE(id, "ca", "FILE", "PEM file of the authorities of the gateway's certificate; for a URL.")

COMMAND(export, "export", "LEDGER", 1, 1, "send records as events to another system",
    "Turns the records of LEDGER, from the cursor or the first one on, into events and sends them to a collector, a syslog "
    "receiver or standard output, in order, each at least once (docs/export.md). The cursor moves when the receiver has "
    "taken a batch. With --follow it waits for further records, until SIGINT or SIGTERM, and tries again when the "
    "receiver fails; without it a failure is exit 4. A gateway does the same by itself with export in its configuration.")
VALUE(export, "to", "URL",
    "https://... gets lines by POST; syslog+tls://HOST:PORT gets messages of RFC 5424; http and syslog+tcp:// on this "
    "machine. By default lines go to standard output.")
VALUE(export, "format", "FORMAT", "json (the records, the default), ocsf or cef.")
VALUE(export, "cursor", "FILE", "File with the index of the next record; made if absent. Without it the export begins at --from.")
VALUE(export, "from", "N", "Index of the first record to send if the cursor does not exist yet; 0 by default.")
VALUE(export, "token", "FILE",
    "File with the secret of an https collector, which other users must not be able to read.")
VALUE(export, "scheme", "WORD", "The word before the secret in Authorization; Bearer by default.")
VALUE(export, "ca", "FILE", "PEM file of the authorities of the receiver's certificate; by default those of the system.")
VALUE(export, "cert", "FILE", "PEM file of a client certificate.")
VALUE(export, "key", "FILE", "PEM file of its private key, unencrypted.")
FLAG(export, "plain-close",
    "Count a batch as delivered when a TLS syslog receiver ends the connection without close_notify, as rsyslog with GnuTLS "
    "does.")
FLAG(export, "follow", "Continue with records as they are made.")

COMMAND(review_list, "review list", "PATH|URL", 1, 1, "list calls under review",
    "Open and just ended reviews, the oldest first: id, state, name, agent, tool and the number of "
    "votes. PATH is the ledger; a gateway may be writing it. URL is that of an admin listener, "
    "which gives the open reviews that the caller may see. Exit 1 when the gateway refuses.")
REVIEW_SOURCE(review_list)
COMMAND(review_show, "review show", "PATH|URL ID", 2, 2, "show one review",
    "Its terms, its votes and its result; the arguments of the call while it is open. With --json "
    "the decision and all records in the form of the ledger. Exit 1 when the gateway refuses.")
REVIEW_SOURCE(review_show)
#undef REVIEW_SOURCE
COMMAND(review_replay, "review replay", "PATH ID", 2, 2, "compute the verdict of a review again",
    "Takes the terms and the votes from the ledger, counts them again, and compares every event of the "
    "crew session with the recorded one, byte for byte. The signatures of voters with a "
    "key in the terms are verified. With --log the session of a crew that voted is computed again too, and its verdict "
    "compared with the vote. Votes that a plug-in counted need it: --engines. Exit 1 for a missing or different verdict, "
    "or a wrong signature.")
VALUE(review_replay, "engines", "DIR", "The folder of the plug-in that counted the votes; its file must be the recorded one.")
VALUE(review_replay, "log", "FILE", "The log of a crew, as `writ review log` prints it: that of one of the votes.")
COMMAND(review_log, "review log", "CONFIG ID VOTER", 3, 3, "print the log of a crew that voted",
    "VOTER is a reviewer that is a crew. What is printed has the digest that its signed vote has; `writ crew` commands and "
    "`writ review replay --log` read it. The look is recorded in the ledger first: by the gateway of --url, else by this "
    "program, while no gateway has the ledger open. Exit 1 when the log is not kept (any more).")
VALUE(review_log, "url", "URL", "The admin listener of the gateway that runs, whose content_readers name the caller.")
VALUE(review_log, "token", "FILE", "File with the bearer token of an entry of agents; for --url.")
VALUE(review_log, "ca", "FILE", "PEM file of the authorities of the gateway's certificate; for --url.")
VALUE(review_log, "keys", "DIR", "The key directory, which has the keys of contents; by default the one of CONFIG.")
#define REVIEW_CALLER(id)                                                                          \
    REQUIRED(id, "token", "FILE", "File with the bearer token of an entry of agents.")             \
    VALUE(id, "ca", "FILE", "PEM file of the authorities of the gateway's certificate.")

COMMAND(review_vote, "review vote", "URL ID VOTE", 3, 3, "vote on a call under review",
    "URL is that of the admin listener; VOTE is approve, reject or modify. The vote is bound to the "
    "review as the command reads it, or to --digest. Voting again replaces the vote while the "
    "review is open. Exit 1 when the gateway refuses.")
REVIEW_CALLER(review_vote)
VALUE(review_vote, "digest", "DIGEST", "Vote only if this is the review_digest: the review that you read.")
VALUE(review_vote, "feedback", "TEXT", "The text of the vote, at most 4096 bytes; @FILE reads it from a file.")
VALUE(review_vote, "confidence", "NUMBER", "How sure the voter is, from 0 to 1.")
VALUE(review_vote, "key", "FILE", "Sign the vote with this private key (PEM).")
COMMAND(review_withdraw, "review withdraw", "URL ID", 2, 2, "give up a call that is under review",
    "For the agent that made the call. Exit 1 when the gateway refuses.")
REVIEW_CALLER(review_withdraw)
COMMAND(review_cancel, "review cancel", "URL ID", 2, 2, "end a review without a verdict",
    "For an administrator of the review. Exit 1 when the gateway refuses.")
REVIEW_CALLER(review_cancel)
COMMAND(review_delegate, "review delegate", "URL DELEGATE", 2, 2, "let another one vote for you",
    "For a voter: in reviews that open until then the vote of DELEGATE counts for it, until it votes itself. Each review "
    "says whom its voters may name, and for how long (delegations). URL is that of the admin listener. Prints the "
    "delegation and the reviews in which it counts. Exit 1 when the gateway refuses.")
REVIEW_CALLER(review_delegate)
VALUE(review_delegate, "until", "TIME", "When it ends, such as 2026-12-24T08:00:00Z.")
VALUE(review_delegate, "for", "TIME", "In place of --until: for so long, such as 90m, 36h or 7d.")
VALUE(review_delegate, "from", "TIME", "When it begins; at once by default.")
VALUE(review_delegate, "tools", "PATTERNS", "Only for these tools, such as pay/*, with commas between; by default for all.")
VALUE(review_delegate, "key", "FILE", "Sign it with this private key (PEM): for a voter with a key.")
COMMAND(review_revoke, "review revoke", "URL ID", 2, 2, "take a delegation back",
    "For its voter, its delegate, or an administrator of the gateway. From now on no vote counts by it, in open reviews "
    "too. Exit 1 when the gateway refuses.")
REVIEW_CALLER(review_revoke)
COMMAND(review_delegations, "review delegations", "PATH|URL", 1, 1, "list delegations of voters",
    "Those in force and later ones: id, voter, delegate, times and tools. PATH is the ledger; URL is that of the admin "
    "listener, which gives those of the caller and to it, and all to an administrator of the gateway.")
VALUE(review_delegations, "token", "FILE", "File with the bearer token of an entry of agents; for a URL.")
VALUE(review_delegations, "ca", "FILE", "PEM file of the authorities of the gateway's certificate; for a URL.")
#undef REVIEW_CALLER
COMMAND(hook, "hook", "", 0, 0, "govern the tool uses of a coding agent",
    "For agents that run a command before and after each tool use. The event comes as JSON on standard "
    "input (hook_event_name, session_id, tool_name, tool_input, tool_use_id, tool_response). Before a "
    "use (PreToolUse, BeforeTool) the hook requests a decision from a gateway and binds it; "
    "after it (PostToolUse, PostToolUseFailure, AfterTool) it reports the outcome; UserPromptSubmit "
    "adds the prompt to the task of the run; SessionEnd seals the run. Exit 0: the gateway permits the use, and the agent's own rules apply; {} on "
    "standard output. Exit 2: the agent must not make it; the reason is on standard error, and as the agent's "
    "JSON on standard output. Every failure is a 2, a wrong command line "
    "included, but that of a prompt, which stops nothing and is said.")
REQUIRED(hook, "url", "URL", "The gateway: https, or http to this machine.")
REQUIRED(hook, "token", "FILE", "The bearer token of the agent.")
REQUIRED(hook, "framework", "NAME", "The entry of frameworks under which the agent's tools have their rules.")
REQUIRED(hook, "state", "DIR", "Folder for the bound uses until their outcomes are reported; created, for its owner alone, if absent.")
VALUE(hook, "ca", "FILE", "PEM file of the authority of an https URL; default: the system's.")
VALUE(hook, "timeout", "SECONDS", "Time limit of one answer of the gateway, 1 to 600; default: 30. The agent's own timeout for hooks must be longer.")

COMMAND(token_new, "token new", "AGENT", 1, 1, "make a static bearer token",
    "Makes a token of 256 random bits and prints it with the entry of `agents` in the configuration "
    "that takes it. The entry has the token's SHA-256 and not the token: keep the token where the "
    "agent reads it.")
VALUE(token_new, "file", "FILE", "Write the token to this new file (mode 0600) instead of standard output.")

COMMAND(keys_new, "keys new", "", 0, 0, "make the keys that a gateway needs",
    "Makes the key directory if it is absent (mode 0700) and new active keys in it: one that "
    "signs the credentials and one that signs the ledger's checkpoints, unless it has them already. "
    "Neither key ever does the work of the other. With --purpose only that key is made: `contents` is "
    "the secret key that encrypts kept contents (A256KW).")
REQUIRED(keys_new, "dir", "DIR", "The key directory.")
VALUE(keys_new, "purpose", "WHAT", "credential, ledger or contents; by default the first two, as far as missing.")
VALUE(keys_new, "alg", "ALG",
    "For credentials: ES256 (the default), RS256 or EdDSA (Ed25519). A ledger is signed with EdDSA.")

COMMAND(keys_list, "keys list", "", 0, 0, "show the keys and their states",
    "Opens no private key. States: active signs and verifies, verifying verifies its earlier "
    "signatures, retired verifies nothing new, revoked is rejected.")
REQUIRED(keys_list, "dir", "DIR", "The key directory.")

COMMAND(keys_rotate, "keys rotate", "", 0, 0, "replace the active key by a new one",
    "The previous key verifies until it is retired; its private half is removed. A running "
    "gateway loads the new key when it reloads (SIGHUP). A previous key of contents stays, because "
    "earlier contents are under it.")
REQUIRED(keys_rotate, "dir", "DIR", "The key directory.")
VALUE(keys_rotate, "purpose", "WHAT", "credential (the default), ledger or contents.")
VALUE(keys_rotate, "alg", "ALG", "ES256, RS256 or EdDSA; that of the previous key by default.")

COMMAND(keys_trust, "keys trust", "FILE", 1, 1, "trust the keys of another gateway",
    "For gateways that share a ledger on PostgreSQL, each with keys of its own. FILE is keys.json of the other "
    "one's key directory, which has no secrets. Its keys verify here from then on, and none of them signs; run it "
    "again after the other one has rotated, retired or revoked a key. A running gateway takes the change when it "
    "reloads (SIGHUP).")
REQUIRED(keys_trust, "dir", "DIR", "The key directory of this gateway.")

COMMAND(keys_retire, "keys retire", "", 0, 0, "stop a rotated key from verifying",
    "Do it when no signature of the key is needed any more: for credentials, when their "
    "lifetime has passed since the rotation. Of a key of contents the secret is removed: nothing that "
    "it encrypted is readable any more.")
REQUIRED(keys_retire, "dir", "DIR", "The key directory.")
REQUIRED(keys_retire, "kid", "KID", "The key, as writ keys list names it.")

COMMAND(keys_revoke, "keys revoke", "", 0, 0, "reject all signatures of a key",
    "For a compromised key. All its signatures are rejected from now on, whatever time they "
    "claim; a check as of a time before --since still accepts earlier ones. A new key replaces an "
    "active one, without a statement of the old one: give it again to verifiers that followed the "
    "rotations. A running gateway takes the change when it reloads (SIGHUP). A revoked key can be revoked "
    "again, since an earlier time.")
REQUIRED(keys_revoke, "dir", "DIR", "The key directory.")
REQUIRED(keys_revoke, "kid", "KID", "The key, as writ keys list names it.")
VALUE(keys_revoke, "since", "TIME", "When it was compromised (RFC 3339); now by default.")

COMMAND(keys_jwks, "keys jwks", "", 0, 0, "print the public keys as a JWKS (RFC 7517)",
    "Active and verifying keys of one purpose, with the time in which each signs (nbf, exp), the kids "
    "that are revoked, and the statements by which one key names the next: the key set that the gateway publishes "
    "at /.well-known/jwks.json.")
REQUIRED(keys_jwks, "dir", "DIR", "The key directory.")
VALUE(keys_jwks, "purpose", "WHAT", "credential (the default) or ledger.")
FLAG(keys_jwks, "history",
    "Retired and revoked keys too: for checks of old signatures, never for admitting calls.")

COMMAND(verify_receipt, "verify receipt", "FILE", 1, 1, "check a receipt without its ledger",
    "Prints ok and the contents of the receipt, or the first reason against it, in the order of "
    "docs/receipts.md. Keys that the file itself names are not trusted. Exit 1 when it does not hold.")
REQUIRED(verify_receipt, "key", "FILE", "Trusted keys, one a line, as writ ledger key prints them.")
VALUE(verify_receipt, "witness", "FILE",
    "Keys of witnesses, one a line: vkeys of type 4. The witnesses must have signed the checkpoint too.")
VALUE(verify_receipt, "quorum", "N",
    "The number of witnesses that must have signed; all by default. Keys of one name are one witness.")
COMMAND(verify_bundle, "verify bundle", "FILE", 1, 1, "check a bundle without its ledger",
    "Reads FILE (- for standard input) once, line by line, and prints ok with the contents and gaps of "
    "the bundle, or the first reason against it and the number of the line, in the order of "
    "docs/receipts.md. Exit 1 when it does not hold.")
REQUIRED(verify_bundle, "key", "FILE", "Trusted keys, one a line, as writ ledger key prints them.")
VALUE(verify_bundle, "witness", "FILE",
    "Keys of witnesses, one a line: vkeys of type 4. The witnesses must have signed the checkpoint too.")
VALUE(verify_bundle, "quorum", "N",
    "The number of witnesses that must have signed; all by default. Keys of one name are one witness.")
COMMAND(verify_flows, "verify flows", "FILE", 1, 1, "recompute what a bundle says about its runs",
    "Verifies the bundle FILE (- for standard input) as `writ verify bundle` does. Then it recomputes what each decision "
    "says about its run from the records before it: the labels of the run, and where each judged argument came from. "
    "With the configuration that decided, also the verdict of `from`, `flows` and `tasks`. No value is needed, and no key "
    "of marks. Prints ok with what was recomputed and what was not, or flow_mismatch or run_incomplete with each finding "
    "(docs/flows.md). Exit 1 when it does not hold.")
REQUIRED(verify_flows, "key", "FILE", "Trusted keys, one a line, as writ ledger key prints them.")
VALUE(verify_flows, "config", "FILE",
    "The configuration. It counts for decisions with its policy_digest; for others no verdict is recomputed.")
VALUE(verify_flows, "witness", "FILE",
    "Keys of witnesses, one a line: vkeys of type 4. The witnesses must have signed the checkpoint too.")
VALUE(verify_flows, "quorum", "N",
    "The number of witnesses that must have signed; all by default. Keys of one name are one witness.")
COMMAND(verify_archive, "verify archive", "DIR", 1, 1, "check an archive of a ledger",
    "Reads every file of an archive that `writ ledger archive` wrote, without the ledger: its records and the tiles "
    "must be those of its checkpoint, which a trusted key must have signed. Names the first file that is missing or "
    "differs, with exit 1.")
REQUIRED(verify_archive, "key", "FILE", "Trusted keys, one a line, as writ ledger key prints them.")
COMMAND(verify_export, "verify export", "FILE", 1, 1, "check that a receiver has every event",
    "Reads the events in FILE (- for standard input), one a line, in any format and order, also behind the header of a "
    "syslog message. Checks the signature of each checkpoint, that no index is missing up to the newest one, and that the "
    "tree over the events has the root of every checkpoint. Prints ok with the numbers, or what is missing. Exit 1 when "
    "it does not hold.")
REQUIRED(verify_export, "key", "FILE", "Trusted keys, one a line, as writ ledger key prints them.")
VALUE(verify_export, "from", "N", "Index of the first record that was exported; 0 by default. Then the tree is not checked.")
VALUE(verify_export, "checkpoint", "FILE",
    "A checkpoint from elsewhere, such as from writ ledger checkpoint: the events must reach it.")
COMMAND(verify_timestamp, "verify timestamp", "CHECKPOINT RESPONSE", 2, 2,
    "check the time stamp of a checkpoint",
    "Prints ok and the time (UTC) at which the checkpoint in the file CHECKPOINT existed, by the "
    "authority's RESPONSE (RFC 3161, in DER), or the first reason against it, in the order of "
    "docs/receipts.md. The signatures of the checkpoint are not checked. Exit 1 when the stamp does not hold.")
REQUIRED(verify_timestamp, "ca", "FILE", "PEM file of the root certificates of the trusted authorities.")
COMMAND(verify_credential, "verify credential", "", 0, 0, "check a credential against a call",
    "Prints ok, or the first reason against it, in the order of docs/credentials.md. The call is a "
    "JSON object: tool, arguments, and, to compare them too, aud, iss, "
    "agent_id, tenant (a string or null), target_state_digest (a string or null) and at (the "
    "time). An earlier use of the credential is not checked.")
REQUIRED(verify_credential, "jwks", "FILE", "The public keys of the gateway.")
REQUIRED(verify_credential, "call", "FILE", "The call, as the tool server received it.")
REQUIRED(verify_credential, "token", "FILE", "The credential.")
VALUE(verify_credential, "pin", "FILE",
    "A JWKS that was trusted before: only those public keys count that are in it, or that its "
    "keys reach by their statements of rotation.")
VALUE(verify_credential, "at", "TIME",
    "Judge at this time: seconds since 1970, or RFC 3339. Now by default.")
VALUE(verify_credential, "aud", "URI", "The audience that the credential must have, if the call does not give it.")
VALUE(verify_credential, "iss", "URI", "The issuer that it must have; by default any holder of the keys.")
VALUE(verify_credential, "typ", "TYPE",
    "The typ of its header, `credential.typ` of the gateway; writ-credential+jwt by default.")
VALUE(verify_credential, "skew", "SECONDS", "Difference of clocks to forgive; 0 by default.")
VALUE(verify_credential, "max-lifetime", "SECONDS",
    "Longest lifetime to accept; 3600 by default, and at most.")

COMMAND(verify_keys, "verify keys", "", 0, 0, "follow the rotations from a trusted key",
    "Prints the keys of a JWKS that are in the trusted one, or that its keys reach: each "
    "key that was rotated out signed a statement with its successor. Exit 1 when no key is left, or when "
    "a key names two successors.")
REQUIRED(verify_keys, "jwks", "FILE", "The present public keys.")
REQUIRED(verify_keys, "pin", "FILE", "A JWKS that was trusted before.")

COMMAND(verify_foreign, "verify foreign", "FILE|DIR...", 1, 65536, "check evidence in other formats",
    "Checks signed governance records, authorizations, grants, verdicts, attestations and outcome "
    "records of the profile vaara-v0, one JSON value in each file: its kind, whether its signatures "
    "and digests hold, and the verdict of a gateway on it. A folder stands for its *.json files. "
    "Together the files are one set: records must belong to the same call where they say so, a call has "
    "one outcome, and a run must be complete. Exit 1 for any contradiction. "
    "docs/interop.md has the kinds of files and the deviations.")
REQUIRED(verify_foreign, "profile", "NAME", "The format: vaara-v0.")
VALUE(verify_foreign, "keys", "FILE",
    "The public keys of the signer: one in PEM, or a JWKS. Without them no signature holds.")
VALUE(verify_foreign, "secret", "FILE", "The bytes of the secret of HS256 signatures.")
VALUE(verify_foreign, "revoked", "ID@TIME",
    "Grants of this issuer, or under this secretVersion, count as revoked if they were issued at "
    "this time or later.")

COMMAND(budget_list, "budget list", "CONFIG", 1, 1, "show the rest of each budget",
    "Counts the charges of the calls in the ledger against the budgets of the configuration in their present "
    "windows, as the gateway does. Works while a gateway writes the ledger. Each line has the budget, the amounts used, "
    "left and allowed, the end of the window, which frees all of it, and the owner of the counter: agent, "
    "tenant, upstream and tool, if the budget is separated by them. A budget without charges has one line.")

#define KILL_CALLER(id)                                                                            \
    REQUIRED(id, "token", "FILE", "File with the bearer token of an administrator.")               \
    VALUE(id, "ca", "FILE", "PEM file of the authorities of the gateway's certificate.")

COMMAND(store_status, "store status", "URI|CONFIG", 1, 1, "show the gateways and the database of a ledger",
    "For a ledger on PostgreSQL: each gateway with its epoch, whether it is live, its lease, version, policy and turns; "
    "the size of the log, its last checkpoint and records per second; what the server promises about a commit, and its standbys, "
    "as far as the role may see them. Points out live gateways with different policies or versions. For a ledger in a "
    "file, which has one writer: size, checkpoint, rate, and whether a program has it open. CONFIG is a "
    "configuration file, or the path of a ledger. Exit 1 when something is pointed out.")
COMMAND(kill_pull, "kill pull", "URL KIND VALUE", 3, 3, "stop calls of an agent, tool, tenant or policy, or one credential",
    "URL is that of the admin listener; KIND is agent, tool, tenant, policy or credential; VALUE is the "
    "agent_id, upstream/tool, the tenant, the digest of the policy, or the credential's jti, which is the "
    "decision_id. From then on the gateway allows no such call, and credentials of such calls are "
    "revoked in the status list. The stop holds until it is lifted, also over a restart; that of a credential "
    "until the credential expires. Prints the id of the stop and what it stops, with a warning if the gateway "
    "does not know the name. Exit 1 when the gateway refuses.")
KILL_CALLER(kill_pull)
REQUIRED(kill_pull, "reason", "TEXT", "The reason, for people.")
VALUE(kill_pull, "tenant", "TENANT", "Only calls of this tenant.")

COMMAND(kill_list, "kill list", "URL", 1, 1, "list the stops",
    "One line for each: id, time, kind and value, subject and reason.")
KILL_CALLER(kill_list)

COMMAND(kill_lift, "kill lift", "URL ID", 2, 2, "permit stopped calls again",
    "Credentials that were revoked stay revoked. Exit 1 when the gateway refuses.")
KILL_CALLER(kill_lift)
VALUE(kill_lift, "reason", "TEXT", "Why the calls may run again; the ledger keeps it.")
#undef KILL_CALLER

/* options of every guard */
#define GUARD_OPTIONS(id)                                                                          \
    REQUIRED(id, "keys", "KEYS",                                                                   \
        "The public keys of the gateway: a file, or a URL such as "                                \
        "https://gateway.example.com/.well-known/jwks.json.")                                      \
    REQUIRED(id, "aud", "URI", "The audience that credentials must have: `resource` of the upstream.") \
    REQUIRED(id, "used", "FILE", "The file of used credentials: writ guard init.")                 \
    VALUE(id, "iss", "URI", "The issuer that they must have; by default any holder of the keys.")  \
    VALUE(id, "typ", "TYPE",                                                                       \
        "The typ of their header, `credential.typ` of the gateway; writ-credential+jwt by default.") \
    VALUE(id, "skew", "SECONDS", "Difference of clocks to forgive; 0 by default.")                 \
    VALUE(id, "status", "LIST",                                                                    \
        "The list of revoked credentials: a file, or the gateway's URL and "                       \
        "/.well-known/writ-status-list. A credential is then accepted only with a current list that " \
        "contains it.")
/* options of guards that see calls */
#define GUARD_STATE(id)                                                                            \
    VALUE(id, "policy", "FILE",                                                                    \
        "A configuration file, of the gateway or with `tools` alone. By `state` of the rules of "  \
        "--upstream the guard observes the target of a call right before it, and compares it with the " \
        "state in the credential.")                                                                \
    VALUE(id, "upstream", "NAME", "The name of the tool server in --policy; needed with it.")      \
    FLAG(id, "any-state",                                                                          \
        "Where --policy has no state for a tool, pass its calls with any state in their "          \
        "credential: the server compares it. Without this they are refused.")                      \
    FLAG(id, "open-probes",                                                                        \
        "Pass calls of the tools that --policy uses as state probes without a credential: the "    \
        "gateway calls them so. Every client can then call them.")
#define GUARD_LISTENS(id)                                                                          \
    VALUE(id, "listen", "ADDRESS", "Where to listen; 127.0.0.1:9100 by default.")                  \
    VALUE(id, "host", "NAME", "A further Host that is accepted, besides the address.")             \
    VALUE(id, "header", "NAME", "The header field with the credential; Writ-Credential by default.")

COMMAND(guard_init, "guard init", "PATH", 1, 1, "create the file of used credentials",
    "A guard never creates one, so that a wrong path cannot make used credentials valid again. PATH must not "
    "exist. It and its seal, PATH.seal, get mode 0600, take 25 MiB, and never grow; guards of one machine may "
    "share them.")

COMMAND(guard_http, "guard http", "URL", 1, 1, "pass only calls with a credential to a tool server",
    "A reverse proxy in front of the MCP server URL (http://127.0.0.1:9000, without a path: it keeps the "
    "path of a request). A tools/call needs an unused credential for exactly this call; a "
    "refused call never reaches the server. Other messages pass. Ends with SIGTERM or SIGINT.")
GUARD_LISTENS(guard_http)
GUARD_OPTIONS(guard_http)
GUARD_STATE(guard_http)

COMMAND(guard_check, "guard check", "", 0, 0, "check requests for another proxy",
    "Answers GET /check with 204, or with 401 or 403 and the reason in Writ-Reason, for auth_request "
    "of nginx. The proxy sends the tool in Writ-Tool, and, where it knows them, in "
    "Writ-Params-Hash and Writ-Target-State the digests to compare; fields of the answer have the "
    "claims. A positive answer uses the credential up.")
GUARD_LISTENS(guard_check)
GUARD_OPTIONS(guard_check)

COMMAND(guard_stdio, "guard stdio", "-- CMD...", 1, 256,
    "start a tool server and pass only calls with a credential to it",
    "Runs between the standard streams of the client and those of the server. A tools/call needs a "
    "credential in params._meta[\"io.writ/credential\"]. Ends when either of them ends.")
GUARD_OPTIONS(guard_stdio)
GUARD_STATE(guard_stdio)
#undef GUARD_OPTIONS
#undef GUARD_STATE
#undef GUARD_LISTENS

#include "cli/crew/command.tbl.h"

COMMAND(records_plain, "records plain", "[FILE]", 0, 1, "print records as plain GovernanceDecision JSON",
    "Reads the output of writ ledger export, from FILE or standard input, and prints the records alone, "
    "one JSON object in a line: GovernanceDecision, GovernanceOutcome and GovernanceSeal of the "
    "contract. The member extensions has our own additions.")
COMMAND(records_ours, "records ours", "[FILE]", 0, 1, "check plain records and print them in our form",
    "Reads plain records, as lines, as a list or alone, in any spelling, and prints "
    "{kind, record} for each, in a line, where record is its canonical form. A record that is not valid, or "
    "has a digest that does not recompute, is reported on standard error with all its "
    "faults, and not printed; exit 1. Unknown members pass through.")
