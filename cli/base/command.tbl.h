/* command.tbl.h - the commands that each program has; the table of a program begins with them. The
 * first lines of cli/commands/command.tbl.h explain the rows. */
/* clang-format off */

COMMAND(help, "help", "[COMMAND]", 0, 2, "show how a command is used", "")
FLAG(help, "manual", "Print the whole manual page, in the format of man(7).")
