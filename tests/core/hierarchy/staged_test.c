/* SPDX-License-Identifier: MIT */
/* Staged documents over a store in memory: the same changes lead to the same hierarchy at once, and
   to the same store when they are committed. tests/remote/test_s3_staged.py has them in S3, with
   kills and other programs. */
#include "change/new_store.h"
#include "hierarchy/staged.h"
#include "support/store.h"
#include "zarrbridge/sys/hierarchy.h"

/* ---- Calls that are watched ---- */

/* One put or erase of this key: what another program does by then, or a failure. Each is once. */
static struct {
    const char *key;
    void (*before)(zb_hierarchy *inner), (*after)(zb_hierarchy *inner);
    zb_hierarchy *inner;
    bool fails, loses_answer; /* it is not carried out; or it is */
} next_put, next_erase;

enum zb_code __real_zb_store_put(zb_store *store, const char *key, const zb_part *parts,
                                 size_t count, enum zb_sync sync, zb_error *err);
enum zb_code __wrap_zb_store_put(zb_store *store, const char *key, const zb_part *parts,
                                 size_t count, enum zb_sync sync, zb_error *err);
enum zb_code __wrap_zb_store_put(zb_store *store, const char *key, const zb_part *parts,
                                 size_t count, enum zb_sync sync, zb_error *err) {
    if (!next_put.key || strcmp(key, next_put.key) != 0 ||
        store != zb_hierarchy_store(next_put.inner))
        return __real_zb_store_put(store, key, parts, count, sync, err);
    next_put.key = NULL;
    if (next_put.before)
        next_put.before(next_put.inner);
    if (next_put.fails)
        return zb_fail(err, ZB_EIO, "the service is away");
    enum zb_code code = __real_zb_store_put(store, key, parts, count, sync, err);
    if (next_put.after)
        next_put.after(next_put.inner);
    return next_put.loses_answer ? zb_fail(err, ZB_EIO, "no answer") : code;
}

enum zb_code __real_zb_store_erase_as(zb_store *store, const zb_erase *erase, zb_error *err);
enum zb_code __wrap_zb_store_erase_as(zb_store *store, const zb_erase *erase, zb_error *err);
enum zb_code __wrap_zb_store_erase_as(zb_store *store, const zb_erase *erase, zb_error *err) {
    if (!next_erase.key || strcmp(erase->key, next_erase.key) != 0 ||
        store != zb_hierarchy_store(next_erase.inner))
        return __real_zb_store_erase_as(store, erase, err);
    next_erase.key = NULL;
    enum zb_code code = next_erase.fails ? ZB_OK : __real_zb_store_erase_as(store, erase, err);
    return code ? code : zb_fail(err, ZB_EIO, "no answer");
}

/* ---- Hierarchies ---- */

static zb_hierarchy *begin(zb_hierarchy *inner) {
    zb_hierarchy *staging;
    zb_error err;
    ASSERT_OK(zb__new_store_over(zb_store_retain(zb_hierarchy_store(inner)), &staging, &err), err);
    assert_true(zb__is_staging(staging));
    return staging;
}

static void expect_same(zb_hierarchy *hierarchy, zb_hierarchy *plain) {
    char *text = store_dump(hierarchy), *right = store_dump(plain);
    assert_string_equal(text, right);
    free(right);
    free(text);
}

static void fill(zb_hierarchy *hierarchy, const char *path) {
    zb_node *node = store_array(hierarchy, path);
    store_write_all(node, 3);
    zb_node_release(node);
}

static void erase(zb_hierarchy *hierarchy, const char *path) {
    zb_error err;
    ASSERT_OK(zb_node_delete(hierarchy, path, &err), err);
}

static void make(zb_hierarchy *hierarchy) {
    zb_node_release(store_group(hierarchy, "", "{\"k\":1}"));
    fill(hierarchy, "a");
    fill(hierarchy, "g/b");
    fill(hierarchy, "g/h/c");
}

static void erase_some(zb_hierarchy *hierarchy) {
    make(hierarchy);
    erase(hierarchy, "g/b");
    erase(hierarchy, "a");
    fill(hierarchy, "a");
}

static void erase_group(zb_hierarchy *hierarchy) {
    make(hierarchy);
    erase(hierarchy, "g");
    fill(hierarchy, "g/b");
}

static void erase_all(zb_hierarchy *hierarchy) {
    make(hierarchy);
    erase(hierarchy, "");
    fill(hierarchy, "z");
}

