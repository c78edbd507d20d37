/* SPDX-License-Identifier: MIT */
/*
 * The codecs zfp and numcodecs.zfpy: streams of zfpy and libzfp byte for byte, refusals, damage at
 * every bit, and streams that say more than they hold.
 */
#include "bind.h"

#include <math.h>

#include "codec/elements.h"
#include "codec/encode.h"

#define ZFP(configuration) "[{\"name\":\"zfp\",\"configuration\":{" configuration "}}]"
#define ZFPY(configuration) "[{\"name\":\"numcodecs.zfpy\",\"configuration\":{" configuration "}}]"
#define REVERSIBLE ZFP("\"mode\":\"reversible\"")

static const zb_dtype int8 = {.kind = ZB_KIND_INT, .size = 1};
static const zb_dtype int32 = {.kind = ZB_KIND_INT, .size = 4};
static const zb_dtype int64 = {.kind = ZB_KIND_INT, .size = 8};
static const zb_dtype uint16 = {.kind = ZB_KIND_UINT, .size = 2};
static const zb_dtype uint32 = {.kind = ZB_KIND_UINT, .size = 4};
static const zb_dtype uint64 = {.kind = ZB_KIND_UINT, .size = 8};
static const zb_dtype float32 = {.kind = ZB_KIND_FLOAT, .size = 4};
static const zb_dtype float64 = {.kind = ZB_KIND_FLOAT, .size = 8};

#ifdef ZB_HAVE_ZFP

#define LINE_OF_20                                                                                 \
    "7a66700530010000000000881c0080c121c9360e00c0e200441b0700000f00b67100008c03026d1c00c0824b906d" \
    "0000"

static const int32_t thousands[20] = {-7000, -6000, -5000, -4000, -3000, -2000, -1000,
                                      0,     1000,  2000,  3000,  4000,  5000,  6000,
                                      7000,  8000,  9000,  10000, 11000, 12000};
static const uint8_t bytes_of_one[] = {0, 1, 2, 128, 255, 7};
static const int8_t small[] = {-128, 1, 2, -1, 127, 7};
static const uint16_t words[] = {0, 1, 2, 32768, 65535, 7};
static const int16_t halves[] = {-32768, 1, 2, -1, 32767, 7};
static const uint32_t naturals[] = {0, 1, INT32_MAX, 5, 7};
static const uint64_t large[] = {0, 1, INT64_MAX, 5, 7};
static const float sixteen[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static const double eight[] = {0, 1, 2, 3, 4, 5, 6, 7};

typedef struct golden {
    const char *codecs;
    const zb_dtype *dtype;
    uint32_t ndim;
    uint64_t shape[4];
    const void *elements;
    const char *hex;
} golden;

/* Nothing is lost in these. */
static const golden exact[] = {
    {REVERSIBLE, &int32, 2, {4, 5}, thousands, "1c00802938888ab9e300006c410150401500000000000000"},
    {ZFPY(""),
     &int32,
     2,
     {4, 5},
     thousands,
     "7a66700544000030000000881c00802938888ab9e300006c4101504015000000"},
    {ZFPY("\"mode\":5"),
     &int32,
     2,
     {4, 5},
     thousands,
     "7a66700544000030000000881c00802938888ab9e300006c4101504015000000"},
    {ZFP("\"mode\":\"reversible\",\"write_header\":true"),
     &int32,
     2,
     {4, 5},
     thousands,
     "7a66700544000030000000881c00802938888ab9e300006c4101504015000000"},
    {REVERSIBLE, &uint8_type, 1, {6}, bytes_of_one, "68030080aaa80b003280000000000000"},
    {REVERSIBLE, &int8, 1, {6}, small, "e87a00001441f500c800020000000000"},
    {REVERSIBLE, &uint16, 1, {6}, words, "7003000000000080aab00b00000000003280000000000000"},
    {REVERSIBLE, &int16_type, 1, {6}, halves, "f07a0000000000001481f50000000000c800020000000000"},
    {REVERSIBLE, &uint32, 1, {5}, naturals, "3f030000000000000000000000002033fa070000c0a20000"},
    {REVERSIBLE,
     &uint64,
     1,
     {5},
     large,
     "7f06000000000000000000000000000000000000000000000000000000004066f41f000000000000008b02000000"
     "0000"},
    {REVERSIBLE, &float32, 4, {2, 2, 2, 2}, sixteen, "0d162118e01840083004100000000000"},
    {ZFP("\"mode\":\"fixed_rate\",\"rate\":8"),
     &float64,
     3,
     {2, 2, 2},
     eight,
     "056809b8800402000000000000000000000000000000000000000000000000000000000000000000000000000000"
     "000000000000000000000000000000000000"},
};

static size_t unhex(const char *hex, uint8_t *out) {
    size_t size = strlen(hex) / 2;
    for (size_t i = 0; i < size; i++) {
        unsigned byte;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        out[i] = (uint8_t)byte;
    }
    return size;
}

/* The decoded elements are in the scratch. Decodes from a copy of the exact size. */
static enum zb_code decode(const zb__chunk_layout *layout, zb__scratch *scratch, const uint8_t *in,
                           size_t size, zb__elements *out, zb_error *err) {
    uint8_t *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, in, size);
    enum zb_code code = zb__elements_serialised(layout, scratch, copy, size, out, err);
    if (!code)
        code = zb__elements_open(layout, scratch, out, err);
    free(copy);
    return code;
}

