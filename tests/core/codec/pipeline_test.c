/* SPDX-License-Identifier: MIT */
/* Binding codec lists: the order of codecs, their configurations, limits; and decoding through
   several. */
#include "bind.h"

#include <libdeflate.h>
#include <zstd.h>

#include "util/scratch.h"
#include "codec/chunk_layout.h"
#include "util/crc32c.h"
#include "zarrbridge/limits.h"

#define LITTLE "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}"
#define CRC32C "{\"name\":\"crc32c\"}"
#define GZIP "{\"name\":\"gzip\",\"configuration\":{\"level\":5}}"
#define ZSTD "{\"name\":\"zstd\",\"configuration\":{\"level\":0,\"checksum\":false}}"

/* ---- Binding ------------------------------------------------------------------------------ */

static void order_of_codecs(void **state) {
    (void)state;
    const zb__chunk_layout *layout = bind_6x4("[" LITTLE "," ZSTD "," CRC32C "]", int16_type);
    assert_int_equal(layout->pipeline->codec_count, 2);
    assert_string_equal(layout->pipeline->codecs[0].ops->name, "zstd");
    assert_string_equal(layout->pipeline->codecs[1].ops->name, "crc32c");
    assert_int_equal(layout->decoded_size, 48);
    assert_null(layout->shard);
    free_layout(layout);

    assert_refused("[]", ZB_EFORMAT, "codecs is [], expected a list");
    assert_refused("{}", ZB_EFORMAT, "codecs is {}, expected a list");
    assert_refused("[" ZSTD "]", ZB_EFORMAT, "codecs[0]: \"zstd\" must come after");
    assert_refused("[" ZSTD "," LITTLE "]", ZB_EFORMAT, "codecs[0]: \"zstd\" must come after");
    assert_refused("[" LITTLE "," LITTLE "]", ZB_EFORMAT, "codecs[1]: \"bytes\" is a second");
    assert_refused("[" LITTLE ",{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}}]",
                   ZB_EFORMAT, "codecs[1]: \"transpose\" must come before");
    assert_refused("[{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}}]", ZB_EFORMAT,
                   "no array-to-bytes codec");
}

static void names(void **state) {
    (void)state;
    /* Short and old forms that are read, and unknown ones. */
    free_layout(bind_6x4("[\"bytes\",\"zstd\"]", uint8_type));
    free_layout(
        bind_6x4("[{\"name\":\"endian\",\"configuration\":{\"endian\":\"big\"}}]", int16_type));
    free_layout(bind_6x4("[" LITTLE ",{\"name\":\"gzip\",\"must_understand\":true}]", int16_type));
    assert_refused("[" LITTLE ",{\"name\":\"bz2\"}]", ZB_EUNSUPPORTED,
                   "codecs[1]: codec \"bz2\" is not supported");
    assert_refused("[" LITTLE ",{\"name\":\"bz2\",\"must_understand\":false}]", ZB_EUNSUPPORTED,
                   "\"bz2\"");
    assert_refused("[" LITTLE ",7]", ZB_EFORMAT, "codecs[1] is 7");
    assert_refused("[{\"configuration\":{}}]", ZB_EFORMAT, "name is missing");
    assert_refused("[{\"name\":\"bytes\",\"configuration\":[]}]", ZB_EFORMAT,
                   "configuration is []");
    assert_refused("[{\"name\":\"bytes\",\"color\":1}]", ZB_EUNSUPPORTED, "\"color\"");
}

static void byte_order(void **state) {
    (void)state;
    static const struct {
        const char *codec;
        bool big;
    } cases[] = {{"[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}}]", true},
                 {"[" LITTLE "]", false},
                 {"[{\"name\":\"bytes\"}]", false},
                 {"[{\"name\":\"bytes\",\"configuration\":{}}]", false}};
    const zb_dtype complex64 = {.kind = ZB_KIND_COMPLEX, .size = 8};
    const zb_dtype raw = {.kind = ZB_KIND_RAW, .size = 4},
                   boolean = {.kind = ZB_KIND_BOOL, .size = 1};
    bool host_is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const zb_dtype types[] = {int16_type, complex64, uint8_type, raw, boolean};
        for (size_t t = 0; t < 5; t++) {
            const zb__chunk_layout *layout = bind_6x4(cases[i].codec, types[t]);
            assert_int_equal(layout->pipeline->dtype.swapped, t < 2 && cases[i].big != host_is_big);
            free_layout(layout);
        }
    }
    assert_refused("[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"middle\"}}]", ZB_EFORMAT,
                   "codecs[0]: bytes: endian is \"middle\", expected \"little\" or \"big\"");
    assert_refused("[{\"name\":\"bytes\",\"configuration\":{\"endian\":null}}]", ZB_EFORMAT,
                   "endian is null");
    assert_refused("[{\"name\":\"bytes\",\"configuration\":{\"order\":1}}]", ZB_EUNSUPPORTED,
                   "\"order\"");
}

