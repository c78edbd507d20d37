/* SPDX-License-Identifier: MIT */
/* The parsers of the GDAL driver, which need no dataset: names, creation options, CF times. */
#include "geo/cf_time.h"
#include "options/creation_options.h"
#include "store/location.h"

#include <cstring>
#include <limits>

#include "cmocka_cpp.h"

using namespace zarr3;

static void check_text(const std::string &text, const char *expected) {
    assert_string_equal(text.c_str(), expected);
}

/* ---- Names ---- */

namespace {

struct Name {
    const char *name, *directory, *node;
    std::vector<std::string> tail;
    bool closed;
};

} // namespace

static void names_are_taken_apart(void **) {
    static const Name kNames[] = {
        {"/d/x.zarr", "/d/x.zarr", "", {}, false},
        {"/d/x.zarr/", "/d/x.zarr", "", {}, false},
        {"/d/x.zarr/zarr.json", "/d/x.zarr", "", {}, false},
        {"zarr.json", ".", "", {}, false},
        {"/", "/", "", {}, false},
        {"/zarr.json", "/", "", {}, false},
        {"zarr3:x.zarr", "x.zarr", "", {}, false}, /* in any case of letters */
        {"ZARR3:/vsicurl/https://h:80/x.zarr", "/vsicurl/https://h:80/x.zarr", "", {}, false},
        {"ZARR3:/vsicurl/https://h/x.zarr:/a/b", "/vsicurl/https://h/x.zarr", "a/b", {}, false},
        {"ZARR3:\"/d/x.zarr\"", "/d/x.zarr", "", {}, false},
        {"ZARR3:\"/d/x.zarr\":", "/d/x.zarr", "", {}, false},
        {"ZARR3:\"/d/x.zarr/zarr.json\":/a", "/d/x.zarr", "a", {}, false},
        {"ZARR3:\"/d/x.zarr\":a", "/d/x.zarr", "a", {}, false},
        {"ZARR3:\"/d/x.zarr\":/a/b:3:0", "/d/x.zarr", "a/b", {"3", "0"}, false},
        {"ZARR3:/d/x.zarr:/a:3", "/d/x.zarr", "a", {"3"}, false},
        {"ZARR3:\"/d/x.zarr\":/t:3/", "/d/x.zarr", "t:3", {}, true},
        {"ZARR3:\"/d/x.zarr\":/t/:3", "/d/x.zarr", "t", {"3"}, true},
        {"ZARR3:\"/d/x.zarr\":/a:b", "/d/x.zarr", "a:b", {}, false}, /* a name with a colon */
        {"ZARR3:\"/d/x.zarr\":/a:-1", "/d/x.zarr", "a", {"-1"}, false},
        {"ZARR3:\"/d/x.zarr\":/a:99999999999999999999",
         "/d/x.zarr",
         "a",
         {"99999999999999999999"},
         false},
        {"ZARR3:\"/d/a\"b\":/c", "/d/a\"b", "c", {}, false}, /* a quote in the path */
    };
    for (const Name &name : kNames) {
        Location location;
        assert_true(parse_location(name.name, &location));
        check_text(location.directory, name.directory);
        check_text(location.node, name.node);
        assert_true(location.tail == name.tail);
        assert_int_equal(location.closed, name.closed);
    }
}

static void malformed_names_are_refused(void **) {
    for (const char *name : {"ZARR3:", "ZARR3:\"", "ZARR3:\"\"", "ZARR3:\"/d/x.zarr",
                             "ZARR3:\"/d/x.zarr\"/a", "ZARR3:\"\":/a", "ZARR3::/a"}) {
        Location location;
        assert_false(parse_location(name, &location));
    }
}

/* A name that is put together leads back to its parts. */
static void names_come_back(void **) {
    const std::vector<IndexRanges> slices = {{}, {7}, {3, 0}, {{2, 9}, 1}};
    for (const char *node : {"a", "a/b", "t:3", "a:b"}) {
        for (const IndexRanges &slice : slices) {
            Location location;
            const std::string name = subdataset_name("/d/x y.zarr", node, slice);
            assert_true(parse_location(name.c_str(), &location));
            check_text(location.directory, "/d/x y.zarr");
            check_text(location.node, node);
            assert_int_equal(location.tail.size(), slice.size());
            for (size_t i = 0; i < slice.size(); i++) {
                IndexRange range(99);
                assert_true(parse_range(location.tail[i], &range));
                assert_int_equal(range.first, slice[i].first);
                assert_int_equal(range.last, slice[i].last);
            }
        }
    }
    check_text(slice_name("t", {1}, true), "t/:1");
}

