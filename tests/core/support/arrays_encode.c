/* SPDX-License-Identifier: MIT */
#include "support/arrays_encode.h"

#include <libdeflate.h>
#include <zstd.h>

#include "support/arrays_spec.h"

static void append(arrays_bytes *to, const void *data, size_t size) {
    to->data = realloc(to->data, to->size + size + 1);
    assert_non_null(to->data);
    if (size)
        memcpy(to->data + to->size, data, size);
    to->size += size;
}

/* ---- Bytes→bytes codecs ---- */

static uint32_t crc32c(const unsigned char *data, size_t size) {
    uint32_t table[256], crc = 0xffffffff;
    for (uint32_t byte = 0; byte < 256; byte++) {
        table[byte] = byte;
        for (int bit = 0; bit < 8; bit++)
            table[byte] = table[byte] >> 1 ^ (table[byte] & 1 ? 0x82f63b78 : 0);
    }
    for (size_t i = 0; i < size; i++)
        crc = crc >> 8 ^ table[(crc ^ data[i]) & 0xff];
    return ~crc;
}

static void replace(arrays_bytes *b, void *data, size_t size) {
    free(b->data);
    *b = (arrays_bytes){.data = data, .size = size};
}

static void apply_codec(arrays_bytes *b, enum arrays_codec codec) {
    if (codec == ARRAYS_GZIP) {
        struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(1);
        size_t bound = libdeflate_gzip_compress_bound(compressor, b->size);
        void *out = malloc(bound);
        replace(b, out, libdeflate_gzip_compress(compressor, b->data, b->size, out, bound));
        libdeflate_free_compressor(compressor);
    }
    if (codec == ARRAYS_ZSTD || codec == ARRAYS_ZSTD_CRC32C) {
        size_t bound = ZSTD_compressBound(b->size);
        void *out = malloc(bound);
        replace(b, out, ZSTD_compress(out, bound, b->data, b->size, 1));
    }
    if (codec == ARRAYS_CRC32C || codec == ARRAYS_ZSTD_CRC32C) {
        uint32_t crc = crc32c(b->data, b->size);
        append(b, &crc, sizeof crc);
    }
}

/* ---- Chunks ---- */

arrays_block arrays_new_block(const arrays_sample *a, const uint64_t *shape) {
    arrays_block b;
    memcpy(b.shape, shape, sizeof b.shape);
    size_t size = (size_t)arrays_product(shape, a->spec.ndim) * a->dtype.size;
    b.plain = malloc(size + 1);
    b.real = malloc(size + 1);
    assert_true(b.plain && b.real);
    return b;
}

void arrays_free_block(arrays_block *b) {
    free(b->plain);
    free(b->real);
}

/* Copies element `from` of one block to element `to` of another. */
static void copy_element(const arrays_sample *a, arrays_block *to, uint64_t i,
                         const arrays_block *from, uint64_t j) {
    size_t size = a->dtype.size;
    memcpy(to->plain + i * size, from->plain + j * size, size);
    memcpy(to->real + i * size, from->real + j * size, size);
}

/* Dimension i of the result is dimension order[i] of the block. */
static arrays_block transpose(const arrays_sample *a, const arrays_block *from,
                              const uint32_t *order) {
    uint32_t ndim = a->spec.ndim;
    uint64_t shape[ARRAYS_NDIM] = {0}, index[ARRAYS_NDIM] = {0}, source[ARRAYS_NDIM];
    for (uint32_t d = 0; d < ndim; d++)
        shape[d] = from->shape[order[d]];
    arrays_block to = arrays_new_block(a, shape);
    uint64_t i = 0;
    do {
        for (uint32_t d = 0; d < ndim; d++)
            source[order[d]] = index[d];
        copy_element(a, &to, i++, from, arrays_place(source, from->shape, ndim));
    } while (arrays_next_index(index, shape, ndim));
    return to;
}

static arrays_block cut(const arrays_sample *a, const arrays_block *from, const uint64_t *cell,
                        const uint64_t *shape) {
    uint32_t ndim = a->spec.ndim;
    uint64_t index[ARRAYS_NDIM] = {0}, source[ARRAYS_NDIM], i = 0;
    arrays_block to = arrays_new_block(a, shape);
    do {
        for (uint32_t d = 0; d < ndim; d++)
            source[d] = cell[d] * shape[d] + index[d];
        copy_element(a, &to, i++, from, arrays_place(source, from->shape, ndim));
    } while (arrays_next_index(index, shape, ndim));
    return to;
}

