/* SPDX-License-Identifier: MIT */
/*
 * Datasets of compounds with text, sequences and references: memory, sizes and conversions are
 * those of HDF5's own files, which each check looks at, too. test_nested_types.py passes a folder;
 * the connector comes by HDF5_VOL_CONNECTOR.
 */
#include "both_files.h"

enum { COUNT = 4 };

typedef struct row {
    int32_t number;
    char *text;
    hvl_t list; /* of int16_t */
    hobj_ref_t to;
} row;

static hid_t row_type;

/* ---- Files, types, rows ---- */

static hid_t text_type(void) {
    hid_t type = H5Tcopy(H5T_C_S1);
    assert_true(H5Tset_size(type, H5T_VARIABLE) >= 0);
    return type;
}

static hid_t make_row_type(void) {
    hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(row));
    hid_t text = text_type(), list = H5Tvlen_create(H5T_NATIVE_INT16);
    assert_true(H5Tinsert(type, "number", offsetof(row, number), H5T_NATIVE_INT32) >= 0 &&
                H5Tinsert(type, "text", offsetof(row, text), text) >= 0 &&
                H5Tinsert(type, "list", offsetof(row, list), list) >= 0 &&
                H5Tinsert(type, "to", offsetof(row, to), H5T_STD_REF_OBJ) >= 0);
    H5Tclose(text);
    H5Tclose(list);
    return type;
}

static int open_with_rows(void **state) {
    row_type = make_row_type();
    if (open_files(state))
        return 1;
    for (int k = 0; k < KINDS; k++)
        H5Gclose(H5Gcreate2(files[k], "target", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    return 0;
}

static int close_with_rows(void **state) {
    H5Tclose(row_type);
    return close_files(state);
}

static hid_t create_rows(hid_t file, const char *name) {
    static char words[COUNT][8] = {"zero", "", "two", "three"};
    static int16_t numbers[COUNT] = {5, -6, 7, -8};
    const hsize_t count = COUNT;
    row rows[COUNT];
    memset(rows, 0, sizeof rows);
    for (int i = 0; i < COUNT; i++) {
        rows[i].number = 100 * i;
        rows[i].text = words[i];
        rows[i].list = (hvl_t){.len = (size_t)i, .p = numbers};
        if (i % 2)
            assert_true(H5Rcreate(&rows[i].to, file, "target", H5R_OBJECT, -1) >= 0);
    }
    hid_t space = H5Screate_simple(1, &count, NULL);
    hid_t data = H5Dcreate2(file, name, row_type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(data >= 0);
    assert_true(H5Dwrite(data, row_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) >= 0);
    H5Sclose(space);
    return data;
}

/* Reads all rows; to be given back with reclaim. */
static void read_rows(hid_t data, hid_t list, row rows[COUNT]) {
    memset(rows, 0, COUNT * sizeof *rows);
    assert_true(H5Dread(data, row_type, H5S_ALL, H5S_ALL, list, rows) >= 0);
}

static void reclaim(hid_t type, hid_t list, void *rows) {
    const hsize_t count = COUNT;
    hid_t space = H5Screate_simple(1, &count, NULL);
    assert_true(H5Treclaim(type, space, list, rows) >= 0);
    H5Sclose(space);
}

static void assert_text(const char *text, const char *wanted) {
    assert_string_equal(text ? text : "", wanted); /* HDF5 may keep an empty text as NULL */
}

/* ---- Tests ---- */

static void rows_come_back(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        row rows[COUNT];
        hid_t data = create_rows(files[k], "rows");
        read_rows(data, H5P_DEFAULT, rows);
        assert_int_equal(rows[3].number, 300);
        assert_text(rows[1].text, "");
        assert_text(rows[3].text, "three");
        assert_int_equal(rows[3].list.len, 3);
        assert_int_equal(((int16_t *)rows[3].list.p)[1], -6);
        hid_t target = H5Rdereference2(data, H5P_DEFAULT, H5R_OBJECT, &rows[1].to);
        assert_int_equal(H5Iget_type(target), H5I_GROUP);
        H5Gclose(target);
        assert_int_equal(rows[2].to, 0);
        reclaim(row_type, H5P_DEFAULT, rows);
        H5Dclose(data);
    }
}

static void memory_of_the_programs_manager(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        row rows[COUNT];
        hid_t data = create_rows(files[k], "managed"), list = counting_list();
        read_rows(data, list, rows);
        assert_true(made == 6 || made == 7); /* three or four texts, three lists */
        assert_int_equal(freed, 0);
        assert_text(rows[2].text, "two");
        assert_int_equal(rows[1].to != 0, 1);
        reclaim(row_type, list, rows);
        assert_int_equal(freed, made);
        H5Pclose(list);
        H5Dclose(data);
    }
}

/* Writing with a list of the program's own converts, too, and leaves the other members. */
static void writing_by_a_list(void **state) {
    (void)state;
    typedef struct part {
        int64_t number;
        char *text;
    } part;
    part parts[COUNT] = {{1, "a"}, {2, "bb"}, {3, "ccc"}, {4, "dddd"}};
    hid_t list = H5Pcreate(H5P_DATASET_XFER), text = text_type();
    hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(part));
    H5Tinsert(type, "number", offsetof(part, number), H5T_NATIVE_INT64);
    H5Tinsert(type, "text", offsetof(part, text), text);
    assert_true(H5Pset_buffer(list, 3000, NULL, NULL) >= 0);
    for (int k = 0; k < KINDS; k++) {
        for (int custom = 0; custom < 2; custom++) {
            row rows[COUNT];
            part back[COUNT];
            hid_t data = create_rows(files[k], custom ? "by_list" : "in_part");
            assert_true(
                H5Dwrite(data, type, H5S_ALL, H5S_ALL, custom ? list : H5P_DEFAULT, parts) >= 0);
            read_rows(data, H5P_DEFAULT, rows);
            assert_int_equal(rows[2].number, 3);
            assert_text(rows[2].text, "ccc");
            assert_int_equal(rows[2].list.len, 2);
            assert_int_equal(rows[1].to != 0, 1);
            reclaim(row_type, H5P_DEFAULT, rows);
            assert_true(H5Dread(data, type, H5S_ALL, H5S_ALL, custom ? list : H5P_DEFAULT, back) >=
                        0);
            assert_int_equal(back[3].number, 4);
            assert_text(back[3].text, "dddd");
            reclaim(type, H5P_DEFAULT, back);
            H5Dclose(data);
        }
    }
    H5Tclose(type);
    H5Tclose(text);
    H5Pclose(list);
}

