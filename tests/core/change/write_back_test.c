/* SPDX-License-Identifier: MIT */
/*
 * Blocks of consolidated metadata go at the first change and come back with a flush: what is in the
 * store between, what several stores on one directory do, and what a process that was killed
 * leaves.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "store/fixture.h"
#include "support/store.h"
#include "support/wrappers.h"
#include "zarrbridge/check.h"

#define MARKER ".zarrbridge-consolidated"

static bool has_block(zb_hierarchy *hierarchy, const char *key) {
    char *text = store_text(hierarchy, key);
    assert_non_null(text);
    bool found = strstr(text, "\"consolidated_metadata\":{\"kind\"") != NULL;
    free(text);
    return found;
}

static bool has_marker(zb_hierarchy *hierarchy) {
    char *text = store_text(hierarchy, MARKER);
    free(text);
    return text != NULL;
}

static void group(zb_hierarchy *hierarchy, const char *path) {
    zb_node_release(store_group(hierarchy, path, NULL));
}

static void settle(zb_hierarchy *hierarchy) {
    zb_error err;
    ASSERT_OK(zb_hierarchy_write_back(hierarchy, &err), err);
}

/* The root's block is there and right, and the root has the group. */
static void expect_block(zb_hierarchy *hierarchy, const char *path) {
    char word[64];
    snprintf(word, sizeof word, "\"%s\":{", path);
    assert_true(has_block(hierarchy, "zarr.json"));
    store_check_consolidated(hierarchy);
    char *text = store_text(hierarchy, "zarr.json");
    assert_non_null(strstr(text, word));
    free(text);
}

/* Another store on the directory of the fixture. */
static zb_hierarchy *second(const fixture *f) {
    zb_hierarchy *hierarchy;
    zb_error err;
    ASSERT_OK(zb_hierarchy_open(f->root, &hierarchy, &err), err);
    return hierarchy;
}

static void begin(fixture *f) {
    group(f->hierarchy, "old");
    store_consolidate(f->hierarchy);
}

/* By the change that takes the block out: once in outline, and once as a node, for the two
   questions whether only the block describes what is there. */
static void the_group_above_is_opened_once(void **state) {
    fixture *f = *state;
    zb_hierarchy *counted;
    zb_error err;
    begin(f);
    ASSERT_OK(wrap(zb_store_new_count, f->hierarchy, &counted, &err), err);
    group(counted, "new");
    assert_int_equal(zb_store_count_take(zb_hierarchy_store(counted)).opens, 2);
    zb_hierarchy_release(counted);
}

static void a_block_is_written_once(void **state) {
    fixture *f = *state;
    begin(f);
    for (int i = 0; i < 20; i++) {
        char path[16];
        snprintf(path, sizeof path, "g%d", i);
        group(f->hierarchy, path);
        assert_false(has_block(f->hierarchy, "zarr.json"));
        assert_true(has_marker(f->hierarchy));
    }
    settle(f->hierarchy);
    expect_block(f->hierarchy, "g19");
    assert_false(has_marker(f->hierarchy));
    char *before = store_text(f->hierarchy, "zarr.json");
    settle(f->hierarchy); /* nothing is left to do */
    store_expect(f->hierarchy, "zarr.json", before);
    free(before);
}

/* Whichever order the changes of one path come in, what stands at the end counts. */
static void the_last_state_counts(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_node *node, *changed;
    begin(f);
    group(f->hierarchy, "a/b/c");
    ASSERT_OK(zb_node_delete(f->hierarchy, "a", &err), err);
    group(f->hierarchy, "a/b");
    ASSERT_OK(zb_node_move(f->hierarchy, "a/b", "x", &err), err);
    ASSERT_OK(zb_node_delete(f->hierarchy, "old", &err), err);
    ASSERT_OK(zb_node_copy(f->hierarchy, "x", f->hierarchy, "old", &err), err);
    ASSERT_OK(zb_node_open(f->hierarchy, "", &node, &err), err);
    ASSERT_OK(zb_node_set_attribute(node, "title", "\"t\"", &changed, &err), err);
    zb_node_release(node);
    zb_node_release(changed);
    settle(f->hierarchy);
    expect_block(f->hierarchy, "x");
    char *text = store_text(f->hierarchy, "zarr.json");
    assert_non_null(strstr(text, "\"title\":\"t\""));
    assert_null(strstr(text, "a/b"));
    free(text);
}

