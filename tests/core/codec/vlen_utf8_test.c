/* SPDX-License-Identifier: MIT */
/* Chunks of vlen-utf8: one of zarr-python's, and chunks that no reader may accept. */
#include "support/check.h"

#include "codec/elements.h"
#include "codec/encode.h"
#include "util/scratch.h"

/* The layout of chunks of [2,2] strings. */
typedef struct fixture {
    zb__pipeline *pipeline;
    const zb__chunk_layout *layout;
    zb__scratch *scratch;
} fixture;

static fixture bind(const char *codecs) {
    fixture f = {.scratch = zb__scratch_take()};
    const zb__binding binding = {.ndim = 2,
                                 .dtype = {.kind = ZB_KIND_STRING, .size = sizeof(zb_slice)}};
    const uint64_t shape[] = {2, 2};
    zb_json *json;
    zb_error err;
    ASSERT_OK(zb_json_parse(codecs, strlen(codecs), &json, &err), err);
    ASSERT_OK(zb__pipeline_bind(json, &binding, &f.pipeline, &err), err);
    ASSERT_OK(zb__pipeline_layout(f.pipeline, shape, &f.layout, &err), err);
    zb_json_free(json);
    return f;
}

static void unbind(fixture *f) {
    zb__chunk_layout_release(f->layout);
    zb__pipeline_free(f->pipeline);
    zb__scratch_put(f->scratch);
}

/* From an exact copy of the bytes, whose ends the address sanitizer guards. */
static enum zb_code decode(fixture *f, const void *data, size_t size, zb__elements *out,
                           zb_error *err) {
    uint8_t *in = malloc(size ? size : 1);
    if (size)
        memcpy(in, data, size);
    enum zb_code code = zb__elements_serialised(f->layout, f->scratch, in, size, out, err);
    free(in);
    if (code)
        return code;
    uint8_t *memory = aligned_alloc(64, (out->size + out->heap_size + 63) / 64 * 64);
    zb__elements_move(out, memory);
    code = zb__elements_open(f->layout, f->scratch, out, err);
    if (code)
        free(memory);
    return code;
}

/* zarr-python's chunk of ["a", "", "Grüße", "日"]. */
static const uint8_t chunk[] = {4,    0,   0, 0, 1, 0, 0,    0,    'a',  0,    0,
                                0,    0,   7, 0, 0, 0, 'G',  'r',  0xc3, 0xbc, 0xc3,
                                0x9f, 'e', 3, 0, 0, 0, 0xe6, 0x97, 0xa5};
static const char *const texts[] = {"a", "", "Grüße", "日"};

static void reads_a_chunk(void **state) {
    (void)state;
    fixture f = bind("[\"vlen-utf8\"]");
    zb__elements elements;
    zb_error err;
    ASSERT_OK(decode(&f, chunk, sizeof chunk, &elements, &err), err);
    const zb_slice *slices = (const zb_slice *)(const void *)elements.data;
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(slices[i].size, strlen(texts[i]));
        assert_memory_equal(slices[i].data, texts[i], slices[i].size);
    }
    free(elements.data);
    unbind(&f);
}

static void writes_a_chunk(void **state) {
    (void)state;
    static const char *const pipelines[] = {"[\"vlen-utf8\"]",
                                            "[\"vlen-utf8\",\"zstd\",\"crc32c\"]"};
    zb_slice slices[4], fill = {"", 0};
    zb_error err;
    for (size_t i = 0; i < 4; i++)
        slices[i] = (zb_slice){texts[i], strlen(texts[i])};
    for (size_t c = 0; c < 2; c++) {
        fixture f = bind(pipelines[c]);
        uint64_t bound;
        size_t size;
        const uint8_t *data = (const uint8_t *)slices;
        ASSERT_OK(zb__chunk_measure(f.layout, data, &bound, &err), err);
        uint8_t *out = malloc((size_t)bound);
        ASSERT_OK(zb__chunk_encode(f.layout, f.scratch, data, &fill, false, out, (size_t)bound,
                                   &size, &err),
                  err);
        if (c == 0) {
            assert_int_equal(bound, sizeof chunk);
            assert_int_equal(size, sizeof chunk);
            assert_memory_equal(out, chunk, size);
            ASSERT_FAILS(zb__chunk_encode(f.layout, f.scratch, data, &fill, false, out, size - 1,
                                          &size, &err),
                         ZB_EINVAL, err, "cannot be stored in");
        }
        zb__elements back;
        ASSERT_OK(decode(&f, out, size ? size : sizeof chunk, &back, &err), err);
        assert_int_equal(((const zb_slice *)(const void *)back.data)[2].size, 7);
        free(back.data);
        /* All fill: left out, or not. */
        const zb_slice same[] = {{"x", 1}, {"x", 1}, {"x", 1}, {"x", 1}}, x = {"x", 1};
        ASSERT_OK(zb__chunk_encode(f.layout, f.scratch, (const uint8_t *)same, &x, false, out,
                                   (size_t)bound, &size, &err),
                  err);
        assert_int_equal(size, 0);
        ASSERT_OK(zb__chunk_encode(f.layout, f.scratch, (const uint8_t *)same, &x, true, out,
                                   (size_t)bound, &size, &err),
                  err);
        assert_true(size > 0);
        free(out);
        unbind(&f);
    }
}

