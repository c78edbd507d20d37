/* SPDX-License-Identifier: MIT */
/* Renaming and removing attributes: see write.h. */
#include "attributes/write.h"

#include "attributes/attribute_list.h"
#include "attributes/attributes.h"
#include "attributes/edit_attributes.h"
#include "hdf5/errors.h"
#include "scales/scale_attributes.h"
#include "tree/side.h"
#include "tree/waiting.h"

#include <stdlib.h>
#include <string.h>

static herr_t rename_in_document(vol_node *owner, const char *from, const char *to) {
    h5_lib *lib = owner->file->lib;
    const zb_json *value = vol_attribute(owner, from), *entry = vol_side_entry(owner, from);
    zb_error err = {0};
    if (!value) {
        VOL_PUSH(lib, ATTR, UNSUPPORTED,
                 "attribute '%s' stands for names of dimensions and cannot be renamed", from);
        return -1;
    }
    char *text = zb_json_print(value), *side = entry ? zb_json_print(entry) : NULL;
    enum zb_code code = text && (side || !entry) ? vol_edit_attribute(owner, to, text, side, &err)
                                                 : zb_fail(&err, ZB_ENOMEM, "no memory for it");
    if (!code)
        code = vol_edit_attribute(owner, from, NULL, NULL, &err);
    free(text);
    free(side);
    return code ? vol_attr_push_failed(lib, "rename", from, &err) : 0;
}

/* The new name goes to the end of the document. */
herr_t vol_attr_rename(vol_node *owner, const char *from, const char *to) {
    h5_lib *lib = owner->file->lib;
    zb_error err = {0};
    const vol_attrs *attrs = vol_node_attrs(owner);
    if (!attrs)
        return -1;
    if (!vol_attrs_find(attrs, from)) {
        VOL_PUSH(lib, ATTR, NOTFOUND, "can't locate attribute: '%s'", from);
        return -1;
    }
    if (strcmp(from, to) == 0)
        return 0;
    if (vol_attrs_find(attrs, to)) {
        VOL_PUSH(lib, ATTR, EXISTS, "attribute '%s' exists already", to);
        return -1;
    }
    if (vol_attr_check_name(to, &err) != ZB_OK)
        return vol_attr_push_failed(lib, "rename", from, &err);
    const uint64_t known = vol_node_attrs_change(owner);
    if (!vol_node_unwritten(owner, from) && rename_in_document(owner, from, to) < 0)
        return -1;
    vol_attr_ids_rename(owner, from, to);
    if (!vol_node_rename_attr(owner, from, to))
        return vol_attr_push_no_memory(lib, to);
    if (vol_node_attr_is_alone(owner, from) && vol_node_attr_is_alone(owner, to))
        vol_node_attrs_as_before(owner, known);
    return 0;
}

static herr_t remove_from_document(vol_node *owner, const char *name) {
    h5_lib *lib = owner->file->lib;
    zb_error err = {0};
    bool handled;
    if (vol_scale_remove(owner, name, &handled) < 0)
        return -1;
    if (handled)
        return 0;
    enum zb_code code = vol_edit_attribute(owner, name, NULL, NULL, &err);
    if (code == ZB_ENOTFOUND) {
        VOL_PUSH(lib, ATTR, NOTFOUND, "can't locate attribute: '%s'", name);
        return -1;
    }
    if (code)
        return vol_attr_push_failed(lib, "delete", name, &err);
    vol_node_drop_attr(owner, name, VOL_ATTR_WRITTEN);
    return 0;
}

herr_t vol_attr_remove(vol_node *owner, const char *name) {
    const uint64_t known = vol_node_attrs_change(owner);
    if (!vol_node_drop_attr(owner, name, VOL_ATTR_UNWRITTEN) &&
        remove_from_document(owner, name) < 0)
        return -1;
    vol_waiting_get(owner); /* so that the number is kept that has gone (attribute_order.h) */
    vol_attr_ids_orphan(owner, name);
    vol_attrs *list = vol_node_attrs_now(owner);
    if (list && vol_node_attr_is_alone(owner, name)) {
        vol_attrs_remove(list, name);
        vol_node_attrs_as_before(owner, known);
    }
    return 0;
}
