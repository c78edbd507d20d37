/* SPDX-License-Identifier: MIT */
/*
 * Reading boxes and points: random arrays of every encoding, random boxes, steps, strides and
 * conversions, compared element by element; each test runs over a store that answers at once and
 * over one that answers later. Repeated, cached and merged reads are in plan_test, the requests of
 * the second kind in flow_test.
 */
#include "types/scatter.h"
#include "support/arrays.h"
#include "support/later.h"
#include "support/stores.h"
#include "zarrbridge/read.h"
#include "zarrbridge/sys/hierarchy.h"

/* A request with its own destination, twice as large as needed, where nothing else may be
   touched. */
typedef struct request {
    uint64_t start[ARRAYS_NDIM], count[ARRAYS_NDIM], step[ARRAYS_NDIM], elements;
    int64_t strides[ARRAYS_NDIM];
    zb_dtype dtype;
    unsigned char *memory;
    size_t size;
    zb_read read;
} request;

#define UNTOUCHED 0xa5

/* The stores of the tests that run now: around the one in memory, or that one itself. */
static bool answers_later;

static zb_hierarchy *around(zb_hierarchy *mem) {
    static unsigned number; /* the options differ from store to store */
    if (!answers_later)
        return zb_hierarchy_retain(mem);
    const unsigned n = number++;
    return later_over(mem, (later_options){.shuffles = n % 2,
                                           .is_unversioned = n % 5 == 4,
                                           .in_flight = n % 3 ? 16 : 2,
                                           .part = n % 4 ? 1 << 20 : 512,
                                           .window = n % 7 ? 0 : 8192,
                                           .fresh = n % 3 ? 0 : 3600000000000});
}

static const zb_dtype targets[] = {
    {ZB_KIND_BOOL, 1, false, NULL},    {ZB_KIND_INT, 4, false, NULL},
    {ZB_KIND_UINT, 8, true, NULL},     {ZB_KIND_FLOAT, 8, false, NULL},
    {ZB_KIND_COMPLEX, 16, true, NULL}, {ZB_KIND_FLOAT, 2, false, NULL}};

static void choose_box(request *r, const arrays_sample *a, check_random *random) {
    bool whole = check_random_in(random, 0, 4) == 0;
    r->elements = 1;
    for (uint32_t d = 0; d < a->spec.ndim; d++) {
        uint64_t extent = a->spec.shape[d];
        r->start[d] = whole ? 0 : check_random_in(random, 0, extent);
        r->step[d] = whole || check_random_in(random, 0, 1) ? 1 : check_random_in(random, 1, 40);
        uint64_t most = r->start[d] < extent ? (extent - r->start[d] - 1) / r->step[d] + 1 : 0;
        r->count[d] = whole ? most : check_random_in(random, most > 0, most);
        r->elements *= r->count[d];
    }
}

/* Strides in a random order of dimensions, with gaps, of any sign. */
static void choose_strides(request *r, uint32_t ndim, check_random *random) {
    int64_t stride = r->dtype.size;
    int64_t lowest = 0;
    uint32_t first = ndim ? (uint32_t)check_random_in(random, 0, ndim - 1) : 0;
    for (uint32_t i = 0; i < ndim; i++) {
        uint32_t d = (first + i) % ndim;
        stride += (int64_t)(check_random_in(random, 0, 3) == 0 ? r->dtype.size : 0);
        bool negative = check_random_in(random, 0, 2) == 0;
        r->strides[d] = negative ? -stride : stride;
        int64_t span = r->count[d] ? (int64_t)(r->count[d] - 1) * stride : 0;
        if (negative)
            lowest -= span;
        stride = span + stride;
    }
    r->size = (size_t)stride;
    r->memory = malloc(r->size);
    assert_non_null(r->memory);
    memset(r->memory, UNTOUCHED, r->size);
    r->read.view.data = r->memory - lowest;
}

static request new_request(const arrays_sample *a, const zb_node *node, check_random *random) {
    request r = {.dtype = a->dtype};
    choose_box(&r, a, random);
    if (check_random_in(random, 0, 2) == 0) {
        zb_dtype other = targets[check_random_in(random, 0, sizeof targets / sizeof *targets - 1)];
        if (zb_dtype_converts(a->dtype, other))
            r.dtype = other;
    }
    if (check_random_in(random, 0, 1)) {
        choose_strides(&r, a->spec.ndim, random);
    } else {
        int64_t stride = r.dtype.size;
        for (uint32_t d = a->spec.ndim; d-- > 0; stride *= (int64_t)r.count[d])
            r.strides[d] = stride;
        r.size = (size_t)r.elements * r.dtype.size;
        r.memory = malloc(r.size + 1);
        memset(r.memory, UNTOUCHED, r.size);
        r.read.view.data = r.memory;
    }
    r.read.node = node;
    r.read.view.dtype = r.dtype;
    return r;
}