/* Of arrays of version 2: codec/field_bytes.c. */
static void byte_orders_of_fields(void **state) {
    (void)state;
    static const zb_dtype int32_type = {.kind = ZB_KIND_INT, .size = 4};
    static const zb_field inner[] = {{"c", 0, {.kind = ZB_KIND_INT, .size = 4}},
                                     {"d", 4, {.kind = ZB_KIND_UINT, .size = 1}}};
    static const zb_dtype_detail inner_detail = {.fields = inner, .field_count = 2};
    static const zb_field outer[] = {
        {"a", 0, {.kind = ZB_KIND_FLOAT, .size = 8}},
        {"b", 8, {.kind = ZB_KIND_STRUCT, .size = 5, .detail = &inner_detail}}};
    static const zb_dtype_detail detail = {.fields = outer, .field_count = 2};
    static const struct {
        const char *endian, *message; /* NULL: right */
    } cases[] = {{"[\"little\",[\"big\",\"big\"]]", NULL},
                 {"[\"little\",[\"big\"]]", "expected a list for a struct of 2 fields"},
                 {"[\"little\",\"big\"]", "expected a list for a struct of 2 fields"},
                 {"[[\"little\"],[\"big\",\"big\"]]", "endian of the field \"a\" is [\"little\"]"},
                 {"[\"little\",[\"big\",null]]", "endian of the field \"d\" is null"},
                 {"\"big\"", "endian is \"big\", expected a list for a struct of 2 fields"},
                 {"[]", "endian is []"}};
    const bool host_is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    zb_dtype type = {.kind = ZB_KIND_STRUCT, .size = 13, .detail = &detail};
    char text[200];
    zb_error err;
    const zb__chunk_layout *layout;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text,
                 "[{\"name\":\"zarrbridge.bytes\",\"configuration\":{\"endian\":%s}}]",
                 cases[i].endian);
        const enum zb_code code = bind_text(text, type, 2, (const uint64_t[]){6, 4}, &layout, &err);
        if (code && (!cases[i].message || !strstr(err.message, cases[i].message)))
            fail_msg("%s: %s", text, err.message);
        assert_int_equal(code, cases[i].message ? ZB_EFORMAT : ZB_OK);
        if (code)
            continue;
        const zb_field *fields = layout->pipeline->dtype.detail->fields;
        assert_int_equal(fields[0].dtype.swapped, host_is_big);
        assert_int_equal(fields[1].dtype.detail->fields[0].dtype.swapped, !host_is_big);
        assert_false(fields[1].dtype.detail->fields[1].dtype.swapped);
        assert_non_null(strstr(zb__chunk_layout_read_only(layout), "both byte orders"));
        free_layout(layout);
    }
    ASSERT_FAILS(
        bind_text("[\"zarrbridge.bytes\"]", int32_type, 2, (const uint64_t[]){6, 4}, &layout, &err),
        ZB_EFORMAT, err, "endian is missing");
}

