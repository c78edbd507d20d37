/* SPDX-License-Identifier: MIT */
/* Lists of names: they grow, are sorted without repeats, end at their limit, and free a name that
   they were given also when they cannot take it. */
#include "util/names.h"

#include <stdio.h>

#include "support/check.h"
#include "support/starve.h"
#include "util/list.h"
#include "zarrbridge/zarrbridge.h"

static void arrays_keep_their_items(void **state) {
    (void)state;
    uint64_t *items = NULL;
    size_t capacity = 0, moved = 0;
    for (size_t i = 0; i < 100000; i++) {
        size_t before = capacity;
        assert_true(zb__list_grow(&items, i, &capacity, sizeof *items));
        moved += capacity != before;
        assert_true(capacity > i);
        items[i] = i * i;
    }
    for (size_t i = 0; i < 100000; i++)
        assert_int_equal(items[i], i * i);
    assert_true(moved < 20); /* linear: it doubles */
    free(items);
}

static void arrays_stay_when_memory_runs_out(void **state) {
    (void)state;
    char *items = NULL;
    size_t capacity = 0;
    assert_true(zb__list_grow(&items, 0, &capacity, 1));
    char *before = items;
    size_t had = capacity;
    starve_begin(0);
    bool grown = zb__list_grow(&items, capacity, &capacity, 1);
    assert_int_equal(starve_end(), 1);
    assert_false(grown);
    assert_ptr_equal(items, before);
    assert_int_equal(capacity, had);
    assert_false(zb__list_grow(&items, capacity, &capacity, SIZE_MAX / 4)); /* more than there is */
    free(items);
}

static void sorts_without_repeats(void **state) {
    (void)state;
    static const char *const given[] = {"b", "a", "B", "b", "", "ab", "a", "\xc3\xa9", "b"};
    static const char *const expected[] = {"", "B", "a", "ab", "b", "\xc3\xa9"};
    zb__names names = {.count = 0};
    zb__names_sort(&names);
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        assert_int_equal(zb__names_add(&names, (zb__name){.text = strdup(given[i])}, NULL), ZB_OK);
    zb__names_sort(&names);
    assert_int_equal(names.count, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < names.count; i++)
        assert_string_equal(names.name[i].text, expected[i]);
    zb__names_free(&names);
    zb__names_free(&names);
}

/* Names that often begin alike, are short, or have bytes of UTF-8. */
static char *random_name(check_random *random) {
    static const char *const starts[] = {"", "a", "long_beginning", "long_be\xc3\xa9", "\xc3\xa9"};
    char text[40];
    snprintf(text, sizeof text, "%s%u", starts[check_random_in(random, 0, 4)],
             (unsigned)check_random_in(random, 0, 300));
    return strdup(text);
}

/* The order is the same when memory runs out. */
static void sorts_bytewise(void **state) {
    (void)state;
    check_random random = check_random_new();
    for (size_t count = 2; count < 4000; count = count * 3 + 1) {
        zb__names names = {.count = 0};
        for (size_t i = 0; i < count; i++) {
            zb__name name = {.text = random_name(&random), .is_link = true};
            assert_int_equal(zb__names_add(&names, name, NULL), ZB_OK);
        }
        char *some = strdup(names.name[count / 2].text);
        if (count % 2 == 0)
            starve_begin(0);
        zb__names_sort(&names);
        assert_int_equal(count % 2 ? 1 : starve_end(), 1);
        size_t met = 0;
        for (size_t i = 0; i < names.count; i++) {
            met += strcmp(names.name[i].text, some) == 0;
            assert_true(names.name[i].is_link);
            assert_true(i == 0 || strcmp(names.name[i - 1].text, names.name[i].text) < 0);
        }
        assert_int_equal(met, 1);
        free(some);
        zb__names_free(&names);
    }
}

static void refuses_too_many(void **state) {
    (void)state;
    zb_error err;
    zb__names names = {.count = 0};
    uint64_t limit = zb_limits_get()->children;
    for (uint64_t i = 0; i < limit; i++) {
        zb__name name = {.text = strdup("x"), .is_link = i % 2 == 0};
        assert_int_equal(zb__names_add_listed(&names, name, &err), ZB_OK);
    }
    zb__name more = {.text = strdup("y")};
    assert_int_equal(zb__names_add_listed(&names, more, &err), ZB_ELIMIT);
    assert_non_null(strstr(err.message, "the limit children"));
    assert_int_equal(names.count, limit);
    assert_true(names.name[0].is_link && !names.name[1].is_link);
    /* Our own lists have no limit. */
    assert_int_equal(zb__names_add(&names, (zb__name){.text = strdup("z")}, &err), ZB_OK);
    assert_int_equal(zb__names_add(&names, (zb__name){.text = NULL}, &err), ZB_ENOMEM);
    zb__names_free(&names);
}

int main(void) {
    setenv("ZARRBRIDGE_CHILDREN", "300", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_keep_their_items),
        cmocka_unit_test(arrays_stay_when_memory_runs_out),
        cmocka_unit_test(sorts_without_repeats),
        cmocka_unit_test(sorts_bytewise),
        cmocka_unit_test(refuses_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