/* The pointers of a request are set last: it moves while it is made. */
static zb_read point(request *r) {
    r->read.start = r->start;
    r->read.count = r->count;
    r->read.step = r->step;
    r->read.view.strides = r->strides;
    return r->read;
}

/* True when every element is right and nothing else was touched. Undoes the request's memory. */
static bool is_right(request *r, const arrays_sample *a) {
    uint64_t index[ARRAYS_NDIM];
    bool right = true;
    for (uint64_t i = 0; i < r->elements; i++) {
        uint64_t rest = i;
        unsigned char *got = r->read.view.data, expected[16];
        for (uint32_t d = a->spec.ndim; d-- > 0; rest /= r->count[d]) {
            index[d] = r->start[d] + rest % r->count[d] * r->step[d];
            got += (int64_t)(rest % r->count[d]) * r->strides[d];
        }
        zb__convert(a->dtype, arrays_at(a, index), 0, r->dtype, expected, 0, 1);
        right = right && memcmp(got, expected, r->dtype.size) == 0;
        memset(got, UNTOUCHED, r->dtype.size);
    }
    for (size_t i = 0; i < r->size; i++)
        right = right && r->memory[i] == UNTOUCHED;
    return right;
}

static void fail_for(const arrays_sample *a, const request *r, const char *what) {
    char *text = arrays_describe(&a->spec), name[ZB_DTYPE_NAME_SIZE];
    print_error("%s: %s\n", what, text);
    for (uint32_t d = 0; r && d < a->spec.ndim; d++)
        print_error("  dimension %u: start %llu count %llu step %llu stride %lld\n", d,
                    (unsigned long long)r->start[d], (unsigned long long)r->count[d],
                    (unsigned long long)r->step[d], (long long)r->strides[d]);
    if (r)
        print_error("  into %s\n", zb_dtype_name(r->dtype, name));
    free(text);
    fail();
}

/* One call with one to four boxes of one array. */
static void read_boxes(const arrays_sample *a, const zb_node *node, check_random *random) {
    request requests[4];
    zb_read reads[4];
    size_t count =
        (size_t)check_random_in(random, 0, 3) ? 1 : (size_t)check_random_in(random, 2, 4);
    for (size_t i = 0; i < count; i++)
        requests[i] = new_request(a, node, random);
    for (size_t i = 0; i < count; i++)
        reads[i] = point(&requests[i]);
    zb_error err;
    enum zb_code code = zb_array_read(reads, count, &err);
    if (code != ZB_OK)
        fail_for(a, &requests[0], err.message);
    for (size_t i = 0; i < count; i++) {
        if (!is_right(&requests[i], a))
            fail_for(a, &requests[i], "wrong values");
        free(requests[i].memory);
    }
}

static void read_points(const arrays_sample *a, const zb_node *node, check_random *random) {
    size_t count = (size_t)check_random_in(random, 0, 60), stride = a->dtype.size + 3;
    if (a->elements == 0)
        return;
    uint64_t *coords = calloc(count * a->spec.ndim + 1, sizeof *coords);
    unsigned char *values = malloc(count * stride + 1);
    for (size_t i = 0; i < count * a->spec.ndim; i++)
        coords[i] = check_random_in(random, 0, a->spec.shape[i % a->spec.ndim] - 1);
    memset(values, UNTOUCHED, count * stride);
    zb_error err;
    const int64_t apart = (int64_t)stride;
    const zb_points points = {.node = node,
                              .coords = coords,
                              .count = count,
                              .view = {.data = values, .dtype = a->dtype, .strides = &apart}};
    ASSERT_OK(zb_array_read_points(&points, &err), err);
    for (size_t i = 0; i < count; i++) {
        const unsigned char *got = values + i * stride;
        if (memcmp(got, arrays_at(a, coords + i * a->spec.ndim), a->dtype.size) != 0)
            fail_for(a, NULL, "wrong points");
        assert_int_equal(got[a->dtype.size], UNTOUCHED);
    }
    free(coords);
    free(values);
}

