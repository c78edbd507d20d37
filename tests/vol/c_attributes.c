/* SPDX-License-Identifier: MIT */
/*
 * Attributes as seen by a C program that knows which ones it created: the same steps on an .h5 file
 * and on a store, with the same answers while the file is open, and never a byte written beyond the
 * program's buffer. test_c_api.py passes a folder; the connector comes by HDF5_VOL_CONNECTOR.
 */
#include "attribute_values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NATIVE, STORE, KINDS };

static const char *const names[KINDS] = {"a.h5", "a.zarr"};
static const char *folder;
static hid_t files[KINDS], owners[KINDS]; /* owner: a dataset, which may have a _FillValue */

static const char *path_of(int kind) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, names[kind]);
    return path;
}

static int open_files(void **state) {
    const hsize_t size = 4;
    hid_t space = H5Screate_simple(1, &size, NULL);
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        files[k] = H5Fcreate(path_of(k), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        owners[k] =
            H5Dcreate2(files[k], "d", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        if (files[k] < 0 || owners[k] < 0)
            return 1;
    }
    H5Sclose(space);
    return 0;
}

static int close_files(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++)
        if (H5Dclose(owners[k]) < 0 || H5Fclose(files[k]) < 0)
            return 1;
    return 0;
}

/* ---- The answers of an id ---- */

static void assert_described(hid_t attr, hid_t type, hid_t space) {
    hid_t seen_type = H5Aget_type(attr), seen_space = H5Aget_space(attr);
    assert_true(H5Tequal(seen_type, type) > 0);
    assert_true(H5Sextent_equal(seen_space, space) > 0);
    assert_int_equal(H5Aget_storage_size(attr),
                     H5Sget_simple_extent_npoints(space) *
                         (hssize_t)(is_variable(type) ? 16 : H5Tget_size(type)));
    H5Sclose(seen_space);
    H5Tclose(seen_type);
}

static void assert_reads(hid_t attr, hid_t type, hid_t space, const void *want) {
    guarded seen = new_guarded(bytes_of(type, space));
    assert_described(attr, type, space);
    assert_true(H5Aread(attr, type, data_of(&seen)) >= 0);
    if (want)
        assert_same(type, space, data_of(&seen), want);
    reclaim(type, space, &seen);
    free_guarded(&seen);
}

/* The same bytes from both kinds of file, in another type; or an error from both. */
static void assert_converts_alike(hid_t attrs[KINDS], hid_t type, hid_t space) {
    guarded seen[KINDS];
    herr_t results[KINDS];
    for (int k = 0; k < KINDS; k++) {
        seen[k] = new_guarded(bytes_of(type, space));
        memset(data_of(&seen[k]), 0x11, seen[k].size);
        H5E_BEGIN_TRY {
            results[k] = H5Aread(attrs[k], type, data_of(&seen[k]));
        }
        H5E_END_TRY
    }
    assert_int_equal(results[NATIVE], results[STORE]);
    if (results[NATIVE] >= 0)
        assert_same(type, space, data_of(&seen[NATIVE]), data_of(&seen[STORE]));
    for (int k = 0; k < KINDS; k++) {
        if (results[k] >= 0)
            reclaim(type, space, &seen[k]);
        free_guarded(&seen[k]);
    }
}

/* ---- Tests ---- */

