/* SPDX-License-Identifier: MIT */
/*
 * Data transfer property lists: each transfer is made on an .h5 file and on a store, and must have
 * the same outcome, unless the store refuses it. test_c_api.py passes a folder; the connector comes
 * by HDF5_VOL_CONNECTOR.
 */
#include "both_files.h"

enum { ROWS = 40, COLUMNS = 30, COUNT = ROWS * COLUMNS };

/* ---- One transfer, in both kinds of file ---- */

typedef struct setting {
    hid_t stored, memory; /* types */
    hid_t dcpl;
    herr_t (*set)(hid_t list); /* makes the list under test */
    int on_write, on_read;     /* the transfers that go by it */
    int strided;               /* selections with steps on both sides, instead of everything */
} setting;

typedef struct outcome {
    herr_t written, read;
    size_t size;
    unsigned char *data; /* the elements that were read; freed by free_outcome */
    int calls;           /* of the callback under test */
} outcome;

static int calls;

static void free_outcome(outcome *result) {
    free(result->data);
}

static hid_t new_list(const setting *what, int used) {
    hid_t list = H5Pcreate(H5P_DATASET_XFER);
    assert_true(list >= 0 && (!used || what->set(list) >= 0));
    return list;
}

/* Every second row and third column. */
static void select_some(hid_t space) {
    const hsize_t start[] = {1, 2}, stride[] = {2, 3}, count[] = {19, 9};
    assert_true(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, NULL) >= 0);
}

static hid_t new_space(int strided) {
    const hsize_t dims[] = {ROWS, COLUMNS};
    hid_t space = H5Screate_simple(2, dims, NULL);
    assert_true(space >= 0);
    if (strided)
        select_some(space);
    return space;
}

/* Elements of the memory type; `values` are ints. */
static unsigned char *elements(hid_t type, int (*value)(int)) {
    const size_t size = H5Tget_size(type);
    unsigned char *data = calloc(COUNT, size > sizeof(int) ? size : sizeof(int));
    int *ints = (int *)(void *)data;
    for (int i = 0; i < COUNT; i++)
        ints[i] = value(i);
    if (H5Tget_class(type) == H5T_INTEGER || H5Tget_class(type) == H5T_FLOAT)
        assert_true(H5Tconvert(H5T_NATIVE_INT, type, COUNT, data, NULL, H5P_DEFAULT) >= 0);
    else
        for (size_t i = 0; i < COUNT * size; i++)
            data[i] = 0; /* compounds: set below by the test */
    return data;
}

static int ramp(int i) {
    return i - 300;
}

static int sevens(int i) {
    (void)i;
    return 77;
}

static outcome transfer(int kind, const setting *what, const unsigned char *data) {
    static int number;
    char name[32];
    outcome result = {.size = COUNT * H5Tget_size(what->memory)};
    snprintf(name, sizeof name, "d%d", number++);
    hid_t whole = new_space(0), some = new_space(what->strided);
    hid_t dataset =
        H5Dcreate2(files[kind], name, what->stored, whole, H5P_DEFAULT, what->dcpl, H5P_DEFAULT);
    assert_true(dataset >= 0);
    hid_t writing = new_list(what, what->on_write), reading = new_list(what, what->on_read);
    result.data = elements(what->memory, sevens);
    calls = 0;
    H5E_BEGIN_TRY {
        result.written = H5Dwrite(dataset, what->memory, some, some, writing, data);
        result.read = H5Dread(dataset, what->memory, some, some, reading, result.data);
    }
    H5E_END_TRY
    result.calls = calls;
    H5Pclose(reading);
    H5Pclose(writing);
    H5Dclose(dataset);
    H5Sclose(some);
    H5Sclose(whole);
    return result;
}

