/* SPDX-License-Identifier: MIT */
/* Archives that are HDF5 files, too: see zb_door_pack. */
#include <stdlib.h>

#include "change/pack.h"
#include "door/image.h"
#include "zarrbridge/door.h"

enum zb_code zb_door_pack(zb_hierarchy *hierarchy, const char *path, zb_error *err) {
    static const zb__door_attribute attributes[] = {
        {"about", "This file is a door. Its data are in the Zarr store in the zip archive behind "
                  "it, in the same file."},
        {"how", "Programs see the store with zarrbridge's plugin for HDF5 and the environment "
                "variable HDF5_VOL_CONNECTOR=zarr, where the name ends in .zip. `zarrbridge "
                "doctor` tells what is missing."},
    };
    zb__text image = {.data = NULL};
    size_t size;
    zb__door_image(&image, attributes, sizeof attributes / sizeof *attributes, 0);
    char *data = zb__text_take(&image, &size);
    const enum zb_code code =
        data ? zb__pack(hierarchy, path,
                        &(zb__zip_front){.data = data, .size = size, .total_at = ZB__DOOR_END_AT},
                        err)
             : zb_fail(err, ZB_ENOMEM, "no memory for a door");
    free(data);
    return code;
}
