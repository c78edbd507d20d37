/* SPDX-License-Identifier: MIT */
/*
 * From HDF5 values to JSON, by the table in elements.h; _FillValue of an array as xarray writes it.
 */
#include "attributes/exact.h"

#include "attributes/convert.h"
#include "hdf5/types.h"
#include "zarrbridge/conventions.h"

#include <stdlib.h>
#include <string.h>

/* ---- Elements ---- */

/* The length of a fixed string in `size` bytes. One that was never written is all NULs, whatever
   its padding. */
static size_t text_length(H5T_str_t padding, const char *text, size_t size) {
    size_t length = padding == H5T_STR_NULLTERM ? strnlen(text, size) : size;
    const char pad = padding == H5T_STR_SPACEPAD ? ' ' : '\0';
    while (length > 0 && (text[length - 1] == pad || text[length - 1] == '\0'))
        length--;
    return length;
}

char *vol_attr_text(h5_lib *lib, hid_t type, const void *element) {
    const char *text = element;
    if (lib->H5Tis_variable_str(type) <= 0)
        return strndup(text, text_length(lib->H5Tget_strpad(type), text, lib->H5Tget_size(type)));
    memcpy(&text, element, sizeof text);
    return strdup(text ? text : "");
}

static enum zb_code fail_text(zb_error *err) {
    return zb_fail(err, ZB_ENOMEM, "no memory for the text of an attribute");
}

/* One element: in Zarr it is a number. */
static enum zb_code print_fill(vol_node *owner, const vol_attr_elements *e, char **text,
                               zb_error *err) {
    static const zb_dtype wide = {.kind = ZB_KIND_FLOAT, .size = sizeof(double)};
    h5_lib *lib = owner->file->lib;
    double value = 0;
    if (vol_convert(lib, e->type, vol_type_double(lib), 1, e->data, &value,
                    *lib->H5P_LST_DATASET_XFER_ID_g) < 0)
        return zb_fail(err, ZB_EUNSUPPORTED, "HDF5 cannot convert the value to a double");
    *text = zb_fill_attribute_print(&value, wide);
    return *text ? ZB_OK : fail_text(err);
}

enum zb_code vol_attr_print(vol_node *owner, const vol_attr_elements *e, uint32_t ndim,
                            const uint64_t *dims, char **text, zb_error *err) {
    const bool is_fill =
        owner->kind == VOL_DATASET && strcmp(e->name, "_FillValue") == 0 && e->count == 1;
    if (is_fill && e->form->kind == VOL_FORM_FLOAT &&
        zb_node_array(owner->zarr)->dtype.kind == ZB_KIND_FLOAT)
        return print_fill(owner, e, text, err);
    zb_json_writer *out = zb_json_writer_new();
    vol_elements_print(e->form, is_fill ? 0 : ndim, dims, e->data, out);
    *text = zb_json_writer_end(out, NULL);
    return *text ? ZB_OK : fail_text(err);
}
