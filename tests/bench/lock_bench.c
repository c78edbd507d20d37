/* SPDX-License-Identifier: MIT */
/*
 * What the lock of a shard costs beside the shard. Prints seconds, elapsed and of all threads:
 *
 *     zb-lock-bench DIRECTORY lock     takes and gives back the lock of one shard 1000 times
 *     zb-lock-bench DIRECTORY shard    stores one shard of 64 MiB, whose chunks are not compressed
 *
 * DIRECTORY is made. The lock is the one that a writer takes; ZARRBRIDGE_LOCKS tells its kind. What
 * is measured has been done once before, so that memory and threads are there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "node/current.h"
#include "node/node.h"
#include "timing.h"
#include "zarrbridge/array.h"
#include "zarrbridge/sys/store.h"
#include "zarrbridge/write.h"

enum { LOCKS = 1000, SHARDS = 2 };
static const uint64_t chunk_bytes = 1 << 20, shard_bytes = 64 << 20;

static zb_node *new_array(const char *directory) {
    const uint64_t shape = SHARDS * shard_bytes;
    const zb_array_spec spec = {.ndim = 1,
                                .shape = &shape,
                                .inner_shape = &chunk_bytes,
                                .shard_shape = &shard_bytes,
                                .dtype = {ZB_KIND_UINT, 1, false, NULL},
                                .codecs = "[]"};
    zb_hierarchy *hierarchy;
    zb_node *node;
    zb_error err;
    if (mkdir(directory, 0777) != 0) {
        fprintf(stderr, "zb-lock-bench: cannot make %s\n", directory);
        exit(1);
    }
    check(zb_hierarchy_open(directory, &hierarchy, &err), &err);
    check(zb_array_create(hierarchy, "a", &spec, &node, &err), &err);
    zb_hierarchy_release(hierarchy);
    return node;
}

static void lock_once(const zb_node *node) {
    const zb_locking locking = {.key = "a/c/0", .home = zb__node_home(node)};
    zb_lock *lock;
    zb_error err;
    check(zb_store_lock_as(zb__node_store(node), &locking, &lock, &err), &err);
    zb_store_unlock(lock);
}

static void store_shard(const zb_node *node, uint64_t number, const uint8_t *data) {
    const uint64_t start = number * shard_bytes;
    const zb_write write = {
        .start = &start, .count = &shard_bytes, .data = data, .dtype = zb_node_array(node)->dtype};
    zb_writer *writer;
    zb_error err;
    check(zb_writer_open(node, NULL, &writer, &err), &err);
    check(zb_writer_write(writer, &write, &err), &err);
    check(zb_writer_close(writer, &err), &err);
}

int main(int argc, char **argv) {
    if (argc != 3 || (strcmp(argv[2], "lock") != 0 && strcmp(argv[2], "shard") != 0)) {
        fprintf(stderr, "usage: zb-lock-bench DIRECTORY lock|shard\n");
        return 2;
    }
    zb_node *node = new_array(argv[1]);
    uint8_t *data = new_block(shard_bytes);
    for (uint64_t i = 0; i < shard_bytes; i++) /* no fill values, which are not stored */
        data[i] = (uint8_t)(i % 251 + 1);
    store_shard(node, 0, data); /* makes the directory that locks are taken in, too */
    lock_once(node);
    least time = LEAST_NONE;
    const moment start = moment_now();
    if (strcmp(argv[2], "shard") == 0)
        store_shard(node, 1, data);
    for (int i = 0; strcmp(argv[2], "lock") == 0 && i < LOCKS; i++)
        lock_once(node);
    moment_end(start, &time);
    printf("%.6f %.6f\n", time.ms / 1e3, time.cpu / 1e3);
    free(data);
    zb_node_release(node);
    return 0;
}
