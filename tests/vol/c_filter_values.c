/* SPDX-License-Identifier: MIT */
/*
 * Values that a plug-in's filter sets when a dataset is made. The filters stand in for those of the
 * same numbers, and do nothing to bytes. test_filters.py passes a folder; the connector comes by
 * HDF5_VOL_CONNECTOR.
 */
#include "both_files.h"

enum { BLOSC = 32001, BLOSC2 = 32026, ROOM = 16 };

/* What blosc's functions do: the size of elements and the bytes of a chunk. */
static herr_t set_sizes(hid_t dcpl, hid_t type, H5Z_filter_t id) {
    unsigned flags, values[ROOM] = {0};
    size_t count = ROOM;
    hsize_t chunk[2], bytes = H5Tget_size(type);
    const int ndim = H5Pget_chunk(dcpl, 2, chunk);
    if (H5Pget_filter_by_id2(dcpl, id, &flags, &count, values, 0, NULL, NULL) < 0 || ndim < 0)
        return -1;
    for (int d = 0; d < ndim; d++)
        bytes *= chunk[d];
    values[0] = 2;
    values[2] = (unsigned)H5Tget_size(type);
    values[3] = (unsigned)bytes;
    return H5Pmodify_filter(dcpl, id, flags, count < 4 ? 4 : count, values);
}

static herr_t set_blosc(hid_t dcpl, hid_t type, hid_t space) {
    (void)space;
    return set_sizes(dcpl, type, BLOSC);
}

static herr_t set_blosc2(hid_t dcpl, hid_t type, hid_t space) {
    (void)space;
    return set_sizes(dcpl, type, BLOSC2);
}

static size_t keep(unsigned flags, size_t value_count, const unsigned *values, size_t bytes,
                   size_t *room, void **data) {
    (void)flags, (void)value_count, (void)values, (void)room, (void)data;
    return bytes;
}

static void add_filters(void) {
    H5Z_class2_t filter = {.version = H5Z_CLASS_T_VERS,
                           .id = BLOSC,
                           .encoder_present = 1,
                           .decoder_present = 1,
                           .name = "for tests",
                           .set_local = set_blosc,
                           .filter = keep};
    assert_true(H5Zregister(&filter) >= 0);
    filter.id = BLOSC2;
    filter.set_local = set_blosc2;
    assert_true(H5Zregister(&filter) >= 0);
}

/* A dataset of chunks of 40 x 50 elements of four bytes, with a filter whose values the program
   leaves to it, as PyTables does. */
static hid_t create(hid_t file, const char *name, H5Z_filter_t id, size_t count) {
    const hsize_t shape[] = {400, 500}, chunk[] = {40, 50};
    const unsigned values[ROOM] = {9, 786432, 77, 32767, 5, 1, 1};
    hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(2, shape, NULL);
    assert_true(H5Pset_chunk(dcpl, 2, chunk) >= 0);
    assert_true(H5Pset_filter(dcpl, id, H5Z_FLAG_OPTIONAL, count, values) >= 0);
    hid_t dataset = H5Dcreate2(file, name, H5T_STD_I32LE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    assert_true(dataset >= 0);
    H5Sclose(space);
    H5Pclose(dcpl);
    return dataset;
}

static size_t values_of(hid_t dataset, unsigned *values) {
    unsigned flags;
    size_t count = ROOM;
    hid_t dcpl = H5Dget_create_plist(dataset);
    assert_true(H5Pget_filter2(dcpl, 0, &flags, &count, values, 0, NULL, NULL) > 0);
    assert_int_equal(flags, H5Z_FLAG_OPTIONAL);
    H5Pclose(dcpl);
    return count;
}

static void are_those_of_hdf5(void **state) {
    static const struct {
        const char *name;
        H5Z_filter_t id;
        size_t count;
    } cases[] = {{"blosc", BLOSC, 7}, {"short", BLOSC, 0}, {"blosc2", BLOSC2, 7}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        unsigned values[KINDS][ROOM] = {{0}};
        size_t count[KINDS];
        for (int kind = 0; kind < KINDS; kind++) {
            hid_t dataset = create(files[kind], cases[i].name, cases[i].id, cases[i].count);
            H5Dclose(dataset);
            dataset = H5Dopen2(files[kind], cases[i].name, H5P_DEFAULT);
            count[kind] = values_of(dataset, values[kind]);
            H5Dclose(dataset);
        }
        assert_int_equal(values[STORE][2], 4);
        assert_int_equal(values[STORE][3], 40 * 50 * 4);
        assert_int_equal(count[STORE], count[NATIVE]);
        assert_memory_equal(values[STORE], values[NATIVE], sizeof values[0]);
    }
}

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    folder = argv[1];
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    add_filters();
    const struct CMUnitTest tests[] = {cmocka_unit_test(are_those_of_hdf5)};
    return cmocka_run_group_tests(tests, open_files, close_files);
}
