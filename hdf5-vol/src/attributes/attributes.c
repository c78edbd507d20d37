/* SPDX-License-Identifier: MIT */
/* Lists of attributes, and HDF5's view of one: see attributes.h. */
#include "attributes/attributes.h"

#include "hdf5/errors.h"
#include "hdf5/types.h"
#include "model/tokens.h"

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
    free(attrs->slot);
    free(attrs->in_order);
    free(attrs->by_name);
    free(attrs);
}

/* ---- Finding by name ---- */

/* Where the name is in the table, or would be: from its hash on, before the first place that is
   free. Half of the table is, at the least. */
static size_t *slot_of(const vol_attrs *attrs, const char *name) {
    size_t i = (size_t)vol_hash(VOL_HASH_START, name, strlen(name));
    for (;; i++) {
        size_t *slot = &attrs->slot[i & (attrs->slots - 1)];
        if (*slot == 0 || strcmp(attrs->attr[*slot - 1].name, name) == 0)
            return slot;
    }
}

/* Fills the empty table. */
static void index_names(vol_attrs *attrs) {
    for (size_t i = 0; i < attrs->count; i++)
        *slot_of(attrs, attrs->attr[i].name) = i + 1;
}

static vol_attr *find(const vol_attrs *attrs, const char *name) {
    size_t at = attrs->slots ? *slot_of(attrs, name) : 0;
    return at ? &attrs->attr[at - 1] : NULL;
}

const vol_attr *vol_attrs_find(const vol_attrs *attrs, const char *name) {
    return find(attrs, name);
}

/* ---- Adding ---- */

/* Makes room for `more` attributes. False when memory runs out; the list is as it was then. */
static bool make_room(vol_attrs *attrs, size_t more) {
    size_t room = attrs->room ? attrs->room : 8;
    while (room < attrs->count + more)
        room *= 2;
    if (room == attrs->room)
        return true;
    size_t *slot = calloc(4 * room, sizeof *slot);
    vol_attr *grown = slot ? realloc(attrs->attr, room * sizeof *grown) : NULL;
    if (!grown) {
        free(slot);
        return false;
    }
    free(attrs->slot);
    attrs->attr = grown;
    attrs->room = room;
    attrs->slot = slot;
    attrs->slots = 4 * room;
    index_names(attrs);
    return true;
}

/* A free place: that of an attribute with the same name, or a new one at the end. The caller puts
   one of that name there. */
static vol_attr *place_for(vol_attrs *attrs, const char *name) {
    vol_attr *there = find(attrs, name);
    if (there) {
        vol_attr_clear(attrs->lib, there);
        return there;
    }
    if (!make_room(attrs, 1))
        return NULL;
    *slot_of(attrs, name) = ++attrs->count;
    return &attrs->attr[attrs->count - 1];
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

/* ---- Making the list ---- */

static int compare_names(const void *a, const void *b) {
    return strcmp((*(vol_attr *const *)a)->name, (*(vol_attr *const *)b)->name);
}

/* Lists what is there, in lists that have room for it. */
static void list_attrs(vol_attrs *attrs) {
    for (size_t i = 0; i < attrs->count; i++)
        if (!attrs->attr[i].unlisted)
            attrs->in_order[attrs->listed++] = &attrs->attr[i];
    memcpy(attrs->by_name, attrs->in_order, attrs->listed * sizeof *attrs->by_name);
    qsort(attrs->by_name, attrs->listed, sizeof *attrs->by_name, compare_names);
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

/* Room for those of the old list as well: what cannot be made must leave that one whole. */
static bool reserve(vol_attrs *attrs, const vol_attrs *old) {
    size_t most = attrs->count + (old ? old->count : 0);
    attrs->in_order = calloc(most + 1, sizeof *attrs->in_order);
    attrs->by_name = calloc(most + 1, sizeof *attrs->by_name);
    return attrs->in_order && attrs->by_name && make_room(attrs, most - attrs->count);
}

/* Takes what is kept over from the list that is about to go; there is room. */
static void move_kept(vol_attrs *attrs, vol_attrs *old) {
    for (size_t i = 0; old && i < old->count; i++) {
        vol_attr *from = &old->attr[i];
        if (!is_kept(from, attrs))
            continue;
        *place_for(attrs, from->name) = *from;
        *from = (vol_attr){.kind = VOL_ATTR_NUMBER};
    }
}

/* What hangs together across nodes (dimension scales) may change with any change. */
const vol_attrs *vol_node_attrs(vol_node *node) {
    if (node->attrs && node->attrs_change == node->file->changes)
        return node->attrs;
    vol_attrs *attrs = calloc(1, sizeof *attrs);
    if (attrs)
        attrs->lib = node->file->lib;
    if (attrs && fill_attrs(attrs, node) && reserve(attrs, node->attrs)) {
        move_kept(attrs, node->attrs);
        list_attrs(attrs);
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
    vol_attr *attr = node->attrs ? find(node->attrs, name) : NULL;
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
        memset(node->attrs->slot, 0, node->attrs->slots * sizeof *node->attrs->slot);
        index_names(node->attrs);
        node->attrs_change = 0;
    }
    return copy || !attr;
}

const vol_attr *vol_node_unwritten(const vol_node *node, const char *name) {
    const vol_attr *attr = name ? find_kept(node, name) : NULL;
    if (name)
        return attr && attr->place == VOL_ATTR_UNWRITTEN ? attr : NULL;
    for (size_t i = 0; node->attrs && i < node->attrs->count; i++)
        if (node->attrs->attr[i].place == VOL_ATTR_UNWRITTEN)
            return &node->attrs->attr[i];
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
