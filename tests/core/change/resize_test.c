/* SPDX-License-Identifier: MIT */
/*
 * Resizing: in any order of steps, an element reads as the value that was written last while it was
 * inside the array without a break since, otherwise as the fill value. Chunks that no element of
 * the array lies in are gone.
 */
#include <pthread.h>
#include <unistd.h>

#include "support/store.h"
#include "support/wrappers.h"

#include "node/walk.h"
#include "zarrbridge/change.h"
#include "zarrbridge/read.h"
#include "zarrbridge/sys/store.h"
#include "zarrbridge/write.h"

#define MARKER "a/.zarrbridge-resize"

/* All elements within rows x columns are `inside`, the others 7, the fill value. */
static void expect(const zb_node *node, uint64_t rows, uint64_t columns, int16_t inside) {
    const uint64_t *shape = zb_node_array(node)->shape;
    int16_t *data = malloc(shape[0] * shape[1] * sizeof *data + 1);
    zb_error err;
    zb_read read = {.node = node, .view = {.data = data, .dtype = zb_node_array(node)->dtype}};
    ASSERT_OK(zb_array_read(&read, 1, &err), err);
    for (uint64_t y = 0; y < shape[0]; y++) {
        for (uint64_t x = 0; x < shape[1]; x++) {
            int16_t expected = y < rows && x < columns ? inside : 7;
            if (data[y * shape[1] + x] != expected)
                fail_msg("element %d, %d is %d, expected %d", (int)y, (int)x,
                         data[y * shape[1] + x], expected);
        }
    }
    free(data);
}

static enum zb_code count_chunk(void *context, const char *key, const uint64_t *index,
                                zb_error *err) {
    (void)key, (void)index, (void)err;
    ++*(size_t *)context;
    return ZB_OK;
}

static size_t count_chunks(const zb_node *node) {
    size_t count = 0;
    zb_error err;
    ASSERT_OK(zb__chunks_each(node, count_chunk, &count, &err), err);
    return count;
}

static const zb_array_spec *variants(size_t i) {
    static const uint64_t shards[] = {8, 10};
    static zb_array_spec spec;
    spec = store_spec;
    if (i == 1)
        spec.shard_shape = shards;
    if (i == 2)
        spec.separator = '.';
    if (i == 3)
        spec.codecs = NULL;
    return i < 4 ? &spec : NULL;
}

static void test_shrink_and_grow(void **state) {
    (void)state;
    for (size_t i = 0; variants(i); i++) {
        zb_hierarchy *hierarchy = store_new();
        zb_node *node;
        zb_error err;
        ASSERT_OK(zb_array_create(hierarchy, "a", variants(i), &node, &err), err);
        store_write_all(node, 3);
        node = store_resize(node, 6, 20);
        expect(node, 6, 20, 3);
        node = store_resize(node, 10, 20);
        expect(node, 6, 20, 3);
        node = store_resize(node, 10, 7); /* the other dimension, within a chunk */
        node = store_resize(node, 30, 30);
        expect(node, 6, 7, 3);
        store_expect(hierarchy, MARKER, NULL);
        node = store_resize(node, 0, 5);
        assert_int_equal(count_chunks(node), 0);
        node = store_resize(node, 10, 20);
        expect(node, 0, 0, 3);
        zb_node_release(node);
        zb_hierarchy_release(hierarchy);
    }
}

/* Chunks beyond the edge are erased, those that became all fill as well. */
static void test_chunks_go(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = store_new();
    zb_node *node = store_array(hierarchy, "a");
    store_write_all(node, 3);
    assert_int_equal(count_chunks(node), 12);
    node = store_resize(node, 5, 10);
    assert_int_equal(count_chunks(node), 4);
    node = store_resize(node, 4, 10);
    assert_int_equal(count_chunks(node), 2);
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
}

/* A grid of 2^60 chunks: only those that exist are looked at. */
static void test_sparse(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = store_new();
    zb_node *node;
    zb_error err;
    zb_array_spec spec = store_spec;
    spec.shape = (const uint64_t[]){UINT64_C(1) << 31, UINT64_C(1) << 30};
    spec.inner_shape = (const uint64_t[]){1, 2};
    ASSERT_OK(zb_array_create(hierarchy, "a", &spec, &node, &err), err);
    store_set(hierarchy, "a/c/5/7", "abcd");
    store_set(hierarchy, "a/c/2000000000/7", "abcd");
    node = store_resize(node, 1000, 15);
    store_expect(hierarchy, "a/c/2000000000/7", NULL);
    char *cut = store_text(hierarchy, "a/c/5/7");
    assert_memory_equal(cut, "ab\x07", 4); /* the second element is the fill value now */
    free(cut);
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
}

