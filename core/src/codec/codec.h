/* SPDX-License-Identifier: MIT */
/*
 * The definition of a codec: a constant zb__codec_ops in a file of its own, and a line in the table
 * of table.c. docs/adding-a-codec.md tells how to add one.
 *
 * A codec is bound once, when an array is opened: parse makes a state of its configuration, into
 * which only the codec looks. It is immutable, so that any number of threads encode and decode with
 * it at once, each with its own scratch. Anything that a codec keeps between two chunks (a
 * compressor's context) lies in the scratch, in a zb__scratch_slot of its own.
 */
#ifndef ZB_CODEC_CODEC_H
#define ZB_CODEC_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/scratch.h"
#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"

struct zb__elements;
struct zb__chunk_layout;
struct zb__encoding;
struct zb__elements_view;
struct zb__serialised;

enum zb__codec_kind { ZB__ARRAY_TO_ARRAY, ZB__ARRAY_TO_BYTES, ZB__BYTES_TO_BYTES };

/* The place and the data that a codec is bound for. */
typedef struct zb__binding {
    uint32_t ndim;
    zb_dtype dtype; /* of the elements; behind the array→bytes codec those that a read gives */
    uint32_t depth; /* shards around */
    const struct zb__filters *filters; /* of the shard around (filters.h), or NULL */
    const void *fill;                  /* the array's fill value; NULL where there is none */
    bool is_index;                     /* of a shard */
    bool is_draft; /* of an array, or of inner chunks of the sharding draft of March 2023: as in the
                      drafts before July 2023 the array→bytes codec, or the whole list, may be
                      missing and stands for little-endian bytes */
} zb__binding;

/* What a codec of the pipeline is given, or gives, but for the shape of one chunk. */
typedef struct zb__representation {
    uint32_t ndim;
    zb_dtype dtype; /* host byte order */
} zb__representation;

/* The destination of decoded bytes. The decoder never writes past `capacity`, whatever the data
   claim. */
typedef struct zb__sink {
    uint8_t *data;
    size_t capacity;
    bool exact;    /* the decoded size must be `capacity`; else any size up to it is right */
    size_t lo, hi; /* the bytes that are wanted, lo <= hi <= capacity; others may stay undefined. A
                      decoder that made more of them than that widens the two. */
    size_t size;   /* set by the decoder: the decoded size; with hi < capacity at least hi */
} zb__sink;

/* An array→array codec: one that permutes dimensions, or a filter (filters.h). */
typedef struct zb__array_ops {
    /* Of a permutation, which has no other member. axis[i] is the dimension that stored dimension i
       holds before this codec; on return, behind it. */
    void (*compose)(const void *state, uint32_t ndim, uint32_t *axis);
    /* Changes the representation to the one behind the filter. NULL: it stays. */
    void (*represent)(const void *state, zb__representation *representation);
    /* The shape behind the filter of a chunk of that shape, which it may refuse. NULL: it stays. */
    enum zb_code (*shape)(const void *state, const uint64_t *shape, uint64_t *out, zb_error *err);
    /* `count` is the number of elements in front of the filter. Neither buffer is aligned; they do
       not overlap. A value that has no place in the other type is ZB_EINVAL when encoding, and
       ZB_EFORMAT when decoding. */
    enum zb_code (*encode)(const void *state, const uint8_t *in, uint64_t count, uint8_t *out,
                           zb_error *err);
    enum zb_code (*decode)(const void *state, const uint8_t *in, uint64_t count, uint8_t *out,
                           zb_error *err);
    /* An element behind the filter depends on more than one in front of it, or on its place. */
    bool is_positional;
    /* Behind the filter the fill value is the same number, not the encoded one: as zarr-python does
       it for the filters of numcodecs. */
    bool keeps_fill;
    /* As for bytes→bytes codecs. */
    unsigned cost;
} zb__array_ops;

/* An array→bytes codec. A serialised chunk is one of three things:
   - its elements in C order of the stored dimensions, side by side (is_elements). Any range of them
     can be read where it lies, and a read scatters them from there;
   - chunks of chunks: the layout that prepare has completed tells how it is opened up;
   - something from which `decode` makes the elements. */
