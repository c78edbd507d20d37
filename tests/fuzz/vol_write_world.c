/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "vol_write_world.h"

#include <ftw.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include <H5VLconnector_passthru.h>

/* ---- Input ---- */

unsigned byte(input *in) {
    if (in->left == 0)
        return 0;
    in->left--;
    return *in->next++;
}

unsigned below(input *in, unsigned limit) {
    return byte(in) % limit;
}

/* ---- Types ---- */

hid_t stored_types[STORED_TYPES];

hid_t memory_types[MEMORY_TYPES];

static hid_t new_bool(void) {
    static const int8_t no = 0, yes = 1;
    hid_t type = H5Tenum_create(H5T_NATIVE_INT8);
    REQUIRE(H5Tenum_insert(type, "FALSE", &no) >= 0 && H5Tenum_insert(type, "TRUE", &yes) >= 0);
    return type;
}

static hid_t new_complex(void) {
    hid_t type = H5Tcreate(H5T_COMPOUND, 16);
    REQUIRE(H5Tinsert(type, "r", 0, H5T_IEEE_F64LE) >= 0);
    REQUIRE(H5Tinsert(type, "i", 8, H5T_IEEE_F64LE) >= 0);
    return type;
}

static void make_types(void) {
    const hid_t stored[] = {
        H5T_STD_I8LE,  H5T_STD_U8LE,   H5T_STD_I16LE,  H5T_STD_U16LE,  H5T_STD_I32LE, H5T_STD_U32LE,
        H5T_STD_I64LE, H5T_STD_U64LE,  H5T_STD_I16BE,  H5T_STD_U16BE,  H5T_STD_I32BE, H5T_STD_U32BE,
        H5T_STD_I64BE, H5T_IEEE_F32LE, H5T_IEEE_F64LE, H5T_IEEE_F32BE, H5T_IEEE_F64BE};
    const hid_t memory[] = {H5T_NATIVE_INT8,   H5T_NATIVE_UINT8,  H5T_NATIVE_INT16,
                            H5T_NATIVE_UINT16, H5T_NATIVE_INT32,  H5T_NATIVE_UINT32,
                            H5T_NATIVE_INT64,  H5T_NATIVE_UINT64, H5T_NATIVE_FLOAT,
                            H5T_NATIVE_DOUBLE, H5T_STD_I32BE,     H5T_IEEE_F64BE};
    for (size_t i = 0; i < STORED_TYPES - 2; i++)
        stored_types[i] = stored[i];
    for (size_t i = 0; i < MEMORY_TYPES - 1; i++)
        memory_types[i] = memory[i];
    stored_types[STORED_TYPES - 2] = new_bool();
    stored_types[STORED_TYPES - 1] = new_complex();
    memory_types[MEMORY_TYPES - 1] = H5Tcreate(H5T_COMPOUND, 8);
    REQUIRE(H5Tinsert(memory_types[MEMORY_TYPES - 1], "i", 0, H5T_IEEE_F64LE) >= 0);
}

bool is_number(hid_t type) {
    H5T_class_t class = H5Tget_class(type);
    return class == H5T_INTEGER || class == H5T_FLOAT;
}

_Alignas(16) unsigned char buffers[KINDS][ELEMENTS * 16];

/* NaNs have no one representation; everything else has. */
static bool same_elements(hid_t type, size_t count, const unsigned char *a,
                          const unsigned char *b) {
    const size_t size = H5Tget_size(type);
    if (memcmp(a, b, count * size) == 0)
        return true;
    if (H5Tget_class(type) != H5T_FLOAT && H5Tget_class(type) != H5T_COMPOUND)
        return false;
    const size_t part = H5Tget_class(type) == H5T_COMPOUND ? 8 : size, parts = count * size / part;
    const bool big = H5Tget_class(type) == H5T_FLOAT && H5Tget_order(type) == H5T_ORDER_BE;
    for (size_t i = 0; i < parts; i++) {
        union {
            unsigned char bytes[8];
            double wide;
            float narrow;
        } x = {{0}}, y = {{0}};
        for (size_t k = 0; k < part; k++) {
            x.bytes[k] = a[i * part + (big ? part - 1 - k : k)];
            y.bytes[k] = b[i * part + (big ? part - 1 - k : k)];
        }
        bool nans = part == 8 ? isnan(x.wide) && isnan(y.wide) : isnan(x.narrow) && isnan(y.narrow);
        if (!nans && memcmp(x.bytes, y.bytes, part) != 0)
            return false;
    }
    return true;
}

void require_same(hid_t type, size_t count, hid_t stored) {
    const size_t size = H5Tget_size(type);
    if (same_elements(type, count, buffers[0], buffers[1]))
        return;
    for (size_t i = 0; i < count; i++) {
        const unsigned char *a = &buffers[0][i * size], *b = &buffers[1][i * size];
        if (same_elements(type, 1, a, b))
            continue;
        fprintf(stderr, "element %zu of %zu; class %d size %zu, stored as class %d size %zu:", i,
                count, (int)H5Tget_class(type), size, (int)H5Tget_class(stored),
                H5Tget_size(stored));
        for (size_t k = 0; k < 2 * size; k++)
            fprintf(stderr, "%s%02x", k == size ? ", HDF5 has " : " ",
                    k < size ? a[k] : b[k - size]);
        fprintf(stderr, "\n");
        break;
    }
    REQUIRE(!"the same in both files");
}

