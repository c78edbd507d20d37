/* SPDX-License-Identifier: MIT */
/*
 * Filters (array→array codecs that change elements or shapes) and packbits: chunks of numcodecs and
 * of the specifications' examples, byte for byte, refusals of documents and of values, and the
 * element of inner chunks that are missing behind filters.
 */
#include "bind.h"

#include <math.h>

#include "codec/elements.h"
#include "codec/encode.h"

static const zb_dtype boolean = {.kind = ZB_KIND_BOOL, .size = 1};
static const zb_dtype int8 = {.kind = ZB_KIND_INT, .size = 1};
static const zb_dtype int32 = {.kind = ZB_KIND_INT, .size = 4};
static const zb_dtype int64 = {.kind = ZB_KIND_INT, .size = 8};
static const zb_dtype uint16 = {.kind = ZB_KIND_UINT, .size = 2};
static const zb_dtype float32 = {.kind = ZB_KIND_FLOAT, .size = 4};
static const zb_dtype float64 = {.kind = ZB_KIND_FLOAT, .size = 8};

/* A pipeline for one dimension, whose fill value is zero. */
static enum zb_code bind_filters(const char *codecs, zb_dtype dtype, const void *fill,
                                 zb__pipeline **out, zb_error *err) {
    zb_json *json;
    ASSERT_OK(zb_json_parse(codecs, strlen(codecs), &json, err), *err);
    const zb__binding binding = {.ndim = 1, .dtype = dtype, .fill = fill};
    enum zb_code code = zb__pipeline_bind(json, &binding, out, err);
    zb_json_free(json);
    return code;
}

/* A chunk of `count` elements: its encoding is `hex`, and decodes to `back`. */
static void check(const char *codecs, zb_dtype dtype, const void *elements, uint64_t count,
                  const char *hex, const void *back) {
    zb__pipeline *pipeline;
    const zb__chunk_layout *layout;
    zb_error err;
    uint8_t out[512];
    char text[1025] = "";
    size_t size;
    uint64_t zero[2] = {0};
    if (bind_filters(codecs, dtype, zero, &pipeline, &err) ||
        zb__pipeline_layout(pipeline, &count, &layout, &err))
        fail_msg("%s: %s", codecs, err.message);
    zb__scratch *scratch = zb__scratch_take();
    assert_true(zb__chunk_encode_bound(layout) <= sizeof out);
    if (zb__chunk_encode(layout, scratch, elements, zero, true, out, sizeof out, &size, &err))
        fail_msg("%s: %s", codecs, err.message);
    for (size_t i = 0; i < size; i++)
        snprintf(text + 2 * i, 3, "%02x", out[i]);
    assert_string_equal(text, hex);
    assert_int_equal(zb__chunk_layout_check_stored(layout, size, &err), ZB_OK);
    zb__elements made;
    assert_true(zb__chunk_layout_has_heap(layout));
    ASSERT_OK(zb__elements_serialised(layout, scratch, out, size, &made, &err), err);
    ASSERT_OK(zb__elements_open(layout, scratch, &made, &err), err);
    assert_memory_equal(made.data, back, count * dtype.size);
    for (size_t cut = 0; cut < size; cut++) /* nothing that is too short passes */
        assert_true(zb__elements_serialised(layout, scratch, out, cut, &made, &err) != ZB_OK ||
                    zb__elements_open(layout, scratch, &made, &err) != ZB_OK);
    zb__scratch_put(scratch);
    free_layout(layout);
}
#define CHECK(codecs, dtype, elements, hex)                                                        \
    check(codecs, dtype, elements, sizeof elements / dtype.size, hex, elements)

#define LITTLE_BYTES "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}"
#define BIG_BYTES "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}}"
#define FILTER(name, configuration) "{\"name\":\"" name "\",\"configuration\":{" configuration "}}"

#define SAME_FLOATS FILTER("numcodecs.astype", "\"encode_dtype\":\"<f4\",\"decode_dtype\":\"<f4\"")

