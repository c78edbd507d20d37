/* SPDX-License-Identifier: MIT */
/* Names of committed datatypes: see committed_paths.h. */
#include "objects/committed_paths.h"

#include "attributes/attribute_list.h"
#include "links/links.h"
#include "objects/paths.h"
#include "tree/side.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum zb_code fail_memory(zb_error *err) {
    return zb_fail(err, ZB_ENOMEM, "no memory for the name of a committed datatype");
}

/* How names change. *out is malloc'ed; NULL for one that stays. What `convert` needs to know
   follows behind this in a struct of its own. */
typedef struct conversion {
    enum zb_code (*convert)(const struct conversion *self, const char *old, char **out,
                            zb_error *err);
} conversion;

/* old: NULL where there is none. */
static enum zb_code convert(const conversion *how, const char *old, char **out, zb_error *err) {
    *out = NULL;
    return old ? how->convert(how, old, out, err) : ZB_OK;
}

static char *as_json(const char *text) {
    zb_json_writer *out = zb_json_writer_new();
    zb_json_write_string(out, text);
    return zb_json_writer_end(out, NULL);
}

/* ---- Datasets ---- */

static enum zb_code change_dataset(vol_node *node, const conversion *how, zb_error *err) {
    char *text;
    if (node->kind != VOL_DATASET)
        return ZB_OK;
    enum zb_code code = convert(how, zb_json_string(vol_side_get(node, ZB_HDF5_NAMED)), &text, err);
    if (code || !text)
        return code;
    char *json = as_json(text);
    code = json ? vol_side_set(node, ZB_HDF5_NAMED, json, err) : fail_memory(err);
    free(json);
    free(text);
    return code;
}

/* ---- Attributes ---- */

static enum zb_code store_entry(vol_node *node, const char *attribute, const char *name,
                                zb_error *err) {
    const zb_json *entry = vol_side_entry(node, attribute);
    if (!zb_hdf5_entry_named(entry))
        return ZB_OK;
    char *json = zb_hdf5_entry_rename(entry, name);
    enum zb_code code = json ? vol_side_set_entry(node, attribute, json, err) : fail_memory(err);
    free(json);
    return code;
}

static enum zb_code change_entry(vol_node *node, const char *attribute, const conversion *how,
                                 zb_error *err) {
    char *text;
    enum zb_code code = convert(
        how, zb_json_string(zb_hdf5_entry_named(vol_side_entry(node, attribute))), &text, err);
    if (!code && text)
        code = store_entry(node, attribute, text, err);
    free(text);
    return code;
}

static vol_attr *in_list(const vol_node *node, const char *name) {
    const vol_attrs *list = vol_node_attrs_now(node);
    vol_attr *attr = list ? vol_attrs_find(list, name) : NULL;
    return attr && attr->committed ? attr : NULL;
}

/* In the list, and in the store where it has been stored. Takes the name over. */
static enum zb_code set_in_list(vol_node *node, vol_attr *attr, char *name, zb_error *err) {
    free(attr->committed);
    attr->committed = name;
    return store_entry(node, attr->name, name, err);
}

/* Each one once: a new name may be one that would become another, too. Those that are in the list
   may have been made by this process, and not be stored. */
static enum zb_code change_attributes(vol_node *node, const conversion *how, zb_error *err) {
    enum zb_code code = ZB_OK;
    const zb_json *entry = zb_json_first(vol_side_entries(node));
    for (; entry && !code; entry = zb_json_next(entry))
        if (!in_list(node, zb_json_name(entry)))
            code = change_entry(node, zb_json_name(entry), how, err);
    const vol_attrs *list = vol_node_attrs_now(node);
    for (size_t i = 0; list && i < list->count && !code; i++) {
        vol_attr *attr = &list->attr[i];
        char *name = NULL;
        if (attr->name)
            code = convert(how, attr->committed, &name, err);
        if (!code && name)
            code = set_in_list(node, attr, name, err);
    }
    return code;
}

/* ---- Nodes ---- */

static enum zb_code change_node(vol_node *node, const conversion *how, zb_error *err) {
    if (!node->zarr || node->is_dimension || node->is_unreadable)
        return ZB_OK;
    enum zb_code code = change_dataset(node, how, err);
    return code ? code : change_attributes(node, how, err);
}

static enum zb_code change_known(vol_node *node, const conversion *how, zb_error *err) {
    enum zb_code code = change_node(node, how, err);
    size_t at = 0;
    for (vol_node *child; !code && (child = vol_links_opened(node, &at));)
        code = change_known(child, how, err);
    return code;
}

/* ---- A type's first path ---- */

typedef struct renaming {
    conversion how; /* the first member */
    const char *from, *to;
} renaming;

static enum zb_code to_name(const conversion *how, const char *old, char **out, zb_error *err) {
    const renaming *self = (const renaming *)how;
    if (strcmp(old, self->from) != 0)
        return ZB_OK;
    *out = strdup(self->to);
    return *out ? ZB_OK : fail_memory(err);
}

enum zb_code vol_committed_paths_change(vol_node *node, const char *from, const char *to,
                                        zb_error *err) {
    const renaming job = {.how = {to_name}, .from = from, .to = to};
    return change_known(node, &job.how, err);
}

/* ---- Copies ---- */

typedef struct copying {
    conversion how; /* the first member */
    const vol_copies *copies;
    vol_file *to;
} copying;

/* The stand-in of a type that has no path is no name. */
static enum zb_code to_copy(const conversion *how, const char *old, char **out, zb_error *err) {
    const copying *self = (const copying *)how;
    const vol_copies *copies = self->copies;
    vol_file *from = copies->top->file;
    zb_error why = {0};
    char *path = *old == ':' ? NULL : vol_moved_path(from, old, &why);
    const vol_node *type = path ? vol_node_find(from->root, path, NULL) : NULL;
    const vol_node *copy = type ? copies->copy_of(copies->context, type) : NULL;
    free(path);
    if (why.code && err)
        *err = why;
    return why.code || !copy || copy->kind != VOL_DATATYPE
               ? why.code
               : vol_moved_refer(self->to, copy->path, true, out, err);
}

enum zb_code vol_committed_paths_copied(const vol_copies *copies, vol_node *copy, zb_error *err) {
    const copying job = {.how = {to_copy}, .copies = copies, .to = copy->file};
    return change_node(copy, &job.how, err);
}