/* After any operation, an attribute has the type and the dataspace that it was created with. */
static void one_kind(hid_t type, hid_t space, const hid_t types[TYPES], const char *name) {
    const size_t count = (size_t)H5Sget_simple_extent_npoints(space);
    hid_t attrs[KINDS];
    guarded data = new_guarded(bytes_of(type, space));
    fill(type, count, data_of(&data));
    for (int k = 0; k < KINDS; k++) {
        attrs[k] = H5Acreate2(owners[k], name, type, space, H5P_DEFAULT, H5P_DEFAULT);
        assert_true(attrs[k] >= 0);
        if (!is_variable(type)) {
            guarded zeros = new_guarded(data.size);
            memset(data_of(&zeros), 0, zeros.size);
            assert_reads(attrs[k], type, space, data_of(&zeros));
            free_guarded(&zeros);
        } else {
            assert_described(attrs[k], type, space);
        }
        assert_true(H5Awrite(attrs[k], type, data_of(&data)) >= 0);
        assert_reads(attrs[k], type, space, data_of(&data));
        hid_t again = H5Aopen(owners[k], name, H5P_DEFAULT);
        assert_reads(again, type, space, data_of(&data));
        H5Aclose(again);
    }
    for (int t = 0; t < TYPES; t++)
        assert_converts_alike(attrs, types[t], space);
    for (int k = 0; k < KINDS; k++)
        assert_true(H5Aclose(attrs[k]) >= 0);
    for (int k = 0; k < KINDS; k++) {
        hid_t again = H5Aopen(owners[k], name, H5P_DEFAULT);
        assert_reads(again, type, space, data_of(&data));
        H5Aclose(again);
    }
    free_guarded(&data);
}

static void keeps_types(void **state) {
    hid_t types[TYPES], spaces[SPACES];
    char name[32];
    (void)state;
    make_types(types);
    make_spaces(spaces);
    for (int t = 0; t < TYPES; t++) {
        for (int s = 0; s < SPACES; s++) {
            snprintf(name, sizeof name, "a%d_%d", t, s);
            one_kind(types[t], spaces[s], types, name);
        }
    }
    for (int t = 0; t < TYPES; t++)
        H5Tclose(types[t]);
    for (int s = 0; s < SPACES; s++)
        H5Sclose(spaces[s]);
}

/* After reopening, the JSON decides the types; but buffers of the created size are enough, whatever
   the type they are read by. */
static void never_overflows_after_reopening(void **state) {
    hid_t types[TYPES], spaces[SPACES];
    char name[32];
    keeps_types(state);
    make_types(types);
    make_spaces(spaces);
    assert_true(H5Dclose(owners[STORE]) >= 0 && H5Fclose(files[STORE]) >= 0);
    files[STORE] = H5Fopen(path_of(STORE), H5F_ACC_RDWR, H5P_DEFAULT);
    owners[STORE] = H5Dopen2(files[STORE], "d", H5P_DEFAULT);
    for (int n = 0; n < TYPES * SPACES; n++) {
        hid_t space = spaces[n % SPACES];
        snprintf(name, sizeof name, "a%d_%d", n / SPACES, n % SPACES);
        hid_t attr = H5Aopen(owners[STORE], name, H5P_DEFAULT), shown = H5Aget_space(attr);
        assert_int_equal(H5Sget_simple_extent_npoints(shown), H5Sget_simple_extent_npoints(space));
        H5Sclose(shown);
        for (int t = 0; t < TYPES; t++) {
            guarded seen = new_guarded(bytes_of(types[t], space));
            herr_t result;
            H5E_BEGIN_TRY {
                result = H5Aread(attr, types[t], data_of(&seen));
            }
            H5E_END_TRY
            check_guard(&seen);
            if (result >= 0)
                reclaim(types[t], space, &seen);
            free_guarded(&seen);
        }
        H5Aclose(attr);
    }
    for (int t = 0; t < TYPES; t++)
        H5Tclose(types[t]);
    for (int s = 0; s < SPACES; s++)
        H5Sclose(spaces[s]);
}

