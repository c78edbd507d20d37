/* SPDX-License-Identifier: MIT */
/*
 * The bytes→bytes codecs of numcodecs: chunks that numcodecs 0.16 wrote, byte for byte, every
 * refusal, damage, bombs and round trips of every setting.
 */
#include "decode.h"

#include "codec/table.h"

static const uint8_t ramp[16] = {0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3};

/* "0aff" as bytes. */
static bytes from_hex(const char *hex) {
    bytes b = {malloc(strlen(hex) / 2 + 1), 0};
    for (; hex[2 * b.size]; b.size++) {
        unsigned value;
        assert_int_equal(sscanf(hex + 2 * b.size, "%2x", &value), 1);
        b.data[b.size] = (uint8_t)value;
    }
    return b;
}

/* Like decode.h's calls, for configurations that matter to decoding. */
static enum zb_code decode_with(const char *name, const char *configuration, bytes in, uint8_t *out,
                                size_t size, zb_error *err) {
    zb__codec codec = make_codec(zb__codec_find(name), configuration, 4);
    zb__sink sink = {.data = out, .capacity = size, .exact = true, .hi = size};
    zb__scratch *scratch = zb__scratch_take();
    enum zb_code code = codec.ops->bytes.decode(codec.state, scratch, in.data, in.size, &sink, err);
    zb__scratch_put(scratch);
    zb__codec_free(&codec);
    return code;
}

/* int32 0, 1, 2, 3 as numcodecs encodes it. */
static const struct {
    const char *name, *configuration, *hex;
} vectors[] = {
    {"numcodecs.fletcher32", "{}", "0000000001000000020000000300000000060014"},
    {"numcodecs.jenkins_lookup3", "{}", "0000000001000000020000000300000047d94e09"},
    {"numcodecs.jenkins_lookup3", "{\"initval\":7,\"prefix\":null}",
     "00000000010000000200000003000000cd3f6106"},
    {"numcodecs.crc32", "{}", "a9af8e2700000000010000000200000003000000"},
    {"numcodecs.crc32", "{\"location\":\"end\"}", "00000000010000000200000003000000a9af8e27"},
    {"numcodecs.adler32", "{}", "0700380000000000010000000200000003000000"},
    {"numcodecs.adler32", "{\"location\":\"end\"}", "0000000001000000020000000300000007003800"},
    {"numcodecs.crc32c", "{}", "00000000010000000200000003000000ad3d5b83"},
    {"numcodecs.crc32c", "{\"location\":\"start\"}", "ad3d5b8300000000010000000200000003000000"},
    {"numcodecs.shuffle", "{}", "00010203000000000000000000000000"},
    {"numcodecs.shuffle", "{\"elementsize\":2}", "00000100020003000000000000000000"},
    {"numcodecs.shuffle", "{\"elementsize\":1}", "00000000010000000200000003000000"},
    {"numcodecs.lz4", "{}", "10000000f00100000000010000000200000003000000"},
#ifdef ZB_HAVE_BZ2
    {"numcodecs.bz2", "{}",
     "425a68313141592653597a1035cb000001c0007800200021100cd34d12ea871772453850907a1035cb"},
#endif
#ifdef ZB_HAVE_LZMA
    {"numcodecs.lzma", "{}",
     "fd377a585a000004e6d6b4460200210116000000742fe5a3e0000f000c5d0000687ebf0a82ad1ce65233f3007f8c"
     "fc9e7aea050400012810e50b6c601fb6f37d010000000004595a"},
    {"numcodecs.lzma", "{\"format\":3,\"filters\":[{\"id\":33}]}",
     "e0000f000c5d0000687ebf0a82ad1ce65233f300"},
    {"numcodecs.lzma",
     "{\"format\":3,\"filters\":[{\"id\":3,\"dist\":4},{\"id\":33,\"preset\":1}]}",
     "e0000f00085d0000687ec6845de80000"},
    {"numcodecs.lzma", "{\"format\":3,\"filters\":[{\"id\":4611686018427387905,\"preset\":9}]}",
     "0000687ebf0a82ad1ce7aae095ffff67380000"},
#endif
};