static void random_arrays(void **state) {
    (void)state;
    check_random random = check_random_new();
    const int count = (int[]){200, 400, 40000}[check_test_length()];
    for (int round = 0; round < count; round++) {
        zb_hierarchy *mem = stores_new_mem();
        arrays_spec spec = arrays_random_spec(&random);
        arrays_sample a = arrays_write(&spec, &random, mem, "group/a");
        zb_hierarchy *hierarchy = around(mem);
        zb_node *node = stores_open_node(hierarchy, "group/a");
        for (int n = 0; n < 12; n++)
            read_boxes(&a, node, &random);
        read_points(&a, node, &random);
        zb_node_release(node);
        arrays_free(&a);
        zb_hierarchy_release(hierarchy);
        zb_hierarchy_release(mem);
    }
}

/* Boxes of several arrays in one call. */
static void several_arrays_at_once(void **state) {
    (void)state;
    check_random random = check_random_new();
    for (int round = 0; round < 30; round++) {
        enum { ARRAYS = 5 };
        static const char *const paths[ARRAYS] = {"a", "b", "c/d", "c/e", "f"};
        zb_hierarchy *mem = stores_new_mem(), *store = around(mem);
        arrays_sample samples[ARRAYS];
        zb_node *nodes[ARRAYS];
        request requests[3 * ARRAYS];
        zb_read reads[3 * ARRAYS];
        for (size_t i = 0; i < ARRAYS; i++) {
            arrays_spec spec = arrays_random_spec(&random);
            samples[i] = arrays_write(&spec, &random, mem, paths[i]);
            nodes[i] = stores_open_node(i == 1 ? mem : store, paths[i]);
        }
        for (size_t i = 0; i < 3 * ARRAYS; i++)
            requests[i] = new_request(&samples[i % ARRAYS], nodes[i % ARRAYS], &random);
        for (size_t i = 0; i < 3 * ARRAYS; i++)
            reads[i] = point(&requests[i]);
        zb_error err;
        ASSERT_OK(zb_array_read(reads, 3 * ARRAYS, &err), err);
        for (size_t i = 0; i < 3 * ARRAYS; i++) {
            if (!is_right(&requests[i], &samples[i % ARRAYS]))
                fail_for(&samples[i % ARRAYS], &requests[i], "wrong values");
            free(requests[i].memory);
        }
        for (size_t i = 0; i < ARRAYS; i++) {
            zb_node_release(nodes[i]);
            arrays_free(&samples[i]);
        }
        zb_hierarchy_release(store);
        zb_hierarchy_release(mem);
    }
}

/* ---- Arguments ---- */

static const arrays_spec small = {.ndim = 2,
                                  .shape = {10, 7},
                                  .chunk = {{4, 4}, {2, 2}},
                                  .depth = 1,
                                  .type = "int16",
                                  .codec = ARRAYS_ZSTD};

static void defaults_read_all(void **state) {
    (void)state;
    check_random random = check_random_new();
    zb_error err;
    zb_hierarchy *mem = stores_new_mem(), *store = around(mem);
    arrays_sample a = arrays_write(&small, &random, mem, "");
    zb_node *node = stores_open_node(store, "");
    int16_t values[70];
    zb_read read = {.node = node, .view = {.data = values, .dtype = a.dtype}};
    ASSERT_OK(zb_array_read(&read, 1, &err), err);
    assert_memory_equal(values, a.values, sizeof values);
    uint64_t start[2] = {3, 1}, step[2] = {3, 5};
    read.start = start;
    read.step = step;
    ASSERT_OK(zb_array_read(&read, 1, &err), err); /* rows 3, 6, 9 and columns 1, 6 */
    assert_memory_equal(&values[5], arrays_at(&a, (uint64_t[]){9, 6}), 2);
    ASSERT_OK(zb_array_read(NULL, 0, &err), err);
    ASSERT_OK(zb_array_read_points(&(zb_points){.node = node, .view.dtype = a.dtype}, &err), err);
    zb_node_release(node);
    arrays_free(&a);
    zb_hierarchy_release(store);
    zb_hierarchy_release(mem);
}

