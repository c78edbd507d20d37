/* SPDX-License-Identifier: MIT */
/*
 * Few file descriptors, because of `ulimit -n`, or because the program has many files open. With 64
 * everything works: writing whole chunks and shards and parts of them with each kind of syncing,
 * reading all in one call, copying, verifying, deleting, by one thread and by several. With fewer,
 * a failed write reports an error and has not been stored, and a write without an error has been
 * stored.
 *
 * Limits are of a child process each.
 */
#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#include "world.h"
#include "zarrbridge/change.h"
#include "zarrbridge/check.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/read.h"
#include "zarrbridge/write.h"

enum { SIDE = 4, CHUNKS = 200, COUNT = SIDE * CHUNKS, ENOUGH = 64, CROWD = 500 };

static char *place;
static char root[256];

static const zb_dtype int_type = {.kind = ZB_KIND_INT, .size = 4};

#define MUST(call, err) CHILD_CHECK((call) == ZB_OK, "%s: %s", c->what, (err).message)

typedef struct course {
    char what[100]; /* for messages */
    int descriptors;
    bool crowded; /* CROWD more are allowed, and the program has as many open */
    bool sharded, parts;
    enum zb_sync sync;
    enum zb_strategy strategy;
} course;

static void allow(const course *c, int descriptors) {
    struct rlimit limit;
    CHILD_CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0, "%s", c->what);
    limit.rlim_cur = descriptors ? (rlim_t)descriptors : limit.rlim_max;
    CHILD_CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0, "%s: %d", c->what, errno);
}

/* Opens or closes the program's other files. */
static void crowd(const course *c, bool open) {
    static int others[CROWD];
    for (int i = 0; i < CROWD && c->crowded; i++) {
        if (!open)
            close(others[i]);
        else
            others[i] = dup(STDIN_FILENO);
        CHILD_CHECK(others[i] >= 0, "%s: %d", c->what, errno);
    }
}

static zb_hierarchy *open_store(const course *c) {
    zb_hierarchy *hierarchy;
    zb_error err;
    MUST(zb_hierarchy_open(root, &hierarchy, &err), err);
    return hierarchy;
}

/* Full of 1. */
static void make_array(const course *c) {
    zb_hierarchy *hierarchy;
    zb_node *node;
    zb_writer *writer;
    zb_error err;
    int32_t one = 1;
    zb_array_spec spec = {.ndim = 1,
                          .shape = (uint64_t[]){COUNT},
                          .inner_shape = (uint64_t[]){c->sharded ? SIDE / 2 : SIDE},
                          .shard_shape = c->sharded ? (uint64_t[]){SIDE} : NULL,
                          .dtype = int_type,
                          .codecs = c->strategy == ZB_INPLACE ? "[{\"name\":\"crc32c\"}]" : NULL};
    zb_write write = {.data = &one, .dtype = int_type, .strides = (int64_t[]){0}};
    world_remove(root);
    MUST(zb_hierarchy_create(root, NULL, &hierarchy, &err), err);
    MUST(zb_array_create(hierarchy, "a", &spec, &node, &err), err);
    MUST(zb_writer_open(node, NULL, &writer, &err), err);
    MUST(zb_writer_write(writer, &write, &err), err);
    MUST(zb_writer_close(writer, &err), err);
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
}

/* Writes 2 to elements: to all, or to all but the last one of each chunk. */
static uint64_t length_of(const course *c) {
    return c->parts ? SIDE - 1 : SIDE;
}

static enum zb_code write_chunks(const course *c, zb_writer *writer, zb_error *err) {
    int32_t two = 2;
    enum zb_code code = ZB_OK;
    for (uint64_t i = 0; i < CHUNKS && code == ZB_OK; i++) {
        zb_write write = {.start = (uint64_t[]){i * SIDE},
                          .count = (uint64_t[]){length_of(c)},
                          .data = &two,
                          .dtype = int_type,
                          .strides = (int64_t[]){0}};
        code = zb_writer_write(writer, &write, err);
    }
    return code;
}

/* After a refused write, the result of the close does not count. */
static enum zb_code change_all(const course *c, zb_hierarchy *hierarchy, zb_error *err) {
    zb_node *node = NULL;
    zb_writer *writer = NULL;
    zb_write_options options = {.sync = c->sync, .strategy = c->strategy};
    enum zb_code code = zb_node_open(hierarchy, "a", &node, err);
    if (code == ZB_OK)
        code = zb_writer_open(node, &options, &writer, err);
    if (code == ZB_OK)
        code = write_chunks(c, writer, err);
    if (code == ZB_OK)
        code = zb_writer_close(writer, err);
    else
        zb_writer_abandon(writer);
    zb_node_release(node);
    return code;
}

static enum zb_code read_all(zb_hierarchy *hierarchy, int32_t *values, zb_error *err) {
    zb_node *node = NULL;
    enum zb_code code = zb_node_open(hierarchy, "a", &node, err);
    zb_read read = {.node = node, .view = {.data = values, .dtype = int_type}};
    if (code == ZB_OK)
        code = zb_array_read(&read, 1, err);
    zb_node_release(node);
    return code;
}

