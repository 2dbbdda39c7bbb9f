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

COMMAND(json_canon, "json canon", "[FILE]", 0, 1, "print the canonical form of a JSON text",
    "Reads one JSON text strictly from FILE, or from standard input without FILE or with -, and "
    "prints its canonical form (RFC 8785). A pipe or file gets exactly the canonical bytes; a "
    "terminal gets a line end after them. Duplicate member names, invalid UTF-8, lone surrogates, "
    "numbers that a double would change into others, and bytes after the value are refused with "
    "the byte offset.")
COMMAND(json_digest, "json digest", "[FILE]", 0, 1, "print the digest of a JSON text",
    "Reads as json canon does and prints sha256: and the SHA-256 of the canonical form in "
    "hexadecimal, the digest that records and credentials carry.")
