/* SPDX-License-Identifier: MIT */
/*
 * Arrays for tests: random values, encoded into a store in memory by an encoder of the tests' own
 * (it shares no code with the core), and kept in plain C order to compare with.
 */
#ifndef ZB_TEST_ARRAYS_H
#define ZB_TEST_ARRAYS_H

#include "support/check.h"

#define ARRAYS_NDIM 6
#define ARRAYS_DEPTH 3 /* of sharding */
#define ARRAYS_EDGES 8

enum arrays_codec { ARRAYS_RAW, ARRAYS_GZIP, ARRAYS_ZSTD, ARRAYS_CRC32C, ARRAYS_ZSTD_CRC32C };
#define ARRAYS_CODECS 5

/* The specification of an array. All zero but shape, chunk and type is a plain array. */
typedef struct arrays_spec {
    uint32_t ndim;
    uint64_t shape[ARRAYS_NDIM];
    uint64_t chunk[ARRAYS_DEPTH + 1]
                  [ARRAYS_NDIM]; /* [0]: of the grid; [i]: inner chunks of level i */
    /* Along a dimension whose chunks have several extents: of each, [0] of chunk is not used. */
    uint64_t edge[ARRAYS_NDIM][ARRAYS_EDGES];
    uint32_t edges[ARRAYS_NDIM]; /* their number; 0: all have the extent of chunk[0] */
    uint32_t depth;              /* 0: not sharded */
    const char *type;            /* a Zarr name, see arrays_dtype */
    bool big_endian;
    enum arrays_codec codec;        /* of the innermost chunks */
    enum arrays_codec around;       /* behind the outermost shard */
    uint32_t order[2][ARRAYS_NDIM]; /* transposes of the outermost and the innermost pipeline; */
    bool transposed[2];             /* the outer one is used when sharded only */
    bool index_at_start;
    bool scrambled;      /* inner chunks in random order, with gaps */
    unsigned fill_boxes; /* boxes of fill values: chunks inside become missing */
} arrays_spec;

/* Shards in shards, whose inner chunks lie in no order, with the index before them. */
extern const arrays_spec arrays_nested;

/* A codec around the shards, so that inner chunks have no bytes of their own in the object. */
extern const arrays_spec arrays_wrapped;

/* An encoded array. */
typedef struct arrays_sample {
    arrays_spec spec;
    zb_dtype dtype;
    uint64_t elements;
    unsigned char *values; /* C order, host byte order */
} arrays_sample;

zb_dtype arrays_dtype(const char *name);

/* The first element, and the extent, of a chunk of the grid along a dimension. */
uint64_t arrays_edge(const arrays_spec *spec, uint32_t d, uint64_t cell, uint64_t *start);
/* The number of chunks along a dimension. */
uint64_t arrays_cells(const arrays_spec *spec, uint32_t d);

/* A random specification; most are small, all have at most 50 000 elements. */
arrays_spec arrays_random_spec(check_random *random);
/* A line for messages that tells the specification. malloc'ed. */
char *arrays_describe(const arrays_spec *spec);

/* Makes values and writes zarr.json and chunks below path. Free with arrays_free. */
arrays_sample arrays_write(const arrays_spec *spec, check_random *random, zb_hierarchy *mem,
                           const char *path);
/* Makes all values of an int64 array this one and writes its chunks anew. */
void arrays_set_all(arrays_sample *sample, int64_t value, zb_hierarchy *mem, const char *path);
void arrays_free(arrays_sample *sample);

/* The value at index. */
const unsigned char *arrays_at(const arrays_sample *sample, const uint64_t *index);

#endif
