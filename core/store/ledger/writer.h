/* writer.h - the thread that owns the ledger. */
#ifndef WRIT_STORE_WRITER_H
#define WRIT_STORE_WRITER_H

#include "store/write/store.h"

/** The thread. */
void *writ_writer_run(void *ledger);
/** Copies the figures for writ_ledger_health. */
void writ_writer_publish(struct writ_ledger *ledger);

/** The participants of every group of a ledger. */
extern const struct writ_participant *const writ_writer_participants[];

#endif