static enum zb_code encode(const zb__chunk_layout *layout, zb__scratch *scratch,
                           const void *elements, uint8_t *out, size_t capacity, size_t *size,
                           zb_error *err) {
    const uint64_t zero[2] = {0};
    assert_true(zb__chunk_encode_bound(layout) <= capacity);
    return zb__chunk_encode(layout, scratch, elements, zero, true, out, capacity, size, err);
}

static void check_encoded(const golden *g, const uint8_t *out, size_t size) {
    char text[2049] = "";
    for (size_t i = 0; i < size; i++)
        snprintf(text + 2 * i, 3, "%02x", out[i]);
    if (strcmp(text, g->hex) != 0)
        fail_msg("%s: %s, expected %s", g->codecs, text, g->hex);
}

static void check_golden(const golden *g, const void *expected) {
    const zb__chunk_layout *layout = bind_shape(g->codecs, *g->dtype, g->ndim, g->shape);
    zb__scratch *scratch = zb__scratch_take();
    uint8_t in[512], out[32768];
    size_t size = unhex(g->hex, in), made_size;
    zb__elements made;
    zb_error err;
    assert_int_equal(zb__chunk_layout_check_stored(layout, size, &err), ZB_OK);
    if (decode(layout, scratch, in, size, &made, &err))
        fail_msg("%s: %s", g->codecs, err.message);
    assert_memory_equal(made.data, expected, made.size);
    if (!zb__chunk_layout_read_only(layout)) {
        ASSERT_OK(encode(layout, scratch, g->elements, out, sizeof out, &made_size, &err), err);
        check_encoded(g, out, made_size);
    }
    zb__scratch_put(scratch);
    free_layout(layout);
}

static void lossless_streams(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
        check_golden(&exact[i], exact[i].elements);
}

/* The values that zfpy decodes. */
static void lossy_streams(void **state) {
    (void)state;
    double line[7], back[7];
    for (int i = 0; i < 7; i++) /* as numpy.linspace computes them */
        line[i] = i == 6 ? 1 : i * (2 / 6.0) - 1;
    static const uint64_t rate8[] = {
        13830835930631503872u, 13827739705887686656u, 13822673156306894848u, 4589168020290535424u,
        4598175219545276416u,  4603804719079489536u,  4607182418800017408u};
    static const uint64_t bits16[] = {
        13830554730532700160u, 13827552239155150848u, 13823048089771966464u, 4544132024016830464u,
        4599676052917190656u,  4604180202300375040u,  4607182693677924352u};
    golden g = {ZFPY("\"mode\":2,\"rate\":8"),
                &float64,
                1,
                {7},
                line,
                "7a667005630000000000f00101c81b0401888b7300000000"};
    memcpy(back, rate8, sizeof back);
    check_golden(&g, back);
    g.codecs = ZFPY("\"mode\":3,\"precision\":16,\"rate\":-1,\"compression_kwargs\":"
                    "{\"precision\":16}");
    g.hex = "7a667005630000000000f08001c81b0441100405202ece999898981800000000";
    memcpy(back, bits16, sizeof back);
    check_golden(&g, back);
    /* The header counts, whatever the document says. */
    g.codecs = ZFPY("\"mode\":3,\"precision\":16");
    golden other = g;
    other.codecs = ZFPY("\"mode\":4,\"tolerance\":0.5");
    const zb__chunk_layout *layout = bind_shape(other.codecs, float64, 1, other.shape);
    zb__scratch *scratch = zb__scratch_take();
    uint8_t in[64];
    zb__elements made;
    zb_error err;
    ASSERT_OK(decode(layout, scratch, in, unhex(g.hex, in), &made, &err), err);
    assert_memory_equal(made.data, back, sizeof back);
    zb__scratch_put(scratch);
    free_layout(layout);
}