/* A process was killed after it had put the document: the next resize finishes its work. */
static void test_unfinished(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = store_new();
    zb_node *node = store_array(hierarchy, "a");
    zb_error err;
    store_write_all(node, 3);
    zb_node *small;
    zb_hierarchy *fault;
    ASSERT_OK(wrap(zb_store_new_fault, hierarchy, &fault, &err), err);
    zb_node *through;
    ASSERT_OK(zb_node_open(fault, "a", &through, &err), err);
    bool seen = false;
    for (uint64_t nth = 1; !seen; nth++) {
        zb_store_fault_set(zb_hierarchy_store(fault), nth);
        enum zb_code code = zb_array_resize(through, (const uint64_t[]){6, 9}, &small, &err);
        zb_store_fault_set(zb_hierarchy_store(fault), 0);
        seen = code == ZB_OK;
        if (!seen) {
            zb_node *now;
            ASSERT_OK(zb_node_open(hierarchy, "a", &now, &err), err);
            /* Old or new, and complete as seen through its shape. */
            bool old = zb_node_array(now)->shape[0] == 10;
            expect(now, old ? 10 : 6, old ? 20 : 9, 3);
            now = store_resize(now, 10, 20);
            expect(now, old ? 10 : 6, old ? 20 : 9, 3);
            store_expect(hierarchy, MARKER, NULL);
            store_write_all(now, 3);
            zb_node_release(now);
        }
    }
    zb_node *again;
    ASSERT_FAILS(zb_array_resize(node, (const uint64_t[]){11, 20}, &again, &err), ZB_ECONFLICT, err,
                 "shape has changed"); /* the old node's shape is not the current one */
    ASSERT_OK(zb_node_refresh(node, &again, &err), err);
    again = store_resize(again, 10, 20);
    expect(again, 6, 9, 3);
    zb_node_release(again);
    zb_node_release(small);
    zb_node_release(through);
    zb_hierarchy_release(fault);
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
}

/* Growing asks for the chunks on the edge and behind it, and touches none that is as it should be.
   Chunks in the middle are not looked at. */
static void test_growing_is_cheap(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = store_new(), *count;
    zb_error err;
    zb_node *node = store_array(hierarchy, "a"), *through;
    store_write_all(node, 3);
    ASSERT_OK(wrap(zb_store_new_count, hierarchy, &count, &err), err);
    ASSERT_OK(zb_node_open(count, "a", &through, &err), err);
    zb_store_count_take(zb_hierarchy_store(count));
    through = store_resize(through, 1000, 20);
    zb_store_counts counts = zb_store_count_take(zb_hierarchy_store(count));
    assert_int_equal(counts.lists, 0);
    assert_int_equal(counts.puts, 1);
    assert_int_equal(counts.erases, 0);
    zb_node_release(through);
    zb_hierarchy_release(count);
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
}

/* What growing has read beyond the edge is read again only where a chunk has changed since. */
static void test_a_clean_edge_is_read_once(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = store_new(), *count;
    zb_error err;
    zb_node *node = store_array(hierarchy, "a"), *through;
    store_write_all(node, 3);
    ASSERT_OK(wrap(zb_store_new_count, hierarchy, &count, &err), err);
    ASSERT_OK(zb_node_open(count, "a", &through, &err), err);
    through = store_resize(through, 9, 20);
    uint64_t opens[3];
    for (uint64_t i = 0; i < 3; i++) {
        zb_store_count_take(zb_hierarchy_store(count));
        through = store_resize(through, 10 + i, 20);
        opens[i] = zb_store_count_take(zb_hierarchy_store(count)).opens;
    }
    assert_true(opens[1] < opens[0]);
    assert_int_equal(opens[2], opens[1]);
    expect(through, 9, 20, 3);
    zb_node_release(through);
    ASSERT_OK(zb_node_open(count, "a", &through, &err), err);
    through = store_resize(through, 9, 20);
    through = store_resize(through, 10, 20);
    /* Another program puts a chunk with elements beyond the edge. */
    store_set(hierarchy, "a/c/2/0", "abcdefghijabcdefghijabcdefghijabcdefghij");
    through = store_resize(through, 11, 20);
    char *chunk = store_text(hierarchy, "a/c/2/0");
    assert_memory_equal(chunk, "abcdefghijabcdefghij\x07\0\x07", 23);
    free(chunk);
    zb_node_release(through);
    zb_hierarchy_release(count);
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
}

/* Three characters in place of the number of rows, in the document alone. */
static void set_rows(zb_hierarchy *hierarchy, const char *rows) {
    char *text = store_text(hierarchy, "a/zarr.json"), *shape = strstr(text, "10,");
    assert_non_null(shape);
    memcpy(shape, rows, 3);
    store_set(hierarchy, "a/zarr.json", text);
    free(text);
}

