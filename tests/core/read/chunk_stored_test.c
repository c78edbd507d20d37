/* SPDX-License-Identifier: MIT */
/* The stored size of single chunks, of random arrays: uncompressed chunks have their elements'
   bytes, and those without any read as fill values. */
#include "support/arrays.h"
#include "support/stores.h"
#include "zarrbridge/read.h"

/* True if all elements of the box are the sample's fill value. */
static bool reads_as_fill(const zb_node *node, const uint64_t *start, const uint64_t *count,
                          uint64_t elements) {
    const zb_array_info *info = zb_node_array(node);
    unsigned char *data = malloc((size_t)elements * info->dtype.size + 1);
    zb_read read = {
        .node = node, .start = start, .count = count, .view = {.data = data, .dtype = info->dtype}};
    zb_error err;
    bool same = true;
    ASSERT_OK(zb_array_read(&read, 1, &err), err);
    for (uint64_t i = 0; i < elements && same; i++)
        same = memcmp(data + i * info->dtype.size, info->fill_value, info->dtype.size) == 0;
    free(data);
    return same;
}

/* The bytes at the chunk's place, of uncompressed little-endian chunks, begin with its first
   element. */
static void check_place(const zb_node *node, const uint64_t *index, uint64_t bytes) {
    const zb_dtype dtype = zb_node_array(node)->dtype;
    zb_chunk_place place;
    zb_error err;
    ASSERT_OK(zb_array_chunk_place(node, index, &place, &err), err);
    assert_int_equal(place.bytes, bytes);
    assert_int_equal(place.key == NULL, bytes == 0);
    if (place.key) {
        uint64_t start[ARRAYS_NDIM];
        size_t size;
        char *object = stores_get(zb_node_hierarchy(node), place.key, &size), element[64];
        assert_true(place.offset <= size && place.bytes <= size - place.offset);
        for (uint32_t d = 0; d < zb_node_array(node)->ndim; d++)
            start[d] = zb_array_chunk_at(node, ZB_GRID_INNER, d, index[d]).start;
        const zb_points point = {
            .node = node, .coords = start, .count = 1, .view = {.data = element, .dtype = dtype}};
        ASSERT_OK(zb_array_read_points(&point, &err), err);
        if (memcmp(object + place.offset, element, dtype.size) != 0)
            fail_msg("%s has another element at %llu", place.key, (unsigned long long)place.offset);
        free(object);
        free(place.key);
    }
}

static void check_chunk(const zb_node *node, const uint64_t *index) {
    const zb_array_info *info = zb_node_array(node);
    uint64_t start[ARRAYS_NDIM], count[ARRAYS_NDIM], elements = 1, whole = info->dtype.size, bytes;
    zb_error err;
    for (uint32_t d = 0; d < info->ndim; d++) {
        zb_chunk_span span = zb_array_chunk_at(node, ZB_GRID_INNER, d, index[d]);
        start[d] = span.start;
        count[d] = span.inside;
        elements *= span.inside;
        whole *= span.extent;
    }
    ASSERT_OK(zb_array_chunk_stored(node, index, &bytes, &err), err);
    check_place(node, index, bytes);
    if (bytes != whole && (bytes != 0 || !reads_as_fill(node, start, count, elements)))
        fail_msg("a chunk of %llu bytes has %llu", (unsigned long long)whole,
                 (unsigned long long)bytes);
}

static void sizes_are_those_of_the_elements(void **state) {
    (void)state;
    check_random random = check_random_new();
    for (int round = 0; round < 150; round++) {
        zb_hierarchy *mem = stores_new_mem();
        arrays_spec spec = arrays_random_spec(&random);
        spec.codec = spec.around = ARRAYS_RAW;
        spec.big_endian = false;
        arrays_sample a = arrays_write(&spec, &random, mem, "a");
        zb_node *node = stores_open_node(mem, "a");
        uint64_t index[ARRAYS_NDIM] = {0}, chunks = a.elements > 0;
        for (uint32_t d = 0; d < spec.ndim; d++)
            chunks *= zb_array_chunk_count(node, ZB_GRID_INNER, d);
        for (uint64_t i = 0; i < chunks && i < 300; i++) {
            check_chunk(node, index);
            for (uint32_t d = spec.ndim;
                 d-- > 0 && ++index[d] == zb_array_chunk_count(node, ZB_GRID_INNER, d);)
                index[d] = 0;
        }
        zb_node_release(node);
        zb_hierarchy_release(mem);
        arrays_free(&a);
    }
}

static void others_are_refused(void **state) {
    (void)state;
    check_random random = check_random_new();
    zb_hierarchy *mem = stores_new_mem();
    arrays_sample a = arrays_write(&arrays_wrapped, &random, mem, "a");
    zb_node *node = stores_open_node(mem, "a");
    uint64_t bytes;
    zb_error err;
    ASSERT_FAILS(zb_array_chunk_stored(node, (const uint64_t[]){0, 2}, &bytes, &err), ZB_EINVAL,
                 err, "there is no such chunk in the array");
    ASSERT_FAILS(zb_array_chunk_stored(node, (const uint64_t[]){0, 1}, &bytes, &err),
                 ZB_EUNSUPPORTED, err, "codecs lie around its inner chunks");
    zb_node_release(node);
    zb_hierarchy_release(mem);
    arrays_free(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_those_of_the_elements),
        cmocka_unit_test(others_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
