/* SPDX-License-Identifier: MIT */
/* Making levels of an array, and what is left of it where that fails or is cancelled.
   (gdal_pyramids compares the pixels with those of gdaladdo.) */
#include "support/starve.h"
#include "support/stores.h"
#include "support/wrappers.h"
#include "zarrbridge/pyramid.h"
#include "zarrbridge/multiscales.h"
#include "zarrbridge/stop.h"

enum { WIDTH = 10, HEIGHT = 6, BANDS = 2 };

static const zb_dtype i16 = {.kind = ZB_KIND_INT, .size = 2};

static zb_node *create(zb_hierarchy *hierarchy, const char *path, zb_dtype dtype,
                       const char *attributes) {
    const uint64_t shape[] = {BANDS, HEIGHT, WIDTH}, chunk[] = {1, 4, 4}, shard[] = {1, 8, 8};
    static const char *const names[] = {"band", "y", "x"};
    const zb_array_spec spec = {.ndim = 3,
                                .shape = shape,
                                .inner_shape = chunk,
                                .shard_shape = shard,
                                .dtype = dtype,
                                .dimension_names = names,
                                .attributes = attributes};
    zb_node *array;
    zb_error err;
    ASSERT_OK(zb_array_create(hierarchy, path, &spec, &array, &err), err);
    return array;
}

/* Pixel (b, y, x) is 100 b + 10 y + x. */
static void fill(const zb_node *array) {
    int16_t values[BANDS][HEIGHT][WIDTH];
    for (int b = 0; b < BANDS; b++) {
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++)
                values[b][y][x] = (int16_t)(100 * b + 10 * y + x);
        }
    }
    zb_writer *writer;
    zb_error err;
    const zb_write write = {.data = values, .dtype = i16};
    ASSERT_OK(zb_writer_open(array, NULL, &writer, &err), err);
    ASSERT_OK(zb_writer_write(writer, &write, &err), err);
    ASSERT_OK(zb_writer_close(writer, &err), err);
}

static bool is_there(zb_hierarchy *hierarchy, const char *path) {
    zb_node *node = NULL;
    const bool found = zb_node_open(hierarchy, path, &node, NULL) == ZB_OK;
    zb_node_release(node);
    return found;
}

static int count_name(void *context, const char *name) {
    (void)name;
    ++*(size_t *)context;
    return 0;
}

static size_t children(zb_hierarchy *hierarchy) {
    zb_node *root = stores_open_node(hierarchy, "");
    size_t count = 0;
    zb_error err;
    ASSERT_OK(zb_group_names(root, count_name, &count, &err), err);
    zb_node_release(root);
    return count;
}

/* The root's document; the caller frees. */
static char *root_text(zb_hierarchy *hierarchy) {
    size_t size;
    char *bytes = stores_get(hierarchy, "zarr.json", &size), *text = strndup(bytes, size);
    assert_non_null(text);
    free(bytes);
    return text;
}

typedef struct world {
    zb_hierarchy *hierarchy;
    zb_node *array;
    char *root; /* its document before */
    zb_pyramid_options options;
} world;

static const uint64_t factors[] = {4, 2};

static world make_world(const char *attributes) {
    world w = {.hierarchy = stores_new_mem(),
               .options = {.factors = factors, .factor_count = 2, .method = ZB_RESAMPLE_AVERAGE}};
    zb_error err;
    zb_node *root;
    ASSERT_OK(zb_group_create(w.hierarchy, "", "{\"title\":\"t\"}", &root, &err), err);
    zb_node_release(root);
    w.array = create(w.hierarchy, "a", i16, attributes);
    fill(w.array);
    w.root = root_text(w.hierarchy);
    return w;
}

static void end_world(world *w) {
    free(w->root);
    zb_node_release(w->array);
    zb_hierarchy_release(w->hierarchy);
}