/* Both have the same outcome. Returns whether they succeeded. */
static int same_with(const setting *what, const unsigned char *data) {
    outcome native = transfer(NATIVE, what, data), store = transfer(STORE, what, data);
    assert_int_equal(native.written, store.written);
    assert_int_equal(native.read, store.read);
    assert_int_equal(native.calls, store.calls);
    if (native.read >= 0)
        assert_memory_equal(native.data, store.data, native.size);
    int succeeded = native.written >= 0 && native.read >= 0;
    free_outcome(&native);
    free_outcome(&store);
    return succeeded;
}

static int same(const setting *what) {
    unsigned char *data = elements(what->memory, ramp);
    int succeeded = same_with(what, data);
    free(data);
    return succeeded;
}

/* The native file serves the transfer, the store refuses it. */
static void refused(const setting *what) {
    unsigned char *data = elements(what->memory, ramp);
    outcome native = transfer(NATIVE, what, data), store = transfer(STORE, what, data);
    assert_true(native.written >= 0 && native.read >= 0);
    assert_true(!what->on_write || store.written < 0);
    assert_true(!what->on_read || store.read < 0);
    free_outcome(&native);
    free_outcome(&store);
    free(data);
}

/* On writing, on reading, on both; with steps and without. Returns the number that succeeded. */
static int all_ways(setting what) {
    int succeeded = 0;
    for (int way = 1; way < 8; way++) {
        what.on_write = way & 1;
        what.on_read = (way & 2) != 0;
        what.strided = (way & 4) != 0;
        if (what.on_write || what.on_read)
            succeeded += same(&what);
    }
    return succeeded;
}

#define ALL_WAYS 6

/* ---- Transforms ---- */

static herr_t set_transform(hid_t list) {
    return H5Pset_data_transform(list, "x*10+1");
}

static herr_t set_mixed_transform(hid_t list) {
    return H5Pset_data_transform(list, "(x-3)/2.5*(2+x)");
}

static herr_t set_no_transform(hid_t list) {
    return H5Pset_data_transform(list, "x");
}

static void transforms(void **state) {
    const hid_t types[][2] = {
        {H5T_STD_I32LE, H5T_NATIVE_INT},    {H5T_STD_I16LE, H5T_NATIVE_INT},
        {H5T_IEEE_F32LE, H5T_NATIVE_FLOAT}, {H5T_IEEE_F64LE, H5T_NATIVE_SHORT},
        {H5T_STD_I32BE, H5T_NATIVE_DOUBLE}, {H5T_STD_U8LE, H5T_NATIVE_LLONG}};
    herr_t (*const sets[])(hid_t) = {set_transform, set_mixed_transform, set_no_transform};
    (void)state;
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
        for (size_t s = 0; s < 3; s++)
            assert_int_equal(
                all_ways((setting){.stored = types[t][0], .memory = types[t][1], .set = sets[s]}),
                ALL_WAYS);
    /* HDF5 transforms types of this machine only. */
    assert_int_equal(
        all_ways((setting){.stored = H5T_STD_I32LE, .memory = H5T_STD_I32BE, .set = set_transform}),
        0);
}

/* The values that the documentation of HDF5 promises. */
static void transforms_to_known_values(void **state) {
    int data[COUNT];
    const setting what = {
        .stored = H5T_STD_I32LE, .memory = H5T_NATIVE_INT, .set = set_transform, .on_write = 1};
    (void)state;
    for (int i = 0; i < COUNT; i++)
        data[i] = i;
    outcome store = transfer(STORE, &what, (const unsigned char *)data);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(((int *)(void *)store.data)[i], 10 * i + 1);
    free_outcome(&store);
}

