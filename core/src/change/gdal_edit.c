/* SPDX-License-Identifier: MIT */
/* Changes of the GDAL extension of a node that exists. */
#include <stdlib.h>
#include <string.h>

#include "zarrbridge/node_edit.h"

static enum zb_code no_memory(zb_error *err) {
    return zb_fail(err, ZB_ENOMEM, "no memory for the attribute " ZB_GDAL_EXTENSION);
}

/* False when memory runs out. *changes is true if the member will be another one. */
static bool compare(const zb_json *now, const char *value, bool *changes) {
    char *text = now ? zb_json_print(now) : NULL;
    *changes = !text != !value || (text && strcmp(text, value) != 0);
    free(text);
    return text || !now;
}

static enum zb_code change_any(const zb_gdal_extension *now, const zb_gdal_change *changes,
                               size_t count, bool *any, zb_error *err) {
    *any = false;
    for (size_t i = 0; i < count && !*any; i++)
        if (!compare(zb_gdal_extension_get(now, changes[i].member), changes[i].value, any))
            return no_memory(err);
    return ZB_OK;
}

/* The attribute as it becomes, and those of earlier versions, which go. */
static enum zb_code add_edits(const zb_json *attributes, char *value, zb_node_edits *out,
                              zb_error *err) {
    enum zb_code code = zb_node_edits_remake(out, attributes, ZB_GDAL_EXTENSION, value, err);
    for (unsigned i = 0; i < ZB_GDAL_MEMBERS && !code; i++) {
        const char *name = zb_gdal_former_name((enum zb_gdal_member)i);
        if (name && zb_json_get(attributes, name) &&
            !zb_node_edits_add(out, (zb_attribute_edit){.name = name}))
            code = no_memory(err);
    }
    return code;
}

enum zb_code zb_gdal_edit(const zb_node *now, const zb_gdal_change *changes, size_t count,
                          zb_node_edits *out, zb_error *err) {
    const zb_json *attributes = zb_node_attributes(now);
    zb_gdal_extension *extension;
    char *value = NULL;
    bool any = false;
    enum zb_code code = zb_gdal_extension_parse(attributes, &extension, err);
    if (!code)
        code = change_any(extension, changes, count, &any, err);
    if (!code && any)
        code = zb_gdal_extension_change(extension, changes, count, &value, err);
    if (!code && any)
        code = add_edits(attributes, value, out, err);
    zb_gdal_extension_free(extension);
    return code;
}
