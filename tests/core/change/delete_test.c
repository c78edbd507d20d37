/* SPDX-License-Identifier: MIT */
/* Deleting nodes with many files: other programs change the hierarchy while the files go, and go on
   with them when the program that deletes is killed. The limit lock_seconds is short, so that who
   would wait fails soon. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/calls.h"
#include "store/fixture.h"
#include "zarrbridge/change.h"
#include "zarrbridge/sys/hierarchy.h"

enum { GROUPS = 40 };

static void create(zb_hierarchy *hierarchy, const char *path) {
    zb_error err;
    zb_node *node;
    ASSERT_OK(zb_group_create(hierarchy, path, NULL, &node, &err), err);
    zb_node_release(node);
}

/* "g" and "h" have two levels below them. */
static void make_nodes(zb_hierarchy *hierarchy) {
    char path[40];
    create(hierarchy, "");
    for (int i = 0; i < GROUPS; i++) {
        snprintf(path, sizeof path, "%c/x%d/y", i % 2 ? 'g' : 'h', i);
        create(hierarchy, path);
    }
}

/* The ways to delete: one call, or a lock scope. */
static enum zb_code delete_at_once(zb_hierarchy *hierarchy, const char *path, zb_error *err) {
    return zb_node_delete(hierarchy, path, err);
}

static enum zb_code delete_in_a_turn(zb_hierarchy *hierarchy, const char *path, zb_error *err) {
    zb_lock_scope lock_scope;
    enum zb_code code = zb_lock_scope_begin(hierarchy, &lock_scope, err);
    if (!code)
        code = zb_lock_scope_end(hierarchy, &lock_scope, zb_node_delete(hierarchy, path, err), err);
    return code;
}

/* Forks a process that deletes the node, and stops with most of its files still there. */
static pid_t stop_in_the_middle(const fixture *f, const char *path,
                                enum zb_code (*delete)(zb_hierarchy *, const char *, zb_error *)) {
    fflush(NULL);
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child == 0) {
        zb_hierarchy *hierarchy;
        zb_error err;
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails lets nobody go on, */
        CHILD_CHECK(getppid() == parent, "the test has ended"); /* nor one that failed before */
        CHILD_CHECK(zb_hierarchy_open(f->root, &hierarchy, &err) == ZB_OK, "%s", err.message);
        calls_stop(CALL_UNLINKAT, 8);
        CHILD_CHECK(delete (hierarchy, path, &err) == ZB_OK, "%s", err.message);
        _Exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    assert_true(WIFSTOPPED(status));
    return child;
}