static void transforms_more_than_a_buffer(void **state) {
    enum { LARGE = 3000000 };
    const hsize_t size = LARGE;
    (void)state;
    short *data = calloc(LARGE, sizeof *data), *seen[KINDS];
    for (int i = 0; i < LARGE; i++)
        data[i] = (short)(i % 1000);
    hid_t list = H5Pcreate(H5P_DATASET_XFER), space = H5Screate_simple(1, &size, NULL);
    assert_true(set_transform(list) >= 0);
    for (int k = 0; k < KINDS; k++) {
        hid_t dataset = H5Dcreate2(files[k], "large", H5T_STD_I32LE, space, H5P_DEFAULT,
                                   H5P_DEFAULT, H5P_DEFAULT);
        seen[k] = calloc(LARGE, sizeof *data);
        assert_true(H5Dwrite(dataset, H5T_NATIVE_SHORT, H5S_ALL, H5S_ALL, list, data) >= 0);
        assert_true(H5Dread(dataset, H5T_NATIVE_SHORT, H5S_ALL, H5S_ALL, list, seen[k]) >= 0);
        H5Dclose(dataset);
    }
    assert_memory_equal(seen[NATIVE], seen[STORE], LARGE * sizeof *data);
    free(seen[NATIVE]);
    free(seen[STORE]);
    free(data);
    H5Sclose(space);
    H5Pclose(list);
}

/* ---- Callbacks of conversions ---- */

static H5T_conv_ret_t replace(H5T_conv_except_t what, hid_t source, hid_t target, void *from,
                              void *to, void *context) {
    (void)source;
    (void)target;
    (void)from;
    (void)context;
    calls++;
    if (what != H5T_CONV_EXCEPT_RANGE_HI && what != H5T_CONV_EXCEPT_RANGE_LOW)
        return H5T_CONV_UNHANDLED;
    *(signed char *)to = 42;
    return H5T_CONV_HANDLED;
}

static H5T_conv_ret_t abandon(H5T_conv_except_t what, hid_t source, hid_t target, void *from,
                              void *to, void *context) {
    (void)what;
    (void)source;
    (void)target;
    (void)from;
    (void)to;
    (void)context;
    calls++;
    return H5T_CONV_ABORT;
}

static herr_t set_replace(hid_t list) {
    return H5Pset_type_conv_cb(list, replace, NULL);
}

static herr_t set_stop(hid_t list) {
    return H5Pset_type_conv_cb(list, abandon, NULL);
}

static void calls_back(void **state) {
    (void)state;
    const setting narrow = {.stored = H5T_STD_I8LE, .memory = H5T_NATIVE_INT, .set = set_replace};
    assert_int_equal(all_ways(narrow), ALL_WAYS);
    const setting wide = {.stored = H5T_IEEE_F64LE, .memory = H5T_NATIVE_SCHAR, .set = set_replace};
    assert_int_equal(all_ways(wide), ALL_WAYS);
    const setting equal = {.stored = H5T_STD_I32LE, .memory = H5T_NATIVE_INT, .set = set_stop};
    assert_int_equal(all_ways(equal), ALL_WAYS);
    const setting stopped = {.stored = H5T_STD_I8LE, .memory = H5T_NATIVE_INT, .set = set_stop};
    assert_int_equal(all_ways(stopped), 2); /* reading back 8 bits raises nothing */
}

/* ---- Buffers ---- */

static unsigned char conversion[4096], background[4096];

static herr_t set_buffers(hid_t list) {
    return H5Pset_buffer(list, sizeof conversion, conversion, background);
}

static herr_t set_small_buffer(hid_t list) {
    return H5Pset_buffer(list, 24, NULL, NULL);
}

static herr_t set_too_small_buffer(hid_t list) {
    return H5Pset_buffer(list, 3, NULL, NULL);
}

static void uses_buffers(void **state) {
    herr_t (*const sets[])(hid_t) = {set_buffers, set_small_buffer, set_too_small_buffer};
    (void)state;
    for (size_t s = 0; s < 3; s++) {
        const setting converts = {
            .stored = H5T_STD_I16LE, .memory = H5T_NATIVE_DOUBLE, .set = sets[s]};
        assert_int_equal(all_ways(converts), s == 2 ? 0 : ALL_WAYS);
        const setting copies = {.stored = H5T_STD_I32LE, .memory = H5T_NATIVE_INT, .set = sets[s]};
        assert_int_equal(all_ways(copies), ALL_WAYS);
    }
}

