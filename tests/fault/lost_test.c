/* SPDX-License-Identifier: MIT */
/*
 * Each writer is told of its own losses. Two writers use one store with sync=close, one after the
 * other in a fixed order or each in a thread of its own; one sync fails, each one in turn. A writer
 * that is told of no loss has everything in the store. A writer whose chunk could not be stored is
 * told, and no other writer in its place. When the data are written again, by another writer, the
 * loss is not reported again.
 *
 * Names and documents belong to no single writer: when a directory or a zarr.json could not be
 * synced, both may be told.
 */
#include <errno.h>
#include <pthread.h>

#include "scenarios.h"
#include "shim.h"
#include "zarrbridge/change.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/read.h"
#include "zarrbridge/write.h"

enum { PARTIES = 2, SIDE = 4, INNER = 2, MOST_CHUNKS = 100 };

/* The work of the two writers. */
typedef struct course {
    const char *name;
    int chunks;       /* of each party, which has every second one */
    bool parts;       /* the second one writes a part of its chunks, which are merged */
    bool same_array;  /* else one array for each */
    bool flush_store; /* the store as a whole is flushed before them */
    bool only_closes; /* the second one does not flush */
    bool threads;
} course;

/* More than 64 chunks do not wait: they go out while either of the two puts the next one. */
static const course plans[] = {
    {"few chunks", .chunks = 3},
    {"of one array", .chunks = 3, .same_array = true},
    {"closed", .chunks = 3, .same_array = true, .only_closes = true},
    {"flushed by a third", .chunks = 3, .same_array = true, .flush_store = true},
    {"merged", .chunks = 3, .same_array = true, .parts = true},
    {"many chunks", .chunks = 40, .same_array = true, .only_closes = true},
    {"many chunks of two arrays", .chunks = 40},
    {"in threads", .chunks = 5, .same_array = true, .threads = true},
    {"many in threads", .chunks = 40, .threads = true},
    {"merged in threads", .chunks = 5, .same_array = true, .parts = true, .threads = true},
};

typedef struct party {
    int number;
    const course *plan;
    const char *path;
    zb_writer *writer;
    enum zb_code code; /* the first error that any call reported to it */
    zb_error told;
} party;

static char *place;
static char root[256];
static int points, told_of_chunks, told_of_names;

static const zb_dtype int_type = {.kind = ZB_KIND_INT, .size = 4};

static zb_node *create(zb_hierarchy *hierarchy, const char *path) {
    zb_array_spec spec = {.ndim = 1,
                          .shape = (uint64_t[]){MOST_CHUNKS * SIDE},
                          .inner_shape = (uint64_t[]){INNER},
                          .shard_shape = (uint64_t[]){SIDE},
                          .dtype = int_type,
                          .codecs = "[]"};
    zb_node *node;
    zb_error err;
    ASSERT_OK(zb_array_create(hierarchy, path, &spec, &node, &err), err);
    return node;
}

/* ---- A party's work ----------------------------------------------------------------------- */

static uint64_t chunk_of(const party *p, int i) {
    return (uint64_t)(p->plan->same_array ? 2 * i + p->number : i);
}

static uint64_t length_of(const party *p) {
    return p->plan->parts && p->number == 1 ? SIDE - 1 : SIDE;
}

static int32_t value_of(const party *p, int i) {
    return 1000 * (p->number + 1) + i;
}

static void note(party *p, enum zb_code code, const zb_error *err) {
    if (code == ZB_OK || p->code != ZB_OK)
        return;
    p->code = code;
    p->told = *err;
}

static enum zb_code put_chunk(const party *p, zb_writer *writer, int i, zb_error *err) {
    uint64_t start = chunk_of(p, i) * SIDE, count = length_of(p);
    int32_t value = value_of(p, i);
    zb_write write = {.start = &start,
                      .count = &count,
                      .data = &value,
                      .dtype = int_type,
                      .strides = (int64_t[]){0}};
    return zb_writer_write(writer, &write, err);
}

