/* SPDX-License-Identifier: MIT */
/* New nodes where no lock can be had: one of several makers wins, and nothing that is there changes
   or goes. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/calls.h"
#include "store/fixture.h"
#include "support/store.h"
#include "zarrbridge/write.h"

#define ENOTSUPP_OF_THE_KERNEL 524

static const char empty_group[] = "{\n  \"attributes\": {},\n  \"zarr_format\": 3,\n"
                                  "  \"node_type\": \"group\"\n}\n";

static fixture *here; /* for what is done within a call */

static int set_up(void **state) {
    const int failed = fixture_set_up(state);
    here = *state;
    calls_refuse_locks(ENOLCK);
    return failed;
}

static int tear_down(void **state) {
    calls_refuse_locks(0);
    return fixture_tear_down(state);
}

/* Another program: its own store. */
static zb_hierarchy *another(void) {
    zb_hierarchy *hierarchy;
    zb_error err;
    ASSERT_OK(zb_hierarchy_create(here->root, NULL, &hierarchy, &err), err);
    return hierarchy;
}

static void assert_no_files_of_ours(void) {
    int ours;
    fixture_files(here->root, &ours);
    assert_int_equal(ours, 0);
}

static void assert_attribute(const char *path, const char *value) {
    zb_hierarchy *hierarchy = another();
    zb_node *node;
    zb_error err;
    ASSERT_OK(zb_node_open(hierarchy, path, &node, &err), err);
    const zb_json *attributes = zb_json_get(zb_node_document(node), "attributes");
    const char *by = zb_json_string(zb_json_get(attributes, "by"));
    assert_non_null(by);
    assert_string_equal(by, value);
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
}

/* ---- What works, and what does not ---- */

static void new_nodes_come(void **state) {
    static const int refusals[] = {ENOLCK, ENOSYS, EOPNOTSUPP, ENOTSUPP_OF_THE_KERNEL};
    fixture *f = *state;
    char path[32];
    zb_node_release(store_group(f->hierarchy, "", "{\"by\":\"root\"}"));
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        calls_refuse_locks(refusals[i]);
        snprintf(path, sizeof path, "g%zu/above/a", i); /* two groups come with it */
        zb_node *array = store_array(f->hierarchy, path);
        store_write_all(array, 5);
        zb_node_release(array);
        snprintf(path, sizeof path, "g%zu/above/b", i);
        zb_node_release(store_group(f->hierarchy, path, "{\"by\":\"me\"}"));
        assert_attribute(path, "me");
    }
    assert_attribute("", "root");
    zb_error err;
    store_expect(f->hierarchy, "g0/zarr.json", empty_group);
    ASSERT_OK(zb_hierarchy_flush(f->hierarchy, &err), err);
    assert_no_files_of_ours();
}

static void nothing_else_changes(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_node *changed, *group = store_group(f->hierarchy, "", NULL);
    zb_node *array = store_array(f->hierarchy, "a");
    char *before = store_dump(f->hierarchy);
    ASSERT_FAILS(zb_node_set_attribute(group, "k", "1", &changed, &err), ZB_EUNSUPPORTED, err,
                 "cannot be changed safely");
    ASSERT_FAILS(zb_array_resize(array, (uint64_t[]){20, 20}, &changed, &err), ZB_EUNSUPPORTED, err,
                 "ZARRBRIDGE_LOCKS=none");
    ASSERT_FAILS(zb_node_delete(f->hierarchy, "a", &err), ZB_EUNSUPPORTED, err,
                 "ZARRBRIDGE_LOCKS=none");
    ASSERT_FAILS(zb_node_move(f->hierarchy, "a", "b", &err), ZB_EUNSUPPORTED, err,
                 "ZARRBRIDGE_LOCKS=none");
    ASSERT_FAILS(zb_group_consolidate(f->hierarchy, "", &err), ZB_EUNSUPPORTED, err,
                 "ZARRBRIDGE_LOCKS=none");
    ASSERT_FAILS(zb_group_create(f->hierarchy, "a", NULL, &changed, &err), ZB_ECONFLICT, err,
                 "already");
    ASSERT_FAILS(zb_group_create(f->hierarchy, "a/b", NULL, &changed, &err), ZB_ECONFLICT, err,
                 "no group");
    char *after = store_dump(f->hierarchy);
    assert_string_equal(before, after);
    free(before);
    free(after);
    zb_node_release(array);
    zb_node_release(group);
    assert_no_files_of_ours();
}