static void of_numcodecs(void **state) {
    (void)state;
    static const int32_t ramp[4] = {5, 7, 6, 6};
    CHECK("[" FILTER("numcodecs.delta", "\"dtype\":\"<i4\",\"astype\":\"|i1\"") ",\"bytes\"]",
          int32, ramp, "0502ff00");
    CHECK("[" FILTER("numcodecs.delta", "\"dtype\":\"<i4\"") "," BIG_BYTES "]", int32, ramp,
          "0000000500000002ffffffff00000000");
    static const int8_t far[4] = {5, -1, 100,
                                  -100}; /* 101 and -200 wrap, before they are widened */
    CHECK("[" FILTER("numcodecs.delta", "\"dtype\":\"|i1\",\"astype\":\"<i2\"") "," LITTLE_BYTES
                                                                                "]",
          int8, far, "0500faff65003800");
    static const uint8_t down[4] = {5, 3, 250, 0};
    CHECK("[" FILTER("numcodecs.delta", "\"dtype\":\"|u1\",\"astype\":\"<i2\"") "," LITTLE_BYTES
                                                                                "]",
          uint8_type, down, "0500fe00f7000600");
    static const uint32_t reals[4] = {0x3f800000, 0xbf800001, 0x7f800001, 0}; /* one NaN signals */
    CHECK("[" SAME_FLOATS "," FILTER("numcodecs.delta", "\"dtype\":\"<u4\"") "," LITTLE_BYTES "]",
          float32, reals, "0000803f01000080000000c0ffff7f80");
    static const double tens[3] = {1000, 1000.1, 1002.5};
    CHECK("[" FILTER(
              "numcodecs.fixedscaleoffset",
              "\"offset\":1000,\"scale\":10,\"dtype\":\"<f8\",\"astype\":\"|u1\"") ",\"bytes\"]",
          float64, tens, "000119");
    static const double halves[3] = {0.25, 1.5, -3};
    CHECK("[" FILTER("numcodecs.quantize",
                     "\"digits\":1,\"dtype\":\"<f8\",\"astype\":\"<f4\"") "," LITTLE_BYTES "]",
          float64, halves, "0000803e0000c03f000040c0");
    CHECK("[" FILTER("numcodecs.astype",
                     "\"encode_dtype\":\"<f4\",\"decode_dtype\":\"<i4\"") "," LITTLE_BYTES "]",
          int32, ramp, "0000a0400000e0400000c0400000c040");
    static const bool bits[10] = {1, 0, 1, 1, 0, 0, 0, 0, 1, 1};
    CHECK("[\"numcodecs.packbits\",\"bytes\"]", boolean, bits, "06b0c0");
}

