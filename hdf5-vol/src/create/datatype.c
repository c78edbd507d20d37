/* SPDX-License-Identifier: MIT */
/* See datatype.h. */
#include "create/datatype.h"

#include "create/creation_list.h"
#include "hdf5/type_json.h"
#include "tree/side.h"

#include <stdlib.h>

/* The attributes of the group; *out is malloc'ed. */
static enum zb_code print_attributes(h5_lib *lib, const char *type, hid_t tcpl, char **out,
                                     zb_error *err) {
    vol_changes members = {.count = 0};
    *out = NULL;
    enum zb_code code = vol_side_put(&members, ZB_HDF5_DATATYPE, type, err);
    if (!code)
        code = vol_list_member_add(lib, tcpl, &members, err);
    if (!code && !(*out = vol_side_print_new(&members)))
        code = zb_fail(err, ZB_ENOMEM, "no memory for the attributes of a named datatype");
    vol_changes_clear(&members);
    return code;
}

enum zb_code vol_datatype_make(vol_file *file, hid_t type, hid_t tcpl, const vol_place *place,
                               vol_node **out, zb_error *err) {
    zb_json_writer *text = zb_json_writer_new();
    enum zb_code code = vol_type_print(file->lib, type, text, err);
    char *json = zb_json_writer_end(text, NULL), *attributes = NULL;
    if (!code && !json)
        code = zb_fail(err, ZB_ENOMEM, "no memory for a named datatype");
    if (!code)
        code = print_attributes(file->lib, json, tcpl, &attributes, err);
    free(json);
    if (!code)
        code = place ? vol_edit_create_group(place, attributes, out, err)
                     : vol_edit_create_loose_group(file, attributes, out, err);
    free(attributes);
    return code;
}