static void bad_arguments_are_refused(void **state) {
    (void)state;
    check_random random = check_random_new();
    zb_error err;
    zb_hierarchy *mem = stores_new_mem(), *store = around(mem);
    arrays_sample a = arrays_write(&small, &random, mem, "x");
    zb_node *node = stores_open_node(store, "x");
    static const struct {
        uint64_t start[2], count[2], step[2];
        enum zb_code code;
    } rows[] = {{{0, 0}, {10, 7}, {1, 1}, ZB_OK},
                {{9, 6}, {1, 1}, {UINT64_MAX, UINT64_MAX}, ZB_OK},
                {{10, 7}, {0, 0}, {1, 1}, ZB_OK},
                {{99, 0}, {0, 1}, {0, 1}, ZB_OK}, /* empty boxes have no place */
                {{0, 0}, {11, 7}, {1, 1}, ZB_EINVAL},
                {{10, 0}, {1, 1}, {1, 1}, ZB_EINVAL},
                {{0, 0}, {2, 2}, {1, 0}, ZB_EINVAL},
                {{0, 0}, {4, 1}, {4, 1}, ZB_EINVAL},
                {{0, 99}, {0, 1}, {1, 1}, ZB_EINVAL},
                {{UINT64_MAX, 0}, {2, 1}, {1, 1}, ZB_EINVAL},
                {{5, 0}, {UINT64_MAX, 1}, {1, 1}, ZB_EINVAL},
                {{5, 0}, {3, 1}, {UINT64_MAX / 2 + 1, 1}, ZB_EINVAL}};
    int16_t values[70];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        zb_read read = {.node = node,
                        .start = rows[i].start,
                        .count = rows[i].count,
                        .step = rows[i].step,
                        .view = {.data = values, .dtype = a.dtype}};
        if (rows[i].code == ZB_OK)
            ASSERT_OK(zb_array_read(&read, 1, &err), err);
        else
            ASSERT_FAILS(zb_array_read(&read, 1, &err), rows[i].code, err, "array /x");
    }
    zb_read read = {.node = node, .view = {.data = values, .dtype = {ZB_KIND_RAW, 2, false, NULL}}};
    ASSERT_FAILS(zb_array_read(&read, 1, &err), ZB_EUNSUPPORTED, err, "int16 does not convert");
    uint64_t coords[] = {0, 0, 9, 7};
    zb_points points = {
        .node = node, .coords = coords, .count = 2, .view = {.data = values, .dtype = a.dtype}};
    ASSERT_FAILS(zb_array_read_points(&points, &err), ZB_EINVAL, err, "point 1");
    points.count = 1;
    points.view.dtype = (zb_dtype){ZB_KIND_COMPLEX, 8, false, NULL};
    ASSERT_FAILS(zb_array_read_points(&points, &err), ZB_EUNSUPPORTED, err, "array /x");
    zb_node_release(node);
    arrays_free(&a);
    const char group[] = "{\"zarr_format\":3,\"node_type\":\"group\"}";
    ASSERT_OK(zb_store_mem_set(zb_hierarchy_store(mem), "zarr.json", group, sizeof group - 1, &err),
              err);
    node = stores_open_node(store, "");
    read.node = node;
    ASSERT_FAILS(zb_array_read(&read, 1, &err), ZB_EINVAL, err, "group");
    points.node = node;
    ASSERT_FAILS(zb_array_read_points(&points, &err), ZB_EINVAL, err, "group");
    zb_node_release(node);
    zb_hierarchy_release(store);
    zb_hierarchy_release(mem);
}

/* A shape of 2^60 elements in chunks that do not exist: a box of it reads at once. */
static void huge_and_empty(void **state) {
    (void)state;
    zb_error err;
    zb_hierarchy *mem = stores_new_mem(), *store = around(mem);
    const char text[] =
        "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[1073741824,1073741824],"
        "\"data_type\":\"uint8\",\"chunk_grid\":{\"name\":\"regular\",\"configuration\":"
        "{\"chunk_shape\":[1,3]}},\"chunk_key_encoding\":{\"name\":\"default\"},"
        "\"fill_value\":9,\"codecs\":[{\"name\":\"bytes\"}]}";
    ASSERT_OK(zb_store_mem_set(zb_hierarchy_store(mem), "zarr.json", text, sizeof text - 1, &err),
              err);
    zb_node *node = stores_open_node(store, "");
    unsigned char values[6] = {0};
    zb_read read = {.node = node,
                    .start = (uint64_t[]){1073741820, 0},
                    .count = (uint64_t[]){2, 3},
                    .step = (uint64_t[]){2, 536870911},
                    .view = {.data = values, .dtype = {ZB_KIND_UINT, 1, false, NULL}}};
    ASSERT_OK(zb_array_read(&read, 1, &err), err);
    assert_memory_equal(values, "\t\t\t\t\t\t", 6);
    zb_node_release(node);
    zb_hierarchy_release(store);
    zb_hierarchy_release(mem);
}