/* Values that other programs leave beyond the edge do not become elements when the array grows:
   padding of chunks on the edge, and whole chunks behind it. */
static void test_foreign_padding(void **state) {
    (void)state;
    for (size_t i = 0; variants(i); i++) {
        zb_hierarchy *hierarchy = store_new();
        zb_node *big, *small;
        zb_error err;
        ASSERT_OK(zb_array_create(hierarchy, "a", variants(i), &big, &err), err);
        store_write_all(big, 3);
        /* As zarr-python shrinks: another shape in the document, and some chunks fewer or none. */
        set_rows(hierarchy, " 6,");
        ASSERT_OK(zb_node_open(hierarchy, "a", &small, &err), err);
        expect(small, 6, 20, 3);
        small = store_resize(small, 9, 20);
        expect(small, 6, 20, 3);
        store_write_all(small, 4);
        small = store_resize(small, 30, 20);
        expect(small, 9, 20, 4);
        zb_node_release(small);
        zb_node_release(big);
        zb_hierarchy_release(hierarchy);
    }
}

/* Any call of the store may fail, or be the last one of a process that is killed: what was inside
   stays, and growing again finds no old elements. */
static void test_foreign_padding_interrupted(void **state) {
    (void)state;
    bool failed = true;
    int places = 0;
    for (uint64_t nth = 1; failed; nth++) {
        zb_hierarchy *hierarchy = store_new(), *fault;
        zb_node *big, *small, *grown = NULL;
        zb_error err;
        ASSERT_OK(zb_array_create(hierarchy, "a", variants(1), &big, &err), err);
        store_write_all(big, 3);
        set_rows(hierarchy, " 6,");
        ASSERT_OK(wrap(zb_store_new_fault, hierarchy, &fault, &err), err);
        ASSERT_OK(zb_node_open(fault, "a", &small, &err), err);
        zb_store_fault_from(zb_hierarchy_store(fault), nth);
        failed = zb_array_resize(small, (const uint64_t[]){30, 20}, &grown, &err) != ZB_OK;
        places += failed;
        zb_node_release(failed ? NULL : grown);
        zb_node_release(small);
        zb_hierarchy_release(fault);
        ASSERT_OK(zb_node_open(hierarchy, "a", &small, &err), err);
        expect(small, 6, 20, 3);
        small = store_resize(small, 30, 20);
        expect(small, 6, 20, 3);
        zb_node_release(small);
        zb_node_release(big);
        zb_hierarchy_release(hierarchy);
    }
    assert_true(places > 10);
}

/* Behind an edge that is large, in many chunks: the same, by listing. */
static void test_foreign_chunks(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = store_new();
    zb_node *node;
    zb_error err;
    zb_array_spec spec = store_spec;
    spec.shape = (const uint64_t[]){3, UINT64_C(1) << 40};
    spec.inner_shape = (const uint64_t[]){2, 2};
    ASSERT_OK(zb_array_create(hierarchy, "a", &spec, &node, &err), err);
    store_set(hierarchy, "a/c/0/7", "abcdefgh");
    store_set(hierarchy, "a/c/1/7", "abcdefgh");
    store_set(hierarchy, "a/c/2/9", "abcdefgh");
    store_set(hierarchy, "a/c/9/9", "abcdefgh");
    zb_node *grown;
    ASSERT_OK(zb_array_resize(node, (const uint64_t[]){8, UINT64_C(1) << 40}, &grown, &err), err);
    store_expect(hierarchy, "a/c/0/7", "abcdefgh");
    char *edge = store_text(hierarchy, "a/c/1/7");
    assert_memory_equal(edge, "abcd\x07", 6); /* its second row is fill now */
    free(edge);
    store_expect(hierarchy, "a/c/2/9", NULL);
    store_expect(hierarchy, "a/c/9/9", "abcdefgh"); /* still outside */
    zb_node_release(grown);
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
}

/* ---- Writers at the same time ---- */

/* A writer that has looked at the document, and makes its chunk visible when another thread waits
   for it. */
typedef struct late_writer {
    zb_hierarchy *store;
    const char *key;
    zb_lock *lock;
    atomic_int other;
} late_writer;

static void *put_late(void *context) {
    const late_writer *late = context;
    assert_true(check_await_sleep(&late->other));
    store_set(late->store, late->key, "abcd");
    zb_store_unlock(late->lock);
    return NULL;
}

