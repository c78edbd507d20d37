/* SPDX-License-Identifier: MIT */
/*
 * zarr-cli --array_path=DIR: prints the elements of an array, one a line, in C order, each as its
 * fill value would stand in a document. This is the program that the community's conformance tests
 * ask an implementation for (zarr-conformance-tests: ZARR_CLI).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "types/fill.h"
#include "zarrbridge/json.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/read.h"

#define PART_BYTES (16u << 20) /* what is read at once, when a row of dimension 0 is not longer */

static enum zb_code print(const zb_array_info *array, const char *elements, uint64_t count,
                          zb_error *err) {
    for (uint64_t i = 0; i < count; i++) {
        zb_json_writer *writer = zb_json_writer_new();
        if (writer)
            zb__fill_print(writer, array->dtype, elements + i * array->dtype.size);
        char *text = writer ? zb_json_writer_end(writer, NULL) : NULL;
        if (!text)
            return zb_fail(err, ZB_ENOMEM, "no memory for an element's text");
        puts(text);
        free(text);
    }
    return ZB_OK;
}

/* Prints rows[0..count) of dimension 0, or the one element of a scalar. */
static enum zb_code print_rows(const zb_node *node, uint64_t row, uint64_t rows, uint64_t elements,
                               zb_error *err) {
    const zb_array_info *array = zb_node_array(node);
    uint64_t start[ZB_MAX_NDIM] = {row}, count[ZB_MAX_NDIM] = {rows};
    for (uint32_t d = 1; d < array->ndim; d++)
        count[d] = array->shape[d];
    zb_values *values;
    enum zb_code code = zb_values_new(&values, err);
    if (code)
        return code;
    char *data = malloc(elements * array->dtype.size);
    zb_read read = {.node = node,
                    .start = start,
                    .count = count,
                    .view = {.data = data, .dtype = array->dtype, .values = values}};
    if (!data)
        code = zb_fail(err, ZB_ENOMEM, "no memory for %llu elements", (unsigned long long)elements);
    if (!code)
        code = zb_array_read(&read, 1, err);
    if (!code)
        code = print(array, data, elements, err);
    free(data);
    zb_values_free(values);
    return code;
}

static enum zb_code print_array(const zb_node *node, zb_error *err) {
    const zb_array_info *array = zb_node_array(node);
    if (!array)
        return zb_fail(err, ZB_EINVAL, "there is a group, not an array");
    uint64_t row_elements = 1, rows = array->ndim > 0 ? array->shape[0] : 1;
    for (uint32_t d = 1; d < array->ndim; d++) {
        if (__builtin_mul_overflow(row_elements, array->shape[d], &row_elements))
            return zb_fail(err, ZB_ELIMIT, "a row has more elements than memory");
    }
    if (row_elements == 0)
        return ZB_OK;
    if (row_elements > SIZE_MAX / 2 / array->dtype.size)
        return zb_fail(err, ZB_ELIMIT, "a row has more elements than memory");
    uint64_t part = PART_BYTES / (row_elements * array->dtype.size);
    part = part ? part : 1;
    enum zb_code code = ZB_OK;
    for (uint64_t row = 0; row < rows && !code; row += part) {
        uint64_t count = rows - row < part ? rows - row : part;
        code = print_rows(node, row, count, count * row_elements, err);
    }
    return code;
}

int main(int argc, char **argv) {
    static const char option[] = "--array_path=";
    if (argc != 2 || strncmp(argv[1], option, strlen(option)) != 0) {
        fprintf(stderr, "usage: zarr-cli --array_path=DIR\n");
        return 2;
    }
    zb_hierarchy *hierarchy;
    zb_node *node = NULL;
    zb_error err;
    enum zb_code code = zb_hierarchy_open(argv[1] + strlen(option), &hierarchy, &err);
    if (!code) {
        code = zb_node_open(hierarchy, "", &node, &err);
        if (!code)
            code = print_array(node, &err);
        zb_node_release(node);
        zb_hierarchy_release(hierarchy);
    }
    if (code)
        fprintf(stderr, "zarr-cli: %s\n", err.message);
    return code ? 1 : 0;
}
