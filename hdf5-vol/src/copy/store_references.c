/* SPDX-License-Identifier: MIT */
/* References of copies in another store: see store_references.h. */
#include "copy/store_references.h"

#include "attributes/attributes.h"
#include "attributes/elements.h"
#include "attributes/large.h"
#include "attributes/write.h"
#include "copy/nested.h"
#include "copy/pieces.h"
#include "dataset/dataset.h"
#include "hdf5/errors.h"
#include "links/links.h"
#include "tree/side.h"
#include "tree/waiting_store.h"

#include <stdlib.h>
#include <string.h>

/* ---- Elements of datasets ---- */

static bool has_references(vol_node *dataset) {
    hid_t type = vol_node_type(dataset), saved = vol_stack_save(dataset->file->lib);
    vol_form *form = NULL;
    const bool has = vol_form_new(dataset->file, type, &form, NULL) == ZB_OK &&
                     vol_form_has(form, VOL_FORM_REFERENCE);
    vol_form_free(form);
    vol_release_id(dataset->file->lib, type);
    vol_stack_restore(dataset->file->lib, saved);
    return has;
}

static herr_t change_in_data(vol_node *node, const vol_reference_map *map) {
    vol_pieces pieces;
    herr_t result = 0;
    if (node->kind != VOL_DATASET || !vol_node_is_nested(node) || !has_references(node))
        return 0;
    vol_pieces_begin(&pieces, node->zarr);
    void *buffer = pieces.done ? NULL : vol_nested_buffer(&pieces, node);
    if (!pieces.done && !buffer)
        return -1;
    for (; !pieces.done && result >= 0; vol_pieces_next(&pieces))
        result = vol_nested_change(&pieces, node, map, buffer);
    free(buffer);
    return result;
}

/* ---- Attributes ---- */

/* Those of dimension scales are scales/scale_moves.h's; those that are made are no attributes. */
static bool may_refer(const vol_attr *attr) {
    return attr->kind == VOL_ATTR_BYTES && attr->place != VOL_ATTR_STATED && !attr->derived;
}

static herr_t change_in_elements(vol_node *node, const vol_attr *attr, const vol_form *form,
                                 const vol_reference_map *map) {
    size_t size;
    if (vol_large_read(node, attr) < 0)
        return -1;
    unsigned char *bytes = vol_elements_pack(form, attr->count, attr->data, true, &size);
    void *copy = bytes ? vol_elements_unpack(form, attr->count, bytes, size) : NULL;
    free(bytes);
    const size_t count = attr->count; /* the attribute goes when it is stored */
    herr_t result = copy ? -1 : vol_attr_push_no_memory(node->file->lib, attr->name);
    if (copy && vol_elements_references(form, count, copy, map->visit, map->context))
        result = vol_attr_store_elements(node, attr, copy);
    vol_elements_free(form, count, copy);
    return result;
}

static herr_t change_in_attribute(vol_node *node, const char *name, const vol_reference_map *map) {
    h5_lib *lib = node->file->lib;
    vol_attrs *attrs = vol_node_attrs(node);
    const vol_attr *attr = attrs ? vol_attrs_find(attrs, name) : NULL;
    if (!attr || !may_refer(attr) || attr->count == 0)
        return attrs ? 0 : -1;
    vol_form *form = NULL;
    hid_t type = vol_attr_type(lib, attr);
    herr_t result = 0;
    if (vol_form_new(node->file, type, &form, NULL) == ZB_OK &&
        vol_form_has(form, VOL_FORM_REFERENCE))
        result = change_in_elements(node, attr, form, map);
    hid_t saved = vol_stack_save(lib);
    vol_form_free(form);
    vol_stack_restore(lib, saved);
    vol_release_id(lib, type);
    return result;
}

/* The names of the entries that may tell of references, from a copy of the member: storing one
   changes it. */
static herr_t change_in_attributes(vol_node *node, const vol_reference_map *map) {
    zb_hdf5_extension *side;
    zb_error err = {0};
    if (zb_hdf5_extension_of(node->zarr, &side, &err) != ZB_OK) {
        VOL_PUSH_ZB(node->file->lib, SYM, CANTCOPY, &err);
        return -1;
    }
    const zb_json *entry = zb_json_first(zb_hdf5_extension_get(side, ZB_HDF5_ATTRIBUTES));
    herr_t result = 0;
    for (; entry && result >= 0; entry = zb_json_next(entry))
        if (zb_hdf5_refers(entry))
            result = change_in_attribute(node, zb_json_name(entry), map);
    zb_hdf5_extension_free(side);
    return result;
}

/* ---- All ---- */

herr_t vol_references_change(vol_node *node, const vol_reference_map *map) {
    zb_error err = {0};
    if (vol_waiting_flush(node, &err) != ZB_OK) { /* the entries are looked for in the document */
        VOL_PUSH_ZB(node->file->lib, SYM, CANTCOPY, &err);
        return -1;
    }
    return change_in_attributes(node, map) < 0 || change_in_data(node, map) < 0 ? -1 : 0;
}

static herr_t forget_below(vol_node *node) {
    zb_error err = {0};
    if (!node->zarr || node->is_dimension || node->is_unreadable)
        return 0;
    if (vol_references_change(node, &vol_references_null) < 0)
        return -1;
    enum zb_code code = node->kind == VOL_GROUP ? vol_node_list(node, &err) : ZB_OK;
    for (size_t i = 0; i < vol_links_count(node) && !code; i++) {
        vol_link *link = vol_links_at(node, i);
        code = link->named ? ZB_OK : vol_link_open(link, &err);
        if (!code && !link->named && link->node && forget_below(link->node) < 0)
            return -1;
        if (code == ZB_ENOTFOUND) /* another process has deleted it */
            code = ZB_OK;
    }
    if (code)
        VOL_PUSH_ZB(node->file->lib, SYM, CANTCOPY, &err);
    return code ? -1 : 0;
}

herr_t vol_references_copied(const vol_node *node, const vol_place *place) {
    vol_link *link;
    zb_error err = {0};
    if (node->file == place->group->file)
        return 0;
    enum zb_code code = vol_child_find(place->group, place->name, &link, &err);
    if (!code)
        code = vol_link_open(link, &err);
    if (code) {
        VOL_PUSH_ZB(node->file->lib, SYM, CANTCOPY, &err);
        return -1;
    }
    const bool stays = link->node && strcmp(node->path, link->node->path) == 0 &&
                       vol_moved_is_plain(node->file) && vol_moved_is_plain(link->node->file);
    return stays || !link->node ? 0 : forget_below(link->node);
}
