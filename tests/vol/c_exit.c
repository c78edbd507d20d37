/* SPDX-License-Identifier: MIT */
/*
 * A program that ends while it has ids open. Its words say what it opens, and the last one how it
 * ends; test_exit.py runs the same words with and without the connector and compares the files that
 * are left.
 *
 *     create:FILE  open:FILE  read:FILE    a file; "latest:FILE" creates one in the newest format
 *     reopen:I  group:I:NAME  type:I:NAME  by number of the id that they start from
 *     data:I:NAME:KIND                     a dataset with data in it, see kinds[]
 *     typed:I:NAME:T                       one of the committed type T
 *     attr:I:NAME:KIND                     an attribute; "unwritten" ones are only created
 *     write:I  extend:I                    change a dataset of kind chunked
 *     object:I:NAME  get:I  info:I         H5Oopen, a dataset's space, an attribute's type
 *     ref:I:NAME  mount:I:NAME:J           hold a reference; mount a file
 *     dup:I  close:I  flush:I
 *     later:I the dataset that the functions of the last four ends write to
 *
 * Each word that opens something has the next number, from 0. Ends: return exit thread close again
 * atexit-early atexit-late atclose-early atclose-late.
 */
#define _GNU_SOURCE
#include <hdf5.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IDS 64
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            exit(3);                                                                               \
        }                                                                                          \
    } while (0)

static hid_t ids[IDS];
static int count, later = -1;
static H5R_ref_t references[IDS];

/* ---- Words ---- */

static char *next_part(char **rest) {
    char *part = strsep(rest, ":");
    CHECK(part);
    return part;
}

static hid_t next_id(char **rest) {
    const int i = atoi(next_part(rest));
    CHECK(i >= 0 && i < count);
    return ids[i];
}

static void keep(hid_t id) {
    CHECK(id >= 0 && count < IDS);
    ids[count++] = id;
}

/* ---- Files ---- */

static void create_file(const char *name, int latest) {
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    if (latest)
        CHECK(H5Pset_libver_bounds(fapl, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST) >= 0);
    keep(H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, fapl));
    H5Pclose(fapl);
}

/* ---- Datasets ---- */

enum layout { CONTIGUOUS, COMPACT, CHUNKED };

static const struct {
    const char *name;
    enum layout layout;
    int deflate, scalar, text;
} kinds[] = {
    {"contiguous", CONTIGUOUS, 0, 0, 0}, {"compact", COMPACT, 0, 0, 0},
    {"chunked", CHUNKED, 0, 0, 0},       {"deflate", CHUNKED, 4, 0, 0},
    {"scalar", CONTIGUOUS, 0, 1, 0},     {"text", CONTIGUOUS, 0, 0, 1},
    {"textchunks", CHUNKED, 0, 0, 1},
};

static size_t kind_of(const char *name) {
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        if (strcmp(kinds[k].name, name) == 0)
            return k;
    CHECK(!"a kind of dataset");
    return 0;
}

static hid_t text_type(void) {
    hid_t type = H5Tcopy(H5T_C_S1);
    CHECK(H5Tset_size(type, H5T_VARIABLE) >= 0);
    return type;
}

/* Time stamps would differ between two runs. */
static hid_t list_for(size_t k) {
    const hsize_t chunk = 5;
    hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    CHECK(H5Pset_obj_track_times(dcpl, 0) >= 0);
    if (kinds[k].layout == COMPACT)
        CHECK(H5Pset_layout(dcpl, H5D_COMPACT) >= 0);
    if (kinds[k].layout == CHUNKED)
        CHECK(H5Pset_chunk(dcpl, 1, &chunk) >= 0);
    if (kinds[k].deflate)
        CHECK(H5Pset_deflate(dcpl, (unsigned)kinds[k].deflate) >= 0);
    return dcpl;
}

