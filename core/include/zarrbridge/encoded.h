/* SPDX-License-Identifier: MIT */
/*
 * Chunks in their encoded form, for conversions that change no encoding.
 *
 * A conversion reads the encoded chunks of its source (an array, or another format's file), and
 * writes them into an array, as chunks or as the inner chunks of shards. What the codecs of both
 * sides agree on stays as it is: all of the bytes, or the stream in them (chains, below). The rest
 * is decoded and encoded. No chunk passes as whole that carries a checksum and is damaged.
 *
 *     zb_chain_of(source, &chain, &err);
 *     zb_encoded chunk = {.index = index};
 *     zb_array_get_encoded(source, NULL, &chunk, 1, &err);
 *     chunk.chain = chain;
 *     zb_writer_put_encoded(writer, &chunk, 1, &err);
 *     zb_encoded_clear(&chunk, 1);
 */
#ifndef ZARRBRIDGE_ENCODED_H
#define ZARRBRIDGE_ENCODED_H

#include "zarrbridge/chain_way.h"
#include "zarrbridge/node.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A chain: what is done to a chunk's elements, from first to last, and the shape and type of these
   chunks. Immutable; any thread. */
typedef struct zb_chain zb_chain;

/* That of an array's innermost chunks. ZB_EUNSUPPORTED, with the reason, where they are not objects
   or parts of objects by themselves, or have several shapes: shards in shards, codecs around
   shards, grids of several extents, inner chunks that do not divide their shard; ZB_EINVAL for a
   group. The chain keeps the node alive. */
ZB_API enum zb_code zb_chain_of(const zb_node *array, zb_chain **out, zb_error *err);

/* The chain of chunks that have the shape and type of an array's innermost ones, and another list
   of codecs (JSON text, as in zb_array_spec; the array→bytes codec included). ZB_EFORMAT,
   ZB_EUNSUPPORTED for lists that the type does not go with. */
ZB_API enum zb_code zb_chain_new(const zb_node *array, const char *codecs, zb_chain **out,
                                 zb_error *err);

ZB_API void zb_chain_free(zb_chain *chain); /* NULL is allowed */

/* Always ZB_CHAIN_NONE where the variable ZARRBRIDGE_MOVE_CHUNKS is "no": who converts then goes by
   elements. *reason: why bytes do not stay as they are, a text that lasts; NULL for ZB_CHAIN_SAME.
   `reason` may be NULL. */
ZB_API enum zb_chain_way zb_chain_compare(const zb_chain *from, const zb_chain *to,
                                          const char **reason);

/* An encoded chunk. */
typedef struct zb_encoded {
    const uint64_t *index; /* [ndim], in the array's grid of innermost chunks (ZB_GRID_INNER) */
    const zb_chain *chain; /* that its bytes went through; NULL: the array's own */
    const void *data;
    size_t size;  /* bytes; 0: not stored, so that all elements have the fill value */
    void *memory; /* malloc'ed, which zb_encoded_clear frees; or NULL */
} zb_encoded;

/* Reads encoded chunks: sets data, size and memory of each, and `chain` to `to`. With a chain `to`
   they are changed to it, and checked; NULL: they are as the array has them, and not looked at.
   Errors as zb_array_read, which names the chunk; ZB_EUNSUPPORTED as zb_chain_of, and for
   ZB_CHAIN_NONE; ZB_EINVAL for an index outside the grid. After an error no chunk has memory. */
ZB_API enum zb_code zb_array_get_encoded(const zb_node *array, const zb_chain *to,
                                         zb_encoded *chunks, size_t count, zb_error *err);

/* Frees what the call above has made; data that the caller has set stay. */
ZB_API void zb_encoded_clear(zb_encoded *chunks, size_t count);

/* Whether chunks that could not be moved may be copied by their elements instead: the error is
   about them, or another writer was in the way. All other errors would only come again. */
ZB_API bool zb_encoded_may_decode(enum zb_code code);

#ifdef __cplusplus
}
#endif
#endif
