/* SPDX-License-Identifier: MIT */
/* Attributes that have been created, and not written yet: see write.h. */
#include "attributes/write.h"

#include "attributes/ids.h"
#include "hdf5/errors.h"
#include "model/links.h"

#include <stdlib.h>
#include <string.h>

/* The value is zeros, as HDF5 would show it. */
herr_t vol_attr_store_unwritten(vol_node *owner, const char *name) {
    h5_lib *lib = owner->file->lib;
    const vol_attr *attr = vol_node_unwritten(owner, name);
    void *zeros = NULL;
    if (!attr)
        return 0;
    hid_t type = vol_attr_type(lib, attr), space = vol_attr_space(lib, attr);
    char *copy = strdup(attr->name); /* attr goes when it is stored */
    char *named = attr->named ? strdup(attr->named) : NULL;
    herr_t result = -1;
    if (copy && type >= 0 && space >= 0 && vol_attr_zeros(lib, type, space, &zeros) >= 0) {
        const vol_attr_value value = {.name = copy,
                                      .type = type,
                                      .space = space,
                                      .dxpl = *lib->H5P_LST_DATASET_XFER_ID_g,
                                      .data = zeros,
                                      .named = named,
                                      .is_utf8 = attr->is_utf8};
        result = vol_attr_store(owner, &value, type);
    }
    vol_release_id(lib, type);
    vol_release_id(lib, space);
    free(zeros);
    free(named);
    free(copy);
    return result;
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

void vol_attr_abandon_unwritten_below(vol_node *node) {
    const vol_attr *attr;
    while ((attr = vol_node_unwritten(node, NULL))) {
        vol_attr_ids_orphan(node, attr->name);
        vol_node_drop_attr(node, attr->name, VOL_ATTR_UNWRITTEN);
    }
    for (size_t i = 0; i < vol_links_count(node); i++)
        if (vol_links_at(node, i)->node)
            vol_attr_abandon_unwritten_below(vol_links_at(node, i)->node);
}
