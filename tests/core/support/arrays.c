/* SPDX-License-Identifier: MIT */
#include "support/arrays_encode.h"
#include "support/arrays_spec.h"
#include "zarrbridge/sys/hierarchy.h"

const arrays_spec arrays_nested = {.ndim = 2,
                                   .shape = {100, 90},
                                   .chunk = {{64, 64}, {32, 32}, {8, 8}},
                                   .depth = 2,
                                   .type = "int16",
                                   .codec = ARRAYS_GZIP,
                                   .index_at_start = true,
                                   .scrambled = true};

const arrays_spec arrays_wrapped = {.ndim = 2,
                                    .shape = {8, 8},
                                    .chunk = {{8, 8}, {4, 4}},
                                    .depth = 1,
                                    .type = "int16",
                                    .around = ARRAYS_GZIP};

static void make_values(arrays_sample *a, check_random *random) {
    const arrays_spec *s = &a->spec;
    size_t item = a->dtype.size;
    a->elements = arrays_product(s->shape, s->ndim);
    a->values = malloc((size_t)a->elements * item + 1);
    uint64_t base = check_random_next(random) % 97;
    for (uint64_t i = 0; i < a->elements; i++) { /* compressible, and different at every place */
        uint64_t value = (base + i * 3 + i / 7) & 0x7fffff;
        const float parts[2] = {(float)value, (float)i};
        const double wide = (double)value;
        unsigned char *out = a->values + i * item;
        if (a->dtype.kind == ZB_KIND_FLOAT && item == 8)
            memcpy(out, &wide, 8);
        else if (a->dtype.kind == ZB_KIND_FLOAT || a->dtype.kind == ZB_KIND_COMPLEX)
            memcpy(out, parts, item);
        else if (a->dtype.kind == ZB_KIND_BOOL)
            *out = value % 3 == 0;
        else
            memcpy(out, &value, item);
    }
    for (unsigned n = 0; n < s->fill_boxes && a->elements > 0; n++) {
        uint64_t start[ARRAYS_NDIM], count[ARRAYS_NDIM], index[ARRAYS_NDIM] = {0}, at[ARRAYS_NDIM];
        for (uint32_t d = 0; d < s->ndim; d++) {
            start[d] = check_random_in(random, 0, s->shape[d] - 1);
            count[d] = check_random_in(random, 1, s->shape[d] - start[d]);
        }
        do {
            for (uint32_t d = 0; d < s->ndim; d++)
                at[d] = start[d] + index[d];
            arrays_fill(a, a->values + arrays_place(at, s->shape, s->ndim) * item);
        } while (arrays_next_index(index, count, s->ndim));
    }
}

/* The chunk at a cell of the grid, with its part beyond the array's edges. */
static arrays_block chunk_at(const arrays_sample *a, const uint64_t *cell) {
    const arrays_spec *s = &a->spec;
    uint64_t index[ARRAYS_NDIM] = {0}, at[ARRAYS_NDIM], i = 0;
    uint64_t start[ARRAYS_NDIM], shape[ARRAYS_NDIM] = {0};
    for (uint32_t d = 0; d < s->ndim; d++)
        shape[d] = arrays_edge(s, d, cell[d], &start[d]);
    arrays_block b = arrays_new_block(a, shape);
    do {
        bool inside = true;
        for (uint32_t d = 0; d < s->ndim; d++) {
            at[d] = start[d] + index[d];
            inside = inside && at[d] < s->shape[d];
        }
        unsigned char *plain = b.plain + i * a->dtype.size, *real = b.real + i * a->dtype.size;
        if (inside) {
            memcpy(plain, arrays_at(a, at), a->dtype.size);
            memcpy(real, plain, a->dtype.size);
        } else {
            arrays_fill(a, plain);
            memset(real, 0x5a, a->dtype.size);
        }
        i++;
    } while (arrays_next_index(index, shape, s->ndim));
    return b;
}

static void write_chunks(const arrays_sample *a, check_random *random, zb_hierarchy *mem,
                         const char *path) {
    const arrays_spec *s = &a->spec;
    uint64_t grid[ARRAYS_NDIM] = {0}, cell[ARRAYS_NDIM] = {0};
    for (uint32_t d = 0; d < s->ndim; d++)
        grid[d] = arrays_cells(s, d);
    if (arrays_product(grid, s->ndim) == 0)
        return;
    do {
        char key[256];
        int used = snprintf(key, sizeof key, "%s%sc", path, *path ? "/" : "");
        for (uint32_t d = 0; d < s->ndim; d++)
            used += snprintf(key + used, sizeof key - (size_t)used, "/%llu",
                             (unsigned long long)cell[d]);
        arrays_block b = chunk_at(a, cell);
        if (!arrays_is_fill(a, &b)) {
            arrays_bytes stored = arrays_encode(a, &b, 0, random);
            assert_int_equal(
                zb_store_mem_set(zb_hierarchy_store(mem), key, stored.data, stored.size, NULL),
                ZB_OK);
            free(stored.data);
        }
        arrays_free_block(&b);
    } while (arrays_next_index(cell, grid, s->ndim));
}

arrays_sample arrays_write(const arrays_spec *spec, check_random *random, zb_hierarchy *mem,
                           const char *path) {
    arrays_sample a = {.spec = *spec, .dtype = arrays_dtype(spec->type)};
    make_values(&a, random);
    char key[200], *text = arrays_document(&a);
    snprintf(key, sizeof key, "%s%szarr.json", path, *path ? "/" : "");
    assert_int_equal(zb_store_mem_set(zb_hierarchy_store(mem), key, text, strlen(text), NULL),
                     ZB_OK);
    free(text);
    write_chunks(&a, random, mem, path);
    return a;
}

void arrays_set_all(arrays_sample *sample, int64_t value, zb_hierarchy *mem, const char *path) {
    check_random random = {.state = 0};
    assert_string_equal(sample->spec.type, "int64");
    for (uint64_t i = 0; i < sample->elements; i++)
        memcpy(sample->values + i * sizeof value, &value, sizeof value);
    write_chunks(sample, &random, mem, path);
}

void arrays_free(arrays_sample *sample) {
    free(sample->values);
}

const unsigned char *arrays_at(const arrays_sample *sample, const uint64_t *index) {
    return sample->values +
           arrays_place(index, sample->spec.shape, sample->spec.ndim) * sample->dtype.size;
}