static void of_the_registry(void **state) {
    (void)state;
    static const float scaled[4] = {0, 1, 2, 3};
    CHECK("[" FILTER("scale_offset", "\"offset\":1,\"scale\":2") "," LITTLE_BYTES "]", float32,
          scaled, "000000c0000000000000004000008040");
    static const uint16_t thousand[3] = {1000, 1255, 1001};
    CHECK("[" FILTER("scale_offset", "\"offset\":1000") "," FILTER(
              "cast_value", "\"data_type\":\"uint8\"") ",\"bytes\"]",
          uint16, thousand, "00ff01");
    static const bool bits[10] = {1, 0, 1, 1, 0, 0, 0, 0, 1, 1};
    CHECK("[\"packbits\"]", boolean, bits, "0d03");
    CHECK("[" FILTER("packbits", "\"padding_encoding\":\"first_byte\"") "]", boolean, bits,
          "060d03");
    CHECK("[" FILTER("packbits", "\"padding_encoding\":\"last_byte\"") "]", boolean, bits,
          "0d0306");
    static const int32_t small[3] = {-1, 3, -4};
    CHECK("[" FILTER("packbits", "\"last_bit\":2") "]", int32, small, "1f01");
    static const int32_t even[3] = {-2, 6, -8};
    CHECK("[" FILTER("packbits", "\"first_bit\":1,\"last_bit\":3") ",\"crc32c\"]", int32, even,
          "1f01ad0fb6db");
    CHECK("[\"packbits\"]", int32, small, "ffffffff03000000fcffffff");
    static const zb_dtype_detail i2 = {.format = ZB_FORMAT_INT2}, i4 = {.format = ZB_FORMAT_INT4},
                                 u2 = {.format = ZB_FORMAT_UINT2}, u4 = {.format = ZB_FORMAT_UINT4};
    static const int8_t twos[5] = {-1, 0, 1, -2, 1}, fours[3] = {-8, 7, -1};
    static const uint8_t natural2[5] = {3, 0, 1, 2, 1}, natural4[3] = {8, 7, 15};
    const zb_dtype int2 = {.kind = ZB_KIND_SMALL, .size = 1, .detail = &i2},
                   int4 = {.kind = ZB_KIND_SMALL, .size = 1, .detail = &i4},
                   uint2 = {.kind = ZB_KIND_SMALL, .size = 1, .detail = &u2},
                   uint4 = {.kind = ZB_KIND_SMALL, .size = 1, .detail = &u4};
    CHECK("[\"packbits\"]", int2, twos, "9301");
    CHECK("[\"packbits\"]", uint2, natural2, "9301");
    CHECK("[" FILTER("packbits", "\"padding_encoding\":\"last_byte\"") "]", int4, fours, "780f04");
    CHECK("[" FILTER("packbits", "\"padding_encoding\":\"first_byte\"") "]", uint4, natural4,
          "04780f");
    static const uint16_t six[6] = {0, 1, 2, 3, 4, 5};
    CHECK("[" FILTER("reshape", "\"shape\":[2,-1]") "," FILTER(
              "transpose", "\"order\":[1,0]") "," LITTLE_BYTES "]",
          uint16, six, "000003000100040002000500");
    CHECK("[" FILTER("reshape", "\"shape\":[[0],1]") "," BIG_BYTES "]", uint16, six,
          "000000010002000300040005");
}

/* Encodes and decodes a chunk of 1300 elements, more than the codecs take at once. `stored`
   gets the elements behind the filter. */
enum { LONG = 1300 };
static void long_chunk(const char *codecs, zb_dtype dtype, const void *elements, void *stored,
                       size_t stored_size, void *back) {
    zb__pipeline *pipeline;
    const zb__chunk_layout *layout;
    zb_error err;
    size_t size;
    uint64_t count = LONG, zero[2] = {0};
    ASSERT_OK(bind_filters(codecs, dtype, zero, &pipeline, &err), err);
    ASSERT_OK(zb__pipeline_layout(pipeline, &count, &layout, &err), err);
    zb__scratch *scratch = zb__scratch_take();
    ASSERT_OK(
        zb__chunk_encode(layout, scratch, elements, zero, true, stored, stored_size, &size, &err),
        err);
    assert_int_equal(size, stored_size);
    zb__elements made;
    ASSERT_OK(zb__elements_serialised(layout, scratch, stored, size, &made, &err), err);
    ASSERT_OK(zb__elements_open(layout, scratch, &made, &err), err);
    memcpy(back, made.data, LONG * dtype.size);
    zb__scratch_put(scratch);
    free_layout(layout);
}

static void long_differences(void **state) {
    (void)state;
    int32_t in[LONG], back[LONG];
    int16_t stored[LONG];
    for (int i = 0; i < LONG; i++)
        in[i] = i * i % 10007 - 5000;
    long_chunk("[" FILTER("numcodecs.delta", "\"astype\":\"<i2\"") "," LITTLE_BYTES "]", int32, in,
               stored, sizeof stored, back);
    for (int i = 0; i < LONG; i++)
        assert_int_equal(stored[i], in[i] - (i ? in[i - 1] : 0));
    assert_memory_equal(in, back, sizeof in);
}

