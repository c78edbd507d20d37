/* SPDX-License-Identifier: MIT */
/* Chunk keys, as the specification spells them. */
#include "support/sample.h"

#include "model/keys.h"
#include "node/node.h"
#include "model/array.h"

static void spells_keys(void **state) {
    (void)state;
    static const struct {
        bool v2;
        char separator;
        uint32_t ndim;
        uint64_t index[3];
        const char *key;
    } rows[] = {
        {false, '/', 0, {0}, "c"},
        {false, '.', 0, {0}, "c"},
        {true, '.', 0, {0}, "0"},
        {true, '/', 0, {0}, "0"},
        {false, '/', 1, {7}, "c/7"},
        {false, '.', 1, {7}, "c.7"},
        {true, '.', 1, {7}, "7"},
        {false, '/', 3, {1, 0, 23}, "c/1/0/23"},
        {false, '.', 3, {1, 0, 23}, "c.1.0.23"},
        {true, '/', 3, {1, 0, 23}, "1/0/23"},
        {true, '.', 3, {10, 100, 1000}, "10.100.1000"},
        {false, '/', 1, {UINT64_MAX}, "c/18446744073709551615"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        zb__key_encoding keys = {.v2 = rows[i].v2, .separator = rows[i].separator};
        char text[ZB__CHUNK_KEY_MAX];
        zb__chunk_key(&keys, rows[i].ndim, rows[i].index, text);
        assert_string_equal(text, rows[i].key);
    }
}

static void has_room_for_the_longest(void **state) {
    (void)state;
    uint64_t index[ZB_MAX_NDIM];
    for (size_t d = 0; d < ZB_MAX_NDIM; d++)
        index[d] = UINT64_MAX;
    char text[ZB__CHUNK_KEY_MAX];
    zb__chunk_key(&(zb__key_encoding){.separator = '/'}, ZB_MAX_NDIM, index, text);
    assert_int_equal(strlen(text), ZB__CHUNK_KEY_MAX - 1);
}

static void puts_the_path_before(void **state) {
    (void)state;
    zb__array array = {.info = {.ndim = 2}, .keys = {false, '/'}};
    char root[] = "";
    char path[] = "a/b";
    const uint64_t index[2] = {3, 4};
    zb_node node = {.path = root, .array = &array};
    char *key = zb__array_chunk_key(&node, index);
    assert_string_equal(key, "c/3/4");
    free(key);
    node.path = path;
    key = zb__array_chunk_key(&node, index);
    assert_string_equal(key, "a/b/c/3/4");
    free(key);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spells_keys),
        cmocka_unit_test(has_room_for_the_longest),
        cmocka_unit_test(puts_the_path_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