static void end(pid_t child, int signal) {
    int status;
    assert_int_equal(kill(child, signal), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(signal == SIGCONT ? WIFEXITED(status) && WEXITSTATUS(status) == 0
                                  : WIFSIGNALED(status));
}

static void others_change_meanwhile(void **state) {
    const fixture *f = *state;
    zb_error err;
    make_nodes(f->hierarchy);
    for (int lock_scope = 0; lock_scope < 2; lock_scope++) {
        const char *path = lock_scope ? "h" : "g";
        const pid_t child =
            stop_in_the_middle(f, path, lock_scope ? delete_in_a_turn : delete_at_once);
        const int files = fixture_files(f->root, NULL);
        assert_in_range(files, GROUPS / 2, INT_MAX);
        create(f->hierarchy, path); /* in its place, where one would sweep */
        create(f->hierarchy, "other/group");
        ASSERT_OK(zb_node_delete(f->hierarchy, "other", &err), err);
        assert_int_equal(fixture_files(f->root, NULL), files + 1);
        end(child, SIGCONT);
        assert_holds(f->store, lock_scope ? "h/x0/zarr.json" : "g/x1/zarr.json", NULL);
        ASSERT_OK(zb_node_delete(f->hierarchy, path, &err), err);
    }
    ASSERT_OK(zb_hierarchy_flush(f->hierarchy, &err), err);
    assert_int_equal(fixture_files(f->root, NULL), 1);
}

/* All of a store goes by the same way. */
static void others_change_what_was_a_store(void **state) {
    const fixture *f = *state;
    make_nodes(f->hierarchy);
    const pid_t child = stop_in_the_middle(f, "", delete_at_once);
    create(f->hierarchy, "");
    create(f->hierarchy, "new");
    end(child, SIGCONT);
    zb_error err;
    ASSERT_OK(zb_hierarchy_flush(f->hierarchy, &err), err);
    assert_int_equal(fixture_files(f->root, NULL), 2);
}

static void the_next_program_goes_on(void **state) {
    const fixture *f = *state;
    zb_hierarchy *next;
    zb_node *root, *changed;
    zb_error err;
    make_nodes(f->hierarchy);
    end(stop_in_the_middle(f, "g", delete_at_once), SIGKILL);
    ASSERT_OK(zb_hierarchy_open(f->root, &next, &err), err);
    ASSERT_OK(zb_node_open(next, "", &root, &err), err);
    ASSERT_OK(zb_node_delete(next, "h", &err), err);
    ASSERT_OK(zb_node_set_attribute(root, "writes", "\"here\"", &changed, &err), err);
    zb_node_release(changed);
    zb_node_release(root);
    zb_hierarchy_release(next);
    ASSERT_OK(zb_hierarchy_flush(f->hierarchy, &err), err);
    int ours;
    assert_int_equal(fixture_files(f->root, &ours), 1);
    assert_int_equal(ours, 0);
}

/* Others see it, and may build on it. */
static void a_deletion_lasts_though_files_stay(void **state) {
    const fixture *f = *state;
    zb_error err;
    make_nodes(f->hierarchy);
    create(f->hierarchy, "leaf");
    ASSERT_OK(zb_hierarchy_flush(f->hierarchy, &err), err);
    zb_hierarchy_set_sync(f->hierarchy, ZB_SYNC_ALWAYS);
    calls_clear();
    calls_fail(CALL_UNLINKAT, 3, EACCES);
    ASSERT_FAILS(zb_node_delete(f->hierarchy, "leaf", &err), ZB_EIO, err, "repair");
    assert_true(calls_failed());
    assert_non_null(strpbrk(calls_log, "da"));
    assert_holds(f->store, "leaf/zarr.json", NULL);
}

/* A store that cannot be deleted as a whole stays one, with the nodes that could not. Its
   consolidated metadata are not brought back: they describe nodes that have gone. */
static void a_store_stays_with_what_could_not_go(void **state) {
    const fixture *f = *state;
    zb_node *root, *changed;
    zb_error err;
    make_nodes(f->hierarchy);
    ASSERT_OK(zb_node_open(f->hierarchy, "", &root, &err), err);
    ASSERT_OK(zb_node_set_attribute(root, "title", "\"kept\"", &changed, &err), err);
    zb_node_release(changed);
    zb_node_release(root);
    ASSERT_OK(zb_group_consolidate(f->hierarchy, "", &err), err);
    calls_clear();
    calls_fail(CALL_RENAMEAT, 1, EXDEV);
    ASSERT_FAILS(zb_node_delete(f->hierarchy, "", &err), ZB_EUNSUPPORTED, err, "the store stays");
    assert_true(calls_failed());
    char *document;
    ASSERT_OK(fixture_get(f->store, "zarr.json", &document, &err), err);
    assert_non_null(strstr(document, "kept"));
    assert_null(strstr(document, "consolidated_metadata"));
    free(document);
    ASSERT_OK(zb_node_open(f->hierarchy, "g/x1", &changed, &err), err);
    zb_node_release(changed);
    ASSERT_OK(zb_node_delete(f->hierarchy, "", &err), err);
    assert_int_equal(fixture_files(f->root, NULL), 0);
}

/* A document that no program can read keeps no store from being deleted. */
static void a_store_whose_root_is_nested_too_deep_goes(void **state) {
    enum { DEPTH = 5000 };
    const fixture *f = *state;
    zb_error err;
    char *text = NULL;
    make_nodes(f->hierarchy);
    char *brackets = malloc(2 * DEPTH + 1);
    assert_non_null(brackets);
    memset(brackets, '[', DEPTH);
    memset(brackets + DEPTH, ']', DEPTH);
    brackets[2 * DEPTH] = '\0';
    assert_true(asprintf(&text,
                         "{\"zarr_format\":3,\"node_type\":\"group\",\"attributes\":{\"deep\":%s}}",
                         brackets) > 0);
    free(brackets);
    fixture_must_put(f->store, "zarr.json", text, PUT_LATER);
    free(text);
    ASSERT_OK(zb_node_delete(f->hierarchy, "", &err), err);
    assert_int_equal(fixture_files(f->root, NULL), 0);
}

/* A deletion that was killed has left no document at the root. */
static void what_is_left_of_a_store_has_no_document_to_lose(void **state) {
    const fixture *f = *state;
    zb_error err;
    make_nodes(f->hierarchy);
    ASSERT_OK(zb_store_erase(f->store, "zarr.json", &err), err);
    calls_clear();
    calls_fail(CALL_RENAMEAT, 1, EXDEV);
    ASSERT_FAILS(zb_node_delete(f->hierarchy, "", &err), ZB_EUNSUPPORTED, err,
                 "other files of the store stay");
    assert_true(calls_failed());
    assert_null(strstr(err.message, "document"));
}

int main(void) {
    setenv("ZARRBRIDGE_LOCK_SECONDS", "1", 1); /* before the limits are read */
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(others_change_meanwhile),
        FIXTURE_TEST(others_change_what_was_a_store),
        FIXTURE_TEST(the_next_program_goes_on),
        FIXTURE_TEST(a_deletion_lasts_though_files_stay),
        FIXTURE_TEST(a_store_stays_with_what_could_not_go),
        FIXTURE_TEST(a_store_whose_root_is_nested_too_deep_goes),
        FIXTURE_TEST(what_is_left_of_a_store_has_no_document_to_lose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