static void long_floats(void **state) {
    (void)state;
    float in[LONG], back[LONG], stored[LONG], sum = 0;
    for (int i = 0; i < LONG; i++)
        in[i] = (float)(i % 37) * 0.1F - (float)(i % 11) * 1e3F;
    in[0] = -0.0F;
    long_chunk("[" FILTER("numcodecs.delta", "\"dtype\":\"<f4\"") "," LITTLE_BYTES "]", float32, in,
               stored, sizeof stored, back);
    assert_memory_equal(&stored[0], &in[0], sizeof(float));
    for (int i = 1; i < LONG; i++)
        assert_true(stored[i] == in[i] - in[i - 1]);
    for (int i = 0; i < LONG; i++) {
        sum = i ? sum + stored[i] : stored[i];
        assert_memory_equal(&back[i], &sum, sizeof sum);
    }
}

static void long_scaling(void **state) {
    (void)state;
    float in[LONG], back[LONG];
    int16_t stored[LONG];
    for (int i = 0; i < LONG; i++)
        in[i] = (float)i * 0.37F - 200;
    long_chunk(
        "[" FILTER(
            "numcodecs.fixedscaleoffset",
            "\"offset\":-3.3,\"scale\":10,\"dtype\":\"<f4\",\"astype\":\"<i2\"") "," LITTLE_BYTES
                                                                                 "]",
        float32, in, stored, sizeof stored, back);
    for (int i = 0; i < LONG; i++) {
        float wanted = (float)((double)stored[i] / 10 + -3.3);
        assert_int_equal(stored[i], (int)rintf((in[i] - -3.3F) * 10));
        assert_memory_equal(&back[i], &wanted, sizeof wanted);
    }
}

static void long_rounding(void **state) {
    (void)state;
    double in[LONG], back[LONG], stored[LONG];
    for (int i = 0; i < LONG; i++)
        in[i] = (1 + i / 7.0) * (i % 2 ? -1 : 1);
    in[3] = NAN;
    long_chunk("[" FILTER("bitround", "\"keepbits\":4") "," LITTLE_BYTES "]", float64, in, stored,
               sizeof stored, back);
    assert_memory_equal(stored, back, sizeof back);
    for (int i = 0; i < LONG; i++) {
        int exponent;
        double fraction = frexp(in[i], &exponent); /* of 5 bits with the leading one */
        assert_true(i == 3 ? isnan(stored[i])
                           : stored[i] == ldexp(rint(ldexp(fraction, 5)), exponent - 5));
    }
}

/* Blocks that need a rule, and blocks that need none. */
static void long_casts(void **state) {
    (void)state;
    float in[LONG], back[LONG];
    int16_t stored[LONG];
    for (int i = 0; i < LONG; i++)
        in[i] = (float)i * 0.25F - 100;
    in[700] = 1e9F;
    in[701] = -1e9F;
    long_chunk("[" FILTER("scale_offset", "\"offset\":-3,\"scale\":8") "," FILTER(
                   "cast_value",
                   "\"data_type\":\"int16\",\"out_of_range\":\"clamp\"") "," LITTLE_BYTES "]",
               float32, in, stored, sizeof stored, back);
    for (int i = 0; i < LONG; i++) {
        int wanted = i == 700 ? INT16_MAX : i == 701 ? INT16_MIN : (int)((in[i] + 3) * 8);
        assert_int_equal(stored[i], wanted);
        assert_true(back[i] == (float)wanted / 8 - 3);
    }
}

static void long_quantizing(void **state) {
    (void)state;
    double in[LONG], back[LONG];
    float stored[LONG];
    for (int i = 0; i < LONG; i++)
        in[i] = i * 0.013 - 7;
    long_chunk("[" FILTER("numcodecs.quantize",
                          "\"digits\":1,\"dtype\":\"<f8\",\"astype\":\"<f4\"") "," LITTLE_BYTES "]",
               float64, in, stored, sizeof stored, back);
    for (int i = 0; i < LONG; i++) {
        assert_true((double)stored[i] == rint(in[i] * 16) / 16);
        assert_true(back[i] == (double)stored[i]);
    }
}