static void chunks_of_numcodecs(void **state) {
    (void)state;
    zb_error err;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        bytes in = from_hex(vectors[i].hex);
        uint8_t out[16];
        if (decode_with(vectors[i].name, vectors[i].configuration, in, out, 16, &err))
            fail_msg("%s: %s", vectors[i].name, err.message);
        assert_memory_equal(out, ramp, 16);
        zb__codec codec = make_codec(zb__codec_find(vectors[i].name), vectors[i].configuration, 4);
        bytes made = run_encoder(&codec, (bytes){(uint8_t *)ramp, 16});
        assert_int_equal(made.size, in.size);
        assert_memory_equal(made.data, in.data, in.size);
        zb__codec_free(&codec);
        free(made.data);
        free(in.data);
    }
}

/* Sums of lengths that are no multiple of what is summed up at once; 65535 of Fletcher's zero. */
static void odd_lengths(void **state) {
    (void)state;
    static const struct {
        const char *name, *text, *hex;
    } cases[] = {
        {"numcodecs.fletcher32", "a", "6100610061"},
        {"numcodecs.fletcher32", "abc", "61626362c4c525"},
        {"numcodecs.fletcher32", "abcde", "6162636465c729f04f"},
        {"numcodecs.fletcher32", "\xff\xff\xff\xff\xff\xff\xff", "ffffffffffffff00ff00ff"},
        {"numcodecs.fletcher32", "\xff\xff", "ffffffffffff"},
        {"numcodecs.jenkins_lookup3", "abcdefghijkl", "6162636465666768696a6b6c7bf81240"},
        {"numcodecs.jenkins_lookup3", "abcdefghijklm", "6162636465666768696a6b6c6df9288192"},
        {"numcodecs.jenkins_lookup3", "", "efbeadde"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bytes in = from_hex(cases[i].hex);
        zb__codec codec = make_codec(zb__codec_find(cases[i].name), "{}", 1);
        bytes made = run_encoder(&codec, (bytes){(uint8_t *)cases[i].text, strlen(cases[i].text)});
        if (made.size != in.size || memcmp(made.data, in.data, in.size) != 0)
            fail_msg("%s of %s", cases[i].name, cases[i].text);
        zb__codec_free(&codec);
        free(made.data);
        free(in.data);
    }
}

static const struct {
    const char *name, *configuration;
} settings[] = {
    {"numcodecs.gzip", "{}"},
    {"numcodecs.gzip", "{\"level\":9}"},
    {"numcodecs.zstd", "{}"},
    {"numcodecs.zstd", "{\"level\":-7,\"checksum\":true}"},
    {"numcodecs.blosc", "{}"},
    {"numcodecs.blosc", "{\"cname\":\"zstd\",\"clevel\":3,\"shuffle\":2,\"blocksize\":512}"},
    {"numcodecs.blosc", "{\"cname\":\"zlib\",\"shuffle\":-1,\"typesize\":null}"},
    {"numcodecs.lz4", "{}"},
    {"numcodecs.lz4", "{\"acceleration\":100}"},
    {"numcodecs.lz4", "{\"acceleration\":-1}"},
    {"numcodecs.shuffle", "{\"elementsize\":0}"},
    {"numcodecs.fletcher32", "{}"},
    {"numcodecs.crc32", "{}"},
    {"numcodecs.adler32", "{}"},
    {"numcodecs.crc32c", "{}"},
    {"numcodecs.jenkins_lookup3", "{}"},
#ifdef ZB_HAVE_BZ2
    {"numcodecs.bz2", "{}"},
    {"numcodecs.bz2", "{\"level\":9}"},
#endif
#ifdef ZB_HAVE_LZMA
    {"numcodecs.lzma", "{\"preset\":0,\"check\":0}"},
    {"numcodecs.lzma", "{\"preset\":2147483649,\"check\":10}"},
#endif
};

/* The helper decodes with a configuration of nothing, so these are settings of encoding alone;
   `vectors` has the others. */
static void round_trips(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        assert_round_trips(zb__codec_find(settings[i].name), settings[i].configuration, 2);
}

static void damage(void **state) {
    (void)state;
    bytes data = make_sample(SAMPLE_TEXT, 600, 1);
    static const char *const names[] = {
        "numcodecs.lz4",     "numcodecs.shuffle",         "numcodecs.fletcher32", "numcodecs.crc32",
        "numcodecs.adler32", "numcodecs.jenkins_lookup3", "numcodecs.crc32c",
#ifdef ZB_HAVE_BZ2
        "numcodecs.bz2",
#endif
#ifdef ZB_HAVE_LZMA
        "numcodecs.lzma",
#endif
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const zb__codec_ops *ops = zb__codec_find(names[i]);
        zb__codec codec = make_codec(ops, "{}", 1);
        bytes in = run_encoder(&codec, data);
        assert_survives_damage(ops, in, data.size);
        assert_parts_decode(ops, in, data);
        zb__codec_free(&codec);
        free(in.data);
    }
    free(data.data);
}

static void refused(void **state) {
    (void)state;
    static const struct {
        const char *name, *hex;
        size_t size;
        enum zb_code code;
        const char *text;
    } cases[] = {
        {"numcodecs.lz4", "100000", 16, ZB_EFORMAT, "lz4: 3 bytes are too few for a header"},
        {"numcodecs.lz4", "11000000f00100000000010000000200000003000000", 16, ZB_EFORMAT,
         "lz4: the data decode to 17 bytes, expected 16"},
        {"numcodecs.lz4", "ffffffff00", 16, ZB_EFORMAT, "to 4294967295 bytes"},
        {"numcodecs.lz4", "10000000f001000000000100000002000000", 16, ZB_EFORMAT, "lz4: damaged"},
        {"numcodecs.crc32", "a9af8e", 0, ZB_EFORMAT, "crc32: 3 bytes are too few for a checksum"},
        {"numcodecs.crc32", "a9af8e2600000000010000000200000003000000", 16, ZB_ECHECKSUM,
         "crc32 is 0x278eafa9, expected 0x268eafa9"},
        {"numcodecs.adler32", "0700380000000000010000000200000003000001", 16, ZB_ECHECKSUM,
         "adler32 is 0x"},
        {"numcodecs.fletcher32", "0000000001000000020000000300000000060015", 16, ZB_ECHECKSUM,
         "fletcher32 is 0x14000600, expected 0x15000600"},
        {"numcodecs.fletcher32", "0000000001000000020000000300000000060014", 15, ZB_EFORMAT,
         "to 16 bytes, expected 15"},
        {"numcodecs.jenkins_lookup3", "0000000001000000020000000300000047d94e08", 16, ZB_ECHECKSUM,
         "jenkins_lookup3 is 0x"},
        {"numcodecs.shuffle", "0001020300", 4, ZB_EFORMAT,
         "shuffle: the data decode to 5 bytes, expected 4"},
#ifdef ZB_HAVE_BZ2
        {"numcodecs.bz2", "", 0, ZB_EFORMAT, "bz2: damaged or truncated"},
        {"numcodecs.bz2",
         "425a68313141592653597a1035cb000001c0007800200021100cd34d12ea871772453850907a1035cb", 15,
         ZB_EFORMAT, "bz2: the data decode to more bytes than expected"},
        {"numcodecs.bz2",
         "425a68313141592653597a1035cb000001c0007800200021100cd34d12ea871772453850907a1035cb", 17,
         ZB_EFORMAT, "bz2: the data decode to 16 bytes, expected 17"},
        {"numcodecs.bz2",
         "425a68313141592653597a1035cb000001c0007800200021100cd34d12ea871772453850907a1035cb00", 16,
         ZB_EFORMAT, "bz2: damaged or truncated"},
#endif
#ifdef ZB_HAVE_LZMA
        {"numcodecs.lzma", "", 0, ZB_EFORMAT, "lzma: damaged or truncated"},
        {"numcodecs.lzma",
         "fd377a585a000004e6d6b4460200210116000000742fe5a3e0000f000c5d0000687ebf0a82ad1ce65233f3007"
         "f"
         "8cfc9e7aea050400012810e50b6c601fb6f37d010000000004595a",
         17, ZB_EFORMAT, "lzma: the data decode to 16 bytes, expected 17"},
        {"numcodecs.lzma",
         "fd377a585a000004e6d6b4460200210116000000742fe5a3e0000f000c5d0000687ebf0a82ad1ce65233f3007"
         "f"
         "8cfc9e7aea050400012810e50b6c601fb6f37d010000000004595a01",
         16, ZB_EFORMAT, "lzma: damaged or truncated"},
#endif
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bytes in = from_hex(cases[i].hex);
        assert_fails(zb__codec_find(cases[i].name), in.data, in.size, cases[i].size, cases[i].code,
                     cases[i].text);
        free(in.data);
    }
    uint8_t out[16];
    zb_error err;
    bytes five = {(uint8_t *)ramp, 5};
    assert_int_equal(decode_with("numcodecs.shuffle", "{\"elementsize\":4}", five, out, 5, &err),
                     ZB_EFORMAT);
    assert_non_null(strstr(err.message, "5 bytes are no whole number of elements of 4"));
}

/* 32 MiB of zeros for a chunk of 1000 bytes, and an .xz stream that wants a dictionary of 1.5 GiB
   (LZMA2's property byte 38; its CRC-32 corrected). */
static void bombs(void **state) {
    (void)state;
    static const char *const names[] = {
        "numcodecs.lz4",
#ifdef ZB_HAVE_BZ2
        "numcodecs.bz2",
#endif
#ifdef ZB_HAVE_LZMA
        "numcodecs.lzma",
#endif
    };
    bytes data = {calloc(1, 32 << 20), 32 << 20};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        zb__codec codec = make_codec(zb__codec_find(names[i]), "{}", 1);
        bytes in = run_encoder(&codec, data);
        assert_fails(codec.ops, in.data, in.size, 1000, ZB_EFORMAT, "bytes");
        zb__codec_free(&codec);
        free(in.data);
    }
    free(data.data);
#ifdef ZB_HAVE_LZMA
    bytes greedy = from_hex("fd377a585a000004e6d6b446"
                            "0200210126000000d5d7ce53"
                            "e0000f000c5d0000687ebf0a82ad1ce65233f3007f8cfc9e7aea05040001"
                            "2810e50b6c601fb6f37d010000000004595a");
    assert_fails(zb__codec_find("numcodecs.lzma"), greedy.data, greedy.size, 16, ZB_ELIMIT,
                 "wants a dictionary");
    free(greedy.data);
    zb_error err;
    uint8_t out[16];
    bytes raw = from_hex("01000f000102030405060708090a0b0c0d0e0f00");
    assert_int_equal(
        decode_with("numcodecs.lzma",
                    "{\"format\":3,\"filters\":[{\"id\":33,\"dict_size\":1073741824}]}", raw, out,
                    16, &err),
        ZB_ELIMIT);
    free(raw.data);
#endif
}

