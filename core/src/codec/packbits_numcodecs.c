/* SPDX-License-Identifier: MIT */
/*
 * The codec numcodecs.packbits: bools become bytes of eight, the first in the highest bit, behind a
 * byte that says how many bits of the last one are padding. To zarr-python this is an array→array
 * codec: behind it there is one dimension of uint8.
 */
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "util/checked.h"

typedef struct packbits {
    uint32_t ndim; /* in front of the codec */
} packbits;

static void represent(const void *state, zb__representation *representation) {
    (void)state;
    *representation = (zb__representation){.ndim = 1, .dtype = {.kind = ZB_KIND_UINT, .size = 1}};
}

static enum zb_code shape_after(const void *state, const uint64_t *shape, uint64_t *out,
                                zb_error *err) {
    uint64_t count;
    if (!zb__product_u64(shape, ((const packbits *)state)->ndim, 1, &count))
        return zb_fail(err, ZB_ELIMIT, "a chunk has too many elements");
    out[0] = 1 + count / 8 + (count % 8 != 0);
    return ZB_OK;
}

static enum zb_code encode(const void *state, const uint8_t *in, uint64_t count, uint8_t *out,
                           zb_error *err) {
    (void)state;
    (void)err;
    out[0] = (uint8_t)((8 - count % 8) % 8);
    memset(out + 1, 0, (size_t)(count / 8 + (count % 8 != 0)));
    for (uint64_t i = 0; i < count; i++)
        out[1 + i / 8] |= (uint8_t)((in[i] != 0) << (7 - i % 8));
    return ZB_OK;
}

static enum zb_code decode(const void *state, const uint8_t *in, uint64_t count, uint8_t *out,
                           zb_error *err) {
    (void)state;
    unsigned padding = (unsigned)((8 - count % 8) % 8);
    if (in[0] != padding)
        return zb_fail(err, ZB_EFORMAT, "it says that %u bits are padding, expected %u", in[0],
                       padding);
    for (uint64_t i = 0; i < count; i++)
        out[i] = in[1 + i / 8] >> (7 - i % 8) & 1;
    return ZB_OK;
}

static enum zb_code parse(const zb_json *configuration, const zb__binding *binding, void **state,
                          zb_error *err) {
    (void)configuration;
    if (binding->dtype.kind != ZB_KIND_BOOL)
        return zb_fail(err, ZB_EFORMAT, "it packs bools alone");
    packbits *codec = zb__codec_new_state(sizeof *codec, state, err);
    if (!codec)
        return ZB_ENOMEM;
    codec->ndim = binding->ndim;
    return ZB_OK;
}

static const char *const members[] = {NULL};

const zb__codec_ops zb__codec_numcodecs_packbits = {
    .name = "numcodecs.packbits",
    .kind = ZB__ARRAY_TO_ARRAY,
    .members = members,
    .parse = parse,
    .free = free,
    .array = {.represent = represent,
              .shape = shape_after,
              .encode = encode,
              .decode = decode,
              .is_positional = true,
              .cost = 1000},
};