/* A value that cannot be stored, in another block than the first. */
static void refused_late(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"[" FILTER("numcodecs.delta", "\"astype\":\"|i1\"") ",\"bytes\"]",
         "a difference does not fit"},
        {"[" FILTER("numcodecs.fixedscaleoffset",
                    "\"offset\":0,\"scale\":1,\"astype\":\"|i1\"") ",\"bytes\"]",
         "-129 does not fit int8"},
        {"[" FILTER("cast_value", "\"data_type\":\"int8\"") ",\"bytes\"]",
         "cast_value: -129 cannot be cast to int8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int32_t in[LONG] = {[1025] = -129};
        zb__pipeline *pipeline;
        const zb__chunk_layout *layout;
        zb_error err;
        uint8_t out[LONG];
        size_t size;
        uint64_t count = LONG, zero[2] = {0};
        ASSERT_OK(bind_filters(cases[i][0], int32, zero, &pipeline, &err), err);
        ASSERT_OK(zb__pipeline_layout(pipeline, &count, &layout, &err), err);
        zb__scratch *scratch = zb__scratch_take();
        ASSERT_FAILS(zb__chunk_encode(layout, scratch, (const uint8_t *)in, zero, true, out,
                                      sizeof out, &size, &err),
                     ZB_EINVAL, err, cases[i][1]);
        zb__scratch_put(scratch);
        free_layout(layout);
    }
}

/* Each element of `in` becomes the one of `out`; decoding gives `back`. */
static void rounding(void **state) {
    (void)state;
    static const double in[5] = {2.5, -2.5, 3.5, -0.5, 1.75};
    static const struct {
        const char *rounding, *hex;
        double back[5];
    } cases[] = {
        {"nearest-even", "02fe040002", {2, -2, 4, 0, 2}},
        {"nearest-away", "03fd04ff02", {3, -3, 4, -1, 2}},
        {"towards-zero", "02fe030001", {2, -2, 3, 0, 1}},
        {"towards-positive", "03fe040002", {3, -2, 4, 0, 2}},
        {"towards-negative", "02fd03ff01", {2, -3, 3, -1, 1}},
    };
    char text[200];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(
            text, sizeof text,
            "[" FILTER("cast_value", "\"data_type\":\"int8\",\"rounding\":\"%s\"") ",\"bytes\"]",
            cases[i].rounding);
        check(text, float64, in, 5, cases[i].hex, cases[i].back);
    }
    static const double wide[3] = {1e10, -129, 128}, clamped[3] = {127, -128, 127};
    check(
        "[" FILTER("cast_value", "\"data_type\":\"int8\",\"out_of_range\":\"clamp\"") ",\"bytes\"]",
        float64, wide, 3, "7f807f", clamped);
    static const double wrapped[3] = {0, 127, -128};
    check(
        "[" FILTER("cast_value", "\"data_type\":\"int8\",\"out_of_range\":\"wrap\"") ",\"bytes\"]",
        float64, wide, 3, "007f80", wrapped);
    /* 16777217 and 0.1 lie between two floats */
    static const double between[2] = {16777217, 0.1};
    static const double up[2] = {16777218, 0.10000000149011612},
                        down[2] = {16777216, 0.099999994039535522};
    check("[" FILTER("cast_value",
                     "\"data_type\":\"float32\",\"rounding\":\"towards-positive\"") "," LITTLE_BYTES
                                                                                    "]",
          float64, between, 2, "0100804bcdcccc3d", up);
    check("[" FILTER("cast_value",
                     "\"data_type\":\"float32\",\"rounding\":\"towards-zero\"") "," LITTLE_BYTES
                                                                                "]",
          float64, between, 2, "0000804bcccccc3d", down);
    static const float precise[4] = {1.0f, 1.1f, 3.14159274f, -1.96875f};
    static const float rounded[4] = {1.0f, 1.125f, 3.25f, -2.0f};
    check("[" FILTER("bitround", "\"keepbits\":3") "," LITTLE_BYTES "]", float32, precise, 4,
          "0000803f0000903f00005040000000c0", rounded);
    static const int32_t numbers[4] = {7, -13, 1, 2147483647}, kept[4] = {8, -12, 1, 1610612736};
    check("[" FILTER("bitround", "\"keepbits\":2") "," LITTLE_BYTES "]", int32, numbers, 4,
          "08000000f4ffffff0100000000000060", kept);
}

