/* SPDX-License-Identifier: MIT */
/*
 * The C API on a Zarr store: the functions that h5py does not call. test_c_api.py writes the store
 * (conftest.py's tree) and passes its path; the connector comes by the plugin search or by
 * HDF5_VOL_CONNECTOR.
 */
#include <hdf5.h>
#include <hdf5_hl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <H5VLconnector_passthru.h>
#include <cmocka.h>

static const char *store;

/* The name that the last iteration callback got, and the number of its calls. */
typedef struct call_log {
    int count;
    char first[64], last[64];
} call_log;

static void note(call_log *seen, const char *name) {
    strncpy(seen->count == 0 ? seen->first : seen->last, name, sizeof seen->last - 1);
    seen->count++;
}

static herr_t see_link(hid_t group, const char *name, const H5L_info2_t *info, void *context) {
    (void)group;
    assert_int_equal(info->type, H5L_TYPE_HARD);
    note(context, name);
    return 0;
}

static herr_t see_object(hid_t object, const char *name, const H5O_info2_t *info, void *context) {
    H5O_info2_t again;
    assert_true(H5Oget_info_by_name3(object, name, &again, H5O_INFO_ALL, H5P_DEFAULT) >= 0);
    assert_int_equal(again.type, info->type);
    note(context, name);
    return 0;
}

static herr_t see_attr(hid_t object, const char *name, const H5A_info_t *info, void *context) {
    (void)object;
    assert_true(info->data_size > 0);
    note(context, name);
    return 0;
}

static int open_file(void **state) {
    static hid_t file;
    file = H5Fopen(store, H5F_ACC_RDONLY, H5P_DEFAULT);
    *state = &file;
    return file < 0;
}

static int close_file(void **state) {
    return H5Fclose(*(hid_t *)*state) < 0;
}

static void iterates_in_both_orders(void **state) {
    hid_t file = *(hid_t *)*state;
    call_log seen = {0};
    assert_int_equal(H5Literate2(file, H5_INDEX_NAME, H5_ITER_INC, NULL, see_link, &seen), 0);
    assert_int_equal(seen.count, 6);
    assert_string_equal(seen.first, "a");
    assert_string_equal(seen.last, "types");
    memset(&seen, 0, sizeof seen);
    hsize_t from = 2;
    assert_int_equal(H5Literate2(file, H5_INDEX_NAME, H5_ITER_DEC, &from, see_link, &seen), 0);
    assert_int_equal(seen.count, 4);
    assert_string_equal(seen.last, "a");
    assert_int_equal(from, 6);
    memset(&seen, 0, sizeof seen);
    assert_int_equal(H5Lvisit2(file, H5_INDEX_NAME, H5_ITER_NATIVE, see_link, &seen), 0);
    assert_int_equal(seen.count, 26);
    memset(&seen, 0, sizeof seen);
    assert_int_equal(H5Ovisit_by_name3(file, "g", H5_INDEX_NAME, H5_ITER_INC, see_object, &seen,
                                       H5O_INFO_ALL, H5P_DEFAULT),
                     0);
    assert_int_equal(seen.count, 5);
    assert_string_equal(seen.first, ".");
    assert_string_equal(seen.last, "sub/deep");
    memset(&seen, 0, sizeof seen);
    assert_int_equal(H5Aiterate2(file, H5_INDEX_NAME, H5_ITER_DEC, NULL, see_attr, &seen), 0);
    assert_int_equal(seen.count, 5);
    assert_string_equal(seen.first, "v");
    memset(&seen, 0, sizeof seen);
    assert_int_equal(H5Aiterate2(file, H5_INDEX_CRT_ORDER, H5_ITER_INC, NULL, see_attr, &seen), 0);
    assert_string_equal(seen.first, "title");
}

