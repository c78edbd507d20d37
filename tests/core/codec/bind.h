/* SPDX-License-Identifier: MIT */
/* Chains from JSON text, for the tests of chains and shards. */
#ifndef ZB_TEST_CODEC_BIND_H
#define ZB_TEST_CODEC_BIND_H

#include "codec/chain.h"
#include "support/check.h"

static const zb_dtype uint8_type = {.kind = ZB_KIND_UINT, .size = 1};
static const zb_dtype int16_type = {.kind = ZB_KIND_INT, .size = 2};

static inline enum zb_code bind_text(const char *codecs, zb_dtype dtype, uint32_t ndim,
                                     const uint64_t *shape, zb__chain **out, zb_error *err) {
    zb_json *json;
    ASSERT_OK(zb_json_parse(codecs, strlen(codecs), &json, err), *err);
    enum zb_code code = zb__chain_bind(json, dtype, ndim, shape, 0, out, err);
    zb_json_free(json); /* a bound chain needs it no more */
    return code;
}

/* A chain of chunks of shape 6 x 4, or of a shape of one's own. */
static inline zb__chain *bind_shape(const char *codecs, zb_dtype dtype, uint32_t ndim,
                                    const uint64_t *shape) {
    zb_error err;
    zb__chain *chain;
    if (bind_text(codecs, dtype, ndim, shape, &chain, &err))
        fail_msg("%s: %s", codecs, err.message);
    return chain;
}

static inline zb__chain *bind_6x4(const char *codecs, zb_dtype dtype) {
    return bind_shape(codecs, dtype, 2, (const uint64_t[]){6, 4});
}

static inline void assert_refused(const char *codecs, enum zb_code code, const char *text) {
    zb_error err;
    zb__chain *chain;
    ASSERT_FAILS(bind_text(codecs, int16_type, 2, (const uint64_t[]){6, 4}, &chain, &err), code,
                 err, text);
}

#endif