static void indices_are_plain_numbers(void **) {
    uint64_t index = 5;
    assert_true(parse_index("0", &index));
    assert_int_equal(index, 0);
    assert_true(parse_index("9999999999999999999", &index));
    assert_true(index == 9999999999999999999u);
    for (const char *text : {"", "-1", "+1", " 1", "1 ", "0x1", "1e3", "10000000000000000000"})
        assert_false(parse_index(text, &index));
}

static void ranges_have_two_indices(void **) {
    IndexRange range(5);
    assert_true(parse_range("3-3", &range) && range.first == 3 && range.last == 3);
    assert_true(parse_range("0-9999999999999999999", &range) && range.first == 0);
    for (const char *text :
         {"", "-", "3-", "-3", "3-2", "3--4", "3-+4", "3- 4", "1-2-3", "0-10000000000000000000"})
        assert_false(parse_range(text, &range));
}

static void quotes_are_found(void **) {
    assert_int_equal(closing_quote("ZARR3:\"/d/x\":/a"), 11);
    assert_int_equal(closing_quote("ZARR3:\"/d/x\""), 11);
    assert_true(closing_quote("ZARR3:/d/x:/a") == std::string::npos);
    assert_true(closing_quote("ZARR3:\"/d/x") == std::string::npos);
    assert_true(closing_quote("ZARR3:\"") == std::string::npos);
}

/* ---- Creation options ---- */

static bool parse(std::initializer_list<const char *> list, CreationOptions *options,
                  std::string *reason) {
    CPLStringList strings;
    for (const char *item : list)
        strings.AddString(item);
    *options = CreationOptions();
    reason->clear();
    return parse_creation_options(strings.List(), options, reason);
}

static void options_have_defaults(void **) {
    CreationOptions options;
    std::string reason;
    assert_true(parse({}, &options, &reason));
    assert_true(options.block.empty() && options.shard.empty() && !options.append);
    assert_true(options.sharding == Sharding::Auto && options.separator == '/');
    check_text(options.codecs, R"([{"name":"zstd","configuration":{"level":3,"checksum":false}}])");
    check_text(options.unknown, "");
    assert_int_equal(options.write.sync, ZB_SYNC_NONE);
}

static void options_are_taken(void **) {
    CreationOptions options;
    std::string reason;
    assert_true(parse({"BLOCKSIZE=256x512", "SHARD=1024,2048", "INTERLEAVE=pixel",
                       "DIM_SEPARATOR=.", "ARRAY_NAME=a", "SYNC=CLOSE", "STORE_EMPTY=YES"},
                      &options, &reason));
    assert_true(options.block == (std::vector<uint64_t>{512, 256})); /* rows, columns */
    assert_true(options.shard == (std::vector<uint64_t>{1024, 2048}));
    assert_true(options.sharding == Sharding::Given && options.pixel_interleave);
    assert_true(options.separator == '.' && options.array_name == "a");
    assert_true(options.write.sync == ZB_SYNC_CLOSE && options.write.store_empty);
    assert_true(parse({"BLOCKSIZE=1,2,3", "SHARD=off"}, &options, &reason));
    assert_true(options.block == (std::vector<uint64_t>{1, 2, 3}));
    assert_true(options.sharding == Sharding::Off);
    assert_true(parse({"BLOCKSIZE=256"}, &options, &reason)); /* of one dimension */
    assert_true(options.block == (std::vector<uint64_t>{256}));
    assert_true(parse({"BLOCKYSIZE=7"}, &options, &reason));
    assert_true(options.block == (std::vector<uint64_t>{7, 512}));
    assert_true(parse({"APPEND_SUBDATASET=YES", "ARRAY_NAME=b"}, &options, &reason));
    assert_true(options.append);
    assert_true(parse({"TILED=YES", "@INTERNAL=1", "Pagesize=3"}, &options, &reason));
    check_text(options.unknown, "Pagesize");
}