/* A program that was refused once writes no more, but asks for its flush. */
static void write_chunk(party *p, int i) {
    zb_error err;
    if (p->code == ZB_OK)
        note(p, put_chunk(p, p->writer, i, &err), &err);
}

static void finish(party *p) {
    zb_error err;
    bool was_told = p->code != ZB_OK;
    if (!p->plan->only_closes || p->number == 0) {
        enum zb_code code = zb_writer_flush(p->writer, &err);
        if (was_told && code == ZB_OK && !p->plan->parts)
            fail_msg("%s: the flush does not know what the write has told", p->plan->name);
        note(p, code, &err);
    }
    note(p, zb_writer_close(p->writer, &err), &err);
    p->writer = NULL;
}

static void *run_party(void *context) {
    party *p = context;
    for (int i = 0; i < p->plan->chunks; i++)
        write_chunk(p, i);
    finish(p);
    return NULL;
}

static void run_parties(zb_hierarchy *hierarchy, party *parties) {
    const course *plan = parties->plan;
    pthread_t thread[PARTIES];
    zb_error err;
    for (int i = 0; i < PARTIES && plan->threads; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, run_party, &parties[i]), 0);
    for (int i = 0; i < PARTIES && plan->threads; i++)
        pthread_join(thread[i], NULL);
    if (plan->threads)
        return;
    for (int i = 0; i < plan->chunks; i++)
        for (int p = 0; p < PARTIES; p++)
            write_chunk(&parties[p], i);
    if (plan->flush_store) /* it lost nothing, or only by asking for the flush */
        (void)zb_hierarchy_flush(hierarchy, &err);
    for (int p = 0; p < PARTIES; p++)
        finish(&parties[p]);
}

/* ---- Outcomes ----------------------------------------------------------------------------- */

/* The view of a new process: the number of the party's chunks that are stored as written; the
   others have to be the old ones. */
static int count_stored(const party *p, const char *what) {
    static int32_t values[MOST_CHUNKS * SIDE];
    zb_hierarchy *hierarchy;
    zb_node *node;
    zb_error err;
    int stored = 0;
    zb_cache_clear();
    ASSERT_OK(zb_hierarchy_open(root, &hierarchy, &err), err);
    ASSERT_OK(zb_node_open(hierarchy, p->path, &node, &err), err);
    zb_read read = {.node = node, .view = {.data = values, .dtype = int_type}};
    ASSERT_OK(zb_array_read(&read, 1, &err), err);
    for (int i = 0; i < p->plan->chunks; i++) {
        const int32_t *chunk = values + chunk_of(p, i) * SIDE;
        int new = 0, old = 0;
        for (uint64_t j = 0; j < length_of(p); j++) {
            new += chunk[j] == value_of(p, i);
            old += chunk[j] == 0;
        }
        if (new != (int)length_of(p) && old != (int)length_of(p))
            fail_msg("%s: chunk %d of party %d is neither old nor new", what, i, p->number);
        stored += new > 0;
    }
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
    return stored;
}

/* Whether the message names one of the party's chunks. */
static bool names_own_chunk(const party *p) {
    char key[40];
    for (int i = 0; i < p->plan->chunks; i++) {
        snprintf(key, sizeof key, "'%s/c/%d'", p->path, (int)chunk_of(p, i));
        if (strstr(p->told.message, key))
            return true;
    }
    return false;
}

