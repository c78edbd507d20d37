/* SPDX-License-Identifier: MIT */
/* See references.h. */
#include "copy/references.h"

#include "copy/store_references.h"
#include "hdf5/errors.h"
#include "model/tokens.h"
#include "objects/object.h"

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

herr_t vol_import_references_begin(vol_import_references *out, hid_t source, vol_file *file,
                                   const vol_place *place, unsigned flags) {
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
    VOL_PUSH(lib, SYM, CANTCOPY, "no memory for a path");
    return -1;
}

void vol_import_references_end(vol_import_references *all) {
    all->file->to_come = NULL;
    vol_map_clear(&all->tokens);
    vol_map_clear(&all->to_come);
    vol_map_clear(&all->later);
    for (vol_reference_later *one = all->first, *next; one; one = next) {
        next = one->next;
        free(one->path);
        free(one);
    }
    free(all->node);
    for (size_t i = 0; i < all->count; i++)
        free(all->path[i]);
    free(all->path);
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
    char **more = realloc(all->path, (all->count + 1) * sizeof *more);
    if (more) {
        all->path = more;
        more[all->count++] = path;
    } else {
        free(path);
    }
    return more && vol_map_set(&all->tokens, address, path) &&
           vol_map_set(&all->to_come, vol_token_of_path(path), path);
}

/* The path for an address that is met for the first time: owned by `all`. NULL for no object, for
   one that lies outside (*outside), and after an error, when *good is false. */
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
    if (!one) {
        free(path);
        return false;
    }
    *one = (vol_reference_later){
        .next = all->first, .file = all->now, .address = address, .path = path};
    all->first = one;
    return vol_map_set(&all->later, token, one) && vol_map_set(&all->to_come, token, path);
}

/* The token that stands for an object of the file of `now`; without `make`, 0 where there is none
   yet. */
static bool find_later(vol_import_references *all, uint64_t address, bool make, uint64_t *token) {
    char *path;
    if (asprintf(&path, "%s#%" PRIu64, all->now->path, address) < 0)
        path = NULL;
    const uint64_t found = path ? vol_token_of_path(path) : 0;
    const bool known = path && vol_map_get(&all->later, found) != NULL;
    const bool good = path && (known || !make || add_later(all, address, path));
    if (known || !make)
        free(path);
    if (!good)
        VOL_PUSH(all->lib, SYM, CANTCOPY, "no memory for a reference");
    all->met_later |= known || make;
    *token = known || make ? found : 0;
    return good;
}

herr_t vol_import_references_met(vol_import_references *all, vol_node *node) {
    if (!all->met_later)
        return 0;
    vol_node **more = realloc(all->node, (all->nodes + 1) * sizeof(vol_node *));
    if (!more) {
        VOL_PUSH(all->lib, SYM, CANTCOPY, "no memory for the references of '%s'", node->path);
        return -1;
    }
    all->node = more;
    more[all->nodes++] = node;
    all->met_later = false;
    return 0;
}

/* A vol_reference_visit. */
static bool settle(const vol_form *form, uint64_t *token, void *references) {
    const vol_import_references *all = references;
    const vol_reference_later *later = vol_map_get(&all->later, *token);
    const vol_node *node = later ? vol_map_get(&later->file->by_address, later->address) : NULL;
    (void)form;
    if (node)
        *token = node->token;
    if (node || !later)
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

herr_t vol_import_references_settle(vol_import_references *all) {
    const vol_reference_map map = {.visit = settle, .context = all};
    herr_t result = 0;
    for (size_t i = 0; i < all->nodes && result >= 0; i++)
        result = vol_references_change(all->node[i], &map);
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
    bool good = true, outside = all->now != all->own;
    (void)form;
    *token = 0;
    if (!all->expand && (outside || !stays(all)))
        return true;
    if (!find_later(all, address, outside, token))
        return false;
    if (*token)
        return true;
    const char *path = vol_map_get(&all->tokens, address);
    if (!path)
        path = find_path(all, address, &outside, &good);
    if (path)
        *token = vol_token_of_path(path);
    return outside ? find_later(all, address, true, token) : good;
}
