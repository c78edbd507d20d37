/* SPDX-License-Identifier: MIT */
#include "kernel/number_types.h"

#include <string.h>

static const zb__number_type types[] = {
    {"bool", "b1", ZB_KIND_BOOL, 1},         {"int8", "i1", ZB_KIND_INT, 1},
    {"int16", "i2", ZB_KIND_INT, 2},         {"int32", "i4", ZB_KIND_INT, 4},
    {"int64", "i8", ZB_KIND_INT, 8},         {"uint8", "u1", ZB_KIND_UINT, 1},
    {"uint16", "u2", ZB_KIND_UINT, 2},       {"uint32", "u4", ZB_KIND_UINT, 4},
    {"uint64", "u8", ZB_KIND_UINT, 8},       {"float16", "f2", ZB_KIND_FLOAT, 2},
    {"float32", "f4", ZB_KIND_FLOAT, 4},     {"float64", "f8", ZB_KIND_FLOAT, 8},
    {"complex64", "c8", ZB_KIND_COMPLEX, 8}, {"complex128", "c16", ZB_KIND_COMPLEX, 16},
};

#define COUNT (sizeof types / sizeof *types)

const zb__number_type *zb__number_type_named(const char *name) {
    for (size_t i = 0; i < COUNT; i++) {
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    }
    return NULL;
}

const zb__number_type *zb__number_type_coded(char letter, uint32_t size) {
    for (size_t i = 0; i < COUNT; i++) {
        if (types[i].code[0] == letter && types[i].size == size)
            return &types[i];
    }
    return NULL;
}

const zb__number_type *zb__number_type_of(zb_dtype dtype) {
    for (size_t i = 0; i < COUNT; i++) {
        if (types[i].kind == dtype.kind && types[i].size == dtype.size)
            return &types[i];
    }
    return NULL;
}
