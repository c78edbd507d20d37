/* SPDX-License-Identifier: MIT */
/*
 * Every change, with every single call to the store failing once, and with memory running out at
 * every allocation: an error comes back, each document is the old or the new one, whole, no array
 * has lost chunks, consolidated metadata is true, and the same change can be made afterwards.
 */
#include "support/store.h"
#include "support/starve.h"
#include "support/wrappers.h"
#include "zarrbridge/change.h"

typedef struct scenario {
    const char *name;
    /* Makes the change. Run again after a failure it gives ZB_OK, or ZB_ENOTFOUND or ZB_ECONFLICT
       when the change had been made already. */
    enum zb_code (*run)(zb_hierarchy *hierarchy, zb_error *err);
} scenario;

static enum zb_code create(zb_hierarchy *hierarchy, zb_error *err) {
    zb_node *node;
    enum zb_code code = zb_array_create(hierarchy, "b/x/y", &store_spec, &node, err);
    if (!code)
        zb_node_release(node);
    return code;
}

static enum zb_code set_attribute(zb_hierarchy *hierarchy, zb_error *err) {
    zb_node *node, *changed;
    enum zb_code code = zb_node_open(hierarchy, "b/D", &node, err);
    if (code)
        return code;
    code = zb_node_set_attribute(node, "x", "[1]", &changed, err);
    if (!code)
        zb_node_release(changed);
    zb_node_release(node);
    return code;
}

static enum zb_code grow(zb_hierarchy *hierarchy, zb_error *err) {
    zb_node *node, *changed;
    enum zb_code code = zb_node_open(hierarchy, "b/c", &node, err);
    if (code)
        return code;
    code = zb_array_resize(node, (const uint64_t[]){1000, 20}, &changed, err);
    if (!code)
        zb_node_release(changed);
    zb_node_release(node);
    return code;
}

static enum zb_code delete(zb_hierarchy *hierarchy, zb_error *err) {
    return zb_node_delete(hierarchy, "b", err);
}

static enum zb_code delete_root(zb_hierarchy *hierarchy, zb_error *err) {
    return zb_node_delete(hierarchy, "", err);
}

static enum zb_code copy(zb_hierarchy *hierarchy, zb_error *err) {
    return zb_node_copy(hierarchy, "b", hierarchy, "n/m", err);
}

static enum zb_code move(zb_hierarchy *hierarchy, zb_error *err) {
    return zb_node_move(hierarchy, "b", "n/m", err);
}

static const scenario scenarios[] = {
    {"create", create}, {"set_attribute", set_attribute}, {"grow", grow},
    {"delete", delete}, {"delete_root", delete_root},     {"copy", copy},
    {"move", move},
};

/* The documents before and after are the only ones that may be seen; keys that are in neither must
   not exist. The root's is judged by store_check_truthful. */
static void check_document(zb_hierarchy *hierarchy, zb_hierarchy *before, zb_hierarchy *after,
                           const char *key) {
    char *now = store_text(hierarchy, key);
    char *old = store_text(before, key);
    char *new = store_text(after, key);
    bool is_old = !now == !old && (!now || strcmp(now, old) == 0);
    bool is_new = !now == !new && (!now || strcmp(now, new) == 0);
    if (!is_old && !is_new)
        fail_msg("%s is neither old nor new: %s", key, now ? now : "(nothing)");
    free(now);
    free(old);
    free(new);
}

/* An array whose document is there has all its chunks. */
static void check_chunks(zb_hierarchy *hierarchy, const char *array, const char *chunk,
                         const char *text) {
    char key[64];
    snprintf(key, sizeof key, "%s/zarr.json", array);
    char *document = store_text(hierarchy, key);
    snprintf(key, sizeof key, "%s/%s", array, chunk);
    if (document)
        store_expect(hierarchy, key, text);
    free(document);
}

