/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as the object of a chunk. The first byte chooses one of a few arrays, the others are
 * stored under all of its keys. Where the whole array can be read, each of its parts can, with the
 * same elements; a chunk that a check of the store finds in order can be read; and writing an
 * element by any strategy, where that succeeds, changes no other.
 */
#include "fuzz.h"

#include "zarrbridge/check.h"
#include "zarrbridge/read.h"
#include "zarrbridge/sys/hierarchy.h"
#include "zarrbridge/write.h"

#define ARRAY(shape, chunk, type, fill, codecs)                                                    \
    "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":" shape ",\"data_type\":\"" type         \
    "\",\"fill_value\":" fill                                                                      \
    ",\"chunk_key_encoding\":{\"name\":\"default\"},\"chunk_grid\":{\"name\":"                     \
    "\"regular\",\"configuration\":{\"chunk_shape\":" chunk "}},\"codecs\":[" codecs "]}"
#define SHARDS(inner, codecs, index, location)                                                     \
    "{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":" inner                     \
    ",\"codecs\":[" codecs "],\"index_codecs\":[" index "],\"index_location\":\"" location "\"}}"
#define LITTLE "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}"
#define BIG "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"big\"}}"
#define TRANSPOSE(order) "{\"name\":\"transpose\",\"configuration\":{\"order\":" order "}},"
#define GZIP ",{\"name\":\"gzip\",\"configuration\":{\"level\":1}}"
#define ZSTD ",{\"name\":\"zstd\",\"configuration\":{\"level\":1}}"
#define CRC32C ",{\"name\":\"crc32c\"}"
#define BLOSC                                                                                      \
    ",{\"name\":\"blosc\",\"configuration\":{\"cname\":\"lz4\",\"clevel\":1,\"shuffle\":"          \
    "\"bitshuffle\",\"typesize\":2,\"blocksize\":0}}"

typedef struct sample {
    const char *document;
    uint32_t ndim;
    uint64_t shape[2];
    const char *keys[3];
} sample;

/* Most indexes have no checksum, which chance does not meet. */
static const sample samples[] = {
    {ARRAY("[10]", "[8]", "int16", "7", SHARDS("[2]", LITTLE, LITTLE, "end")),
     1,
     {10},
     {"c/0", "c/1"}},
    {ARRAY("[5,7]", "[4,8]", "uint16", "7", SHARDS("[2,2]", BIG ZSTD, BIG, "start")),
     2,
     {5, 7},
     {"c/0/0", "c/1/0"}},
    {ARRAY("[6,4]", "[6,4]", "int32", "7",
           SHARDS("[3,4]", SHARDS("[3,2]", TRANSPOSE("[1,0]") LITTLE CRC32C, LITTLE, "end"), LITTLE,
                  "end")),
     2,
     {6, 4},
     {"c/0/0"}},
    {ARRAY("[9]", "[4]", "int16", "7", SHARDS("[2]", LITTLE BLOSC, LITTLE CRC32C, "end")),
     1,
     {9},
     {"c/0", "c/1", "c/2"}},
    {ARRAY("[4,4]", "[4,2]", "float32", "7",
           TRANSPOSE("[1,0]") SHARDS("[1,2]", LITTLE, TRANSPOSE("[2,0,1]") BIG, "start") GZIP),
     2,
     {4, 4},
     {"c/0/0", "c/0/1"}},
    {ARRAY("[3,5]", "[2,5]", "float64", "7", LITTLE GZIP CRC32C), 2, {3, 5}, {"c/0/0", "c/1/0"}},
    {ARRAY("[6]", "[4]", "bool", "true", "{\"name\":\"bytes\"}"), 1, {6}, {"c/0", "c/1"}},
};
#define SAMPLES (sizeof samples / sizeof *samples)
#define ELEMENTS_MAX 40 /* of any sample */

static const zb_dtype as_double = {.kind = ZB_KIND_FLOAT, .size = sizeof(double)};

static enum zb_code read_whole(zb_node *node, double *whole, zb_error *err) {
    zb_read read = {.node = node, .view = {.data = whole, .dtype = as_double}};
    return zb_array_read(&read, 1, err);
}