static void move(zb_hierarchy *hierarchy) {
    zb_error err;
    make(hierarchy);
    ASSERT_OK(zb_node_move(hierarchy, "g", "m", &err), err);
    ASSERT_OK(zb_node_copy(hierarchy, "m/h", hierarchy, "n", &err), err);
    erase(hierarchy, "m/h");
}

static void change(zb_hierarchy *hierarchy) {
    zb_error err;
    zb_node *node, *changed;
    make(hierarchy);
    ASSERT_OK(zb_node_open(hierarchy, "a", &node, &err), err);
    ASSERT_OK(zb_node_set_attribute(node, "unit", "\"K\"", &changed, &err), err);
    zb_node_release(node);
    zb_node_release(store_resize(changed, 6, 20));
    store_consolidate(hierarchy);
    fill(hierarchy, "late");
    ASSERT_OK(zb_hierarchy_write_back(hierarchy, &err), err);
}

static void an_array_is_the_root(zb_hierarchy *hierarchy) {
    fill(hierarchy, "");
}

static void the_same_comes_of_it(void **state) {
    (void)state;
    static void (*const all[])(zb_hierarchy *) = {
        make, erase_some, erase_group, erase_all, change, move, an_array_is_the_root};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        zb_error err;
        zb_hierarchy *plain = store_new(), *inner = store_new(), *staging = begin(inner);
        all[i](plain);
        all[i](staging);
        char *below = store_dump(inner);
        assert_null(strstr(below, "zarr.json"));
        free(below);
        expect_same(staging, plain);
        ASSERT_OK(zb_hierarchy_commit(staging, &err), err);
        expect_same(inner, plain);
        expect_same(staging, plain);
        const char *after = all[i] == an_array_is_the_root ? "" : "g2/after";
        if (!*after) {
            erase(staging, "");
            erase(plain, "");
        }
        fill(staging, after);
        fill(plain, after);
        ASSERT_OK(zb_hierarchy_write_back(staging, &err), err);
        ASSERT_OK(zb_hierarchy_write_back(plain, &err), err);
        expect_same(inner, plain);
        zb_hierarchy_release(staging);
        zb_hierarchy_release(inner);
        zb_hierarchy_release(plain);
    }
}

static void one_that_was_given_up_leaves_nothing(void **state) {
    (void)state;
    zb_hierarchy *inner = store_new(), *staging = begin(inner);
    make(staging);
    erase(staging, "");
    zb_hierarchy_release(staging);
    char *text = store_dump(inner);
    assert_string_equal(text, "");
    free(text);
    zb_hierarchy_release(inner);
}

static void a_store_that_is_there_gets_none(void **state) {
    (void)state;
    zb_error err;
    zb_hierarchy *inner = store_new(), *same;
    zb_store *store = zb_hierarchy_store(inner);
    make(inner);
    ASSERT_OK(zb__new_store_over(zb_store_retain(store), &same, &err), err);
    assert_false(zb__is_staging(same));
    zb_hierarchy_release(same);
    store_set(inner, ".zarrbridge-copy", ""); /* left behind the last document */
    ASSERT_OK(zb__new_store_over(zb_store_retain(store), &same, &err), err);
    assert_false(zb__is_staging(same));
    zb_hierarchy_release(same);
    zb_hierarchy_release(inner);
}

static void what_a_killed_program_has_left_goes(void **state) {
    (void)state;
    zb_error err;
    zb_hierarchy *plain = store_new(), *inner = store_new();
    make(plain);
    store_set(inner, ".zarrbridge-copy", "");
    zb_node_release(store_group(inner, "old", NULL)); /* its root's document had not come yet */
    ASSERT_OK(zb_store_erase(zb_hierarchy_store(inner), "zarr.json", &err), err);
    store_set(inner, "a/c/0/0", "chunk");
    store_set(inner, ".zarrbridge-copy", "");
    zb_hierarchy *staging = begin(inner);
    make(staging);
    ASSERT_OK(zb_hierarchy_commit(staging, &err), err);
    expect_same(inner, plain);
    zb_hierarchy_release(staging);
    zb_hierarchy_release(inner);
    zb_hierarchy_release(plain);
}

/* One that has made a store there meanwhile, and is done: its note has gone. */
static void what_another_program_has_made_stays(void **state) {
    (void)state;
    zb_error err;
    zb_hierarchy *inner = store_new(), *staging = begin(inner);
    make(staging);
    ASSERT_OK(zb_store_erase(zb_hierarchy_store(inner), ".zarrbridge-copy", &err), err);
    store_set(inner, "g/b/c/0/0", "theirs");
    ASSERT_FAILS(zb_node_delete(staging, "g", &err), ZB_ECONFLICT, err, "another program");
    ASSERT_FAILS(zb_hierarchy_commit(staging, &err), ZB_ECONFLICT, err, "another program");
    zb_hierarchy_release(staging);
    store_expect(inner, "g/b/c/0/0", "theirs");
    store_expect(inner, "zarr.json", NULL);
    zb_hierarchy_release(inner);
}