static void create_dataset(hid_t at, const char *name, size_t k) {
    static const char *const texts[12] = {"a", "bb", "", "dddd", "e", "f", "g", "h", "i", "j", "k"};
    const hsize_t size = 12, unlimited = H5S_UNLIMITED;
    int values[12];
    for (int i = 0; i < 12; i++)
        values[i] = 100 * (int)strlen(name) + i;
    hid_t type = kinds[k].text ? text_type() : H5Tcopy(H5T_STD_I32LE), dcpl = list_for(k);
    hid_t space = kinds[k].scalar
                      ? H5Screate(H5S_SCALAR)
                      : H5Screate_simple(
                            1, &size, dcpl >= 0 && kinds[k].layout == CHUNKED ? &unlimited : NULL);
    hid_t dataset = H5Dcreate2(at, name, type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    CHECK(dataset >= 0);
    CHECK(H5Dwrite(dataset, kinds[k].text ? type : H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                   kinds[k].text ? (const void *)texts : values) >= 0);
    H5Sclose(space);
    H5Pclose(dcpl);
    H5Tclose(type);
    keep(dataset);
}

static void create_typed(hid_t at, const char *name, hid_t type) {
    const int value = 77;
    hid_t space = H5Screate(H5S_SCALAR), dcpl = list_for(kind_of("contiguous"));
    hid_t dataset = H5Dcreate2(at, name, type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    CHECK(dataset >= 0);
    CHECK(H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value) >= 0);
    H5Pclose(dcpl);
    H5Sclose(space);
    keep(dataset);
}

/* One element, so that it waits in a cache of chunks. */
static herr_t write_one(hid_t dataset, hsize_t at, int value) {
    const hsize_t one = 1;
    hid_t space = H5Dget_space(dataset), memory = H5Screate_simple(1, &one, NULL);
    herr_t result = H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, NULL, &one, NULL);
    if (result >= 0)
        result = H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, &value);
    H5Sclose(memory);
    H5Sclose(space);
    return result;
}

/* ---- Attributes ---- */

static void create_attribute(hid_t at, const char *name, const char *kind) {
    const hsize_t size = 3;
    const int values[3] = {7, 8, 9};
    const char *const texts[3] = {"x", "yy", "zzz"};
    const int text = strcmp(kind, "text") == 0;
    hid_t type = text ? text_type() : H5Tcopy(H5T_STD_I32LE);
    hid_t space = H5Screate_simple(1, &size, NULL);
    hid_t attr = H5Acreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(attr >= 0);
    if (strcmp(kind, "unwritten") != 0)
        CHECK(H5Awrite(attr, type, text ? (const void *)texts : values) >= 0);
    H5Sclose(space);
    H5Tclose(type);
    keep(attr);
}

/* ---- The script ---- */

static void commit_type(hid_t at, const char *name) {
    hid_t type = H5Tcopy(H5T_STD_I16BE);
    CHECK(H5Tcommit2(at, name, type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) >= 0);
    keep(type);
}

