/* SPDX-License-Identifier: MIT */
/* The choice of the array that is the coordinate of a dimension. */
#include "support/check.h"
#include "zarrbridge/conventions.h"

/* An array with up to two dimensions; names may be NULL. */
typedef struct sample {
    const char *name; /* its own; NULL ends a level */
    uint32_t ndim;
    uint64_t shape[2];
    const char *names[2];
    bool unnamed; /* no dimension_names at all */
} sample;

static zb_array_info info_of(const sample *s) {
    return (zb_array_info){
        .ndim = s->ndim, .shape = s->shape, .dimension_names = s->unnamed ? NULL : s->names};
}

#define LEVELS 3
typedef struct world {
    sample level[LEVELS][3];
    zb_array_info answer;
    unsigned asked;
} world;

static const zb_array_info *look(void *context, unsigned level, const char *name) {
    world *w = context;
    w->asked++;
    assert_true(level < LEVELS);
    for (const sample *s = w->level[level]; s < w->level[level] + 3 && s->name; s++) {
        if (strcmp(s->name, name) != 0)
            continue;
        w->answer = info_of(s);
        return &w->answer;
    }
    return NULL;
}

/* The level of the coordinate of x, of a data array (y: 3, x: 5). */
static int find(world *w, unsigned levels) {
    const sample data = {"data", 2, {3, 5}, {"y", "x"}, false};
    const zb_array_info info = info_of(&data);
    const zb_surroundings around = {.levels = levels, .array = look, .context = w};
    return zb_coordinate_find(&info, 1, &around);
}

static void test_nearest_that_fits(void **state) {
    (void)state;
    world beside = {.level = {{{"x", 1, {5}, {"x"}, false}}, {{"x", 1, {5}, {"x"}, false}}}};
    assert_int_equal(find(&beside, LEVELS), 0);
    assert_int_equal(beside.asked, 1);
    world above = {
        .level = {{{"y", 1, {3}, {"y"}, false}}, {{NULL}}, {{"x", 1, {5}, {"x"}, false}}}};
    assert_int_equal(find(&above, LEVELS), 2);
    assert_int_equal(find(&above, 2), -1);
    assert_int_equal(find(&above, 0), -1);
}

static void test_namesakes_that_do_not_fit_are_passed(void **state) {
    (void)state;
    static const sample wrong[] = {
        {"x", 1, {4}, {"x"}, false},         /* another length */
        {"x", 2, {5, 5}, {"x", "t"}, false}, /* more dimensions */
        {"x", 0, {0}, {NULL}, false},        /* none */
        {"x", 1, {5}, {"lon"}, false},       /* along another dimension */
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        world w = {.level = {{wrong[i]}, {wrong[i]}, {{"x", 1, {5}, {"x"}, false}}}};
        assert_int_equal(find(&w, LEVELS), 2);
        world none = {.level = {{wrong[i]}, {wrong[i]}, {wrong[i]}}};
        assert_int_equal(find(&none, LEVELS), -1);
    }
}

static void test_dimensions_without_names_count_beside_only(void **state) {
    (void)state;
    const sample nameless[] = {{"x", 1, {5}, {NULL}, false}, {"x", 1, {5}, {NULL}, true}};
    for (size_t i = 0; i < 2; i++) {
        world beside = {.level = {{nameless[i]}}};
        assert_int_equal(find(&beside, LEVELS), 0);
        world above = {.level = {{{NULL}}, {nameless[i]}}};
        assert_int_equal(find(&above, LEVELS), -1);
    }
}

static void test_names_that_no_array_can_have(void **state) {
    (void)state;
    static const char *const names[] = {NULL, "", ".", "..", "../x", "g/x"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        world w = {.asked = 0};
        const sample data = {"data", 1, {5}, {names[i]}, false};
        const zb_array_info info = info_of(&data);
        const zb_surroundings around = {.levels = LEVELS, .array = look, .context = &w};
        assert_int_equal(zb_coordinate_find(&info, 0, &around), -1);
        assert_int_equal(w.asked, 0);
    }
    const sample unnamed = {"data", 1, {5}, {NULL}, true};
    const zb_array_info info = info_of(&unnamed);
    world w = {.asked = 0};
    const zb_surroundings around = {.levels = LEVELS, .array = look, .context = &w};
    assert_int_equal(zb_coordinate_find(&info, 0, &around), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nearest_that_fits),
        cmocka_unit_test(test_namesakes_that_do_not_fit_are_passed),
        cmocka_unit_test(test_dimensions_without_names_count_beside_only),
        cmocka_unit_test(test_names_that_no_array_can_have)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
