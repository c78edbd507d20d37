/* SPDX-License-Identifier: MIT */
/* The children of groups, from listings and, where a store cannot list, from consolidated
   metadata. */
#include "support/check.h"
#include "support/sample.h"
#include "support/wrappers.h"
#include "zarrbridge/sys/store.h"

#include <errno.h>
#include <unistd.h>

static zb_hierarchy *new_store(bool can_list) {
    zb_hierarchy *hierarchy;
    assert_int_equal(zb_hierarchy_new_mem("test", &hierarchy, NULL), ZB_OK);
    zb_hierarchy_store(hierarchy)->hints.can_list = can_list;
    return hierarchy;
}

static void set(zb_hierarchy *hierarchy, const char *key, const char *text) {
    assert_int_equal(zb_store_mem_set(zb_hierarchy_store(hierarchy), key, text, strlen(text), NULL),
                     ZB_OK);
}

static void set_group(zb_hierarchy *hierarchy, const char *key) {
    set(hierarchy, key, "{\"zarr_format\":3,\"node_type\":\"group\"}");
}

/* A group whose consolidated metadata is that map. */
static void set_consolidated(zb_hierarchy *hierarchy, const char *key, const char *map) {
    char text[1024];
    snprintf(text, sizeof text,
             "{\"zarr_format\":3,\"node_type\":\"group\",\"consolidated_metadata\":"
             "{\"kind\":\"inline\",\"must_understand\":false,\"metadata\":%s}}",
             map);
    set(hierarchy, key, text);
}

/* Compares names with those of children that were opened, and stops after `limit` of them. */
typedef struct comparison {
    const zb_children *children;
    size_t met, limit;
} comparison;

static int compare_name(void *context, const char *name) {
    comparison *c = context;
    assert_true(c->met < c->children->count);
    assert_string_equal(name, c->children->child[c->met].name);
    return ++c->met == c->limit;
}

/* Names without their nodes are those of the children, in the same order. */
static void names_are_those(const zb_node *group, const zb_children *children,
                            enum zb_code expected, const zb_error *reason) {
    comparison c = {.children = children};
    zb_error err;
    assert_int_equal(zb_group_names(group, compare_name, &c, &err), expected);
    assert_int_equal(c.met, children->count);
    if (expected)
        assert_string_equal(err.message, reason->message);
}

/* The children's names in a line, "!" behind those that could not be opened. */
static enum zb_code children_of(zb_hierarchy *hierarchy, const char *path, char line[256],
                                zb_error *err) {
    zb_node *node;
    zb_children children;
    if (zb_node_open(hierarchy, path, &node, err))
        fail_msg("%s", err->message);
    enum zb_code code = zb_group_children(node, &children, err);
    names_are_those(node, &children, code, err);
    size_t used = 0;
    line[0] = '\0';
    for (size_t i = 0; i < children.count; i++) {
        const zb_child *child = &children.child[i];
        assert_int_equal(child->node == NULL, child->reason != NULL);
        if (child->node)
            assert_string_equal(zb_node_name(child->node), child->name);
        used += (size_t)snprintf(line + used, 256 - used, "%s%s%s", i ? " " : "", child->name,
                                 child->reason ? "!" : "");
    }
    zb_children_free(&children);
    assert_int_equal(children.count, 0);
    zb_node_release(node);
    return code;
}

