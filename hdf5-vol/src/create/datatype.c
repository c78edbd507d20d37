/* SPDX-License-Identifier: MIT */
/* See datatype.h. */
#include "create/datatype.h"

#include "hdf5/type_json.h"
#include "model/side.h"

#include <stdlib.h>

/* The attributes of the group; malloc'ed, NULL without memory. */
static char *print_attributes(const char *type) {
    vol_changes members = {.count = 0};
    char *side = vol_changes_set(&members, VOL_SIDE_DATATYPE, type, NULL) == ZB_OK
                     ? vol_side_print_new(&members)
                     : NULL;
    vol_changes_clear(&members);
    zb_json_writer *out = side ? zb_json_writer_new() : NULL;
    zb_json_begin_object(out);
    zb_json_write_name(out, VOL_SIDE);
    zb_json_write_raw(out, side ? side : "null");
    zb_json_end_object(out);
    free(side);
    return zb_json_writer_end(out, NULL);
}

enum zb_code vol_datatype_make(vol_file *file, hid_t type, const vol_place *place, vol_node **out,
                               zb_error *err) {
    zb_json_writer *text = zb_json_writer_new();
    enum zb_code code = vol_type_print(file->lib, type, text, err);
    char *json = zb_json_writer_end(text, NULL);
    char *attributes = !code && json ? print_attributes(json) : NULL;
    free(json);
    if (!code && !attributes)
        code = zb_fail(err, ZB_ENOMEM, "no memory for a named datatype");
    if (!code)
        code = place ? vol_edit_create_group(place, attributes, out, err)
                     : vol_edit_create_loose_group(file, attributes, out, err);
    free(attributes);
    return code;
}
