/* SPDX-License-Identifier: MIT */
/* Storing open chunks. */
#ifndef ZB_WRITE_MERGE_H
#define ZB_WRITE_MERGE_H

#include "write/writer.h"
#include "zarrbridge/write.h"

/* Sorts the list of open chunks, stores them, and drops those that it could store. Incomplete ones
   are merged with the stored objects under their locks. The first error is returned. */
enum zb_code zb__merge(zb_writer *writer, zb__open_chunk **chunks, size_t count, zb_error *err);

#endif