/* ---- The world ---- */

static char root[64];
static hid_t connector;
hid_t files[KINDS];
object objects[OBJECTS];
bool reopened;

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *at) {
    (void)info;
    (void)kind;
    (void)at;
    return remove(path);
}

const char *store_path(void) {
    static char path[80];
    snprintf(path, sizeof path, "%s/s.zarr", root);
    return path;
}

static void remove_root(void) {
    nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

void start(void) {
    const char *tmp = getenv("TMPDIR");
    if (*root)
        return;
    if (!tmp)
        tmp = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    REQUIRE(snprintf(root, sizeof root, "%s/zb-fuzz-XXXXXX", tmp) < (int)sizeof root);
    REQUIRE(mkdtemp(root));
    atexit(remove_root);
    REQUIRE(setenv("HDF5_PLUGIN_PATH", ZB_PLUGIN_DIR, 1) == 0);
    REQUIRE(H5Eset_auto2(H5E_DEFAULT, NULL, NULL) >= 0);
    connector = H5VLregister_connector_by_name("zarr", H5P_DEFAULT);
    REQUIRE(connector > 0);
    make_types();
}

hid_t store_list(unsigned options) {
    static const char *const texts[] = {"sync=none", "strategy=append", "chunks=3x4",
                                        "shards=4x6;chunks=2x3"};
    void *info = NULL;
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    REQUIRE(H5VLconnector_str_to_info(texts[options % 4], connector, &info) >= 0);
    REQUIRE(H5Pset_vol(fapl, connector, info) >= 0);
    REQUIRE(H5VLfree_connector_info(connector, info) >= 0);
    return fapl;
}

void open_world(unsigned options) {
    hid_t fapl = store_list(options);
    files[STORE] = H5Fcreate(store_path(), H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    H5Pclose(fapl);
    fapl = H5Pcreate(H5P_FILE_ACCESS);
    REQUIRE(H5Pset_fapl_core(fapl, 1 << 16, false) >= 0);
    files[NATIVE] = H5Fcreate("native.h5", H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    H5Pclose(fapl);
    REQUIRE(files[STORE] >= 0 && files[NATIVE] >= 0);
    memset(objects, 0, sizeof objects);
    reopened = false;
}

hid_t parent_id(const object *o, int kind) {
    return o->parent < 0 ? files[kind] : objects[o->parent].ids[kind];
}

void close_object(object *o) {
    for (int k = 0; k < KINDS; k++)
        REQUIRE(H5Oclose(o->ids[k]) >= 0);
    o->used = false;
}

void close_world(void) {
    for (int i = 0; i < OBJECTS; i++)
        if (objects[i].used)
            close_object(&objects[i]);
    for (int k = 0; k < KINDS; k++)
        REQUIRE(H5Fclose(files[k]) >= 0);
}

void trace(const char *what, const object *o) {
    static int wanted = -1;
    if (wanted < 0)
        wanted = getenv("ZB_FUZZ_TRACE") != NULL;
    if (!wanted)
        return;
    fprintf(stderr, "%s", what);
    if (o)
        fprintf(stderr, " %d: '%s' in %d, class %d size %zu, %d dimensions", (int)(o - objects),
                o->name, o->parent, o->is_group ? -1 : (int)H5Tget_class(o->type),
                o->is_group ? 0 : H5Tget_size(o->type), o->ndim);
    for (int d = 0; o && d < o->ndim; d++)
        fprintf(stderr, " %d", (int)o->dims[d]);
    fprintf(stderr, "\n");
}

object *pick(input *in, bool groups, bool datasets) {
    const int first = (int)below(in, OBJECTS);
    for (int i = 0; i < OBJECTS; i++) {
        object *o = &objects[(first + i) % OBJECTS];
        if (o->used && (o->is_group ? groups : datasets))
            return o;
    }
    return NULL;
}

int pick_group(input *in) {
    object *o = below(in, 2) ? pick(in, true, false) : NULL;
    return o ? (int)(o - objects) : -1;
}

object *new_object(input *in) {
    object *o = objects;
    while (o < objects + OBJECTS && o->used)
        o++;
    if (o == objects + OBJECTS)
        return NULL;
    *o = (object){.parent = pick_group(in)};
    o->name[0] = (char)('a' + below(in, 8));
    return o;
}

object *namesake_in(int parent, const char *name, const object *besides) {
    for (int i = 0; i < OBJECTS; i++)
        if (objects[i].used && &objects[i] != besides && objects[i].parent == parent &&
            strcmp(objects[i].name, name) == 0)
            return &objects[i];
    return NULL;
}

bool done(bool in_store, bool in_file) {
    REQUIRE(in_store == in_file);
    return in_store;
}
