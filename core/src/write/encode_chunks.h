/* SPDX-License-Identifier: MIT */
/* Encoding chunks and storing them. */
#ifndef ZB_WRITE_ENCODE_CHUNKS_H
#define ZB_WRITE_ENCODE_CHUNKS_H

#include "read/piece.h"
#include "write/live.h"
#include "write/put_chunk.h"
#include "write/writer.h"
#include "zarrbridge/sys/store.h"
#include "zarrbridge/write.h"

/* Bytes for each unit of a chunk besides the units: lists of the encoded units, of those taken
   over, and of the object's parts; the entries of its old and new index, decoded and encoded. */
#define ZB__UNIT_LISTS 112

/* A chunk to encode and put. Its units come from the caller's memory or from an open chunk. */
typedef struct zb__job {
    const uint64_t *index;      /* in the array's grid */
    const zb__layout *layout;   /* of the chunk; the caller's, or that of the open chunk */
    zb__piece *piece;           /* covers the chunk: stored dimensions, the chunk's coordinates */
    const zb__open_chunk *open; /* when piece is NULL: complete except for the units in `kept` */
    const zb__encoded *kept;    /* [units] taken over from the stored object, or NULL */
    zb_lock *lock;              /* held by the caller; NULL: taken around the put */
    const zb__live *live;       /* the stored object is to be changed instead, or NULL */
    bool stored;                /* result: the chunk was put */
} zb__job;

/* Encodes all units of all jobs in parallel and puts each object. is_reserved: the caller has
   reserved memory for their encoded units (zb__work_begin); else the calling thread may have to
   wait for some, and must hold no lock. */
enum zb_code zb__jobs_run(zb_writer *writer, zb__job *jobs, size_t count, bool is_reserved,
                          zb_error *err);

#endif
