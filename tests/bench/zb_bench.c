/* SPDX-License-Identifier: MIT */
/*
 * Times the core on one store and prints JSON lines {"peer", "dataset", "what", "ms", "cpu",
 * "extra"}; cpu is the time of all threads together, extra the peak of resident bytes above those
 * after opening, less the bytes that were read.
 *
 *     zb-bench DIRECTORY [rounds]
 *
 * what: whole (into a new buffer), whole-warm (into a touched one), both also for the peer "bare"
 * (the calibration of bare.h, where it knows the array), windows-256 (random 256^2 windows of a 2-D
 * array, caches empty at first, milliseconds each), window-warm and window-decode (one window
 * again, and the bare decoding of its chunk), open (metadata only).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bare.h"
#include "memory.h"
#include "timing.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/read.h"
#include "zarrbridge/values.h"

typedef struct bench {
    const char *directory, *dataset;
    zb_node *node;
    const zb_array_info *info;
    size_t bytes, texts; /* decoded; texts: that elements of variable length point at */
    zb_values *values;   /* of the read that goes on, for such elements */
    int64_t opened;      /* resident bytes after opening */
    int rounds;
} bench;

static void read_core(const bench *b, void *out) {
    zb_error err;
    zb_read read = {.node = b->node,
                    .view = {.data = out, .dtype = b->info->dtype, .values = b->values}};
    check(zb_array_read(&read, 1, &err), &err);
}

static void read_bare(const bench *b, void *out) {
    bare_read(b->directory, b->info, thread_count(), out);
}

static int64_t extra_memory(const bench *b, size_t result) {
    int64_t extra = memory_peak() - b->opened - (int64_t)result;
    return extra > 0 ? extra : 0;
}

/* Reports the least of `rounds` times, each into a new block or all into one. */
static void time_whole(bench *b, const char *peer, void (*read)(const bench *, void *), bool warm) {
    zb_error err;
    least time = LEAST_NONE;
    memory_reset_peak();
    void *kept = warm ? new_block(b->bytes) : NULL;
    if (kept)
        memset(kept, 1, b->bytes);
    for (int i = 0; i < b->rounds; i++) {
        void *out = warm ? kept : new_block(b->bytes);
        check(zb_values_new(&b->values, &err), &err);
        moment start = moment_now();
        read(b, out);
        moment_end(start, &time);
        zb_values_free(b->values);
        if (!warm)
            free(out);
    }
    free(kept);
    report(peer, b->dataset, warm ? "whole-warm" : "whole", time,
           extra_memory(b, b->bytes + b->texts));
}

/* The bytes that the elements point at. */
static size_t count_texts(bench *b) {
    zb_error err;
    size_t texts = 0;
    if (b->info->dtype.kind != ZB_KIND_STRING && b->info->dtype.kind != ZB_KIND_BYTES)
        return 0;
    zb_slice *slices = new_block(b->bytes);
    check(zb_values_new(&b->values, &err), &err);
    read_core(b, slices);
    for (size_t i = 0; i < b->bytes / sizeof *slices; i++)
        texts += slices[i].size;
    zb_values_free(b->values);
    free(slices);
    return texts;
}

static void compare(const bench *b) {
    void *ours = new_block(b->bytes), *bare = new_block(b->bytes);
    read_core(b, ours);
    read_bare(b, bare);
    if (memcmp(ours, bare, b->bytes) != 0) {
        fprintf(stderr, "zb-bench: %s: the core and the bare library disagree\n", b->dataset);
        exit(1);
    }
    free(ours);
    free(bare);
}

static void read_window(const bench *b, uint64_t y, uint64_t x, void *out) {
    zb_error err;
    uint64_t start[2] = {y, x}, count[2] = {256, 256};
    zb_read read = {.node = b->node,
                    .start = start,
                    .count = count,
                    .view = {.data = out, .dtype = b->info->dtype}};
    check(zb_array_read(&read, 1, &err), &err);
}

static void time_windows(const bench *b) {
    enum { WINDOWS = 300 };
    void *out = malloc(256 * 256 * 16);
    least time = LEAST_NONE, warm = LEAST_NONE;
    memory_reset_peak();
    for (int round = 0; round < b->rounds; round++) {
        uint64_t random = 12345;
        zb_cache_clear();
        moment start = moment_now();
        for (int i = 0; i < WINDOWS; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            uint64_t y = (random >> 33) % (b->info->shape[0] - 255);
            random = random * 6364136223846793005u + 1442695040888963407u;
            uint64_t x = (random >> 33) % (b->info->shape[1] - 255);
            read_window(b, y, x, out);
        }
        moment_end(start, &time);
    }
    time = (least){.ms = time.ms / WINDOWS, .cpu = time.cpu / WINDOWS};
    report("core", b->dataset, "windows-256", time, extra_memory(b, 0));
    for (int i = 0; i < 200; i++) {
        moment start = moment_now();
        read_window(b, 256, 256, out); /* one whole inner chunk: never from the cache */
        moment_end(start, &warm);
    }
    report("core", b->dataset, "window-warm", warm, -1);
    if (b->info->shard_depth)
        report("bare", b->dataset, "window-decode", bare_decode_time(b->directory, b->info), -1);
    free(out);
}

static void time_open(const bench *b) {
    least time = LEAST_NONE;
    for (int i = 0; i < 200; i++) {
        zb_error err;
        zb_hierarchy *hierarchy;
        zb_node *node;
        moment start = moment_now();
        check(zb_hierarchy_open(b->directory, &hierarchy, &err), &err);
        check(zb_node_open(hierarchy, "", &node, &err), &err);
        moment_end(start, &time);
        zb_node_release(node);
        zb_hierarchy_release(hierarchy);
    }
    report("core", b->dataset, "open", time, -1);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: zb-bench DIRECTORY [rounds]\n");
        return 2;
    }
    bench b = {
        .directory = argv[1], .dataset = name_of(argv[1]), .rounds = argc > 2 ? atoi(argv[2]) : 5};
    b.node = open_array(b.directory, &b.bytes);
    b.info = zb_node_array(b.node);
    b.texts = count_texts(&b);
    b.opened = memory_now();
    time_whole(&b, "core", read_core, false);
    time_whole(&b, "core", read_core, true);
    if (bare_knows(b.directory, b.node)) {
        time_whole(&b, "bare", read_bare, false);
        time_whole(&b, "bare", read_bare, true);
        compare(&b);
    }
    if (b.info->ndim == 2)
        time_windows(&b);
    time_open(&b);
    zb_node_release(b.node);
    return 0;
}
