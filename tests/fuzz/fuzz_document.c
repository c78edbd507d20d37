/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a zarr.json: opening must end with a node or an error, and the answers of an opened
 * node must be consistent. Run under the sanitizers.
 */
#include "fuzz.h"

#include "array/array.h"
#include "array/keys.h"
#include "node/node.h"
#include "util/json.h"
#include "zarrbridge/sys/hierarchy.h"
#include "zarrbridge/zarrbridge.h"

/* Fields lie side by side, and fill the struct. */
static void check_fields(zb_dtype dtype) {
    size_t count;
    const zb_field *fields = zb_dtype_fields(dtype, &count);
    uint64_t end = 0;
    REQUIRE((count > 0) == (dtype.kind == ZB_KIND_STRUCT));
    for (size_t i = 0; i < count; i++) {
        REQUIRE(fields[i].offset == end && zb_dtype_field(dtype, fields[i].name) == &fields[i]);
        REQUIRE(!zb_dtype_is_variable(fields[i].dtype));
        check_fields(fields[i].dtype);
        end += fields[i].dtype.size;
    }
    REQUIRE(count == 0 || end == dtype.size);
}

/* The fill value of an array of fixed-size elements is one that a new array can have. */
static void check_new(const zb_array_info *info) {
    static const uint64_t one[] = {1};
    zb_array_spec spec = {.ndim = 1,
                          .shape = one,
                          .inner_shape = one,
                          .dtype = info->dtype,
                          .fill_value = info->fill_value};
    zb_hierarchy *hierarchy;
    zb_node *node;
    zb_error err = {0};
    REQUIRE_OK(zb_hierarchy_new_mem("new", &hierarchy, &err), err);
    enum zb_code code = zb_array_create(hierarchy, "a", &spec, &node, &err);
    fuzz_check_error(code, &err);
    if (code == ZB_OK) {
        REQUIRE(zb_dtype_equal(zb_node_array(node)->dtype, info->dtype));
        if (!zb_dtype_is_variable(info->dtype) && !zb_dtype_format(info->dtype) &&
            info->dtype.kind != ZB_KIND_STRUCT)
            REQUIRE(memcmp(zb_node_array(node)->fill_value, info->fill_value, info->dtype.size) ==
                    0);
        zb_node_release(node);
    }
    zb_hierarchy_release(hierarchy);
}

static void check_array(const zb_array_info *info) {
    REQUIRE(info->ndim <= ZB_MAX_NDIM);
    REQUIRE(info->dtype.size > 0 && !info->dtype.swapped);
    REQUIRE(info->codec_count == 0 || info->codecs[0].name); /* drafts had empty lists */
    for (uint32_t d = 0; d < info->ndim; d++) {
        REQUIRE(info->shape[d] <= INT64_MAX);
        REQUIRE(info->chunk_shape[d] > 0 && info->inner_shape[d] > 0);
        REQUIRE(info->chunk_shape[d] % info->inner_shape[d] == 0);
    }
    char name[ZB_DTYPE_NAME_SIZE], printed[200];
    REQUIRE(strlen(zb_dtype_name(info->dtype, name)) < sizeof name);
    REQUIRE(strlen(zb_dtype_print(info->dtype, printed, sizeof printed)) < sizeof printed);
    check_fields(info->dtype);
}

/* The elements at both ends of each dimension lie in the first and the last chunk. */
static void check_grid(const zb_node *array) {
    const zb_array_info *info = zb_node_array(array);
    for (uint32_t i = 0; i < 2 * info->ndim; i++) {
        const enum zb_grid_level level = i % 2 ? ZB_GRID_INNER : ZB_GRID_CHUNKS;
        const uint64_t *largest = i % 2 ? info->inner_shape : info->chunk_shape;
        uint32_t d = i / 2;
        uint64_t count = zb_array_chunk_count(array, level, d);
        REQUIRE((count == 0) == (info->shape[d] == 0));
        REQUIRE(zb_array_chunk_at(array, level, d, count).inside == 0);
        if (count == 0)
            continue;
        zb_chunk_span first = zb_array_chunk_of(array, level, d, 0);
        zb_chunk_span last = zb_array_chunk_of(array, level, d, info->shape[d] - 1);
        zb_chunk_span named = zb_array_chunk_at(array, level, d, count - 1);
        REQUIRE(first.index == 0 && first.start == 0 && first.inside > 0);
        REQUIRE(last.index == count - 1 && last.extent <= largest[d]);
        REQUIRE(last.start + last.inside == info->shape[d]);
        REQUIRE(memcmp(&last, &named, sizeof last) == 0);
    }
}