/* ---- Two programs ---- */

#define MARKER ".zarrbridge-copy"

static void expect_lost(zb_hierarchy *hierarchy) {
    zb_error err;
    ASSERT_FAILS(zb_hierarchy_commit(hierarchy, &err), ZB_ECONFLICT, err, "another program");
}

static enum zb_code write(const zb_node *node, int16_t value, zb_error *err) {
    static const int64_t strides[2];
    const zb_write write = {
        .data = &value, .dtype = zb_node_array(node)->dtype, .strides = strides};
    zb_writer *writer;
    enum zb_code code = zb_writer_open(node, NULL, &writer, err);
    if (code)
        return code;
    code = zb_writer_write(writer, &write, err);
    const enum zb_code closed = zb_writer_close(writer, code ? NULL : err);
    return code ? code : closed;
}

/* Its first chunk comes when the other program's store is complete, and its marker has gone. */
static void a_late_first_chunk_replaces_nothing(void **state) {
    (void)state;
    zb_error err;
    zb_hierarchy *inner = store_new(), *late = begin(inner), *other = begin(inner);
    make(other);
    ASSERT_OK(zb_hierarchy_commit(other, &err), err);
    char *made = store_dump(inner);
    zb_node *node = store_array(late, "a");
    ASSERT_FAILS(write(node, 5, &err), ZB_ECONFLICT, err, "another program");
    zb_node_release(node);
    expect_lost(late);
    expect_lost(late);
    zb_hierarchy_release(late);
    zb_hierarchy_release(other);
    char *now = store_dump(inner);
    assert_string_equal(now, made);
    free(now);
    free(made);
    zb_hierarchy_release(inner);
}

static void put_root(zb_hierarchy *inner) {
    store_set(inner, "zarr.json", "theirs");
}

/* The other one's last document comes while its marker is taken over. */
static void a_store_is_complete_when_it_is_taken_over(void **state) {
    (void)state;
    zb_error err;
    zb_hierarchy *inner = store_new(), *hierarchy;
    store_set(inner, MARKER, "theirs");
    store_set(inner, "a/zarr.json", "theirs");
    next_put.key = MARKER, next_put.inner = inner, next_put.after = put_root;
    ASSERT_FAILS(zb__new_store_over(zb_store_retain(zb_hierarchy_store(inner)), &hierarchy, &err),
                 ZB_ECONFLICT, err, "another program");
    next_put.after = NULL;
    assert_null(next_put.key);
    store_expect(inner, "a/zarr.json", "theirs");
    store_expect(inner, "zarr.json", "theirs");
    store_expect(inner, MARKER, NULL);
    zb_hierarchy_release(inner);
}

/* As another program does that finds no root's document. */
static void take_over(zb_hierarchy *inner) {
    zb_error err;
    store_set(inner, MARKER, "theirs");
    ASSERT_OK(zb_store_erase(zb_hierarchy_store(inner), "a/zarr.json", &err), err);
}

static void a_commit_that_is_taken_over_fails(void **state) {
    (void)state;
    static const struct {
        const char *key;
        bool is_before; /* or behind it */
    } all[] = {{"g/h/c/zarr.json", false}, {"g/zarr.json", true}, {"zarr.json", true}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        zb_hierarchy *inner = store_new(), *staging = begin(inner);
        make(staging);
        next_put.key = all[i].key, next_put.inner = inner;
        next_put.before = all[i].is_before ? take_over : NULL;
        next_put.after = all[i].is_before ? NULL : take_over;
        expect_lost(staging);
        next_put.before = next_put.after = NULL;
        assert_null(next_put.key);
        expect_lost(staging);
        zb_hierarchy_release(staging);
        store_expect(inner, MARKER, "theirs");
        zb_hierarchy_release(inner);
    }
}