/* Written values become values that the attribute's type can hold, as HDF5 converts them. */
static void converts_what_is_written(void **state) {
    const hsize_t size = 4;
    const double values[] = {1e6, -3.75, 0.1, 300};
    const hid_t types[] = {H5T_STD_I8LE, H5T_STD_U16BE, H5T_IEEE_F32LE, H5T_IEEE_F64BE,
                           H5T_STD_I64LE};
    hid_t space = H5Screate_simple(1, &size, NULL);
    (void)state;
    for (int t = 0; t < 5; t++) {
        const char name[] = {'w', (char)('0' + t), 0};
        double seen[KINDS][4];
        for (int k = 0; k < KINDS; k++) {
            hid_t attr = H5Acreate2(owners[k], name, types[t], space, H5P_DEFAULT, H5P_DEFAULT);
            assert_true(H5Awrite(attr, H5T_NATIVE_DOUBLE, values) >= 0);
            assert_described(attr, types[t], space);
            assert_true(H5Aread(attr, H5T_NATIVE_DOUBLE, seen[k]) >= 0);
            H5Aclose(attr);
        }
        assert_memory_equal(seen[NATIVE], seen[STORE], sizeof seen[0]);
    }
    H5Sclose(space);
}

/* Strings of one size written to attributes of another: cut off as HDF5 does it, or refused. */
static void converts_strings(void **state) {
    hid_t sizes[] = {text(3, H5T_STR_NULLTERM, H5T_CSET_ASCII),
                     text(9, H5T_STR_NULLPAD, H5T_CSET_ASCII),
                     text(6, H5T_STR_SPACEPAD, H5T_CSET_ASCII),
                     text(H5T_VARIABLE, H5T_STR_NULLTERM, H5T_CSET_ASCII)};
    hid_t space = H5Screate(H5S_SCALAR);
    const char *const pointer = "pointer";
    (void)state;
    for (int from = 0; from < 4; from++) {
        for (int to = 0; to < 3; to++) {
            const char name[] = {'s', (char)('0' + from), (char)('0' + to), 0};
            herr_t written[KINDS];
            char seen[KINDS][16] = {"", ""};
            for (int k = 0; k < KINDS; k++) {
                hid_t attr =
                    H5Acreate2(owners[k], name, sizes[to], space, H5P_DEFAULT, H5P_DEFAULT);
                H5E_BEGIN_TRY {
                    written[k] = H5Awrite(attr, sizes[from],
                                          from == 3 ? (const void *)&pointer : "abcdefghi");
                }
                H5E_END_TRY
                assert_described(attr, sizes[to], space);
                assert_true(H5Aread(attr, sizes[to], seen[k]) >= 0);
                H5Aclose(attr);
            }
            assert_int_equal(written[NATIVE], written[STORE]);
            assert_memory_equal(seen[NATIVE], seen[STORE], sizeof seen[0]);
        }
    }
    for (int i = 0; i < 4; i++)
        H5Tclose(sizes[i]);
    H5Sclose(space);
}