static void lists_the_store(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = new_store(true);
    char *array = sample_array("", NULL);
    /* A stale block is not believed where the store can list. */
    set_consolidated(hierarchy, "zarr.json", "{\"gone\":{},\"../up\":{}}");
    set(hierarchy, "b/zarr.json", array);
    set(hierarchy, "b/c/0/0", "chunk");
    set(hierarchy, "a/zarr.json", array);
    set(hierarchy, "B/zarr.json", array);
    set_group(hierarchy, "c/zarr.json");
    set_group(hierarchy, "c/deep/zarr.json");
    set_group(hierarchy, "\xc3\xa9/zarr.json");
    set(hierarchy, "broken/zarr.json", "{");
    set(hierarchy, "odd/zarr.json", "{\"zarr_format\":3,\"node_type\":\"group\",\"x\":1}");
    set(hierarchy, "implicit/t/zarr.json", array);
    set(hierarchy, "__reserved/zarr.json", array);
    set(hierarchy, ".hidden/zarr.json", array);
    set(hierarchy, ".git/HEAD", "no node");
    set(hierarchy, "__attribute.0123456789abcdef/zarr.json", array); /* names of ours */
    set(hierarchy, ".d.1.2.zb-tmp/zarr.json", array);
    set(hierarchy, ".d.1-2.zarrbridge-new/zarr.json", array);
    set(hierarchy, "file", "no directory");
    char line[256];
    zb_error err;
    assert_int_equal(children_of(hierarchy, "", line, &err), ZB_OK);
    assert_string_equal(line, ".hidden B __reserved a b broken! c odd! \xc3\xa9");
    assert_int_equal(children_of(hierarchy, "c", line, &err), ZB_OK);
    assert_string_equal(line, "deep");
    assert_int_equal(children_of(hierarchy, "c/deep", line, &err), ZB_OK);
    assert_string_equal(line, "");
    assert_int_equal(children_of(hierarchy, "b", line, &err), ZB_EINVAL);
    assert_string_equal(err.message, "store test, array /b: an array has no children");
    zb_hierarchy_release(hierarchy);
    free(array);
}

static void gives_the_reason(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = new_store(true);
    set_group(hierarchy, "zarr.json");
    set(hierarchy, "t/zarr.json", "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[-1]}");
    zb_node *node;
    zb_children children;
    assert_int_equal(zb_node_open(hierarchy, "", &node, NULL), ZB_OK);
    assert_int_equal(zb_group_children(node, &children, NULL), ZB_OK);
    assert_int_equal(children.count, 1);
    assert_null(children.child[0].node);
    assert_string_equal(children.child[0].reason,
                        "store test, array /t: shape[0] is -1, expected an integer of at least 0");
    zb_children_free(&children);
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
}