/* The declared runs reach the array's edge, and their chunks are those of the grid. */
static void check_runs(const zb_node *array) {
    const zb_array_info *info = zb_node_array(array);
    for (uint32_t d = 0; d < info->ndim; d++) {
        uint64_t end = 0, index = 0;
        size_t runs = zb_array_run_count(array, d);
        for (size_t i = 0; i < runs; i++) {
            zb_chunk_run run = zb_array_run_at(array, d, i);
            zb_chunk_span span = zb_array_chunk_at(array, ZB_GRID_CHUNKS, d, index);
            REQUIRE(span.start == end && span.extent == run.extent);
            index += run.count;
            end += run.extent * run.count;
        }
        REQUIRE(runs == 0 || (end >= info->shape[d] && end <= INT64_MAX));
    }
}

/* The keys of the first, the last and the farthest possible chunk tell their places again. */
static void check_keys(const zb_node *node) {
    const zb__array *array = node->array;
    uint32_t ndim = array->info.ndim;
    uint64_t index[3][ZB_MAX_NDIM] = {{0}}, back[ZB_MAX_NDIM];
    char key[ZB__CHUNK_KEY_MAX];
    for (uint32_t d = 0; d < ndim; d++) {
        index[1][d] = array->chunk_count[d] ? array->chunk_count[d] - 1 : 0;
        index[2][d] = UINT64_MAX;
    }
    for (size_t i = 0; i < 3; i++) {
        zb__chunk_key(&array->keys, ndim, index[i], key);
        REQUIRE(strlen(key) < sizeof key && *key != '.' && !strstr(key, "/."));
        REQUIRE(zb__chunk_key_parse(&array->keys, ndim, key, back));
        REQUIRE(memcmp(back, index[i], ndim * sizeof *back) == 0);
    }
}

/* The first and the last element. No chunk is stored, but each has its form. */
static void read_ends(const zb_node *array) {
    const zb_array_info *info = zb_node_array(array);
    uint64_t coords[2 * ZB_MAX_NDIM] = {0};
    zb_values *values = NULL;
    zb_error err;
    uint8_t *elements = calloc(2, info->dtype.size);
    for (uint32_t d = 0; d < info->ndim; d++)
        coords[info->ndim + d] = info->shape[d] - 1;
    REQUIRE(elements);
    REQUIRE_OK(zb_values_new(&values, &err), err);
    const zb_points points = {.node = array,
                              .coords = coords,
                              .count = 2,
                              .view = {.data = elements, .dtype = info->dtype, .values = values}};
    fuzz_check_error(zb_array_read_points(&points, &err), &err);
    zb_values_free(values);
    free(elements);
}

/* Printing keeps everything: the printed text parses, and prints the same again. */
static void check_printing(const zb_json *document) {
    char *text = zb_json_print(document);
    zb_json *again;
    zb_error err;
    REQUIRE(text);
    REQUIRE_OK(zb__json_parse_document(text, strlen(text), &again, &err), err);
    char *second = zb_json_print(again);
    REQUIRE(second && strcmp(text, second) == 0);
    zb_json_free(again);
    free(second);
    free(text);
}

static void check_node(zb_node *node) {
    zb_children children;
    zb_error err;
    check_printing(zb_node_document(node));
    if (zb_node_array(node)) {
        check_array(zb_node_array(node));
        check_grid(node);
        check_runs(node);
        check_keys(node);
        read_ends(node);
        if (zb_node_array(node)->dtype.size <
            4096) /* of larger ones there is nothing more to see */
            check_new(zb_node_array(node));
        return;
    }
    enum zb_code code = zb_group_children(node, &children, &err);
    fuzz_check_error(code, &err);
    if (code == ZB_OK) {
        for (size_t i = 0; i < children.count; i++) {
            const char *name = children.child[i].name;
            REQUIRE(*name && *name != '.' && !strchr(name, '/'));
        }
        zb_children_free(&children);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char child[] = "{\"zarr_format\":3,\"node_type\":\"group\"}";
    zb_hierarchy *hierarchy;
    zb_error err = {0};
    REQUIRE_OK(zb_hierarchy_new_mem("fuzz", &hierarchy, &err), err);
    REQUIRE_OK(zb_store_mem_set(zb_hierarchy_store(hierarchy), "zarr.json", data, size, &err), err);
    REQUIRE_OK(zb_store_mem_set(zb_hierarchy_store(hierarchy), "a/zarr.json", child,
                                sizeof child - 1, &err),
               err);
    /* So that consolidated metadata, which is the input's as well, tells the children. */
    zb_hierarchy_store(hierarchy)->hints.can_list = false;
    zb_node *node;
    enum zb_code code = zb_node_open(hierarchy, "", &node, &err);
    fuzz_check_error(code, &err);
    if (code == ZB_OK) {
        check_node(node);
        zb_node_release(node);
    }
    zb_hierarchy_release(hierarchy);
    return 0;
}
