/* SPDX-License-Identifier: MIT */
#include "support/arrays.h"

#include <libdeflate.h>
#include <zstd.h>

typedef struct bytes {
    unsigned char *data;
    size_t size;
} bytes;

static void append(bytes *to, const void *data, size_t size) {
    to->data = realloc(to->data, to->size + size + 1);
    assert_non_null(to->data);
    if (size)
        memcpy(to->data + to->size, data, size);
    to->size += size;
}

static uint64_t product(const uint64_t *shape, uint32_t ndim) {
    uint64_t elements = 1;
    for (uint32_t d = 0; d < ndim; d++)
        elements *= shape[d];
    return elements;
}

/* Counts index up in C order; false after the last. */
static bool next_index(uint64_t *index, const uint64_t *shape, uint32_t ndim) {
    for (uint32_t d = ndim; d-- > 0;) {
        if (++index[d] < shape[d])
            return true;
        index[d] = 0;
    }
    return false;
}

zb_dtype arrays_dtype(const char *name) {
    static const struct {
        const char *name;
        zb_dtype dtype;
    } rows[] = {{"bool", {ZB_KIND_BOOL, 1, false, NULL}},     {"uint8", {ZB_KIND_UINT, 1, false, NULL}},
                {"int16", {ZB_KIND_INT, 2, false, NULL}},     {"uint32", {ZB_KIND_UINT, 4, false, NULL}},
                {"int64", {ZB_KIND_INT, 8, false, NULL}},     {"float32", {ZB_KIND_FLOAT, 4, false, NULL}},
                {"float64", {ZB_KIND_FLOAT, 8, false, NULL}}, {"complex64", {ZB_KIND_COMPLEX, 8, false, NULL}},
                {"r24", {ZB_KIND_RAW, 3, false, NULL}}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].dtype;
    }
    fail_msg("no type %s in these tests", name);
    return rows[0].dtype;
}

/* ---- The document ---- */

static void print_list(FILE *out, const uint64_t *list, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        fprintf(out, "%s%llu", i ? "," : "", (unsigned long long)list[i]);
}

static void print_codec(FILE *out, enum arrays_codec codec) {
    static const char *const texts[] = {
        "", ",{\"name\":\"gzip\",\"configuration\":{\"level\":1}}",
        ",{\"name\":\"zstd\",\"configuration\":{\"level\":1,\"checksum\":false}}",
        ",{\"name\":\"crc32c\"}",
        ",{\"name\":\"zstd\",\"configuration\":{\"level\":1}},"
        "{\"name\":\"crc32c\"}"};
    fputs(texts[codec], out);
}

/* Which transpose the chain of this level has: 0 or 1, or -1 for none. */
static int transpose_of(const arrays_spec *s, uint32_t level) {
    int which = level == s->depth ? 1 : level == 0 ? 0 : -1;
    return which >= 0 && s->transposed[which] ? which : -1;
}

static void print_chain(FILE *out, const arrays_spec *s, uint32_t level) {
    int which = transpose_of(s, level);
    if (which >= 0) {
        uint64_t order[ARRAYS_NDIM];
        for (uint32_t d = 0; d < s->ndim; d++)
            order[d] = s->order[which][d];
        fputs("{\"name\":\"transpose\",\"configuration\":{\"order\":[", out);
        print_list(out, order, s->ndim);
        fputs("]}},", out);
    }
    if (level == s->depth) {
        fprintf(out, "{\"name\":\"bytes\",\"configuration\":{\"endian\":\"%s\"}}",
                s->big_endian ? "big" : "little");
        print_codec(out, s->codec);
        return;
    }
    fputs("{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[", out);
    print_list(out, s->chunk[level + 1], s->ndim);
    fprintf(out, "],\"index_location\":\"%s\",\"codecs\":[", s->index_at_start ? "start" : "end");
    print_chain(out, s, level + 1);
    fputs("],\"index_codecs\":[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}},"
          "{\"name\":\"crc32c\"}]}}",
          out);
    if (level == 0)
        print_codec(out, s->around);
}

static void print_fill(FILE *out, zb_dtype dtype) {
    switch (dtype.kind) {
    case ZB_KIND_BOOL:
        fputs("true", out);
        break;
    case ZB_KIND_COMPLEX:
        fputs("[7.0,7.0]", out);
        break;
    case ZB_KIND_RAW:
        fputs("[7,7,7]", out);
        break;
    case ZB_KIND_STRING:
    case ZB_KIND_BYTES:
    case ZB_KIND_STRUCT:
    case ZB_KIND_DATETIME:
    case ZB_KIND_TIMEDELTA:
        fail_msg("no sample has this kind");
        break;
    case ZB_KIND_INT:
    case ZB_KIND_UINT:
    case ZB_KIND_FLOAT:
        fputs("7", out);
        break;
    }
}