/* The number of changed chunks; each chunk is the old one or the new one. */
static int count_changed(const course *c, const int32_t *values) {
    int changed = 0;
    for (int i = 0; i < CHUNKS; i++) {
        const int32_t *chunk = values + i * SIDE;
        for (int j = 0; j < SIDE; j++) {
            int32_t new = j < (int)length_of(c) ? 2 : 1;
            CHILD_CHECK(chunk[j] == (chunk[0] == 2 ? new : 1), "%s: chunk %d holds %d at %d",
                        c->what, i, chunk[j], j);
        }
        changed += chunk[0] == 2;
    }
    return changed;
}

static int report(void *context, const zb_finding *finding) {
    (void)finding;
    ++*(int *)context;
    return 0;
}

static void walk(const course *c, zb_hierarchy *hierarchy) {
    zb_error err;
    int findings = 0;
    MUST(zb_hierarchy_verify(hierarchy, report, &findings, NULL, &err), err);
    CHILD_CHECK(findings == 0, "%s: %d findings", c->what, findings);
    MUST(zb_node_copy(hierarchy, "a", hierarchy, "b", &err), err);
    MUST(zb_node_delete(hierarchy, "b", &err), err);
}

static void work(void *context) {
    course *c = context;
    zb_error err;
    static int32_t values[COUNT];
    make_array(c);
    int before = check_descriptors();
    zb_hierarchy *hierarchy = open_store(c);
    zb_cache_clear();
    crowd(c, true);
    allow(c, c->descriptors + (c->crowded ? CROWD : 0));
    enum zb_code written = change_all(c, hierarchy, &err);
    zb_error why = err;
    enum zb_code read = read_all(hierarchy, values, &err);
    if (c->descriptors == ENOUGH) {
        CHILD_CHECK(written == ZB_OK, "%s: writing: %s", c->what, why.message);
        CHILD_CHECK(read == ZB_OK, "%s: reading: %s", c->what, err.message);
        walk(c, hierarchy);
    }
    if (read == ZB_OK)
        count_changed(c, values);
    CHILD_CHECK(read == ZB_OK || err.sys_errno == EMFILE, "%s: reading: %s", c->what, err.message);
    allow(c, 0);
    crowd(c, false);
    zb_hierarchy_release(hierarchy);
    CHILD_CHECK(check_descriptors() == before, "%s: descriptors stay open", c->what);
    hierarchy = open_store(c);
    MUST(read_all(hierarchy, values, &err), err);
    int changed = count_changed(c, values);
    CHILD_CHECK(written || changed == CHUNKS, "%s: %d chunks are stored", c->what, changed);
    CHILD_CHECK(!written || changed < CHUNKS, "%s: all is stored: %s", c->what, why.message);
    CHILD_CHECK(!written || why.sys_errno == EMFILE || written == ZB_ECONFLICT, "%s: %s", c->what,
                why.message);
    zb_hierarchy_release(hierarchy);
}

static void run(course c, int threads) {
    char width[8];
    snprintf(width, sizeof width, "%d", threads);
    snprintf(c.what, sizeof c.what, "%d descriptors%s, %d threads, %s%s, sync %d, strategy %d",
             c.descriptors, c.crowded ? " left" : "", threads, c.parts ? "parts of " : "",
             c.sharded ? "shards" : "chunks", (int)c.sync, (int)c.strategy);
    assert_true(check_in_child(work, &c, "ZARRBRIDGE_NUM_THREADS", width));
}

static void run_all(int descriptors, bool crowded, int threads) {
    for (int kind = 0; kind < 4; kind++)
        for (enum zb_sync sync = ZB_SYNC_NONE; sync <= ZB_SYNC_ALWAYS; sync++)
            run((course){.descriptors = descriptors,
                         .crowded = crowded,
                         .sharded = kind & 1,
                         .parts = kind & 2,
                         .sync = sync},
                threads);
    for (enum zb_strategy strategy = ZB_APPEND; strategy <= ZB_INPLACE; strategy++)
        run(
            (course){
                .descriptors = descriptors, .sharded = true, .parts = true, .strategy = strategy},
            threads);
}

static void sixty_four_are_enough(void **state) {
    (void)state;
    run_all(ENOUGH, false, 1);
    run_all(ENOUGH, false, 4);
    run_all(ENOUGH, true, 2);
}

static void with_fewer_errors_tell_the_truth(void **state) {
    (void)state;
    for (int descriptors = 8; descriptors < ENOUGH; descriptors += 8)
        run_all(descriptors, false, descriptors / 8 % 2 ? 1 : 3);
}

int main(void) {
    place = world_new_place();
    snprintf(root, sizeof root, "%s/store", place);
    const struct CMUnitTest tests[] = {cmocka_unit_test(sixty_four_are_enough),
                                       cmocka_unit_test(with_fewer_errors_tell_the_truth)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (!failed)
        check_remove_directory(place);
    return failed;
}