/* Nothing has been changed, and nothing is left. */
static void expect_untouched(const world *w) {
    char *now = root_text(w->hierarchy);
    assert_string_equal(now, w->root);
    assert_int_equal(children(w->hierarchy), 1);
    free(now);
}

static int16_t pixel(const world *w, const char *path, uint64_t b, uint64_t y, uint64_t x) {
    zb_node *node = stores_open_node(w->hierarchy, path);
    const uint64_t start[] = {b, y, x}, count[] = {1, 1, 1};
    int16_t value = 0;
    zb_error err;
    const zb_read read = {
        .node = node, .start = start, .count = count, .view = {.data = &value, .dtype = i16}};
    ASSERT_OK(zb_array_read(&read, 1, &err), err);
    zb_node_release(node);
    return value;
}

static void test_levels_are_made(void **state) {
    (void)state;
    world w = make_world("{\"units\":\"m\"}");
    zb_error err;
    ASSERT_OK(zb_pyramid_build(w.array, &w.options, &err), err);
    assert_int_equal(children(w.hierarchy), 3);
    zb_node *level = stores_open_node(w.hierarchy, "ovr_4x/a");
    const zb_array_info *info = zb_node_array(level);
    assert_int_equal(info->shape[0], BANDS);
    assert_int_equal(info->shape[1], 2);
    assert_int_equal(info->shape[2], 3);
    assert_string_equal(zb_json_string(zb_json_get(zb_node_attributes(level), "units")), "m");
    zb_node_release(level);
    /* The means of 0, 1, 10, 11 and of 122, 123, 132, 133, rounded half away from zero. */
    assert_int_equal(pixel(&w, "ovr_2x/a", 0, 0, 0), 6);
    assert_int_equal(pixel(&w, "ovr_2x/a", 1, 1, 1), 128);
    end_world(&w);
}

static void test_nodata_is_left_out(void **state) {
    (void)state;
    world w = make_world("{\"_FillValue\":11}");
    zb_error err;
    ASSERT_OK(zb_pyramid_build(w.array, &w.options, &err), err);
    assert_int_equal(pixel(&w, "ovr_2x/a", 0, 0, 0), 4); /* of 0, 1 and 10 */
    end_world(&w);
}

/* Levels that are there are made anew, and others stay; the list tells each once. */
static void test_levels_are_made_anew(void **state) {
    (void)state;
    world w = make_world(NULL);
    zb_error err;
    size_t removed;
    ASSERT_OK(zb_pyramid_build(w.array, &w.options, &err), err);
    const uint64_t two = 2;
    const zb_pyramid_options nearest = {.factors = &two, .factor_count = 1};
    ASSERT_OK(zb_pyramid_build(w.array, &nearest, &err), err);
    assert_int_equal(children(w.hierarchy), 3);
    assert_int_equal(pixel(&w, "ovr_2x/a", 0, 1, 1), 22);
    char *root = root_text(w.hierarchy);
    const char *entry = strstr(root, "\"ovr_2x/a\"");
    assert_non_null(entry);
    assert_null(strstr(entry + 1, "\"ovr_2x/a\""));
    assert_non_null(strstr(root, "\"nearest\""));
    assert_non_null(strstr(root, "\"average\"")); /* of the other level */
    free(root);
    ASSERT_OK(zb_pyramid_remove(w.array, &removed, &err), err);
    assert_int_equal(removed, 2);
    expect_untouched(&w);
    end_world(&w);
}

/* They hold the names, and are of rows that are no more. */
static void test_levels_of_another_size_give_way(void **state) {
    (void)state;
    world w = make_world(NULL);
    const uint64_t shape[] = {BANDS, HEIGHT, 3 * WIDTH};
    zb_node *grown, *level;
    zb_error err;
    ASSERT_OK(zb_pyramid_build(w.array, &w.options, &err), err);
    ASSERT_OK(zb_array_resize(w.array, shape, &grown, &err), err);
    ASSERT_OK(zb_pyramid_build(grown, &w.options, &err), err);
    level = stores_open_node(w.hierarchy, "ovr_2x/a");
    assert_int_equal(zb_node_array(level)->shape[2], 15);
    assert_int_equal(children(w.hierarchy), 3);
    zb_node_release(level);
    zb_node_release(grown);
    end_world(&w);
}

