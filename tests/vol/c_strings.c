/* SPDX-License-Identifier: MIT */
/*
 * Datasets of variable-length strings: memory of the program's and of its manager, strings of a
 * fixed length, null pointers, sizes. test_strings.py passes a folder; the connector comes by
 * HDF5_VOL_CONNECTOR.
 */
#include "both_files.h"

enum { COUNT = 6 };

static const char *const words[COUNT] = {"one", "", "h\xc3\xa9llo", "a longer text", "x  ", "six"};

/* ---- Types and datasets ---- */

static hid_t variable(H5T_cset_t set) {
    hid_t type = H5Tcopy(H5T_C_S1);
    assert_true(H5Tset_size(type, H5T_VARIABLE) >= 0 && H5Tset_cset(type, set) >= 0);
    return type;
}

static hid_t fixed(size_t size, H5T_str_t padding) {
    hid_t type = H5Tcopy(H5T_C_S1);
    assert_true(H5Tset_size(type, size) >= 0 && H5Tset_strpad(type, padding) >= 0);
    return type;
}

static hid_t create(hid_t file, const char *name, hid_t type, hsize_t count) {
    hid_t space = H5Screate_simple(1, &count, NULL);
    hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(dataset >= 0);
    H5Sclose(space);
    return dataset;
}

/* A dataset of the words. */
static hid_t create_words(hid_t file, const char *name, H5T_cset_t set) {
    hid_t type = variable(set), dataset = create(file, name, type, COUNT);
    assert_true(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, words) >= 0);
    H5Tclose(type);
    return dataset;
}

/* A call that has to fail, with `words` in the messages of the stack. */
static herr_t find_words(unsigned n, const H5E_error2_t *error, void *context) {
    const char **wanted = context;
    (void)n;
    if (*wanted && strstr(error->desc, *wanted))
        *wanted = NULL;
    return 0;
}

static void assert_refused(herr_t result, const char *wanted) {
    const char *left = wanted;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, find_words, &left);
    assert_true(result < 0);
    if (left)
        fail_msg("the messages do not say '%s'", wanted);
}

/* ---- Tests ---- */

static void both_character_sets(void **state) {
    (void)state;
    for (int set = 0; set < 2; set++) {
        char *out[COUNT];
        hid_t type = variable(set ? H5T_CSET_UTF8 : H5T_CSET_ASCII);
        hid_t dataset = create_words(files[STORE], set ? "utf8" : "ascii", set);
        hid_t space = H5Dget_space(dataset), stored = H5Dget_type(dataset);
        assert_true(H5Tis_variable_str(stored) > 0 && H5Tget_cset(stored) == H5Tget_cset(type));
        assert_true(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0);
        for (int i = 0; i < COUNT; i++)
            assert_string_equal(out[i], words[i]);
        assert_true(H5Treclaim(type, space, H5P_DEFAULT, out) >= 0);
        H5Tclose(stored);
        H5Sclose(space);
        H5Dclose(dataset);
        H5Tclose(type);
    }
}

static void memory_of_the_programs_manager(void **state) {
    (void)state;
    char *out[COUNT];
    hid_t list = counting_list(), type = variable(H5T_CSET_UTF8);
    hid_t dataset = create_words(files[STORE], "managed", H5T_CSET_UTF8);
    hid_t space = H5Dget_space(dataset);
    assert_true(H5Dread(dataset, type, H5S_ALL, H5S_ALL, list, out) >= 0);
    assert_true(made >= COUNT - 1 && freed == 0); /* HDF5 may keep an empty text as NULL */
    for (int i = 0; i < COUNT; i++)
        assert_string_equal(out[i] ? out[i] : "", words[i]);
    assert_true(H5Dvlen_reclaim(type, space, list, out) >= 0);
    assert_int_equal(made, freed);
    assert_true(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, list, words) >= 0);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Tclose(type);
    H5Pclose(list);
}

