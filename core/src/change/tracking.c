/* SPDX-License-Identifier: MIT */
/* Documents of groups that keep track of nodes: see tracking.h. */
#include "change/tracking.h"

#include <stdlib.h>

#include "change/put.h"
#include "change/write_back.h"
#include "node/document.h"
#include "node/node.h"

static const char *const in_attributes[] = {"attributes", NULL};

enum zb_code zb__tracking_load(const zb__document *document, zb__tracking *out, zb_error *err) {
    const zb_json *attributes = zb_json_get(document->json, "attributes");
    out->moved = NULL;
    enum zb_code code =
        zb_hdf5_extension_parse(zb_json_get(attributes, ZB_HDF5_EXTENSION), &out->extension, err);
    if (!code)
        code =
            zb_moved_parse(zb_hdf5_extension_get(out->extension, ZB_HDF5_MOVED), &out->moved, err);
    return code;
}

void zb__tracking_free(zb__tracking *group) {
    zb_moved_free(group->moved);
    zb_hdf5_extension_free(group->extension);
}

enum zb_code zb__tracking_set_value(zb__document *document, char *value, zb_error *err) {
    enum zb_code code =
        zb__document_replace(document, in_attributes, ZB_HDF5_EXTENSION, value, err);
    free(value);
    return code ? code : zb__node_check_size(document->text, document->size, document->json, err);
}

enum zb_code zb__tracking_set(zb__document *document, const zb__tracking *group, zb_error *err) {
    char *value;
    enum zb_code code = zb__moved_put(group->extension, group->moved, &value, err);
    return code ? code : zb__tracking_set_value(document, value, err);
}

static enum zb_code settle(zb_hierarchy *hierarchy, const char *path, zb__document *document,
                           zb_error *err) {
    zb__tracking group;
    bool is_settled = false;
    enum zb_code code = zb__tracking_load(document, &group, err);
    if (!code)
        code = zb__moved_look(hierarchy, path, group.extension, group.moved, &is_settled, err);
    if (!code && is_settled)
        code = zb__tracking_set(document, &group, err);
    zb__tracking_free(&group);
    if (code || !is_settled)
        return code;
    zb__write_back_put(hierarchy, path);
    return zb__node_put(hierarchy, path, document->text, document->size, err);
}

enum zb_code zb__tracking_settle(zb_hierarchy *hierarchy, const char *path, zb_error *err) {
    zb__document document;
    enum zb_code code = zb__node_outline(hierarchy, path, &document, err);
    if (code)
        return code;
    code = settle(hierarchy, path, &document, err);
    zb__document_free(&document);
    return code;
}
