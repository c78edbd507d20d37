/* SPDX-License-Identifier: MIT */
/* Hidden arrays that no attribute names: see unnamed.h. */
#include "check/unnamed.h"

#include <stdlib.h>
#include <string.h>

#include "hierarchy/notes.h"
#include "hierarchy/path.h"
#include "node/node.h"
#include "node/open.h"
#include "zarrbridge/json.h"

/* Anywhere in the attributes: what is not sure counts as named. */
static enum zb_code find(const zb_json *attributes, const char *name, bool *found, zb_error *err) {
    *found = false;
    if (!attributes)
        return ZB_OK;
    char *text = zb_json_print(attributes);
    if (!text)
        return zb_fail(err, ZB_ENOMEM, "no memory for attributes");
    *found = strstr(text, name) != NULL;
    free(text);
    return ZB_OK;
}

enum zb_code zb__unnamed_is(zb_hierarchy *hierarchy, const zb_node *node, bool *is, zb_error *err) {
    const char *name = zb__path_name(node->path);
    zb_error reason = {.code = ZB_OK};
    zb_node *owner = NULL;
    bool found;
    *is = false;
    if (!node->array || !zb__hidden_is_name(name))
        return ZB_OK;
    const size_t length = (size_t)(name - node->path);
    char *path = strndup(node->path, length > 0 ? length - 1 : 0);
    enum zb_code code = path ? zb__node_open_own(hierarchy, path, &owner, &reason) : ZB_ENOMEM;
    free(path);
    if (code)
        return code == ZB_ENOMEM ? zb_fail(err, code, "no memory for a path") : ZB_OK;
    code = find(zb_node_attributes(owner), name, &found, err);
    *is = !code && !found;
    zb_node_release(owner);
    return code;
}
