/* SPDX-License-Identifier: MIT */
/* From JSON to HDF5's attributes: see attribute.h for the types, zarrbridge/conventions.h for the
   rules. */
#include "attributes/attribute.h"

#include "zarrbridge/conventions.h"

#include <stdlib.h>
#include <string.h>

/* Any value becomes exactly one attribute, so that nothing of the document is hidden. */
static bool add_json(vol_attrs *attrs, const zb_json *json) {
    zb_value value;
    if (!zb_value_parse(json, &value))
        return false;
    const bool is_text = value.kind == ZB_VALUE_TEXTS;
    vol_attr *attr =
        vol_attrs_add(attrs, zb_json_name(json), is_text ? VOL_ATTR_TEXT : VOL_ATTR_NUMBER, 0,
                      is_text ? sizeof(char *) : value.dtype.size);
    if (!attr) {
        zb_value_clear(&value);
        return false;
    }
    attr->is_null = value.kind == ZB_VALUE_NULL;
    attr->ndim = value.ndim;
    for (uint32_t d = 0; d < value.ndim; d++)
        attr->dims[d] = value.shape[d];
    attr->count = value.count;
    if (!is_text)
        attr->dtype = value.dtype;
    if (value.data) {
        free(attr->data);
        attr->data = value.data; /* the attribute's from now on */
    }
    return true;
}

/* Replaces the plain translation of _FillValue by one element of the array's type, where that
   works. A list of one element keeps its dimension, as netCDF writes it; longer ones stay what they
   are. */
static bool add_fill_value(vol_attrs *attrs, const zb_json *value, zb_dtype dtype) {
    unsigned char element[sizeof(uint64_t)];
    const bool is_list = zb_json_kind_of(value) == ZB_JSON_ARRAY;
    if ((is_list && zb_json_count(value) != 1) || !zb_fill_attribute_parse(value, dtype, element))
        return true;
    vol_attr *attr = vol_attrs_add(attrs, "_FillValue", VOL_ATTR_NUMBER, 1, dtype.size);
    if (!attr)
        return false;
    attr->ndim = is_list;
    attr->dims[0] = 1;
    attr->dtype = dtype;
    memcpy(attr->data, element, dtype.size);
    return true;
}

bool vol_attrs_add_plain(vol_attrs *attrs, const vol_node *node, const zb_json *value) {
    if (!add_json(attrs, value))
        return false;
    return node->kind != VOL_DATASET || strcmp(zb_json_name(value), "_FillValue") != 0 ||
           add_fill_value(attrs, value, zb_node_array(node->zarr)->dtype);
}
