/* SPDX-License-Identifier: MIT */
/*
 * Writing through the C API: the functions that h5py does not call. test_c_api.py passes a folder;
 * the connector comes by HDF5_VOL_CONNECTOR, or, in a file access list, by its name.
 */
#include <hdf5.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "zarrbridge/hdf5.h"

static const char *folder;

static const char *path_of(const char *name) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int create_file(void **state) {
    static hid_t file;
    file = H5Fcreate(path_of("c.zarr"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    *state = &file;
    return file < 0;
}

static int close_file(void **state) {
    return H5Fclose(*(hid_t *)*state) < 0;
}

static hid_t new_dataset(hid_t file, const char *name, hid_t dcpl) {
    const hsize_t dims[] = {12, 10};
    hid_t space = H5Screate_simple(2, dims, NULL);
    hid_t dataset = H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    H5Sclose(space);
    return dataset;
}

/* ---- Shards ------------------------------------------------------------------------------- */

static const hsize_t chunk[] = {2, 5};

static hid_t new_chunked_list(const hsize_t *shard) {
    hsize_t value[2];
    hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(dcpl, 2, chunk);
    if (shard) {
        memcpy(value, shard, sizeof value);
        assert_true(H5Pinsert2(dcpl, "zarr:shard_shape", sizeof value, value, NULL, NULL, NULL,
                               NULL, NULL, NULL) >= 0);
    }
    return dcpl;
}

static void shards_by_property(void **state) {
    hid_t file = *(hid_t *)*state;
    const hsize_t shard[] = {6, 10};
    hsize_t seen[2];
    int data[120], back[120] = {0};
    hid_t dcpl = new_chunked_list(shard), dataset = new_dataset(file, "sharded", dcpl);
    assert_true(dataset >= 0);
    for (int i = 0; i < 120; i++)
        data[i] = 3 * i;
    assert_true(H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    assert_true(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, back) >= 0);
    assert_memory_equal(data, back, sizeof data);
    H5Pclose(dcpl);

    dcpl = H5Dget_create_plist(dataset);
    assert_true(H5Pget(dcpl, "zarr:shard_shape", seen) >= 0);
    assert_memory_equal(seen, shard, sizeof seen);
    assert_int_equal(H5Pget_chunk(dcpl, 2, seen), 2);
    assert_memory_equal(seen, chunk, sizeof seen);
    /* The list of one dataset makes another one like it. */
    hid_t copy = new_dataset(file, "copy", dcpl);
    hid_t again = H5Dget_create_plist(copy);
    assert_true(H5Pexist(again, "zarr:shard_shape") > 0);
    H5Pclose(again);
    H5Pclose(dcpl);
    H5Dclose(copy);
    assert_true(H5Dclose(dataset) >= 0);
}

static void refuses_bad_shards(void **state) {
    hid_t file = *(hid_t *)*state;
    const hsize_t no_multiple[] = {3, 10}, none[] = {0, 0};
    hid_t dcpl = new_chunked_list(no_multiple), dataset;
    H5E_BEGIN_TRY {
        dataset = new_dataset(file, "bad", dcpl);
    }
    H5E_END_TRY
    assert_true(dataset < 0);
    assert_int_equal(H5Lexists(file, "bad", H5P_DEFAULT), 0);
    H5Pclose(dcpl);
    dcpl = new_chunked_list(none);
    dataset = new_dataset(file, "none", dcpl);
    H5Pclose(dcpl);
    dcpl = H5Dget_create_plist(dataset);
    assert_int_equal(H5Pexist(dcpl, "zarr:shard_shape"), 0);
    H5Pclose(dcpl);
    H5Dclose(dataset);
}

/* ---- Data --------------------------------------------------------------------------------- */

static void writes_several_datasets_at_once(void **state) {
    hid_t file = *(hid_t *)*state;
    hid_t data[2] = {new_dataset(file, "one", H5P_DEFAULT), new_dataset(file, "two", H5P_DEFAULT)};
    hid_t types[2] = {H5T_NATIVE_INT, H5T_NATIVE_SHORT}, all[2] = {H5S_ALL, H5S_ALL};
    int first[120], seen[120];
    short second[120];
    for (int i = 0; i < 120; i++) {
        first[i] = i;
        second[i] = (short)-i;
    }
    const void *buffers[2] = {first, second};
    assert_true(H5Dwrite_multi(2, data, types, all, all, H5P_DEFAULT, buffers) >= 0);
    for (int k = 0; k < 2; k++) {
        assert_true(H5Dread(data[k], H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, seen) >= 0);
        for (int i = 0; i < 120; i++)
            assert_int_equal(seen[i], k == 0 ? i : -i);
        H5Dclose(data[k]);
    }
}

/* As in HDF5's own files: what is wrong with a later dataset keeps back the ones before. */
static void writes_all_or_none_of_several_datasets(void **state) {
    hid_t file = *(hid_t *)*state;
    hid_t data[2] = {new_dataset(file, "one", H5P_DEFAULT), new_dataset(file, "two", H5P_DEFAULT)};
    const hsize_t short_of = 119;
    hid_t small = H5Screate_simple(1, &short_of, NULL);
    hid_t types[2] = {H5T_NATIVE_INT, H5T_NATIVE_INT}, all[2] = {H5S_ALL, H5S_ALL};
    hid_t memory[2] = {H5S_ALL, small};
    int values[120], seen[120];
    for (int i = 0; i < 120; i++)
        values[i] = i + 1;
    const void *buffers[2] = {values, values};
    assert_true(H5Dwrite_multi(2, data, types, memory, all, H5P_DEFAULT, buffers) < 0);
    types[1] = H5T_C_S1;
    memory[1] = H5S_ALL;
    assert_true(H5Dwrite_multi(2, data, types, memory, all, H5P_DEFAULT, buffers) < 0);
    for (int k = 0; k < 2; k++) {
        assert_true(H5Dread(data[k], H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, seen) >= 0);
        for (int i = 0; i < 120; i++)
            assert_int_equal(seen[i], 0);
        H5Dclose(data[k]);
    }
    H5Sclose(small);
}

/* A block of memory, and no selection at all. */
static void writes_special_spaces(void **state) {
    hid_t file = *(hid_t *)*state, dataset = new_dataset(file, "d", H5P_DEFAULT);
    const hsize_t start[] = {4, 3}, count[] = {2, 3};
    int block[6] = {1, 2, 3, 4, 5, 6}, seen[120];
    hid_t space = H5Dget_space(dataset);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    assert_true(H5Dwrite(dataset, H5T_NATIVE_INT, H5S_BLOCK, space, H5P_DEFAULT, block) >= 0);
    H5Sselect_none(space);
    assert_true(H5Dwrite(dataset, H5T_NATIVE_INT, space, space, H5P_DEFAULT, NULL) >= 0);
    assert_true(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, seen) >= 0);
    assert_int_equal(seen[4 * 10 + 3], 1);
    assert_int_equal(seen[5 * 10 + 5], 6);
    assert_int_equal(seen[0], 0);
    H5Sclose(space);
    H5Dclose(dataset);
}

/* The dataset outlives its file: its data are stored when it is closed. */
static void survives_the_file(void **state) {
    (void)state;
    int value = 42, seen[120];
    hid_t file = H5Fcreate(path_of("weak.zarr"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t dataset = new_dataset(file, "d", H5P_DEFAULT);
    const hsize_t start[] = {1, 1}, count[] = {1, 1};
    hid_t space = H5Dget_space(dataset);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    assert_true(H5Fclose(file) >= 0);
    assert_true(H5Dwrite(dataset, H5T_NATIVE_INT, H5S_BLOCK, space, H5P_DEFAULT, &value) >= 0);
    H5Sclose(space);
    assert_true(H5Dclose(dataset) >= 0);
    file = H5Fopen(path_of("weak.zarr"), H5F_ACC_RDONLY, H5P_DEFAULT);
    dataset = H5Dopen2(file, "d", H5P_DEFAULT);
    assert_true(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, seen) >= 0);
    assert_int_equal(seen[11], 42);
    H5Dclose(dataset);
    H5Fclose(file);
}

/* ---- Attributes --------------------------------------------------------------------------- */

static herr_t delete_each(hid_t object, const char *name, const H5A_info_t *info, void *context) {
    (void)info;
    ++*(int *)context;
    return H5Adelete(object, name) < 0 ? -1 : 0;
}

static void changes_attributes_while_it_iterates(void **state) {
    hid_t file = *(hid_t *)*state, space = H5Screate(H5S_SCALAR);
    int calls = 0;
    H5O_info2_t info;
    for (int i = 0; i < 4; i++) {
        const char name[] = {(char)('a' + i), 0};
        hid_t attr = H5Acreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT);
        if (i > 0) /* the first one is never written */
            assert_true(H5Awrite(attr, H5T_NATIVE_INT, &i) >= 0);
        assert_true(H5Aclose(attr) >= 0);
    }
    H5Oget_info3(file, &info, H5O_INFO_NUM_ATTRS);
    assert_int_equal(info.num_attrs, 4);
    assert_true(H5Adelete_by_idx(file, ".", H5_INDEX_NAME, H5_ITER_DEC, 0, H5P_DEFAULT) >= 0);
    assert_int_equal(H5Aexists(file, "d"), 0);
    assert_int_equal(H5Aiterate2(file, H5_INDEX_NAME, H5_ITER_INC, NULL, delete_each, &calls), 0);
    assert_int_equal(calls, 2); /* a, then the new number 1 */
    H5Oget_info3(file, &info, H5O_INFO_NUM_ATTRS);
    assert_int_equal(info.num_attrs, 1);
    H5Sclose(space);
}

/* ---- Files -------------------------------------------------------------------------------- */

static bool is_directory(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* A directory whose zarr.json is of something else stays. */
static void deletes_nothing_else(hid_t fapl) {
    char *notes;
    herr_t deleted;
    assert_int_equal(mkdir(path_of("notes.zarr"), 0777), 0);
    assert_true(asprintf(&notes, "%s/zarr.json", path_of("notes.zarr")) > 0);
    FILE *file = fopen(notes, "w");
    assert_non_null(file);
    assert_true(fputs("my own", file) >= 0);
    fclose(file);
    H5E_BEGIN_TRY {
        deleted = H5Fdelete(path_of("notes.zarr"), fapl);
    }
    H5E_END_TRY
    assert_true(deleted < 0);
    assert_int_equal(unlink(notes), 0);
    assert_int_equal(rmdir(path_of("notes.zarr")), 0);
    free(notes);
}

/* ---- Appending ---------------------------------------------------------------------------- */

static hid_t new_growing(hid_t file, const char *name, hsize_t rows, hsize_t columns) {
    const hsize_t dims[] = {rows, columns}, most[] = {H5S_UNLIMITED, columns};
    hid_t space = H5Screate_simple(2, dims, most), dcpl = new_chunked_list(NULL);
    hid_t dataset = H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    H5Pclose(dcpl);
    H5Sclose(space);
    return dataset;
}

/* As zarrbridge/hdf5.h has it. */
static herr_t append(hid_t dataset, zb_hdf5_append *what) {
    int op = 0;
    H5VL_optional_args_t args = {.args = what};
    assert_true(H5VLfind_opt_operation(H5VL_SUBCLS_DATASET, ZB_HDF5_APPEND, &op) >= 0);
    args.op_type = op;
    return H5VLdataset_optional_op(dataset, &args, H5P_DEFAULT, H5ES_NONE);
}

static void assert_shape(hid_t dataset, hsize_t rows, hsize_t columns) {
    hsize_t dims[2];
    hid_t space = H5Dget_space(dataset);
    assert_int_equal(H5Sget_simple_extent_dims(space, dims, NULL), 2);
    assert_int_equal(dims[0], rows);
    assert_int_equal(dims[1], columns);
    H5Sclose(space);
}

static void appends_to_datasets_together(void **state) {
    hid_t file = *(hid_t *)*state;
    hid_t wide = new_growing(file, "wide", 3, 2), narrow = new_growing(file, "narrow", 5, 1);
    hid_t fixed = new_dataset(file, "fixed", H5P_DEFAULT);
    int values[4] = {1, 2, 3, 4}, back[4] = {0};
    zb_hdf5_append what = {.count = 2, .with_count = 1, .with = &narrow};
    assert_true(append(wide, &what) >= 0);
    assert_int_equal(what.start, 5);
    assert_shape(wide, 7, 2);
    assert_shape(narrow, 7, 1);
    const hsize_t start[] = {what.start, 0}, count[] = {2, 2};
    hid_t space = H5Dget_space(wide), memory = H5Screate_simple(2, count, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    assert_true(H5Dwrite(wide, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, values) >= 0);
    assert_true(H5Dread(wide, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, back) >= 0);
    assert_memory_equal(values, back, sizeof back);
    H5E_BEGIN_TRY {
        const hid_t wrong[] = {fixed, file, space, 12345};
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
            zb_hdf5_append with_wrong = {.count = 1, .with_count = 1, .with = &wrong[i]};
            assert_true(append(wide, &with_wrong) < 0);
        }
        const unsigned dims[] = {2};
        zb_hdf5_append no_dimension = {.count = 1, .dim = 2};
        zb_hdf5_append other_none = {
            .count = 1, .with_count = 1, .with = &narrow, .with_dim = dims};
        zb_hdf5_append beyond = {.count = 1, .dim = 1}, nothing = {.count = 0};
        assert_true(append(wide, &no_dimension) < 0);
        assert_true(append(wide, &other_none) < 0);
        assert_true(append(wide, &beyond) < 0);
        assert_true(append(wide, &nothing) < 0);
    }
    H5E_END_TRY
    assert_shape(wide, 7, 2);
    assert_shape(narrow, 7, 1);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(fixed);
    H5Dclose(narrow);
    H5Dclose(wide);
}

/* With the connector in the access list and no variable, every new file is a store. */
static void creates_by_access_list(void **state) {
    (void)state;
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    hid_t connector = H5VLregister_connector_by_name("zarr", H5P_DEFAULT);
    assert_true(connector >= 0 && H5Pset_vol(fapl, connector, NULL) >= 0);
    hid_t file = H5Fcreate(path_of("any.name"), H5F_ACC_EXCL, H5P_DEFAULT, fapl);
    assert_true(file >= 0);
    hid_t group = H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(group >= 0);
    H5Gclose(group);
    assert_true(H5Fclose(file) >= 0);
    assert_int_equal(is_directory(path_of("any.name")), getenv("HDF5_VOL_CONNECTOR") == NULL);
    assert_true(H5Fdelete(path_of("any.name"), fapl) >= 0);
    assert_false(is_directory(path_of("any.name")));
    deletes_nothing_else(fapl);
    H5Pclose(fapl);
    H5VLclose(connector);
}

int main(int argc, char **argv) {
    const struct CMUnitTest by_variable[] = {
        cmocka_unit_test_setup_teardown(shards_by_property, create_file, close_file),
        cmocka_unit_test_setup_teardown(refuses_bad_shards, create_file, close_file),
        cmocka_unit_test_setup_teardown(writes_several_datasets_at_once, create_file, close_file),
        cmocka_unit_test_setup_teardown(writes_all_or_none_of_several_datasets, create_file,
                                        close_file),
        cmocka_unit_test_setup_teardown(writes_special_spaces, create_file, close_file),
        cmocka_unit_test_setup_teardown(changes_attributes_while_it_iterates, create_file,
                                        close_file),
        cmocka_unit_test_setup_teardown(appends_to_datasets_together, create_file, close_file),
        cmocka_unit_test(survives_the_file),
        cmocka_unit_test(creates_by_access_list),
    };
    const struct CMUnitTest by_list[] = {cmocka_unit_test(creates_by_access_list)};
    if (argc != 2)
        return 2;
    folder = argv[1];
    return getenv("HDF5_VOL_CONNECTOR") ? cmocka_run_group_tests(by_variable, NULL, NULL)
                                        : cmocka_run_group_tests(by_list, NULL, NULL);
}
