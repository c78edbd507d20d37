/* SPDX-License-Identifier: MIT */
/*
 * Random selections, written to a dataset and read from it, compared with a model: the list of the
 * elements that a selection has, in its order.
 *
 *     vol-c-selections FOLDER store|native SEED FIRST LAST
 *
 * The cases are the same for a store and for an .h5 file. A store must agree with the model in
 * each; a failure is reported and ends the program with 1. An .h5 file shows that the model is
 * right: it agrees except for cases in which HDF5 errs, which are counted. In some HDF5 contradicts
 * itself (data/selection.h), and reads and writes at random, fails, aborts or crashes: a crash ends
 * the program with 3, and its output says in which case. test_selections.py goes on from there.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "selection_random.h"

#define GUARD 16 /* elements on both sides of the program's buffer */

static bool native; /* an .h5 file, instead of a store */
static long contradictions, agreed, erred, refused;

/* ---- Memory ---- */

static void random_extent(model *m, size_t least) {
    hsize_t dims[NDIM];
    do {
        static const unsigned longest[NDIM + 1] = {0, 700, 26, 9, 5};
        const int ndim = 1 + (int)chance(NDIM);
        for (int d = 0; d < ndim; d++)
            dims[d] = 1 + chance(longest[ndim]);
        model_extent(m, ndim, dims);
    } while (m->extent < least);
}

/* `count` elements somewhere, in any order. None comes twice: HDF5 does not promise which of two
   that are read to one place stays. */
static hid_t points_in_memory(model *m, size_t count) {
    static hsize_t coords[EXTENT * NDIM];
    random_extent(m, count);
    model_all(m);
    hid_t space = new_space(m);
    for (size_t i = 0; i < count; i++) {
        const size_t other = i + chance((unsigned)(m->extent - i)), kept = m->at[i];
        m->at[i] = m->at[other];
        m->at[other] = kept;
        position_of(m, m->at[i], &coords[i * (size_t)m->ndim]);
    }
    m->count = count;
    CHECK(H5Sselect_elements(space, H5S_SELECT_SET, count, coords) >= 0);
    return space;
}

/* One run of `count` in a line that may be longer. */
static hid_t line_in_memory(model *m, size_t count) {
    hsize_t start = chance(5), size = start + count + chance(5), one = 1, length = count;
    if (start + count > EXTENT || size > EXTENT)
        start = 0, size = count;
    model_extent(m, 1, &size);
    hid_t space = new_space(m);
    const slab s = {.start = {start}, .stride = {length}, .count = {1}, .block = {length}};
    CHECK(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &one, &length) >= 0);
    model_slab(m, H5S_SELECT_SET, &s);
    return space;
}

/* True if an element comes twice. */
static bool has_twins(const model *m) {
    static bool seen[EXTENT];
    memset(seen, 0, sizeof seen);
    for (size_t i = 0; i < m->count; i++) {
        if (seen[m->at[i]])
            return true;
        seen[m->at[i]] = true;
    }
    return false;
}

/* A random selection that has by chance as many elements, otherwise a line or points; also H5S_ALL
   and H5S_BLOCK. *owned: the id is to be closed. */
static hid_t memory_for(const model *file, hid_t file_space, model *m, bool *owned) {
    const size_t count = file->count;
    *owned = true;
    if (chance(8) == 0) {
        *owned = false;
        *m = *file; /* the same selection of the same extent */
        return file_space == H5S_ALL || chance(2) ? H5S_ALL : file_space;
    }
    if (chance(8) == 0 && count > 0) {
        const hsize_t size = count;
        *owned = false;
        model_extent(m, 1, &size);
        model_all(m);
        return H5S_BLOCK;
    }
    for (int tries = 0; tries < 12 && count > 0 && count < LARGE; tries++) {
        random_extent(m, count);
        hid_t space = random_selection(m);
        if (m->count == count && !has_twins(m))
            return space;
        H5Sclose(space);
    }
    if (count > 0 && count <= POINTS && chance(2))
        return points_in_memory(m, count);
    if (count > 0)
        return line_in_memory(m, count);
    random_extent(m, 1);
    hid_t space = new_space(m);
    CHECK(H5Sselect_none(space) >= 0);
    return space;
}