/* ---- Ending it ---- */

typedef struct watch {
    zb_hierarchy *hierarchy;
    double ends; /* at this share of the work */
    double last;
} watch;

static int look(void *context, double done) {
    watch *seen = context;
    assert_true(done >= seen->last && done <= 1);
    seen->last = done;
    /* Levels are made aside, and no list knows them. */
    assert_false(is_there(seen->hierarchy, "ovr_2x"));
    assert_false(is_there(seen->hierarchy, "ovr_4x"));
    return done >= seen->ends;
}

static void test_levels_appear_when_they_are_whole(void **state) {
    (void)state;
    world w = make_world(NULL);
    watch seen = {.hierarchy = w.hierarchy, .ends = 2};
    zb_error err;
    w.options.progress = look;
    w.options.context = &seen;
    ASSERT_OK(zb_pyramid_build(w.array, &w.options, &err), err);
    assert_true(seen.last == 1);
    end_world(&w);
}

static void test_a_cancelled_call_leaves_nothing(void **state) {
    (void)state;
    static const double shares[] = {0, 0.5, 1};
    for (size_t i = 0; i < 3; i++) {
        world w = make_world(NULL);
        watch seen = {.hierarchy = w.hierarchy, .ends = shares[i]};
        zb_error err;
        w.options.progress = look;
        w.options.context = &seen;
        ASSERT_FAILS(zb_pyramid_build(w.array, &w.options, &err), ZB_ECANCELLED, err, "array /a");
        expect_untouched(&w);
        end_world(&w);
    }
}

static int stop_at_once(void *unused) {
    (void)unused;
    return 1;
}

static void test_the_thread_may_stop(void **state) {
    (void)state;
    world w = make_world(NULL);
    zb_error err;
    (void)zb_thread_may_stop((zb_stop){stop_at_once, NULL});
    ASSERT_FAILS(zb_pyramid_build(w.array, &w.options, &err), ZB_ECANCELLED, err, "");
    (void)zb_thread_may_stop((zb_stop){NULL, NULL});
    expect_untouched(&w);
    end_world(&w);
}

/* Wherever memory runs out, the levels are there with their list, or nothing is. */
static void test_a_lack_of_memory_leaves_nothing(void **state) {
    (void)state;
    bool done = false;
    for (size_t left = 0; !done; left += left < 400 ? 1 : 37) {
        world w = make_world(NULL);
        zb_error err;
        starve_begin(left);
        const enum zb_code code = zb_pyramid_build(w.array, &w.options, &err);
        done = starve_end() == 0;
        char *root = root_text(w.hierarchy);
        if (code == ZB_OK)
            assert_non_null(strstr(root, "ovr_4x/a"));
        else
            assert_string_equal(root, w.root);
        free(root);
        end_world(&w);
    }
}

/* Builds with the call number `nth` of the store failing. *was_struck: there was such a call. */
static enum zb_code build_with_fault(const world *w, uint64_t nth, bool *was_struck) {
    zb_hierarchy *over;
    zb_error err;
    ASSERT_OK(wrap(zb_store_new_fault, w->hierarchy, &over, &err), err);
    zb_node *array = stores_open_node(over, "a");
    zb_store *fault = zb_hierarchy_store(over);
    zb_store_fault_set(fault, nth);
    const enum zb_code code = zb_pyramid_build(array, &w->options, &err);
    *was_struck = zb_store_fault_is_struck(fault);
    zb_store_fault_set(fault, 0);
    zb_node_release(array);
    zb_hierarchy_release(over);
    return code;
}

