/* SPDX-License-Identifier: MIT */
/*
 * The codec numcodecs.shuffle, HDF5's shuffle filter: byte 0 of all elements, then byte 1 of all,
 * and so on. What is no whole number of elements is refused, as by numcodecs.
 */
#include "codec/shuffle.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "codec/blosc.h"
#include "codec/codec.h"
#include "codec/configuration.h"

typedef struct shuffle {
    size_t element_size; /* bytes, at least 1 */
} shuffle;

static enum zb_code check(const shuffle *codec, size_t size, zb_error *err) {
    if (size % codec->element_size == 0)
        return ZB_OK;
    return zb_fail(err, ZB_EFORMAT, "shuffle: %zu bytes are no whole number of elements of %zu",
                   size, codec->element_size);
}

static enum zb_code shuffle_decode(const void *state, zb__scratch *scratch, const uint8_t *in,
                                   size_t size, zb__sink *sink, zb_error *err) {
    const shuffle *codec = state;
    (void)scratch;
    if (size > sink->capacity || (sink->exact && size < sink->capacity))
        return zb_fail(err, ZB_EFORMAT, "shuffle: the data decode to %zu bytes, expected %s%zu",
                       size, sink->exact ? "" : "at most ", sink->capacity);
    enum zb_code code = check(codec, size, err);
    if (code)
        return code;
    sink->size = size;
    if (codec->element_size > 1)
        zb__unshuffle(zb__simd_best(), codec->element_size, in, size, sink->data);
    else if (size > 0)
        memcpy(sink->data, in, size);
    return ZB_OK;
}

static uint64_t shuffle_encode_bound(uint64_t size) {
    return size;
}

static enum zb_code shuffle_encode(const void *state, zb__scratch *scratch, const uint8_t *in,
                                   size_t size, uint8_t *out, size_t capacity, size_t *written,
                                   zb_error *err) {
    const shuffle *codec = state;
    (void)scratch;
    if (size > capacity)
        return zb_fail(err, ZB_EINVAL, "shuffle: %zu bytes cannot be encoded into %zu", size,
                       capacity);
    enum zb_code code = check(codec, size, err);
    if (code)
        return code;
    if (codec->element_size > 1)
        zb__shuffle(zb__simd_best(), codec->element_size, in, size, out);
    else if (size > 0)
        memcpy(out, in, size);
    *written = size;
    return ZB_OK;
}

/* The size that a document leaves out is that of the array's elements, as zarr-python takes it. */
static enum zb_code shuffle_parse(const zb_json *configuration, const zb__binding *binding,
                                  void **state, zb_error *err) {
    shuffle *codec = zb__codec_new_state(sizeof *codec, state, err);
    if (!codec)
        return ZB_ENOMEM;
    uint32_t item = zb_dtype_is_variable(binding->dtype) ? 1 : binding->dtype.size;
    int size = item < INT_MAX ? (int)item : INT_MAX;
    enum zb_code code = ZB_OK;
    if (zb__configuration_given(configuration, "elementsize"))
        code = zb__configuration_integer(configuration, "elementsize", 0, INT_MAX, &size, err);
    codec->element_size = size > 1 ? (size_t)size : 1;
    return code;
}

size_t zb__shuffle_element_size(const void *state) {
    return ((const shuffle *)state)->element_size;
}

static bool shuffle_same(const void *a, const void *b) {
    return ((const shuffle *)a)->element_size == ((const shuffle *)b)->element_size;
}

static void print_element_size(zb_json_writer *writer, const char *member, zb_dtype dtype) {
    (void)member;
    zb_json_write_uint64(writer, zb_dtype_is_variable(dtype) ? 1 : dtype.size);
}

static const char *const members[] = {"elementsize", NULL};
static const char *const defaults[] = {NULL};

const zb__codec_ops zb__codec_numcodecs_shuffle = {
    .name = "numcodecs.shuffle",
    .kind = ZB__BYTES_TO_BYTES,
    .members = members,
    .defaults = defaults,
    .print_default = print_element_size,
    .parse = shuffle_parse,
    .free = free,
    .same = shuffle_same,
    .bytes = {.stream = ZB__STREAM_SHUFFLED,
              .decode = shuffle_decode,
              .encode_bound = shuffle_encode_bound,
              .encode = shuffle_encode,
              .fixed_overhead = 0,
              .cost = 100},
};