static void codecs_are_written(void **) {
    static constexpr struct {
        std::initializer_list<const char *> list;
        const char *codecs;
    } kCases[] = {
        {{"COMPRESS=NONE"}, "[]"},
        {{"COMPRESS=NONE", "CHECKSUM=YES"}, R"([{"name":"crc32c"}])"},
        {{"COMPRESS=gzip"}, R"([{"name":"gzip","configuration":{"level":6}}])"},
        {{"COMPRESS=GZIP", "LEVEL=9"}, R"([{"name":"gzip","configuration":{"level":9}}])"},
        {{"COMPRESS=BLOSC", "BLOSC_CNAME=ZSTD", "BLOSC_SHUFFLE=BIT", "LEVEL=0"},
         R"([{"name":"blosc","configuration":)"
         R"({"cname":"zstd","clevel":0,"shuffle":"bitshuffle"}}])"},
        /* As GDAL's own driver calls it. */
        {{"COMPRESS=ZSTD", "ZSTD_LEVEL=19", "GZIP_LEVEL=1"},
         R"([{"name":"zstd","configuration":{"level":19,"checksum":false}}])"},
    };
    for (const auto &item : kCases) {
        CreationOptions options;
        std::string reason;
        assert_true(parse(item.list, &options, &reason));
        check_text(options.codecs, item.codecs);
    }
}

static void wrong_options_are_refused(void **) {
    static constexpr struct {
        std::initializer_list<const char *> list;
        const char *named; /* the word that the reason must contain */
    } kCases[] = {
        {{"BLOCKSIZE=many"}, "BLOCKSIZE"},
        {{"BLOCKSIZE=256x"}, "BLOCKSIZE"},
        {{"BLOCKSIZE=0x4"}, "BLOCKSIZE"},
        {{"BLOCKSIZE=-1x4"}, "BLOCKSIZE"},
        {{"BLOCKSIZE=1x2x3"}, "BLOCKSIZE"},
        {{"BLOCKSIZE=99999999999x4"}, "BLOCKSIZE"},
        {{"BLOCKXSIZE=2147483648"}, "BLOCKXSIZE"},
        {{"SHARD=maybe"}, "SHARD"},
        {{"COMPRESS=FOO"}, "COMPRESS"},
        {{"COMPRESS=NONE", "LEVEL=3"}, "LEVEL"},
        {{"COMPRESS=ZSTD", "LEVEL=23"}, "LEVEL"},
        {{"COMPRESS=ZSTD", "LEVEL="}, "LEVEL"},
        {{"COMPRESS=GZIP", "LEVEL=0"}, "LEVEL"},
        {{"COMPRESS=ZSTD", "BLOSC_CNAME=LZ4"}, "BLOSC_CNAME"},
        {{"COMPRESS=BLOSC", "BLOSC_SHUFFLE=MAYBE"}, "BLOSC_SHUFFLE"},
        {{"CHECKSUM=perhaps"}, "CHECKSUM"},
        {{"INTERLEAVE=LINE"}, "INTERLEAVE"},
        {{"DIM_SEPARATOR=-"}, "DIM_SEPARATOR"},
        {{"SYNC=SOMETIMES"}, "SYNC"},
        {{"APPEND_SUBDATASET=YES"}, "ARRAY_NAME"},
        {{"FORMAT=ZARR_V2"}, "FORMAT"},
        {{"FILTER=delta"}, "FILTER"},
        {{"SHARD_CHUNK_SHAPE=4,4"}, "SHARD_CHUNK_SHAPE"},
    };
    for (const auto &item : kCases) {
        CreationOptions options;
        std::string reason;
        assert_false(parse(item.list, &options, &reason));
        assert_non_null(strstr(reason.c_str(), item.named));
    }
}

/* ---- CF times ---- */

namespace {

struct Time {
    double value;
    const char *units, *calendar, *text;
};

} // namespace