/* Each level is the one of before or the new one, as a whole. */
static void test_a_failure_leaves_a_level_in_each_place(void **state) {
    (void)state;
    bool was_struck = true;
    for (uint64_t nth = 1; was_struck; nth++) {
        world w = make_world(NULL);
        zb_error err;
        ASSERT_OK(zb_pyramid_build(w.array, &w.options, &err), err);
        w.options.method = ZB_RESAMPLE_NEAREST;
        const enum zb_code code = build_with_fault(&w, nth, &was_struck);
        const int16_t first = pixel(&w, "ovr_2x/a", 0, 1, 1), last = pixel(&w, "ovr_2x/a", 1, 2, 4);
        const bool is_new = first == 22;
        assert_true(code || is_new);
        assert_int_equal(first, is_new ? 22 : 28);
        assert_int_equal(last, is_new ? 148 : 154);
        assert_true(is_there(w.hierarchy, "ovr_4x/a"));
        end_world(&w);
    }
}

/* Columns and rows at equal distances of 2. */
static void add_coordinate(zb_hierarchy *hierarchy, const char *name, uint64_t count) {
    const zb_array_spec spec = {
        .ndim = 1, .shape = &count, .inner_shape = &count, .dtype = i16, .dimension_names = &name};
    int16_t values[WIDTH];
    zb_node *array;
    zb_writer *writer;
    zb_error err;
    for (int i = 0; i < (int)count; i++)
        values[i] = (int16_t)(2 * i + 1);
    const zb_write write = {.data = values, .dtype = i16};
    ASSERT_OK(zb_array_create(hierarchy, name, &spec, &array, &err), err);
    ASSERT_OK(zb_writer_open(array, NULL, &writer, &err), err);
    ASSERT_OK(zb_writer_write(writer, &write, &err), err);
    ASSERT_OK(zb_writer_close(writer, &err), err);
    zb_node_release(array);
}

/* What cannot be read is not left out of a level. */
static void test_levels_have_their_coordinates_or_are_not_made(void **state) {
    (void)state;
    static const char *const coordinates[] = {"ovr_2x/x", "ovr_2x/y", "ovr_2x/band",
                                              "ovr_4x/x", "ovr_4x/y", "ovr_4x/band"};
    bool was_struck = true;
    for (uint64_t nth = 1; was_struck; nth++) {
        world w = make_world(NULL);
        add_coordinate(w.hierarchy, "x", WIDTH);
        add_coordinate(w.hierarchy, "y", HEIGHT);
        add_coordinate(w.hierarchy, "band", BANDS);
        const enum zb_code code = build_with_fault(&w, nth, &was_struck);
        char *root = root_text(w.hierarchy);
        for (size_t i = 0; i < 6 && !code; i++)
            assert_true(is_there(w.hierarchy, coordinates[i]));
        assert_true(code || strstr(root, "spatial:transform"));
        free(root);
        end_world(&w);
    }
}

/* ---- Refusing ---- */

static void expect_refused(const char *attributes, zb_dtype dtype, enum zb_resample method,
                           const char *text) {
    zb_hierarchy *hierarchy = stores_new_mem();
    zb_node *array = create(hierarchy, "a", dtype, attributes);
    const zb_pyramid_options options = {.smallest = 2, .method = method};
    zb_error err;
    ASSERT_FAILS(zb_pyramid_build(array, &options, &err), ZB_EUNSUPPORTED, err, text);
    assert_false(is_there(hierarchy, "ovr_2x"));
    zb_node_release(array);
    zb_hierarchy_release(hierarchy);
}