static void the_end_of_a_store_settles(void **state) {
    fixture *f = *state;
    begin(f);
    zb_hierarchy *other = second(f);
    zb_node *node = store_group(other, "new", NULL);
    zb_hierarchy_release(other);
    assert_false(has_block(f->hierarchy, "zarr.json")); /* the node holds the store */
    zb_node_release(node);
    expect_block(f->hierarchy, "new");
    assert_false(has_marker(f->hierarchy));
}

/* Two stores on one directory, which know nothing of each other's changes but by the marker. */
static void two_stores_tell_the_truth(void **state) {
    fixture *f = *state;
    for (int order = 0; order < 4; order++) {
        char ours[16], theirs[16];
        snprintf(ours, sizeof ours, "ours%d", order);
        snprintf(theirs, sizeof theirs, "theirs%d", order);
        if (order == 0)
            begin(f);
        zb_hierarchy *other = second(f);
        group(order % 2 ? other : f->hierarchy, ours);
        group(order % 2 ? f->hierarchy : other, theirs);
        zb_hierarchy *first = order < 2 ? f->hierarchy : other,
                     *last = order < 2 ? other : f->hierarchy;
        settle(first);
        expect_block(f->hierarchy, ours);
        expect_block(f->hierarchy, theirs);
        group(last, order % 2 ? "late" : "later");
        assert_false(has_block(f->hierarchy, "zarr.json"));
        settle(last);
        expect_block(f->hierarchy, theirs);
        store_check_consolidated(last);
        zb_error err;
        ASSERT_OK(zb_node_delete(f->hierarchy, order % 2 ? "late" : "later", &err), err);
        settle(f->hierarchy);
        zb_hierarchy_release(other);
        expect_block(f->hierarchy, ours);
        assert_false(has_marker(f->hierarchy));
    }
}

/* A process that ends without a word. */
static void change_and_die(const char *root, const char *path) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        zb_hierarchy *hierarchy;
        zb_node *node;
        if (zb_hierarchy_open(root, &hierarchy, NULL) ||
            zb_group_create(hierarchy, path, NULL, &node, NULL))
            _exit(1);
        kill(getpid(), SIGKILL);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

static int count(void *context, const zb_finding *finding) {
    (void)finding;
    ++*(int *)context;
    return 0;
}

static int findings(zb_hierarchy *hierarchy, bool repair) {
    int found = 0;
    zb_error err;
    ASSERT_OK(repair ? zb_hierarchy_repair(hierarchy, count, &found, &err)
                     : zb_hierarchy_verify(hierarchy, count, &found, NULL, &err),
              err);
    return found;
}

static void a_kill_leaves_no_block(void **state) {
    fixture *f = *state;
    begin(f);
    change_and_die(f->root, "k1");
    assert_false(has_block(f->hierarchy, "zarr.json"));
    assert_int_equal(findings(f->hierarchy, false), 1);
    /* The next writer puts it back. */
    group(f->hierarchy, "next");
    assert_int_equal(findings(f->hierarchy, false), 1);
    settle(f->hierarchy);
    expect_block(f->hierarchy, "k1");
    assert_int_equal(findings(f->hierarchy, false), 0);
    /* Or repairing. */
    change_and_die(f->root, "k2");
    assert_int_equal(findings(f->hierarchy, true), 1);
    expect_block(f->hierarchy, "k2");
    assert_false(has_marker(f->hierarchy));
    assert_int_equal(findings(f->hierarchy, false), 0);
}

/* Between our first change and the flush another program consolidates, or takes the marker away. */
static void others_may_have_put_a_block(void **state) {
    fixture *f = *state;
    zb_error err;
    begin(f);
    group(f->hierarchy, "a");
    store_consolidate(f->hierarchy);
    char *theirs = store_text(f->hierarchy, "zarr.json");
    settle(f->hierarchy);
    store_expect(f->hierarchy, "zarr.json", theirs);
    free(theirs);
    assert_false(has_marker(f->hierarchy));
    group(f->hierarchy, "b");
    store_consolidate(f->hierarchy);
    group(f->hierarchy, "c");
    settle(f->hierarchy);
    expect_block(f->hierarchy, "c");
    group(f->hierarchy, "d");
    ASSERT_OK(zb_store_erase(f->store, MARKER, &err), err);
    settle(f->hierarchy); /* nobody wants one any more */
    assert_false(has_block(f->hierarchy, "zarr.json"));
    group(f->hierarchy, "e");
    settle(f->hierarchy);
    assert_false(has_block(f->hierarchy, "zarr.json"));
}

