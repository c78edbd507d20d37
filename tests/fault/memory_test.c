/* SPDX-License-Identifier: MIT */
/*
 * Memory runs out at each allocation of every scenario and of writing and reading back with each
 * codec: ZB_ENOMEM comes back, or the change was made whole; every chunk is the old or the new one;
 * nothing leaks (the address sanitizer's run tells); and with memory there again the same change
 * can be made, also through the same handles.
 *
 * Allocations repeat themselves: after the first 24 one in 87 is taken, of the long tests one in
 * 29, of the full ones every one (check.h). ZB_FAULT_ONLY=NAME runs one scenario.
 */
#include "memory.h"
#include "scenarios.h"
#include "util/scratch.h"
#include "zarrbridge/change.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/sys/hierarchy.h"

static char *place;
static char root[256];
static int points;

/* ---- Codecs ------------------------------------------------------------------------------- */

typedef struct codec_case {
    const char *name, *codecs;
    const char *document; /* of the array when zb_array_create cannot make such an array */
} codec_case;

#define NESTED                                                                                     \
    "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[16,12],\"data_type\":\"int32\","        \
    "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[8,8]}},"             \
    "\"chunk_key_encoding\":{\"name\":\"default\"},\"fill_value\":-1,\"codecs\":["                 \
    "{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[4,4],\"codecs\":["         \
    "{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}},"                                \
    "{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[2,2],\"codecs\":["         \
    "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}},{\"name\":\"zstd\","              \
    "\"configuration\":{\"level\":1,\"checksum\":true}}],\"index_codecs\":[{\"name\":\"bytes\","   \
    "\"configuration\":{\"endian\":\"little\"}},{\"name\":\"crc32c\"}]}}],\"index_codecs\":["      \
    "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}},{\"name\":\"crc32c\"}]}}]}"

#define BLOSC(compressor, filter)                                                                  \
    "[{\"name\":\"blosc\",\"configuration\":{\"cname\":\"" compressor "\",\"shuffle\":\"" filter   \
    "\",\"clevel\":5,\"typesize\":4,\"blocksize\":0}}]"

static const codec_case codec_cases[] = {
    {"raw", "[]", NULL},
    {"crc32c", "[{\"name\":\"crc32c\"}]", NULL},
    {"gzip", "[{\"name\":\"gzip\",\"configuration\":{\"level\":6}}]", NULL},
    {"zstd", "[{\"name\":\"zstd\",\"configuration\":{\"level\":3,\"checksum\":true}}]", NULL},
    {"blosc lz4", BLOSC("lz4", "shuffle"), NULL},
    {"blosc lz4hc", BLOSC("lz4hc", "bitshuffle"), NULL},
    {"blosc zstd", BLOSC("zstd", "shuffle"), NULL},
    {"blosc zlib", BLOSC("zlib", "noshuffle"), NULL},
    {"chain",
     "[{\"name\":\"gzip\",\"configuration\":{\"level\":1}},{\"name\":\"zstd\","
     "\"configuration\":{\"level\":1,\"checksum\":false}},{\"name\":\"crc32c\"}]",
     NULL},
    {"nested", NULL, NESTED},
};
#define CODEC_CASES (sizeof codec_cases / sizeof *codec_cases)

static const codec_case *codec;

static enum zb_code make_array(zb_hierarchy *hierarchy, zb_error *err) {
    static const int32_t fill = WORLD_FILL;
    zb_array_spec spec = {.ndim = 2,
                          .shape = (uint64_t[]){16, 12},
                          .inner_shape = (uint64_t[]){8, 8}, /* enough for blosc to try */
                          .shard_shape = (uint64_t[]){8, 8},
                          .dtype = {ZB_KIND_INT, 4, false, NULL},
                          .fill_value = &fill,
                          .codecs = codec->codecs};
    if (codec->document) {
        zb_part part = {codec->document, strlen(codec->document)};
        return zb_store_put(zb_hierarchy_store(hierarchy), "new/array/zarr.json", &part, 1,
                            ZB_SYNC_NONE, err);
    }
    zb_node *node;
    enum zb_code code = zb_array_create(hierarchy, "new/array", &spec, &node, err);
    if (code == ZB_OK)
        zb_node_release(node);
    return code == ZB_ECONFLICT ? ZB_OK : code;
}

/* Writes all of it, then a part, and reads it back. */
static enum zb_code codec_round_trip(zb_hierarchy *hierarchy, zb_error *err) {
    enum zb_code code = make_array(hierarchy, err);
    if (code == ZB_OK)
        code = scenario_write(hierarchy, "new/array", 0, 0, 16, 12, err);
    if (code == ZB_OK)
        code = scenario_write(hierarchy, "new/array", 3, 2, 7, 9, err);
    return code == ZB_OK ? scenario_read(hierarchy, "new/array", err) : code;
}

