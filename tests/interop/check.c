/* SPDX-License-Identifier: MIT */
/*
 * zb-check: compares stores with their expected values, through the core.
 *
 *     zb-check MANIFEST          every array of a manifest by make_stores.py: read whole, as a
 * strided box, backwards, and as points; bit by bit
 *
 *     zb-check --bad MANIFEST    every node of a manifest by bad_stores.py: check_bad.c
 *
 *     zb-check --encode MANIFEST encodes the chunks of arrays by test_encode.py: check_encode.c
 *
 * Prints a line for each mismatch and the number of arrays; exits with 1 when there was a mismatch.
 */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "npy.h"
#include "zarrbridge/read.h"

/* ---- Manifests ---- */

static zb_json *load_manifest(const char *path) {
    FILE *file = fopen(path, "rb");
    zb_json *manifest = NULL;
    zb_error err;
    if (!file) {
        fprintf(stderr, "zb-check: cannot open %s\n", path);
        return NULL;
    }
    size_t size = 0, capacity = (size_t)64 << 20;
    char *text = malloc(capacity);
    if (text)
        size = fread(text, 1, capacity, file);
    fclose(file);
    if (!text || zb_json_parse(text, size, &manifest, &err) != ZB_OK)
        fprintf(stderr, "zb-check: %s: %s\n", path, text ? err.message : "no memory");
    free(text);
    return manifest;
}

const char *check_member(const zb_json *row, const char *name) {
    const char *text = zb_json_string(zb_json_get(row, name));
    return text ? text : "";
}

void check_path(char *out, size_t size, const char *folder, const char *name) {
    int length = snprintf(out, size, "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= size) {
        fprintf(stderr, "zb-check: the path %s/%s is too long\n", folder, name);
        exit(2);
    }
}

/* ---- Comparing one array ---- */

/* The array that is being compared; each mismatch is reported once. */
typedef struct comparison {
    const zb_json *row;
    const zb_node *node;
    const npy *expected;
    unsigned char *buffer; /* as large as the expected data */
} comparison;

static bool mismatch(const comparison *c, const char *how, const char *what) {
    printf("MISMATCH %s/%s, %s: %s\n", check_member(c->row, "store"), check_member(c->row, "array"),
           how, what);
    return false;
}

static const unsigned char *expected_at(const npy *expected, const uint64_t *index) {
    uint64_t place = 0;
    for (uint32_t d = 0; d < expected->ndim; d++)
        place = place * expected->shape[d] + index[d];
    return expected->data + place * expected->dtype.size;
}

static bool compare_description(const comparison *c) {
    const zb_array_info *info = zb_node_array(c->node);
    if (!info)
        return mismatch(c, "metadata", "a group, not an array");
    if (info->dtype.kind != c->expected->dtype.kind || info->dtype.size != c->expected->dtype.size)
        return mismatch(c, "metadata", "the data type differs");
    if (info->ndim != c->expected->ndim ||
        memcmp(info->shape, c->expected->shape, info->ndim * sizeof *info->shape) != 0)
        return mismatch(c, "metadata", "the shape differs");
    return true;
}

static bool compare_whole(const comparison *c) {
    zb_error err;
    zb_read read = {.node = c->node, .view = {.data = c->buffer, .dtype = c->expected->dtype}};
    if (zb_array_read(&read, 1, &err) != ZB_OK)
        return mismatch(c, "whole", err.message);
    size_t size = (size_t)c->expected->elements * c->expected->dtype.size;
    return memcmp(c->buffer, c->expected->data, size) == 0 || mismatch(c, "whole", "values differ");
}

/* A box from near the start to the end, `apart` elements apart, every second dimension written
 * backwards. */
