/* SPDX-License-Identifier: MIT */
/* Chunks that come together: for an array that the caller has just made, and fills. */
#ifndef ZARRBRIDGE_HIDDEN_CHUNKS_H
#define ZARRBRIDGE_HIDDEN_CHUNKS_H

#include "zarrbridge/write.h"

#ifdef __cplusplus
extern "C" {
#endif

/* From here on the writer stores whole chunks, and shards, out of sight, until zb_writer_show, a
   flush, or the first part of a chunk that is merged: then all of them come in one step. Nobody is
   in the way, so that each takes a tenth of the calls of the system. A writer that is killed, or
   abandoned, before leaves none of them. Nothing is hidden where that is not to be had: where
   chunks are there, in stores other than local directories, with keys that have no directory of
   their own, where several machines write. */
ZB_API void zb_writer_hide(zb_writer *writer);

/* ZB_ECONFLICT, and none of the chunks comes, where another program has written chunks meanwhile,
   or has changed the array's shape or taken it away; other errors of the store. The writer's
   flushes fail from then on, as after one that has lost chunks. ZB_OK where nothing is hidden. */
ZB_API enum zb_code zb_writer_show(zb_writer *writer, zb_error *err);

#ifdef __cplusplus
}
#endif
#endif