/* Members that only memory has keep what was there. */
static void members_of_memory_alone(void **state) {
    (void)state;
    typedef struct other {
        double missing;
        char *text;
    } other;
    hid_t text = text_type(), type = H5Tcreate(H5T_COMPOUND, sizeof(other));
    H5Tinsert(type, "missing", offsetof(other, missing), H5T_NATIVE_DOUBLE);
    H5Tinsert(type, "text", offsetof(other, text), text);
    for (int k = 0; k < KINDS; k++) {
        other out[COUNT];
        hid_t data = create_rows(files[k], "wider");
        memset(out, 0, sizeof out);
        for (int i = 0; i < COUNT; i++)
            out[i].missing = i + 0.5;
        assert_true(H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0);
        for (int i = 0; i < COUNT; i++)
            assert_true(out[i].missing == i + 0.5);
        assert_text(out[3].text, "three");
        reclaim(type, H5P_DEFAULT, out);
        H5Dclose(data);
    }
    H5Tclose(type);
    H5Tclose(text);
}

static void sizes(void **state) {
    (void)state;
    hsize_t bytes = 0;
    hid_t data = create_rows(files[STORE], "sized"), space = H5Dget_space(data);
    assert_true(H5Dvlen_get_buf_size(data, row_type, space, &bytes) >= 0);
    assert_int_equal(bytes, 5 + 1 + 4 + 6 + 2 * (1 + 2 + 3));
    H5Sclose(space);
    H5Dclose(data);
}

/* Elements that nobody has written. */
static void fill_values(void **state) {
    (void)state;
    static char text[] = "none";
    static int16_t numbers[] = {1, 2};
    const row fill = {.number = 7, .text = text, .list = {.len = 2, .p = numbers}};
    const hsize_t count = COUNT;
    for (int k = 0; k < KINDS; k++) {
        row rows[COUNT], told;
        hid_t list = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, &count, NULL);
        assert_true(H5Pset_chunk(list, 1, &count) >= 0);
        assert_true(H5Pset_fill_value(list, row_type, &fill) >= 0);
        hid_t data =
            H5Dcreate2(files[k], "filled", row_type, space, H5P_DEFAULT, list, H5P_DEFAULT);
        H5Pclose(list);
        H5Dclose(data);
        data = H5Dopen2(files[k], "filled", H5P_DEFAULT);
        read_rows(data, H5P_DEFAULT, rows);
        assert_int_equal(rows[3].number, 7);
        assert_text(rows[3].text, "none");
        assert_int_equal(((int16_t *)rows[3].list.p)[1], 2);
        reclaim(row_type, H5P_DEFAULT, rows);
        list = H5Dget_create_plist(data);
        assert_true(H5Pget_fill_value(list, row_type, &told) >= 0);
        assert_text(told.text, "none");
        free(told.text);
        free(told.list.p);
        H5Pclose(list);
        H5Sclose(space);
        H5Dclose(data);
    }
}

/* A reference to nothing in the store cannot be kept. */
static void lost_references_are_refused(void **state) {
    (void)state;
    row rows[COUNT];
    hid_t data = create_rows(files[STORE], "lost");
    read_rows(data, H5P_DEFAULT, rows);
    rows[2].to = 12345;
    assert_true(H5Dwrite(data, row_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) < 0);
    reclaim(row_type, H5P_DEFAULT, rows);
    read_rows(data, H5P_DEFAULT, rows);
    assert_text(rows[2].text, "two");
    reclaim(row_type, H5P_DEFAULT, rows);
    H5Dclose(data);
}

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    folder = argv[1];
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_back),
        cmocka_unit_test(memory_of_the_programs_manager),
        cmocka_unit_test(writing_by_a_list),
        cmocka_unit_test(members_of_memory_alone),
        cmocka_unit_test(sizes),
        cmocka_unit_test(fill_values),
        cmocka_unit_test(lost_references_are_refused),
    };
    return cmocka_run_group_tests(tests, open_with_rows, close_with_rows);
}