/* Numbers of few bits: the rules at the ends of their ranges, and the nearest one. */
static void small_casts(void **state) {
    (void)state;
    static const int64_t integers[4] = {-9, 3, 7, 100}, clamped[4] = {-8, 3, 7, 7},
                         wrapped[4] = {7, 3, 7, 4};
    check(
        "[" FILTER("cast_value", "\"data_type\":\"int4\",\"out_of_range\":\"clamp\"") ",\"bytes\"]",
        int64, integers, 4, "f8030707", clamped);
    check(
        "[" FILTER("cast_value", "\"data_type\":\"int4\",\"out_of_range\":\"wrap\"") ",\"bytes\"]",
        int64, integers, 4, "07030704", wrapped);
    /* in the middle between two numbers of 8 bits, and one more, which no double tells from it */
    static const int64_t middle[2] = {(INT64_C(1) << 60) + (INT64_C(1) << 52),
                                      (INT64_C(1) << 60) + (INT64_C(1) << 52) + 1};
    static const int64_t nearest[2] = {INT64_C(1) << 60, (INT64_C(1) << 60) + (INT64_C(1) << 53)};
    check("[" FILTER("cast_value", "\"data_type\":\"bfloat16\"") "," LITTLE_BYTES "]", int64,
          middle, 2, "805d815d", nearest);
    static const struct {
        const char *type, *hex;
        double in[3], back[3];
    } floats[] = {
        {"bfloat16", "803f4940807f", {1, 3.14159, 1e39}, {1, 3.140625, (double)INFINITY}},
        {"float4_e2m1fn", "07090f", {7, -0.5, -100}, {6, -0.5, -6}},
        {"float8_e4m3fnuz", "7fff38", {1000, -1000, 0.5}, {240, -240, 0.5}},
        {"float8_e8m0fnu", "008100", {0, 4, -3}, {0x1p-127, 4, 0x1p-127}},
    };
    char text[200];
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
        snprintf(text, sizeof text,
                 "[" FILTER("cast_value",
                            "\"data_type\":\"%s\",\"out_of_range\":\"clamp\"") "," LITTLE_BYTES "]",
                 floats[i].type);
        check(text, float64, floats[i].in, 3, floats[i].hex, floats[i].back);
    }
}

