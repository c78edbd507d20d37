/* SPDX-License-Identifier: MIT */
/* See references.h. */
#include "copy/references.h"

#include "attributes/attributes.h"
#include "attributes/elements.h"
#include "attributes/large.h"
#include "attributes/write.h"
#include "copy/nested.h"
#include "copy/pieces.h"
#include "dataset/dataset.h"
#include "hdf5/errors.h"
#include "links/links.h"
#include "objects/object.h"
#include "objects/tokens.h"
#include "tree/side.h"
#include "waiting/waiting_store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Paths in the HDF5 file ---- */

/* The name of an object there: of the one with an address, or of the source itself (0). NULL when
   there is none. malloc'ed. */
static char *name_of(const vol_import_references *all, uint64_t address) {
    h5_lib *lib = all->lib;
    H5O_token_t token = {{0}};
    size_t length = 0;
    char *name = NULL;
    vol_token_set(&token, address);
    const H5VL_loc_params_t loc = {.obj_type = all->type,
                                   .type = address ? H5VL_OBJECT_BY_TOKEN : H5VL_OBJECT_BY_SELF,
                                   .loc_data.loc_by_token.token = &token};
    H5VL_object_get_args_t args = {.op_type = H5VL_OBJECT_GET_NAME,
                                   .args.get_name = {.name_len = &length}};
    vol_silence silence;
    vol_silence_begin(lib, &silence);
    if (lib->H5VLobject_get(all->source, &loc, lib->native, &args, all->dxpl, NULL) >= 0 &&
        length > 0)
        name = calloc(1, length + 1);
    args.args.get_name.buf = name;
    args.args.get_name.buf_size = length + 1;
    if (name && lib->H5VLobject_get(all->source, &loc, lib->native, &args, all->dxpl, NULL) < 0) {
        free(name);
        name = NULL;
    }
    vol_silence_end(lib, &silence);
    return name;
}

/* The rest of a path that is `above` or lies below it: "" or "/...". NULL for others. */
static const char *rest_below(const char *path, const char *above) {
    const size_t length = strcmp(above, "/") == 0 ? 0 : strlen(above);
    if (strncmp(path, above, length) != 0 || (path[length] != '/' && path[length] != '\0'))
        return NULL;
    return strcmp(path, "/") == 0 ? "" : path + length;
}

/* ---- Into the store ---- */

herr_t vol_import_references_begin(vol_import_references *out, hid_t source, const vol_place *place,
                                   unsigned flags) {
    vol_file *file = place->group->file;
    h5_lib *lib = file->lib;
    const char *group = strcmp(place->group->path, "/") == 0 ? "" : place->group->path;
    *out = (vol_import_references){.lib = lib,
                                   .source = lib->H5VLobject(source),
                                   .type = lib->H5Iget_type(source),
                                   .dxpl = *lib->H5P_LST_DATASET_XFER_ID_g,
                                   .file = file,
                                   .expand = flags & H5O_COPY_EXPAND_REFERENCE_FLAG};
    if (out->source)
        out->from = name_of(out, 0);
    if (asprintf(&out->to, "%s/%s", group, place->name) < 0)
        out->to = NULL;
    if (out->to) {
        file->to_come = &out->to_come;
        return 0;
    }
    return VOL_PUSH(lib, SYM, CANTCOPY, "no memory for a path");
}

void vol_import_references_end(vol_import_references *all) {
    all->file->to_come = NULL;
    for (size_t i = 0; i < all->tokens.capacity; i++)
        free(all->tokens.entry[i].value);
    for (size_t i = 0; i < all->later.capacity; i++) {
        vol_reference_later *one = all->later.entry[i].value;
        if (one)
            free(one->path);
        free(one);
    }
    vol_map_clear(&all->tokens);
    vol_map_clear(&all->to_come);
    vol_map_clear(&all->later);
    free(all->from);
    free(all->to);
}

/* Whether what is copied keeps its path. */
static bool stays(const vol_import_references *all) {
    return all->from && strcmp(all->from, all->to) == 0;
}

/* The path in the store for one in the HDF5 file; malloc'ed. NULL for one that is not copied. */
static char *translate(const vol_import_references *all, const char *path) {
    const char *rest = all->from ? rest_below(path, all->from) : NULL;
    char *made = NULL;
    if (!rest)
        return all->expand ? NULL : strdup(path);
    return asprintf(&made, "%s%s", all->to, rest) < 0 ? NULL : made;
}

/* Takes the path over. */
static bool remember(vol_import_references *all, uint64_t address, char *path) {
    if (vol_map_set(&all->tokens, address, path))
        return vol_map_set(&all->to_come, vol_token_of_path(path), path);
    free(path);
    return false;
}

/* The path for an address that is met for the first time: owned by `all`. NULL for no object, for
   one outside of what is copied (*outside), and after an error, when *good is false. */
