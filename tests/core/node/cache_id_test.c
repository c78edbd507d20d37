/* SPDX-License-Identifier: MIT */
/* What caches call an array: the same for what is opened again, never for something else, even
   where somebody chooses documents whose hashes are the same. */
#include "node/cache_id.h"
#include "base/mix.h"
#include "support/stores.h"

static uint64_t id_of(const zb_store *store, const char *path, const char *document) {
    return zb__cache_id(store, path, document, strlen(document));
}

static void store_path_and_document_decide(void **state) {
    (void)state;
    zb_store *stores[2] = {stores_new_mem(), stores_new_mem()};
    const struct {
        zb_store *store;
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
    zb_store_release(stores[0]);
    zb_store_release(stores[1]);
}

/* What is kept is bounded, and what is opened in a loop stays known. */
static void many_documents_push_old_ones_out(void **state) {
    (void)state;
    enum { LENGTH = 1 << 16, OTHERS = 200 };
    zb_store *store = stores_new_mem();
    char *large = malloc(LENGTH + 1);
    assert_non_null(large);
    memset(large, 'x', LENGTH);
    large[LENGTH] = '\0';
    const uint64_t used = id_of(store, "used", "{}"), unused = id_of(store, "unused", "{}");
    for (int i = 0; i < OTHERS; i++) {
        large[i] = 'y';
        id_of(store, "other", large);
        assert_true(id_of(store, "used", "{}") == used);
    }
    assert_true(id_of(store, "unused", "{}") != unused);
    free(large);
    zb_store_release(store);
}

/* ---- Collisions --------------------------------------------------------------------------- */

/* The word before the multiplication of zb__mix. */
static uint64_t unmix(uint64_t hash) {
    uint64_t inverse = 0x9e3779b97f4a7c15u; /* Newton: the number of right bits doubles */
    for (int i = 0; i < 6; i++)
        inverse *= 2 - 0x9e3779b97f4a7c15u * inverse;
    return (hash ^ hash >> 32) * inverse;
}

static uint64_t word_at(const char *text) {
    uint64_t word;
    memcpy(&word, text, sizeof word);
    return word;
}

/* Two nodes whose paths differ, and two words of their documents. */
static void collisions_have_two_names(void **state) {
    (void)state;
    zb_store *store = stores_new_mem();
    const char *first = "document of a...";
    char second[16] = "another ";
    uint64_t hash = zb__mix(zb__mix(zb__mix(0, 'a'), word_at(first)), word_at(first + 8));
    uint64_t rest = unmix(hash) ^ zb__mix(zb__mix(0, 'b'), word_at(second));
    memcpy(second + 8, &rest, sizeof rest);
    const uint64_t a = zb__cache_id(store, "a", first, 16);
    assert_true(a == zb__cache_id(store, "a", first, 16));
    const uint64_t b = zb__cache_id(store, "b", second, 16);
    assert_true(a != b);
    assert_true(b == zb__cache_id(store, "b", second, 16));
    /* They do collide: one has pushed the other out. */
    assert_true(a != zb__cache_id(store, "a", first, 16));
    zb_store_release(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(store_path_and_document_decide),
        cmocka_unit_test(many_documents_push_old_ones_out),
        cmocka_unit_test(collisions_have_two_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
