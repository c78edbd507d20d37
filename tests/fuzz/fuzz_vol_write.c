/* SPDX-License-Identifier: MIT */
/*
 * Writing through the HDF5 connector, against HDF5 itself: the bytes choose operations, each of
 * which is done to a store and, when that does not refuse it, to an .h5 file in memory. Everything
 * that can be read must be the same in both, and an operation for which a store has a form must not
 * be refused.
 */
#define _GNU_SOURCE
#include <math.h>

#include "vol_write_attributes.h"
#include "vol_write_world.h"

/* ---- Creating ---- */

static void create_group(input *in) {
    object *o = new_object(in);
    if (!o)
        return;
    for (int k = 0; k < KINDS; k++)
        o->ids[k] = H5Gcreate2(parent_id(o, k), o->name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    REQUIRE((o->ids[STORE] >= 0) == !namesake_in(o->parent, o->name, o));
    o->is_group = true;
    o->used = done(o->ids[STORE] >= 0, o->ids[NATIVE] >= 0);
    trace(o->used ? "made group" : "did not make group", o);
}

/* A list that a store has a form for. HDF5 fills elements that were never written in all cases only
   when it does so at once. */
static hid_t creation_list(input *in, object *o) {
    hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE);
    REQUIRE(H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_EARLY) >= 0);
    REQUIRE(H5Pset_fill_time(dcpl, H5D_FILL_TIME_ALLOC) >= 0);
    hsize_t chunk[NDIM], shard[NDIM];
    o->chunked = o->ndim > 0 && below(in, 4);
    if (o->chunked) {
        const unsigned times = 1 + below(in, 3), filters = byte(in);
        for (int d = 0; d < o->ndim; d++) {
            chunk[d] = 1 + below(in, 5);
            shard[d] = chunk[d] * times;
        }
        REQUIRE(H5Pset_chunk(dcpl, o->ndim, chunk) >= 0);
        if (times > 1)
            REQUIRE(H5Pinsert2(dcpl, "zarr:shard_shape", (size_t)o->ndim * sizeof shard[0], shard,
                               NULL, NULL, NULL, NULL, NULL, NULL) >= 0);
        if (filters & 1 && filters & 2)
            REQUIRE(H5Pset_shuffle(dcpl) >= 0);
        if (filters & 1)
            REQUIRE(H5Pset_deflate(dcpl, 1 + (filters >> 5)) >= 0);
        if (filters & 4)
            REQUIRE(H5Pset_fletcher32(dcpl) >= 0);
    }
    if (is_number(o->type) && below(in, 2)) {
        const double fill = (double)byte(in) - 100;
        REQUIRE(H5Pset_fill_value(dcpl, H5T_NATIVE_DOUBLE, &fill) >= 0);
    }
    return dcpl;
}

