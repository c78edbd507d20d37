/* SPDX-License-Identifier: MIT */
/* Single nodes: see node.h. */
#include "model/node.h"

#include "hdf5/element.h"
#include "hdf5/errors.h"
#include "hdf5/held_types.h"
#include "hdf5/shown.h"
#include "hdf5/type_json.h"
#include "hdf5/types.h"
#include "model/aliases.h"
#include "model/attribute_list.h"
#include "model/dimension_uses.h"
#include "model/links.h"
#include "model/named_links.h"
#include "model/side.h"
#include "model/stored_chunks.h"
#include "model/stored_names.h"
#include "model/tree.h"
#include "model/waiting.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

hid_t vol_node_datatype(vol_node *node) {
    const zb_json *json = vol_side_get(node, VOL_SIDE_DATATYPE);
    return json ? vol_type_parse(node->file->lib, json) : -1;
}

static bool is_datatype(vol_node *node) {
    hid_t type = node->kind == VOL_GROUP ? vol_node_datatype(node) : -1;
    vol_release_id(node->file->lib, type);
    return type >= 0;
}

enum zb_code vol_node_new(vol_file *file, zb_node *zarr, vol_node **out, zb_error *err) {
    const uint64_t limit = zb_limits_get()->open_nodes;
    if (file->node_count >= limit) {
        zb_node_release(zarr);
        return zb_fail(err, ZB_ELIMIT, "%s needs more than %llu nodes at once (limit open_nodes)",
                       file->shown, (unsigned long long)limit);
    }
    vol_node *node = calloc(1, sizeof *node);
    if (!node) {
        zb_node_release(zarr);
        return zb_fail(err, ZB_ENOMEM, "no memory for a node");
    }
    file->node_count++;
    node->file = file;
    node->zarr = zarr;
    node->kind = zarr && zb_node_array(zarr) ? VOL_DATASET : VOL_GROUP;
    if (zarr && is_datatype(node))
        node->kind = VOL_DATATYPE;
    *out = node;
    return ZB_OK;
}

/* Ids that other rooms have stored in the node. */
static void close_ids(vol_node *node) {
    h5_lib *lib = node->file->lib;
    vol_held_free(&node->type);
    if (node->dcpl > 0)
        lib->H5Pclose(node->dcpl);
    node->dcpl = 0;
    if (node->element)
        vol_element_clear(node->element);
    else
        vol_shown_free(node->shown);
    free(node->element);
    node->element = NULL;
    node->shown = (zb_dtype){.size = 0};
}

/* Depth first; recursion is bounded by the length of a path. */
void vol_node_free(vol_node *node) {
    if (!node)
        return;
    for (size_t i = 0; i < vol_links_count(node); i++)
        vol_node_free(vol_links_at(node, i)->node);
    vol_links_clear(node); /* named links are in both lists */
    vol_named_forget(node);
    vol_alias_free_names(node);
    vol_uses_free(node->uses);
    node->file->node_count--;
    close_ids(node);
    vol_attrs_free(node->attrs);
    vol_side_forget(node);
    vol_waiting_forget(node);
    zb_writer_abandon(node->writer);
    zb_node_release(node->zarr);
    zb_store_release(node->own_store);
    vol_node_forget_stored_chunks(node);
    free(node->max_shape);
    free(node->told);
    free(node->path);
    free(node);
}

/* In a file that is only read no node changes its place, so that the counts above stay right. In
   others each node counts its own pins, and forget.c looks below. */
static void add_pins(vol_node *node, size_t more) {
    for (; node; node = node->file->writable ? NULL : node->parent)
        node->pins += more;
}

void vol_node_pin(vol_node *node) {
    add_pins(node, 1);
}

void vol_node_unpin(vol_node *node) {
    add_pins(node, (size_t)-1);
}

enum zb_code vol_node_each_below(vol_node *node, enum zb_code (*act)(vol_node *, zb_error *),
                                 zb_error *err) {
    enum zb_code first = act(node, err);
    for (size_t i = 0; i < vol_links_count(node); i++) {
        zb_error other;
        vol_node *child = vol_links_at(node, i)->node;
        enum zb_code code = child ? vol_node_each_below(child, act, first ? &other : err) : ZB_OK;
        first = first ? first : code;
    }
    return first;
}

/* ---- Paths ---- */

bool vol_node_set_path(vol_node *node, const vol_node *parent, const char *name) {
    const bool below_root = !parent || !parent->parent;
    char *path = NULL;
    if (asprintf(&path, "%s/%s", below_root ? "" : parent->path, name) < 0)
        return false;
    free(node->path);
    node->path = path;
    node->name = strrchr(path, '/') + 1;
    return true;
}

/* The core's nodes know where they are; a synthetic root stands for its only child's place. */
enum zb_code vol_node_child_path(const vol_node *group, const char *name, char **out,
                                 zb_error *err) {
    const char *above = group->zarr ? zb_node_path(group->zarr) : "";
    char *stored = vol_name_stored(name);
    const bool good = stored && asprintf(out, "%s%s%s", above, *above ? "/" : "", stored) >= 0;
    free(stored);
    if (good)
        return ZB_OK;
    *out = NULL;
    return zb_fail(err, ZB_ENOMEM, "no memory for the path of %s", name);
}

