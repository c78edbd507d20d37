/* SPDX-License-Identifier: MIT */
/*
 * Times the core writing one array and prints JSON lines {"peer", "dataset", "what", "ms", "cpu",
 * "extra"}; cpu is the time of all threads together, extra the peak of resident bytes above those
 * before, the array's own not counted.
 *
 *     zb-write-bench DIRECTORY SCRATCH [rounds]
 *
 * The array in DIRECTORY is read once and written again below the folder SCRATCH, with the same
 * zarr.json, each time into a new directory, without syncing. what: write (the whole array with one
 * call), rows (one call for each index of the first dimension), columns (one for every 16 of the
 * last). Peer bare is the calibration of bare.h; of arrays that it does not know only `write` is
 * measured. The new array is read back and compared.
 */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bare.h"
#include "memory.h"
#include "timing.h"
#include "zarrbridge/read.h"
#include "zarrbridge/values.h"
#include "zarrbridge/write.h"

typedef struct bench {
    const char *source, *dataset;
    char target[4096];
    zb_node *node; /* of the source */
    const zb_array_info *info;
    const unsigned char *array;
    size_t bytes;
    bool bare; /* does the calibration know the array? */
    int rounds;
} bench;

/* ---- Directories ---- */

static int remove_entry(const char *path, const struct stat *st, int flag, struct FTW *ftw) {
    (void)st, (void)flag, (void)ftw;
    return remove(path);
}

static void remove_tree(const char *path) {
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* A directory with the source's document and nothing else. */
static void new_target(const bench *b) {
    char from[4200], to[4200], text[65536];
    remove_tree(b->target);
    snprintf(from, sizeof from, "%s/zarr.json", b->source);
    snprintf(to, sizeof to, "%s/zarr.json", b->target);
    FILE *in = fopen(from, "r"), *out = mkdir(b->target, 0777) == 0 ? fopen(to, "w") : NULL;
    size_t size = in ? fread(text, 1, sizeof text, in) : 0;
    if (!out || size == 0 || fwrite(text, 1, size, out) != size || fclose(out) != 0) {
        fprintf(stderr, "zb-write-bench: cannot make %s\n", b->target);
        exit(1);
    }
    fclose(in);
}

/* ---- Writing ---- */

/* Writes boxes of `count` along one dimension, one after the other. */
static void write_slabs(const bench *b, uint32_t dimension, uint64_t count) {
    zb_error err;
    size_t bytes;
    zb_node *node = open_array(b->target, &bytes);
    zb_writer *writer;
    check(zb_writer_open(node, NULL, &writer, &err), &err);
    uint64_t start[ZB_MAX_NDIM] = {0}, extent[ZB_MAX_NDIM];
    int64_t strides[ZB_MAX_NDIM], stride = b->info->dtype.size;
    for (uint32_t d = b->info->ndim; d-- > 0; stride *= (int64_t)b->info->shape[d]) {
        strides[d] = stride;
        extent[d] = b->info->shape[d];
    }
    extent[dimension] = count;
    for (; start[dimension] < b->info->shape[dimension]; start[dimension] += count) {
        zb_write write = {.start = start,
                          .count = extent,
                          .data = b->array + (int64_t)start[dimension] * strides[dimension],
                          .dtype = b->info->dtype,
                          .strides = strides};
        check(zb_writer_write(writer, &write, &err), &err);
    }
    check(zb_writer_close(writer, &err), &err);
    zb_node_release(node);
}

static void write_core(const bench *b) {
    write_slabs(b, 0, b->info->shape[0]);
}

static void write_rows(const bench *b) {
    write_slabs(b, 0, 1);
}

static void write_columns(const bench *b) {
    write_slabs(b, b->info->ndim - 1, 16);
}

static void write_bare(const bench *b) {
    bare_write(b->target, b->info, thread_count(), b->array);
}

/* ---- Measuring ---- */

static void read_all(const zb_node *node, zb_dtype dtype, void *out, zb_values *values) {
    zb_error err;
    zb_read read = {.node = node, .view = {.data = out, .dtype = dtype, .values = values}};
    check(zb_array_read(&read, 1, &err), &err);
}

static bool same_slices(const zb_slice *a, const zb_slice *b, size_t count) {
    bool same = true;
    for (size_t i = 0; i < count && same; i++)
        same = a[i].size == b[i].size && memcmp(a[i].data, b[i].data, a[i].size) == 0;
    return same;
}

static void compare(const bench *b) {
    zb_error err;
    size_t bytes;
    zb_node *node = open_array(b->target, &bytes);
    void *got = new_block(b->bytes);
    zb_values *values;
    check(zb_values_new(&values, &err), &err);
    read_all(node, b->info->dtype, got, values);
    bool same = zb_dtype_is_variable(b->info->dtype)
                    ? same_slices(got, (const void *)b->array, b->bytes / sizeof(zb_slice))
                    : memcmp(got, b->array, b->bytes) == 0;
    if (!same) {
        fprintf(stderr, "zb-write-bench: %s: what was written reads differently\n", b->dataset);
        exit(1);
    }
    zb_values_free(values);
    free(got);
    zb_node_release(node);
}

/* Reports the least of `rounds` times, and the memory that the first call took on top of the
   array. */
static void time_writing(const bench *b, const char *peer, const char *what,
                         void (*write)(const bench *)) {
    least time = LEAST_NONE;
    int64_t extra = 0;
    for (int i = 0; i < b->rounds; i++) {
        new_target(b);
        int64_t before = memory_now();
        memory_reset_peak();
        moment start = moment_now();
        write(b);
        moment_end(start, &time);
        if (i == 0) {
            extra = memory_peak() - before;
            compare(b);
        }
    }
    report(peer, b->dataset, what, time, extra);
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: zb-write-bench DIRECTORY SCRATCH [rounds]\n");
        return 2;
    }
    bench b = {
        .source = argv[1], .dataset = name_of(argv[1]), .rounds = argc > 3 ? atoi(argv[3]) : 5};
    snprintf(b.target, sizeof b.target, "%s/core-%s", argv[2], b.dataset);
    b.node = open_array(b.source, &b.bytes);
    b.info = zb_node_array(b.node);
    b.bare = bare_knows(b.source, b.node);
    void *array = new_block(b.bytes);
    zb_error err;
    zb_values *values;
    check(zb_values_new(&values, &err), &err);
    if (b.bare) /* leaves the core's memory as it was */
        bare_read(b.source, b.info, thread_count(), array);
    else
        read_all(b.node, b.info->dtype, array, values);
    b.array = array;
    time_writing(&b, "core", "write", write_core);
    if (b.bare)
        time_writing(&b, "bare", "write", write_bare);
    if (b.bare && b.info->ndim == 2) {
        time_writing(&b, "core", "rows", write_rows);
        time_writing(&b, "core", "columns", write_columns);
    }
    remove_tree(b.target);
    zb_values_free(values);
    free(array);
    zb_node_release(b.node);
    return 0;
}