/* Streams behind each other are one chunk, as for Python's bz2 and lzma. */
static void several_streams(void **state) {
    (void)state;
    static const char *const names[] = {
        "numcodecs.gzip",
        "numcodecs.zstd",
#ifdef ZB_HAVE_BZ2
        "numcodecs.bz2",
#endif
#ifdef ZB_HAVE_LZMA
        "numcodecs.lzma",
#endif
    };
    bytes data = make_sample(SAMPLE_TEXT, 2000, 1);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        zb__codec codec = make_codec(zb__codec_find(names[i]), "{}", 1);
        bytes first = run_encoder(&codec, (bytes){data.data, 700});
        bytes second = run_encoder(&codec, (bytes){data.data + 700, 1300});
        bytes both = {malloc(first.size + second.size), first.size + second.size};
        memcpy(both.data, first.data, first.size);
        memcpy(both.data + first.size, second.data, second.size);
        assert_decodes(codec.ops, both.data, both.size, data.data, data.size);
        zb__codec_free(&codec);
        free(first.data);
        free(second.data);
        free(both.data);
    }
    free(data.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_of_numcodecs),
        cmocka_unit_test(odd_lengths),
        cmocka_unit_test(round_trips),
        cmocka_unit_test(damage),
        cmocka_unit_test(refused),
        cmocka_unit_test(bombs),
        cmocka_unit_test(several_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