void arrays_fill(const arrays_sample *a, unsigned char *out) {
    const float seven[2] = {7, 7};
    const double wide = 7;
    memset(out, 0, a->dtype.size);
    if (a->dtype.kind == ZB_KIND_FLOAT && a->dtype.size == 8)
        memcpy(out, &wide, 8);
    else if (a->dtype.kind == ZB_KIND_FLOAT || a->dtype.kind == ZB_KIND_COMPLEX)
        memcpy(out, seven, a->dtype.size);
    else if (a->dtype.kind == ZB_KIND_RAW)
        memset(out, 7, a->dtype.size);
    else
        out[0] = a->dtype.kind == ZB_KIND_BOOL ? 1 : 7;
}

bool arrays_is_fill(const arrays_sample *a, const arrays_block *b) {
    unsigned char fill[16];
    arrays_fill(a, fill);
    uint64_t elements = arrays_product(b->shape, a->spec.ndim);
    for (uint64_t i = 0; i < elements; i++) {
        if (memcmp(b->plain + i * a->dtype.size, fill, a->dtype.size) != 0)
            return false;
    }
    return true;
}

static void swap_elements(const arrays_sample *a, arrays_bytes *b) {
    size_t component = a->dtype.kind == ZB_KIND_COMPLEX ? a->dtype.size / 2 : a->dtype.size;
    for (size_t at = 0; at < b->size && a->dtype.kind != ZB_KIND_RAW; at += component) {
        for (size_t i = 0; i < component / 2; i++) {
            unsigned char byte = b->data[at + i];
            b->data[at + i] = b->data[at + component - 1 - i];
            b->data[at + component - 1 - i] = byte;
        }
    }
}

static arrays_bytes encode_shard(const arrays_sample *a, const arrays_block *b, uint32_t level,
                                 check_random *random) {
    const arrays_spec *s = &a->spec;
    const uint64_t *inner = s->chunk[level + 1];
    uint64_t grid[ARRAYS_NDIM] = {0}, cell[ARRAYS_NDIM];
    for (uint32_t d = 0; d < s->ndim; d++)
        grid[d] = b->shape[d] / inner[d];
    uint64_t count = arrays_product(grid, s->ndim);
    size_t index_size = (size_t)count * 16 + 4;
    arrays_bytes out = {0};
    unsigned char *index = malloc(index_size);
    memset(index, 0xff, index_size);
    append(&out, index, s->index_at_start ? index_size : 0);
    uint64_t first = s->scrambled ? check_random_in(random, 0, count - 1) : 0;
    for (uint64_t n = 0; n < count; n++) {
        uint64_t i = s->scrambled ? count - 1 - (first + n) % count : n, rest = i;
        for (uint32_t d = s->ndim; d-- > 0; rest /= grid[d])
            cell[d] = rest % grid[d];
        arrays_block part = cut(a, b, cell, inner);
        if (!arrays_is_fill(a, &part)) {
            if (s->scrambled)
                append(&out, "gap gap", check_random_in(random, 0, 7));
            arrays_bytes stored = arrays_encode(a, &part, level + 1, random);
            uint64_t entry[2] = {out.size, stored.size};
            memcpy(index + i * 16, entry, 16);
            append(&out, stored.data, stored.size);
            free(stored.data);
        }
        arrays_free_block(&part);
    }
    uint32_t crc = crc32c(index, index_size - 4);
    memcpy(index + index_size - 4, &crc, 4);
    if (s->index_at_start)
        memcpy(out.data, index, index_size);
    else
        append(&out, index, index_size);
    free(index);
    return out;
}

arrays_bytes arrays_encode(const arrays_sample *a, const arrays_block *b, uint32_t level,
                           check_random *random) {
    const arrays_spec *s = &a->spec;
    int which = arrays_transpose_of(s, level);
    arrays_block permuted = {.plain = NULL};
    if (which >= 0)
        permuted = transpose(a, b, s->order[which]);
    const arrays_block *stored = which >= 0 ? &permuted : b;
    arrays_bytes out = {0};
    if (level < s->depth) {
        out = encode_shard(a, stored, level, random);
    } else {
        append(&out, stored->real, (size_t)arrays_product(stored->shape, s->ndim) * a->dtype.size);
        if (s->big_endian)
            swap_elements(a, &out);
        apply_codec(&out, s->codec);
    }
    if (level == 0 && s->depth > 0)
        apply_codec(&out, s->around);
    arrays_free_block(&permuted);
    return out;
}