static void open_word(const char *word, char **rest) {
    if (strcmp(word, "create") == 0 || strcmp(word, "latest") == 0) {
        create_file(*rest, *word == 'l');
    } else if (strcmp(word, "open") == 0 || strcmp(word, "read") == 0) {
        keep(H5Fopen(*rest, *word == 'o' ? H5F_ACC_RDWR : H5F_ACC_RDONLY, H5P_DEFAULT));
    } else if (strcmp(word, "reopen") == 0) {
        keep(H5Freopen(next_id(rest)));
    } else if (strcmp(word, "group") == 0) {
        hid_t at = next_id(rest);
        keep(H5Gcreate2(at, next_part(rest), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    } else if (strcmp(word, "type") == 0) {
        hid_t at = next_id(rest);
        commit_type(at, next_part(rest));
    } else if (strcmp(word, "data") == 0) {
        hid_t at = next_id(rest);
        const char *name = next_part(rest);
        create_dataset(at, name, kind_of(next_part(rest)));
    } else if (strcmp(word, "typed") == 0) {
        hid_t at = next_id(rest);
        const char *name = next_part(rest);
        create_typed(at, name, next_id(rest));
    } else if (strcmp(word, "attr") == 0) {
        hid_t at = next_id(rest);
        const char *name = next_part(rest);
        create_attribute(at, name, next_part(rest));
    } else if (strcmp(word, "object") == 0) {
        hid_t at = next_id(rest);
        keep(H5Oopen(at, next_part(rest), H5P_DEFAULT));
    } else if (strcmp(word, "get") == 0) {
        keep(H5Dget_space(next_id(rest)));
    } else if (strcmp(word, "info") == 0) {
        keep(H5Aget_type(next_id(rest)));
    } else {
        CHECK(!"a word");
    }
}

/* True if the word opens nothing. */
static int act_word(const char *word, char **rest) {
    if (strcmp(word, "write") == 0) {
        CHECK(write_one(next_id(rest), 6, -6) >= 0);
    } else if (strcmp(word, "extend") == 0) {
        const hsize_t size = 17;
        CHECK(H5Dset_extent(next_id(rest), &size) >= 0);
    } else if (strcmp(word, "ref") == 0) {
        hid_t at = next_id(rest);
        CHECK(H5Rcreate_object(at, next_part(rest), H5P_DEFAULT, &references[count]) >= 0);
    } else if (strcmp(word, "mount") == 0) {
        hid_t at = next_id(rest);
        const char *name = next_part(rest);
        CHECK(H5Fmount(at, name, next_id(rest), H5P_DEFAULT) >= 0);
    } else if (strcmp(word, "dup") == 0) {
        CHECK(H5Iinc_ref(next_id(rest)) > 0);
    } else if (strcmp(word, "close") == 0) {
        CHECK(H5Idec_ref(next_id(rest)) >= 0);
    } else if (strcmp(word, "flush") == 0) {
        CHECK(H5Fflush(next_id(rest), H5F_SCOPE_LOCAL) >= 0);
    } else if (strcmp(word, "later") == 0) {
        later = atoi(*rest);
    } else {
        return 0;
    }
    return 1;
}

static void run_word(const char *text) {
    char *copy = strdup(text), *rest = copy;
    CHECK(copy);
    const char *word = next_part(&rest);
    if (!act_word(word, &rest))
        open_word(word, &rest);
    free(copy);
}

/* ---- Ends ---- */

/* Runs while the program ends: the dataset can still be written to when HDF5 says so. */
static void write_later(void) {
    if (later >= 0 && H5Iis_valid(ids[later]) > 0)
        CHECK(write_one(ids[later], 3, -3) >= 0);
}

static void write_at_close(void *context) {
    (void)context;
    write_later();
}

static void *exit_here(void *unused) {
    (void)unused;
    exit(0);
}

/* HDF5 starts anew, and is left with an id once more. */
static int start_again(const char *first) {
    char *copy = strdup(first), *name = copy;
    CHECK(copy && H5close() >= 0 && H5open() >= 0);
    strsep(&name, ":");
    hid_t file = H5Fopen(name, H5F_ACC_RDWR, H5P_DEFAULT);
    CHECK(file >= 0);
    CHECK(H5Gcreate2(file, "again", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) >= 0);
    free(copy);
    return 0;
}

int run(int argc, char **argv); /* the symbol that c_unload.c looks for */

int run(int argc, char **argv) {
    const char *end = argv[argc - 1];
    if (strcmp(end, "atexit-early") == 0)
        CHECK(atexit(write_later) == 0);
    if (strcmp(end, "atclose-early") == 0)
        CHECK(H5atclose(write_at_close, NULL) >= 0);
    for (int i = 1; i < argc - 1; i++)
        run_word(argv[i]);
    if (strcmp(end, "atexit-late") == 0)
        CHECK(atexit(write_later) == 0);
    if (strcmp(end, "atclose-late") == 0)
        CHECK(H5atclose(write_at_close, NULL) >= 0);
    if (strcmp(end, "close") == 0)
        CHECK(H5close() >= 0);
    if (strcmp(end, "again") == 0)
        return start_again(argv[1]);
    if (strcmp(end, "thread") == 0) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, exit_here, NULL) == 0);
        pthread_join(thread, NULL);
    }
    if (strcmp(end, "exit") == 0)
        exit(0);
    return 0;
}

#ifndef EXIT_MODULE
int main(int argc, char **argv) {
    return argc > 1 ? run(argc, argv) : 2;
}
#endif