/* An attribute that is created and not written is there for every handle. */
static void has_unwritten_ones(void **state) {
    const hsize_t size = 3;
    hid_t space = H5Screate_simple(1, &size, NULL);
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        H5O_info2_t info;
        char name[16];
        int seen[3] = {1, 1, 1}, value[3] = {4, 5, 6};
        hid_t attr = H5Acreate2(owners[k], "u", H5T_STD_I16LE, space, H5P_DEFAULT, H5P_DEFAULT);
        assert_true(H5Aexists(owners[k], "u") > 0);
        H5E_BEGIN_TRY {
            assert_true(H5Acreate2(owners[k], "u", H5T_STD_I16LE, space, H5P_DEFAULT, H5P_DEFAULT) <
                        0);
        }
        H5E_END_TRY
        assert_true(H5Oget_info3(owners[k], &info, H5O_INFO_NUM_ATTRS) >= 0);
        assert_int_equal(info.num_attrs, 1);
        assert_int_equal(H5Aget_name_by_idx(owners[k], ".", H5_INDEX_NAME, H5_ITER_INC, 0, name,
                                            sizeof name, H5P_DEFAULT),
                         1);
        hid_t second = H5Aopen(owners[k], "u", H5P_DEFAULT);
        assert_true(second >= 0);
        assert_true(H5Aread(second, H5T_NATIVE_INT, seen) >= 0);
        assert_true(seen[0] == 0 && seen[1] == 0 && seen[2] == 0);
        assert_true(H5Arename(owners[k], "u", "v") >= 0);
        assert_true(H5Aexists(owners[k], "u") == 0 && H5Aexists(owners[k], "v") > 0);
        assert_true(H5Aget_name(attr, sizeof name, name) == 1);
        assert_string_equal(name, "v");
        assert_true(H5Aclose(second) >= 0);
        assert_true(H5Awrite(attr, H5T_NATIVE_INT, value) >= 0);
        second = H5Aopen(owners[k], "v", H5P_DEFAULT);
        assert_true(H5Aread(second, H5T_NATIVE_INT, seen) >= 0);
        assert_memory_equal(seen, value, sizeof seen);
        H5Aclose(second);
        H5Aclose(attr);

        attr = H5Acreate2(owners[k], "gone", H5T_STD_I16LE, space, H5P_DEFAULT, H5P_DEFAULT);
        assert_true(H5Adelete(owners[k], "gone") >= 0);
        assert_true(H5Aexists(owners[k], "gone") == 0);
        H5E_BEGIN_TRY {
            assert_true(H5Adelete(owners[k], "gone") < 0);
        }
        H5E_END_TRY
        assert_true(H5Aclose(attr) >= 0);
        assert_true(H5Aexists(owners[k], "gone") == 0);
        attr = H5Acreate2(owners[k], "zeros", H5T_STD_I16LE, space, H5P_DEFAULT, H5P_DEFAULT);
        assert_true(H5Aclose(attr) >= 0);
        attr = H5Acreate2(owners[k], "flushed", H5T_STD_I16LE, space, H5P_DEFAULT, H5P_DEFAULT);
        assert_true(H5Fflush(files[k], H5F_SCOPE_GLOBAL) >= 0);
        assert_described(attr, H5T_STD_I16LE, space);
        assert_true(H5Aclose(attr) >= 0);
    }
    H5Sclose(space);
}

/* The store has the attributes that waited: another handle reads it anew and sees them. */
static void stores_unwritten_ones(void **state) {
    has_unwritten_ones(state);
    for (int k = 0; k < KINDS; k++) {
        static const char *const want[] = {"flushed", "v", "zeros"};
        int seen[3];
        assert_true(H5Dclose(owners[k]) >= 0 && H5Fclose(files[k]) >= 0);
        files[k] = H5Fopen(path_of(k), H5F_ACC_RDWR, H5P_DEFAULT);
        owners[k] = H5Dopen2(files[k], "d", H5P_DEFAULT);
        for (hsize_t i = 0; i < 3; i++) {
            hid_t attr = H5Aopen_by_idx(owners[k], ".", H5_INDEX_NAME, H5_ITER_INC, i, H5P_DEFAULT,
                                        H5P_DEFAULT);
            char name[16];
            assert_true(H5Aget_name(attr, sizeof name, name) > 0);
            assert_string_equal(name, want[i]);
            assert_true(H5Aread(attr, H5T_NATIVE_INT, seen) >= 0);
            assert_int_equal(seen[1], i == 1 ? 5 : 0);
            H5Aclose(attr);
        }
    }
}