static enum zb_code read_all(zb_hierarchy *hierarchy, zb_error *err) {
    enum zb_code code = scenario_read(hierarchy, "g/plain", err);
    if (code == ZB_OK)
        code = scenario_read(hierarchy, "g/shard", err);
    return code;
}

static const scenario codec_scenario = {"codec", .run = codec_round_trip};
static const scenario read_scenario = {"read", .run = read_all, .consolidated = true};

/* ---- Points ------------------------------------------------------------------------------- */

static void over(void) {
    memory_end();
}

/* Makes the process like one that has just begun: memory that is kept between calls is allocated
   anew. */
static void forget(void) {
    zb_cache_clear();
    zb__scratch_clear();
}

static void run_point(const scenario *s, bool consolidated, uint64_t nth, bool forever,
                      bool in_place, const world_snapshot *before, const world_snapshot *after) {
    char what[160];
    zb_error err = {.message = ""};
    snprintf(what, sizeof what, "%s%s%s, no memory %s allocation %d%s", s->name, codec ? " " : "",
             codec ? codec->name : "", forever ? "from" : "at", (int)nth,
             in_place ? ", tried again" : "");
    world_make(root, consolidated);
    forget();
    int descriptors = check_descriptors();
    scenario_over = in_place ? over : NULL;
    memory_begin(nth, forever);
    enum zb_code code = scenario_run(s, root, &err);
    memory_end();
    scenario_over = NULL;
    points++;
    if (check_descriptors() != descriptors)
        fail_msg("%s: %d descriptors are open, %d before", what, check_descriptors(), descriptors);
    if (code && (in_place || code != ZB_ENOMEM || err.code != code))
        fail_msg("%s: %s: %s", what, zb_code_name(code), err.message);
    if (s->live && code)
        world_check_live(root, s->live, before, after, what);
    else
        world_check(root, code ? before : after, after, what);
    enum zb_code again = code ? scenario_run(s, root, &err) : ZB_OK;
    if (again)
        fail_msg("%s: afterwards: %s: %s", what, zb_code_name(again), err.message);
    world_check(root, after, after, what);
    world_sweep(root);
    if (world_left_over(root, true) > 0)
        fail_msg("%s: %d files are left over", what, world_left_over(root, true));
    world_remove(root);
}

enum { STRIDE = 29 }; /* beyond the first allocations, which are the most different ones */

static void run_scenario(const scenario *s, bool consolidated, uint64_t stride) {
    world_snapshot before, after;
    zb_error err;
    world_remove(root); /* of a test that failed */
    world_make(root, consolidated);
    world_snapshot_take(root, &before);
    scenario_split(s, &before);
    forget();
    memory_begin(UINT64_MAX, false);
    ASSERT_OK(scenario_run(s, root, &err), err);
    uint64_t allocations = memory_end();
    world_snapshot_take(root, &after);
    world_remove(root);
    assert_true(allocations > 10); /* fewer would mean that the test does not catch them */
    for (uint64_t nth = 1; nth <= allocations; nth += nth <= 24 ? 1 : stride) {
        run_point(s, consolidated, nth, false, false, &before, &after);
        run_point(s, consolidated, nth, true, false, &before, &after);
        if (!codec && s != &read_scenario)
            run_point(s, consolidated, nth, true, true, &before, &after);
    }
    print_message("%s%s%s%s: %d allocations\n", s->name, codec ? " " : "", codec ? codec->name : "",
                  consolidated ? " (consolidated)" : "", (int)allocations);
    world_snapshot_free(&before);
    world_snapshot_free(&after);
}

static void test_scenarios(void **state) {
    (void)state;
    codec = NULL;
    scenarios_each(run_scenario, STRIDE);
    if (scenario_is_chosen("read"))
        run_scenario(&read_scenario, true, scenario_stride(STRIDE));
}

static void test_codecs(void **state) {
    (void)state;
    for (size_t i = 0; i < CODEC_CASES; i++) {
        codec = &codec_cases[i];
        if (scenario_is_chosen(codec->name))
            run_scenario(&codec_scenario, false, scenario_stride(STRIDE));
    }
    print_message("%d points\n", points);
}

int main(void) {
    setenv("ZARRBRIDGE_NUM_THREADS", "1", 0);
    place = world_new_place();
    snprintf(root, sizeof root, "%s/store", place);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scenarios),
                                       cmocka_unit_test(test_codecs)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (!failed)
        check_remove_directory(place);
    forget();
    return failed;
}
