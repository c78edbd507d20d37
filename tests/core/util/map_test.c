/* SPDX-License-Identifier: MIT */
/* The hash table, and the hash that stores cannot foresee. */
#include "util/map.h"

#include "support/check.h"
#include "support/starve.h"

typedef struct item {
    zb__map_link link;
    int number;
    bool is_seen;
} item;

enum { ITEMS = 1000 };
static item items[ITEMS];

/* Four items have the same hash. */
static uint64_t hash_of(int number) {
    const int four = number / 4;
    return zb__hash(&four, sizeof four);
}

static item *find(const zb__map *map, int number) {
    zb__map_link *link = zb__map_first(map, hash_of(number));
    while (link && ((item *)(void *)link)->number != number)
        link = zb__map_next(link);
    return (item *)(void *)link;
}

static void fill(zb__map *map) {
    for (int i = 0; i < ITEMS; i++) {
        items[i] = (item){.number = i};
        assert_true(zb__map_reserve(map));
        zb__map_add(map, &items[i].link, hash_of(i));
    }
}

static void finds_what_was_added(void **state) {
    (void)state;
    zb__map map = {0};
    assert_null(find(&map, 1));
    fill(&map);
    assert_int_equal(map.count, ITEMS);
    for (int i = 0; i < ITEMS; i += 3)
        zb__map_remove(&map, &items[i].link);
    for (int i = 0; i < ITEMS; i++)
        assert_ptr_equal(find(&map, i), i % 3 ? &items[i] : NULL);
    assert_null(find(&map, ITEMS));
    zb__map_free(&map);
    assert_null(find(&map, 1));
}

static void goes_through_each_once(void **state) {
    (void)state;
    zb__map map = {0};
    assert_null(zb__map_after(&map, NULL));
    fill(&map);
    size_t count = 0;
    for (zb__map_link *link = zb__map_after(&map, NULL), *next; link; link = next, count++) {
        item *one = (item *)(void *)link;
        assert_false(one->is_seen);
        one->is_seen = true;
        next = zb__map_after(&map, link);
        if (one->number % 2)
            zb__map_remove(&map, link);
    }
    assert_int_equal(count, ITEMS);
    assert_int_equal(map.count, ITEMS / 2);
    zb__map_free(&map);
}

static void stays_whole_without_memory(void **state) {
    (void)state;
    zb__map map = {0};
    starve_begin(0);
    assert_false(zb__map_reserve(&map));
    starve_end();
    fill(&map);
    while (map.count < map.buckets) { /* up to the next growth */
        item *one = calloc(1, sizeof *one);
        one->number = ITEMS + (int)map.count;
        zb__map_add(&map, &one->link, hash_of(one->number));
    }
    starve_begin(0);
    assert_false(zb__map_reserve(&map));
    starve_end();
    for (int i = 0; i < ITEMS; i++)
        assert_ptr_equal(find(&map, i), &items[i]);
    for (zb__map_link *link = zb__map_after(&map, NULL), *next; link; link = next) {
        next = zb__map_after(&map, link);
        if (((item *)(void *)link)->number >= ITEMS)
            free(link);
    }
    zb__map_free(&map);
}

/* Each byte and the length count; the same bytes have the same hash wherever they lie. */
static void hashes_depend_on_all_bytes(void **state) {
    (void)state;
    unsigned char bytes[40] = {0}, elsewhere[41] = {0};
    uint64_t seen[2 * sizeof bytes + 1];
    size_t count = 0;
    for (size_t size = 0; size <= sizeof bytes; size++)
        seen[count++] = zb__hash(bytes, size);
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = 1;
        seen[count++] = zb__hash(bytes, sizeof bytes);
        memcpy(elsewhere + 1, bytes, sizeof bytes);
        assert_true(zb__hash(elsewhere + 1, sizeof bytes) == seen[count - 1]);
        bytes[i] = 0;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            assert_true(seen[i] != seen[j]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_was_added),
        cmocka_unit_test(goes_through_each_once),
        cmocka_unit_test(stays_whole_without_memory),
        cmocka_unit_test(hashes_depend_on_all_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