/* The old id must not take the new attribute for its own, which has more elements. */
static void does_not_confuse_namesakes(void **state) {
    const hsize_t few = 2, many = 1000;
    hid_t small = H5Screate_simple(1, &few, NULL), large = H5Screate_simple(1, &many, NULL);
    int *values = calloc(many, sizeof *values);
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        hid_t old = H5Acreate2(owners[k], "n", H5T_NATIVE_INT, small, H5P_DEFAULT, H5P_DEFAULT);
        assert_true(H5Awrite(old, H5T_NATIVE_INT, values) >= 0);
        assert_true(H5Adelete(owners[k], "n") >= 0);
        hid_t young = H5Acreate2(owners[k], "n", H5T_NATIVE_INT, large, H5P_DEFAULT, H5P_DEFAULT);
        assert_true(H5Awrite(young, H5T_NATIVE_INT, values) >= 0);
        guarded seen = new_guarded(few * sizeof(int));
        H5E_BEGIN_TRY {
            H5Aread(old, H5T_NATIVE_INT,
                    data_of(&seen)); /* HDF5 knows it still, a store does not */
        }
        H5E_END_TRY
        check_guard(&seen);
        free_guarded(&seen);
        H5Aclose(old);
        H5Aclose(young);
    }
    free(values);
    H5Sclose(large);
    H5Sclose(small);
}

/* ---- Other programs ----------------------------------------------------------------------- */

/* Puts another text in place of one that the file holds. */
static void replace_in(const char *path, const char *old, const char *text) {
    static char content[65536];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    content[fread(content, 1, sizeof content - 1, file)] = '\0';
    fclose(file);
    char *at = strstr(content, old);
    assert_non_null(at);
    file = fopen(path, "w");
    fprintf(file, "%.*s%s%s", (int)(at - content), content, text, at + strlen(old));
    assert_int_equal(fclose(file), 0);
}

/* The program's buffer has as many elements as the dataspace that it was told, also when another
   program has changed the array or the attribute since, and a change of ours has brought that to
   light. */
static void does_not_believe_others(void **state) {
    const hsize_t few = 2;
    hid_t space = H5Screate_simple(1, &few, NULL);
    const int values[] = {1, 2};
    char path[4200];
    (void)state;
    hid_t attr = H5Acreate2(owners[STORE], "o", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attr, H5T_NATIVE_INT, values) >= 0);
    H5Aclose(attr);
    assert_true(H5Dclose(owners[STORE]) >= 0 && H5Fclose(files[STORE]) >= 0);
    files[STORE] = H5Fopen(path_of(STORE), H5F_ACC_RDWR, H5P_DEFAULT);
    owners[STORE] = H5Dopen2(files[STORE], "d", H5P_DEFAULT);
    attr = H5Aopen(owners[STORE], "o", H5P_DEFAULT);

    snprintf(path, sizeof path, "%s/d/zarr.json", path_of(STORE));
    replace_in(path, "[1, 2]", "[1, 2, 3, 4, 5, 6, 7, 8]");
    replace_in(path, "\"shape\": [4]", "\"shape\": [4000]");
    hid_t other = H5Acreate2(owners[STORE], "p", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(other, H5T_NATIVE_INT, values) >= 0);
    H5Aclose(other);
    assert_true(H5Dflush(owners[STORE]) >= 0);

    guarded seen = new_guarded(sizeof values), elements = new_guarded(4 * sizeof(float));
    herr_t results[2];
    H5E_BEGIN_TRY {
        results[0] = H5Aread(attr, H5T_NATIVE_INT, data_of(&seen));
        results[1] = H5Dread(owners[STORE], H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                             data_of(&elements));
    }
    H5E_END_TRY
    free_guarded(&seen);
    free_guarded(&elements);
    assert_true(results[0] < 0 && results[1] < 0);

    /* A handle that asks gets an answer. */
    hid_t now = H5Dget_space(owners[STORE]);
    assert_int_equal(H5Sget_simple_extent_npoints(now), 4000);
    elements = new_guarded(4000 * sizeof(float));
    assert_true(H5Dread(owners[STORE], H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                        data_of(&elements)) >= 0);
    free_guarded(&elements);
    H5Sclose(now);
    H5Aclose(attr);
    attr = H5Aopen(owners[STORE], "o", H5P_DEFAULT);
    seen = new_guarded(8 * sizeof(int));
    assert_true(H5Aread(attr, H5T_NATIVE_INT, data_of(&seen)) >= 0);
    free_guarded(&seen);
    H5Aclose(attr);
    H5Sclose(space);
}

