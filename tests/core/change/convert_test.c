/* SPDX-License-Identifier: MIT */
/* Copies of version 2 that fail delete their own nodes, and no others: while a copy is at work,
   other programs change the hierarchy that it comes to. */
#include "store/fixture.h"
#include "support/store.h"
#include "zarrbridge/change.h"
#include "zarrbridge/sys/hierarchy.h"

#define ZARRAY                                                                                     \
    "{\"zarr_format\":2,\"shape\":[2],\"chunks\":[2],\"dtype\":\"<i2\",\"compressor\":null,"       \
    "\"fill_value\":7,\"order\":\"C\",\"filters\":null}"

/* The other program acts when the copy opens this object of its source. */
static struct {
    zb_store_ops ops;
    const zb_store_ops *own;
    const char *key;
    void (*act)(void);
    zb_hierarchy *other;
} meanwhile;

static enum zb_code open_meanwhile(zb_store *store, const zb_open *open, zb_object **out,
                                   zb_object_info *info, zb_error *err) {
    if (meanwhile.key && strcmp(open->key, meanwhile.key) == 0) {
        meanwhile.key = NULL;
        meanwhile.act();
    }
    return meanwhile.own->open(store, open, out, info, err);
}

/* A group with an array whose only chunk is too short. */
static zb_hierarchy *new_source(void) {
    zb_hierarchy *hierarchy = store_new();
    store_set(hierarchy, ".zgroup", "{\"zarr_format\":2}");
    store_set(hierarchy, "a/.zarray", ZARRAY);
    store_set(hierarchy, "a/0", "x");
    meanwhile.own = zb_hierarchy_store(hierarchy)->ops;
    meanwhile.ops = *zb_hierarchy_store(hierarchy)->ops;
    meanwhile.ops.open = open_meanwhile;
    zb_hierarchy_store(hierarchy)->ops = &meanwhile.ops;
    return hierarchy;
}

static void copy_fails(fixture *f, const char *key, void (*act)(void), enum zb_code expected) {
    zb_hierarchy *source = new_source();
    zb_error err;
    ASSERT_OK(zb_hierarchy_open(f->root, &meanwhile.other, &err), err);
    meanwhile.key = key;
    meanwhile.act = act;
    assert_int_equal(zb_node_copy(source, "", f->hierarchy, "new", &err), expected);
    assert_null(meanwhile.key);
    zb_hierarchy_release(meanwhile.other);
    zb_hierarchy_store(source)->ops = meanwhile.own;
    zb_hierarchy_release(source);
}

static void make_it(void) {
    zb_node_release(store_group(meanwhile.other, "new", "{\"whose\":\"other\"}"));
}

static void make_it_anew(void) {
    zb_error err;
    ASSERT_OK(zb_node_delete(meanwhile.other, "new", &err), err);
    make_it();
}

static void make_one_in_it(void) {
    zb_node_release(store_array(meanwhile.other, "new/theirs"));
}

static bool is_there(fixture *f, const char *path) {
    zb_node *node;
    if (zb_node_open(f->hierarchy, path, &node, NULL))
        return false;
    zb_node_release(node);
    return true;
}

static void takes_the_place_of_none(void **state) {
    fixture *f = *state;
    copy_fails(f, ".zgroup", make_it, ZB_ECONFLICT);
    assert_true(is_there(f, "new"));
}

static void leaves_one_that_is_made_anew(void **state) {
    fixture *f = *state;
    copy_fails(f, "a/0", make_it_anew, ZB_EFORMAT);
    assert_true(is_there(f, "new"));
    assert_false(is_there(f, "new/a"));
}

static void leaves_one_in_its_group(void **state) {
    fixture *f = *state;
    copy_fails(f, "a/0", make_one_in_it, ZB_EFORMAT);
    assert_true(is_there(f, "new/theirs"));
    assert_false(is_there(f, "new/a"));
}

static void nothing(void) {
}

static void deletes_its_own(void **state) {
    fixture *f = *state;
    copy_fails(f, "a/0", nothing, ZB_EFORMAT);
    assert_false(is_there(f, "new"));
    assert_true(zb_store_is_absent(f->store, "new"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(takes_the_place_of_none),
        FIXTURE_TEST(leaves_one_that_is_made_anew),
        FIXTURE_TEST(leaves_one_in_its_group),
        FIXTURE_TEST(deletes_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
