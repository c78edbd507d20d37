/* SPDX-License-Identifier: MIT */
/* A program of several ranks with netCDF's parallel calls: ranks_netcdf FILE, which becomes a store
   and its door with `store=door`. Collective and independent access, a dimension that grows. */
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 32, COLUMNS = 40, STEPS = 3 };

static int rank, size;

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const int status_ = (call);                                                                \
        if (status_ != NC_NOERR) {                                                                 \
            fprintf(stderr, "rank %d, line %d: %s: %s\n", rank, __LINE__, #call,                   \
                    nc_strerror(status_));                                                         \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                          \
        }                                                                                          \
    } while (0)

static int value(size_t step, size_t row, size_t column) {
    return (int)(step * 100000 + row * 1000 + column);
}

/* Rows of its own, every size-th. */
static void put_rows(int file, int variable) {
    const size_t rows = ROWS / (size_t)size, start[2] = {(size_t)rank, 0},
                 count[2] = {rows, COLUMNS};
    const ptrdiff_t stride[2] = {size, 1};
    int data[ROWS * COLUMNS];
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < COLUMNS; j++)
            data[i * COLUMNS + j] = value(0, i * (size_t)size + (size_t)rank, j);
    CHECK(nc_put_vars_int(file, variable, start, count, stride, data));
}

/* A block of columns of each step. */
static void put_steps(int file, int time, int variable) {
    const size_t columns = COLUMNS / (size_t)size;
    int data[ROWS * COLUMNS];
    for (size_t step = 0; step < STEPS; step++) {
        const size_t start[3] = {step, 0, columns * (size_t)rank}, count[3] = {1, ROWS, columns};
        const double hour = (double)step;
        for (size_t i = 0; i < ROWS; i++)
            for (size_t j = 0; j < columns; j++)
                data[i * columns + j] = value(step, i, columns * (size_t)rank + j);
        CHECK(nc_put_var1_double(file, time, &step, &hour));
        CHECK(nc_put_vara_int(file, variable, start, count, data));
    }
}

static void check(int file) {
    static int data[STEPS][ROWS][COLUMNS];
    int rows, steps;
    CHECK(nc_inq_varid(file, "rows", &rows));
    CHECK(nc_get_var_int(file, rows, data[0][0]));
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        if (data[0][i / COLUMNS][i % COLUMNS] != value(0, i / COLUMNS, i % COLUMNS))
            CHECK(NC_ERANGE);
    CHECK(nc_inq_varid(file, "steps", &steps));
    CHECK(nc_get_var_int(file, steps, data[0][0]));
    for (size_t i = 0; i < STEPS * ROWS * COLUMNS; i++)
        if ((&data[0][0][0])[i] != value(i / (ROWS * COLUMNS), i / COLUMNS % ROWS, i % COLUMNS))
            CHECK(NC_ERANGE);
}

int main(int argc, char **argv) {
    int file, dims[3], time, y, x, rows, steps;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 2 || ROWS % size || COLUMNS % size)
        MPI_Abort(MPI_COMM_WORLD, 2);
    CHECK(nc_create_par(argv[1], NC_NETCDF4 | NC_CLOBBER, MPI_COMM_WORLD, MPI_INFO_NULL, &file));
    CHECK(nc_def_dim(file, "time", NC_UNLIMITED, &dims[0]));
    CHECK(nc_def_dim(file, "y", ROWS, &dims[1]));
    CHECK(nc_def_dim(file, "x", COLUMNS, &dims[2]));
    CHECK(nc_def_var(file, "time", NC_DOUBLE, 1, &dims[0], &time));
    CHECK(nc_def_var(file, "y", NC_FLOAT, 1, &dims[1], &y));
    CHECK(nc_def_var(file, "x", NC_FLOAT, 1, &dims[2], &x));
    CHECK(nc_def_var(file, "rows", NC_INT, 2, &dims[1], &rows));
    CHECK(nc_def_var(file, "steps", NC_INT, 3, dims, &steps));
    const size_t chunk[2] = {16, COLUMNS};
    CHECK(nc_def_var_chunking(file, rows, NC_CHUNKED, chunk));
    CHECK(nc_def_var_deflate(file, rows, 0, 1, 4));
    CHECK(nc_put_att_text(file, rows, "units", 1, "m"));
    CHECK(nc_enddef(file));
    for (int i = 0; i < 5; i++)
        CHECK(nc_var_par_access(file, i, NC_COLLECTIVE));
    float places[COLUMNS];
    for (int i = 0; i < COLUMNS; i++)
        places[i] = (float)i;
    CHECK(nc_put_var_float(file, y, places));
    CHECK(nc_put_var_float(file, x, places));
    put_rows(file, rows);
    put_steps(file, time, steps);
    CHECK(nc_sync(file));
    check(file);
    CHECK(nc_close(file));

    CHECK(nc_open_par(argv[1], NC_WRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &file));
    check(file);
    CHECK(nc_inq_varid(file, "time", &time));
    CHECK(nc_inq_varid(file, "steps", &steps));
    put_steps(file, time, steps); /* independent, which netCDF allows where nothing is compressed */
    CHECK(nc_close(file));
    CHECK(nc_open_par(argv[1], NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &file));
    check(file);
    CHECK(nc_close(file));
    MPI_Finalize();
    return 0;
}
