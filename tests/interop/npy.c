/* SPDX-License-Identifier: MIT */
#include "npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool parse_type(const char *header, zb_dtype *dtype) {
    const char *at = strstr(header, "'descr': '");
    char order, kind;
    unsigned size;
    if (!at || sscanf(at, "'descr': '%c%c%u'", &order, &kind, &size) != 3)
        return false;
    static const char kinds[] = "biufcV"; /* in the order of enum zb_kind */
    const char *place = strchr(kinds, kind);
    *dtype = (zb_dtype){.kind = (enum zb_kind)(place ? place - kinds : 0), .size = size};
    return place && kind && order != '>';
}

static bool parse_shape(const char *header, npy *out) {
    const char *at = strstr(header, "'shape': (");
    if (!at)
        return false;
    at = strchr(at, '(') + 1;
    out->elements = 1;
    for (out->ndim = 0; *at && *at != ')'; out->ndim++) {
        char *end;
        if (out->ndim == ZB_MAX_NDIM)
            return false;
        out->shape[out->ndim] = strtoull(at, &end, 10);
        if (end == at)
            return false;
        out->elements *= out->shape[out->ndim];
        at = end + strspn(end, ", ");
    }
    return *at == ')';
}

/* The header: magic, version 1.0, its length in two bytes, then the text of a Python dictionary. */
static bool read_header(FILE *file, npy *out) {
    unsigned char head[10];
    char text[4096];
    if (fread(head, 1, 10, file) != 10 || memcmp(head, "\x93NUMPY\x01\x00", 8) != 0)
        return false;
    size_t length = head[8] | (size_t)head[9] << 8;
    if (length >= sizeof text || fread(text, 1, length, file) != length)
        return false;
    text[length] = '\0';
    return parse_type(text, &out->dtype) && parse_shape(text, out) &&
           strstr(text, "'fortran_order': False");
}

bool npy_load(const char *path, npy *out, char *why) {
    *out = (npy){0};
    FILE *file = fopen(path, "rb");
    if (!file) {
        snprintf(why, 256, "cannot open %s", path);
        return false;
    }
    bool good = read_header(file, out);
    size_t size = good ? (size_t)out->elements * out->dtype.size : 0;
    out->data = malloc(size + 1);
    good = good && out->data && fread(out->data, 1, size + 1, file) == size;
    fclose(file);
    if (!good) {
        snprintf(why, 256, "%s is not a .npy file of the expected form", path);
        npy_free(out);
    }
    return good;
}

void npy_free(npy *array) {
    free(array->data);
    *array = (npy){0};
}
