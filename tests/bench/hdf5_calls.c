/* SPDX-License-Identifier: MIT */
/*
 * What calls of HDF5 on an ordinary file cost: run with and without HDF5_VOL_CONNECTOR and
 * HDF5_PLUGIN_PATH, the difference is the connector's. calls.py runs it.
 *
 *     zb-hdf5-calls DIRECTORY CALLS
 *
 * prints a line for each: name, microseconds of the processor for each call, the least of ten
 * turns. The last lines are the memory of the process, in KiB, before and after the opens, of which
 * one in ten calls is.
 */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define TURNS 10
#define SIZE 10 /* elements of the dataset */

typedef struct places {
    char good[4096], missing[4096], other[4096];
    hid_t file, dataset, one; /* one: a dataspace of one element */
} places;

static double processor_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void check(int good, const char *what) {
    if (!good) {
        fprintf(stderr, "%s failed\n", what);
        exit(1);
    }
}

static void read_element(const places *p) {
    int data[SIZE];
    check(H5Dread(p->dataset, H5T_NATIVE_INT, p->one, p->one, H5P_DEFAULT, data) >= 0, "H5Dread");
}

static void ask_for_link(const places *p) {
    check(H5Lexists(p->file, "data", H5P_DEFAULT) > 0, "H5Lexists");
}

static void ask_for_attribute(const places *p) {
    check(H5Aexists(p->dataset, "none") == 0, "H5Aexists");
}

static void get_space(const places *p) {
    check(H5Sclose(H5Dget_space(p->dataset)) >= 0, "H5Dget_space");
}

static void open_dataset(const places *p) {
    check(H5Dclose(H5Dopen2(p->file, "data", H5P_DEFAULT)) >= 0, "H5Dopen2");
}

static void open_file(const places *p) {
    check(H5Fclose(H5Fopen(p->good, H5F_ACC_RDONLY, H5P_DEFAULT)) >= 0, "H5Fopen");
}

static void open_missing(const places *p) {
    check(H5Fopen(p->missing, H5F_ACC_RDONLY, H5P_DEFAULT) < 0, "the error of a missing file");
}

static void open_other(const places *p) {
    check(H5Fopen(p->other, H5F_ACC_RDONLY, H5P_DEFAULT) < 0, "the error of another file");
}

static void measure(const char *name, void (*call)(const places *), const places *p, int count) {
    double best = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        double start = processor_time();
        for (int i = 0; i < count; i++)
            call(p);
        double each = (processor_time() - start) / count;
        best = turn == 0 || each < best ? each : best;
    }
    printf("%s\t%.3f\n", name, best);
    fflush(stdout);
}

static long resident(void) {
    long size = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    check(file && fscanf(file, "%ld %ld", &size, &pages) == 2, "/proc/self/statm");
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void prepare(const char *directory, places *p) {
    snprintf(p->good, sizeof p->good, "%s/calls.h5", directory);
    snprintf(p->missing, sizeof p->missing, "%s/missing.h5", directory);
    snprintf(p->other, sizeof p->other, "%s/other.txt", directory);
    FILE *other = fopen(p->other, "w");
    check(other && fputs("no HDF5 file\n", other) >= 0 && fclose(other) == 0, "fopen");
    int data[SIZE] = {0};
    hsize_t size = SIZE, start = 3, count = 1;
    p->file = H5Fcreate(p->good, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(1, &size, NULL);
    p->dataset =
        H5Dcreate2(p->file, "data", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    check(H5Dwrite(p->dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0,
          "H5Dwrite");
    check(H5Dclose(p->dataset) >= 0 && H5Fclose(p->file) >= 0, "H5Fclose");
    p->file = H5Fopen(p->good, H5F_ACC_RDONLY, H5P_DEFAULT);
    p->dataset = H5Dopen2(p->file, "data", H5P_DEFAULT);
    check(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL) >= 0,
          "H5Sselect_hyperslab");
    p->one = space;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

int main(int argc, char **argv) {
    if (argc != 3 || atoi(argv[2]) < 100) {
        fprintf(stderr, "usage: %s DIRECTORY CALLS (100 or more)\n", argv[0]);
        return 2;
    }
    const int calls = atoi(argv[2]);
    places p;
    prepare(argv[1], &p);
    measure("H5Dread, one element", read_element, &p, calls);
    measure("H5Lexists", ask_for_link, &p, calls);
    measure("H5Aexists", ask_for_attribute, &p, calls);
    measure("H5Dget_space", get_space, &p, calls);
    measure("H5Dopen and H5Dclose", open_dataset, &p, calls);
    long before = resident();
    measure("H5Fopen and H5Fclose", open_file, &p, calls / 10);
    measure("H5Fopen, no file", open_missing, &p, calls / 10);
    measure("H5Fopen, no HDF5 file", open_other, &p, calls / 10);
    printf("resident before\t%ld\nresident after\t%ld\n", before, resident());
    return 0;
}
