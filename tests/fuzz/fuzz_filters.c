/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a stored chunk of a pipeline with filters, or of packbits or zfp. Two bytes come
 * before it: the pipeline and the number of elements (and one more). What decodes may be encoded
 * again; where it is not refused, it decodes again.
 */
#include "fuzz.h"

#include "codec/elements.h"
#include "codec/encode.h"
#include "util/scratch.h"
#include "zarrbridge/json.h"

#define CODEC(name, configuration) "{\"name\":\"" name "\",\"configuration\":{" configuration "}},"
#define BYTES "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}}]"

static const struct {
    const char *codecs;
    zb_dtype dtype;
} pipelines[] = {
    {"[" CODEC("numcodecs.delta", "\"dtype\":\"<i4\",\"astype\":\"|i1\"") BYTES,
     {.kind = ZB_KIND_INT, .size = 4}},
    {"[" CODEC("numcodecs.delta", "\"dtype\":\"<f2\"") BYTES, {.kind = ZB_KIND_FLOAT, .size = 2}},
    {"[" CODEC("numcodecs.fixedscaleoffset", "\"offset\":-3,\"scale\":0.1,\"astype\":\"<f4\"")
         BYTES,
     {.kind = ZB_KIND_UINT, .size = 2}},
    {"[" CODEC("numcodecs.quantize", "\"digits\":3,\"astype\":\"<f4\"") BYTES,
     {.kind = ZB_KIND_FLOAT, .size = 8}},
    {"[" CODEC("numcodecs.astype", "\"encode_dtype\":\"<f8\"") BYTES,
     {.kind = ZB_KIND_INT, .size = 8}},
    {"[\"numcodecs.packbits\",\"bytes\"]", {.kind = ZB_KIND_BOOL, .size = 1}},
    {"[" CODEC("bitround", "\"keepbits\":3") BYTES, {.kind = ZB_KIND_COMPLEX, .size = 8}},
    {"[" CODEC("bitround", "\"keepbits\":3") BYTES, {.kind = ZB_KIND_INT, .size = 1}},
    {"[" CODEC("scale_offset", "\"offset\":-7,\"scale\":3") BYTES,
     {.kind = ZB_KIND_INT, .size = 8}},
    {"[" CODEC("scale_offset", "\"offset\":7,\"scale\":2.5") BYTES,
     {.kind = ZB_KIND_FLOAT, .size = 4}},
    {"[" CODEC("cast_value", "\"data_type\":\"float64\",\"rounding\":\"towards-zero\","
                             "\"out_of_range\":\"clamp\"") BYTES,
     {.kind = ZB_KIND_UINT, .size = 8}},
    {"[" CODEC("cast_value", "\"data_type\":\"int64\",\"rounding\":\"towards-positive\","
                             "\"scalar_map\":{\"decode\":[[5,\"NaN\"]]}") BYTES,
     {.kind = ZB_KIND_FLOAT, .size = 2}},
    {"[" CODEC("reshape", "\"shape\":[1,-1]") CODEC("transpose", "\"order\":[1,0]") BYTES,
     {.kind = ZB_KIND_UINT, .size = 2}},
    {"[{\"name\":\"packbits\",\"configuration\":{\"padding_encoding\":\"last_byte\"}}]",
     {.kind = ZB_KIND_BOOL, .size = 1}},
    {"[{\"name\":\"packbits\",\"configuration\":{\"first_bit\":3,\"last_bit\":37}},\"gzip\"]",
     {.kind = ZB_KIND_INT, .size = 8}},
#ifdef ZB_HAVE_ZFP
    {"[{\"name\":\"zfp\",\"configuration\":{\"mode\":\"reversible\"}}]",
     {.kind = ZB_KIND_FLOAT, .size = 8}},
    {"[{\"name\":\"zfp\",\"configuration\":{\"mode\":\"fixed_rate\",\"rate\":9}}]",
     {.kind = ZB_KIND_UINT, .size = 1}},
    {"[\"numcodecs.zfpy\"]", {.kind = ZB_KIND_FLOAT, .size = 4}},
#endif
};

static zb__pipeline *bind(unsigned number) {
    const zb__binding binding = {.ndim = 1, .dtype = pipelines[number].dtype};
    const char *codecs = pipelines[number].codecs;
    zb__pipeline *pipeline;
    zb_json *json;
    zb_error err;
    REQUIRE_OK(zb_json_parse(codecs, strlen(codecs), &json, &err), err);
    REQUIRE_OK(zb__pipeline_bind(json, &binding, &pipeline, &err), err);
    zb_json_free(json);
    return pipeline;
}

/* Decodes from a copy of the exact size; the elements are in the scratch. */
static enum zb_code decode(const zb__chunk_layout *layout, zb__scratch *scratch,
                           const uint8_t *data, size_t size, zb__elements *out) {
    zb_error err = {0};
    uint8_t *in = malloc(size ? size : 1);
    REQUIRE(in);
    memcpy(in, data, size);
    enum zb_code code = zb__elements_serialised(layout, scratch, in, size, out, &err);
    if (!code)
        code = zb__elements_open(layout, scratch, out, &err);
    fuzz_check_error(code, &err);
    free(in);
    return code;
}

static void encode_again(const zb__chunk_layout *layout, zb__scratch *scratch,
                         const zb__elements *elements) {
    const uint8_t fill[16] = {0};
    zb_error err = {0};
    uint64_t bound = zb__chunk_encode_bound(layout);
    uint8_t *copy = malloc(elements->size), *out = malloc((size_t)bound);
    size_t size;
    zb__elements again;
    REQUIRE(copy && out);
    memcpy(copy, elements->data, elements->size);
    enum zb_code code =
        zb__chunk_encode(layout, scratch, copy, fill, true, out, (size_t)bound, &size, &err);
    REQUIRE(!code || code == ZB_EINVAL || zb__chunk_layout_read_only(layout));
    if (!code)
        REQUIRE(size <= bound && decode(layout, scratch, out, size, &again) != ZB_ELIMIT);
    free(copy);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2)
        return 0;
    zb__pipeline *pipeline = bind(data[0] % (sizeof pipelines / sizeof *pipelines));
    zb__scratch *scratch = zb__scratch_take();
    const zb__chunk_layout *layout;
    zb_error err;
    uint64_t count = (uint64_t)data[1] + 1;
    zb__elements elements;
    REQUIRE(scratch);
    REQUIRE_OK(zb__pipeline_layout(pipeline, &count, &layout, &err), err);
    if (decode(layout, scratch, data + 2, size - 2, &elements) == ZB_OK) {
        REQUIRE(elements.size == layout->decoded_size);
        encode_again(layout, scratch, &elements);
    }
    zb__chunk_layout_release(layout);
    zb__pipeline_free(pipeline);
    zb__scratch_put(scratch);
    return 0;
}
