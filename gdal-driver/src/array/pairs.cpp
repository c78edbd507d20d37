/* SPDX-License-Identifier: MIT */
#include "array/pairs.h"

#include <cstring>
#include <iterator>

namespace zarr3 {

namespace {

struct Pair {
    GDALDataType type;
    zb_field fields[2]; /* as they lie in GDAL's memory */
    zb_dtype_detail detail;
};

} // namespace

static Pair make_pair(GDALDataType type, const char *real, const char *imaginary) {
    const uint32_t size = type == GDT_CInt16 ? 2 : 4;
    const zb_dtype part = {ZB_KIND_INT, size, false, nullptr};
    return {type, {{real, 0, part}, {imaginary, size, part}}, {}};
}

/* Those of new arrays first. */
static Pair *pairs() {
    static Pair all[] = {
        make_pair(GDT_CInt16, "re", "im"),     make_pair(GDT_CInt32, "re", "im"),
        make_pair(GDT_CInt16, "real", "imag"), make_pair(GDT_CInt32, "real", "imag"),
        make_pair(GDT_CInt16, "r", "i"),       make_pair(GDT_CInt32, "r", "i"),
    };
    static const bool linked = [] {
        for (Pair &pair : all) {
            pair.detail.fields = pair.fields;
            pair.detail.field_count = 2;
        }
        return true;
    }();
    return linked ? all : nullptr;
}

static constexpr int kPairs = 6;

static zb_dtype dtype_of(const Pair &pair) {
    return {ZB_KIND_STRUCT, 2 * pair.fields[0].dtype.size, false, &pair.detail};
}

/* By names and types; where the fields lie in the store, and in which order of bytes, the core
   bridges. */
static const Pair *find_pair(zb_dtype dtype) {
    size_t count;
    const zb_field *fields = zb_dtype_fields(dtype, &count);
    for (int i = 0; i < kPairs && count == 2; i++) {
        const Pair &pair = pairs()[i];
        bool same = true;
        for (int part = 0; part < 2; part++)
            same = same && fields[part].dtype.kind == ZB_KIND_INT &&
                   fields[part].dtype.size == pair.fields[part].dtype.size &&
                   strcmp(fields[part].name, pair.fields[part].name) == 0;
        if (same)
            return &pair;
    }
    return nullptr;
}

GDALDataType pair_type(zb_dtype dtype) {
    const Pair *pair = find_pair(dtype);
    return pair == nullptr ? GDT_Unknown : pair->type;
}

zb_dtype pair_in_memory(zb_dtype stored) {
    const Pair *pair = find_pair(stored);
    return pair == nullptr ? stored : dtype_of(*pair);
}

zb_dtype new_pair(GDALDataType type) {
    for (int i = 0; i < kPairs; i++) {
        if (pairs()[i].type == type)
            return dtype_of(pairs()[i]);
    }
    return {ZB_KIND_RAW, 0, false, nullptr};
}

} // namespace zarr3