static void test_what_gdal_alone_knows_is_refused(void **state) {
    (void)state;
    const zb_dtype complex = {.kind = ZB_KIND_COMPLEX, .size = 8};
    const zb_dtype u8 = {.kind = ZB_KIND_UINT, .size = 1};
    expect_refused(NULL, complex, ZB_RESAMPLE_AVERAGE, "gdaladdo");
    expect_refused("{\"COLOR_INTERPRETATION\":\"Palette\"}", u8, ZB_RESAMPLE_AVERAGE, "gdaladdo");
    expect_refused("{\"COLOR_INTERPRETATION\":[\"Gray\",\"Alpha\"]}", u8, ZB_RESAMPLE_AVERAGE,
                   "gdaladdo");
    expect_refused("{\"_Unsigned\":\"true\"}", i16, ZB_RESAMPLE_AVERAGE, "gdaladdo");
    enum zb_resample method = ZB_RESAMPLE_MODE;
    zb_error err;
    ASSERT_FAILS(zb_resample_from_name("bilinear", &method, &err), ZB_EUNSUPPORTED, err,
                 "gdaladdo -r bilinear");
    ASSERT_FAILS(zb_resample_from_name("best", &method, &err), ZB_EINVAL, err, "'best'");
    ASSERT_OK(zb_resample_from_name("NEAREST", &method, &err), err);
    assert_int_equal(method, ZB_RESAMPLE_NEAREST);
}

static void test_arguments(void **state) {
    (void)state;
    world w = make_world(NULL);
    const uint64_t one = 1;
    const zb_pyramid_options wrong = {.factors = &one, .factor_count = 1};
    zb_node *root = stores_open_node(w.hierarchy, ""), *level;
    zb_error err;
    ASSERT_FAILS(zb_pyramid_build(root, NULL, &err), ZB_EINVAL, err, "is a group");
    ASSERT_FAILS(zb_pyramid_build(w.array, &wrong, &err), ZB_EINVAL, err, "nothing smaller");
    expect_untouched(&w);
    ASSERT_OK(zb_pyramid_build(w.array, &w.options, &err), err);
    level = stores_open_node(w.hierarchy, "ovr_2x/a");
    ASSERT_FAILS(zb_pyramid_build(level, &w.options, &err), ZB_ECONFLICT, err, "pyramid");
    zb_node_release(level);
    zb_node_release(root);
    end_world(&w);
}

/* The list of another program, that says nothing of who made its levels. */
static void test_levels_of_others_are_not_removed(void **state) {
    (void)state;
    world w = make_world(NULL);
    zb_node *root = stores_open_node(w.hierarchy, ""), *changed, *other;
    zb_error err;
    other = create(w.hierarchy, "small", i16, NULL);
    const zb_attribute_edit edits[] = {
        {.name = "zarr_conventions",
         .value = "[{\"uuid\":\"d35379db-88df-4056-af3a-620245f8e347\"}]"},
        {.name = "multiscales",
         .value = "{\"layout\":[{\"asset\":\"a\"},{\"asset\":\"small\",\"derived_from\":\"a\"}]}"}};
    ASSERT_OK(zb_node_set_attributes(root, edits, 2, &changed, &err), err);
    ASSERT_FAILS(zb_pyramid_remove(w.array, NULL, &err), ZB_EUNSUPPORTED, err, "/small");
    assert_true(is_there(w.hierarchy, "small"));
    zb_node_release(other);
    zb_node_release(changed);
    zb_node_release(root);
    end_world(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels_are_made),
        cmocka_unit_test(test_nodata_is_left_out),
        cmocka_unit_test(test_levels_are_made_anew),
        cmocka_unit_test(test_levels_of_another_size_give_way),
        cmocka_unit_test(test_levels_appear_when_they_are_whole),
        cmocka_unit_test(test_a_cancelled_call_leaves_nothing),
        cmocka_unit_test(test_the_thread_may_stop),
        cmocka_unit_test(test_a_lack_of_memory_leaves_nothing),
        cmocka_unit_test(test_a_failure_leaves_a_level_in_each_place),
        cmocka_unit_test(test_levels_have_their_coordinates_or_are_not_made),
        cmocka_unit_test(test_what_gdal_alone_knows_is_refused),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_levels_of_others_are_not_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
