/* SPDX-License-Identifier: MIT */
/* Groups on the way to new objects: see missing_groups.h. */
#include "tree/missing_groups.h"

#include "tree/side.h"

#include <stdlib.h>
#include <string.h>

vol_missing vol_missing_groups(h5_lib *lib, hid_t lcpl, const char *path,
                               const vol_changes *members) {
    unsigned makes = 0;
    const bool make = path && strchr(path, '/') &&
                      lib->H5Pget_create_intermediate_group(lcpl, &makes) >= 0 && makes != 0;
    return (vol_missing){.make = make, .members = members};
}

/* Writes those of the named members that an object has. */
static void put_some(zb_json_writer *out, const zb_json *object, const char *const *names,
                     size_t count) {
    for (size_t i = 0; i < count; i++) {
        const zb_json *one = zb_json_get(object, names[i]);
        if (one)
            zb_json_write_name(out, names[i]);
        if (one)
            zb_json_write_value(out, one);
    }
}

/* The creation list (create/creation_list.h) of a group on the way, as HDF5 makes it: what all
   objects have is that of the new object's, what only groups have that of the group above. */
static char *list_on_the_way(vol_node *above, const vol_changes *members) {
    static const char *const of_objects[] = {"track_times", "attribute_order", "attribute_phase"};
    static const char *const of_groups[] = {"link_phase", "link_estimates", "heap_hint", "filters"};
    const vol_change *list = members ? vol_side_find(members, ZB_HDF5_CREATION) : NULL;
    zb_json_writer *out = zb_json_writer_new();
    zb_json_begin_object(out);
    if (!members) {
        zb_json_write_name(out, "attribute_order");
        zb_json_write_string(out, "none");
    } else if (list) {
        put_some(out, list->value, of_objects, sizeof of_objects / sizeof *of_objects);
    }
    put_some(out, vol_side_get(above, ZB_HDF5_CREATION), of_groups,
             sizeof of_groups / sizeof *of_groups);
    zb_json_end_object(out);
    return zb_json_writer_end(out, NULL);
}

char *vol_missing_attributes(vol_node *above, const vol_changes *members) {
    vol_changes own = {.count = 0};
    char *list = list_on_the_way(above, members), *text = NULL;
    if (list && strcmp(list, "{}") == 0)
        text = strdup("{}");
    else if (list && vol_side_put(&own, ZB_HDF5_CREATION, list, NULL) == ZB_OK)
        text = vol_side_print_new(&own);
    vol_changes_clear(&own);
    free(list);
    return text;
}