typedef struct zb__serializer_ops {
    bool is_elements;
    /* decode_bound is exact; always so when is_elements. */
    bool is_sized;
    /* The filters in front are handed to the pipeline of the inner chunks. */
    bool passes_filters;
    /* The type of the elements as they are stored: another byte order. NULL: the type stays. */
    zb_dtype (*stored_dtype)(const void *state, zb_dtype dtype);
    /* Completes a layout, whose shape and decoded size are set, with the codec's own part of it,
       and refuses a shape that does not go with the state. NULL: there is nothing to add. A part
       added to a layout that it refuses is freed with the layout. */
    enum zb_code (*prepare)(const void *state, struct zb__chunk_layout *layout, zb_error *err);
    /* The size of a serialised chunk that is to be decoded: exact when is_elements, else at
       most. */
    uint64_t (*decode_bound)(const struct zb__chunk_layout *layout);
    /* Makes elements->data of the serialised chunk in elements->heap, which stays where it is for
       as long as the elements and may be changed: what has a variable length points into it
       (elements.h). All is checked: what does not add up is ZB_EFORMAT. */
    enum zb_code (*decode)(const void *state, const struct zb__chunk_layout *layout,
                           struct zb__elements *elements, zb_error *err);
    /* The most bytes that encode makes of a chunk; UINT64_MAX when they are too many. Where
       `measure` says it: what it makes of usual elements, which budgets go by. */
    uint64_t (*encode_bound)(const struct zb__chunk_layout *layout);
    /* The most bytes that encode makes of the elements that the view shows, where the layout alone
       does not tell. NULL: encode_bound does. */
    enum zb_code (*measure)(const struct zb__encoding *e, const struct zb__chunk_layout *layout,
                            const struct zb__elements_view *view, uint64_t *size, zb_error *err);
    /* Serialises the elements that the view shows (encode.h). */
    enum zb_code (*encode)(const struct zb__encoding *e, const struct zb__chunk_layout *layout,
                           const struct zb__elements_view *view, struct zb__serialised *out,
                           zb_error *err);
    /* The reason why chunks of this state are read and not written; NULL: they are written. NULL in
       place of the function: always. */
    const char *(*read_only)(const void *state);
    /* As for bytes→bytes codecs. */
    unsigned cost;
} zb__serializer_ops;

/* What the encoded bytes of a bytes→bytes codec are, for chains that hold the same stream in
   another wrapping (chain.h). */
enum zb__stream {
    ZB__STREAM_OWN, /* nothing that is known beyond the codec */
    ZB__STREAM_SUM, /* the input, and a checksum beside it */
    ZB__STREAM_GZIP,
    ZB__STREAM_ZLIB,
    ZB__STREAM_ZSTD,
    ZB__STREAM_SHUFFLED, /* the bytes of the input, like ones together (shuffle.h) */
    ZB__STREAM_BLOSC
};

/* A bytes→bytes codec. */
typedef struct zb__bytes_ops {
    enum zb__stream stream;
    /* Decodes in[0..size). Fewer or more bytes than an exact sink wants, and trailing garbage, are
       ZB_EFORMAT; a checksum that does not match is ZB_ECHECKSUM. */
    enum zb_code (*decode)(const void *state, zb__scratch *scratch, const uint8_t *in, size_t size,
                           zb__sink *sink, zb_error *err);
    /* The most bytes that encoding `size` bytes can give; UINT64_MAX when they are too many. */
    uint64_t (*encode_bound)(uint64_t size);
    /* Encodes in[0..size) into out[0..capacity), capacity at least the bound. Equal input gives
       equal output. */
    enum zb_code (*encode)(const void *state, zb__scratch *scratch, const uint8_t *in, size_t size,
                           uint8_t *out, size_t capacity, size_t *written, zb_error *err);
    /* Both or none: the encoded bytes are the input and some bytes behind it, so that between two
       codecs nothing is copied. strip checks those bytes behind the input and sets *payload to the
       size of the input; append puts them behind data[0..size), within the capacity. */
    enum zb_code (*strip)(const uint8_t *in, size_t size, size_t *payload, zb_error *err);
    enum zb_code (*append)(uint8_t *data, size_t size, size_t capacity, size_t *written,
                           zb_error *err);
    /* Encoded size minus decoded size where that is a constant, else -1. */
    int fixed_overhead;
    /* The encoded bytes carry a checksum of them all, which bytes that are all zero do not have: a
       half-written chunk is found. */
    bool is_checksum;
    /* Decoding [lo, hi) alone is cheaper than decoding all. */
    bool is_partial;
    /* The rough cost of decoding, in nanoseconds per KiB of decoded bytes. */
    unsigned cost;
} zb__bytes_ops;

typedef struct zb__codec_ops {
    const char *name;     /* as in the metadata */
    const char *old_name; /* another one that is read; NULL. Written where it is numcodecs' */
    enum zb__codec_kind kind;
    /* Of the configuration, NULL-terminated, in the order that zarr-python writes. */
    const char *const *members;
    /* The value that a new array gets for each member that its creator does not give, as JSON text;
       NULL: none has one. A NULL in the list stands for one that depends on the data type, which
       print_default writes; without print_default the member is left out. */
    const char *const *defaults;
    void (*print_default)(zb_json_writer *writer, const char *member, zb_dtype dtype);
    /* Checks the values of the configuration (object or NULL; its members are listed above) and
       makes the state of them: for a missing member, with the value that zarr-python takes. A state
       that was made is freed after an error as well. NULL: no members, no state. */
    enum zb_code (*parse)(const zb_json *configuration, const zb__binding *binding, void **state,
                          zb_error *err);
    void (*free)(void *state);
    /* True if two states decode every chunk alike; settings that only encoding needs may differ.
       NULL: always. */
    bool (*same)(const void *a, const void *b);
    union { /* by kind */
        zb__array_ops array;
        zb__serializer_ops serializer;
        zb__bytes_ops bytes;
    };
} zb__codec_ops;

/* A codec of a pipeline. */
typedef struct zb__codec {
    const zb__codec_ops *ops;
    void *state; /* owned; the codec's own type */
} zb__codec;

/* Frees the state. */
void zb__codec_free(zb__codec *codec);

/* Zeroed memory for a state; NULL with an error when memory runs out. */
void *zb__codec_new_state(size_t size, void **state, zb_error *err);

#endif
