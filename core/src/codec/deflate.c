/* SPDX-License-Identifier: MIT */
/* There is one decompressor in each scratch, and a compressor for each level that was asked for. */
#include "codec/deflate.h"

#include <libdeflate.h>
#include <stdlib.h>

#include "zarrbridge/error.h"

static enum zb_code create_decoder(void **context, zb_error *err) {
    *context = libdeflate_alloc_decompressor();
    return *context ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for a deflate context");
}

static void free_decoder(void *context) {
    libdeflate_free_decompressor(context);
}

enum zb_code zb__deflate_decoder(zb__scratch *scratch, struct libdeflate_decompressor **out,
                                 zb_error *err) {
    static zb__scratch_slot slot = {.create = create_decoder, .free = free_decoder};
    void *context = NULL;
    enum zb_code code = zb__scratch_use(scratch, &slot, &context, err);
    *out = context;
    return code;
}

enum zb_code zb__deflate_decode(const char *codec, zb__scratch *scratch, const uint8_t *in,
                                size_t size, uint8_t *out, size_t capacity, size_t *consumed,
                                size_t *produced, zb_error *err) {
    struct libdeflate_decompressor *decoder;
    enum zb_code code = zb__deflate_decoder(scratch, &decoder, err);
    if (code)
        return code;
    enum libdeflate_result result =
        libdeflate_deflate_decompress_ex(decoder, in, size, out, capacity, consumed, produced);
    if (result == LIBDEFLATE_INSUFFICIENT_SPACE)
        return zb_fail(err, ZB_EFORMAT, "%s: the data decode to more bytes than expected", codec);
    if (result != LIBDEFLATE_SUCCESS)
        return zb_fail(err, ZB_EFORMAT, "%s: damaged or truncated data", codec);
    return ZB_OK;
}

typedef struct encoders {
    struct libdeflate_compressor *level[ZB__DEFLATE_LEVELS];
} encoders;

static enum zb_code create_encoders(void **context, zb_error *err) {
    *context = calloc(1, sizeof(encoders));
    return *context ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for deflate contexts");
}

static void free_encoders(void *context) {
    encoders *e = context;
    for (int level = 0; level < ZB__DEFLATE_LEVELS; level++)
        libdeflate_free_compressor(e->level[level]);
    free(e);
}

enum zb_code zb__deflate_encoder(zb__scratch *scratch, int level,
                                 struct libdeflate_compressor **out, zb_error *err) {
    static zb__scratch_slot slot = {.create = create_encoders, .free = free_encoders};
    void *context = NULL;
    enum zb_code code = zb__scratch_use(scratch, &slot, &context, err);
    if (code)
        return code;
    struct libdeflate_compressor **encoder = &((encoders *)context)->level[level];
    if (!*encoder)
        *encoder = libdeflate_alloc_compressor(level);
    *out = *encoder;
    return *out ? ZB_OK
                : zb_fail(err, ZB_ENOMEM, "no memory for a deflate context of level %d", level);
}
