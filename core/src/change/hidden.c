/* SPDX-License-Identifier: MIT */
/* Hidden arrays: their names, opening and deleting them. create.c makes, copy.c copies them. */
#include "change/hidden.h"

#include <stdlib.h>

#include "change/change.h"
#include "hierarchy/markers.h"
#include "hierarchy/path.h"
#include "hierarchy/staged.h"
#include "node/node.h"
#include "zarrbridge/change.h"
#include "zarrbridge/sys/store.h"

enum zb_code zb__hidden_path(const zb_node *owner, const char *name, char **out, zb_error *err) {
    *out = NULL;
    if (!zb__hidden_is_name(name))
        return zb_fail(err, ZB_EINVAL,
                       "the name of a hidden array is " ZB__HIDDEN " and 16 hexadecimal digits");
    char *path = zb__path_join(owner->path, name);
    enum zb_code code =
        path ? zb__path_check(path, err) : zb_fail(err, ZB_ENOMEM, "out of memory for a path");
    if (code)
        free(path);
    else
        *out = path;
    return code;
}

enum zb_code zb_hidden_open(const zb_node *owner, const char *name, zb_node **out, zb_error *err) {
    char *path;
    enum zb_code code = zb__hidden_path(owner, name, &path, err);
    if (!code)
        code = zb_node_open(owner->hierarchy, path, out, err);
    free(path);
    return code;
}

enum zb_code zb_hidden_delete(const zb_node *owner, const char *name, zb_error *err) {
    zb__change change;
    char *path;
    enum zb_code code = zb__hidden_path(owner, name, &path, err);
    if (!code)
        code = zb__change_begin(owner->hierarchy, &change, err);
    if (!code)
        code = zb__change_end(&change, zb__hierarchy_erase_below(owner->hierarchy, path, err), err);
    free(path);
    return code;
}