static void finds_by_index(void **state) {
    hid_t file = *(hid_t *)*state;
    char name[64];
    assert_int_equal(H5Lget_name_by_idx(file, "g", H5_INDEX_NAME, H5_ITER_INC, 2, name, sizeof name,
                                        H5P_DEFAULT),
                     3);
    assert_string_equal(name, "sub");
    assert_true(H5Aget_name_by_idx(file, ".", H5_INDEX_NAME, H5_ITER_DEC, 0, name, sizeof name,
                                   H5P_DEFAULT) == 1);
    assert_string_equal(name, "v");
    hid_t object = H5Oopen_by_idx(file, "g", H5_INDEX_NAME, H5_ITER_INC, 0, H5P_DEFAULT);
    assert_int_equal(H5Iget_type(object), H5I_DATASET);
    assert_int_equal(H5Iget_name(object, name, sizeof name), 4);
    assert_string_equal(name, "/g/b");
    H5Oclose(object);
    H5E_BEGIN_TRY {
        assert_true(H5Oopen_by_idx(file, "g", H5_INDEX_NAME, H5_ITER_INC, 3, H5P_DEFAULT) < 0);
    }
    H5E_END_TRY
    H5G_info_t info;
    assert_true(H5Gget_info_by_name(file, "g/sub", &info, H5P_DEFAULT) >= 0);
    assert_int_equal(info.nlinks, 1);
    assert_true(H5LTpath_valid(file, "/g/b", true) > 0 && H5LTfind_dataset(file, "a") > 0);
}

static void tokens_lead_back(void **state) {
    hid_t file = *(hid_t *)*state;
    H5L_info2_t info;
    H5O_token_t token;
    char *text = NULL, name[64];
    int order = 1;
    assert_true(H5Lget_info2(file, "g/sub", &info, H5P_DEFAULT) >= 0);
    assert_true(H5Otoken_to_str(file, &info.u.token, &text) >= 0);
    assert_true(H5Otoken_from_str(file, text, &token) >= 0);
    assert_true(H5Otoken_cmp(file, &token, &info.u.token, &order) >= 0 && order == 0);
    H5free_memory(text);
    hid_t group = H5Oopen_by_token(file, token);
    assert_true(H5Iget_name(group, name, sizeof name) > 0);
    assert_string_equal(name, "/g/sub");
    H5Oclose(group);
    memset(&token, 0x5a, sizeof token);
    H5E_BEGIN_TRY {
        assert_true(H5Oopen_by_token(file, token) < 0);
    }
    H5E_END_TRY
}

static void reads_every_kind_of_selection(void **state) {
    hid_t file = *(hid_t *)*state, dataset = H5Dopen2(file, "/a", H5P_DEFAULT);
    hid_t space = H5Dget_space(dataset);
    const hsize_t start[2] = {1, 2}, stride[2] = {3, 5}, count[2] = {4, 3}, block[2] = {2, 2};
    hsize_t size = 48;
    hid_t memory = H5Screate_simple(1, &size, NULL);
    int out[48];
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, block);
    assert_true(H5Dread(dataset, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, out) >= 0);
    for (int i = 0, row = 0; row < 8; row++) {
        for (int column = 0; column < 6; column++, i++) {
            int y = 1 + row / 2 * 3 + row % 2, x = 2 + column / 2 * 5 + column % 2;
            assert_int_equal(out[i], (y * 512 + x) % 30000);
        }
    }
    const hsize_t points[6] = {511, 511, 0, 1, 5, 5};
    H5Sselect_elements(space, H5S_SELECT_SET, 3, points);
    assert_true(H5Dread(dataset, H5T_NATIVE_INT, H5S_BLOCK, space, H5P_DEFAULT, out) >= 0);
    assert_int_equal(out[0], (512 * 512 - 1) % 30000);
    assert_int_equal(out[1], 1);
    assert_int_equal(out[2], 5 * 512 + 5);
    /* an offset moves the selection without changing it */
    const hsize_t corner[2] = {0, 0}, two[2] = {2, 2};
    const hssize_t offset[2] = {10, 20};
    H5Sselect_hyperslab(space, H5S_SELECT_SET, corner, NULL, two, NULL);
    H5Soffset_simple(space, offset);
    assert_true(H5Dread(dataset, H5T_NATIVE_INT, H5S_BLOCK, space, H5P_DEFAULT, out) >= 0);
    assert_int_equal(out[0], 10 * 512 + 20);
    assert_int_equal(out[3], 11 * 512 + 21);
    H5Sselect_none(space);
    H5Sselect_none(memory);
    assert_true(H5Dread(dataset, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, NULL) >= 0);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(dataset);
}

