/* SPDX-License-Identifier: MIT */
/* Chains of codecs that stand for the filters of HDF5's chunks, and the bytes of these chunks. */
#ifndef ZARRBRIDGE_HDF5_VOL_ENCODED_CHUNK_CHAINS_H
#define ZARRBRIDGE_HDF5_VOL_ENCODED_CHUNK_CHAINS_H

#include "encoded/moved_chunks.h"
#include "zarrbridge/encoded.h"

/* Prints the codecs that stand for the filters of a dataset's own creation list, but for those of a
   mask, into a list that is begun: they come behind the one that makes bytes. False where a filter
   has none. blosc: the configuration where that is among them. (Its containers say all of
   themselves; what is made anew is made as it says.) */
bool vol_chunk_codecs(h5_lib *lib, hid_t dcpl, const zb_json *blosc, uint32_t mask,
                      zb_json_writer *out);

/* The chain of chunks that went through the filters of a dataset's own creation list, but for those
   of a mask; NULL where there is none. The caller frees it. */
zb_chain *vol_chunk_chain(h5_lib *lib, hid_t dcpl, const zb_node *array, bool big, uint32_t mask);

/* Whether elements of the HDF5 type have the bytes of an array's type, maybe in another order. */
bool vol_chunks_same_elements(h5_lib *lib, hid_t type, zb_dtype stored, bool *big);

/* Whether HDF5's chunks are the array's innermost ones. */
bool vol_chunks_same_shape(h5_lib *lib, hid_t dcpl, const zb_node *array);

/* Whether chunks change between two chains without their elements; *why: NULL where they need not
   change at all. */
bool vol_chunks_compare(const zb_chain *from, const zb_chain *to, bool *anew, const char **why);

/* Tells what becomes of a dataset's chunks, and why. */
void vol_chunks_say(const vol_moves *moves, bool may, bool anew, const char *why);

/* The bytes of a chunk of a native dataset, whose size HDF5 has told; and the other way. index: of
   the innermost chunk of moves->node, which is the same chunk. */
herr_t vol_chunk_get(const vol_moves *moves, void *dataset, const uint64_t *index, void *buffer,
                     size_t size);
herr_t vol_chunk_put(const vol_moves *moves, void *dataset, const uint64_t *index,
                     const void *buffer, size_t size);

#endif
