/* SPDX-License-Identifier: MIT */
#include "change/put.h"

#include <stdlib.h>

#include "hierarchy/path.h"
#include "hierarchy/staged.h"
#include "node/node.h"
#include "zarrbridge/change.h"

/* put: with the key, the parts, and what is special. */
static enum zb_code put_as(zb_hierarchy *hierarchy, zb_put put, zb_error *err) {
    put.sync = zb__hierarchy_sync(hierarchy);
    put.in_order = true;
    return zb__hierarchy_put(hierarchy, &put, err);
}

enum zb_code zb__document_put(zb_hierarchy *hierarchy, const char *key, const void *data,
                              size_t size, zb_error *err) {
    const zb_part part = {.data = data, .size = size};
    return put_as(hierarchy, (zb_put){.key = key, .parts = &part, .count = 1}, err);
}

static enum zb_code put_node(zb_hierarchy *hierarchy, const char *path, zb_put put, zb_error *err) {
    char *key = zb__path_join(path, "zarr.json");
    if (!key)
        return zb_fail(err, ZB_ENOMEM, "out of memory for a key");
    put.key = key;
    enum zb_code code = put_as(hierarchy, put, err);
    free(key);
    return code ? zb__node_add_context(hierarchy, "node", path, code, err) : ZB_OK;
}

enum zb_code zb__node_put(zb_hierarchy *hierarchy, const char *path, const char *text, size_t size,
                          zb_error *err) {
    const zb_part part = {.data = text, .size = size};
    return zb__node_put_parts(hierarchy, path, &part, 1, err);
}

enum zb_code zb__node_put_parts(zb_hierarchy *hierarchy, const char *path, const zb_part *parts,
                                size_t count, zb_error *err) {
    return put_node(hierarchy, path, (zb_put){.parts = parts, .count = count}, err);
}

enum zb_code zb__node_put_first(zb_hierarchy *hierarchy, const char *path, const char *text,
                                size_t size, zb_error *err) {
    const zb_part part = {.data = text, .size = size};
    return put_node(hierarchy, path,
                    (zb_put){.parts = &part, .count = 1, .expected = ZB_EXPECT_NOTHING}, err);
}

enum zb_code zb__node_put_new(zb_hierarchy *hierarchy, const char *path, const char *text,
                              size_t size, zb_error *err) {
    const zb_part part = {.data = text, .size = size};
    return put_node(hierarchy, path,
                    (zb_put){.parts = &part, .count = 1, .expected = ZB_EXPECT_FREE}, err);
}