/* Cut and padded as HDF5 does it between strings of a fixed length. */
static void fixed_lengths(void **state) {
    (void)state;
    static const struct {
        H5T_str_t padding;
        size_t size;
        const char *expected; /* of "a longer text" */
    } cases[] = {
        {H5T_STR_NULLTERM, 5, "a lo\0"},          {H5T_STR_NULLPAD, 5, "a lon"},
        {H5T_STR_SPACEPAD, 5, "a lon"},           {H5T_STR_NULLTERM, 15, "a longer text\0\0"},
        {H5T_STR_NULLPAD, 15, "a longer text\0"}, {H5T_STR_SPACEPAD, 15, "a longer text  "},
    };
    hid_t dataset = create_words(files[STORE], "fixed", H5T_CSET_UTF8);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char out[COUNT][16], back[COUNT][16];
        const size_t size = cases[k].size;
        hid_t type = fixed(size, cases[k].padding), longest = fixed(15, H5T_STR_NULLTERM);
        memset(out, '#', sizeof out);
        memset(back, 0, sizeof back);
        assert_true(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0);
        const char *packed = (const char *)out;
        assert_memory_equal(packed + 3 * size, cases[k].expected, size);
        assert_int_equal(packed[COUNT * size], '#');
        /* HDF5's own conversion of the same words gives the same bytes. */
        for (int i = 0; i < COUNT; i++)
            snprintf((char *)back + i * 15, 15, "%s", words[i]);
        assert_true(H5Tconvert(longest, type, COUNT, back, NULL, H5P_DEFAULT) >= 0);
        assert_memory_equal(out, back, COUNT * size);
        H5Tclose(longest);
        H5Tclose(type);
    }
    H5Dclose(dataset);
}

static void writing_fixed_lengths(void **state) {
    (void)state;
    static const char terminated[] = "ab\0?cdef", padded[] = "a\0b\0cdef", blanks[] = "ab  cdef";
    static const struct {
        H5T_str_t padding;
        const char *data, *first;
    } cases[] = {{H5T_STR_NULLTERM, terminated, "ab"}, {H5T_STR_SPACEPAD, blanks, "ab"}};
    hid_t type = variable(H5T_CSET_UTF8), dataset = create(files[STORE], "wf", type, 2);
    for (size_t k = 0; k < 2; k++) {
        char *out[2];
        hid_t memory = fixed(4, cases[k].padding), space = H5Dget_space(dataset);
        assert_true(H5Dwrite(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, cases[k].data) >= 0);
        assert_true(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0);
        assert_string_equal(out[0], cases[k].first);
        assert_string_equal(out[1], "cdef");
        H5Treclaim(type, space, H5P_DEFAULT, out);
        H5Sclose(space);
        H5Tclose(memory);
    }
    /* A NUL before the padding is a part of the text. No char * holds that. */
    char back[9] = "", *none[2];
    hid_t memory = fixed(4, H5T_STR_NULLPAD);
    assert_true(H5Dwrite(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, padded) >= 0);
    assert_true(H5Dread(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, back) >= 0);
    assert_memory_equal(back, padded, 8);
    assert_refused(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, none),
                   "element [0]: the text holds a NUL (byte 1 of 3)");
    H5Tclose(memory);
    H5Dclose(dataset);
    H5Tclose(type);
}