static void refused_documents(void **state) {
    (void)state;
    static const struct {
        const char *codecs;
        enum zb_code code;
        const char *text;
    } cases[] = {
        {"[" FILTER("numcodecs.delta", "\"dtype\":\"<f4\"") ",\"bytes\"]", ZB_EUNSUPPORTED,
         "codecs[0]: numcodecs.delta: dtype is \"<f4\", expected the type of its input, int32"},
        {"[" FILTER("numcodecs.delta", "\"dtype\":\"<i8\"") ",\"bytes\"]", ZB_EUNSUPPORTED,
         "dtype is \"<i8\", expected the type of its input, int32"},
        {"[" FILTER("numcodecs.delta", "\"dtype\":\">i4\"") ",\"bytes\"]", ZB_EUNSUPPORTED,
         "this machine's byte order"},
        {"[" FILTER("numcodecs.delta", "\"astype\":\"<f4\"") ",\"bytes\"]", ZB_EUNSUPPORTED,
         "differences of integers as floats"},
        {"[" FILTER("numcodecs.astype", "") ",\"bytes\"]", ZB_EFORMAT, "encode_dtype is missing"},
        {"[" FILTER("numcodecs.fixedscaleoffset", "\"offset\":0") ",\"bytes\"]", ZB_EFORMAT,
         "scale is missing"},
        {"[" FILTER("numcodecs.fixedscaleoffset", "\"offset\":0,\"scale\":0") ",\"bytes\"]",
         ZB_EFORMAT, "scale is 0"},
        {"[" FILTER("numcodecs.quantize", "\"digits\":2") ",\"bytes\"]", ZB_EFORMAT,
         "floats alone"},
        {"[\"numcodecs.packbits\",\"bytes\"]", ZB_EFORMAT, "bools alone"},
        {"[\"bitround\",\"bytes\"]", ZB_EFORMAT, "keepbits is missing"},
        {"[" FILTER("cast_value", "\"data_type\":\"bool\"") ",\"bytes\"]", ZB_EFORMAT,
         "integers and floats alone"},
        {"[" FILTER("cast_value",
                    "\"data_type\":\"float32\",\"out_of_range\":\"wrap\"") ",\"bytes\"]",
         ZB_EFORMAT, "for integers alone"},
        {"[" FILTER("cast_value",
                    "\"data_type\":\"bfloat16\",\"out_of_range\":\"wrap\"") ",\"bytes\"]",
         ZB_EFORMAT, "for integers alone"},
        {"[" FILTER("cast_value",
                    "\"data_type\":\"bfloat16\",\"rounding\":\"towards-zero\"") ",\"bytes\"]",
         ZB_EUNSUPPORTED, "rounding to bfloat16"},
        {"[" FILTER("cast_value", "\"data_type\":\"int8\",\"more\":1") ",\"bytes\"]",
         ZB_EUNSUPPORTED, "\"more\""},
        {"[" FILTER("cast_value",
                    "\"data_type\":\"int8\",\"scalar_map\":{\"encode\":[[1,999]]}") ",\"bytes\"]",
         ZB_EFORMAT, "scalar_map: "},
        {"[" FILTER("scale_offset", "\"scale\":0") ",\"bytes\"]", ZB_EFORMAT, "scale is 0"},
        {"[" FILTER("scale_offset", "\"offset\":0.5") ",\"bytes\"]", ZB_EFORMAT, "offset: "},
        {"[" FILTER("reshape", "\"shape\":[-1,-1]") ",\"bytes\"]", ZB_EFORMAT, "once -1"},
        {"[" FILTER("reshape", "\"shape\":[0]") ",\"bytes\"]", ZB_EFORMAT, "shape has 0"},
        {"[" FILTER("reshape", "\"shape\":[[1]]") ",\"bytes\"]", ZB_EFORMAT, "shape has "},
        {"[" FILTER("packbits", "\"first_bit\":3,\"last_bit\":2") "]", ZB_EFORMAT, "last_bit"},
        {"[" FILTER("packbits", "\"last_bit\":32") "]", ZB_EFORMAT, "last_bit is 32"},
        {"[" FILTER("reshape", "\"shape\":[-1]") "," FILTER(
             "sharding_indexed",
             "\"chunk_shape\":[2],\"codecs\":[\"bytes\"],\"index_codecs\":[\"bytes\"]") "]",
         ZB_EUNSUPPORTED, "reshape in front of sharding_indexed is not supported"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        zb__pipeline *pipeline;
        zb_error err;
        ASSERT_FAILS(bind_filters(cases[i].codecs, int32, NULL, &pipeline, &err), cases[i].code,
                     err, cases[i].text);
    }
    zb__pipeline *pipeline;
    const zb__chunk_layout *layout;
    zb_error err;
    uint64_t seven = 7;
    ASSERT_OK(bind_filters("[" FILTER("reshape", "\"shape\":[2,-1]") ",\"bytes\"]", int32, NULL,
                           &pipeline, &err),
              err);
    ASSERT_FAILS(zb__pipeline_layout(pipeline, &seven, &layout, &err), ZB_EFORMAT, err,
                 "reshape: the elements of a chunk do not fit the new shape");
    zb__pipeline_free(pipeline);
    /* eight bytes for each: more than the limit, though the array's own chunk is not */
    uint64_t many = zb_limits_get()->chunk_bytes / 4;
    ASSERT_OK(bind_filters("[" FILTER("numcodecs.astype", "\"encode_dtype\":\"<i8\"") ",\"bytes\"]",
                           int32, NULL, &pipeline, &err),
              err);
    ASSERT_FAILS(zb__pipeline_layout(pipeline, &many, &layout, &err), ZB_ELIMIT, err,
                 "chunk_bytes");
    zb__pipeline_free(pipeline);
}

/* A value that would come back as another one is not written. */
static void refused_values(void **state) {
    (void)state;
    static const int32_t large[2] = {300, 0};
    static const struct {
        const char *codecs, *text;
    } cases[] = {
        {"[" FILTER("numcodecs.astype", "\"encode_dtype\":\"|u1\"") ",\"bytes\"]",
         "numcodecs.astype: 300 does not fit uint8"},
        {"[" FILTER("numcodecs.delta", "\"astype\":\"|i1\"") ",\"bytes\"]",
         "numcodecs.delta: a difference does not fit"},
        {"[" FILTER("numcodecs.fixedscaleoffset",
                    "\"offset\":0,\"scale\":1,\"astype\":\"|u1\"") ",\"bytes\"]",
         "300 does not fit uint8"},
        {"[" FILTER("cast_value", "\"data_type\":\"float4_e2m1fn\"") ",\"bytes\"]",
         "cast_value: 300 cannot be cast to float4_e2m1fn"},
        {"[" FILTER("cast_value", "\"data_type\":\"uint8\"") ",\"bytes\"]",
         "cast_value: 300 cannot be cast to uint8"},
        {"[" FILTER("scale_offset", "\"scale\":100000000") ",\"bytes\"]",
         "scale_offset: the result for 300 is no int32"},
    };
    uint64_t two = 2;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        zb__pipeline *pipeline;
        const zb__chunk_layout *layout;
        zb_error err;
        uint8_t out[64];
        size_t size;
        int32_t fill = -1;
        ASSERT_OK(bind_filters(cases[i].codecs, int32, &fill, &pipeline, &err), err);
        ASSERT_OK(zb__pipeline_layout(pipeline, &two, &layout, &err), err);
        zb__scratch *scratch = zb__scratch_take();
        ASSERT_FAILS(zb__chunk_encode(layout, scratch, (const uint8_t *)large, &fill, false, out,
                                      sizeof out, &size, &err),
                     ZB_EINVAL, err, cases[i].text);
        zb__scratch_put(scratch);
        free_layout(layout);
    }
}