static void blocks_above_stay_true(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_node *node;
    calls_refuse_locks(0);
    zb_node_release(store_group(f->hierarchy, "", NULL));
    zb_node_release(store_group(f->hierarchy, "g", NULL));
    ASSERT_OK(zb_group_consolidate(f->hierarchy, "", &err), err);
    ASSERT_OK(zb_hierarchy_write_back(f->hierarchy, &err), err);
    calls_refuse_locks(ENOLCK);
    ASSERT_FAILS(zb_group_create(f->hierarchy, "g/new", NULL, &node, &err), ZB_EUNSUPPORTED, err,
                 "consolidated metadata of this group");
    store_check_consolidated(f->hierarchy);
    /* Taken out by another program, which is going to put it back. */
    calls_refuse_locks(0);
    zb_hierarchy *owing = another();
    zb_node_release(store_group(owing, "other", NULL));
    calls_refuse_locks(ENOLCK);
    ASSERT_FAILS(zb_group_create(f->hierarchy, "g/new", NULL, &node, &err), ZB_EUNSUPPORTED, err,
                 "consolidated metadata of this group");
    calls_refuse_locks(0);
    zb_hierarchy_release(owing);
    store_check_consolidated(f->hierarchy);
}

/* ---- Two makers ---- */

static const char *path_of_other;
static bool other_makes_array;

static void other_makes(void) {
    zb_hierarchy *hierarchy = another();
    zb_node_release(other_makes_array
                        ? store_array(hierarchy, path_of_other)
                        : store_group(hierarchy, path_of_other, "{\"by\":\"other\"}"));
    zb_hierarchy_release(hierarchy);
}

static void let_other_make(const char *path, bool array, int nth) {
    path_of_other = path;
    other_makes_array = array;
    calls_interrupt(CALL_LINKAT, nth, other_makes);
}

static void one_maker_wins(void **state) {
    static const char *const paths[] = {"", "g", "g/h"};
    fixture *f = *state;
    zb_error err;
    zb_node *node;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        let_other_make(paths[i], false, 1); /* just before the name is given */
        ASSERT_FAILS(zb_group_create(f->hierarchy, paths[i], "{\"by\":\"me\"}", &node, &err),
                     ZB_ECONFLICT, err, "already");
        assert_true(calls_failed());
        assert_attribute(paths[i], "other");
    }
    let_other_make("a", false, 1);
    ASSERT_FAILS(zb_array_create(f->hierarchy, "a", &store_spec, &node, &err), ZB_ECONFLICT, err,
                 "already");
    assert_attribute("a", "other");
    assert_no_files_of_ours();
}

static void groups_above_may_come_meanwhile(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_node *node;
    zb_node_release(store_group(f->hierarchy, "", NULL));
    let_other_make("g", false, 1);
    ASSERT_OK(zb_group_create(f->hierarchy, "g/mine", "{\"by\":\"me\"}", &node, &err), err);
    assert_true(calls_failed());
    zb_node_release(node);
    assert_attribute("g", "other");
    assert_attribute("g/mine", "me");
    let_other_make("a", true, 1);
    ASSERT_FAILS(zb_group_create(f->hierarchy, "a/mine", NULL, &node, &err), ZB_ECONFLICT, err,
                 "no group");
    assert_true(calls_failed());
    assert_holds(f->store, "a/mine/zarr.json", NULL);
    assert_no_files_of_ours();
}

/* Each of the nodes is made once, and nobody is in the way of the groups above. */
static void processes_at_once(void **state) {
    fixture *f = *state;
    enum { MAKERS = 4, NODES = 20 };
    pid_t makers[MAKERS];
    zb_node_release(store_group(f->hierarchy, "", NULL));
    fflush(NULL);
    for (int m = 0; m < MAKERS; m++) {
        makers[m] = fork();
        if (makers[m] != 0)
            continue;
        zb_hierarchy *own = another();
        int made = 0;
        for (int i = 0; i < NODES; i++) {
            char path[16];
            zb_node *node;
            zb_error err;
            snprintf(path, sizeof path, "g%d/n%d", i / 4, i);
            enum zb_code code = zb_group_create(own, path, NULL, &node, &err);
            if (code && code != ZB_ECONFLICT) {
                fprintf(stderr, "%s\n", err.message);
                _exit(255);
            }
            if (!code)
                zb_node_release(node);
            made += !code;
        }
        zb_hierarchy_release(own);
        _exit(made);
    }
    int made = 0;
    for (int m = 0; m < MAKERS; m++) {
        int status;
        assert_int_equal(waitpid(makers[m], &status, 0), makers[m]);
        assert_true(WIFEXITED(status));
        made += WEXITSTATUS(status);
    }
    assert_int_equal(made, NODES);
    assert_no_files_of_ours();
}

