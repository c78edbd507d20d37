/* SPDX-License-Identifier: MIT */
/*
 * Writes an HDF5 file whose dimension scales are attached by references of the kind H5T_STD_REF, as
 * libhdf5_hl does when it was built so: `v` has two scales along its first dimension, x and x2, and
 * y along its second. Each scale refers back, x2 to a dataset that is `left`, too. What `two` and
 * `texts` have under the name of such an attribute is of other types.
 */
#include <hdf5.h>
#include <stddef.h>
#include <string.h>

typedef struct back_reference {
    H5R_ref_t dataset;
    unsigned dimension;
} back_reference;

static int put(hid_t object, const char *name, hid_t type, hsize_t count, const void *value) {
    hid_t space = H5Screate_simple(1, &count, NULL);
    hid_t attr = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    const int good = H5Awrite(attr, type, value) >= 0;
    H5Aclose(attr);
    H5Sclose(space);
    return good;
}

static int put_text(hid_t object, const char *name, const char *value) {
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, strlen(value) + 1);
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attr = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    const int good = H5Awrite(attr, type, value) >= 0;
    H5Aclose(attr);
    H5Sclose(space);
    H5Tclose(type);
    return good;
}

static hid_t make(hid_t file, const char *name, int ndim) {
    const hsize_t shape[] = {3, 4};
    hid_t space =
        H5Screate_simple(ndim, ndim == 2 || strcmp(name, "y") != 0 ? shape : shape + 1, NULL);
    hid_t made =
        H5Dcreate2(file, name, H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Sclose(space);
    return made;
}

static int attach(hid_t file, hid_t dataset) {
    H5R_ref_t to[3];
    hvl_t lists[2] = {{2, to}, {1, to + 2}};
    hid_t type = H5Tvlen_create(H5T_STD_REF);
    int good = H5Rcreate_object(file, "/x", H5P_DEFAULT, &to[0]) >= 0 &&
               H5Rcreate_object(file, "/x2", H5P_DEFAULT, &to[1]) >= 0 &&
               H5Rcreate_object(file, "/y", H5P_DEFAULT, &to[2]) >= 0 &&
               put(dataset, "DIMENSION_LIST", type, 2, lists);
    H5Tclose(type);
    return good;
}

static int refer_back(hid_t file, hid_t scale, const char *name, unsigned dimension,
                      hsize_t count) {
    back_reference back[2] = {{.dimension = dimension}, {.dimension = 0}};
    hid_t type = H5Tcreate(H5T_COMPOUND, sizeof *back);
    H5Tinsert(type, "dataset", offsetof(back_reference, dataset), H5T_STD_REF);
    H5Tinsert(type, "dimension", offsetof(back_reference, dimension), H5T_NATIVE_UINT);
    int good = H5Rcreate_object(file, "/v", H5P_DEFAULT, &back[0].dataset) >= 0 &&
               H5Rcreate_object(file, "/left", H5P_DEFAULT, &back[1].dataset) >= 0 &&
               put_text(scale, "CLASS", "DIMENSION_SCALE") && put_text(scale, "NAME", name) &&
               put(scale, "REFERENCE_LIST", type, count, back);
    H5Tclose(type);
    return good;
}

typedef struct other_reference {
    H5R_ref_t dataset, second;
    const char *text;
} other_reference;

/* Two references in an element; or one, and a text of any length. */
static int put_other(hid_t file, hid_t dataset, int has_text) {
    other_reference value = {.text = "a text that is not short"};
    hid_t type = H5Tcreate(H5T_COMPOUND, sizeof value), text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, H5T_VARIABLE);
    H5Tinsert(type, "dataset", offsetof(other_reference, dataset), H5T_STD_REF);
    if (has_text)
        H5Tinsert(type, "text", offsetof(other_reference, text), text);
    else
        H5Tinsert(type, "second", offsetof(other_reference, second), H5T_STD_REF);
    const int good = H5Rcreate_object(file, "/v", H5P_DEFAULT, &value.dataset) >= 0 &&
                     H5Rcreate_object(file, "/v", H5P_DEFAULT, &value.second) >= 0 &&
                     put(dataset, "REFERENCE_LIST", type, 1, &value);
    H5Tclose(text);
    H5Tclose(type);
    return good;
}

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t v = make(file, "v", 2), left = make(file, "left", 1), x = make(file, "x", 1),
          x2 = make(file, "x2", 1), y = make(file, "y", 1), two = make(file, "two", 1),
          texts = make(file, "texts", 1);
    const int good = attach(file, v) && refer_back(file, x, "x", 0, 1) &&
                     refer_back(file, x2, "x2", 0, 2) && refer_back(file, y, "y", 1, 1) &&
                     put_other(file, two, 0) && put_other(file, texts, 1);
    const hid_t made[] = {v, left, x, x2, y, two, texts};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        H5Dclose(made[i]);
    return H5Fclose(file) < 0 || !good;
}
