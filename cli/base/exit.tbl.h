/* exit.tbl.h - what the exit code of `writ` says. The enum, --help and the manual are made from it.
 *
 * WRIT_EXIT_ROW(NAME, value, sentence) */
WRIT_EXIT_ROW(OK, 0, "Done; a question was answered with yes.")
WRIT_EXIT_ROW(NEGATIVE, 1, "A clear negative answer: verification failed, denied, or different.")
WRIT_EXIT_ROW(USAGE, 2, "The command line is not valid.")
WRIT_EXIT_ROW(INPUT, 3, "An input could not be found, or is not what it has to be.")
WRIT_EXIT_ROW(ENVIRONMENT, 4, "The system refused: reading, writing, permission or memory.")
