/* SPDX-License-Identifier: MIT */
/* Lists of attributes, and HDF5's view of one: see h5_attrs.h. */
#include "h5_attrs.h"

#include "h5_error.h"
#include "h5_type.h"

#include <stdlib.h>
#include <string.h>

/* ---- The list ---- */

void vol_attr_clear(h5_lib *lib, vol_attr *attr) {
    if (attr->type > 0)
        lib->H5Tclose(attr->type);
    if (attr->space > 0)
        lib->H5Sclose(attr->space);
    if (attr->kind == VOL_ATTR_TEXT)
        for (size_t i = 0; i < attr->count; i++)
            free(((char **)attr->data)[i]);
    free(attr->data);
    free(attr->name);
}

void vol_attrs_free(vol_attrs *attrs) {
    if (!attrs)
        return;
    for (size_t i = 0; i < attrs->count; i++)
        vol_attr_clear(attrs->lib, &attrs->attr[i]);
    free(attrs->attr);
    free(attrs->in_order);
    free(attrs->by_name);
    free(attrs);
}

/* A free place: that of an attribute with the same name, or a new one at the end. */
static vol_attr *place_for(vol_attrs *attrs, const char *name) {
    for (size_t i = 0; i < attrs->count; i++) {
        if (strcmp(attrs->attr[i].name, name) == 0) {
            vol_attr_clear(attrs->lib, &attrs->attr[i]);
            return &attrs->attr[i];
        }
    }
    if (attrs->count == attrs->room) {
        size_t room = attrs->room ? 2 * attrs->room : 8;
        vol_attr *grown = realloc(attrs->attr, room * sizeof *grown);
        if (!grown)
            return NULL;
        attrs->attr = grown;
        attrs->room = room;
    }
    return &attrs->attr[attrs->count++];
}

vol_attr *vol_attrs_add(vol_attrs *attrs, const char *name, enum vol_attr_kind kind, size_t count,
                        size_t size) {
    vol_attr *attr = place_for(attrs, name);
    if (!attr)
        return NULL;
    *attr = (vol_attr){.kind = kind, .count = count, .dtype = {.size = (uint32_t)size}};
    if (count != 1) {
        attr->ndim = 1;
        attr->dims[0] = count;
    }
    attr->name = strdup(name);
    attr->data = calloc(count, size);
    if (attr->name && attr->data)
        return attr;
    attr->count = 0;
    if (!attr->name)
        attr->name = strdup("");
    return NULL;
}

/* Few objects have so many that a search tree would pay. */
const vol_attr *vol_attrs_find(const vol_attrs *attrs, const char *name) {
    for (size_t i = 0; i < attrs->count; i++)
        if (strcmp(attrs->attr[i].name, name) == 0)
            return &attrs->attr[i];
    return NULL;
}

/* ---- Making the list ---- */

static int compare_names(const void *a, const void *b) {
    return strcmp((*(vol_attr *const *)a)->name, (*(vol_attr *const *)b)->name);
}

static bool list_attrs(vol_attrs *attrs) {
    attrs->in_order = calloc(attrs->count + 1, sizeof *attrs->in_order);
    attrs->by_name = calloc(attrs->count + 1, sizeof *attrs->by_name);
    if (!attrs->in_order || !attrs->by_name)
        return false;
    for (size_t i = 0; i < attrs->count; i++)
        if (!attrs->attr[i].unlisted)
            attrs->in_order[attrs->listed++] = &attrs->attr[i];
    memcpy(attrs->by_name, attrs->in_order, attrs->listed * sizeof *attrs->by_name);
    qsort(attrs->by_name, attrs->listed, sizeof *attrs->by_name, compare_names);
    return true;
}

/* The document's attributes first, then what is made of other members: these replace namesakes,
   since HDF5 gives their names a meaning. */
static bool fill_attrs(vol_attrs *attrs, const vol_node *node) {
    const zb_json *object = node->zarr ? zb_node_attributes(node->zarr) : NULL;
    const zb_array_info *info = node->zarr ? zb_node_array(node->zarr) : NULL;
    for (const zb_json *value = object ? zb_json_first(object) : NULL; value;
         value = zb_json_next(value))
        if (!vol_attrs_add_json(attrs, value))
            return false;
    const zb_json *fill = info ? zb_json_get(object, "_FillValue") : NULL;
    if (fill && !vol_attrs_add_fill_value(attrs, fill, info->dtype))
        return false;
    return !info || vol_dims_add(attrs, node);
}

/* What the program wrote is of use as long as the document has it. */
static bool is_kept(const vol_attr *attr, const vol_attrs *document) {
    return attr->place == VOL_ATTR_WRITTEN ? vol_attrs_find(document, attr->name) != NULL
                                           : attr->place != VOL_ATTR_STORED;
}

/* Takes what is kept over from the list that is about to go. */
static bool move_kept(vol_attrs *attrs, vol_attrs *old) {
    for (size_t i = 0; old && i < old->count; i++) {
        vol_attr *from = &old->attr[i];
        if (!is_kept(from, attrs))
            continue;
        vol_attr *to = place_for(attrs, from->name);
        if (!to)
            return false;
        *to = *from;
        *from = (vol_attr){.kind = VOL_ATTR_NUMBER};
    }
    return true;
}