static const char *find_path(vol_import_references *all, uint64_t address, bool *outside,
                             bool *good) {
    char *name = all->source ? name_of(all, address) : NULL;
    char *path = name ? translate(all, name) : NULL;
    *outside = !path && (name || all->expand);
    if (path && !remember(all, address, path)) {
        VOL_PUSH(all->lib, SYM, CANTCOPY, "no memory for a reference");
        *good = false;
    }
    free(name);
    return *good ? path : NULL;
}

/* ---- Objects that have no copy yet ---- */

/* Takes the path over. */
static bool add_later(vol_import_references *all, uint64_t address, char *path) {
    const uint64_t token = vol_token_of_path(path);
    vol_reference_later *one = malloc(sizeof *one);
    if (one)
        *one = (vol_reference_later){.file = all->now, .address = address, .path = path};
    if (one && vol_map_set(&all->later, token, one))
        return vol_map_set(&all->to_come, token, path);
    free(one);
    free(path);
    return false;
}

/* The path that stands for an object of the file of `now`; malloc'ed. NULL with an error pushed. */
static char *path_of_later(const vol_import_references *all, uint64_t address) {
    char *path;
    if (asprintf(&path, "%s#%" PRIu64, all->now->path, address) >= 0)
        return path;
    VOL_PUSH(all->lib, SYM, CANTCOPY, "no memory for a reference");
    return NULL;
}

/* The token of that path, if the path stands for the object already; else 0. */
static bool find_later(const vol_import_references *all, uint64_t address, uint64_t *token) {
    char *path = path_of_later(all, address);
    if (!path)
        return false;
    const uint64_t found = vol_token_of_path(path);
    *token = vol_map_get(&all->later, found) ? found : 0;
    free(path);
    return true;
}

/* The token of that path, which stands for the object from now on. */
static bool make_later(vol_import_references *all, uint64_t address, uint64_t *token) {
    if (!find_later(all, address, token))
        return false;
    all->met_later = true;
    if (*token)
        return true;
    char *path = path_of_later(all, address);
    if (!path)
        return false;
    *token = vol_token_of_path(path);
    if (add_later(all, address, path))
        return true;
    VOL_PUSH(all->lib, SYM, CANTCOPY, "no memory for a reference");
    return false;
}

void vol_import_references_met(vol_import_references *all, vol_copied *copied) {
    copied->refers_later = all->met_later;
    all->met_later = false;
}

/* A vol_reference_visit. */
static bool settle(const vol_form *form, uint64_t *token, void *references) {
    const vol_import_references *all = references;
    const vol_reference_later *later = vol_map_get(&all->later, *token);
    const vol_copied *copied = later ? vol_map_get(&later->file->by_address, later->address) : NULL;
    (void)form;
    if (copied)
        *token = copied->copy->token;
    if (copied || !later)
        return true;
    char *name = later->file == all->own && all->source ? name_of(all, later->address) : NULL;
    VOL_PUSH(all->lib, SYM, CANTCOPY,
             "a reference in what is copied from '%s' leads to %s%s%s, which is not copied: copy a "
             "group that holds both",
             later->file->path, name ? "'" : "", name ? name : "an object elsewhere",
             name ? "'" : "");
    free(name);
    return false;
}

herr_t vol_import_references_settle(vol_import_references *all, const vol_copied *first) {
    const vol_reference_map map = {.visit = settle, .context = all};
    herr_t result = 0;
    for (const vol_copied *one = first; one && result >= 0; one = one->next)
        if (one->refers_later)
            result = vol_references_change(one->copy, &map);
    return result;
}

/* ---- All ---- */

void vol_import_references_of(vol_import_references *all, const vol_imported_file *file) {
    if (!all->own)
        all->own = file;
    all->now = file;
}

bool vol_import_reference(const vol_form *form, uint64_t *token, void *references) {
    vol_import_references *all = references;
    const uint64_t address = *token;
    const bool in_other_file = all->now != all->own;
    bool good = true, outside = false;
    (void)form;
    *token = 0;
    if (!all->expand && (in_other_file || !stays(all)))
        return true;
    if (in_other_file)
        return make_later(all, address, token);
    if (!find_later(all, address, token))
        return false;
    if (*token) { /* a link that is expanded may bring it */
        all->met_later = true;
        return true;
    }
    const char *path = vol_map_get(&all->tokens, address);
    if (!path)
        path = find_path(all, address, &outside, &good);
    if (path)
        *token = vol_token_of_path(path);
    return outside ? make_later(all, address, token) : good;
}

/* ---- In one node, and in copies of another store ---- */

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
    if (vol_large_read(node, attr) < 0)
        return -1;
    void *copy = vol_elements_copy(form, attr->count, attr->data);
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
    if (zb_hdf5_extension_of(node->zarr, &side, &err) != ZB_OK)
        return VOL_PUSH_ZB(node->file->lib, SYM, CANTCOPY, &err);
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
    if (vol_waiting_flush(node, &err) != ZB_OK) /* the entries are looked for in the document */
        return VOL_PUSH_ZB(node->file->lib, SYM, CANTCOPY, &err);
    return change_in_attributes(node, map) < 0 || change_in_data(node, map) < 0 ? -1 : 0;
}