/* One member of complex numbers: the other one stays, on both sides. */
static herr_t set_preserve(hid_t list) {
    return H5Pset_preserve(list, true);
}

static void preserves_members(void **state) {
    static const double part[2] = {1.5, -2.5};
    hid_t complex = H5Tcreate(H5T_COMPOUND, 16), half = H5Tcreate(H5T_COMPOUND, 8);
    (void)state;
    H5Tinsert(complex, "r", 0, H5T_IEEE_F64LE);
    H5Tinsert(complex, "i", 8, H5T_IEEE_F64LE);
    H5Tinsert(half, "i", 0, H5T_IEEE_F64LE);
    unsigned char *data = calloc(COUNT, 16);
    for (size_t i = 0; i < COUNT; i++)
        memcpy(data + 8 * i, &part[i % 2], 8);
    for (int way = 0; way < 4; way++) {
        setting what = {.stored = complex, .memory = half, .on_write = way & 1, .on_read = way & 2};
        what.set = set_preserve;
        assert_true(same_with(&what, data));
        what.strided = 1;
        assert_true(same_with(&what, data));
    }
    free(data);
    H5Tclose(half);
    H5Tclose(complex);
}

/* ---- Hints, and properties that do not concern these data ---- */

static herr_t set_hints(hid_t list) {
    return H5Pset_btree_ratios(list, 0.2, 0.3, 0.4) < 0 || H5Pset_hyper_vector_size(list, 7) < 0 ||
                   H5Pset_selection_io(list, H5D_SELECTION_IO_MODE_ON) < 0
               ? -1
               : 0;
}

static herr_t set_own_property(hid_t list) {
    int value = 5;
    return H5Pinsert2(list, "of the program", sizeof value, &value, NULL, NULL, NULL, NULL, NULL,
                      NULL);
}

static void *count_allocation(size_t size, void *context) {
    (void)context;
    calls++;
    return malloc(size);
}

static void count_release(void *memory, void *context) {
    (void)context;
    calls++;
    free(memory);
}

static herr_t set_manager(hid_t list) {
    return H5Pset_vlen_mem_manager(list, count_allocation, NULL, count_release, NULL);
}

static void takes_hints(void **state) {
    herr_t (*const sets[])(hid_t) = {set_hints, set_own_property, set_manager};
    (void)state;
    for (size_t s = 0; s < 3; s++) {
        const setting what = {.stored = H5T_STD_I16LE, .memory = H5T_NATIVE_INT, .set = sets[s]};
        assert_int_equal(all_ways(what), ALL_WAYS);
    }
}

/* The program's data may change, but not the stored data. */
static herr_t set_modify(hid_t list) {
    return H5Pset_modify_write_buf(list, true);
}

static void may_modify_the_buffer(void **state) {
    (void)state;
    const setting what = {
        .stored = H5T_STD_I16LE, .memory = H5T_NATIVE_INT, .set = set_modify, .on_write = 1};
    for (int kind = 0; kind < KINDS; kind++) {
        unsigned char *data = elements(what.memory, ramp);
        outcome result = transfer(kind, &what, data);
        assert_true(result.written >= 0 && result.read >= 0);
        for (int i = 0; i < COUNT; i++)
            assert_int_equal(((int *)(void *)result.data)[i], ramp(i));
        free_outcome(&result);
        free(data);
    }
}

/* ---- Properties of the storage ---- */

static herr_t set_no_check(hid_t list) {
    return H5Pset_edc_check(list, H5Z_DISABLE_EDC);
}

static H5Z_cb_return_t go_on(H5Z_filter_t filter, void *data, size_t size, void *context) {
    (void)filter;
    (void)data;
    (void)size;
    (void)context;
    return H5Z_CB_CONT;
}

static herr_t set_filter_callback(hid_t list) {
    return H5Pset_filter_callback(list, go_on, NULL);
}

static hid_t chunked_list(void) {
    const hsize_t chunk[] = {8, 8};
    hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(H5Pset_chunk(dcpl, 2, chunk) >= 0);
    return dcpl;
}

