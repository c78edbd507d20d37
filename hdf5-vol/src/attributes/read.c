/* SPDX-License-Identifier: MIT */
/* From a node's attributes to the program's memory: as many elements as its dataspace has, each of
   the size of the memory type, and never more. */
#include "attributes/attributes.h"
#include "attributes/large.h"
#include "attributes/references.h"
#include "attributes/write.h"
#include "hdf5/convert.h"
#include "hdf5/errors.h"
#include "hdf5/types.h"

#include <stdlib.h>
#include <string.h>

static herr_t push_no_conversion(const vol_object *object) {
    VOL_PUSH(object->lib, ATTR, CANTCONVERT,
             "attribute '%s' cannot be converted to the type that was asked for", object->attr);
    return -1;
}

/* By HDF5's own conversion. */
static herr_t read_plain(const vol_object *object, const vol_attr *attr, hid_t mem_type, void *out,
                         hid_t dxpl) {
    h5_lib *lib = object->lib;
    hid_t type = vol_attr_type(lib, attr);
    herr_t result = -1;
    if (type >= 0 && vol_type_is_reference(lib, type, *lib->H5T_STD_REF_OBJ_g) &&
        vol_type_is_reference(lib, mem_type, *lib->H5T_STD_REF_g))
        result = vol_refs_of_tokens(object->handle, attr->count, attr->data, out);
    else if (type >= 0 && vol_refs_are_lists(lib, type, false) &&
             vol_refs_are_lists(lib, mem_type, true))
        result = vol_refs_read_new_lists(object, attr, out, dxpl);
    else if (type >= 0 && lib->H5Tget_class(type) == H5T_COMPOUND &&
             lib->H5Tget_class(mem_type) == H5T_COMPOUND && vol_refs_are_new(lib, mem_type))
        result = vol_refs_read_new_compounds(object, attr, type, mem_type, out, dxpl);
    else if (type >= 0)
        result = vol_convert(lib, type, mem_type, attr->count, attr->data, out, dxpl);
    if (type >= 0)
        lib->H5Tclose(type);
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
        const size_t size = text ? strlen(text) + 1 : 0;
        out[i] = NULL;
        if (!text)
            continue;
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
    if (vol_large_read(object->node, attr) < 0)
        return -1;
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
