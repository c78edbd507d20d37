/* SPDX-License-Identifier: MIT */
/*
 * What the clients of test_nfs.py do:
 *
 *     nfs-actor make STORE COUNT             array "a" of COUNT elements in one shard, array "c" of
 *                                            as many in chunks of ten
 *     nfs-actor write STORE ARRAY FROM COUNT SECONDS
 *                                            element i gets i + 1, each with a flush of its own;
 *                                            prints i + 1 once it is acknowledged
 *     nfs-actor fill STORE FROM COUNT        whole chunks of "c", the same elements
 *     nfs-actor read STORE ARRAY             prints the elements that are there
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/clock.h"
#include "zarrbridge/zarrbridge.h"

#define CHUNK 10

static const zb_dtype int_type = {.kind = ZB_KIND_INT, .size = 8};
static zb_error err;

static void need(enum zb_code code) {
    if (code) {
        fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
}

static zb_node *open_array(const char *path, const char *name) {
    zb_hierarchy *hierarchy;
    zb_node *node;
    need(zb_hierarchy_open(path, &hierarchy, &err));
    need(zb_node_open(hierarchy, name, &node, &err));
    return node;
}

static void make(const char *path, uint64_t count) {
    const uint64_t inner = 50, chunk = CHUNK;
    const int64_t fill = 0;
    zb_array_spec spec = {.ndim = 1,
                          .shape = &count,
                          .inner_shape = &inner,
                          .shard_shape = &count,
                          .dtype = int_type,
                          .fill_value = &fill};
    zb_hierarchy *hierarchy;
    zb_node *node;
    need(zb_hierarchy_create(path, NULL, &hierarchy, &err));
    need(zb_group_create(hierarchy, "", NULL, &node, &err));
    need(zb_array_create(hierarchy, "a", &spec, &node, &err));
    spec.inner_shape = &chunk;
    spec.shard_shape = NULL;
    need(zb_array_create(hierarchy, "c", &spec, &node, &err));
    need(zb_hierarchy_flush(hierarchy, &err));
    zb_hierarchy_release(hierarchy);
}

/* Elements from `from` on; false with err. */
static bool store(zb_writer *writer, uint64_t from, uint64_t count) {
    int64_t values[CHUNK];
    zb_write write = {.start = &from, .count = &count, .data = values, .dtype = int_type};
    for (uint64_t i = 0; i < count; i++)
        values[i] = (int64_t)(from + i + 1);
    return zb_writer_write(writer, &write, &err) == ZB_OK && zb_writer_flush(writer, &err) == ZB_OK;
}

static int write_each(const char *path, const char *name, uint64_t from, uint64_t count,
                      uint64_t seconds) {
    const int64_t end = zb__now() + (int64_t)seconds * ZB__SECOND;
    const zb_write_options options = {0};
    unsigned failed = 0, stored = 0;
    int64_t longest = 0;
    zb_writer *writer;
    need(zb_writer_open(open_array(path, name), &options, &writer, &err));
    for (uint64_t i = from; i < from + count && zb__now() < end; i++) {
        const int64_t begin = zb__now();
        if (store(writer, i, 1)) {
            stored++;
            printf("%" PRIu64 "\n", i + 1);
            fflush(stdout);
        } else {
            failed++;
            fprintf(stderr, "element %" PRIu64 ": %s\n", i, err.message);
        }
        longest = zb__now() - begin > longest ? zb__now() - begin : longest;
    }
    fprintf(stderr, "stored %u, failed %u, the slowest in %" PRId64 " ms\n", stored, failed,
            longest / 1000000);
    return failed > 0;
}

static void fill(const char *path, uint64_t from, uint64_t count) {
    const zb_write_options options = {0};
    zb_writer *writer;
    need(zb_writer_open(open_array(path, "c"), &options, &writer, &err));
    for (uint64_t i = from; i < from + count; i += CHUNK)
        need(store(writer, i, CHUNK) ? ZB_OK : err.code);
}

static void show(const char *path, const char *name) {
    const uint64_t start = 0;
    const zb_node *node = open_array(path, name);
    const uint64_t count = zb_node_array(node)->shape[0];
    int64_t *values = calloc(count, sizeof *values);
    zb_read read = {.node = node,
                    .start = &start,
                    .count = &count,
                    .view = {.data = values, .dtype = int_type}};
    need(values ? zb_array_read(&read, 1, &err) : ZB_ENOMEM);
    for (uint64_t i = 0; i < count; i++) {
        if (values[i])
            printf("%" PRId64 "\n", values[i]);
    }
    free(values);
}

static uint64_t number(const char *text) {
    return strtoull(text, NULL, 10);
}

int main(int argc, char **argv) {
    if (argc == 4 && strcmp(argv[1], "make") == 0)
        make(argv[2], number(argv[3]));
    else if (argc == 7 && strcmp(argv[1], "write") == 0)
        return write_each(argv[2], argv[3], number(argv[4]), number(argv[5]), number(argv[6]));
    else if (argc == 5 && strcmp(argv[1], "fill") == 0)
        fill(argv[2], number(argv[3]), number(argv[4]));
    else if (argc == 4 && strcmp(argv[1], "read") == 0)
        show(argv[2], argv[3]);
    else
        return 2;
    return 0;
}
