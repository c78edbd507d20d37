/* SPDX-License-Identifier: MIT */
/* A program of several ranks in C, as the pages on parallel HDF5 teach it: ranks FILE. Collective
   and independent writes, a dataset that grows, attributes, links, and a call that fails. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 32, COLUMNS = 40 };

static int rank, size;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "rank %d, line %d: %s\n", rank, __LINE__, #condition);                 \
            H5Eprint2(H5E_DEFAULT, stderr);                                                        \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                          \
        }                                                                                          \
    } while (0)

static hid_t create_dataset(hid_t file, const char *name, hsize_t rows, hsize_t most) {
    const hsize_t shape[2] = {rows, COLUMNS}, max[2] = {most, COLUMNS}, chunk[2] = {ROWS, COLUMNS};
    hid_t space = H5Screate_simple(2, shape, max), dcpl = H5Pcreate(H5P_DATASET_CREATE);
    CHECK(H5Pset_chunk(dcpl, 2, chunk) >= 0 && H5Pset_deflate(dcpl, 4) >= 0);
    hid_t set = H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    CHECK(set >= 0);
    H5Pclose(dcpl);
    H5Sclose(space);
    return set;
}

/* Each rank every size-th row from its own on. */
static hid_t own_rows(hid_t set, hsize_t rows) {
    hid_t space = H5Dget_space(set);
    const hsize_t start[2] = {(hsize_t)rank, 0}, step[2] = {(hsize_t)size, 1},
                  count[2] = {rows / (hsize_t)size, COLUMNS};
    CHECK(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, step, count, NULL) >= 0);
    return space;
}

static void write_rows(hid_t set, H5FD_mpio_xfer_t mode) {
    int data[ROWS][COLUMNS];
    const hsize_t memory_shape[2] = {ROWS / (hsize_t)size, COLUMNS};
    hid_t memory = H5Screate_simple(2, memory_shape, NULL), space = own_rows(set, ROWS);
    hid_t dxpl = H5Pcreate(H5P_DATASET_XFER);
    for (int i = 0; i < ROWS / size; i++)
        for (int j = 0; j < COLUMNS; j++)
            data[i][j] = (i * size + rank) * 1000 + j;
    CHECK(H5Pset_dxpl_mpio(dxpl, mode) >= 0);
    CHECK(H5Dwrite(set, H5T_NATIVE_INT, memory, space, dxpl, data) >= 0);
    H5Pclose(dxpl);
    H5Sclose(space);
    H5Sclose(memory);
}

static void check_all(hid_t set) {
    int data[ROWS][COLUMNS];
    CHECK(H5Dread(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            CHECK(data[i][j] == i * 1000 + j);
}

static void set_attribute(hid_t object, const char *name, double value) {
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(object, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value) >= 0);
    H5Aclose(attribute);
    H5Sclose(space);
}

static herr_t take_first(unsigned n, const H5E_error2_t *error, void *text) {
    if (n == 0)
        strncpy(text, error->desc, 255);
    return 0;
}

/* Rank 0 alone knows what is wrong; all ranks hear of it. */
static void check_errors(hid_t file) {
    char text[256] = "", first[256];
    H5E_auto2_t print;
    void *context;
    H5Eget_auto2(H5E_DEFAULT, &print, &context);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t group = H5Gcreate2(file, "rows", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, text);
    memcpy(first, text, sizeof text);
    MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
    CHECK(group < 0 && *text && strcmp(text, first) == 0);
    /* calls that differ are an error, and no wait without end */
    group = H5Gcreate2(file, rank == 1 ? "one" : "two", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(group < 0);
    H5Eset_auto2(H5E_DEFAULT, print, context);
    CHECK(H5Lexists(file, "one", H5P_DEFAULT) == 0 && H5Lexists(file, "two", H5P_DEFAULT) == 0);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(argc == 2 && ROWS % size == 0);

    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    CHECK(H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL) >= 0);
    CHECK(H5Pset_all_coll_metadata_ops(fapl, true) >= 0);
    CHECK(H5Pset_coll_metadata_write(fapl, true) >= 0);
    hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    CHECK(file >= 0);
    hid_t given = H5Fget_access_plist(file);
    CHECK(H5Pget_driver(given) == H5FD_MPIO);
    H5Pclose(given);

    hid_t rows = create_dataset(file, "rows", ROWS, ROWS);
    write_rows(rows, H5FD_MPIO_COLLECTIVE);
    set_attribute(rows, "factor", 0.25);
    hid_t grown = create_dataset(file, "grown", 0, H5S_UNLIMITED);
    const hsize_t shape[2] = {ROWS, COLUMNS};
    CHECK(H5Dset_extent(grown, shape) >= 0);
    write_rows(grown, H5FD_MPIO_INDEPENDENT);
    CHECK(H5Lcreate_soft("/rows", file, "soft", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    CHECK(H5Fset_mpi_atomicity(file, true) >= 0);
    CHECK(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
    check_all(rows);
    check_all(grown);
    check_errors(file);
    CHECK(H5Dclose(rows) >= 0 && H5Dclose(grown) >= 0 && H5Fclose(file) >= 0);

    file = H5Fopen(argv[1], H5F_ACC_RDONLY, fapl);
    CHECK(file >= 0);
    rows = H5Dopen2(file, "soft", H5P_DEFAULT);
    check_all(rows);
    CHECK(H5Aexists(rows, "factor") > 0);
    CHECK(H5Dclose(rows) >= 0 && H5Fclose(file) >= 0);
    H5Pclose(fapl);
    MPI_Finalize();
    return 0;
}
