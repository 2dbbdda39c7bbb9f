/* check_tree.h - the checks of the tree over the records: each group has the nodes that are stored
 * for it, and a checkpoint over them that is believed.
 *
 * Only check_record.c includes this. */
#ifndef WRIT_STORE_CHECK_TREE_H
#define WRIT_STORE_CHECK_TREE_H

#include "store/read/check.h"

/** Adds the body of the present record, number `leaf`, to the tree; at the end of a group looks at
 * its checkpoint. After a gap there is no telling, and nothing more is said. WRIT_OK whatever is
 * wrong; WRIT_E_LIMIT, WRIT_E_IO, WRIT_E_BUSY, WRIT_E_NOMEM, WRIT_E_CRYPTO. */
WRIT_RESULT writ_check_tree_add(struct writ_check *v, struct writ_view body, uint64_t leaf);

/** After the last record: names the checkpoints that no later one vouches for. */
void writ_check_tree_end(struct writ_check *v);

#endif
