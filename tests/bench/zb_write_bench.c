/* SPDX-License-Identifier: MIT */
/*
 * Times the core writing one array and prints JSON lines {"peer", "dataset", "what", "ms",
 * "extra"}; extra is the peak of resident bytes above those before, the array's own not counted.
 *
 *     zb-write-bench DIRECTORY SCRATCH [rounds]
 *
 * The array in DIRECTORY is read once and written again below the folder SCRATCH, with the same
 * zarr.json, each time into a new directory, without syncing. what: write (the whole array with one
 * call), rows (one call for each index of the first dimension), columns (one for every 16 of the
 * last). Peer bare is the calibration of bare.h. The new array is read back and compared.
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
#include "zarrbridge/write.h"

typedef struct bench {
    const char *source, *dataset;
    char target[4096];
    zb_node *node; /* of the source */
    const zb_array_info *info;
    const unsigned char *array;
    size_t bytes;
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

static void compare(const bench *b) {
    zb_error err;
    size_t bytes;
    zb_node *node = open_array(b->target, &bytes);
    unsigned char *got = new_block(b->bytes);
    zb_read read = {.node = node, .view = {.data = got, .dtype = b->info->dtype}};
    check(zb_array_read(&read, 1, &err), &err);
    if (memcmp(got, b->array, b->bytes) != 0) {
        fprintf(stderr, "zb-write-bench: %s: what was written reads differently\n", b->dataset);
        exit(1);
    }
    free(got);
    zb_node_release(node);
}

/* Reports the least of `rounds` times, and the memory that the first call took on top of the array.
 */
static void time_writing(const bench *b, const char *peer, const char *what,
                         void (*write)(const bench *)) {
    double least = 1e30;
    int64_t extra = 0;
    for (int i = 0; i < b->rounds; i++) {
        new_target(b);
        int64_t before = memory_now();
        memory_reset_peak();
        double start = now_ms();
        write(b);
        double took = now_ms() - start;
        least = took < least ? took : least;
        if (i == 0) {
            extra = memory_peak() - before;
            compare(b);
        }
    }
    report(peer, b->dataset, what, least, extra);
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
    void *array = new_block(b.bytes);
    bare_read(b.source, b.info, thread_count(), array); /* leaves the core's memory as it was */
    b.array = array;
    time_writing(&b, "core", "write", write_core);
    time_writing(&b, "bare", "write", write_bare);
    if (b.info->ndim == 2) {
        time_writing(&b, "core", "rows", write_rows);
        time_writing(&b, "core", "columns", write_columns);
    }
    remove_tree(b.target);
    free(array);
    zb_node_release(b.node);
    return 0;
}
