/* SPDX-License-Identifier: MIT */
/* Open attributes: see ids.h. */
#include "attributes/ids.h"

#include "hdf5/errors.h"

#include <stdlib.h>
#include <string.h>

vol_object *vol_attr_ids_open(vol_handle *handle, vol_node *owner, const char *name, size_t count) {
    vol_object *object = vol_object_new(handle, owner, H5I_ATTR);
    if (!object)
        return NULL;
    object->attr = strdup(name);
    object->attr_count = count;
    if (object->attr)
        return object;
    VOL_PUSH(object->lib, ATTR, CANTOPENOBJ, "no memory to open attribute '%s'", name);
    vol_object_free(object);
    return NULL;
}

static bool is_id_of(const vol_object *object, const char *name) {
    return !object->attr_deleted && object->attr && strcmp(object->attr, name) == 0;
}

bool vol_attr_ids_others(const vol_object *object) {
    const vol_object *other = vol_node_attr_ids(object->node);
    while (other && (other == object || !is_id_of(other, object->attr)))
        other = other->next_attr;
    return other != NULL;
}

const vol_attr *vol_attr_ids_get(const vol_object *object) {
    h5_lib *lib = object->lib;
    const vol_attrs *attrs = vol_node_attrs(object->node);
    const vol_attr *attr =
        attrs && !object->attr_deleted ? vol_attrs_find(attrs, object->attr) : NULL;
    if (attrs && !attr)
        VOL_PUSH(lib, ATTR, NOTFOUND, "attribute '%s' has been deleted", object->attr);
    if (!attr || attr->count == object->attr_count)
        return attr;
    VOL_PUSH(lib, ATTR, BADVALUE,
             "attribute '%s' had %zu elements when it was opened and has %zu now: open it again",
             object->attr, object->attr_count, attr->count);
    return NULL;
}

/* Without memory for the name, an id is of no use any more. */
void vol_attr_ids_rename(vol_node *owner, const char *from, const char *to) {
    for (vol_object *object = vol_node_attr_ids(owner); object; object = object->next_attr) {
        if (!is_id_of(object, from))
            continue;
        char *copy = strdup(to);
        object->attr_deleted = !copy;
        if (copy) {
            free(object->attr);
            object->attr = copy;
        }
    }
}

void vol_attr_ids_orphan(vol_node *owner, const char *name) {
    for (vol_object *object = vol_node_attr_ids(owner); object; object = object->next_attr)
        if (is_id_of(object, name))
            object->attr_deleted = true;
}