/* ---- Datasets ---- */

static hid_t file, dataset;
static model extent;           /* of the dataset */
static int32_t stored[EXTENT]; /* its expected content */

/* Chunks and shards of a store, and layouts of HDF5. */
static hid_t random_list(void) {
    hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    hsize_t chunk[NDIM], shard[NDIM];
    for (int d = 0; d < extent.ndim; d++) {
        chunk[d] = 1 + chance((unsigned)(extent.dims[d] < 6 ? extent.dims[d] : 6));
        shard[d] = chunk[d] * (1 + chance(3));
    }
    const bool chunked = chance(4) != 0, sharded = chance(2), packed = chance(3) == 0;
    if (!native || chunked)
        CHECK(H5Pset_chunk(dcpl, extent.ndim, chunk) >= 0);
    if (!native && sharded)
        CHECK(H5Pinsert2(dcpl, "zarr:shard_shape", sizeof shard[0] * (size_t)extent.ndim, shard,
                         NULL, NULL, NULL, NULL, NULL, NULL) >= 0);
    if (packed && (!native || chunked))
        CHECK(H5Pset_deflate(dcpl, 1) >= 0);
    return dcpl;
}

/* Another shape for some cases to come. */
static void new_dataset(void) {
    static long made;
    char name[32];
    random_extent(&extent, 1);
    snprintf(name, sizeof name, "d%ld", made++);
    hid_t space = new_space(&extent), dcpl = random_list();
    dataset = H5Dcreate2(file, name, H5T_STD_I32LE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    CHECK(dataset >= 0);
    H5Pclose(dcpl);
    H5Sclose(space);
    memset(stored, 0, sizeof stored);
}

/* From time to time: one that grows for ever would slow down. */
static void new_file(const char *folder) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, native ? "s.h5" : "s.zarr");
    file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(file >= 0);
}

/* ---- Transfers ---- */

/* Integers as int32, int64, float64 and big-endian int16: all values fit. */
static hid_t random_type(void) {
    const hid_t types[] = {H5T_NATIVE_INT32, H5T_NATIVE_INT32, H5T_NATIVE_INT64, H5T_NATIVE_DOUBLE,
                           H5T_STD_I16BE};
    return types[chance(5)];
}

typedef struct buffer {
    size_t size, bytes; /* of an element; of all */
    unsigned char *all, *data;
} buffer;

static int32_t next_value(void) {
    static int32_t value;
    value = value >= 30000 ? 1 : value + 1;
    return value;
}

/* All elements have values of their own, the guards too. */
static buffer new_buffer(const model *m, hid_t type) {
    const size_t elements = m->extent + 2 * GUARD;
    buffer made = {.size = H5Tget_size(type)};
    made.bytes = elements * made.size;
    made.all = malloc(elements * 8);
    for (size_t i = 0; i < elements; i++) {
        int32_t value = next_value();
        memcpy(made.all + i * sizeof value, &value, sizeof value);
    }
    CHECK(H5Tconvert(H5T_NATIVE_INT32, type, elements, made.all, NULL, H5P_DEFAULT) >= 0);
    made.data = made.all + GUARD * made.size;
    return made;
}

static buffer copy_buffer(const buffer *from) {
    buffer made = *from;
    made.all = malloc(from->bytes);
    memcpy(made.all, from->all, from->bytes);
    made.data = made.all + (from->data - from->all);
    return made;
}

static int32_t value_at(const buffer *b, size_t at, hid_t type) {
    unsigned char element[8];
    int32_t value;
    memcpy(element, b->data + at * b->size, b->size);
    CHECK(H5Tconvert(type, H5T_NATIVE_INT32, 1, element, NULL, H5P_DEFAULT) >= 0);
    memcpy(&value, element, sizeof value);
    return value;
}