/* ---- Null pointers in place of texts ---- */

typedef struct named {
    char *name;
    int number;
} named;

typedef struct null_types {
    hid_t text, other, compound, list, one, three;
} null_types;

static null_types new_null_types(void) {
    const hsize_t one = 1, three = 3;
    null_types t = {.text = text(H5T_VARIABLE, H5T_STR_NULLTERM, H5T_CSET_UTF8),
                    .other = text(H5T_VARIABLE, H5T_STR_NULLTERM, H5T_CSET_ASCII),
                    .compound = H5Tcreate(H5T_COMPOUND, sizeof(named)),
                    .one = H5Screate_simple(1, &one, NULL),
                    .three = H5Screate_simple(1, &three, NULL)};
    H5Tinsert(t.compound, "name", HOFFSET(named, name), t.text);
    H5Tinsert(t.compound, "number", HOFFSET(named, number), H5T_NATIVE_INT);
    t.list = H5Tvlen_create(t.text);
    return t;
}

static void free_null_types(const null_types *t) {
    H5Tclose(t->list);
    H5Tclose(t->compound);
    H5Tclose(t->other);
    H5Tclose(t->text);
    H5Sclose(t->one);
    H5Sclose(t->three);
}

static void put(hid_t owner, const char *name, hid_t type, hid_t space, hid_t memory,
                const void *data) {
    hid_t attr = H5Acreate2(owner, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(attr >= 0 && H5Awrite(attr, memory, data) >= 0);
    H5Aclose(attr);
}

static void get(hid_t owner, const char *name, hid_t type, void *data) {
    hid_t attr = H5Aopen(owner, name, H5P_DEFAULT);
    assert_true(attr >= 0 && H5Aread(attr, type, data) >= 0);
    H5Aclose(attr);
}

static void assert_nulls(hid_t owner, const null_types *t) {
    static const char *const plain[] = {"texts", "converted"};
    char *texts[3];
    named compounds[3];
    hvl_t list;
    for (size_t i = 0; i < 2; i++) {
        get(owner, plain[i], t->text, texts);
        assert_null(texts[0]);
        assert_string_equal(texts[1], "");
        assert_string_equal(texts[2], "q");
        H5Treclaim(t->text, t->three, H5P_DEFAULT, texts);
    }
    get(owner, "compounds", t->compound, compounds);
    assert_true(!compounds[0].name && compounds[0].number == 1);
    assert_string_equal(compounds[1].name, "");
    assert_string_equal(compounds[2].name, "z");
    H5Treclaim(t->compound, t->three, H5P_DEFAULT, compounds);
    get(owner, "list", t->list, &list);
    assert_true(list.len == 3 && !((char **)list.p)[0] && ((char **)list.p)[1]);
    H5Treclaim(t->list, t->one, H5P_DEFAULT, &list);
    get(owner, "DIMENSION_LABELS", t->other, texts);
    assert_null(texts[0]);
    get(owner, "unwritten", t->text, texts);
    assert_true(!texts[0] && !texts[1] && !texts[2]);
}

static void keeps_null_pointers(void **state) {
    static const char *texts[] = {NULL, "", "q"};
    const named compounds[] = {{NULL, 1}, {"", 2}, {"z", 3}};
    const hvl_t list = {.len = 3, .p = texts};
    const null_types t = new_null_types();
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        put(owners[k], "texts", t.text, t.three, t.text, texts);
        put(owners[k], "converted", t.text, t.three, k == NATIVE ? t.text : t.other, texts);
        put(owners[k], "compounds", t.compound, t.three, t.compound, compounds);
        put(owners[k], "list", t.list, t.one, t.list, &list);
        put(owners[k], "DIMENSION_LABELS", t.other, t.one, t.other, texts);
        H5Aclose(H5Acreate2(owners[k], "unwritten", t.text, t.three, H5P_DEFAULT, H5P_DEFAULT));
        assert_nulls(owners[k], &t);
        assert_true(H5Dclose(owners[k]) >= 0 && H5Fclose(files[k]) >= 0);
        files[k] = H5Fopen(path_of(k), H5F_ACC_RDWR, H5P_DEFAULT);
        owners[k] = H5Dopen2(files[k], "d", H5P_DEFAULT);
        assert_nulls(owners[k], &t);
    }
    for (int k = 0; k < KINDS; k++) { /* in both directions */
        assert_true(H5Ocopy(files[k], "d", files[1 - k], "copy", H5P_DEFAULT, H5P_DEFAULT) >= 0);
        hid_t copy = H5Dopen2(files[1 - k], "copy", H5P_DEFAULT);
        assert_nulls(copy, &t);
        H5Dclose(copy);
    }
    free_null_types(&t);
}

