/* SPDX-License-Identifier: MIT */
#include "timing.h"
#include "zarrbridge/limits.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static double clock_ms(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

double now_ms(void) {
    return clock_ms(CLOCK_MONOTONIC);
}

double cpu_ms(void) {
    return clock_ms(CLOCK_PROCESS_CPUTIME_ID);
}

moment moment_now(void) {
    return (moment){.cpu = cpu_ms(), .ms = now_ms()};
}

void moment_end(moment start, least *kept) {
    double ms = now_ms() - start.ms, cpu = cpu_ms() - start.cpu;
    kept->ms = ms < kept->ms ? ms : kept->ms;
    kept->cpu = cpu < kept->cpu ? cpu : kept->cpu;
}

void check(enum zb_code code, const zb_error *err) {
    if (code != ZB_OK) {
        fprintf(stderr, "zb-bench: %s: %s\n", zb_code_name(code), err->message);
        exit(1);
    }
}

void report(const char *peer, const char *dataset, const char *what, least time, int64_t extra) {
    printf("{\"peer\": \"%s\", \"dataset\": \"%s\", \"what\": \"%s\", \"ms\": %.4f, \"cpu\": %.4f",
           peer, dataset, what, time.ms, time.cpu);
    if (extra >= 0)
        printf(", \"extra\": %lld", (long long)extra);
    puts("}");
    fflush(stdout);
}

void *new_block(size_t bytes) {
    char *block = malloc(bytes);
    if (!block)
        exit(1);
    size_t head = 4096 - (uintptr_t)block % 4096;
    if (bytes > head)
        madvise(block + head, bytes - head, MADV_HUGEPAGE);
    return block;
}

zb_node *open_array(const char *directory, size_t *bytes) {
    zb_error err;
    zb_hierarchy *hierarchy;
    zb_node *node;
    check(zb_hierarchy_open(directory, &hierarchy, &err), &err);
    check(zb_node_open(hierarchy, "", &node, &err), &err);
    zb_hierarchy_release(hierarchy);
    const zb_array_info *info = zb_node_array(node);
    if (!info) {
        fprintf(stderr, "zb-bench: %s holds a group; give an array\n", directory);
        exit(2);
    }
    *bytes = info->dtype.size;
    for (uint32_t d = 0; d < info->ndim; d++)
        *bytes *= (size_t)info->shape[d];
    return node;
}

unsigned thread_count(void) {
    cpu_set_t set;
    uint64_t threads = zb_limits_get()->threads;
    if (threads == 0 && sched_getaffinity(0, sizeof set, &set) == 0)
        threads = (uint64_t)CPU_COUNT(&set);
    return threads ? (unsigned)threads : 1;
}

const char *name_of(const char *directory) {
    const char *slash = strrchr(directory, '/');
    return slash && slash[1] ? slash + 1 : directory;
}
