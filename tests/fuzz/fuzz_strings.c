/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a stored chunk of strings, or of bytes of any length. One byte comes before it: the
 * number of elements (bits 0 to 2, and one more), whether zstd lies around (bit 3), and whether it
 * is bytes (bit 4). What decodes is encoded and decoded again, to the same elements.
 */
#include "fuzz.h"

#include "codec/elements.h"
#include "codec/encode.h"
#include "types/values.h"
#include "util/scratch.h"
#include "zarrbridge/json.h"

static zb__pipeline *bind(enum zb_kind kind, const char *codecs) {
    const zb__binding binding = {.ndim = 1, .dtype = {.kind = kind, .size = sizeof(zb_slice)}};
    zb__pipeline *pipeline;
    zb_json *json;
    zb_error err;
    REQUIRE_OK(zb_json_parse(codecs, strlen(codecs), &json, &err), err);
    REQUIRE_OK(zb__pipeline_bind(json, &binding, &pipeline, &err), err);
    zb_json_free(json);
    return pipeline;
}

/* NULL for what is refused. The result is one allocation of the exact size. */
static uint8_t *decode(const zb__chunk_layout *layout, zb__scratch *scratch, const uint8_t *in,
                       size_t size, zb__elements *out) {
    zb_error err = {0};
    enum zb_code code = zb__elements_serialised(layout, scratch, in, size, out, &err);
    uint8_t *memory = NULL;
    if (!code) {
        memory = malloc(out->size + out->heap_size);
        REQUIRE(memory);
        zb__elements_move(out, memory);
        code = zb__elements_open(layout, scratch, out, &err);
    }
    REQUIRE(code == err.code && (!code || err.message[0]));
    if (code)
        free(memory);
    return code ? NULL : memory;
}

static void there_and_back(const zb__chunk_layout *layout, zb__scratch *scratch,
                           const uint8_t *elements, size_t count) {
    static const zb_slice fill;
    zb_error err;
    uint64_t bound;
    size_t size;
    zb__elements again;
    REQUIRE_OK(zb__chunk_measure(layout, elements, &bound, &err), err);
    uint8_t *out = malloc((size_t)bound);
    REQUIRE(out);
    REQUIRE_OK(
        zb__chunk_encode(layout, scratch, elements, &fill, true, out, (size_t)bound, &size, &err),
        err);
    uint8_t *memory = decode(layout, scratch, out, size, &again);
    REQUIRE(memory);
    for (size_t i = 0; i < count; i++)
        REQUIRE(zb__values_equal(layout->pipeline->dtype, elements + i * sizeof(zb_slice),
                                 again.data + i * sizeof(zb_slice)));
    free(memory);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    const uint64_t shape[] = {(data[0] & 7u) + 1};
    const zb__chunk_layout *layout;
    zb__elements elements;
    zb_error err;
    static const char *const codecs[] = {"[\"vlen-utf8\"]", "[\"vlen-utf8\",\"zstd\"]",
                                         "[\"vlen-bytes\"]", "[\"vlen-bytes\",\"zstd\"]"};
    zb__pipeline *pipeline =
        bind(data[0] & 16 ? ZB_KIND_BYTES : ZB_KIND_STRING, codecs[data[0] >> 3 & 3]);
    zb__scratch *scratch = zb__scratch_take();
    REQUIRE(scratch);
    REQUIRE_OK(zb__pipeline_layout(pipeline, shape, &layout, &err), err);
    uint8_t *memory = decode(layout, scratch, data + 1, size - 1, &elements);
    if (memory)
        there_and_back(layout, scratch, elements.data, (size_t)shape[0]);
    free(memory);
    zb__scratch_put(scratch);
    zb__chunk_layout_release(layout);
    zb__pipeline_free(pipeline);
    return 0;
}
