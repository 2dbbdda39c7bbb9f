/* command.tbl.h - every command of `writ` and its options: dispatch, option parsing, --help and
 * the manual page docs/writ.1 are made from this table. In the order in which help shows them.
 *
 * COMMAND(id, "words", "OPERANDS", least, most, "summary", "text")
 *     id        writ_command_<id> runs it, in cli/<first word>.c
 *     words     one or two words, as typed
 *     OPERANDS  how help shows what is not an option; least..most of them are accepted
 *     summary   a few words, no full stop
 *     text      whole sentences; "" when the summary says it all
 *
 * FLAG(id, "name", "sentence")                 an option without a value
 * VALUE(id, "name", "ARG", "sentence")         at most once
 * REQUIRED(id, "name", "ARG", "sentence")      exactly once
 * MANY(id, "name", "ARG", "sentence")          any number of times
 *
 * --json and --help are options of every command and not in here. */

COMMAND(help, "help", "[COMMAND]", 0, 2, "show how a command is used", "")
FLAG(help, "manual", "Print the whole manual page (docs/writ.1), in the format of man(7).")