/* Large ones are in arrays of their own, in which each text is one. */

enum { MANY = 3000 };

static void assert_same_texts(hid_t owner, const null_types *t, hid_t space, char *const *texts) {
    static char *seen[MANY];
    static named compounds[MANY];
    get(owner, "texts", t->text, seen);
    get(owner, "compounds", t->compound, compounds);
    for (int i = 0; i < MANY; i++) {
        char *const both[] = {seen[i], compounds[i].name};
        for (size_t n = 0; n < 2; n++)
            assert_true(texts[i] ? both[n] && strcmp(both[n], texts[i]) == 0 : !both[n]);
        assert_int_equal(compounds[i].number, i);
    }
    H5Treclaim(t->text, space, H5P_DEFAULT, seen);
    H5Treclaim(t->compound, space, H5P_DEFAULT, compounds);
}

static void keeps_null_pointers_of_large_ones(void **state) {
    static char *texts[MANY], long_text[400];
    static named compounds[MANY];
    const hsize_t many = MANY;
    const null_types t = new_null_types();
    hid_t space = H5Screate_simple(1, &many, NULL);
    (void)state;
    memset(long_text, 'x', sizeof long_text - 1);
    for (int i = 0; i < MANY; i++) {
        texts[i] = i % 7 == 2 ? NULL : long_text + (i % 7 == 3 ? sizeof long_text - 1 : 0);
        compounds[i] = (named){.name = texts[i], .number = i};
    }
    put(owners[STORE], "texts", t.text, space, t.text, texts);
    put(owners[STORE], "compounds", t.compound, space, t.compound, compounds);
    assert_true(H5Dclose(owners[STORE]) >= 0 && H5Fclose(files[STORE]) >= 0);
    files[STORE] = H5Fopen(path_of(STORE), H5F_ACC_RDWR, H5P_DEFAULT);
    owners[STORE] = H5Dopen2(files[STORE], "d", H5P_DEFAULT);
    assert_same_texts(owners[STORE], &t, space, texts);
    assert_true(H5Ocopy(files[STORE], "d", files[STORE], "copy", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    hid_t copy = H5Dopen2(files[STORE], "copy", H5P_DEFAULT);
    assert_same_texts(copy, &t, space, texts);
    H5Dclose(copy);
    H5Sclose(space);
    free_null_types(&t);
}

int main(int argc, char **argv) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_files, close_files)
    const struct CMUnitTest tests[] = {
        TEST(keeps_types),
        TEST(never_overflows_after_reopening),
        TEST(converts_what_is_written),
        TEST(converts_strings),
        TEST(has_unwritten_ones),
        TEST(stores_unwritten_ones),
        TEST(does_not_confuse_namesakes),
        TEST(does_not_believe_others),
        TEST(keeps_null_pointers),
        TEST(keeps_null_pointers_of_large_ones),
    };
    if (argc != 2)
        return 2;
    folder = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