/* ---- Changes ---- */

static bool is_alike(const vol_node *node, const zb_node *zarr) {
    const zb_array_info *old = zb_node_array(node->zarr), *now = zb_node_array(zarr);
    return (now != NULL) == (old != NULL) && (!now || now->ndim == old->ndim);
}

static bool is_same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Attributes of other nodes are made of these, too. */
static bool has_same_dimensions(const zb_array_info *a, const zb_array_info *b) {
    if (!a || !b)
        return a == b;
    if (!a->dimension_names != !b->dimension_names)
        return false;
    for (uint32_t d = 0; d < a->ndim; d++)
        if (a->shape[d] != b->shape[d] ||
            (a->dimension_names && !is_same_text(a->dimension_names[d], b->dimension_names[d])))
            return false;
    return true;
}

bool vol_node_replace(vol_node *node, zb_node *zarr) {
    if (!is_alike(node, zarr)) {
        zb_node_release(zarr);
        return false;
    }
    if (!has_same_dimensions(zb_node_array(node->zarr), zb_node_array(zarr)))
        node->file->changes++;
    close_ids(node); /* names of fields are the old document's */
    vol_side_forget(node);
    zb_node_release(node->zarr);
    node->zarr = zarr;
    node->document_bytes = 0;
    return true;
}

static bool is_utf8(const vol_node *dataset) {
    const zb_json *encoding = zb_json_get(zb_node_attributes(dataset->zarr), VOL_ENCODING);
    const char *text = zb_json_string(encoding);
    return text && strcasecmp(text, VOL_ENCODING_UTF8) == 0;
}

/* The type that HDF5 programs gave the dataset. The attribute may come from anywhere, and the array
   may have been made anew since. */
static void take_own_type(vol_node *dataset) {
    h5_lib *lib = dataset->file->lib;
    const zb_json *json = dataset->is_unreadable ? NULL : vol_side_get(dataset, VOL_SIDE_TYPE);
    vol_element *element = json ? calloc(1, sizeof *element) : NULL;
    hid_t type = element ? vol_type_parse(lib, json) : -1;
    const bool counts = type >= 0 && vol_element_make(lib, type, element, NULL) == ZB_OK &&
                        vol_element_fits(element, zb_node_array(dataset->zarr)->dtype) &&
                        vol_type_hold(lib, type, &dataset->type);
    vol_release_id(lib, type);
    if (counts) {
        dataset->element = element;
        dataset->shown = element->view;
        return;
    }
    if (element)
        vol_element_clear(element);
    free(element);
}

zb_dtype vol_node_shown(vol_node *dataset) {
    zb_dtype shown;
    if (dataset->shown.size == 0)
        take_own_type(dataset);
    if (dataset->shown.size == 0 && vol_shown_new(zb_node_array(dataset->zarr)->dtype, &shown)) {
        if (is_utf8(dataset))
            vol_shown_as_utf8(&shown);
        dataset->shown = shown;
    }
    return dataset->shown;
}

bool vol_node_has_own_type(vol_node *dataset) {
    return vol_node_shown(dataset).size > 0 && dataset->element;
}

bool vol_node_is_nested(vol_node *dataset) {
    return vol_node_has_own_type(dataset) && dataset->element->nested;
}

/* A reason may name a path, which is UTF-8. */
static hid_t reason_type(h5_lib *lib, size_t size) {
    hid_t type = vol_type_fixed_text(lib, size);
    if (type >= 0)
        lib->H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

const vol_held_type *vol_node_held_type(vol_node *dataset) {
    h5_lib *lib = dataset->file->lib;
    const zb_dtype shown = vol_node_shown(dataset);
    if (!dataset->type.bytes && shown.size > 0) {
        hid_t type =
            dataset->is_unreadable ? reason_type(lib, shown.size) : vol_type_new(lib, shown);
        vol_type_hold(lib, type, &dataset->type);
        vol_release_id(lib, type);
    }
    return &dataset->type;
}

hid_t vol_node_type(vol_node *dataset) {
    return vol_held_new(dataset->file->lib, vol_node_held_type(dataset));
}

bool vol_node_is_null(vol_node *dataset) {
    const zb_array_info *info = zb_node_array(dataset->zarr);
    if (info->ndim != 1 || info->shape[0] != 0 || dataset->is_unreadable)
        return false;
    const char *space = zb_json_string(vol_side_get(dataset, VOL_SIDE_SPACE));
    return space && strcmp(space, "null") == 0;
}

/* Zarr keeps no largest shape: an array that was not made just now shows as fixed, though it can be
   resized. */
void vol_node_tell_shape(vol_node *dataset) {
    const zb_array_info *info = zb_node_array(dataset->zarr);
    if (!dataset->told)
        dataset->told = calloc(info->ndim + 1, sizeof *dataset->told);
    if (dataset->told && info->ndim > 0)
        memcpy(dataset->told, info->shape, info->ndim * sizeof *info->shape);
}

bool vol_node_shape_is_told(const vol_node *dataset) {
    const zb_array_info *info = zb_node_array(dataset->zarr);
    return dataset->told && (info->ndim == 0 || memcmp(dataset->told, info->shape,
                                                       info->ndim * sizeof *info->shape) == 0);
}
