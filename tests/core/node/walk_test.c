/* SPDX-License-Identifier: MIT */
/*
 * Walks through stores that symbolic links make endless, or as good as: two links to their own
 * directory, and a ladder of links in which each directory leads to the next one by two names, so
 * that 40 steps make 2^40 paths. The calls of each operation to the store are counted.
 */
#include "store/fixture.h"
#include "support/wrappers.h"
#include "zarrbridge/change.h"
#include "zarrbridge/check.h"
#include "zarrbridge/read.h"
#include "zarrbridge/write.h"

enum { SIDE = 8, LADDER = 40, MOST_LINKS = 200 };

static zb_node *create(zb_hierarchy *hierarchy, const char *path) {
    zb_array_spec spec = {.ndim = 2,
                          .shape = (uint64_t[]){SIDE, SIDE},
                          .inner_shape = (uint64_t[]){2, 2},
                          .dtype = {.kind = ZB_KIND_INT, .size = 4}};
    zb_error err;
    zb_node *node;
    zb_writer *writer;
    int32_t values[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++)
        values[i] = i + 1;
    zb_write write = {.data = values, .dtype = spec.dtype};
    ASSERT_OK(zb_array_create(hierarchy, path, &spec, &node, &err), err);
    ASSERT_OK(zb_writer_open(node, NULL, &writer, &err), err);
    ASSERT_OK(zb_writer_write(writer, &write, &err), err);
    ASSERT_OK(zb_writer_close(writer, &err), err);
    return node;
}

/* ---- The walks --------------------------------------------------------------------------- */

static int ignore(void *context, const zb_finding *finding) {
    (void)context;
    (void)finding;
    return 0;
}

static enum zb_code verify(zb_hierarchy *hierarchy, zb_error *err) {
    return zb_hierarchy_verify(hierarchy, ignore, NULL, NULL, err);
}

static enum zb_code repair(zb_hierarchy *hierarchy, zb_error *err) {
    return zb_hierarchy_repair(hierarchy, ignore, NULL, err);
}

static enum zb_code list_children(zb_hierarchy *hierarchy, zb_error *err) {
    zb_node *node;
    zb_children children;
    enum zb_code code = zb_node_open(hierarchy, "g", &node, err);
    if (code)
        return code;
    code = zb_group_children(node, &children, err);
    if (code == ZB_OK)
        zb_children_free(&children);
    zb_node_release(node);
    return code;
}

static enum zb_code shrink(zb_hierarchy *hierarchy, zb_error *err) {
    zb_node *node, *changed;
    enum zb_code code = zb_node_open(hierarchy, "g/a", &node, err);
    if (code)
        return code;
    code = zb_array_resize(node, (uint64_t[]){3, 3}, &changed, err);
    if (code == ZB_OK)
        zb_node_release(changed);
    zb_node_release(node);
    return code;
}

static enum zb_code copy(zb_hierarchy *hierarchy, zb_error *err) {
    return zb_node_copy(hierarchy, "g", hierarchy, "copy", err);
}

static enum zb_code delete(zb_hierarchy *hierarchy, zb_error *err) {
    return zb_node_delete(hierarchy, "g", err);
}

static enum zb_code delete_root(zb_hierarchy *hierarchy, zb_error *err) {
    return zb_node_delete(hierarchy, "", err);
}

static const struct {
    const char *name;
    enum zb_code (*run)(zb_hierarchy *hierarchy, zb_error *err);
    bool may_end; /* on a ladder, with ZB_ELIMIT */
} walks[] = {
    {"verify", verify, true},
    {"repair", repair, true},
    {"list", list_children, false},
    {"copy", copy, true},
    {"shrink", shrink, true},
    {"delete", delete, false},
    {"delete the root", delete_root, false},
};
enum { WALKS = sizeof walks / sizeof *walks };

/* ---- Stores ------------------------------------------------------------------------------- */

/* A group and an array with chunks, both with links to their own directory. */
static void make_circles(const fixture *f) {
    static const char *const links[] = {"x",       "y",       "g/x",       "g/y",       "g/a/x",
                                        "g/a/c/x", "g/a/c/y", "g/a/c/0/x", "g/a/c/0/y", "g/up"};
    zb_node_release(create(f->hierarchy, "g/a"));
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        fixture_link(f, i == 9 ? ".." : ".", links[i]);
}