static void check_state(zb_hierarchy *hierarchy, zb_hierarchy *before, zb_hierarchy *after) {
    static const char *const keys[] = {"a/zarr.json",     "b/zarr.json",     "b/c/zarr.json",
                                       "b/D/zarr.json",   "b/D/e/zarr.json", "b/x/zarr.json",
                                       "b/x/y/zarr.json", "n/zarr.json",     "n/m/zarr.json",
                                       "n/m/c/zarr.json", "n/m/D/zarr.json", "n/m/D/e/zarr.json"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        check_document(hierarchy, before, after, keys[i]);
    check_chunks(hierarchy, "b/c", "c/0/0", "chunk");
    check_chunks(hierarchy, "b/c", "c/2/3", "other");
    check_chunks(hierarchy, "b/D/e", "c/1/1", "third");
    check_chunks(hierarchy, "n/m/c", "c/0/0", "chunk");
    check_chunks(hierarchy, "n/m/c", "c/2/3", "other");
    check_chunks(hierarchy, "n/m/D/e", "c/1/1", "third");
    store_check_truthful(hierarchy);
}

/* The change, and putting back consolidated metadata. */
static enum zb_code run_settled(const scenario *s, zb_hierarchy *hierarchy, zb_error *err) {
    enum zb_code code = s->run(hierarchy, err);
    return code ? code : zb_hierarchy_write_back(hierarchy, err);
}

/* A failure at call or allocation number nth; *failed tells whether that failure came. */
static enum zb_code run_to_failure(const scenario *s, zb_hierarchy *hierarchy, bool starve,
                                   uint64_t nth, bool *failed, zb_error *err) {
    if (starve) {
        starve_begin(nth - 1);
        enum zb_code code = run_settled(s, hierarchy, err);
        *failed = starve_end() > 0;
        return code;
    }
    zb_hierarchy *fault;
    ASSERT_OK(wrap(zb_store_new_fault, hierarchy, &fault, err), *err);
    zb_store_fault_set(zb_hierarchy_store(fault), nth);
    enum zb_code code = run_settled(s, fault, err);
    zb_hierarchy_release(fault);
    *failed = code != ZB_OK;
    return code;
}

/* True when there was no such call or allocation any more. before and after: without a failure. */
static bool run_scenario(const scenario *s, zb_hierarchy *before, zb_hierarchy *after, bool starve,
                         uint64_t nth) {
    zb_error err;
    bool failed;
    zb_hierarchy *hierarchy = store_clone(before);
    enum zb_code code = run_to_failure(s, hierarchy, starve, nth, &failed, &err);
    check_state(hierarchy, before, after);
    if (code && code != (starve ? ZB_ENOMEM : ZB_EIO))
        fail_msg("%s, failure %d: %s: %s", s->name, (int)nth, zb_code_name(code), err.message);
    char *expected = store_dump(after);
    char *now = store_dump(hierarchy);
    /* A success after a failure may have lost consolidated metadata, and nothing else. */
    bool done = !failed && strcmp(expected, now) == 0;
    if (code) {
        enum zb_code again = s->run(hierarchy, &err);
        if (again && again != ZB_ENOTFOUND && again != ZB_ECONFLICT)
            fail_msg("%s, failure %d, again: %s: %s", s->name, (int)nth, zb_code_name(again),
                     err.message);
        check_state(hierarchy, before, after);
    }
    free(expected);
    free(now);
    zb_hierarchy_release(hierarchy);
    return done;
}

/* Allocations repeat themselves, mostly inside the JSON parser: after the first hundred only
   some. */
static uint64_t next_place(uint64_t nth, bool starve) {
    return nth + (starve && nth > 100 ? 7 : 1);
}

static void run_all(bool starve) {
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        for (int consolidated = 0; consolidated < 2; consolidated++) {
            const scenario *s = &scenarios[i];
            zb_hierarchy *before = store_tree(consolidated), *after = store_clone(before);
            zb_error err;
            ASSERT_OK(s->run(after, &err), err);
            store_check_consolidated(after);
            uint64_t nth = 1;
            while (!run_scenario(s, before, after, starve, nth))
                nth = next_place(nth, starve);
            print_message("%s%s: %d places\n", s->name, consolidated ? ", consolidated" : "",
                          (int)nth - 1);
            assert_true(nth > 4); /* fewer would mean that failures do not come through */
            zb_hierarchy_release(before);
            zb_hierarchy_release(after);
        }
    }
}

static void test_calls(void **state) {
    (void)state;
    run_all(false);
}

static void test_memory(void **state) {
    (void)state;
    run_all(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_calls), cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