static void refuses_what_storage_lacks(void **state) {
    setting what = {.stored = H5T_STD_I32LE, .memory = H5T_NATIVE_INT, .dcpl = chunked_list()};
    (void)state;
    what.set = set_no_check;
    assert_int_equal(all_ways(what), ALL_WAYS);
    what.set = set_filter_callback;
    assert_int_equal(all_ways(what), ALL_WAYS);
    H5Pset_fletcher32(what.dcpl);
    what.on_read = 1;
    refused(&what);
    what.on_write = 1;
    refused(&what);
    what.set = set_no_check; /* it says nothing about writing */
    what.on_write = 0;
    refused(&what);
    what.on_read = 0;
    what.on_write = 1;
    assert_true(same(&what));
    H5Pclose(what.dcpl);
    what.dcpl = chunked_list();
    H5Pset_deflate(what.dcpl, 3);
    what.on_read = 1;
    what.set = set_filter_callback;
    refused(&what);
    what.set = set_no_check;
    assert_true(same(&what));
    H5Pclose(what.dcpl);
}

/* The call is only in parallel builds of HDF5; the property is in all. */
static herr_t set_collective(hid_t list) {
    int mode = 1;
    return H5Pset(list, "io_xfer_mode", &mode);
}

static void takes_collective_transfers(void **state) {
    (void)state;
    setting what = {.stored = H5T_STD_I32LE, .memory = H5T_NATIVE_INT, .set = set_collective};
    what.on_write = 1;
    what.on_read = 1;
    assert_true(same(&what));
}

/* A list that was made, but holds nothing else than a default list. */
static herr_t set_nothing(hid_t list) {
    return list < 0 ? -1 : 0;
}

static void takes_plain_lists(void **state) {
    (void)state;
    const setting what = {.stored = H5T_STD_I16LE, .memory = H5T_NATIVE_INT, .set = set_nothing};
    assert_int_equal(all_ways(what), ALL_WAYS);
}

/* Several datasets in one call, of both kinds of file. */
static void transforms_several(void **state) {
    hid_t sets[3], types[3], all[3] = {H5S_ALL, H5S_ALL, H5S_ALL}, space = new_space(0);
    hid_t list = H5Pcreate(H5P_DATASET_XFER);
    int data[3][COUNT], seen[3][COUNT];
    const void *out[3] = {data[0], data[1], data[2]};
    void *in[3] = {seen[0], seen[1], seen[2]};
    (void)state;
    assert_true(set_transform(list) >= 0);
    for (int k = 0; k < 3; k++) {
        const char name[] = {'m', (char)('0' + k), 0};
        sets[k] = H5Dcreate2(files[k % KINDS], name, H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT,
                             H5P_DEFAULT);
        types[k] = H5T_NATIVE_INT;
        for (int i = 0; i < COUNT; i++)
            data[k][i] = k * 1000 + i;
    }
    assert_true(H5Dwrite_multi(3, sets, types, all, all, list, out) >= 0);
    assert_true(H5Dread_multi(3, sets, types, all, all, H5P_DEFAULT, in) >= 0);
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < COUNT; i++)
            assert_int_equal(seen[k][i], 10 * (k * 1000 + i) + 1);
        H5Dclose(sets[k]);
    }
    H5Sclose(space);
    H5Pclose(list);
}

int main(int argc, char **argv) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_files, close_files)
    const struct CMUnitTest tests[] = {
        TEST(transforms),
        TEST(transforms_to_known_values),
        TEST(transforms_more_than_a_buffer),
        TEST(transforms_several),
        TEST(calls_back),
        TEST(uses_buffers),
        TEST(preserves_members),
        TEST(takes_hints),
        TEST(takes_plain_lists),
        TEST(may_modify_the_buffer),
        TEST(refuses_what_storage_lacks),
        TEST(takes_collective_transfers),
    };
    if (argc != 2)
        return 2;
    folder = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