static void put_value(buffer *b, size_t at, hid_t type, int32_t value) {
    unsigned char element[8];
    memcpy(element, &value, sizeof value);
    CHECK(H5Tconvert(H5T_NATIVE_INT32, type, 1, element, NULL, H5P_DEFAULT) >= 0);
    memcpy(b->data + at * b->size, element, b->size);
}

typedef struct transfer {
    model file, memory;
    hid_t file_space, memory_space, type;
    bool sound; /* HDF5 does not contradict itself */
} transfer;

static transfer current;

/* For failures: the selections of both sides. */
static void describe_side(const char *side, const model *m, hid_t space) {
    hsize_t low[NDIM], high[NDIM];
    fprintf(stderr, "%s, ", side);
    if (space > 0 && H5Sget_select_bounds(space, low, high) >= 0) {
        fprintf(stderr, "kind %d, within", (int)H5Sget_select_type(space));
        for (int d = 0; d < m->ndim; d++)
            fprintf(stderr, " %llu-%llu", (unsigned long long)low[d], (unsigned long long)high[d]);
    }
    fprintf(stderr, ", extent");
    for (int d = 0; d < m->ndim; d++)
        fprintf(stderr, " %llu", (unsigned long long)m->dims[d]);
    fprintf(stderr, ", elements");
    for (size_t i = 0; i < m->count; i++)
        fprintf(stderr, " %zu", m->at[i]);
    fprintf(stderr, "\n");
}

void selection_describe(void) {
    fprintf(stderr, "HDF5 %s itself\n", current.sound ? "agrees with" : "contradicts");
    describe_side("file", &current.file, current.file_space);
    describe_side("memory", &current.memory, current.memory_space);
}

/* The end of a case that disagrees with the model: for HDF5 it only counts. */
static bool good(bool as_expected, const char *what) {
    if (as_expected || native)
        return as_expected;
    fprintf(stderr, "case %ld: %s\n", selection_case, what);
    selection_describe();
    exit(1);
}

static bool has_stored(void) {
    static int32_t seen[EXTENT];
    return H5Dread(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, seen) >= 0 &&
           memcmp(seen, stored, extent.extent * sizeof stored[0]) == 0;
}

static bool write_case(const transfer *t) {
    buffer data = new_buffer(&t->memory, t->type);
    herr_t result =
        H5Dwrite(dataset, t->type, t->memory_space, t->file_space, H5P_DEFAULT, data.data);
    for (size_t i = 0; i < t->file.count; i++)
        stored[t->file.at[i]] = value_at(&data, t->memory.at[i], t->type);
    free(data.all);
    return good(result >= 0 && has_stored(), "the dataset has not what was written");
}

/* Elements that are not selected, and the guards, stay as they are. */
static bool read_case(const transfer *t) {
    buffer seen = new_buffer(&t->memory, t->type), want = copy_buffer(&seen);
    for (size_t i = 0; i < t->file.count; i++)
        put_value(&want, t->memory.at[i], t->type, stored[t->file.at[i]]);
    herr_t result =
        H5Dread(dataset, t->type, t->memory_space, t->file_space, H5P_DEFAULT, seen.data);
    bool same = memcmp(seen.all, want.all, want.bytes) == 0;
    free(want.all);
    free(seen.all);
    return good(result >= 0 && same, "memory has not what was to be read");
}

/* Selections with different numbers of elements, and selections that leave their extent. */
static bool refuse_case(const transfer *t) {
    static int32_t data[EXTENT + POINTS];
    hssize_t offset[NDIM];
    const hsize_t more = t->file.count + 1;
    hid_t wrong = H5Screate_simple(1, &more, NULL), space = t->file_space;
    bool all = space == H5S_ALL || H5Sget_select_type(space) == H5S_SEL_ALL;
    bool written = H5Dwrite(dataset, H5T_NATIVE_INT32, wrong, space, H5P_DEFAULT, data) >= 0;
    bool read = H5Dread(dataset, H5T_NATIVE_INT32, wrong, space, H5P_DEFAULT, data) >= 0;
    H5Sclose(wrong);
    refused++;
    if (t->file.count > 0 && !all) {
        space = H5Scopy(t->file_space);
        for (int d = 0; d < extent.ndim; d++)
            offset[d] = (hssize_t)extent.dims[d];
        CHECK(H5Soffset_simple(space, offset) >= 0);
        read |= H5Dread(dataset, H5T_NATIVE_INT32, H5S_BLOCK, space, H5P_DEFAULT, data) >= 0;
        H5Sclose(space);
    }
    return good(!written && !read && has_stored(), "a wrong selection was not refused");
}