static void believes_consolidated_names(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = new_store(false);
    char *array = sample_array("", NULL);
    /* As zarr-python writes it: all in the root, an empty block in each group below. "c/t" names
       "c" although "c" itself is left out; "gone" is stale; the documents inside are not looked
       at. */
    set_consolidated(hierarchy, "zarr.json",
                     "{\"b\":{\"node_type\":\"group\"},\"a\":3,\"b/t\":{},\"b/s\":{},\"b/s/u\":{},"
                     "\"c/t\":{},\"gone\":{},\"bb\":{},\"__x\":{},"
                     "\"__attribute.0123456789abcdef\":{},\"wrong\":{}}");
    set(hierarchy, "a/zarr.json", array);
    set_consolidated(hierarchy, "b/zarr.json", "{}");
    set(hierarchy, "b/t/zarr.json", array);
    set_group(hierarchy, "b/s/zarr.json");
    set_group(hierarchy, "b/s/u/zarr.json");
    set_group(hierarchy, "c/zarr.json");
    set_group(hierarchy, "bb/zarr.json");
    set_group(hierarchy, "unknown/zarr.json");
    set(hierarchy, "__x/zarr.json", array);
    set(hierarchy, "wrong/zarr.json", "[]");
    static const char *const rows[][2] = {
        {"", "__x a b bb c wrong!"}, {"b", "s t"}, {"b/s", "u"}, {"b/s/u", ""}, {"bb", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char line[256];
        zb_error err = {0};
        if (children_of(hierarchy, rows[i][0], line, &err))
            fail_msg("%s", err.message);
        assert_string_equal(line, rows[i][1]);
    }
    zb_hierarchy_release(hierarchy);
    free(array);
}

static void uses_the_nearest_block(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = new_store(false);
    set_group(hierarchy, "zarr.json");
    set_consolidated(hierarchy, "a/zarr.json", "{\"b\":{},\"b/c\":{}}");
    set_group(hierarchy, "a/b/zarr.json");
    set_group(hierarchy, "a/b/c/zarr.json");
    char line[256];
    zb_error err;
    assert_int_equal(children_of(hierarchy, "a", line, &err), ZB_OK);
    assert_string_equal(line, "b");
    assert_int_equal(children_of(hierarchy, "a/b", line, &err), ZB_OK);
    assert_string_equal(line, "c");
    assert_int_equal(children_of(hierarchy, "", line, &err), ZB_EUNSUPPORTED);
    assert_non_null(strstr(err.message, "store test, group /: the store cannot list names"));
    zb_hierarchy_release(hierarchy);
}

/* An ancestor that is missing or broken has no hint, and is not an obstacle. */
static void passes_over_bad_ancestors(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = new_store(false);
    set_consolidated(hierarchy, "zarr.json", "{\"a/b/c\":{}}");
    set(hierarchy, "a/zarr.json", "broken");
    set_group(hierarchy, "a/b/zarr.json");
    set_group(hierarchy, "a/b/c/zarr.json");
    char line[256];
    zb_error err;
    assert_int_equal(children_of(hierarchy, "a/b", line, &err), ZB_OK);
    assert_string_equal(line, "c");
    zb_hierarchy_release(hierarchy);
}

static void an_empty_block_means_none(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = new_store(false);
    set_consolidated(hierarchy, "zarr.json", "{}");
    char line[256];
    zb_error err;
    assert_int_equal(children_of(hierarchy, "", line, &err), ZB_OK);
    assert_string_equal(line, "");
    zb_hierarchy_release(hierarchy);
}

static void passes_over_names_that_escape(void **state) {
    (void)state;
    static const char *const names[] = {"../up", "/etc", "a/../../b", "a//b", "..", "a/", "", "/"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        zb_hierarchy *hierarchy = new_store(false);
        char map[64];
        snprintf(map, sizeof map, "{\"%s\":{},\"good\":7}", names[i]);
        set_consolidated(hierarchy, "zarr.json", map);
        set_group(hierarchy, "good/zarr.json");
        char line[256];
        zb_error err;
        assert_int_equal(children_of(hierarchy, "", line, &err), ZB_OK);
        assert_string_equal(line, "good");
        zb_hierarchy_release(hierarchy);
    }
}

/* main sets the limit to 20, before anything reads it. */
static void limits_the_number(void **state) {
    (void)state;
    for (int can_list = 0; can_list < 2; can_list++) {
        for (unsigned count = 20; count <= 21; count++) {
            zb_hierarchy *hierarchy = new_store(can_list);
            char map[512] = "{\"n00\":{}";
            for (unsigned i = 0; i < count; i++) {
                char key[32];
                snprintf(key, sizeof key, "n%02u/zarr.json", i);
                set_group(hierarchy, key);
                if (i > 0)
                    snprintf(map + strlen(map), sizeof map - strlen(map), ",\"n%02u\":{}", i);
            }
            strcat(map, "}");
            set_consolidated(hierarchy, "zarr.json", map);
            char line[256];
            zb_error err;
            enum zb_code code = children_of(hierarchy, "", line, &err);
            assert_int_equal(code, count == 20 ? ZB_OK : ZB_ELIMIT);
            if (code)
                assert_non_null(strstr(err.message, "more than 20 names, the limit children"));
            zb_hierarchy_release(hierarchy);
        }
    }
}

static void reports_store_errors(void **state) {
    (void)state;
    zb_hierarchy *inner = new_store(true);
    set_group(inner, "zarr.json");
    set_group(inner, "a/zarr.json");
    set_group(inner, "b/zarr.json");
    zb_hierarchy *fault;
    assert_int_equal(wrap(zb_store_new_fault, inner, &fault, NULL), ZB_OK);
    zb_node *node;
    zb_children children;
    zb_error err;
    assert_int_equal(zb_node_open(fault, "", &node, NULL), ZB_OK);
    zb_store_fault_set(zb_hierarchy_store(fault), 1); /* the listing */
    assert_int_equal(zb_group_children(node, &children, &err), ZB_EIO);
    assert_int_equal(err.sys_errno, EIO);
    assert_int_equal(children.count, 0);
    zb_store_fault_set(zb_hierarchy_store(fault), 2); /* opening a: known, but not readable */
    assert_int_equal(zb_group_children(node, &children, &err), ZB_OK);
    assert_int_equal(children.count, 2);
    assert_null(children.child[0].node);
    assert_non_null(strstr(children.child[0].reason, "store test, node /a: injected fault"));
    assert_non_null(children.child[1].node);
    zb_children_free(&children);
    zb_node_release(node);
    zb_hierarchy_release(fault);
    zb_hierarchy_release(inner);
}

static void put_text(zb_hierarchy *hierarchy, const char *key, const char *text, bool waits) {
    const zb_part part = {text, strlen(text)};
    const zb_put put = {.key = key,
                        .parts = &part,
                        .count = 1,
                        .sync = waits ? ZB_SYNC_CLOSE : ZB_SYNC_NONE,
                        .waits = waits};
    zb_error err;
    ASSERT_OK(zb_store_put_as(zb_hierarchy_store(hierarchy), &put, &err), err);
}

/* The listing of a directory tells most nodes at once; links and what waits are asked about. */
static void lists_directories(void **state) {
    (void)state;
    static const char group[] = "{\"zarr_format\":3,\"node_type\":\"group\"}";
    static const char older[] = "{\"zarr_format\":2}";
    char *root = check_new_directory(), target[512], line[256];
    zb_hierarchy *hierarchy;
    zb_error err;
    ASSERT_OK(zb_hierarchy_open(root, &hierarchy, &err), err);
    put_text(hierarchy, "zarr.json", group, false);
    put_text(hierarchy, "new/zarr.json", group, false);
    put_text(hierarchy, "old/.zgroup", older, false);
    put_text(hierarchy, "bad/.zarray", older, false);
    put_text(hierarchy, "above/old/.zgroup", older, false);
    put_text(hierarchy, "none/zarr.jso", group, false);
    put_text(hierarchy, "object", group, false);
    put_text(hierarchy, "waits/other", group, false);
    put_text(hierarchy, "waits/zarr.json", group, true);
    snprintf(target, sizeof target, "%s/link", root);
    assert_int_equal(symlink("new", target), 0);
    ASSERT_OK(children_of(hierarchy, "", line, &err), err);
    assert_string_equal(line, "above bad! link new old waits");
    zb_hierarchy_release(hierarchy);
    check_remove_directory(root);
}

/* The second name's document cannot be asked about, so that it may be there. */
static void names_stop_and_stay(void **state) {
    (void)state;
    zb_hierarchy *inner = new_store(true);
    set_group(inner, "zarr.json");
    set_group(inner, "a/zarr.json");
    set_group(inner, "b/zarr.json");
    zb_hierarchy *fault;
    assert_int_equal(wrap(zb_store_new_fault, inner, &fault, NULL), ZB_OK);
    zb_node *node;
    zb_children children;
    zb_error err;
    assert_int_equal(zb_node_open(fault, "", &node, NULL), ZB_OK);
    assert_int_equal(zb_group_children(node, &children, NULL), ZB_OK);
    for (size_t limit = 1; limit <= 2; limit++) {
        comparison c = {.children = &children, .limit = limit};
        assert_int_equal(zb_group_names(node, compare_name, &c, &err), ZB_OK);
        assert_int_equal(c.met, limit);
    }
    zb_store_fault_set(zb_hierarchy_store(fault), 1); /* the listing */
    comparison c = {.children = &children};
    assert_int_equal(zb_group_names(node, compare_name, &c, &err), ZB_EIO);
    zb_store_fault_set(zb_hierarchy_store(fault), 3); /* the question about b */
    assert_int_equal(zb_group_names(node, compare_name, &c, &err), ZB_OK);
    assert_int_equal(c.met, 2);
    zb_children_free(&children);
    zb_node_release(node);
    zb_hierarchy_release(fault);
    zb_hierarchy_release(inner);
}

int main(void) {
    setenv("ZARRBRIDGE_CHILDREN", "20", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_the_store),
        cmocka_unit_test(gives_the_reason),
        cmocka_unit_test(believes_consolidated_names),
        cmocka_unit_test(uses_the_nearest_block),
        cmocka_unit_test(passes_over_bad_ancestors),
        cmocka_unit_test(an_empty_block_means_none),
        cmocka_unit_test(passes_over_names_that_escape),
        cmocka_unit_test(limits_the_number),
        cmocka_unit_test(reports_store_errors),
        cmocka_unit_test(names_stop_and_stay),
        cmocka_unit_test(lists_directories),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
