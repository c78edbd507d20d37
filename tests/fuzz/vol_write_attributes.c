/* SPDX-License-Identifier: MIT */
#include "vol_write_attributes.h"

static void attribute_name(input *in, char name[4]) {
    snprintf(name, 4, "%c", 'p' + (int)below(in, ATTRIBUTES));
}

void create_attribute(input *in) {
    object *o = pick(in, true, true);
    char name[4];
    hsize_t dims[2];
    double values[9];
    if (!o)
        return;
    attribute_name(in, name);
    trace("attribute of", o);
    hid_t type = stored_types[below(in, STORED_TYPES - 2)];
    const int ndim = (int)below(in, 3);
    for (int d = 0; d < ndim; d++)
        dims[d] = below(in, 4);
    for (int i = 0; i < 9; i++)
        values[i] = ((double)byte(in) - 128) * (i % 2 ? 1000 : 0.5);
    hid_t space = ndim ? H5Screate_simple(ndim, dims, NULL) : H5Screate(H5S_SCALAR);
    const bool write = below(in, 4);
    bool made[KINDS];
    for (int k = 0; k < KINDS; k++) {
        hid_t attr = H5Acreate2(o->ids[k], name, type, space, H5P_DEFAULT, H5P_DEFAULT);
        made[k] = attr >= 0;
        if (made[k] && write)
            REQUIRE(H5Awrite(attr, H5T_NATIVE_DOUBLE, values) >= 0);
        if (made[k])
            REQUIRE(H5Aclose(attr) >= 0);
    }
    done(made[STORE], made[NATIVE]);
    H5Sclose(space);
}

void write_attribute(input *in) {
    object *o = pick(in, true, true);
    char name[4];
    hid_t attrs[KINDS];
    double values[9];
    if (!o || reopened) /* then types may differ, and the values that fit into them */
        return;
    attribute_name(in, name);
    for (int i = 0; i < 9; i++)
        values[i] = (double)byte(in) * 3 - 100;
    for (int k = 0; k < KINDS; k++)
        attrs[k] = H5Aopen(o->ids[k], name, H5P_DEFAULT);
    if (!done(attrs[STORE] >= 0, attrs[NATIVE] >= 0))
        return;
    for (int k = 0; k < KINDS; k++) {
        REQUIRE(H5Awrite(attrs[k], H5T_NATIVE_DOUBLE, values) >= 0);
        REQUIRE(H5Aclose(attrs[k]) >= 0);
    }
}

void change_attribute(input *in) {
    object *o = pick(in, true, true);
    char name[4], other[4];
    if (!o)
        return;
    attribute_name(in, name);
    attribute_name(in, other);
    const bool rename = below(in, 2);
    bool changed[KINDS];
    for (int k = 0; k < KINDS; k++)
        changed[k] = rename ? strcmp(name, other) != 0 && H5Aexists(o->ids[k], name) > 0 &&
                                  H5Arename(o->ids[k], name, other) >= 0
                            : H5Adelete(o->ids[k], name) >= 0;
    done(changed[STORE], changed[NATIVE]);
}

static void compare_attribute(const object *o, const char *name) {
    hid_t attrs[KINDS], type, space;
    for (int k = 0; k < KINDS; k++)
        attrs[k] = H5Aopen(o->ids[k], name, H5P_DEFAULT);
    if (!done(attrs[STORE] >= 0, attrs[NATIVE] >= 0))
        return;
    type = H5Aget_type(attrs[NATIVE]);
    space = H5Aget_space(attrs[NATIVE]);
    const size_t count = (size_t)H5Sget_simple_extent_npoints(space);
    hid_t seen_type = H5Aget_type(attrs[STORE]), seen_space = H5Aget_space(attrs[STORE]);
    REQUIRE(count == (size_t)H5Sget_simple_extent_npoints(seen_space));
    REQUIRE(reopened || (H5Tequal(type, seen_type) > 0 && H5Sextent_equal(space, seen_space) > 0));
    for (int k = 0; k < KINDS; k++)
        REQUIRE(H5Aread(attrs[k], type, buffers[k]) >= 0);
    require_same(type, count, seen_type);
    H5Tclose(seen_type);
    H5Sclose(seen_space);
    H5Tclose(type);
    H5Sclose(space);
    for (int k = 0; k < KINDS; k++)
        REQUIRE(H5Aclose(attrs[k]) >= 0);
}

void compare_attributes(const object *o) {
    H5O_info2_t info[KINDS];
    char name[4];
    for (int k = 0; k < KINDS; k++)
        REQUIRE(H5Oget_info3(o->ids[k], &info[k], H5O_INFO_NUM_ATTRS) >= 0);
    REQUIRE(info[STORE].num_attrs == info[NATIVE].num_attrs);
    for (int i = 0; i < ATTRIBUTES; i++) {
        snprintf(name, sizeof name, "%c", 'p' + i);
        compare_attribute(o, name);
    }
}