/* The elements of earlier pieces are not left behind. */
static void failed_reads_leave_nothing(void **state) {
    (void)state;
    enum { MANY = 300000 };
    char(*data)[4] = calloc(MANY, 4), **out = calloc(MANY, sizeof *out);
    assert_true(data && out);
    memcpy(data[MANY - 1], "a\0b", 4);
    for (int i = 0; i < MANY - 1; i++)
        snprintf(data[i], 4, "%d", i % 1000);
    hid_t type = variable(H5T_CSET_UTF8), memory = fixed(4, H5T_STR_NULLPAD);
    hid_t dataset = create(files[STORE], "many", type, MANY), list = counting_list();
    assert_true(H5Dwrite(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    assert_refused(H5Dread(dataset, type, H5S_ALL, H5S_ALL, list, out), "element [299999]");
    assert_true(made > 0);
    assert_int_equal(made, freed);
    assert_refused(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out), "element [299999]");
    for (int i = 0; i < MANY; i++)
        assert_null(out[i]);
    H5Pclose(list);
    H5Dclose(dataset);
    H5Tclose(memory);
    H5Tclose(type);
    free(out);
    free(data);
}

static void null_pointers_are_empty(void **state) {
    (void)state;
    const char *data[3] = {"a", NULL, "c"};
    char *out[3];
    hid_t type = variable(H5T_CSET_UTF8);
    hid_t dataset = create(files[STORE], "null", type, 3), space = H5Dget_space(dataset);
    assert_true(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    assert_true(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0);
    assert_string_equal(out[0], "a");
    assert_string_equal(out[1], "");
    assert_string_equal(out[2], "c");
    H5Treclaim(type, space, H5P_DEFAULT, out);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Tclose(type);
}

/* As large as in HDF5's own file, for all elements and for some; nothing for numbers. */
static void sizes(void **state) {
    (void)state;
    hsize_t size[KINDS], some[KINDS];
    hid_t type = variable(H5T_CSET_UTF8);
    for (int k = 0; k < KINDS; k++) {
        static const hsize_t start = 2, count = 2;
        hid_t dataset = create_words(files[k], "sizes", H5T_CSET_UTF8);
        hid_t space = H5Dget_space(dataset);
        assert_true(H5Dvlen_get_buf_size(dataset, type, space, &size[k]) >= 0);
        H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL);
        assert_true(H5Dvlen_get_buf_size(dataset, type, space, &some[k]) >= 0);
        assert_int_equal(some[k], strlen(words[2]) + strlen(words[3]) + 2);
        H5Sclose(space);
        H5Dclose(dataset);
    }
    assert_int_equal(size[STORE], size[NATIVE]);
    H5Tclose(type);
}

static void other_types_are_refused(void **state) {
    (void)state;
    int numbers[COUNT] = {0};
    char *out[COUNT];
    hid_t type = variable(H5T_CSET_UTF8);
    hid_t text = create_words(files[STORE], "text", H5T_CSET_UTF8);
    hid_t integers = create(files[STORE], "integers", H5T_NATIVE_INT, COUNT);
    assert_refused(H5Dread(text, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers),
                   "'/text' holds strings");
    assert_refused(H5Dwrite(text, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers),
                   "'/text' holds strings");
    assert_refused(H5Dread(integers, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out),
                   "'/integers' cannot be converted");
    hid_t list = H5Pcreate(H5P_DATASET_XFER);
    assert_true(H5Pset_data_transform(list, "2*x") >= 0);
    assert_refused(H5Dread(text, type, H5S_ALL, H5S_ALL, list, out), "cannot be converted");
    H5Pclose(list);
    H5Dclose(integers);
    H5Dclose(text);
    H5Tclose(type);
}

/* Both in one call, the strings into every second place of memory. */
static void several_datasets_at_once(void **state) {
    (void)state;
    const int numbers[COUNT] = {1, 2, 3, 4, 5, 6};
    int got[COUNT];
    char *out[2 * COUNT] = {0};
    hid_t type = variable(H5T_CSET_UTF8);
    hid_t text = create_words(files[STORE], "t", H5T_CSET_UTF8);
    hid_t integers = create(files[STORE], "i", H5T_NATIVE_INT, COUNT);
    assert_true(H5Dwrite(integers, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) >= 0);
    static const hsize_t start = 1, stride = 2, count = COUNT, room = 2 * COUNT;
    hid_t memory = H5Screate_simple(1, &room, NULL);
    H5Sselect_hyperslab(memory, H5S_SELECT_SET, &start, &stride, &count, NULL);
    hid_t datasets[] = {text, integers}, types[] = {type, H5T_NATIVE_INT};
    hid_t memories[] = {memory, H5S_ALL}, places[] = {H5S_ALL, H5S_ALL};
    void *buffers[] = {out, got};
    assert_true(H5Dread_multi(2, datasets, types, memories, places, H5P_DEFAULT, buffers) >= 0);
    assert_memory_equal(got, numbers, sizeof got);
    for (int i = 0; i < COUNT; i++) {
        assert_null(out[2 * i]);
        assert_string_equal(out[2 * i + 1], words[i]);
    }
    H5Treclaim(type, memory, H5P_DEFAULT, out);
    types[1] = H5T_C_S1; /* a program frees nothing after a read that fails */
    memset(out, 0, sizeof out);
    assert_true(H5Dread_multi(2, datasets, types, memories, places, H5P_DEFAULT, buffers) < 0);
    for (int i = 0; i < 2 * COUNT; i++)
        assert_null(out[i]);
    H5Sclose(memory);
    H5Dclose(integers);
    H5Dclose(text);
    H5Tclose(type);
}

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    folder = argv[1];
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_character_sets),
        cmocka_unit_test(memory_of_the_programs_manager),
        cmocka_unit_test(fixed_lengths),
        cmocka_unit_test(writing_fixed_lengths),
        cmocka_unit_test(failed_reads_leave_nothing),
        cmocka_unit_test(null_pointers_are_empty),
        cmocka_unit_test(sizes),
        cmocka_unit_test(other_types_are_refused),
        cmocka_unit_test(several_datasets_at_once),
    };
    return cmocka_run_group_tests(tests, open_files, close_files);
}
