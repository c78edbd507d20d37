/* SPDX-License-Identifier: MIT */
/* What caches call an array: the same for what is opened again, never for something else, even
   where somebody chooses documents whose hashes are the same. */
#include "hierarchy/cache_id.h"
#include "support/stores.h"

static uint64_t id_of(const zb_hierarchy *hierarchy, const char *path, const char *document) {
    return zb__cache_id(hierarchy, path, document, strlen(document));
}

static void store_path_and_document_decide(void **state) {
    (void)state;
    zb_hierarchy *stores[2] = {stores_new_mem(), stores_new_mem()};
    const struct {
        zb_hierarchy *store;
        const char *path, *document;
    } rows[] = {
        {stores[0], "a", "document"},  {stores[1], "a", "document"}, {stores[0], "b", "document"},
        {stores[0], "a", "documents"}, {stores[0], "ad", "ocument"}, {stores[0], "", "adocument"},
    };
    enum { ROWS = sizeof rows / sizeof *rows };
    uint64_t id[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        id[i] = id_of(rows[i].store, rows[i].path, rows[i].document);
        for (size_t j = 0; j < i; j++)
            assert_true(id[i] != id[j]);
    }
    for (size_t i = 0; i < ROWS; i++) /* all are still known */
        assert_true(id[i] == id_of(rows[i].store, rows[i].path, rows[i].document));
    zb__cache_id_clear();
    for (size_t i = 0; i < ROWS; i++)
        assert_true(id[i] < id_of(rows[i].store, rows[i].path, rows[i].document));
    zb_hierarchy_release(stores[0]);
    zb_hierarchy_release(stores[1]);
}

/* What is kept is bounded, and what is opened in a loop stays known. */
static void many_documents_push_old_ones_out(void **state) {
    (void)state;
    enum { LENGTH = 1 << 16, OTHERS = 200 };
    zb_hierarchy *hierarchy = stores_new_mem();
    char *large = malloc(LENGTH + 1);
    assert_non_null(large);
    memset(large, 'x', LENGTH);
    large[LENGTH] = '\0';
    const uint64_t used = id_of(hierarchy, "used", "{}"), unused = id_of(hierarchy, "unused", "{}");
    for (int i = 0; i < OTHERS; i++) {
        large[i] = 'y';
        id_of(hierarchy, "other", large);
        assert_true(id_of(hierarchy, "used", "{}") == used);
    }
    assert_true(id_of(hierarchy, "unused", "{}") != unused);
    free(large);
    zb_hierarchy_release(hierarchy);
}

/* ---- Collisions --------------------------------------------------------------------------- */

static bool all_collide;

uint64_t __real_zb__hash(const void *bytes, size_t size);
uint64_t __wrap_zb__hash(const void *bytes, size_t size);
uint64_t __wrap_zb__hash(const void *bytes, size_t size) {
    return all_collide ? 1 : __real_zb__hash(bytes, size);
}

/* Whoever knew the key of the hash could make two nodes collide. */
static void collisions_have_two_names(void **state) {
    (void)state;
    zb_hierarchy *hierarchy = stores_new_mem();
    all_collide = true;
    const uint64_t a = id_of(hierarchy, "a", "{\"a\":1}"), b = id_of(hierarchy, "b", "{\"b\":1}");
    assert_true(a != b);
    assert_true(b == id_of(hierarchy, "b", "{\"b\":1}"));
    /* They do collide: one has pushed the other out. */
    assert_true(a != id_of(hierarchy, "a", "{\"a\":1}"));
    all_collide = false;
    zb_hierarchy_release(hierarchy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(store_path_and_document_decide),
        cmocka_unit_test(many_documents_push_old_ones_out),
        cmocka_unit_test(collisions_have_two_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
