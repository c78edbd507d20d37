/* SPDX-License-Identifier: MIT */
/*
 * The core's encoder on its own, for test_encode.py: each chunk of an array is cut out of the
 * expected values, encoded by the array's own document, and put into a file. No writer is involved,
 * so that the files show the encoder alone to other programs.
 */
#include <stdlib.h>
#include <string.h>

#include "node/node.h"
#include "check.h"
#include "util/scratch.h"
#include "array/keys.h"
#include "codec/encode.h"
#include "types/scatter.h"
#include "array/array.h"
#include "npy.h"

/* An array on its way into files. */
typedef struct job {
    const char *store, *array; /* the paths of the store and, in it, the array */
    const zb__array *model;
    const npy *values;
    uint8_t fill[16], *elements, *encoded;
    size_t bound;
} job;

/* The elements of one chunk as they are serialised; beyond the array's edge is the fill value. */
static void cut_chunk(const job *j, const uint64_t *index) {
    const zb__chunk_layout *layout = j->model->layout;
    const zb__pipeline *pipeline = layout->pipeline;
    int64_t stride = j->values->dtype.size, dst_stride = pipeline->dtype.size;
    int64_t value_strides[ZB_MAX_NDIM], src[ZB_MAX_NDIM], dst[ZB_MAX_NDIM];
    uint64_t inside[ZB_MAX_NDIM];
    const unsigned char *first = j->values->data;
    for (uint32_t d = pipeline->ndim; d-- > 0; stride *= (int64_t)j->values->shape[d])
        value_strides[d] = stride;
    for (uint32_t i = pipeline->ndim; i-- > 0; dst_stride *= (int64_t)layout->stored_shape[i]) {
        uint32_t d = pipeline->axis[i];
        uint64_t start = index[d] * layout->stored_shape[i], left = j->values->shape[d] - start;
        inside[i] = left < layout->stored_shape[i] ? left : layout->stored_shape[i];
        first += (int64_t)start * value_strides[d];
        src[i] = value_strides[d];
        dst[i] = dst_stride;
    }
    zb__box_copy copy = {.ndim = pipeline->ndim,
                         .count = layout->stored_shape,
                         .src_strides = src,
                         .dst_strides = dst,
                         .src_dtype = pipeline->dtype,
                         .dst_dtype = pipeline->dtype};
    zb__scatter_fill(&copy, j->fill, j->elements);
    copy.count = inside;
    copy.src_dtype = j->values->dtype;
    zb__scatter(&copy, first, j->elements);
}

static bool encode_chunk(const job *j, const uint64_t *index) {
    zb__scratch *scratch = zb__scratch_take();
    zb_error err;
    size_t size = 0;
    cut_chunk(j, index);
    enum zb_code code = zb__chunk_encode(j->model->layout, scratch, j->elements, j->fill, false,
                                         j->encoded, j->bound, &size, &err);
    zb__scratch_put(scratch);
    if (code != ZB_OK)
        printf("MISMATCH %s/%s: %s\n", j->store, j->array, err.message);
    if (code != ZB_OK || size == 0)
        return code == ZB_OK;
    char key[ZB__CHUNK_KEY_MAX], path[4096], full[4096];
    zb__chunk_key(&j->model->keys, j->model->info.ndim, index, key);
    check_path(path, sizeof path, j->store, j->array);
    check_path(full, sizeof full, path, key);
    FILE *file = fopen(full, "wb"); /* its directory is there */
    bool good = file && fwrite(j->encoded, 1, size, file) == size;
    if (file && fclose(file) != 0)
        good = false;
    if (!good)
        printf("MISMATCH %s cannot be written\n", full);
    return good;
}

static bool encode_array(job *j) {
    const zb__chunk_layout *layout = j->model->layout;
    const zb__pipeline *pipeline = layout->pipeline;
    const uint64_t *grid = j->model->chunk_count;
    uint64_t index[ZB_MAX_NDIM], chunks = 1;
    for (uint32_t d = 0; d < pipeline->ndim; d++)
        chunks *= grid[d];
    j->bound = (size_t)zb__chunk_encode_bound(layout);
    j->elements = malloc((size_t)layout->decoded_size);
    j->encoded = malloc(j->bound);
    bool good = j->elements && j->encoded;
    if (good)
        zb__convert(j->model->info.dtype, j->model->info.fill_value, 0, pipeline->dtype, j->fill, 0,
                    1);
    for (uint64_t i = 0; i < chunks && good; i++) {
        uint64_t rest = i;
        for (uint32_t d = pipeline->ndim; d-- > 0; rest /= grid[d])
            index[d] = rest % grid[d];
        good = encode_chunk(j, index);
    }
    free(j->elements);
    free(j->encoded);
    return good;
}

bool check_encode_row(const char *folder, const zb_json *row) {
    char path[4096], why[256];
    npy values;
    zb_hierarchy *hierarchy = NULL;
    zb_node *node = NULL;
    zb_error err;
    check_path(path, sizeof path, folder, check_member(row, "expected"));
    if (!npy_load(path, &values, why)) {
        printf("MISMATCH %s: %s\n", path, why);
        return false;
    }
    check_path(path, sizeof path, folder, check_member(row, "store"));
    job j = {.store = path, .array = check_member(row, "array"), .values = &values};
    bool good = zb_hierarchy_open(path, &hierarchy, &err) == ZB_OK &&
                zb_node_open(hierarchy, j.array, &node, &err) == ZB_OK;
    if (good) {
        j.model = node->array;
        good = encode_array(&j);
    } else {
        printf("MISMATCH %s/%s: %s\n", path, j.array, err.message);
    }
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
    npy_free(&values);
    return good;
}
