/* SPDX-License-Identifier: MIT */
/* See references.h. */
#include "copy/references.h"

#include "hdf5/errors.h"
#include "model/tokens.h"
#include "objects/object.h"

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
    for (size_t i = 0; i < all->count; i++)
        free(all->path[i]);
    free(all->path);
    free(all->from);
    free(all->to);
}

static bool push_outside(const vol_import_references *all, const char *path) {
    VOL_PUSH(all->lib, SYM, CANTCOPY,
             "a reference in what is copied leads to '%s', which is not copied: copy a group that "
             "holds both",
             path ? path : "an object without a name");
    return false;
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

/* The path for an address that is met for the first time: owned by `all`. *good is false after an
   error; without one NULL stands for no object. */
static const char *find_path(vol_import_references *all, uint64_t address, bool *good) {
    char *name = all->source ? name_of(all, address) : NULL;
    char *path = name ? translate(all, name) : NULL;
    *good = path || (!name && !all->expand) || push_outside(all, name);
    if (path && !remember(all, address, path)) {
        VOL_PUSH(all->lib, SYM, CANTCOPY, "no memory for a reference");
        *good = false;
    }
    free(name);
    return *good ? path : NULL;
}

void vol_import_references_of(vol_import_references *all, const vol_imported_file *file) {
    if (!all->own)
        all->own = file;
    all->now = file;
}

/* In a file that an external link leads to. */
static bool find_copied(const vol_import_references *all, uint64_t address, uint64_t *token) {
    const vol_node *node = vol_map_get(&all->now->by_address, address);
    if (node)
        *token = node->token;
    else
        VOL_PUSH(all->lib, SYM, CANTCOPY,
                 "a reference in '%s', which an external link leads to, leads to an object that "
                 "has not been copied before: copy from that file itself",
                 all->now->path);
    return node != NULL;
}

bool vol_import_reference(const vol_form *form, uint64_t *token, void *references) {
    vol_import_references *all = references;
    const uint64_t address = *token;
    bool good = true;
    (void)form;
    *token = 0;
    if (!all->expand && (all->now != all->own || !stays(all)))
        return true;
    if (all->now != all->own)
        return find_copied(all, address, token);
    const char *path = vol_map_get(&all->tokens, address);
    if (!path)
        path = find_path(all, address, &good);
    if (path)
        *token = vol_token_of_path(path);
    return good;
}