static char *document(const arrays_sample *a) {
    const arrays_spec *s = &a->spec;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fputs("{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[", out);
    print_list(out, s->shape, s->ndim);
    fprintf(out,
            "],\"data_type\":\"%s\",\"chunk_grid\":{\"name\":\"regular\",\"configuration\":"
            "{\"chunk_shape\":[",
            s->type);
    print_list(out, s->chunk[0], s->ndim);
    fputs("]}},\"chunk_key_encoding\":{\"name\":\"default\"},\"fill_value\":", out);
    print_fill(out, a->dtype);
    fputs(",\"codecs\":[", out);
    print_chain(out, s, 0);
    fputs("]}", out);
    fclose(out);
    return text;
}

/* ---- Bytes→bytes codecs ---- */

static uint32_t crc32c(const unsigned char *data, size_t size) {
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < size; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
    }
    return ~crc;
}

static void replace(bytes *b, void *data, size_t size) {
    free(b->data);
    *b = (bytes){.data = data, .size = size};
}

static void apply_codec(bytes *b, enum arrays_codec codec) {
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

/* A C-order block twice: `plain` has fill values beyond the array's edge, `real` garbage. */
typedef struct block {
    uint64_t shape[ARRAYS_NDIM];
    unsigned char *plain, *real;
} block;

static block new_block(const arrays_sample *a, const uint64_t *shape) {
    block b;
    memcpy(b.shape, shape, sizeof b.shape);
    size_t size = (size_t)product(shape, a->spec.ndim) * a->dtype.size;
    b.plain = malloc(size + 1);
    b.real = malloc(size + 1);
    assert_true(b.plain && b.real);
    return b;
}

static void free_block(block *b) {
    free(b->plain);
    free(b->real);
}

/* Copies element `from` of one block to element `to` of another. */
static void copy_element(const arrays_sample *a, block *to, uint64_t i, const block *from,
                         uint64_t j) {
    size_t size = a->dtype.size;
    memcpy(to->plain + i * size, from->plain + j * size, size);
    memcpy(to->real + i * size, from->real + j * size, size);
}

static uint64_t place_in(const uint64_t *index, const uint64_t *shape, uint32_t ndim) {
    uint64_t place = 0;
    for (uint32_t d = 0; d < ndim; d++)
        place = place * shape[d] + index[d];
    return place;
}

/* Dimension i of the result is dimension order[i] of the block. */
static block transpose(const arrays_sample *a, const block *from, const uint32_t *order) {
    uint32_t ndim = a->spec.ndim;
    uint64_t shape[ARRAYS_NDIM] = {0}, index[ARRAYS_NDIM] = {0}, source[ARRAYS_NDIM];
    for (uint32_t d = 0; d < ndim; d++)
        shape[d] = from->shape[order[d]];
    block to = new_block(a, shape);
    uint64_t i = 0;
    do {
        for (uint32_t d = 0; d < ndim; d++)
            source[order[d]] = index[d];
        copy_element(a, &to, i++, from, place_in(source, from->shape, ndim));
    } while (next_index(index, shape, ndim));
    return to;
}

static block cut(const arrays_sample *a, const block *from, const uint64_t *cell,
                 const uint64_t *shape) {
    uint32_t ndim = a->spec.ndim;
    uint64_t index[ARRAYS_NDIM] = {0}, source[ARRAYS_NDIM], i = 0;
    block to = new_block(a, shape);
    do {
        for (uint32_t d = 0; d < ndim; d++)
            source[d] = cell[d] * shape[d] + index[d];
        copy_element(a, &to, i++, from, place_in(source, from->shape, ndim));
    } while (next_index(index, shape, ndim));
    return to;
}

static void fill_element(const arrays_sample *a, unsigned char *out) {
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

static bool is_fill(const arrays_sample *a, const block *b) {
    unsigned char fill[16];
    fill_element(a, fill);
    uint64_t elements = product(b->shape, a->spec.ndim);
    for (uint64_t i = 0; i < elements; i++) {
        if (memcmp(b->plain + i * a->dtype.size, fill, a->dtype.size) != 0)
            return false;
    }
    return true;
}

static void swap_elements(const arrays_sample *a, bytes *b) {
    size_t component = a->dtype.kind == ZB_KIND_COMPLEX ? a->dtype.size / 2 : a->dtype.size;
    for (size_t at = 0; at < b->size && a->dtype.kind != ZB_KIND_RAW; at += component) {
        for (size_t i = 0; i < component / 2; i++) {
            unsigned char byte = b->data[at + i];
            b->data[at + i] = b->data[at + component - 1 - i];
            b->data[at + component - 1 - i] = byte;
        }
    }
}

static bytes encode(const arrays_sample *a, const block *b, uint32_t level, check_random *random);

static bytes encode_shard(const arrays_sample *a, const block *b, uint32_t level,
                          check_random *random) {
    const arrays_spec *s = &a->spec;
    const uint64_t *inner = s->chunk[level + 1];
    uint64_t grid[ARRAYS_NDIM] = {0}, cell[ARRAYS_NDIM];
    for (uint32_t d = 0; d < s->ndim; d++)
        grid[d] = b->shape[d] / inner[d];
    uint64_t count = product(grid, s->ndim);
    size_t index_size = (size_t)count * 16 + 4;
    bytes out = {0};
    unsigned char *index = malloc(index_size);
    memset(index, 0xff, index_size);
    append(&out, index, s->index_at_start ? index_size : 0);
    uint64_t first = s->scrambled ? check_random_in(random, 0, count - 1) : 0;
    for (uint64_t n = 0; n < count; n++) {
        uint64_t i = s->scrambled ? count - 1 - (first + n) % count : n, rest = i;
        for (uint32_t d = s->ndim; d-- > 0; rest /= grid[d])
            cell[d] = rest % grid[d];
        block part = cut(a, b, cell, inner);
        if (!is_fill(a, &part)) {
            if (s->scrambled)
                append(&out, "gap gap", check_random_in(random, 0, 7));
            bytes stored = encode(a, &part, level + 1, random);
            uint64_t entry[2] = {out.size, stored.size};
            memcpy(index + i * 16, entry, 16);
            append(&out, stored.data, stored.size);
            free(stored.data);
        }
        free_block(&part);
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

static bytes encode(const arrays_sample *a, const block *b, uint32_t level, check_random *random) {
    const arrays_spec *s = &a->spec;
    int which = transpose_of(s, level);
    block permuted = {.plain = NULL};
    if (which >= 0)
        permuted = transpose(a, b, s->order[which]);
    const block *stored = which >= 0 ? &permuted : b;
    bytes out = {0};
    if (level < s->depth) {
        out = encode_shard(a, stored, level, random);
    } else {
        append(&out, stored->real, (size_t)product(stored->shape, s->ndim) * a->dtype.size);
        if (s->big_endian)
            swap_elements(a, &out);
        apply_codec(&out, s->codec);
    }
    if (level == 0 && s->depth > 0)
        apply_codec(&out, s->around);
    free_block(&permuted);
    return out;
}

/* ---- Arrays ---- */

static void make_values(arrays_sample *a, check_random *random) {
    const arrays_spec *s = &a->spec;
    size_t item = a->dtype.size;
    a->elements = product(s->shape, s->ndim);
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
            fill_element(a, a->values + place_in(at, s->shape, s->ndim) * item);
        } while (next_index(index, count, s->ndim));
    }
}

/* The chunk at cell of the grid, with what lies beyond the array's edges. */
static block chunk_at(const arrays_sample *a, const uint64_t *cell) {
    const arrays_spec *s = &a->spec;
    uint64_t index[ARRAYS_NDIM] = {0}, at[ARRAYS_NDIM], i = 0;
    block b = new_block(a, s->chunk[0]);
    do {
        bool inside = true;
        for (uint32_t d = 0; d < s->ndim; d++) {
            at[d] = cell[d] * s->chunk[0][d] + index[d];
            inside = inside && at[d] < s->shape[d];
        }
        unsigned char *plain = b.plain + i * a->dtype.size, *real = b.real + i * a->dtype.size;
        if (inside) {
            memcpy(plain, arrays_at(a, at), a->dtype.size);
            memcpy(real, plain, a->dtype.size);
        } else {
            fill_element(a, plain);
            memset(real, 0x5a, a->dtype.size);
        }
        i++;
    } while (next_index(index, s->chunk[0], s->ndim));
    return b;
}

static void write_chunks(const arrays_sample *a, check_random *random, zb_store *mem,
                         const char *path) {
    const arrays_spec *s = &a->spec;
    uint64_t grid[ARRAYS_NDIM] = {0}, cell[ARRAYS_NDIM] = {0};
    for (uint32_t d = 0; d < s->ndim; d++)
        grid[d] = (s->shape[d] + s->chunk[0][d] - 1) / s->chunk[0][d];
    if (product(grid, s->ndim) == 0)
        return;
    do {
        char key[256];
        int used = snprintf(key, sizeof key, "%s%sc", path, *path ? "/" : "");
        for (uint32_t d = 0; d < s->ndim; d++)
            used += snprintf(key + used, sizeof key - (size_t)used, "/%llu",
                             (unsigned long long)cell[d]);
        block b = chunk_at(a, cell);
        if (!is_fill(a, &b)) {
            bytes stored = encode(a, &b, 0, random);
            assert_int_equal(zb_store_mem_set(mem, key, stored.data, stored.size, NULL), ZB_OK);
            free(stored.data);
        }
        free_block(&b);
    } while (next_index(cell, grid, s->ndim));
}

arrays_sample arrays_write(const arrays_spec *spec, check_random *random, zb_store *mem,
                           const char *path) {
    arrays_sample a = {.spec = *spec, .dtype = arrays_dtype(spec->type)};
    make_values(&a, random);
    char key[200], *text = document(&a);
    snprintf(key, sizeof key, "%s%szarr.json", path, *path ? "/" : "");
    assert_int_equal(zb_store_mem_set(mem, key, text, strlen(text), NULL), ZB_OK);
    free(text);
    write_chunks(&a, random, mem, path);
    return a;
}

void arrays_set_all(arrays_sample *sample, int64_t value, zb_store *mem, const char *path) {
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
           place_in(index, sample->spec.shape, sample->spec.ndim) * sample->dtype.size;
}

/* ---- Random specifications ---- */

static void random_order(check_random *random, uint32_t *order, uint32_t ndim) {
    for (uint32_t d = 0; d < ndim; d++)
        order[d] = d;
    for (uint32_t d = ndim; d > 1; d--) {
        uint32_t other = (uint32_t)check_random_in(random, 0, d - 1), kept = order[d - 1];
        order[d - 1] = order[other];
        order[other] = kept;
    }
}

/* Chunk shapes from the innermost outwards, each a multiple of the one inside, as its chain sees
   it: the transpose of the outermost chain permutes what is inside. */
static void random_chunks(arrays_spec *s, check_random *random) {
    for (uint32_t d = 0; d < s->ndim; d++)
        s->chunk[s->depth][d] = check_random_in(random, 1, s->ndim > 3 ? 3 : 9);
    for (uint32_t level = s->depth; level-- > 0;) {
        uint64_t stored[ARRAYS_NDIM];
        for (uint32_t d = 0; d < s->ndim; d++)
            stored[d] = s->chunk[level + 1][d] * check_random_in(random, 1, s->ndim > 3 ? 2 : 3);
        int which = transpose_of(s, level);
        for (uint32_t d = 0; d < s->ndim; d++)
            s->chunk[level][which >= 0 ? s->order[which][d] : d] = stored[d];
    }
}

arrays_spec arrays_random_spec(check_random *random) {
    static const char *const types[] = {"bool",    "uint8",   "int16",     "uint32", "int64",
                                        "float32", "float64", "complex64", "r24"};
    arrays_spec s = {.ndim = (uint32_t)check_random_in(random, 0, 5)};
    s.depth = (uint32_t)check_random_in(random, 0, s.ndim > 3 ? 2 : ARRAYS_DEPTH);
    s.type = types[check_random_in(random, 0, 8)];
    s.big_endian = check_random_in(random, 0, 3) == 0;
    s.codec = (enum arrays_codec)check_random_in(random, 0, ARRAYS_CODECS - 1);
    if (check_random_in(random, 0, 3) == 0)
        s.around = (enum arrays_codec)check_random_in(random, 0, ARRAYS_CODECS - 1);
    for (int which = 0; which < 2; which++) {
        s.transposed[which] = check_random_in(random, 0, 2) == 0;
        random_order(random, s.order[which], s.ndim);
    }
    s.index_at_start = check_random_in(random, 0, 1);
    s.scrambled = check_random_in(random, 0, 1);
    s.fill_boxes = (unsigned)check_random_in(random, 0, 3);
    random_chunks(&s, random);
    for (uint32_t d = 0; d < s.ndim; d++) {
        uint64_t most = s.ndim > 3 ? 8 : s.ndim == 3 ? 30 : s.ndim == 2 ? 100 : 3000;
        s.shape[d] = check_random_in(random, 0, 60) == 0 ? 0 : check_random_in(random, 1, most);
    }
    return s;
}

char *arrays_describe(const arrays_spec *s) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fprintf(out, "%s%s codec %d around %d depth %u shape (", s->type, s->big_endian ? " big" : "",
            (int)s->codec, (int)s->around, s->depth);
    print_list(out, s->shape, s->ndim);
    for (uint32_t level = 0; level <= s->depth; level++) {
        fputs(") chunks (", out);
        print_list(out, s->chunk[level], s->ndim);
    }
    fprintf(out, ")%s%s%s%s fill boxes %u", s->transposed[0] ? " transposed outside" : "",
            s->transposed[1] ? " transposed inside" : "", s->index_at_start ? " start" : "",
            s->scrambled ? " scrambled" : "", s->fill_boxes);
    fclose(out);
    return text;
}