/* ---- What the file system answers ---- */

static void without_links_nothing_comes(void **state) {
    static const int refusals[] = {EPERM, EOPNOTSUPP, ENOSYS, EMLINK};
    fixture *f = *state;
    zb_error err;
    zb_node *node;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        calls_fail(CALL_LINKAT, 1, refusals[i]);
        ASSERT_FAILS(zb_group_create(f->hierarchy, "", NULL, &node, &err), ZB_EUNSUPPORTED, err,
                     "no hard links");
        assert_non_null(strstr(err.message, "ZARRBRIDGE_LOCKS=none"));
        assert_int_equal(fixture_files(f->root, NULL), 0);
    }
    calls_fail(CALL_LINKAT, 1, EIO);
    ASSERT_FAILS(zb_group_create(f->hierarchy, "", NULL, &node, &err), ZB_EIO, err, "link");
    assert_int_equal(fixture_files(f->root, NULL), 0);
}

/* The server has done it, and is asked again. */
static void link_by_server(void) {
    DIR *dir = opendir(here->root);
    const struct dirent *entry;
    assert_non_null(dir);
    while ((entry = readdir(dir)) && !strstr(entry->d_name, "zarr.json."))
        ;
    assert_non_null(entry);
    assert_int_equal(linkat(dirfd(dir), entry->d_name, dirfd(dir), "zarr.json", 0), 0);
    closedir(dir);
}

static void lost_answers_are_no_conflict(void **state) {
    fixture *f = *state;
    calls_interrupt(CALL_LINKAT, 1, link_by_server);
    zb_node_release(store_group(f->hierarchy, "", "{\"by\":\"me\"}"));
    assert_true(calls_failed());
    assert_attribute("", "me");
    assert_no_files_of_ours();
}

/* ---- Kills ---- */

static void end_process(void) {
    _exit(9);
}

static void make_and_be_killed(enum call call, int nth) {
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        zb_hierarchy *own = another();
        calls_interrupt(call, nth, end_process);
        zb_node_release(store_array(own, "g/a"));
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 9);
}

/* A directory without a document, a file without its name, groups without the array: the next maker
   goes on from there. */
static void killed_makers_are_in_nobodys_way(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_node_release(store_group(f->hierarchy, "", NULL));
    make_and_be_killed(CALL_WRITEV, 1); /* of the group */
    make_and_be_killed(CALL_LINKAT, 1);
    make_and_be_killed(CALL_WRITEV, 2); /* of the array */
    make_and_be_killed(CALL_LINKAT, 1); /* the group is there */
    zb_node *array = store_array(f->hierarchy, "g/a");
    store_write_all(array, 3);
    zb_node_release(array);
    ASSERT_OK(zb_hierarchy_flush(f->hierarchy, &err), err);
    store_expect(f->hierarchy, "g/zarr.json", empty_group);
}

/* Chunks without an array could be those of a maker whose document we have not seen. */
static void left_chunks_stay(void **state) {
    fixture *f = *state;
    char path[512];
    zb_error err;
    zb_node *node, *array = store_array(f->hierarchy, "a");
    store_write_all(array, 3);
    zb_node_release(array);
    snprintf(path, sizeof path, "%s/a/zarr.json", f->root);
    assert_int_equal(unlink(path), 0);
    char *before = store_dump(f->hierarchy);
    ASSERT_FAILS(zb_array_create(f->hierarchy, "a", &store_spec, &node, &err), ZB_EUNSUPPORTED, err,
                 "killed change has left");
    char *after = store_dump(f->hierarchy);
    assert_string_equal(before, after);
    free(before);
    free(after);
    check_write_file(f->root, "b/README", "mine", 4);
    zb_node_release(store_array(f->hierarchy, "b"));
    check_write_file(f->root, "c/d/zarr.json", "{}", 2);
    ASSERT_FAILS(zb_array_create(f->hierarchy, "c", &store_spec, &node, &err), ZB_ECONFLICT, err,
                 "there is a node below");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    setenv("ZARRBRIDGE_LOCKS", "node", 1); /* a file system that may have none */
    const struct CMUnitTest tests[] = {
        TEST(new_nodes_come),
        TEST(nothing_else_changes),
        TEST(blocks_above_stay_true),
        TEST(one_maker_wins),
        TEST(groups_above_may_come_meanwhile),
        TEST(processes_at_once),
        TEST(without_links_nothing_comes),
        TEST(lost_answers_are_no_conflict),
        TEST(killed_makers_are_in_nobodys_way),
        TEST(left_chunks_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
