/* SPDX-License-Identifier: MIT */
/* Attributes that have been created, and not written yet: see write.h. */
#include "attributes/write.h"

#include "attributes/ids.h"
#include "file/owners.h"
#include "links/links.h"

/* The value is zeros, as HDF5 would show it. */
herr_t vol_attr_store_unwritten(vol_node *owner, const char *name) {
    const vol_attr *attr = vol_node_unwritten(owner, name);
    return attr ? vol_attr_store_elements(owner, attr, NULL) : 0;
}

/* Stores the attributes of a node until one fails, and those of other nodes all the same. */
herr_t vol_attr_store_unwritten_below(vol_node *node) {
    herr_t result = 0;
    while (result >= 0 && vol_node_unwritten(node, NULL))
        result = vol_attr_store_unwritten(node, NULL);
    for (size_t i = 0; i < vol_links_count(node); i++) {
        vol_node *child = vol_links_at(node, i)->node;
        if (child && vol_attr_store_unwritten_below(child) < 0)
            result = -1;
    }
    return result;
}

void vol_attr_abandon_unwritten_below(vol_node *node, vol_owners handles) {
    const vol_attr *attr;
    while (vol_owners_alone(node, handles) && (attr = vol_node_unwritten(node, NULL))) {
        vol_attr_ids_orphan(node, attr->name);
        vol_node_drop_attr(node, attr->name, VOL_ATTR_UNWRITTEN);
    }
    for (size_t i = 0; i < vol_links_count(node); i++)
        if (vol_links_at(node, i)->node)
            vol_attr_abandon_unwritten_below(vol_links_at(node, i)->node, handles);
}
