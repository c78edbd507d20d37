/* SPDX-License-Identifier: MIT */
/* Changes that are made of what the store has now. */
#include "support/check.h"
#include "support/store.h"

#include "zarrbridge/node_edit.h"

/* Adds one to the attribute "n"; meanwhile another program does so, as often as `others` says. */
typedef struct counter {
    const zb_node *node;
    int others, calls;
} counter;

static enum zb_code add_one(void *context, const zb_node *now, zb_node_edits *out, zb_error *err) {
    counter *c = context;
    const zb_json *old = zb_json_get(zb_node_attributes(now), "n");
    uint64_t number = 0;
    char *text = NULL;
    zb_json_uint64(old, &number);
    c->calls++;
    out->edit = calloc(1, sizeof *out->edit);
    assert_true(asprintf(&text, "%d", (int)number + 1) > 0);
    out->edit[out->count++] = (zb_attribute_edit){
        .name = "n", .value = text, .checked = true, .former = old ? zb_json_print(old) : NULL};
    if (c->others-- > 0) {
        zb_node *changed;
        char other[16];
        snprintf(other, sizeof other, "%d", (int)number + 100);
        assert_int_equal(zb_node_set_attribute(c->node, "n", other, &changed, err), ZB_OK);
        zb_node_release(changed);
    }
    return ZB_OK;
}

static enum zb_code nothing(void *context, const zb_node *now, zb_node_edits *out, zb_error *err) {
    (void)context, (void)now, (void)out, (void)err;
    return ZB_OK;
}

static enum zb_code remove_once(void *context, const zb_node *now, zb_node_edits *out,
                                zb_error *err) {
    const counter *c = context;
    zb_node *changed;
    if (!zb_json_get(zb_node_attributes(now), "n"))
        return ZB_OK;
    out->edit = calloc(1, sizeof *out->edit);
    out->edit[out->count++] = (zb_attribute_edit){.name = "n"};
    assert_int_equal(zb_node_set_attribute(c->node, "n", NULL, &changed, err), ZB_OK);
    zb_node_release(changed);
    return ZB_OK;
}

static void it_begins_again_while_others_change_it(void **state) {
    zb_hierarchy *hierarchy;
    zb_node *changed;
    zb_error err = {0};
    (void)state;
    ASSERT_OK(zb_hierarchy_new_mem("edit", &hierarchy, &err), err);
    zb_node *node = store_group(hierarchy, "", NULL);
    counter c = {.node = node, .others = 3};
    ASSERT_OK(zb_node_edit(node, add_one, &c, &changed, &err), err);
    assert_int_equal(err.code, ZB_OK); /* nothing of the attempts before */
    assert_int_equal(c.calls, 4);
    assert_string_equal(zb_json_number(zb_json_get(zb_node_attributes(changed), "n")), "301");
    zb_node_release(changed);
    c = (counter){.node = node, .others = 1000};
    assert_int_equal(zb_node_edit(node, add_one, &c, &changed, &err), ZB_ECONFLICT);
    assert_int_equal(c.calls, 10);
    assert_null(changed);
    ASSERT_OK(zb_node_edit(node, nothing, NULL, &changed, &err), err);
    assert_null(changed);
    ASSERT_OK(zb_node_edit(node, remove_once, &c, &changed, &err), err); /* it has gone already */
    assert_null(changed);
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
}

static void a_node_that_has_gone_is_told_once(void **state) {
    zb_hierarchy *hierarchy;
    zb_node *changed;
    zb_error err;
    (void)state;
    ASSERT_OK(zb_hierarchy_new_mem("edit", &hierarchy, &err), err);
    zb_node_release(store_group(hierarchy, "", NULL));
    zb_node *node = store_group(hierarchy, "g", NULL);
    ASSERT_OK(zb_node_delete(hierarchy, "g", &err), err);
    counter c = {.node = node};
    assert_int_equal(zb_node_edit(node, add_one, &c, &changed, &err), ZB_ENOTFOUND);
    assert_int_equal(c.calls, 0);
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_begins_again_while_others_change_it),
        cmocka_unit_test(a_node_that_has_gone_is_told_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
