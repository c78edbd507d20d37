/* SPDX-License-Identifier: MIT */
/* What a name leads to: see find_store.h. */
#include "file/find_store.h"

#include "file/names.h"
#include "zarrbridge/conventions.h"

#include <stdio.h>
#include <stdlib.h>

enum zb_doors vol_doors_followed(const vol_options *options) {
    return options->any_door ? ZB_DOORS_ANY : ZB_DOORS_OWN;
}

/* The name by which the connector opens what a door leads to: any URL speaks for a store here. */
static char *name_of_store(const zb_door *door) {
    char *prefixed = NULL;
    if (!zb_name_is_url(door->store) || zb_url_is_zarr(door->store))
        return vol_filename_plain(door->store);
    return asprintf(&prefixed, "zarr:%s", door->store) < 0 ? NULL : prefixed;
}

enum zb_code vol_door_store(const zb_door *door, char **store, zb_error *err) {
    *store = name_of_store(door);
    return *store ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for a path");
}

enum zb_code vol_filename_follow(const char *name, const vol_options *options, bool writes,
                                 char **store, zb_error *err) {
    zb_door door;
    *store = vol_filename_plain(name);
    if (!*store)
        return zb_fail(err, ZB_ENOMEM, "no memory for a path");
    if (vol_filename_is_zarr(*store))
        return ZB_OK;
    free(*store);
    *store = NULL;
    if (!zb_path_is_door(name))
        return ZB_OK;
    enum zb_code code = zb_door_read(name, vol_doors_followed(options), &door, err);
    if (!code && writes && door.is_copy)
        code = zb_door_own(name, &door, err);
    if (!code)
        code = vol_door_store(&door, store, err);
    if (!code && !vol_filename_is_zarr(*store))
        code = zb_fail(err, ZB_EFORMAT, "the door '%s' leads to '%s', which is no Zarr store", name,
                       door.store);
    zb_door_clear(&door);
    return code;
}

bool vol_filename_leads(const char *name) {
    return vol_filename_is_zarr(name) || zb_path_is_door(name);
}
