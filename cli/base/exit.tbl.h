/* exit.tbl.h - the exit codes of `writ`. The enum, --help and the manual are made from it.
 *
 * WRIT_EXIT_ROW(NAME, value, sentence) */
WRIT_EXIT_ROW(OK, 0, "Done; the answer to a question is yes.")
WRIT_EXIT_ROW(NEGATIVE, 1, "A clear negative answer: verification failed, denied, or different.")
WRIT_EXIT_ROW(USAGE, 2, "The command line is not valid.")
WRIT_EXIT_ROW(INPUT, 3, "An input is missing or malformed.")
WRIT_EXIT_ROW(ENVIRONMENT, 4, "The system failed: reading, writing, permission or memory.")