static void check_party(const party *p, const char *what) {
    int stored = count_stored(p, what);
    if (p->code == ZB_OK && stored < p->plan->chunks)
        fail_msg("%s: party %d lost %d chunks and was told nothing", what, p->number,
                 p->plan->chunks - stored);
    if (p->code == ZB_OK)
        return;
    bool names = strstr(p->told.message, "directory") || strstr(p->told.message, "zarr.json'");
    told_of_names += names;
    told_of_chunks += !names;
    if (p->code != ZB_EIO || p->told.sys_errno != EIO)
        fail_msg("%s: %s: %s", what, zb_code_name(p->code), p->told.message);
    if (!names && !names_own_chunk(p))
        fail_msg("%s: party %d is told of another's loss: %s", what, p->number, p->told.message);
    /* Parts that are to be merged wait in memory, and the close stores them. */
    if (!names && stored == p->plan->chunks && length_of(p) == SIDE)
        fail_msg("%s: party %d lost nothing and is told: %s", what, p->number, p->told.message);
}

/* The failure is over and told: another writer on the same store is not told again. */
static void write_again(zb_node *const *nodes, const party *p, const char *what) {
    zb_writer *writer;
    zb_error err;
    zb_write_options options = {.sync = ZB_SYNC_CLOSE};
    ASSERT_OK(zb_writer_open(nodes[p->number], &options, &writer, &err), err);
    for (int i = 0; i < p->plan->chunks; i++)
        ASSERT_OK(put_chunk(p, writer, i, &err), err);
    ASSERT_OK(zb_writer_flush(writer, &err), err);
    ASSERT_OK(zb_writer_close(writer, &err), err);
    assert_int_equal(count_stored(p, what), p->plan->chunks);
}

/* Returns the number of syncs. */
static uint64_t run_point(const course *plan, uint64_t nth) {
    zb_hierarchy *hierarchy;
    zb_node *nodes[PARTIES];
    party parties[PARTIES];
    zb_error err;
    char what[80];
    zb_write_options options = {.sync = ZB_SYNC_CLOSE};
    snprintf(what, sizeof what, "%s, sync %d fails", plan->name, (int)nth);
    world_remove(root);
    ASSERT_OK(zb_hierarchy_create(root, NULL, &hierarchy, &err), err);
    nodes[0] = create(hierarchy, "a");
    nodes[1] = plan->same_array ? zb_node_retain(nodes[0]) : create(hierarchy, "b");
    for (int i = 0; i < PARTIES; i++) {
        parties[i] =
            (party){.number = i, .plan = plan, .path = plan->same_array || i == 0 ? "a" : "b"};
        ASSERT_OK(zb_writer_open(nodes[i], &options, &parties[i].writer, &err), err);
    }
    shim_begin(SHIM_FAIL_SYNC, nth, EIO, root);
    run_parties(hierarchy, parties);
    uint64_t syncs = shim_end();
    bool told = false;
    for (int i = 0; i < PARTIES; i++) {
        check_party(&parties[i], what);
        told = told || parties[i].code != ZB_OK;
    }
    /* A merge makes its object a second time, from memory: nothing is lost then. */
    bool may_mend = plan->parts && !told;
    if (told != (shim_struck() > 0) && !may_mend)
        fail_msg("%s: %s", what, told ? "nothing failed and somebody is told" : "nobody is told");
    for (int i = 0; i < PARTIES; i++)
        write_again(nodes, &parties[i], what);
    for (int i = 0; i < PARTIES; i++)
        zb_node_release(nodes[i]);
    zb_hierarchy_release(hierarchy);
    points++;
    return syncs;
}

static void each_hears_of_its_own(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        uint64_t syncs = run_point(&plans[i], UINT64_MAX);
        assert_true(syncs >= (uint64_t)(PARTIES * plans[i].chunks)); /* else they are not caught */
        for (uint64_t nth = 1; nth <= syncs; nth++)
            run_point(&plans[i], nth);
        print_message("%s: %d syncs\n", plans[i].name, (int)syncs);
    }
    print_message("%d points, %d told of chunks, %d of names\n", points, told_of_chunks,
                  told_of_names);
    assert_true(told_of_chunks > points / 2 && told_of_names > 0);
}

int main(void) {
    place = world_new_place();
    snprintf(root, sizeof root, "%s/store", place);
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_hears_of_its_own)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (!failed)
        check_remove_directory(place);
    return failed;
}