/* Behind scale_offset and cast_value the fill value is encoded; behind numcodecs' filters it stays
   the same number, so that it means another one. */
static void missing_inner_chunks(void **state) {
    (void)state;
#define SHARD                                                                                      \
    FILTER("sharding_indexed",                                                                     \
           "\"chunk_shape\":[2],\"codecs\":[\"bytes\"],\"index_codecs\":[\"bytes\"]")
    static const struct {
        const char *filter;
        double missing;
    } cases[] = {
        {FILTER("scale_offset", "\"offset\":10,\"scale\":4"), 3},
        {FILTER("cast_value", "\"data_type\":\"uint8\""), 3},
        {FILTER("numcodecs.fixedscaleoffset", "\"offset\":10,\"scale\":4,\"astype\":\"|u1\""),
         10.75},
    };
    const double fill = 3;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[400];
        zb__pipeline *pipeline;
        const zb__chunk_layout *layout;
        zb_error err;
        uint64_t four = 4;
        snprintf(text, sizeof text, "[%s," SHARD "]", cases[i].filter);
        ASSERT_OK(bind_filters(text, float64, &fill, &pipeline, &err), err);
        ASSERT_OK(zb__pipeline_layout(pipeline, &four, &layout, &err), err);
        assert_null(pipeline->missing);
        const double *missing = layout->shard->inner->pipeline->missing;
        assert_true(*missing == cases[i].missing);
        free_layout(layout);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_numcodecs),     cmocka_unit_test(of_the_registry),
        cmocka_unit_test(rounding),         cmocka_unit_test(refused_documents),
        cmocka_unit_test(refused_values),   cmocka_unit_test(missing_inner_chunks),
        cmocka_unit_test(long_differences), cmocka_unit_test(long_floats),
        cmocka_unit_test(long_scaling),     cmocka_unit_test(long_rounding),
        cmocka_unit_test(long_casts),       cmocka_unit_test(small_casts),
        cmocka_unit_test(long_quantizing),  cmocka_unit_test(refused_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