static void times_become_dates(void **) {
    static constexpr Time kTimes[] = {
        {0, "days since 1970-01-01", "", "1970-01-01"},
        {0, "days since 1970-1-1", "Standard", "1970-01-01"},
        {59, "d since 2000-01-01", "gregorian", "2000-02-29"},
        {-1, "s since 1970-01-01", "", "1969-12-31T23:59:59"},
        {90, "min since 1999-12-31T23:00", "", "2000-01-01T00:30:00"},
        {1.5e12, "milliseconds since 1970-01-01", "", "2017-07-14T02:40:00"},
        {0.5, "hours since 1970-01-01 6", "", "1970-01-01T06:30:00"},
        {0, "hours since 1970-01-01 00:00:0.0", "", "1970-01-01"},
        {0.25, "seconds since 1970-01-01 00:00:59.5", "", "1970-01-01T00:01:00"},
        {0, "days since 1970-01-01 00:00:00 UTC", "", "1970-01-01"},
        /* Zones: the reference is 15:15:42 at six hours behind UTC, or 5:30 ahead of it. */
        {0, "seconds since 1992-10-08 15:15:42 -6:00", "", "1992-10-08T21:15:42"},
        {0, "hours since 2000-01-01T00:00+0530", "", "1999-12-31T18:30:00"},
        {0, "hours since 2000-01-01 00:00 +2", "", "1999-12-31T22:00:00"},
        /* Before October 1582 the calendar "standard" is the Julian one. */
        {17557416, "hours since 1-1-1 00:00:0.0", "standard", "2003-12-09"},
        {731559, "days since 0001-01-01", "proleptic_gregorian", "2003-12-11"},
        {200000, "days since 1200-02-29", "", "1747-10-06"},
        {100, "days since 1582-10-15", "", "1583-01-23"},
        {110, "days since 1582-10-04", "", "1583-02-01"},
        {146097 * 5.0, "days since 0000-03-01", "proleptic_gregorian", "2000-03-01"},
        {0, "days since 1583-01-01", "", "1583-01-01"},
        {0, "days since 9999-12-31", "", "9999-12-31"},
    };
    for (const Time &time : kTimes)
        check_text(iso_time(time.value, time.units, time.calendar), time.text);
}

static void other_times_have_no_date(void **) {
    static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    static constexpr double kInfinity = std::numeric_limits<double>::infinity();
    static constexpr Time kTimes[] = {
        {0, "", "", ""},
        {0, "K", "", ""},
        {0, " since ", "", ""},
        {0, "days since", "", ""},
        {0, "days since yesterday", "", ""},
        {0, "days  days since 2000-01-01", "", ""},
        {0, "days since 2000-13-01", "", ""},
        {0, "days since 2000-00-01", "", ""},
        {0, "days since 2000-01-32", "", ""},
        {0, "days since 2000-01", "", ""},
        {0, "days since 2000-01-01 25:00", "", ""},
        {0, "days since 2000-01-01 00:61", "", ""},
        {0, "days since 2000-01-01 00:00:99", "", ""},
        {0, "days since 2000-01-01 00:00 PST", "", ""},
        {0, "days since 2000-01-01 00:00 +25", "", ""},
        {0, "days since 2000-01-01 00:00 +1:60", "", ""},
        {0, "days since 2000-01-01 00:00 +12345", "", ""},
        {0, "days since 2000-01-01, roughly", "", ""},
        {1, "fortnights since 2000-01-01", "", ""},
        {10, "months since 2000-01-01", "", ""},
        {10, "days since 2000-01-01", "noleap", ""},
        {10, "days since 2000-01-01", "360_day", ""},
        {800000, "days since 0000-01-01", "standard", ""}, /* a calendar without such a year */
        {-1, "days since 1583-01-01", "", ""},
        {1, "days since 9999-12-31", "", ""},
        {1e30, "days since 2000-01-01", "", ""},
        {kNan, "days since 2000-01-01", "", ""},
        {kInfinity, "days since 2000-01-01", "", ""},
        {-kInfinity, "days since 2000-01-01", "", ""},
    };
    for (const Time &time : kTimes)
        check_text(iso_time(time.value, time.units, time.calendar), time.text);
}

int main() {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_taken_apart),   cmocka_unit_test(malformed_names_are_refused),
        cmocka_unit_test(names_come_back),         cmocka_unit_test(indices_are_plain_numbers),
        cmocka_unit_test(ranges_have_two_indices), cmocka_unit_test(quotes_are_found),
        cmocka_unit_test(options_have_defaults),   cmocka_unit_test(options_are_taken),
        cmocka_unit_test(codecs_are_written),      cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(times_become_dates),      cmocka_unit_test(other_times_have_no_date),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
