/* command.tbl.h - every command of `writ-vectors`; its manual page docs/writ-vectors.1 is made from
 * this table. The first lines of cli/commands/command.tbl.h explain the rows. */
/* clang-format off */

#include "cli/base/command.tbl.h"

COMMAND(run, "run", "DIR|FILE...", 1, 64, "run sets of test vectors",
    "Computes every case of the files, or of all *.json below a folder, and compares what comes out "
    "with what the case expects. An implementer can point it at files of their own: vectors/README.md "
    "has the formats. Files of other formats are counted and left alone. Names each case that differs, "
    "and where; ends with a count. Exit 1 when one differs, or when there was nothing to run.")
