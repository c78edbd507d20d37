/* SPDX-License-Identifier: MIT */
/*
 * The way of a store that takes requests and answers them later (zb_store_submit): no step waits
 * for another stored chunk.
 *
 *     stored chunks --admitted while few are open--> chunk reads --requests--> fetches
 *     an answer --> the chunk read's next step, on the pool: expand, ask for more, decode
 *
 * Fetches go out while fewer are under way than the store says, and while the bytes that are under
 * way or wait for their step leave room in the store's window. Only the caller sleeps for the
 * network; workers come when there is something to do. The store's own threads do nothing but put
 * answers on a list.
 */
#ifndef ZB_READ_FLOW_H
#define ZB_READ_FLOW_H

#include "read/leaf.h"
#include "read/progress.h"
#include "zarrbridge/error.h"

/* Reads the stored chunks, which are of one store; it can submit. progress: NULL, or what the
   caller is told meanwhile, and may cancel the flow by. */
enum zb_code zb__flow_run(zb__stored_chunk *chunks, size_t count, zb__progress *progress,
                          zb_error *err);

#endif