/* The content of a file after a case that disagrees with the model. */
static void start_over(void) {
    CHECK(H5Dwrite(dataset, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, stored) >= 0);
}

static void select_both(transfer *t, bool *owned) {
    t->file = extent;
    t->file_space = H5S_ALL;
    if (chance(20) == 0)
        model_all(&t->file);
    else
        t->file_space = random_selection(&t->file);
    t->memory_space = memory_for(&t->file, t->file_space, &t->memory, owned);
    t->type = random_type();
    t->sound = (t->file_space == H5S_ALL || is_sound(t->file_space, t->file.ndim)) &&
               (!*owned || is_sound(t->memory_space, t->memory.ndim));
    CHECK(t->memory.count == t->file.count);
    CHECK(t->file_space == H5S_ALL ||
          H5Sget_select_npoints(t->file_space) == (hssize_t)t->file.count);
}

static void one_case(void) {
    transfer *t = &current;
    bool owned, right = true;
    select_both(t, &owned);
    contradictions += !t->sound;
    if (t->sound || !native) {
        H5E_BEGIN_TRY {
            if (chance(2))
                right = write_case(t);
            right = read_case(t) && right;
            if (t->sound && chance(16) == 0)
                right = refuse_case(t) && right;
        }
        H5E_END_TRY
        agreed += right;
        erred += !right;
        if (!right)
            start_over();
    }
    if (owned)
        H5Sclose(t->memory_space);
    if (t->file_space != H5S_ALL)
        H5Sclose(t->file_space);
}

/* ---- All of them ---- */

#define CASES_PER_DATASET 25
#define CASES_PER_FILE 2500

static void report(void) {
    char text[200];
    int length = snprintf(text, sizeof text, "%ld agreed %ld erred %ld contradictory %ld refused\n",
                          agreed, erred, contradictions, refused);
    if (write(STDOUT_FILENO, text, (size_t)length) != length)
        _exit(4);
}

static void crashed(int signal) {
    char text[100];
    int length = snprintf(text, sizeof text, "crashed by %d in case %ld\n", signal, selection_case);
    report();
    if (write(STDOUT_FILENO, text, (size_t)length) != length)
        _exit(4);
    _exit(3);
}

int main(int argc, char **argv) {
    if (argc != 6)
        return 2;
    native = strcmp(argv[2], "native") == 0;
    const uint64_t seed = strtoull(argv[3], NULL, 10);
    const long first = strtol(argv[4], NULL, 10), last = strtol(argv[5], NULL, 10);
    if (native) {
        signal(SIGSEGV, crashed);
        signal(SIGBUS, crashed);
        signal(SIGABRT, crashed);
    }
    /* Earlier cases matter to a case only through the dataset. */
    for (selection_case = first; selection_case <= last; selection_case++) {
        if (selection_case == first || selection_case % CASES_PER_FILE == 0)
            new_file(argv[1]);
        if (selection_case == first || selection_case % CASES_PER_DATASET == 0) {
            start_chance(seed * 1000003 + (uint64_t)(selection_case / CASES_PER_DATASET));
            new_dataset();
        }
        start_chance((seed << 32) + (uint64_t)selection_case);
        one_case();
        if (selection_case == last || (selection_case + 1) % CASES_PER_DATASET == 0)
            CHECK(H5Dclose(dataset) >= 0);
        if (selection_case == last || (selection_case + 1) % CASES_PER_FILE == 0)
            CHECK(H5Fclose(file) >= 0);
    }
    report();
    return 0;
}
