/* SPDX-License-Identifier: MIT */
/*
 * Memory runs out in each allocation of a call: what only the HDF5 extension knows (types, null
 * dataspaces, links, comments) is never taken for absent. A call fails, or says what is stored.
 *
 *     vol-c-memory FOLDER
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>
#include <hdf5.h>

#include "../fault/memory.h"

static const char *folder;
static char path[4096];

static void store_enum(hid_t file) {
    const signed char values[] = {0, 1};
    const hsize_t two = 2;
    hid_t type = H5Tenum_create(H5T_NATIVE_SCHAR), space = H5Screate_simple(1, &two, NULL);
    H5Tenum_insert(type, "off", &values[0]);
    H5Tenum_insert(type, "on", &values[1]);
    hid_t dataset = H5Dcreate2(file, "d", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(dataset);
    H5Sclose(space);
    H5Tclose(type);
}

static void make(const char *name) {
    snprintf(path, sizeof path, "%s/%s.zarr", folder, name);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t null = H5Screate(H5S_NULL);
    assert_true(file >= 0);
    store_enum(file);
    H5Dclose(H5Dcreate2(file, "n", H5T_NATIVE_INT, null, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Gclose(H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    assert_true(H5Oset_comment_by_name(file, "g", "raw", H5P_DEFAULT) >= 0);
    assert_true(H5Lcreate_soft("/d", file, "g/soft", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    assert_true(H5Lcreate_hard(file, "d", file, "g/again", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    H5Sclose(null);
    assert_true(H5Fclose(file) >= 0);
}

/* A fresh file for each allocation that fails, until none does. */
static void starve_each(unsigned flags, uint64_t step, void (*act)(hid_t file),
                        void (*check)(void)) {
    uint64_t failures = 0;
    for (uint64_t nth = 1;; nth += step) {
        hid_t file = H5Fopen(path, flags, H5P_DEFAULT);
        assert_true(file >= 0);
        memory_begin(nth, false);
        act(file);
        (void)memory_end();
        const bool any = memory_denied() > 0;
        H5Fclose(file);
        check();
        failures += any;
        if (!any)
            break;
    }
    assert_true(failures > 10);
}

static void nothing(void) {
}

static void see_dataset(hid_t file, const char *name, H5T_class_t class, H5S_class_t shape) {
    hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    if (dataset < 0)
        return;
    hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    if (type >= 0)
        assert_int_equal(H5Tget_class(type), class);
    if (space >= 0)
        assert_int_equal(H5Sget_simple_extent_type(space), shape);
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    H5Dclose(dataset);
}

static void see_enum(hid_t file) {
    see_dataset(file, "d", H5T_ENUM, H5S_SIMPLE);
}

static void see_null(hid_t file) {
    see_dataset(file, "n", H5T_INTEGER, H5S_NULL);
}

static void see_comment(hid_t file) {
    char text[8] = "";
    if (H5Oget_comment_by_name(file, "g", text, sizeof text, H5P_DEFAULT) >= 0)
        assert_string_equal(text, "raw");
}

static void see_links(hid_t file) {
    H5G_info_t info;
    hid_t group = H5Gopen2(file, "g", H5P_DEFAULT);
    if (group < 0)
        return;
    if (H5Gget_info(group, &info) >= 0)
        assert_int_equal(info.nlinks, 2);
    H5Gclose(group);
}

static void test_what_is_read(void **state) {
    (void)state;
    make("read");
    starve_each(H5F_ACC_RDONLY, 1, see_enum, nothing);
    starve_each(H5F_ACC_RDONLY, 1, see_null, nothing);
    starve_each(H5F_ACC_RDONLY, 1, see_comment, nothing);
    starve_each(H5F_ACC_RDONLY, 1, see_links, nothing);
}

static void delete_first(hid_t file) {
    (void)H5Ldelete(file, "d", H5P_DEFAULT);
}

/* The data are at the other link, or at both, whatever has failed. */
static void see_again(void) {
    signed char values[2] = {0};
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t dataset = H5Dopen2(file, "g/again", H5P_DEFAULT);
    assert_true(dataset >= 0);
    assert_true(H5Dread(dataset, H5T_NATIVE_SCHAR, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0 ||
                H5Dread(dataset, H5Dget_type(dataset), H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    assert_int_equal(values[1], 1);
    H5Dclose(dataset);
    H5Fclose(file);
    make("delete");
}

static void test_what_has_another_link_stays(void **state) {
    (void)state;
    make("delete");
    starve_each(H5F_ACC_RDWR, 5, delete_first, see_again);
}

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    folder = argv[1];
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    memory_only(
        "hdf5_vol_zarr"); /* HDF5 itself reads what it could not allocate (1.14: enumerations) */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_read),
        cmocka_unit_test(test_what_has_another_link_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