static void shrink_beside_a_writer(zb_hierarchy *hierarchy, const char *path, uint64_t columns,
                                   const char *key) {
    late_writer late = {.store = hierarchy, .key = key, .other = gettid()};
    pthread_t thread;
    zb_node *node;
    zb_error err;
    zb_array_spec spec = store_spec;
    spec.shape = (const uint64_t[]){8, columns};
    spec.inner_shape = (const uint64_t[]){1, 2};
    ASSERT_OK(zb_array_create(hierarchy, path, &spec, &node, &err), err);
    store_set(hierarchy, key, "wxyz");
    /* its directory stays */
    ASSERT_OK(zb_store_erase(zb_hierarchy_store(hierarchy), key, &err), err);
    ASSERT_OK(zb_store_lock(zb_hierarchy_store(hierarchy), key, &late.lock, &err), err);
    assert_int_equal(pthread_create(&thread, NULL, put_late, &late), 0);
    node = store_resize(node, 2, 3);
    pthread_join(thread, NULL);
    store_expect(hierarchy, key, NULL);
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
}

/* Whether chunks are asked for one by one or listed, shrinking waits for the writer; and not for
   the lock of the hierarchy, which it holds itself. */
static void test_writer_at_the_same_time(void **state) {
    (void)state;
    static const uint64_t columns[] = {6, 1 << 20};
    static const char *const paths[] = {"a", ""}, *const keys[] = {"a/c/5/2", "c/5/2"};
    for (int i = 0; i < 4; i++) {
        char *root = check_new_directory();
        zb_hierarchy *hierarchy, *empty;
        zb_error err;
        ASSERT_OK(zb_hierarchy_new_mem("mem", &empty, &err), err);
        shrink_beside_a_writer(empty, paths[i / 2], columns[i % 2], keys[i / 2]);
        ASSERT_OK(zb_hierarchy_open(root, &hierarchy, &err), err);
        shrink_beside_a_writer(hierarchy, paths[i / 2], columns[i % 2], keys[i / 2]);
        check_remove_directory(root);
    }
}

static void test_refused(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = store_new();
    zb_error err;
    zb_node *group = store_group(hierarchy, "g", NULL), *node = store_array(hierarchy, "a"), *out;
    ASSERT_FAILS(zb_array_resize(group, (const uint64_t[]){1, 1}, &out, &err), ZB_EINVAL, err,
                 "group");
    ASSERT_FAILS(zb_array_resize(node, (const uint64_t[]){UINT64_MAX, 1}, &out, &err), ZB_ELIMIT,
                 err, "shape[0]");
    ASSERT_OK(zb_node_delete(hierarchy, "a", &err), err);
    ASSERT_FAILS(zb_array_resize(node, (const uint64_t[]){1, 1}, &out, &err), ZB_ECONFLICT, err,
                 "/a has been deleted");
    zb_node_release(store_group(hierarchy, "a", NULL));
    ASSERT_FAILS(zb_array_resize(node, (const uint64_t[]){1, 1}, &out, &err), ZB_ECONFLICT, err,
                 "another node");
    zb_node_release(group);
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
}

/* Programs that know other shapes: the array gets what each needs, and the elements stay. */
static void test_extending_keeps_what_others_have_added(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = store_new();
    zb_node *node = store_array(hierarchy, "a"), *longer, *grown;
    zb_error err;
    ASSERT_OK(zb_array_extend(node, (const uint64_t[]){14, 5}, &longer, &err), err);
    assert_int_equal(zb_node_array(longer)->shape[0], 14);
    assert_int_equal(zb_node_array(longer)->shape[1], 20);
    store_write_all(longer, 3);
    ASSERT_OK(zb_array_extend(node, (const uint64_t[]){12, 30}, &grown, &err), err);
    assert_int_equal(zb_node_array(grown)->shape[0], 14);
    assert_int_equal(zb_node_array(grown)->shape[1], 30);
    expect(grown, 14, 20, 3);
    zb_node_release(grown);
    ASSERT_OK(zb_array_extend(node, (const uint64_t[]){1, 1}, &grown, &err), err);
    assert_int_equal(zb_node_array(grown)->shape[1], 30);
    zb_node_release(grown);
    zb_node_release(longer);
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_extending_keeps_what_others_have_added),
        cmocka_unit_test(test_shrink_and_grow),
        cmocka_unit_test(test_chunks_go),
        cmocka_unit_test(test_sparse),
        cmocka_unit_test(test_unfinished),
        cmocka_unit_test(test_growing_is_cheap),
        cmocka_unit_test(test_a_clean_edge_is_read_once),
        cmocka_unit_test(test_writer_at_the_same_time),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_foreign_padding),
        cmocka_unit_test(test_foreign_chunks),
        cmocka_unit_test(test_foreign_padding_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
