/* fold.h - characters that software turns into an ASCII character: fold.tbl.h. */
#ifndef WRIT_POLICY_FOLD_H
#define WRIT_POLICY_FOLD_H

#include "base/bytes.h"

/** Whether the code point folds to one visible ASCII character: NFKC, look-alikes of the slash and
 * the dots of domain names. `ret` is then that character. */
bool writ_fold_point(uint32_t point, char *ret);

#endif