static void accuracy(void **state) {
    (void)state;
    float square[30];
    for (int i = 0; i < 30; i++)
        square[i] = (float)(i * i) / 7 - 3;
    static const uint32_t bits[] = {3225418240, 3224821248, 3223024128, 3218828288, 3208048640,
                                    1058172928, 1074340352, 1082127872, 1086622976, 1091117952,
                                    1093964544, 1097110784, 1099731392, 1101603648, 1103625920,
                                    1105798208, 1107708224, 1108944064, 1110254752, 1111640288,
                                    1113100832, 1114636384, 1115965664, 1116808224, 1117688352,
                                    1118605920, 1119560864, 1120553184, 1121583104, 1122650368};
    golden g = {ZFPY("\"mode\":4,\"tolerance\":0.01"),
                &float32,
                2,
                {5, 6},
                square,
                "7a667005560000400000c0ca0b49a5b462891288182017432062805c4352012555ca0590904100d141"
                "9090410035b4ba6182291a042890a241686890080a02008822008880280200"};
    check_golden(&g, bits);
    g.codecs = ZFP("\"mode\":\"fixed_accuracy\",\"tolerance\":0.01");
    g.hex = "0b49a5b462891288182017432062805c4352012555ca0590904100d1419090410035b4ba6182291a042890"
            "a241686890080a0200882200888028020000000000";
    check_golden(&g, bits);
    /* The same stream by the expert's parameters for that tolerance. */
    g.codecs =
        ZFP("\"mode\":\"expert\",\"minbits\":1,\"maxbits\":16658,\"maxprec\":64,\"minexp\":-7");
    check_golden(&g, bits);
}

/* A rate of 4, counted in two dimensions and, as zarrs does, in three. Only read: the two ways
   could not tell each other's chunks. */
static void rates(void **state) {
    (void)state;
    float ramp[30];
    for (int i = 0; i < 30; i++)
        ramp[i] = (float)i;
    golden g = {ZFP("\"mode\":\"fixed_rate\",\"rate\":16"),
                &float32,
                2,
                {5, 6},
                ramp,
                "094905250100000000000000000000000000000000000000000000000000000009"
                "6d5154a400000000000000000000000000000000000000000000000000000009ad"
                "e80200000000000000000000000000000000000000000000000000000000090d82"
                "1100000000000000000000000000000000000000000000000000000000"};
    check_golden(&g, ramp);
    g.codecs = ZFP("\"mode\":\"fixed_rate\",\"rate\":4");
    check_golden(&g, ramp);
    g.hex = "0949052501000000096d5154a400000009ade80200000000090d821100000000";
    const zb__chunk_layout *layout = bind_shape(g.codecs, float32, 2, g.shape);
    zb__scratch *scratch = zb__scratch_take();
    uint8_t in[64], *out = malloc(1 << 16);
    size_t size = unhex(g.hex, in);
    zb__elements made;
    zb_error err;
    assert_non_null(out);
    assert_non_null(strstr(zb__chunk_layout_read_only(layout), "fixed_precision"));
    ASSERT_OK(decode(layout, scratch, in, size, &made, &err), err);
    for (int i = 0; i < 30; i++) {
        float value;
        memcpy(&value, made.data + 4 * i, 4);
        assert_true(fabsf(value - ramp[i]) < 1);
    }
    ASSERT_FAILS(encode(layout, scratch, ramp, out, 1 << 16, &size, &err), ZB_EUNSUPPORTED, err,
                 "fixed rate");
    free(out);
    zb__scratch_put(scratch);
    free_layout(layout);
}

/* Streams that are cut, changed, or say more than they hold are errors, or other elements: never a
   read behind their end, which the sanitizers see. */