static void create_dataset(input *in) {
    const hsize_t unlimited[NDIM] = {H5S_UNLIMITED, H5S_UNLIMITED, H5S_UNLIMITED};
    object *o = new_object(in);
    if (!o)
        return;
    o->type = stored_types[below(in, STORED_TYPES)];
    o->ndim = (int)below(in, NDIM + 1);
    for (int d = 0; d < o->ndim; d++)
        o->dims[d] = below(in, LONGEST);
    hid_t dcpl = creation_list(in, o);
    hid_t space = o->ndim == 0 ? H5Screate(H5S_SCALAR)
                               : H5Screate_simple(o->ndim, o->dims, o->chunked ? unlimited : NULL);
    for (int k = 0; k < KINDS; k++)
        o->ids[k] =
            H5Dcreate2(parent_id(o, k), o->name, o->type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    H5Sclose(space);
    H5Pclose(dcpl);
    REQUIRE((o->ids[STORE] >= 0) == !namesake_in(o->parent, o->name, o));
    o->used = done(o->ids[STORE] >= 0, o->ids[NATIVE] >= 0);
    trace(o->used ? "made dataset" : "did not make dataset", o);
}

/* ---- Data ---- */

static size_t element_count(const object *o) {
    size_t count = 1;
    for (int d = 0; d < o->ndim; d++)
        count *= o->dims[d];
    return count;
}

/* Some boxes with steps, OR-ed and otherwise; the shape of memory is the file's. */
static hid_t select_some(input *in, const object *o) {
    static const H5S_seloper_t ops[] = {H5S_SELECT_OR, H5S_SELECT_AND, H5S_SELECT_XOR,
                                        H5S_SELECT_NOTB};
    if (o->ndim == 0)
        return H5Screate(H5S_SCALAR);
    hid_t space = H5Screate_simple(o->ndim, o->dims, NULL);
    unsigned times = element_count(o) == 0 ? 0 : below(in, 3);
    for (unsigned i = 0; i < times; i++) {
        hsize_t start[NDIM], stride[NDIM], count[NDIM], block[NDIM];
        for (int d = 0; d < o->ndim; d++) {
            const unsigned length = (unsigned)o->dims[d];
            start[d] = below(in, length);
            block[d] =
                1 +
                below(in, (unsigned)(length - start[d]) < 3 ? (unsigned)(length - start[d]) : 3);
            stride[d] = block[d] + below(in, 3);
            count[d] = 1 + below(in, (unsigned)((length - start[d] - block[d]) / stride[d]) + 1);
        }
        if (H5Sselect_hyperslab(space, i == 0 ? H5S_SELECT_SET : ops[below(in, 4)], start, stride,
                                count, block) < 0)
            break;
    }
    return space;
}

/* HDF5's descriptions of a selection can contradict each other: then it is not asked. */
static bool is_sound(const object *o, hid_t space) {
    hsize_t start[NDIM], stride[NDIM], count[NDIM], block[NDIM], product = 1;
    if (o->ndim == 0 || H5Sis_regular_hyperslab(space) <= 0)
        return true;
    REQUIRE(H5Sget_regular_hyperslab(space, start, stride, count, block) >= 0);
    for (int d = 0; d < o->ndim; d++)
        product *= count[d] * block[d];
    return (hssize_t)product == H5Sget_select_npoints(space);
}

/* Between signed and unsigned integers of one size HDF5 takes the bits as they are when the byte
   order differs, too, and clips negative numbers when it does not. We clip. */
static bool is_odd_conversion(hid_t a, hid_t b) {
    return H5Tget_class(a) == H5T_INTEGER && H5Tget_class(b) == H5T_INTEGER &&
           H5Tget_size(a) == H5Tget_size(b) && H5Tget_sign(a) != H5Tget_sign(b) &&
           H5Tget_order(a) != H5Tget_order(b);
}

static hid_t memory_type_for(input *in, const object *o) {
    const unsigned choice = byte(in);
    if (is_number(o->type)) {
        hid_t type = memory_types[choice % (MEMORY_TYPES - 1)];
        return is_odd_conversion(type, o->type) ? H5T_NATIVE_DOUBLE : type;
    }
    if (H5Tget_class(o->type) == H5T_COMPOUND && choice % 2)
        return memory_types[MEMORY_TYPES - 1];
    return o->type;
}

/* Of floats only values on which every conversion of HDF5 agrees. As byte orders will have it, it
   makes different integers of NaN and of negative fractions, and rounds the smallest numbers up or
   down. */
static double float_value(unsigned start, unsigned step, size_t i) {
    const unsigned number = (start + (unsigned)i * step) % 1009;
    return number == 1008 ? INFINITY : number == 1007 ? -1e30 : number - 500.0;
}

/* Bytes of the input again and again; a bool has no others than 0 and 1. */
static void fill_buffer(input *in, const object *o, hid_t type) {
    const unsigned start = byte(in), step = byte(in);
    const size_t size = H5Tget_size(type), bytes = element_count(o) * size;
    const H5T_class_t class = H5Tget_class(type);
    if (class == H5T_FLOAT || class == H5T_COMPOUND) {
        double *values = (double *)(void *)buffers[0];
        const size_t count = class == H5T_FLOAT ? element_count(o) : bytes / sizeof *values;
        for (size_t i = 0; i < count; i++)
            values[i] = float_value(start, step, i);
        if (class == H5T_FLOAT)
            REQUIRE(H5Tconvert(H5T_NATIVE_DOUBLE, type, count, values, NULL, H5P_DEFAULT) >= 0);
        return;
    }
    for (size_t i = 0; i < bytes; i++)
        buffers[0][i] = (unsigned char)(start + i * step + (i >> 3));
    for (size_t i = 0; i < bytes && class == H5T_ENUM; i++)
        buffers[0][i] &= 1;
}

static void write_data(input *in) {
    object *o = pick(in, false, true);
    if (!o)
        return;
    hid_t type = memory_type_for(in, o), space = select_some(in, o);
    fill_buffer(in, o, type);
    trace("write", o);
    if (is_sound(o, space))
        for (int k = 0; k < KINDS; k++)
            REQUIRE(H5Dwrite(o->ids[k], type, space, space, H5P_DEFAULT, buffers[0]) >= 0);
    H5Sclose(space);
}

static void compare_read(const object *o, hid_t type, hid_t space) {
    const size_t count = element_count(o), size = H5Tget_size(type);
    trace("read", o);
    for (int k = 0; k < KINDS; k++) {
        memset(buffers[k], 0x5a, count * size);
        REQUIRE(H5Dread(o->ids[k], type, space, space, H5P_DEFAULT, buffers[k]) >= 0);
    }
    require_same(type, count, o->type);
}

static void read_data(input *in) {
    object *o = pick(in, false, true);
    if (!o)
        return;
    hid_t type = memory_type_for(in, o), space = select_some(in, o);
    if (is_sound(o, space))
        compare_read(o, type, space);
    H5Sclose(space);
}

static void resize(input *in) {
    hsize_t dims[NDIM];
    object *o = pick(in, false, true);
    if (!o || !o->chunked)
        return;
    for (int d = 0; d < o->ndim; d++)
        dims[d] = below(in, LONGEST);
    for (int k = 0; k < KINDS; k++)
        REQUIRE(H5Dset_extent(o->ids[k], dims) >= 0);
    memcpy(o->dims, dims, sizeof dims);
    trace("resized", o);
}

/* ---- The hierarchy ---- */

static bool is_below(int i, int above) {
    while (i >= 0 && i != above)
        i = objects[i].parent;
    return i >= 0;
}

static void move_object(input *in) {
    object *o = pick(in, true, true);
    if (!o)
        return;
    const int parent = pick_group(in);
    const char name[] = {(char)('a' + below(in, 8)), 0};
    if (is_below(parent, (int)(o - objects)) || namesake_in(parent, name, NULL))
        return;
    object to = {.parent = parent};
    for (int k = 0; k < KINDS; k++)
        REQUIRE(H5Lmove(parent_id(o, k), o->name, parent_id(&to, k), name, H5P_DEFAULT,
                        H5P_DEFAULT) >= 0);
    o->parent = parent;
    memcpy(o->name, name, sizeof name);
    trace("moved", o);
}

/* Deletes an object with all below it, whose ids HDF5 would keep alive. */
static void delete_object(input *in) {
    object *o = pick(in, true, true);
    if (!o)
        return;
    trace("delete", o);
    hid_t parents[KINDS] = {parent_id(o, STORE), parent_id(o, NATIVE)};
    bool goes[OBJECTS];
    for (int i = 0; i < OBJECTS; i++)
        goes[i] = objects[i].used && is_below(i, (int)(o - objects));
    for (int i = 0; i < OBJECTS; i++)
        if (goes[i])
            close_object(&objects[i]);
    for (int k = 0; k < KINDS; k++)
        REQUIRE(H5Ldelete(parents[k], o->name, H5P_DEFAULT) >= 0);
}

static void copy_native_attribute(hid_t from, hid_t to, const char *name) {
    hid_t attr = H5Aopen(from, name, H5P_DEFAULT);
    if (attr < 0)
        return;
    hid_t type = H5Aget_type(attr), space = H5Aget_space(attr);
    hid_t made = H5Acreate2(to, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    REQUIRE(H5Aread(attr, type, buffers[0]) >= 0 && H5Awrite(made, type, buffers[0]) >= 0);
    REQUIRE(H5Aclose(made) >= 0 && H5Aclose(attr) >= 0);
    H5Sclose(space);
    H5Tclose(type);
}

/* Without H5Ocopy, with which HDF5 1.14.5 leaves out data that wait in its caches, and writes
   beyond the end of a buffer. */
static hid_t copy_natively(const object *from, const object *to) {
    hid_t dcpl = H5Dget_create_plist(from->ids[NATIVE]), space = H5Dget_space(from->ids[NATIVE]);
    hid_t made = H5Dcreate2(parent_id(to, NATIVE), to->name, from->type, space, H5P_DEFAULT, dcpl,
                            H5P_DEFAULT);
    REQUIRE(made >= 0);
    REQUIRE(H5Dread(from->ids[NATIVE], from->type, H5S_ALL, H5S_ALL, H5P_DEFAULT, buffers[0]) >= 0);
    REQUIRE(H5Dwrite(made, from->type, H5S_ALL, H5S_ALL, H5P_DEFAULT, buffers[0]) >= 0);
    for (int i = 0; i < ATTRIBUTES; i++) {
        const char name[] = {(char)('p' + i), 0};
        copy_native_attribute(from->ids[NATIVE], made, name);
    }
    H5Sclose(space);
    H5Pclose(dcpl);
    return made;
}

static void copy_dataset(input *in) {
    object *from = pick(in, false, true), *to = new_object(in);
    if (!from || !to || namesake_in(to->parent, to->name, to))
        return;
    const object place = *to;
    *to = *from;
    to->parent = place.parent;
    memcpy(to->name, place.name, sizeof place.name);
    REQUIRE(H5Ocopy(parent_id(from, STORE), from->name, parent_id(to, STORE), to->name, H5P_DEFAULT,
                    H5P_DEFAULT) >= 0);
    to->ids[STORE] = H5Oopen(parent_id(to, STORE), to->name, H5P_DEFAULT);
    to->ids[NATIVE] = copy_natively(from, to);
    REQUIRE(to->ids[STORE] >= 0);
    trace("copied", from);
    trace("to", to);
    reopened = true; /* the copy's attributes are as a file shows them that is opened anew */
}

/* ---- Closing and opening ---- */

static void reopen_object(input *in) {
    object *o = pick(in, true, true);
    for (int k = 0; o && k < KINDS; k++) {
        REQUIRE(H5Oclose(o->ids[k]) >= 0);
        o->ids[k] = H5Oopen(parent_id(o, k), o->name, H5P_DEFAULT);
        REQUIRE(o->ids[k] >= 0);
    }
}

static void flush(void) {
    for (int k = 0; k < KINDS; k++)
        REQUIRE(H5Fflush(files[k], H5F_SCOPE_GLOBAL) >= 0);
}

static void open_again(object *o) {
    if (o->parent >= 0 && objects[o->parent].ids[STORE] < 0)
        open_again(&objects[o->parent]);
    o->ids[STORE] = H5Oopen(parent_id(o, STORE), o->name, H5P_DEFAULT);
    REQUIRE(o->ids[STORE] >= 0);
}

/* Of the store alone: a file in memory would be gone. */
static void reopen_store(unsigned options) {
    trace("open the store again", NULL);
    for (int i = 0; i < OBJECTS; i++) {
        if (objects[i].used)
            REQUIRE(H5Oclose(objects[i].ids[STORE]) >= 0);
        objects[i].ids[STORE] = -1;
    }
    REQUIRE(H5Fclose(files[STORE]) >= 0);
    hid_t fapl = store_list(options);
    files[STORE] = H5Fopen(store_path(), H5F_ACC_RDWR, fapl);
    H5Pclose(fapl);
    REQUIRE(files[STORE] >= 0);
    for (int i = 0; i < OBJECTS; i++)
        if (objects[i].used && objects[i].ids[STORE] < 0)
            open_again(&objects[i]);
    reopened = true;
}

/* ---- All of it ---- */

static void step(input *in) {
    switch (below(in, 16)) {
    case 0:
        create_group(in);
        break;
    case 1:
    case 2:
        create_dataset(in);
        break;
    case 3:
    case 4:
    case 5:
        write_data(in);
        break;
    case 6:
    case 7:
        read_data(in);
        break;
    case 8:
        resize(in);
        break;
    case 9:
        create_attribute(in);
        break;
    case 10:
        if (below(in, 2))
            write_attribute(in);
        else
            change_attribute(in);
        break;
    case 11:
        move_object(in);
        break;
    case 12:
        delete_object(in);
        break;
    case 13:
        copy_dataset(in);
        break;
    case 14:
        if (below(in, 2))
            reopen_object(in);
        else
            flush();
        break;
    default:
        reopen_store(byte(in));
        break;
    }
}

/* Links of a group, or of the root. */
static void compare_links(const object *o) {
    H5G_info_t info[KINDS];
    for (int k = 0; k < KINDS; k++)
        REQUIRE(H5Gget_info(o ? o->ids[k] : files[k], &info[k]) >= 0);
    REQUIRE(info[STORE].nlinks == info[NATIVE].nlinks);
}

static void compare_all(void) {
    compare_links(NULL);
    for (int i = 0; i < OBJECTS; i++) {
        const object *o = &objects[i];
        if (!o->used)
            continue;
        compare_attributes(o);
        if (o->is_group)
            compare_links(o);
        else
            compare_read(o, o->type, H5S_ALL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = {data, size};
    start();
    const unsigned options = byte(&in);
    open_world(options);
    for (int i = 0; i < STEPS && in.left > 0; i++)
        step(&in);
    compare_all();
    reopen_store(options);
    compare_all();
    close_world();
    return 0;
}
