/* SPDX-License-Identifier: MIT */
/* Pipelines and layouts from JSON text, for the tests of pipelines and shards. */
#ifndef ZB_TEST_CODEC_BIND_H
#define ZB_TEST_CODEC_BIND_H

#include "codec/chunk_layout.h"
#include "support/check.h"

static const zb_dtype uint8_type = {.kind = ZB_KIND_UINT, .size = 1};
static const zb_dtype int16_type = {.kind = ZB_KIND_INT, .size = 2};

static inline enum zb_code bind_pipeline(const char *codecs, zb_dtype dtype, uint32_t ndim,
                                         zb__pipeline **out, zb_error *err) {
    zb_json *json;
    ASSERT_OK(zb_json_parse(codecs, strlen(codecs), &json, err), *err);
    const zb__binding binding = {.ndim = ndim, .dtype = dtype};
    enum zb_code code = zb__pipeline_bind(json, &binding, out, err);
    zb_json_free(json); /* a bound pipeline does not need it any more */
    return code;
}

/* Frees a layout and its pipeline. */
static inline void free_layout(const zb__chunk_layout *layout) {
    zb__pipeline *pipeline = (zb__pipeline *)layout->pipeline;
    zb__chunk_layout_release(layout);
    zb__pipeline_free(pipeline);
}

/* The layout of one shape, with a pipeline of its own. */
static inline enum zb_code bind_text(const char *codecs, zb_dtype dtype, uint32_t ndim,
                                     const uint64_t *shape, const zb__chunk_layout **out,
                                     zb_error *err) {
    zb__pipeline *pipeline;
    enum zb_code code = bind_pipeline(codecs, dtype, ndim, &pipeline, err);
    if (code)
        return code;
    code = zb__pipeline_layout(pipeline, shape, out, err);
    if (code)
        zb__pipeline_free(pipeline);
    return code;
}

/* The layout of chunks of shape 6 x 4, or of a shape of one's own. */
static inline const zb__chunk_layout *bind_shape(const char *codecs, zb_dtype dtype, uint32_t ndim,
                                                 const uint64_t *shape) {
    zb_error err;
    const zb__chunk_layout *layout;
    if (bind_text(codecs, dtype, ndim, shape, &layout, &err))
        fail_msg("%s: %s", codecs, err.message);
    return layout;
}

static inline const zb__chunk_layout *bind_6x4(const char *codecs, zb_dtype dtype) {
    return bind_shape(codecs, dtype, 2, (const uint64_t[]){6, 4});
}

static inline void assert_refused(const char *codecs, enum zb_code code, const char *text) {
    zb_error err;
    const zb__chunk_layout *layout;
    ASSERT_FAILS(bind_text(codecs, int16_type, 2, (const uint64_t[]){6, 4}, &layout, &err), code,
                 err, text);
}

#endif