static void refuses_what_does_not_add_up(void **state) {
    (void)state;
    fixture f = bind("[\"vlen-utf8\"]");
    static const struct {
        size_t at;
        uint8_t value;
        const char *message;
    } cases[] = {
        {0, 3, "it says that it has 3 elements, expected 4"},
        {0, 5, "it says that it has 5 elements, expected 4"},
        {3, 255, "elements, expected 4"},
        {4, 2, "element 1"}, /* the next length is then read from elsewhere */
        {7, 255, "element 0 has 4278190081 bytes where 23 are left"},
        {24, 4, "element 3 has 4 bytes where 3 are left"},
        {24, 2, "element 3 is no UTF-8 text"}, /* cut inside a character */
        {24, 0, "3 bytes follow the last element"},
        {8, 0x80, "element 0 is no UTF-8 text"},
        {19, 0xc0, "element 2 is no UTF-8 text"}, /* overlong */
        {28, 0xff, "element 3 is no UTF-8 text"},
    };
    zb__elements elements;
    zb_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t bad[sizeof chunk];
        memcpy(bad, chunk, sizeof chunk);
        bad[cases[i].at] = cases[i].value;
        ASSERT_FAILS(decode(&f, bad, sizeof bad, &elements, &err), ZB_EFORMAT, err,
                     cases[i].message);
    }
    for (size_t size = 0; size < sizeof chunk; size++)
        ASSERT_FAILS(decode(&f, chunk, size, &elements, &err), ZB_EFORMAT, err, "");
    const zb_slice bad[] = {{"\xed\xa0\x80", 3}, {"", 0}, {"", 0}, {"", 0}};
    uint64_t bound;
    ASSERT_FAILS(zb__chunk_measure(f.layout, (const uint8_t *)bad, &bound, &err), ZB_EINVAL, err,
                 "element 0 of the box is no UTF-8 text");
    unbind(&f);
}

/* Each byte of a chunk gets each value: it decodes, or is refused. */
static void survives_damage(void **state) {
    (void)state;
    static const char *const pipelines[] = {"[\"vlen-utf8\"]", "[\"vlen-utf8\",\"gzip\"]"};
    for (size_t c = 0; c < 2; c++) {
        fixture f = bind(pipelines[c]);
        uint8_t stored[256];
        size_t size = sizeof chunk;
        zb_error err;
        memcpy(stored, chunk, size);
        if (c == 1)
            ASSERT_OK(zb__pipeline_encode(f.pipeline, f.scratch, chunk, sizeof chunk, stored,
                                          sizeof stored, &size, &err),
                      err);
        for (size_t at = 0; at < size; at++) {
            for (unsigned value = 0; value < 256; value++) {
                zb__elements elements;
                uint8_t old = stored[at];
                stored[at] = (uint8_t)value;
                enum zb_code code = decode(&f, stored, size, &elements, &err);
                if (code == ZB_OK)
                    free(elements.data);
                else
                    assert_true(code == ZB_EFORMAT || code == ZB_ECHECKSUM ||
                                code == ZB_EUNSUPPORTED);
                stored[at] = old;
            }
        }
        unbind(&f);
    }
}

/* More than the first room holds: it is decoded again with more. */
static void long_texts(void **state) {
    (void)state;
    fixture f = bind("[\"vlen-utf8\",\"zstd\"]");
    size_t length = 3 << 20;
    char *text = malloc(length);
    memset(text, 'x', length);
    const zb_slice slices[] = {{text, length}, {"", 0}, {text, 5}, {"", 0}}, fill = {"", 0};
    uint64_t bound;
    size_t size;
    zb_error err;
    ASSERT_OK(zb__chunk_measure(f.layout, (const uint8_t *)slices, &bound, &err), err);
    uint8_t *out = malloc((size_t)bound);
    ASSERT_OK(zb__chunk_encode(f.layout, f.scratch, (const uint8_t *)slices, &fill, false, out,
                               (size_t)bound, &size, &err),
              err);
    assert_true(size < 10000);
    zb__elements back;
    ASSERT_OK(decode(&f, out, size, &back, &err), err);
    const zb_slice *got = (const zb_slice *)(const void *)back.data;
    assert_int_equal(got[0].size, length);
    assert_memory_equal(got[0].data, text, length);
    free(back.data);
    free(out);
    free(text);
    unbind(&f);
}

static void goes_with_strings_alone(void **state) {
    (void)state;
    static const struct {
        const char *codecs;
        zb_dtype dtype;
        const char *message;
    } cases[] = {
        {"[\"vlen-utf8\"]",
         {.kind = ZB_KIND_INT, .size = 4},
         "vlen-utf8: it serialises strings alone"},
        {"[\"bytes\"]",
         {.kind = ZB_KIND_STRING, .size = sizeof(zb_slice)},
         "bytes: it serialises elements of a fixed size alone"},
        {"[\"vlen-utf8\"]",
         {.kind = ZB_KIND_BYTES, .size = sizeof(zb_slice)},
         "vlen-utf8: it serialises strings alone"},
        {"[\"vlen-bytes\"]",
         {.kind = ZB_KIND_STRING, .size = sizeof(zb_slice)},
         "vlen-bytes: it serialises bytes of variable length alone"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        zb_json *json;
        zb__pipeline *pipeline;
        zb_error err;
        const zb__binding binding = {.ndim = 1, .dtype = cases[i].dtype};
        ASSERT_OK(zb_json_parse(cases[i].codecs, strlen(cases[i].codecs), &json, &err), err);
        ASSERT_FAILS(zb__pipeline_bind(json, &binding, &pipeline, &err), ZB_EFORMAT, err,
                     cases[i].message);
        zb_json_free(json);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_chunk),   cmocka_unit_test(writes_a_chunk),
        cmocka_unit_test(survives_damage), cmocka_unit_test(refuses_what_does_not_add_up),
        cmocka_unit_test(long_texts),      cmocka_unit_test(goes_with_strings_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
