/* SPDX-License-Identifier: MIT */
#include "support/arrays_spec.h"

uint64_t arrays_product(const uint64_t *shape, uint32_t ndim) {
    uint64_t elements = 1;
    for (uint32_t d = 0; d < ndim; d++)
        elements *= shape[d];
    return elements;
}

bool arrays_next_index(uint64_t *index, const uint64_t *shape, uint32_t ndim) {
    for (uint32_t d = ndim; d-- > 0;) {
        if (++index[d] < shape[d])
            return true;
        index[d] = 0;
    }
    return false;
}

uint64_t arrays_place(const uint64_t *index, const uint64_t *shape, uint32_t ndim) {
    uint64_t place = 0;
    for (uint32_t d = 0; d < ndim; d++)
        place = place * shape[d] + index[d];
    return place;
}

/* ---- The grid ---- */

uint64_t arrays_edge(const arrays_spec *s, uint32_t d, uint64_t cell, uint64_t *start) {
    *start = cell * s->chunk[0][d];
    if (s->edges[d] == 0)
        return s->chunk[0][d];
    *start = 0;
    for (uint64_t i = 0; i < cell; i++)
        *start += s->edge[d][i];
    return s->edge[d][cell];
}

uint64_t arrays_cells(const arrays_spec *s, uint32_t d) {
    uint64_t cells = 0, start = 0;
    if (s->edges[d] == 0)
        return (s->shape[d] + s->chunk[0][d] - 1) / s->chunk[0][d];
    while (start < s->shape[d])
        start += s->edge[d][cells++];
    return cells;
}

zb_dtype arrays_dtype(const char *name) {
    static const struct {
        const char *name;
        zb_dtype dtype;
    } rows[] = {{"bool", {ZB_KIND_BOOL, 1, false, NULL}},
                {"uint8", {ZB_KIND_UINT, 1, false, NULL}},
                {"int16", {ZB_KIND_INT, 2, false, NULL}},
                {"uint32", {ZB_KIND_UINT, 4, false, NULL}},
                {"int64", {ZB_KIND_INT, 8, false, NULL}},
                {"float32", {ZB_KIND_FLOAT, 4, false, NULL}},
                {"float64", {ZB_KIND_FLOAT, 8, false, NULL}},
                {"complex64", {ZB_KIND_COMPLEX, 8, false, NULL}},
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

int arrays_transpose_of(const arrays_spec *s, uint32_t level) {
    int which = level == s->depth ? 1 : level == 0 ? 0 : -1;
    return which >= 0 && s->transposed[which] ? which : -1;
}

static void print_pipeline(FILE *out, const arrays_spec *s, uint32_t level) {
    int which = arrays_transpose_of(s, level);
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
    print_pipeline(out, s, level + 1);
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
    case ZB_KIND_INT:
    case ZB_KIND_UINT:
    case ZB_KIND_FLOAT:
        fputs("7", out);
        break;
    default:
        fail_msg("no sample has this kind");
    }
}

/* The forms of the lists by turns: extents as they are, and as runs of one or more. */
static void print_edges(FILE *out, const arrays_spec *s, uint32_t d) {
    fputc('[', out);
    for (uint32_t i = 0, n; i < s->edges[d]; i += n) {
        for (n = 1; d % 2 && i + n < s->edges[d] && s->edge[d][i + n] == s->edge[d][i];)
            n++;
        fprintf(out, n > 1 ? "%s[%llu,%u]" : "%s%llu", i ? "," : "",
                (unsigned long long)s->edge[d][i], n);
    }
    fputc(']', out);
}

static void print_grid(FILE *out, const arrays_spec *s) {
    bool is_regular = true;
    for (uint32_t d = 0; d < s->ndim; d++)
        is_regular = is_regular && s->edges[d] == 0;
    fprintf(out, "{\"name\":\"%s\",\"configuration\":{%s[", is_regular ? "regular" : "rectilinear",
            is_regular ? "\"chunk_shape\":" : "\"kind\":\"inline\",\"chunk_shapes\":");
    for (uint32_t d = 0; d < s->ndim; d++) {
        fputs(d ? "," : "", out);
        if (s->edges[d])
            print_edges(out, s, d);
        else
            print_list(out, &s->chunk[0][d], 1);
    }
    fputs("]}}", out);
}

char *arrays_document(const arrays_sample *a) {
    const arrays_spec *s = &a->spec;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fputs("{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[", out);
    print_list(out, s->shape, s->ndim);
    fprintf(out, "],\"data_type\":\"%s\",\"chunk_grid\":", s->type);
    print_grid(out, s);
    fputs(",\"chunk_key_encoding\":{\"name\":\"default\"},\"fill_value\":", out);
    print_fill(out, a->dtype);
    fputs(",\"codecs\":[", out);
    print_pipeline(out, s, 0);
    fputs("]}", out);
    fclose(out);
    return text;
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

/* Chunk shapes from the innermost outwards, each a multiple of the one inside, as its pipeline sees
   it: the transpose of the outermost pipeline permutes the chunks inside. */
static void random_chunks(arrays_spec *s, check_random *random) {
    for (uint32_t d = 0; d < s->ndim; d++)
        s->chunk[s->depth][d] = check_random_in(random, 1, s->ndim > 3 ? 3 : 9);
    for (uint32_t level = s->depth; level-- > 0;) {
        uint64_t stored[ARRAYS_NDIM];
        for (uint32_t d = 0; d < s->ndim; d++)
            stored[d] = s->chunk[level + 1][d] * check_random_in(random, 1, s->ndim > 3 ? 2 : 3);
        int which = arrays_transpose_of(s, level);
        for (uint32_t d = 0; d < s->ndim; d++)
            s->chunk[level][which >= 0 ? s->order[which][d] : d] = stored[d];
    }
}

/* Multiples of what divides a chunk, and now and then a chunk behind the array's edge. */
static void random_edges(arrays_spec *s, check_random *random, uint32_t d, uint64_t unit) {
    uint64_t end = 0, most = s->shape[d] / 3 / unit + 2;
    uint32_t n = 0, last = ARRAYS_EDGES - 2;
    do {
        uint64_t rest = s->shape[d] > end ? (s->shape[d] - end + unit - 1) / unit : 1;
        uint64_t units = n == last ? rest : check_random_in(random, 1, most);
        s->edge[d][n++] = units * unit;
        end += units * unit;
    } while (end < s->shape[d]);
    if (check_random_in(random, 0, 3) == 0)
        s->edge[d][n++] = check_random_in(random, 1, 3) * unit;
    s->edges[d] = n;
}

static void random_grid(arrays_spec *s, check_random *random) {
    int which = arrays_transpose_of(s, 0);
    for (uint32_t i = 0; i < s->ndim; i++) {
        uint32_t d = which >= 0 && s->depth ? s->order[which][i] : i;
        if (check_random_in(random, 0, 2))
            random_edges(s, random, d, s->depth ? s->chunk[1][i] : 1);
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
    if (check_random_in(random, 0, 2) == 0)
        random_grid(&s, random);
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
    for (uint32_t d = 0; d < s->ndim; d++) {
        fprintf(out, s->edges[d] ? ") edges of %u (" : "", d);
        print_list(out, s->edge[d], s->edges[d]);
    }
    fprintf(out, ")%s%s%s%s fill boxes %u", s->transposed[0] ? " transposed outside" : "",
            s->transposed[1] ? " transposed inside" : "", s->index_at_start ? " start" : "",
            s->scrambled ? " scrambled" : "", s->fill_boxes);
    fclose(out);
    return text;
}