static void refuses_a_selection_in_the_transfer_list(void **state) {
    hid_t file = *(hid_t *)*state, dataset = H5Dopen2(file, "/a", H5P_DEFAULT);
    hid_t dxpl = H5Pcreate(H5P_DATASET_XFER);
    const hsize_t start[2] = {0, 0}, count[2] = {1, 3};
    int out[3];
    assert_true(H5Pset_dataset_io_hyperslab_selection(dxpl, 2, H5S_SELECT_SET, start, NULL, count,
                                                      NULL) >= 0);
    herr_t result;
    H5E_BEGIN_TRY {
        result = H5Dread(dataset, H5T_NATIVE_INT, H5S_BLOCK, H5S_PLIST, dxpl, out);
    }
    H5E_END_TRY
    assert_true(result < 0);
    H5Pclose(dxpl);
    H5Dclose(dataset);
}

static void reads_several_datasets_at_once(void **state) {
    hid_t file = *(hid_t *)*state;
    hid_t datasets[3] = {H5Dopen2(file, "/a", H5P_DEFAULT), H5Dopen2(file, "/g/b", H5P_DEFAULT),
                         H5Dopen2(file, "/a", H5P_DEFAULT)};
    hid_t types[3] = {H5T_NATIVE_SHORT, H5T_NATIVE_DOUBLE, H5T_NATIVE_FLOAT};
    hid_t all[3] = {H5S_ALL, H5S_ALL, H5S_ALL};
    short *ramp = calloc(512 * 512, sizeof *ramp);
    double *cube = calloc(6000, sizeof *cube);
    float *wide = calloc(512 * 512, sizeof *wide);
    void *buffers[3] = {ramp, cube, wide};
    assert_true(H5Dread_multi(3, datasets, types, all, all, H5P_DEFAULT, buffers) >= 0);
    for (int i = 0; i < 512 * 512; i++)
        assert_true(ramp[i] == i % 30000 && wide[i] == (float)(i % 30000));
    for (int i = 0; i < 6000; i++)
        assert_true(cube[i] == i * 0.5);
    for (int i = 0; i < 3; i++) {
        free(buffers[i]);
        H5Dclose(datasets[i]);
    }
}