static bool compare_box(const comparison *c, uint64_t apart, const char *how) {
    const npy *x = c->expected;
    uint64_t start[ZB_MAX_NDIM], count[ZB_MAX_NDIM], step[ZB_MAX_NDIM], index[ZB_MAX_NDIM];
    int64_t strides[ZB_MAX_NDIM], stride = x->dtype.size;
    uint64_t elements = 1;
    unsigned char *first = c->buffer;
    for (uint32_t d = x->ndim; d-- > 0;) {
        start[d] = x->shape[d] / 7;
        step[d] = apart + d % 2;
        count[d] = (x->shape[d] - start[d] + step[d] - 1) / step[d];
        strides[d] = d % 2 ? -stride : stride;
        if (d % 2 && count[d] > 0)
            first += (count[d] - 1) * (uint64_t)stride;
        stride *= (int64_t)count[d];
        elements *= count[d];
    }
    zb_error err;
    zb_read read = {.node = c->node,
                    .start = start,
                    .count = count,
                    .step = step,
                    .view = {.data = first, .dtype = x->dtype, .strides = strides}};
    if (zb_array_read(&read, 1, &err) != ZB_OK)
        return mismatch(c, how, err.message);
    for (uint64_t i = 0; i < elements; i++) {
        uint64_t rest = i;
        const unsigned char *got = first;
        for (uint32_t d = x->ndim; d-- > 0; rest /= count[d]) {
            index[d] = start[d] + rest % count[d] * step[d];
            got += (int64_t)(rest % count[d]) * strides[d];
        }
        if (memcmp(got, expected_at(x, index), x->dtype.size) != 0)
            return mismatch(c, how, "values differ");
    }
    return true;
}

static bool compare_points(const comparison *c) {
    enum { POINTS = 100 };
    const npy *x = c->expected;
    if (x->elements == 0)
        return true;
    uint64_t coords[POINTS * ZB_MAX_NDIM], state = 1;
    unsigned char *values = malloc((size_t)POINTS * x->dtype.size);
    for (size_t i = 0; i < (size_t)POINTS * x->ndim; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        coords[i] = (state >> 33) % x->shape[i % x->ndim];
    }
    zb_error err;
    bool good = values != NULL;
    const zb_points points = {.node = c->node,
                              .coords = coords,
                              .count = POINTS,
                              .view = {.data = values, .dtype = x->dtype}};
    if (zb_array_read_points(&points, &err))
        good = mismatch(c, "points", err.message);
    for (size_t i = 0; i < POINTS && good; i++) {
        if (memcmp(values + i * x->dtype.size, expected_at(x, coords + i * x->ndim), x->dtype.size))
            good = mismatch(c, "points", "values differ");
    }
    free(values);
    return good;
}

static bool compare_array(const char *folder, const zb_json *row) {
    char path[4096], why[256];
    npy expected;
    comparison c = {.row = row, .expected = &expected};
    check_path(path, sizeof path, folder, check_member(row, "expected"));
    if (!npy_load(path, &expected, why))
        return mismatch(&c, "expected values", why);
    check_path(path, sizeof path, folder, check_member(row, "store"));
    zb_hierarchy *hierarchy = NULL;
    zb_node *node = NULL;
    zb_error err;
    bool good;
    if (zb_hierarchy_open(path, &hierarchy, &err) != ZB_OK ||
        zb_node_open(hierarchy, check_member(row, "array"), &node, &err) != ZB_OK) {
        good = mismatch(&c, "open", err.message);
    } else {
        c.node = node;
        c.buffer = malloc((size_t)expected.elements * expected.dtype.size + 1);
        good = c.buffer && compare_description(&c) && compare_whole(&c) &&
               compare_box(&c, 1, "box") && compare_box(&c, 3, "strided box") && compare_points(&c);
        free(c.buffer);
    }
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
    npy_free(&expected);
    return good;
}

/* ---- Running ---- */

int main(int argc, char **argv) {
    static const struct {
        const char *option, *done;
        bool (*check_row)(const char *folder, const zb_json *row);
    } modes[] = {{"", "arrays compared", compare_array},
                 {"--bad", "bad nodes tried", check_bad_row},
                 {"--encode", "arrays encoded", check_encode_row}};
    size_t mode = 0, count = sizeof modes / sizeof *modes;
    if (argc == 3)
        for (mode = 1; mode < count && strcmp(argv[1], modes[mode].option) != 0;)
            mode++;
    if (argc < 2 || argc > 3 || mode == count) {
        fprintf(stderr, "usage: zb-check [--bad | --encode] MANIFEST\n");
        return 2;
    }
    const char *path = argv[argc - 1];
    zb_json *manifest = load_manifest(path);
    if (!manifest)
        return 2;
    char folder[4096];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    size_t rows = 0, mismatches = 0;
    for (const zb_json *row = zb_json_first(manifest); row; row = zb_json_next(row), rows++)
        mismatches += !modes[mode].check_row(folder, row);
    printf("%zu %s, %zu mismatches\n", rows, modes[mode].done, mismatches);
    zb_json_free(manifest);
    return mismatches > 0 || rows == 0;
}
