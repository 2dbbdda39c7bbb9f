/* command.tbl.h - the commands that each program has; the table of a program begins with them. The
 * first lines of cli/commands/command.tbl.h explain the rows. */
/* clang-format off */

COMMAND(help, "help", "[COMMAND]", 0, 2, "show how a command is used", "")
FLAG(help, "manual", "Print the manual page of COMMAND, or of all commands, in the format of man(7).")
VALUE(help, "completion", "SHELL", "Print the completion script for bash, zsh or fish.")