static void makes_references_of_both_kinds(void **state) {
    hid_t file = *(hid_t *)*state;
    char name[64];
    H5R_ref_t reference;
    assert_true(H5Rcreate_object(file, "/g/b", H5P_DEFAULT, &reference) >= 0);
    hid_t object = H5Ropen_object(&reference, H5P_DEFAULT, H5P_DEFAULT);
    assert_int_equal(H5Iget_type(object), H5I_DATASET);
    H5Oclose(object);
    H5Rdestroy(&reference);

    /* DIMENSION_LIST with old references, then with new ones */
    hid_t attr = H5Aopen_by_name(file, "/nc/v", "DIMENSION_LIST", H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Aget_space(attr), type = H5Aget_type(attr);
    hvl_t lists[2];
    assert_true(H5Aread(attr, type, lists) >= 0);
    assert_int_equal(lists[1].len, 1);
    object = H5Rdereference2(file, H5P_DEFAULT, H5R_OBJECT, lists[1].p);
    assert_true(H5Iget_name(object, name, sizeof name) > 0);
    assert_string_equal(name, "/nc/x");
    H5Oclose(object);
    H5Treclaim(type, space, H5P_DEFAULT, lists);
    H5Tclose(type);
    type = H5Tvlen_create(H5T_STD_REF);
    assert_true(H5Aread(attr, type, lists) >= 0);
    object = H5Ropen_object(lists[0].p, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Iget_name(object, name, sizeof name) > 0);
    assert_string_equal(name, "/nc/y");
    H5Oclose(object);
    H5Treclaim(type, space, H5P_DEFAULT, lists);
    H5Tclose(type);
    H5Sclose(space);
    H5Aclose(attr);
}

static void strings_do_not_become_fixed(void **state) {
    hid_t attr = H5Aopen(*(hid_t *)*state, "title", H5P_DEFAULT), type = H5Tcopy(H5T_C_S1);
    char out[16];
    H5Tset_size(type, sizeof out);
    H5E_BEGIN_TRY {
        assert_true(H5Aread(attr, type, out) < 0);
    }
    H5E_END_TRY
    H5Tclose(type);
    H5Aclose(attr);
}

static void knows_its_file(void **state) {
    hid_t file = *(hid_t *)*state, group = H5Gopen2(file, "g", H5P_DEFAULT);
    char name[1024];
    unsigned intent;
    H5F_info2_t info;
    uint64_t flags = 0;
    assert_true(H5Fget_name(group, name, sizeof name) > 0);
    assert_string_equal(name, store);
    assert_true(H5Fget_intent(file, &intent) >= 0);
    assert_int_equal(intent, H5F_ACC_RDONLY);
    assert_true(H5Fget_info2(file, &info) >= 0);
    assert_int_equal(H5Fget_obj_count(file, H5F_OBJ_ALL), 2);
    hid_t again = H5Freopen(file), ids[4];
    assert_int_equal(H5Fget_obj_count(file, H5F_OBJ_ALL), 3);
    assert_int_equal(H5Fget_obj_count(file, H5F_OBJ_ALL | H5F_OBJ_LOCAL), 2);
    assert_int_equal(H5Fget_obj_ids(file, H5F_OBJ_GROUP, 4, ids), 1);
    assert_true(ids[0] == group);
    H5Fclose(again);
    H5Gclose(group);
    hid_t plist = H5Fget_access_plist(file);
    assert_true(plist >= 0 && H5Pget_vol_cap_flags(plist, &flags) >= 0);
    H5Pclose(plist);
    plist = H5Fget_create_plist(file);
    assert_true(plist >= 0);
    H5Pclose(plist);
    assert_true(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
}

/* Connectors above hand options on as text, and HDF5 compares them. */
static void prints_all_options(void **state) {
    static const char *const texts[] = {
        "native_compat=0;store=all;doors=own;netcdf_dimensions=1;sync=close;"
        "strategy=append;shards=8x4;chunks=auto;"
        "chunk_keys=slashes;unreadable=error;show=chunks",
        "native_compat=0;store=all;doors=own;netcdf_dimensions=1;sync=close;"
        "strategy=inplace;shards=8x4;chunks=auto;"
        "chunk_keys=dots;unreadable=text;show=shards;"
        "remote=region=auto&anon=1"};
    hid_t connector = H5VLregister_connector_by_name("zarr", H5P_DEFAULT);
    void *info[2] = {NULL};
    int order = 0;
    (void)state;
    for (int i = 0; i < 2; i++) {
        char *text = NULL;
        assert_true(H5VLconnector_str_to_info(texts[i], connector, &info[i]) >= 0);
        assert_true(H5VLconnector_info_to_str(info[i], connector, &text) >= 0);
        assert_string_equal(text, texts[i]);
        H5free_memory(text);
    }
    assert_true(H5VLcmp_connector_info(&order, connector, info[0], info[1]) >= 0);
    assert_true(order < 0);
    for (int i = 0; i < 2; i++)
        H5VLfree_connector_info(connector, info[i]);
    H5VLclose(connector);
}

/* A dataset keeps working after its file is closed, and H5close closes everything. */
static void survives_closing_and_starting_again(void **state) {
    (void)state;
    for (int round = 0; round < 3; round++) {
        hid_t file = H5Fopen(store, H5F_ACC_RDONLY, H5P_DEFAULT);
        hid_t dataset = H5Dopen2(file, "/g/sub/deep", H5P_DEFAULT);
        int out[7];
        assert_true(file >= 0 && dataset >= 0);
        H5Fclose(file);
        assert_true(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0);
        assert_int_equal(out[3], 30);
        assert_true(H5close() >= 0 && H5open() >= 0); /* with the dataset still open */
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(iterates_in_both_orders, open_file, close_file),
        cmocka_unit_test_setup_teardown(finds_by_index, open_file, close_file),
        cmocka_unit_test_setup_teardown(tokens_lead_back, open_file, close_file),
        cmocka_unit_test_setup_teardown(reads_every_kind_of_selection, open_file, close_file),
        cmocka_unit_test_setup_teardown(refuses_a_selection_in_the_transfer_list, open_file,
                                        close_file),
        cmocka_unit_test_setup_teardown(reads_several_datasets_at_once, open_file, close_file),
        cmocka_unit_test_setup_teardown(makes_references_of_both_kinds, open_file, close_file),
        cmocka_unit_test_setup_teardown(strings_do_not_become_fixed, open_file, close_file),
        cmocka_unit_test_setup_teardown(knows_its_file, open_file, close_file),
        cmocka_unit_test(prints_all_options),
        cmocka_unit_test(survives_closing_and_starting_again),
    };
    if (argc != 2)
        return 2;
    store = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