/* Among the groups and among the chunks. */
static void make_ladders(const fixture *f) {
    static const char *const below[] = {"g", "g/a/c"};
    zb_node_release(create(f->hierarchy, "g/a"));
    for (int i = 0; i < 2; i++) {
        for (int step = 0; step < LADDER; step++) {
            char key[64], target[32];
            snprintf(key, sizeof key, "%s/s%d/file", below[i], step);
            check_write_file(f->root, key, "?", 1);
            snprintf(target, sizeof target, "../s%d", step + 1);
            for (char name = 'p'; name <= 'q'; name++) {
                snprintf(key, sizeof key, "%s/s%d/%c", below[i], step, name);
                fixture_link(f, target, key);
            }
        }
    }
}

static uint64_t calls_of(const zb_store_counts *n) {
    return n->opens + n->reads + n->stats + n->lists + n->puts + n->erases + n->locks + n->renames;
}

/* Each walk has a store of its own. */
static void walk_all(bool ladder, uint64_t most) {
    zb_error err;
    for (int i = 0; i < WALKS; i++) {
        zb_hierarchy *count;
        void *state;
        fixture_set_up(&state);
        const fixture *f = state;
        (ladder ? make_ladders : make_circles)(f);
        ASSERT_OK(wrap(zb_store_new_count, f->hierarchy, &count, &err), err);
        enum zb_code code = walks[i].run(count, &err);
        zb_store_counts counts = zb_store_count_take(zb_hierarchy_store(count));
        print_message("%s: %s after %d calls\n", walks[i].name, zb_code_name(code),
                      (int)calls_of(&counts));
        if (code != ZB_OK && !(ladder && walks[i].may_end && code == ZB_ELIMIT))
            fail_msg("%s: %s: %s", walks[i].name, zb_code_name(code), err.message);
        if (calls_of(&counts) > most)
            fail_msg("%s: %d calls", walks[i].name, (int)calls_of(&counts));
        zb_hierarchy_release(count);
        fixture_tear_down(&state);
    }
}

static void circles_are_not_walked(void **state) {
    (void)state;
    walk_all(false, 300);
}

static void ladders_are_left_at_a_limit(void **state) {
    (void)state;
    walk_all(true, 20 * MOST_LINKS);
}

/* ---- The nodes that links lead to
   ------------------------------------------------------------------- */

static bool opens(zb_hierarchy *hierarchy, const char *path) {
    zb_node *node = NULL;
    bool found = zb_node_open(hierarchy, path, &node, NULL) == ZB_OK;
    zb_node_release(node);
    return found;
}

static void assert_holds_all(zb_hierarchy *hierarchy, const char *path) {
    int32_t values[SIDE * SIDE] = {0};
    zb_node *node;
    zb_error err;
    ASSERT_OK(zb_node_open(hierarchy, path, &node, &err), err);
    zb_read read = {.node = node,
                    .view = {.data = values, .dtype = {.kind = ZB_KIND_INT, .size = 4}}};
    ASSERT_OK(zb_array_read(&read, 1, &err), err);
    for (int i = 0; i < SIDE * SIDE; i++)
        assert_int_equal(values[i], i + 1);
    zb_node_release(node);
}

/* The node behind a link does not belong to the node that holds the link: deleting and moving take
   the link alone. */
static void links_go_alone(void **state) {
    const fixture *f = *state;
    zb_error err;
    zb_node_release(create(f->hierarchy, "g/b"));
    zb_node_release(create(f->hierarchy, "other/h/a"));
    fixture_link(f, "../other", "g/l");
    fixture_link(f, "other", "top");
    fixture_link(f, "other/h/a", "array");
    for (int i = 0; i < 3; i++) {
        static const char *const paths[] = {"g/l", "array", "g"};
        if (i == 2)
            fixture_link(f, "../other", "g/l");
        assert_true(opens(f->hierarchy, paths[i]));
        ASSERT_OK(zb_node_delete(f->hierarchy, paths[i], &err), err);
        assert_false(opens(f->hierarchy, paths[i]));
        assert_true(opens(f->hierarchy, "other") && opens(f->hierarchy, "other/h"));
        assert_holds_all(f->hierarchy, "other/h/a");
    }
    ASSERT_OK(zb_node_move(f->hierarchy, "top", "moved", &err), err);
    assert_false(opens(f->hierarchy, "top"));
    assert_holds_all(f->hierarchy, "moved/h/a");
    assert_holds_all(f->hierarchy, "other/h/a");
    fixture_link(f, "other/h", "top");
    ASSERT_OK(zb_node_delete(f->hierarchy, "", &err), err);
    assert_int_equal(fixture_files(f->root, NULL), 0);
}

int main(void) {
    char links[16];
    snprintf(links, sizeof links, "%d", MOST_LINKS);
    setenv("ZARRBRIDGE_LINKS", links, 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(circles_are_not_walked),
                                       cmocka_unit_test(ladders_are_left_at_a_limit),
                                       FIXTURE_TEST(links_go_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