/* The group that has the block is deleted, copied or moved while the block is dirty. */
static void owners_come_and_go(void **state) {
    fixture *f = *state;
    zb_error err;
    static const char own[] = "{\"zarr_format\":3,\"consolidated_metadata\":{\"kind\":\"inline\","
                              "\"must_understand\":false,\"metadata\":{}},\"node_type\":\"group\"}";
    group(f->hierarchy, "g");
    store_set(f->hierarchy, "g/zarr.json", own);
    group(f->hierarchy, "g/a");
    assert_false(has_block(f->hierarchy, "g/zarr.json"));
    ASSERT_OK(zb_node_copy(f->hierarchy, "g", f->hierarchy, "copy", &err), err);
    assert_true(has_block(f->hierarchy, "copy/zarr.json"));
    group(f->hierarchy, "g/b");
    ASSERT_OK(zb_node_move(f->hierarchy, "g", "moved", &err), err);
    assert_true(has_block(f->hierarchy, "moved/zarr.json"));
    group(f->hierarchy, "moved/c");
    ASSERT_OK(zb_node_delete(f->hierarchy, "moved", &err), err);
    group(f->hierarchy, "moved");
    settle(f->hierarchy);
    assert_false(has_block(f->hierarchy, "moved/zarr.json"));
    store_expect(f->hierarchy, "moved/" MARKER, NULL);
    begin(f);
    group(f->hierarchy, "x");
    ASSERT_OK(zb_node_delete(f->hierarchy, "", &err), err);
    assert_false(has_marker(f->hierarchy));
    settle(f->hierarchy);
    store_expect(f->hierarchy, "zarr.json", NULL);
}

/* What could not be written is dirty still. */
static void a_failed_flush_is_tried_again(void **state) {
    (void)state;
    bool failed = true;
    for (uint64_t nth = 1; failed; nth++) {
        zb_hierarchy *hierarchy = store_tree(true), *fault;
        zb_error err;
        ASSERT_OK(wrap(zb_store_new_fault, hierarchy, &fault, &err), err);
        group(fault, "new");
        zb_store_fault_set(zb_hierarchy_store(fault), nth);
        failed = zb_hierarchy_write_back(fault, &err) != ZB_OK;
        store_check_truthful(hierarchy);
        settle(fault);
        expect_block(hierarchy, "new");
        assert_false(has_marker(hierarchy));
        zb_hierarchy_release(fault);
        zb_hierarchy_release(hierarchy);
        assert_true(failed || nth > 4);
    }
}

/* Makes groups by two stores in turns, both of which know the root's version, and has the first
   settle first, or the second. */
static void in_turns(fixture *f, bool first_settles) {
    begin(f);
    zb_hierarchy *other = second(f);
    zb_hierarchy *const stores[] = {f->hierarchy, other};
    group(f->hierarchy, "a");
    store_let_age(f->hierarchy, "zarr.json");
    for (int i = 0; i < 6; i++) {
        char path[16];
        snprintf(path, sizeof path, "%c", 'b' + i);
        group(stores[i / 2 % 2], path);
    }
    for (int i = 0; i < 2; i++) {
        settle(stores[first_settles ? i : 1 - i]);
        for (char name = 'a'; name <= 'g'; name++)
            expect_block(f->hierarchy, (char[]){name, '\0'});
        assert_false(has_marker(f->hierarchy));
    }
    zb_hierarchy_release(other);
}

/* A store that has looked at a group once does not look for markers again: what another one has
   made meanwhile is in the block all the same. */
static void the_first_of_two_settles_first(void **state) {
    in_turns(*state, true);
}

static void the_second_of_two_settles_first(void **state) {
    in_turns(*state, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(the_first_of_two_settles_first),
        FIXTURE_TEST(the_second_of_two_settles_first),
        FIXTURE_TEST(a_block_is_written_once),
        FIXTURE_TEST(the_group_above_is_opened_once),
        FIXTURE_TEST(the_last_state_counts),
        FIXTURE_TEST(the_end_of_a_store_settles),
        FIXTURE_TEST(two_stores_tell_the_truth),
        FIXTURE_TEST(a_kill_leaves_no_block),
        FIXTURE_TEST(others_may_have_put_a_block),
        FIXTURE_TEST(owners_come_and_go),
        cmocka_unit_test(a_failed_flush_is_tried_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
