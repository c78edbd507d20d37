/* SPDX-License-Identifier: MIT */
#include "dataset/unreadable.h"

#include "tree/tree.h"

#include "zarrbridge/change.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ATTRIBUTE "zarr:unreadable"

static char *attributes_of(const char *reason) {
    zb_json_writer *w = zb_json_writer_new();
    zb_json_begin_object(w);
    zb_json_write_name(w, ATTRIBUTE);
    zb_json_write_string(w, reason);
    zb_json_end_object(w);
    return zb_json_writer_end(w, NULL);
}

/* The element is the fill value: no chunk is stored. */
enum zb_code vol_unreadable_new(const char *reason, zb_node **out, zb_error *err) {
    zb_hierarchy *hierarchy;
    char *attributes = attributes_of(reason), *text = NULL;
    if (!attributes || asprintf(&text, "cannot be read: %s", reason) < 0) {
        free(attributes);
        return zb_fail(err, ZB_ENOMEM, "no memory for a node that cannot be read");
    }
    const zb_array_spec spec = {.dtype = {.kind = ZB_KIND_RAW, .size = (uint32_t)strlen(text) + 1},
                                .fill_value = text,
                                .codecs = "[]",
                                .attributes = attributes};
    enum zb_code code = zb_hierarchy_new_mem("(a node that cannot be read)", &hierarchy, err);
    if (!code) {
        code = zb_array_create(hierarchy, "", &spec, out, err);
        zb_hierarchy_release(hierarchy);
    }
    free(attributes);
    free(text);
    return code;
}

static const char *reason_of(const vol_node *node) {
    return zb_json_string(zb_json_get(zb_node_attributes(node->zarr), ATTRIBUTE));
}

enum zb_code vol_unreadable_refuse(const vol_node *node, zb_error *err) {
    return node->is_unreadable ? zb_fail(err, ZB_EUNSUPPORTED, "%s", reason_of(node)) : ZB_OK;
}

enum zb_code vol_unreadable_refuse_copy(const vol_node *node, zb_error *err) {
    if (!node->is_unreadable || node->file->options.unreadable == VOL_UNREADABLE_TEXT)
        return ZB_OK;
    return zb_fail(
        err, ZB_EUNSUPPORTED,
        "'%s' cannot be read, and a copy would have a text in its place (the connector's "
        "option unreadable=text allows that): %s",
        node->path, reason_of(node));
}
