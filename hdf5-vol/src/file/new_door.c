/* SPDX-License-Identifier: MIT */
/* Doors that are made: see new_door.h. */
#include "file/new_door.h"

#include "file/find_store.h"
#include "file/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

void vol_new_door_clear(vol_new_door *door) {
    free(door->store);
    *door = (vol_new_door){.store = NULL};
}

/* Also of one that NCO makes under another name. */
static bool has_suffix_of_file(const char *name) {
    static const char *const suffixes[] = {".nc", ".nc4", ".cdf", ".h5", ".hdf5", ".hdf", ".he5"};
    char *place = zb_door_place(name);
    const char *dot = place ? strrchr(place, '.') : NULL;
    bool found = false;
    for (size_t i = 0; dot && i < sizeof suffixes / sizeof *suffixes && !found; i++)
        found = strcasecmp(dot, suffixes[i]) == 0;
    free(place);
    return found;
}

static bool becomes_door(const char *name, const vol_options *options) {
    return !zb_name_is_url(name) && !vol_filename_becomes_zarr(name) &&
           (options->naming == VOL_NAMING_BESIDE ||
            (options->naming == VOL_NAMING_DOOR && has_suffix_of_file(name)));
}

static enum zb_code beside(const char *name, vol_new_door *out, zb_error *err) {
    *out = (vol_new_door){.store = zb_door_beside(name), .is_new = true};
    return out->store ? ZB_OK
                      : zb_fail(err, ZB_ECONFLICT, "no name is free for a store beside '%s'", name);
}

/* A door to nothing leads to where its store is made again. */
static enum zb_code behind(const char *name, const vol_options *options, vol_new_door *out,
                           zb_error *err) {
    zb_door door;
    enum zb_code code = zb_door_read(name, vol_doors_followed(options), &door, err);
    if (!code || (code == ZB_ENOTFOUND && door.store))
        code = door.is_copy ? beside(name, out, err) : vol_door_store(&door, &out->store, err);
    zb_door_clear(&door);
    return code;
}

enum zb_code vol_new_door_find(const char *name, const vol_options *options, bool truncate,
                               vol_new_door *out, zb_error *err) {
    struct stat info;
    const bool is_door = zb_path_is_door(name);
    *out = (vol_new_door){.store = NULL};
    if (!is_door && !becomes_door(name, options))
        return ZB_OK;
    const bool exists = lstat(name, &info) == 0;
    if (exists && !truncate)
        return zb_fail_errno(err, EEXIST, "cannot create '%s'", name);
    if (is_door)
        return behind(name, options, out, err);
    if (exists && info.st_size != 0)
        return zb_fail(err, ZB_ECONFLICT,
                       "'%s' is a file with a content of its own, which a door would replace: "
                       "remove it first, or take another name",
                       name);
    return beside(name, out, err);
}

enum zb_code vol_new_door_make(const char *name, const vol_new_door *door, zb_error *err) {
    const char *slash = door->store ? strrchr(door->store, '/') : NULL;
    return door->store && door->is_new
               ? zb_door_make(name, slash ? slash + 1 : door->store, true, err)
               : ZB_OK;
}