enum { ROWS = 37, COLUMNS = 50, BANDS = 4 };

typedef struct band_read {
    uint64_t start[3];
    int64_t strides[3];
    double values[ROWS][COLUMNS]; /* room for any type */
} band_read;

static const uint64_t band_count[3] = {29, 41, 1};

/* Some courses ask for bands in another order, for one of them twice, as another type, or for
   another window of it. */
static zb_read read_of_band(band_read *r, const arrays_sample *a, const zb_node *node,
                            uint64_t band, uint64_t bands, int course) {
    const bool is_last = band + 1 == bands, is_double = is_last && course == 3;
    const zb_dtype to = is_double ? (zb_dtype){ZB_KIND_FLOAT, 8, false, NULL} : a->dtype;
    memset(r->values, UNTOUCHED, sizeof r->values);
    r->start[0] = is_last && course == 4 ? 4 : 3;
    r->start[1] = 5;
    r->start[2] = course == 1 ? bands - 1 - band : is_last && course == 2 ? 0 : band;
    r->strides[0] = (int64_t)sizeof r->values[0];
    r->strides[1] = to.size;
    return (zb_read){.node = node,
                     .start = r->start,
                     .count = band_count,
                     .view = {.data = r->values, .dtype = to, .strides = r->strides}};
}

static void compare_band(const band_read *r, const arrays_sample *a, zb_dtype to) {
    for (uint64_t y = 0; y < band_count[0]; y++) {
        const unsigned char *row = (const unsigned char *)r->values[y];
        for (uint64_t x = 0; x < band_count[1]; x++) {
            const uint64_t at[3] = {r->start[0] + y, r->start[1] + x, r->start[2]};
            unsigned char expected[8];
            zb__convert(a->dtype, arrays_at(a, at), 0, to, expected, 0, 1);
            assert_memory_equal(row + x * to.size, expected, to.size);
        }
        for (size_t at = band_count[1] * to.size; at < sizeof r->values[y]; at++)
            assert_int_equal(row[at], UNTOUCHED);
    }
}

static void check_bands(const arrays_sample *a, const zb_node *node, uint64_t bands, int course) {
    static band_read each[BANDS];
    zb_read reads[BANDS];
    zb_error err;
    for (uint64_t i = 0; i < bands; i++)
        reads[i] = read_of_band(&each[i], a, node, i, bands, course);
    ASSERT_OK(zb_array_read(reads, bands, &err), err);
    for (uint64_t i = 0; i < bands; i++)
        compare_band(&each[i], a, reads[i].view.dtype);
}

static void bands_of_pixels(void **state) {
    (void)state;
    static const char *const types[] = {"uint8", "int16", "float32", "bool"};
    check_random random = {.state = 11};
    for (int i = 0; i < 4 * 3 * 4; i++) {
        const uint64_t bands = 2 + (uint64_t)i % 3;
        const bool in_shards = i / 12 % 2;
        arrays_spec spec = {.ndim = 3,
                            .shape = {ROWS, COLUMNS, bands},
                            .chunk = {{20, 32, bands}, {10, 16, bands}},
                            .depth = in_shards,
                            .type = types[i / 3 % 4],
                            .codec = i / 24 ? ARRAYS_ZSTD : ARRAYS_RAW};
        zb_hierarchy *mem = stores_new_mem(), *store = around(mem);
        arrays_sample a = arrays_write(&spec, &random, mem, "");
        zb_node *node = stores_open_node(store, "");
        for (int course = 0; course < 5; course++)
            check_bands(&a, node, bands, course);
        zb_node_release(node);
        zb_hierarchy_release(store);
        zb_hierarchy_release(mem);
        arrays_free(&a);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_arrays),     cmocka_unit_test(several_arrays_at_once),
        cmocka_unit_test(defaults_read_all), cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(huge_and_empty),    cmocka_unit_test(bands_of_pixels),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    answers_later = true;
    return failed +
           cmocka_run_group_tests_name("tests over a store that answers later", tests, NULL, NULL);
}