static void damage(void **state) {
    (void)state;
    check_random random = check_random_new();
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++) {
        const golden *g = &exact[i];
        const zb__chunk_layout *layout = bind_shape(g->codecs, *g->dtype, g->ndim, g->shape);
        zb__scratch *scratch = zb__scratch_take();
        uint8_t in[600];
        size_t size = unhex(g->hex, in);
        zb__elements made;
        zb_error err;
        for (size_t bit = 0; bit < 8 * size; bit++) {
            in[bit / 8] ^= (uint8_t)(1u << bit % 8);
            enum zb_code code = decode(layout, scratch, in, size, &made, &err);
            assert_true(code == ZB_OK || code == ZB_EFORMAT);
            in[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        for (size_t cut = 0; cut + 16 < size; cut += 8)
            assert_int_not_equal(decode(layout, scratch, in, cut, &made, &err), ZB_OK);
        ASSERT_FAILS(decode(layout, scratch, in, 0, &made, &err), ZB_EFORMAT, err, "zfp: ");
        memset(in + size, 0, 8);
        ASSERT_FAILS(decode(layout, scratch, in, size + 8, &made, &err), ZB_EFORMAT, err,
                     "8 bytes follow");
        for (int round = 0; round < 500; round++) { /* behind the header, where there is one */
            for (size_t k = size > 20 ? 12 : 0; k < size; k++)
                in[k] = round ? (uint8_t)check_random_next(&random) : 0xff;
            enum zb_code code = decode(layout, scratch, in, size, &made, &err);
            assert_true(code == ZB_OK || code == ZB_EFORMAT);
        }
        zb__scratch_put(scratch);
        free_layout(layout);
    }
}

static void wrong_headers(void **state) {
    (void)state;
    zb__scratch *scratch = zb__scratch_take();
    uint8_t in[64];
    size_t size = unhex(exact[1].hex, in);
    zb__elements made;
    zb_error err;
    static const struct {
        const zb_dtype *dtype;
        uint64_t shape[3];
        uint32_t ndim;
    } others[] = {{&float32, {4, 5}, 2}, {&int64, {4, 5}, 2},    {&int32, {5, 4}, 2},
                  {&int32, {20}, 1},     {&int32, {1, 4, 5}, 3}, {&int32, {4, 4096}, 2}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const zb__chunk_layout *layout =
            bind_shape(ZFPY(""), *others[i].dtype, others[i].ndim, others[i].shape);
        ASSERT_FAILS(decode(layout, scratch, in, size, &made, &err), ZB_EFORMAT, err,
                     "the header tells of another type or shape");
        free_layout(layout);
    }
    const zb__chunk_layout *layout = bind_shape(ZFPY(""), int32, 2, (const uint64_t[]){4, 5});
    size = unhex(LINE_OF_20, in); /* early versions of numcodecs flattened chunks */
    ASSERT_OK(decode(layout, scratch, in, size, &made, &err), err);
    assert_memory_equal(made.data, thousands, sizeof thousands);
    in[3] = 6; /* another version of the stream */
    ASSERT_FAILS(decode(layout, scratch, in, size, &made, &err), ZB_EFORMAT, err, "no header");
    zb__scratch_put(scratch);
    free_layout(layout);
}

/* What zfp would change beyond what it is there for is not written. */
static void values_that_zfp_spoils(void **state) {
    (void)state;
    static const float fives[4] = {1, 2, NAN, 5}, ends[4] = {1, 2, INFINITY, 5};
    static const int32_t wide[4] = {1, 2, 1 << 30, 5};
    static const uint32_t highest[4] = {1, 2, UINT32_C(1) << 31, 5};
    static const uint64_t highest64[4] = {1, 2, UINT64_C(1) << 63, 5};
    static const struct {
        const char *codecs;
        const zb_dtype *dtype;
        const void *elements;
        const char *text; /* NULL: it is kept */
    } cases[] = {
        {ZFP("\"mode\":\"fixed_precision\",\"precision\":12"), &float32, fives, "element 2"},
        {ZFP("\"mode\":\"fixed_accuracy\",\"tolerance\":1"), &float32, ends, "not finite"},
        {ZFP("\"mode\":\"fixed_precision\",\"precision\":12"), &int32, wide, "reversible"},
        {REVERSIBLE, &uint32, highest, "highest bit"},
        {REVERSIBLE, &uint64, highest64, "highest bit"},
        {REVERSIBLE, &int32, wide, NULL},
        {REVERSIBLE, &float32, fives, NULL},
        {REVERSIBLE, &float32, ends, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const zb__chunk_layout *layout =
            bind_shape(cases[i].codecs, *cases[i].dtype, 1, (const uint64_t[]){4});
        zb__scratch *scratch = zb__scratch_take();
        uint8_t out[512];
        size_t size;
        zb__elements made;
        zb_error err;
        if (cases[i].text) {
            ASSERT_FAILS(encode(layout, scratch, cases[i].elements, out, sizeof out, &size, &err),
                         ZB_EINVAL, err, cases[i].text);
        } else {
            ASSERT_OK(encode(layout, scratch, cases[i].elements, out, sizeof out, &size, &err),
                      err);
            ASSERT_OK(decode(layout, scratch, out, size, &made, &err), err);
            assert_memory_equal(made.data, cases[i].elements, made.size);
        }
        zb__scratch_put(scratch);
        free_layout(layout);
    }
}

static void refuse(const char *codecs, zb_dtype dtype, uint32_t ndim, const char *text) {
    zb__pipeline *pipeline;
    zb_error err;
    ASSERT_FAILS(bind_pipeline(codecs, dtype, ndim, &pipeline, &err), ZB_EFORMAT, err, text);
}

static void configurations(void **state) {
    (void)state;
    refuse("[\"zfp\"]", float32, 2, "mode is missing");
    refuse(ZFP("\"mode\":\"lossless\""), float32, 2, "mode is \"lossless\"");
    refuse(ZFP("\"mode\":\"fixed_rate\""), float32, 2, "rate is missing");
    refuse(ZFP("\"mode\":\"fixed_rate\",\"rate\":0"), float32, 2, "rate is 0");
    refuse(ZFP("\"mode\":\"fixed_rate\",\"rate\":1e300"), float32, 2, "rate is 1e300");
    refuse(ZFP("\"mode\":\"fixed_precision\",\"precision\":-1"), float32, 2, "precision is -1");
    refuse(ZFP("\"mode\":\"fixed_accuracy\",\"tolerance\":-1"), float32, 2, "tolerance is -1");
    refuse(ZFP("\"mode\":\"expert\",\"minbits\":1"), float32, 2, "maxbits is missing");
    refuse(ZFP("\"mode\":\"expert\",\"minbits\":9,\"maxbits\":8,\"maxprec\":9,\"minexp\":0"),
           float32, 2, "such that zfp does not have");
    refuse(ZFP("\"mode\":\"expert\",\"minbits\":4000000000,\"maxbits\":4000000000,"
               "\"maxprec\":9,\"minexp\":0"),
           float32, 2, "such that zfp does not have");
    refuse(REVERSIBLE, float32, 5, "5 dimensions, expected 0 to 4");
    refuse(REVERSIBLE, (zb_dtype){.kind = ZB_KIND_COMPLEX, .size = 8}, 2, "it takes integers");
    refuse(REVERSIBLE, (zb_dtype){.kind = ZB_KIND_FLOAT, .size = 2}, 2, "it takes integers");
    refuse(ZFPY("\"mode\":1"), float32, 2, "mode is 1, expected");
    refuse(ZFPY("\"mode\":4,\"tolerance\":-2"), float32, 2, "tolerance is -2");
    refuse(ZFPY(""), float32, 0, "0 dimensions, expected 1 to 4");
    refuse(ZFPY(""), uint32, 1, "int32, int64, float32 and float64 alone");
    refuse(ZFPY(""), int16_type, 1, "int32, int64, float32 and float64 alone");
}

#else

static void is_refused_by_name(void **state) {
    (void)state;
    static const char *const codecs[] = {REVERSIBLE, ZFPY("")};
    for (int i = 0; i < 2; i++) {
        zb__pipeline *pipeline;
        zb_error err;
        ASSERT_FAILS(bind_pipeline(codecs[i], float32, 2, &pipeline, &err), ZB_EUNSUPPORTED, err,
                     "build zarrbridge with libzfp");
    }
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {
#ifdef ZB_HAVE_ZFP
        cmocka_unit_test(lossless_streams),
        cmocka_unit_test(lossy_streams),
        cmocka_unit_test(accuracy),
        cmocka_unit_test(rates),
        cmocka_unit_test(damage),
        cmocka_unit_test(wrong_headers),
        cmocka_unit_test(values_that_zfp_spoils),
        cmocka_unit_test(configurations),
#else
        cmocka_unit_test(is_refused_by_name),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