/* Compares all single elements, and a box with steps, to the whole. */
static void check_parts(zb_node *node, const sample *s, const double *whole) {
    uint64_t columns = s->ndim == 2 ? s->shape[1] : 1, elements = s->shape[0] * columns;
    uint64_t coords[2 * ELEMENTS_MAX];
    double part[ELEMENTS_MAX];
    zb_error err;
    for (uint64_t i = 0; i < elements; i++) {
        coords[i * s->ndim] = i / columns;
        if (s->ndim == 2)
            coords[2 * i + 1] = i % columns;
    }
    const zb_points points = {.node = node,
                              .coords = coords,
                              .count = elements,
                              .view = {.data = part, .dtype = as_double}};
    REQUIRE_OK(zb_array_read_points(&points, &err), err);
    REQUIRE(memcmp(part, whole, elements * sizeof *part) == 0);
    const uint64_t start[2] = {1, 1}, step[2] = {2, 2}, count[2] = {(s->shape[0]) / 2, columns / 2};
    zb_read read = {.node = node, .start = start, .count = count, .step = step};
    read.view = (zb_view){.data = part, .dtype = as_double};
    REQUIRE_OK(zb_array_read(&read, 1, &err), err);
    for (uint64_t i = 0; i < count[0]; i++) {
        for (uint64_t j = 0; j < (s->ndim == 2 ? count[1] : 1); j++) {
            uint64_t at = (1 + 2 * i) * columns + (s->ndim == 2 ? 1 + 2 * j : 0);
            uint64_t in_part = s->ndim == 2 ? i * count[1] + j : i;
            REQUIRE(memcmp(&part[in_part], &whole[at], sizeof *part) == 0);
        }
    }
}

/* Writes a 1 as the array's second element (in C order). */
static void check_write(zb_node *node, const sample *s, const double *whole,
                        enum zb_strategy strategy) {
    double got[ELEMENTS_MAX], one = 1;
    const uint64_t start[2] = {s->ndim == 1, 1}, count[2] = {1, 1};
    const zb_write_options options = {.strategy = strategy};
    const zb_write write = {.start = start, .count = count, .data = &one, .dtype = as_double};
    uint64_t elements = s->shape[0] * (s->ndim == 2 ? s->shape[1] : 1);
    zb_writer *writer;
    zb_error err;
    enum zb_code code = zb_writer_open(node, &options, &writer, &err);
    fuzz_check_error(code, &err);
    if (code != ZB_OK)
        return;
    code = zb_writer_write(writer, &write, &err);
    if (code == ZB_OK)
        code = zb_writer_close(writer, &err);
    else
        zb_writer_abandon(writer);
    fuzz_check_error(code, &err);
    if (code != ZB_OK || !whole)
        return;
    REQUIRE_OK(read_whole(node, got, &err), err);
    for (uint64_t i = 0; i < elements; i++)
        REQUIRE(memcmp(&got[i], i == 1 ? &one : &whole[i], sizeof *got) == 0);
}

static int on_finding(void *context, const zb_finding *finding) {
    (void)context;
    REQUIRE(*finding->message && !strchr(finding->message, '\n'));
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    const sample *s = &samples[data[0] % SAMPLES];
    zb_hierarchy *hierarchy;
    zb_node *node;
    zb_error err;
    double whole[ELEMENTS_MAX] = {0};
    zb_verify_summary summary;
    REQUIRE_OK(zb_hierarchy_new_mem("fuzz", &hierarchy, &err), err);
    REQUIRE_OK(zb_store_mem_set(zb_hierarchy_store(hierarchy), "zarr.json", s->document,
                                strlen(s->document), &err),
               err);
    for (size_t i = 0; i < 3 && s->keys[i]; i++)
        REQUIRE_OK(
            zb_store_mem_set(zb_hierarchy_store(hierarchy), s->keys[i], data + 1, size - 1, &err),
            err);
    REQUIRE_OK(zb_node_open(hierarchy, "", &node, &err), err);
    enum zb_code code = read_whole(node, whole, &err);
    fuzz_check_error(code, &err);
    if (code == ZB_OK)
        check_parts(node, s, whole);
    REQUIRE_OK(zb_hierarchy_verify(hierarchy, on_finding, NULL, &summary, &err), err);
    REQUIRE(code == ZB_OK || summary.findings > 0);
    for (int strategy = ZB_REWRITE; strategy <= ZB_INPLACE; strategy++)
        check_write(node, s, code == ZB_OK ? whole : NULL, (enum zb_strategy)strategy);
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
    return 0;
}
