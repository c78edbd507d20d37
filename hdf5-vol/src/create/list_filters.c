/* SPDX-License-Identifier: MIT */
/* See list_filters.h. */
#include "create/list_filters.h"

#include "create/filters.h"

static bool is_optional(const vol_filter *f, H5Z_filter_t id) {
    return f->id == id && f->flags == H5Z_FLAG_OPTIONAL;
}

static bool is_shown_deflate(const vol_filter *f) {
    return is_optional(f, H5Z_FILTER_DEFLATE) && f->count == 1;
}

/* None, deflate, and shuffle with deflate where blosc can shuffle the elements. */
bool vol_list_filters_are_shown(h5_lib *lib, hid_t dcpl, zb_dtype dtype) {
    const int count = lib->H5Pget_nfilters(dcpl);
    if (count < 1 || count > 2)
        return count < 1;
    const vol_filter first = vol_filter_at(lib, dcpl, 0);
    if (count == 1)
        return is_shown_deflate(&first);
    const vol_filter second = vol_filter_at(lib, dcpl, 1);
    return is_optional(&first, H5Z_FILTER_SHUFFLE) && is_shown_deflate(&second) && dtype.size > 1 &&
           dtype.size <= UINT8_MAX && !zb_dtype_is_variable(dtype);
}

static void print_filter(const vol_filter *f, zb_json_writer *out) {
    zb_json_begin_array(out);
    zb_json_write_int64(out, f->id);
    zb_json_write_uint64(out, f->flags);
    zb_json_begin_array(out);
    for (size_t i = 0; i < f->count; i++)
        zb_json_write_uint64(out, f->values[i]);
    zb_json_end_array(out);
    zb_json_end_array(out);
}

bool vol_list_filters_print(h5_lib *lib, hid_t list, zb_json_writer *out, bool *any) {
    const int count = lib->H5Pget_nfilters(list);
    for (int i = 0; i < count; i++)
        if (vol_filter_at(lib, list, (unsigned)i).is_cut)
            return false;
    if (count <= 0)
        return true;
    *any = true;
    zb_json_write_name(out, VOL_LIST_FILTERS);
    zb_json_begin_array(out);
    for (int i = 0; i < count; i++) {
        const vol_filter f = vol_filter_at(lib, list, (unsigned)i);
        print_filter(&f, out);
    }
    zb_json_end_array(out);
    return true;
}

static bool parse_values(const zb_json *list, vol_filter *out) {
    uint64_t value;
    if (zb_json_kind_of(list) != ZB_JSON_ARRAY || zb_json_count(list) > VOL_FILTER_VALUES)
        return false;
    for (const zb_json *one = zb_json_first(list); one; one = zb_json_next(one)) {
        if (!zb_json_uint64(one, &value) || value > UINT32_MAX)
            return false;
        out->values[out->count++] = (unsigned)value;
    }
    return true;
}

static bool parse_filter(const zb_json *json, vol_filter *out) {
    uint64_t id, flags;
    const zb_json *first = zb_json_first(json), *second = first ? zb_json_next(first) : NULL;
    *out = (vol_filter){.count = 0};
    if (zb_json_kind_of(json) != ZB_JSON_ARRAY || zb_json_count(json) != 3 ||
        !zb_json_uint64(first, &id) || id == 0 || id > H5Z_FILTER_MAX ||
        !zb_json_uint64(second, &flags) || flags > H5Z_FLAG_OPTIONAL)
        return false;
    out->id = (H5Z_filter_t)id;
    out->flags = (unsigned)flags;
    return parse_values(zb_json_next(second), out);
}

static bool add_filter(h5_lib *lib, hid_t dcpl, const zb_json *json) {
    vol_filter f;
    return parse_filter(json, &f) && lib->H5Zfilter_avail(f.id) > 0 &&
           lib->H5Pset_filter(dcpl, f.id, f.flags, f.count, f.values) >= 0;
}

bool vol_list_filters_add(h5_lib *lib, hid_t list, const zb_json *kept) {
    if (zb_json_kind_of(kept) != ZB_JSON_ARRAY || zb_json_count(kept) == 0 ||
        zb_json_count(kept) > H5Z_MAX_NFILTERS)
        return false;
    bool good = true;
    for (const zb_json *one = zb_json_first(kept); good && one; one = zb_json_next(one))
        good = add_filter(lib, list, one);
    if (!good)
        lib->H5Premove_filter(list, H5Z_FILTER_ALL);
    return good;
}
