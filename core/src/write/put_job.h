/* SPDX-License-Identifier: MIT */
/* Storing one chunk of a run (encode_chunks.h): under which lock, and in the place of what. */
#ifndef ZB_WRITE_PUT_JOB_H
#define ZB_WRITE_PUT_JOB_H

#include "base/scratch.h"
#include "write/encode_chunks.h"
#include "write/put_chunk.h"
#include "write/writer.h"

/* Stores the chunk, all of whose units are encoded; sets job->stored. */
enum zb_code zb__job_put(zb_writer *writer, zb__job *job, const zb__encoded *units,
                         zb__scratch *scratch, zb_error *err);

/* True for a chunk that is whole only because the array ends in it, in a store where another
   program may make the array longer and write the rest while this one holds the lock. */
bool zb__chunk_is_open_edge(const zb_writer *writer, const zb__layout *layout,
                            const uint64_t *index);

#endif
