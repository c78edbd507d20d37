/* SPDX-License-Identifier: MIT */
/* From a node's attributes to the program's memory: as many elements as its dataspace has, each of
   the size of the memory type, and never more. */
#include "attributes/ids.h"
#include "attributes/write.h"
#include "hdf5/errors.h"
#include "attributes/references.h"
#include "hdf5/types.h"

#include <stdlib.h>
#include <string.h>

static herr_t push_no_conversion(const vol_object *object) {
    VOL_PUSH(object->lib, ATTR, CANTCONVERT,
             "attribute '%s' cannot be converted to the type that was asked for", object->attr);
    return -1;
}

/* Numbers and fixed strings: by HDF5's own conversion, which works in place. */
static herr_t read_plain(const vol_object *object, const vol_attr *attr, hid_t mem_type, void *out,
                         hid_t dxpl) {
    h5_lib *lib = object->lib;
    const size_t from_size = attr->dtype.size, to_size = lib->H5Tget_size(mem_type);
    const size_t larger = from_size > to_size ? from_size : to_size;
    hid_t type = vol_attr_type(lib, attr);
    void *work = calloc(attr->count, larger), *background = calloc(attr->count, larger);
    herr_t result = -1;
    if (work && background && type >= 0) {
        memcpy(work, attr->data, attr->count * from_size);
        memcpy(background, out, attr->count * to_size);
        result = lib->H5Tconvert(type, mem_type, attr->count, work, background, dxpl);
    }
    if (result >= 0)
        memcpy(out, work, attr->count * to_size);
    if (type >= 0)
        lib->H5Tclose(type);
    free(work);
    free(background);
    return result < 0 ? push_no_conversion(object) : 0;
}

/* Each string is a copy that the program frees. */
static herr_t read_text(const vol_object *object, const vol_attr *attr, hid_t mem_type, char **out,
                        hid_t dxpl) {
    h5_lib *lib = object->lib;
    if (lib->H5Tis_variable_str(mem_type) <= 0)
        return push_no_conversion(object);
    for (size_t i = 0; i < attr->count; i++) {
        const char *text = ((char *const *)attr->data)[i];
        size_t size = strlen(text) + 1;
        out[i] = vol_vlen_alloc(lib, dxpl, size);
        if (!out[i]) {
            VOL_PUSH(lib, ATTR, READERROR, "no memory for attribute '%s'", object->attr);
            return -1;
        }
        memcpy(out[i], text, size);
    }
    return 0;
}

herr_t vol_attr_read(const vol_object *object, hid_t mem_type, void *buffer, hid_t dxpl) {
    const vol_attr *attr = vol_attr_ids_get(object);
    if (!attr)
        return -1;
    if (attr->count == 0)
        return 0;
    if (attr->place == VOL_ATTR_UNWRITTEN) {
        memset(buffer, 0, attr->count * object->lib->H5Tget_size(mem_type));
        return 0;
    }
    switch (attr->kind) {
    case VOL_ATTR_NUMBER:
    case VOL_ATTR_FIXED:
    case VOL_ATTR_BYTES:
        return read_plain(object, attr, mem_type, buffer, dxpl);
    case VOL_ATTR_TEXT:
        return read_text(object, attr, mem_type, buffer, dxpl);
    case VOL_ATTR_REFS:
        break;
    }
    if (vol_refs_read(object, attr, mem_type, buffer, dxpl) < 0)
        return push_no_conversion(object);
    return 0;
}
