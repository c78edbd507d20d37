/* SPDX-License-Identifier: MIT */
#include "change/copy_marker.h"

#include <stdlib.h>

#include "change/put.h"
#include "hierarchy/markers.h"
#include "hierarchy/path.h"
#include "hierarchy/staged.h"
#include "node/walk.h"

static char *key_at(const char *path, zb_error *err) {
    char *key = zb__path_join(path, ZB__MARKER_COPY);
    if (!key)
        zb_fail(err, ZB_ENOMEM, "out of memory for a key");
    return key;
}

enum zb_code zb__copy_marker_find(zb_hierarchy *hierarchy, const char *path, bool *out,
                                  zb_error *err) {
    zb_object_info info;
    char *key = key_at(path, err);
    if (!key)
        return ZB_ENOMEM;
    enum zb_code code = zb_store_stat(zb__place_of(hierarchy, key), key, &info, err);
    free(key);
    *out = code == ZB_OK;
    return code == ZB_ENOTFOUND ? ZB_OK : code;
}

enum zb_code zb__copy_marker(zb_hierarchy *hierarchy, const char *path, bool put, zb_error *err) {
    char *key = key_at(path, err);
    if (!key)
        return ZB_ENOMEM;
    enum zb_code code = put ? zb__document_put(hierarchy, key, "", 0, err)
                            : zb__hierarchy_erase(hierarchy, key, err);
    free(key);
    return code;
}

static enum zb_code refuse(void *context, const char *key, zb_error *err) {
    (void)context;
    return zb__object_is_ours(zb__path_name(key))
               ? ZB_OK
               : zb_fail(err, ZB_ECONFLICT,
                         "'%s' is there already and belongs to no node: choose another place, or "
                         "remove what is at this one",
                         key);
}

enum zb_code zb__place_refuse_others(zb_hierarchy *hierarchy, const char *path, zb_error *err) {
    zb_object_info info;
    bool is_marked = false;
    enum zb_code code = zb__copy_marker_find(hierarchy, path, &is_marked, err);
    if (code || is_marked)
        return code;
    if (*path && zb_store_stat(zb__place_of(hierarchy, path), path, &info, NULL) == ZB_OK)
        return refuse(NULL, path, err);
    return zb__keys_below(hierarchy, path, NULL, refuse, NULL, err);
}