/* As long as there is none, documents stand behind the marker, as chunks do. */
static void documents_without_a_root_are_marked(void **state) {
    (void)state;
    zb_error err;
    zb_hierarchy *plain = store_new(), *inner = store_new(), *killed = begin(inner);
    zb_node_release(store_group(killed, "", NULL));
    zb_node_release(store_array(killed, "g/a"));
    next_put.key = "zarr.json", next_put.inner = inner, next_put.fails = true;
    ASSERT_FAILS(zb_hierarchy_commit(killed, &err), ZB_EIO, err, "away");
    next_put.fails = false;
    zb_hierarchy *next = begin(inner);
    make(next);
    expect_lost(killed);
    ASSERT_OK(zb_hierarchy_commit(next, &err), err);
    zb_hierarchy_release(killed);
    make(plain);
    expect_same(inner, plain);
    zb_hierarchy_release(next);
    zb_hierarchy_release(inner);
    zb_hierarchy_release(plain);
}

static void a_commit_without_chunks_heeds_the_marker(void **state) {
    (void)state;
    zb_error err;
    for (int has_more = 0; has_more < 2; has_more++) {
        zb_hierarchy *plain = store_new(), *inner = store_new(), *documents = begin(inner),
                     *other = begin(inner);
        make(plain);
        make(other);
        zb_node_release(store_group(documents, "", NULL));
        if (has_more)
            zb_node_release(store_array(documents, "a"));
        expect_lost(documents);
        store_expect(inner, "a/zarr.json", NULL);
        ASSERT_OK(zb_hierarchy_commit(other, &err), err);
        zb_hierarchy_release(documents);
        expect_same(inner, plain);
        zb_hierarchy_release(other);
        zb_hierarchy_release(inner);
        zb_hierarchy_release(plain);
    }
}

/* ---- Commits that fail ---- */

static void set_group(zb_hierarchy *hierarchy, const char *value) {
    zb_error err;
    zb_node *node, *changed;
    ASSERT_OK(zb_node_open(hierarchy, "g", &node, &err), err);
    ASSERT_OK(zb_node_set_attribute(node, "k", value, &changed, &err), err);
    zb_node_release(changed);
    zb_node_release(node);
}

/* The first try has stored the document without an answer, the second one does not store it. */
static void what_was_tried_is_no_other_program(void **state) {
    (void)state;
    zb_error err;
    zb_hierarchy *plain = store_new(), *inner = store_new(), *staging = begin(inner);
    make(staging);
    make(plain);
    next_put.inner = inner;
    next_put.key = "g/zarr.json", next_put.loses_answer = true;
    ASSERT_FAILS(zb_hierarchy_commit(staging, &err), ZB_EIO, err, "no answer");
    next_put.loses_answer = false;
    for (int i = 0; i < 3; i++) {
        set_group(staging, (const char *[]){"2", "3", "4"}[i]);
        next_put.key = "g/zarr.json", next_put.fails = true;
        ASSERT_FAILS(zb_hierarchy_commit(staging, &err), ZB_EIO, err, "away");
    }
    next_put.fails = false;
    set_group(plain, "4");
    ASSERT_OK(zb_hierarchy_commit(staging, &err), err);
    expect_same(inner, plain);
    zb_hierarchy_release(staging);
    zb_hierarchy_release(inner);
    zb_hierarchy_release(plain);
}

static void a_marker_that_stays_goes_with_the_next_try(void **state) {
    (void)state;
    zb_error err;
    for (int fails = 0; fails < 2; fails++) {
        zb_hierarchy *plain = store_new(), *inner = store_new(), *staging = begin(inner);
        make(staging);
        make(plain);
        next_erase.key = MARKER, next_erase.inner = inner, next_erase.fails = fails;
        ASSERT_FAILS(zb_hierarchy_commit(staging, &err), ZB_EIO, err, "no answer");
        set_group(staging, "1"); /* goes to the store */
        set_group(plain, "1");
        ASSERT_OK(zb_hierarchy_commit(staging, &err), err);
        expect_same(inner, plain);
        zb_hierarchy_release(staging);
        zb_hierarchy_release(inner);
        zb_hierarchy_release(plain);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_comes_of_it),
        cmocka_unit_test(one_that_was_given_up_leaves_nothing),
        cmocka_unit_test(a_store_that_is_there_gets_none),
        cmocka_unit_test(what_a_killed_program_has_left_goes),
        cmocka_unit_test(what_another_program_has_made_stays),
        cmocka_unit_test(a_late_first_chunk_replaces_nothing),
        cmocka_unit_test(a_store_is_complete_when_it_is_taken_over),
        cmocka_unit_test(a_commit_that_is_taken_over_fails),
        cmocka_unit_test(documents_without_a_root_are_marked),
        cmocka_unit_test(a_commit_without_chunks_heeds_the_marker),
        cmocka_unit_test(what_was_tried_is_no_other_program),
        cmocka_unit_test(a_marker_that_stays_goes_with_the_next_try),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