static void transposes(void **state) {
    (void)state;
    static const uint64_t shape[] = {2, 3, 5};
    static const struct {
        const char *codecs;
        uint32_t axis[3];
    } cases[] = {
        {"[{\"name\":\"transpose\",\"configuration\":{\"order\":[2,0,1]}}," LITTLE "]", {2, 0, 1}},
        {"[{\"name\":\"transpose\",\"configuration\":{\"order\":\"C\"}}," LITTLE "]", {0, 1, 2}},
        {"[{\"name\":\"transpose\",\"configuration\":{\"order\":\"F\"}}," LITTLE "]", {2, 1, 0}},
        /* The second permutes the dimensions that the first has made: 2,0,1 and then its dimensions
           1,2,0. */
        {"[{\"name\":\"transpose\",\"configuration\":{\"order\":[2,0,1]}},"
         "{\"name\":\"transpose\",\"configuration\":{\"order\":[1,2,0]}}," LITTLE "]",
         {0, 1, 2}},
        {"[{\"name\":\"transpose\",\"configuration\":{\"order\":[2,0,1]}},"
         "{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0,2]}}," LITTLE "]",
         {0, 2, 1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const zb__chunk_layout *layout = bind_shape(cases[i].codecs, int16_type, 3, shape);
        for (uint32_t d = 0; d < 3; d++) {
            assert_int_equal(layout->pipeline->axis[d], cases[i].axis[d]);
            assert_int_equal(layout->stored_shape[d], shape[cases[i].axis[d]]);
        }
        free_layout(layout);
    }
    static const char *const orders[] = {
        "[0]",     "[0,0]", "[0,2]", "[0,1,1]", "[-1,0]",
        "[0,1.0]", "\"A\"", "null",  "1",       "[0,18446744073709551615]"};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        char text[160];
        snprintf(text, sizeof text,
                 "[{\"name\":\"transpose\",\"configuration\":{\"order\":%s}}," LITTLE "]",
                 orders[i]);
        assert_refused(text, ZB_EFORMAT, "codecs[0]: transpose: order is ");
    }
    assert_refused("[\"transpose\"," LITTLE "]", ZB_EFORMAT, "order is missing");
    free_layout(bind_shape("[{\"name\":\"transpose\",\"configuration\":{\"order\":[]}},\"bytes\"]",
                           uint8_type, 0, NULL));
}

static void configurations(void **state) {
    (void)state;
    static const char *const right[] = {
        GZIP,
        "\"gzip\"",
        "{\"name\":\"gzip\",\"configuration\":{\"level\":0}}",
        ZSTD,
        "{\"name\":\"zstd\",\"configuration\":{\"level\":-131072}}",
        "{\"name\":\"zstd\",\"configuration\":{\"level\":22,\"checksum\":true}}",
        "{\"name\":\"numcodecs.zlib\",\"configuration\":{\"level\":-1}}",
        "{\"name\":\"numcodecs.zlib\",\"configuration\":{}}",
        "\"numcodecs.gzip\"",
        "{\"name\":\"numcodecs.blosc\",\"configuration\":{\"cname\":\"lz4\",\"clevel\":5,"
        "\"shuffle\":-1,\"blocksize\":0,\"typesize\":null}}",
        "{\"name\":\"numcodecs.shuffle\",\"configuration\":{\"elementsize\":null}}",
        "{\"name\":\"numcodecs.jenkins_lookup3\",\"configuration\":{\"prefix\":null}}",
        CRC32C,
        "{\"name\":\"crc32c\",\"configuration\":{}}",
        "\"blosc\"",
        "{\"name\":\"blosc\",\"configuration\":{\"cname\":\"snappy\",\"clevel\":9,"
        "\"shuffle\":\"bitshuffle\",\"typesize\":2,\"blocksize\":0}}",
    };
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        char text[400];
        snprintf(text, sizeof text, "[" LITTLE ",%s]", right[i]);
        free_layout(bind_6x4(text, int16_type));
    }
    static const struct {
        const char *name, *configuration;
        enum zb_code code;
        const char *text;
    } wrong[] = {
        {"gzip", "{\"level\":10}", ZB_EFORMAT, "level is 10, expected an integer from 0 to 9"},
        {"gzip", "{\"level\":-1}", ZB_EFORMAT, "level is -1"},
        {"gzip", "{\"level\":\"5\"}", ZB_EFORMAT, "level is \"5\""},
        {"gzip", "{\"window\":5}", ZB_EUNSUPPORTED, "\"window\""},
        {"zstd", "{\"level\":23}", ZB_EFORMAT,
         "level is 23, expected an integer from -131072 to 22"},
        {"zstd", "{\"checksum\":1}", ZB_EFORMAT, "checksum is 1, expected true or false"},
        {"zstd", "{\"dictionary\":1}", ZB_EUNSUPPORTED, "\"dictionary\""},
        {"numcodecs.zlib", "{\"level\":-2}", ZB_EFORMAT,
         "level is -2, expected an integer from -1 to 9"},
        {"numcodecs.zlib", "{\"wbits\":15}", ZB_EUNSUPPORTED, "\"wbits\""},
        {"numcodecs.gzip", "{\"level\":-1}", ZB_EFORMAT, "level is -1"},
        {"numcodecs.blosc", "{\"shuffle\":\"shuffle\"}", ZB_EFORMAT,
         "shuffle is \"shuffle\", expected an integer from -1 to 2"},
        {"numcodecs.shuffle", "{\"elementsize\":-1}", ZB_EFORMAT, "elementsize is -1"},
        {"numcodecs.crc32", "{\"location\":\"middle\"}", ZB_EFORMAT,
         "location is \"middle\", expected \"start\" or \"end\""},
        {"numcodecs.jenkins_lookup3", "{\"initval\":-1}", ZB_EFORMAT, "initval is -1"},
        {"numcodecs.jenkins_lookup3", "{\"prefix\":\"ab\"}", ZB_EUNSUPPORTED, "prefix is \"ab\""},
        {"numcodecs.lz4", "{\"acceleration\":1.5}", ZB_EFORMAT, "acceleration is 1.5"},
        {"numcodecs.pcodec", "{}", ZB_EUNSUPPORTED, "pcodec has no C library"},
        {"pcodec", "{\"level\":8}", ZB_EUNSUPPORTED,
         "\"pcodec\" is not supported: pcodec has no C library; rewrite the array with"},
        {"optional", "{\"mask_codecs\":[],\"data_codecs\":[]}", ZB_EUNSUPPORTED,
         "\"optional\" is not supported: a draft whose elements may be null; write the values and"},
        {"zarrs.optional", "{}", ZB_EUNSUPPORTED, "as two arrays, with zarrs"},
        {"gribberish", "{}", ZB_EUNSUPPORTED, "open the GRIB files themselves with GDAL"},
#ifdef ZB_HAVE_BZ2
        {"numcodecs.bz2", "{\"level\":0}", ZB_EFORMAT, "level is 0"},
#endif
#ifdef ZB_HAVE_LZMA
        {"numcodecs.lzma", "{\"format\":3}", ZB_EFORMAT, "needs filters"},
        {"numcodecs.lzma", "{\"filters\":[{\"id\":33}]}", ZB_EUNSUPPORTED, "raw streams"},
        {"numcodecs.lzma", "{\"format\":3,\"filters\":[]}", ZB_EFORMAT, "1 to 4 filters"},
        {"numcodecs.lzma", "{\"format\":3,\"filters\":[{}]}", ZB_EFORMAT, "with an id"},
        {"numcodecs.lzma", "{\"format\":3,\"filters\":[{\"id\":3}]}", ZB_EFORMAT,
         "a pipeline that lzma does not have"},
        {"numcodecs.lzma", "{\"format\":3,\"filters\":[{\"id\":3,\"dist\":257},{\"id\":33}]}",
         ZB_EFORMAT, "a pipeline that lzma does not have"},
        {"numcodecs.lzma", "{\"format\":3,\"filters\":[{\"id\":33,\"lc\":5}]}", ZB_EFORMAT,
         "a pipeline that lzma does not have"},
        {"numcodecs.lzma", "{\"format\":3,\"filters\":[{\"id\":33,\"preset\":11}]}", ZB_EFORMAT,
         "filters[0]: preset is 11"},
        {"numcodecs.lzma", "{\"format\":3,\"filters\":[{\"id\":33,\"dist\":1}]}", ZB_EFORMAT,
         "no option \"dist\""},
        {"numcodecs.lzma", "{\"format\":3,\"filters\":[{\"id\":77},{\"id\":33}]}", ZB_EUNSUPPORTED,
         "no filter with the id 77"},
        {"numcodecs.lzma", "{\"preset\":10}", ZB_EFORMAT, "preset is 10"},
        {"numcodecs.lzma", "{\"check\":16}", ZB_EFORMAT, "check is 16"},
#endif
        {"crc32c", "{\"x\":1}", ZB_EUNSUPPORTED, "\"x\""},
        {"blosc", "{\"cname\":\"lzma\"}", ZB_EFORMAT, "cname is \"lzma\", expected \"lz4\" or "},
        {"blosc", "{\"clevel\":10}", ZB_EFORMAT, "clevel is 10"},
        {"blosc", "{\"shuffle\":1}", ZB_EFORMAT, "shuffle is 1, expected \"noshuffle\""},
        {"blosc", "{\"typesize\":0}", ZB_EFORMAT, "typesize is 0"},
        {"blosc", "{\"blocksize\":-1}", ZB_EFORMAT, "blocksize is -1"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[400];
        snprintf(text, sizeof text, "[" LITTLE ",{\"name\":\"%s\",\"configuration\":%s}]",
                 wrong[i].name, wrong[i].configuration);
        assert_refused(text, wrong[i].code, wrong[i].text);
        assert_refused(text, wrong[i].code, "codecs[1]");
    }
}

static void limits(void **state) {
    (void)state;
    const zb_limits *l = zb_limits_get();
    char text[2000] = "[" LITTLE;
    for (uint64_t i = 0; i < l->codecs; i++)
        strcat(text, "," CRC32C);
    strcat(text, "]");
    assert_refused(text, ZB_ELIMIT, "17 codecs are more than the limit codecs (16)");

    zb_error err;
    const zb__chunk_layout *layout;
    uint64_t shape[] = {2, l->chunk_bytes / 4};
    free_layout(bind_shape("[" LITTLE "]", int16_type, 2, shape));
    shape[1]++;
    ASSERT_FAILS(bind_text("[" LITTLE "]", int16_type, 2, shape, &layout, &err), ZB_ELIMIT, err,
                 "a chunk has 1073741828 bytes, more than the limit chunk_bytes (1073741824)");
    shape[0] = shape[1] = (uint64_t)1 << 40;
    ASSERT_FAILS(bind_text("[" LITTLE "]", int16_type, 2, shape, &layout, &err), ZB_ELIMIT, err,
                 "2^64 bytes or more, more than the limit chunk_bytes");
}

/* ---- Decoding ----------------------------------------------------------------------------- */

/* Encodings, outermost last; each frees its input. */
typedef struct blob {
    uint8_t *data;
    size_t size;
} blob;

static blob with_crc32c(blob b) {
    uint32_t crc = zb__crc32c(b.data, b.size);
    b.data = realloc(b.data, b.size + 4);
    for (int i = 0; i < 4; i++)
        b.data[b.size++] = (uint8_t)(crc >> (8 * i));
    return b;
}

static blob with_zstd(blob b) {
    blob out = {malloc(ZSTD_compressBound(b.size)), 0};
    out.size = ZSTD_compress(out.data, ZSTD_compressBound(b.size), b.data, b.size, 3);
    free(b.data);
    return out;
}

static blob with_gzip(blob b) {
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(6);
    size_t bound = libdeflate_gzip_compress_bound(compressor, b.size);
    blob out = {malloc(bound), 0};
    out.size = libdeflate_gzip_compress(compressor, b.data, b.size, out.data, bound);
    libdeflate_free_compressor(compressor);
    free(b.data);
    return out;
}

static blob zeros(size_t size) {
    return (blob){calloc(1, size), size};
}

/* Frees b. out has room for capacity bytes. */
static enum zb_code decode(const char *codecs, blob b, bool exact, uint8_t *out, size_t capacity,
                           size_t *size, zb_error *err) {
    const zb__chunk_layout *layout =
        bind_shape(codecs, uint8_type, 1, (const uint64_t[]){capacity});
    zb__scratch *scratch = zb__scratch_take();
    zb__sink sink = {.data = out, .capacity = capacity, .exact = exact, .hi = capacity};
    enum zb_code code = zb__pipeline_decode(layout->pipeline, scratch, b.data, b.size, &sink, err);
    if (size)
        *size = sink.size;
    zb__scratch_put(scratch);
    free_layout(layout);
    free(b.data);
    return code;
}

static void through_several(void **state) {
    (void)state;
    enum { SIZE = 5000 };
    uint8_t data[SIZE], out[SIZE];
    zb_error err;
    for (size_t i = 0; i < SIZE; i++)
        data[i] = (uint8_t)(i * i >> 7);
    static const struct {
        const char *codecs;
        blob (*encoders[4])(blob);
    } pipelines[] = {
        {"[\"bytes\"]", {NULL}},
        {"[\"bytes\",\"crc32c\"]", {with_crc32c}},
        {"[\"bytes\",\"crc32c\",\"crc32c\"]", {with_crc32c, with_crc32c}},
        {"[\"bytes\",\"zstd\",\"crc32c\"]", {with_zstd, with_crc32c}},
        {"[\"bytes\",\"crc32c\",\"zstd\"]", {with_crc32c, with_zstd}},
        {"[\"bytes\",\"zstd\",\"gzip\"]", {with_zstd, with_gzip}},
        {"[\"bytes\",\"gzip\",\"zstd\",\"gzip\"]", {with_gzip, with_zstd, with_gzip}},
        {"[\"bytes\",\"zstd\",\"crc32c\",\"gzip\",\"crc32c\"]",
         {with_zstd, with_crc32c, with_gzip, with_crc32c}},
    };
    for (size_t i = 0; i < sizeof pipelines / sizeof *pipelines; i++) {
        for (int exact = 0; exact < 2; exact++) {
            blob b = zeros(SIZE);
            size_t size;
            memcpy(b.data, data, SIZE);
            for (size_t k = 0; k < 4 && pipelines[i].encoders[k]; k++)
                b = pipelines[i].encoders[k](b);
            memset(out, 0xa5, SIZE);
            ASSERT_OK(decode(pipelines[i].codecs, b, exact, out, SIZE, &size, &err), err);
            assert_int_equal(size, SIZE);
            assert_memory_equal(out, data, SIZE);
        }
    }
}

static void wrong_sizes(void **state) {
    (void)state;
    uint8_t out[100];
    size_t size;
    zb_error err;
    ASSERT_FAILS(decode("[\"bytes\"]", zeros(99), true, out, 100, NULL, &err), ZB_EFORMAT, err,
                 "the chunk has 99 bytes, expected 100");
    ASSERT_FAILS(decode("[\"bytes\"]", zeros(101), true, out, 100, NULL, &err), ZB_EFORMAT, err,
                 "the chunk has 101 bytes, expected 100");
    ASSERT_FAILS(decode("[\"bytes\"]", zeros(101), false, out, 100, NULL, &err), ZB_EFORMAT, err,
                 "at most 100");
    ASSERT_OK(decode("[\"bytes\"]", zeros(99), false, out, 100, &size, &err), err);
    assert_int_equal(size, 99);
    /* Known sizes between codecs are held to: here 104. */
    ASSERT_FAILS(decode("[\"bytes\",\"crc32c\",\"zstd\"]", with_zstd(with_crc32c(zeros(99))), true,
                        out, 100, NULL, &err),
                 ZB_EFORMAT, err, "zstd: the data decode to 103 bytes, expected 104");
    ASSERT_FAILS(decode("[\"bytes\",\"crc32c\"]", zeros(0), true, out, 100, NULL, &err), ZB_EFORMAT,
                 err, "too few");
}

/* 300 MB in some hundred bytes, for a chunk of 100: the stage before the last may hold twice the
   chunk and 64 KiB, not the size that the data claim. */
static void bombs_in_chains(void **state) {
    (void)state;
    uint8_t out[100];
    zb_error err;
    enum { BIG = 300 << 20 };
    blob zstd = with_zstd(zeros(BIG));
    blob copy = zeros(zstd.size);
    memcpy(copy.data, zstd.data, zstd.size);
    ASSERT_FAILS(decode("[\"bytes\",\"gzip\",\"zstd\"]", copy, true, out, 100, NULL, &err),
                 ZB_EFORMAT, err, "more bytes than expected");
    blob packed = with_gzip(zstd);
    assert_true(packed.size < 10000);
    ASSERT_FAILS(decode("[\"bytes\",\"zstd\",\"gzip\"]", packed, true, out, 100, NULL, &err),
                 ZB_EFORMAT, err, "more bytes than expected");
    zb__scratch *scratch = zb__scratch_take();
    assert_true(scratch->stage[0].capacity <= 1 << 20 && scratch->stage[1].capacity <= 1 << 20);
    zb__scratch_put(scratch);
}

static void bounds_and_parts(void **state) {
    (void)state;
    static const struct {
        const char *codecs;
        uint64_t bound;
        bool raw, partial;
    } cases[] = {
        {"[" LITTLE "]", 48, true, false},
        {"[" LITTLE "," CRC32C "," CRC32C "]", 56, false, false},
        {"[" LITTLE "," ZSTD "]", 2 * 48 + 65536, false, true},
        {"[" LITTLE ",\"blosc\"," CRC32C "]", 2 * 48 + 65536, false, true},
        {"[" LITTLE "," GZIP "]", 2 * 48 + 65536, false, false},
        {"[" LITTLE "," ZSTD "," GZIP "]", 2 * 48 + 65536, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const zb__chunk_layout *layout = bind_6x4(cases[i].codecs, int16_type);
        assert_int_equal(layout->encoded_bound, cases[i].bound);
        assert_int_equal(layout->pipeline->is_raw, cases[i].raw);
        assert_int_equal(zb__pipeline_is_partial(layout->pipeline), cases[i].partial);
        free_layout(layout);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_of_codecs),
        cmocka_unit_test(names),
        cmocka_unit_test(byte_order),
        cmocka_unit_test(transposes),
        cmocka_unit_test(byte_orders_of_fields),
        cmocka_unit_test(configurations),
        cmocka_unit_test(limits),
        cmocka_unit_test(through_several),
        cmocka_unit_test(wrong_sizes),
        cmocka_unit_test(bombs_in_chains),
        cmocka_unit_test(bounds_and_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