/* What hangs together across nodes (dimension scales) may change with any change. */
const vol_attrs *vol_node_attrs(vol_node *node) {
    if (node->attrs && node->attrs_change == node->file->changes)
        return node->attrs;
    vol_attrs *attrs = calloc(1, sizeof *attrs);
    if (attrs)
        attrs->lib = node->file->lib;
    if (attrs && fill_attrs(attrs, node) && move_kept(attrs, node->attrs) && list_attrs(attrs)) {
        vol_attrs_free(node->attrs);
        node->attrs = attrs;
        node->attrs_change = node->file->changes;
        return attrs;
    }
    vol_attrs_free(attrs);
    VOL_PUSH(node->file->lib, ATTR, CANTGET, "no memory for the attributes of '%s'", node->path);
    return NULL;
}

/* The list as it is, made or not: it is only kept for what is kept in it. No number of changes is
   0, so that it is made anew when it is asked for. */
static vol_attrs *kept_attrs(vol_node *node) {
    if (!node->attrs && (node->attrs = calloc(1, sizeof *node->attrs)))
        node->attrs->lib = node->file->lib;
    node->attrs_change = 0;
    return node->attrs;
}

bool vol_node_keep_attr(vol_node *node, vol_attr *attr) {
    vol_attrs *attrs = kept_attrs(node);
    vol_attr *to = attrs ? place_for(attrs, attr->name) : NULL;
    if (to)
        *to = *attr;
    else
        vol_attr_clear(node->file->lib, attr);
    return to != NULL;
}

static vol_attr *find_kept(const vol_node *node, const char *name) {
    vol_attr *attr = NULL;
    for (size_t i = 0; node->attrs && i < node->attrs->count; i++)
        if (strcmp(node->attrs->attr[i].name, name) == 0)
            attr = &node->attrs->attr[i];
    return attr && attr->place != VOL_ATTR_STORED ? attr : NULL;
}

bool vol_node_drop_attr(vol_node *node, const char *name, enum vol_attr_place place) {
    vol_attr *attr = find_kept(node, name);
    if (!attr || attr->place != place)
        return false;
    attr->place = VOL_ATTR_STORED; /* the next list is made without it */
    node->attrs_change = 0;
    return true;
}

bool vol_node_rename_attr(vol_node *node, const char *from, const char *to) {
    vol_attr *attr = find_kept(node, from);
    char *copy = attr ? strdup(to) : NULL;
    if (copy) {
        free(attr->name);
        attr->name = copy;
        node->attrs_change = 0;
    }
    return copy || !attr;
}

const vol_attr *vol_node_unwritten(const vol_node *node, const char *name) {
    for (size_t i = 0; node->attrs && i < node->attrs->count; i++) {
        const vol_attr *attr = &node->attrs->attr[i];
        if (attr->place == VOL_ATTR_UNWRITTEN && (!name || strcmp(attr->name, name) == 0))
            return attr;
    }
    return NULL;
}

bool vol_attr_is_derived(const vol_node *owner, const vol_attr *attr) {
    return attr->place == VOL_ATTR_STORED && owner->zarr &&
           !zb_json_get(zb_node_attributes(owner->zarr), attr->name);
}

/* ---- HDF5's view ---- */

/* The caller closes both. */
hid_t vol_attr_type(h5_lib *lib, const vol_attr *attr) {
    if (attr->type > 0)
        return lib->H5Tcopy(attr->type);
    switch (attr->kind) {
    case VOL_ATTR_NUMBER:
        return vol_type_new(lib, attr->dtype);
    case VOL_ATTR_TEXT:
        return vol_type_text(lib);
    case VOL_ATTR_FIXED:
        return vol_type_fixed_text(lib, attr->dtype.size);
    case VOL_ATTR_BYTES: /* has a type */
    case VOL_ATTR_REFS:
        break;
    }
    return lib->H5Tvlen_create(*lib->H5T_STD_REF_OBJ_g);
}

hid_t vol_attr_space(h5_lib *lib, const vol_attr *attr) {
    if (attr->space > 0)
        return lib->H5Scopy(attr->space);
    if (attr->is_null)
        return lib->H5Screate(H5S_NULL);
    return attr->ndim == 0 ? lib->H5Screate(H5S_SCALAR)
                           : lib->H5Screate_simple((int)attr->ndim, attr->dims, NULL);
}

size_t vol_attr_size(h5_lib *lib, const vol_attr *attr) {
    /* Variable-length elements count as HDF5's own files store them: length, address and index. */
    const size_t reference_size = 16;
    bool varies = attr->kind == VOL_ATTR_TEXT || attr->kind == VOL_ATTR_REFS ||
                  (attr->type > 0 && lib->H5Tis_variable_str(attr->type) > 0);
    return attr->count * (varies ? reference_size : attr->dtype.size);
}
