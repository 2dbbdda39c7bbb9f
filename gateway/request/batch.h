/* batch.h - BATCH: several JSON-RPC messages in one POST, which revision 2025-03-26 has.
 *
 * Each message is a request of its own, with its own memory and its own way through the steps: it
 * is read, judged, claimed and recorded as if it had come alone, and all are under way at once. The
 * answers go back together: as one array, or, as soon as one of them is a stream, as events.
 *
 * Refused as a whole, before any of them is looked at: an empty batch, more than
 * WRIT_BATCH_MESSAGES_MAX messages, an initialize or a message of the stateless revision in it, and
 * every batch under a revision that has none (2025-06-18 and later). */
#ifndef WRIT_GATEWAY_BATCH_H
#define WRIT_GATEWAY_BATCH_H

#include "gateway/request/request.h"

#define WRIT_BATCH_MESSAGES_MAX 32

#endif
