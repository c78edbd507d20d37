/* SPDX-License-Identifier: MIT */
/* Links as values: see links.h. */
#include "copy/links.h"

#include "copy/imported.h"
#include "file/linked_file.h"
#include "hdf5/errors.h"
#include "links/aliases.h"
#include "links/edit_links.h"

#include <stdlib.h>
#include <string.h>

bool vol_link_value_of(vol_link *link, vol_link_value *out) {
    const bool is_external = link && link->kind == VOL_LINK_EXTERNAL;
    const bool is_soft = link && (link->kind == VOL_LINK_SOFT ||
                                  (link->kind == VOL_LINK_ALIAS && vol_alias_is_lost(link)));
    if ((!is_external && !is_soft) || !link->target)
        return false;
    *out = (vol_link_value){.type = is_external ? H5L_TYPE_EXTERNAL : H5L_TYPE_SOFT,
                            .target = link->target,
                            .file = link->external};
    return true;
}

/* A byte with version and flags, 0 as yet, and two texts, each with its NUL. */
bool vol_link_unpack(const void *packed, size_t size, vol_link_value *out) {
    const char *bytes = packed, *end = size > 0 ? bytes + size : bytes;
    const char *nul = size > 1 && bytes[0] == 0 ? memchr(bytes + 1, 0, size - 1) : NULL;
    if (!nul || !memchr(nul + 1, 0, (size_t)(end - nul - 1)))
        return false;
    *out = (vol_link_value){.type = H5L_TYPE_EXTERNAL, .file = bytes + 1, .target = nul + 1};
    return true;
}

char *vol_link_pack(const vol_link_value *value, size_t *size) {
    const size_t file = strlen(value->file) + 1, target = strlen(value->target) + 1;
    char *packed = malloc(1 + file + target);
    *size = 1 + file + target;
    if (!packed)
        return NULL;
    packed[0] = 0;
    memcpy(packed + 1, value->file, file);
    memcpy(packed + 1 + file, value->target, target);
    return packed;
}

herr_t vol_link_make(const vol_object *at, const H5VL_loc_params_t *loc, hid_t lcpl,
                     const vol_link_value *value) {
    h5_lib *lib = at->lib;
    vol_place place;
    zb_error err = {0};
    if (!vol_may_change(at, "create a link") || !vol_locate_place(at, loc, lcpl, &place))
        return -1;
    enum zb_code code = value->file
                            ? vol_edit_create_external(&place, value->file, value->target, &err)
                            : vol_edit_create_soft(&place, value->target, &err);
    vol_place_clear(&place);
    return code ? vol_push_making(lib, *lib->H5E_CANTCREATE_g, &err) : 0;
}

herr_t vol_link_make_native(h5_lib *lib, void *at, const H5VL_loc_params_t *loc, hid_t lcpl,
                            hid_t dxpl, const vol_link_value *value) {
    H5VL_link_create_args_t args = {.op_type = H5VL_LINK_CREATE_SOFT,
                                    .args.soft.target = value->target};
    char *packed = NULL;
    size_t size;
    if (value->file) {
        packed = vol_link_pack(value, &size);
        if (!packed)
            return -1;
        args = (H5VL_link_create_args_t){
            .op_type = H5VL_LINK_CREATE_UD,
            .args.ud = {.type = H5L_TYPE_EXTERNAL, .buf = packed, .buf_size = size}};
    }
    herr_t result = lib->H5VLlink_create(&args, at, loc, lib->native, lcpl,
                                         *lib->H5P_LST_LINK_ACCESS_ID_g, dxpl, NULL);
    free(packed);
    return result;
}

/* ---- H5Lcopy ---- */

static herr_t refuse_hard(h5_lib *lib) {
    return VOL_PUSH(
        lib, SYM, UNSUPPORTED,
        "a hard link cannot be copied into another file: copy the object (H5Ocopy) instead");
}

/* The link of a native file; *text is malloc'ed. */
static herr_t read_native(const vol_object *source, const H5VL_loc_params_t *loc, hid_t dxpl,
                          vol_link_value *out, char **text) {
    h5_lib *lib = source->lib;
    H5L_info2_t info;
    H5VL_link_get_args_t get = {.op_type = H5VL_LINK_GET_INFO, .args.get_info.linfo = &info};
    *text = NULL;
    if (lib->H5VLlink_get(source->under, loc, lib->native, &get, dxpl, NULL) < 0)
        return -1;
    if (info.type == H5L_TYPE_HARD)
        return refuse_hard(lib);
    if (info.type != H5L_TYPE_SOFT && info.type != H5L_TYPE_EXTERNAL)
        return vol_refuse(lib, "a user-defined link");
    *text = calloc(1, info.u.val_size + 1);
    get = (H5VL_link_get_args_t){.op_type = H5VL_LINK_GET_VAL,
                                 .args.get_val = {.buf_size = info.u.val_size, .buf = *text}};
    if (!*text || lib->H5VLlink_get(source->under, loc, lib->native, &get, dxpl, NULL) < 0)
        return -1;
    *out = (vol_link_value){.type = info.type, .target = *text};
    if (info.type == H5L_TYPE_EXTERNAL && !vol_link_unpack(*text, info.u.val_size, out))
        return vol_refuse(lib, "an external link of another form");
    return 0;
}

/* Within one store: a hard link gets another name. */
static herr_t copy_inside(const vol_object *target, const H5VL_loc_params_t *loc, hid_t lcpl,
                          vol_found *found) {
    h5_lib *lib = target->lib;
    vol_place place;
    zb_error err = {0};
    if (!vol_may_change(target, "create a link") || !vol_locate_place(target, loc, lcpl, &place))
        return -1;
    enum zb_code code = vol_edit_copy_link(found->link, &place, &err);
    vol_place_clear(&place);
    return code ? vol_push_making(lib, *lib->H5E_CANTCREATE_g, &err) : 0;
}

herr_t vol_link_copy_across(const vol_object *source, const H5VL_loc_params_t *source_loc,
                            const vol_object *target, const H5VL_loc_params_t *target_loc,
                            hid_t lcpl, hid_t dxpl) {
    vol_link_value value;
    vol_found found;
    char *text = NULL;
    if (!source->under &&
        !(vol_locate_link(source, source_loc, &found) && vol_found_link(source, &found)))
        return -1;
    if (!source->under && !target->under && source->file == target->file)
        return copy_inside(target, target_loc, lcpl, &found);
    herr_t result = source->under ? read_native(source, source_loc, dxpl, &value, &text)
                    : vol_link_value_of(found.link, &value) ? 0
                                                            : refuse_hard(source->lib);
    if (result >= 0)
        result = target->under ? vol_link_make_native(target->lib, target->under, target_loc, lcpl,
                                                      dxpl, &value)
                               : vol_link_make(target, target_loc, lcpl, &value);
    free(text);
    return result;
}

/* ---- Links that lead nowhere ---- */

static bool link_dangles(h5_lib *lib, hid_t group, const char *name, int left);

/* Goes one part of a path on: *at becomes the object there, which is owned; -1 where there is none
   or none can be opened. Whether the path ends there because it dangles. */
static bool step(h5_lib *lib, hid_t *at, const char *part, int left) {
    const hid_t from = *at;
    const htri_t there =
        lib->H5Iget_type(from) == H5I_GROUP ? lib->H5Lexists(from, part, H5P_DEFAULT) : 0;
    *at = there > 0 ? lib->H5Oopen(from, part, H5P_DEFAULT) : -1;
    const bool dangles =
        there == 0 || (there > 0 && *at < 0 && link_dangles(lib, from, part, left));
    lib->H5Idec_ref(from);
    return dangles;
}

/* The object `at` is where the path begins: in its file, where the path begins so. */
static bool path_dangles(h5_lib *lib, hid_t at, const char *path, int left) {
    char *copy = strdup(path), *rest = copy, *part;
    bool dangles = false;
    hid_t now = path[0] == '/' ? lib->H5Oopen(at, "/", H5P_DEFAULT) : at;
    if (now == at && lib->H5Iinc_ref(at) < 0)
        now = -1;
    while (now >= 0 && (part = strsep(&rest, "/")))
        if (*part && strcmp(part, ".") != 0)
            dangles = step(lib, &now, part, left);
    if (now >= 0)
        lib->H5Idec_ref(now);
    free(copy);
    return dangles;
}

/* As the file of the group was opened, but for reading alone. */
static hid_t open_file(h5_lib *lib, hid_t group, const char *path) {
    hid_t own = lib->H5Iget_file_id(group), list = lib->H5Fget_access_plist(own);
    hid_t file = list < 0 ? -1 : lib->H5Fopen(path, 0, list);
    if (list >= 0)
        lib->H5Pclose(list);
    if (own >= 0)
        lib->H5Idec_ref(own);
    return file;
}

static bool external_dangles(h5_lib *lib, hid_t group, const vol_link_value *value, int left) {
    char *holder = vol_filename_of(lib, group);
    char *path =
        holder ? vol_linked_file_perhaps("HDF5_EXT_PREFIX", NULL, holder, value->file) : NULL;
    bool dangles = holder && !path;
    hid_t file = path ? open_file(lib, group, path) : -1;
    hid_t root = file < 0 ? -1 : lib->H5Oopen(file, "/", H5P_DEFAULT);
    if (root >= 0) {
        dangles = path_dangles(lib, root, value->target, left);
        lib->H5Idec_ref(root);
    }
    if (file >= 0)
        lib->H5Idec_ref(file);
    free(path);
    free(holder);
    return dangles;
}

/* left: of the links that may be followed. */
static bool link_dangles(h5_lib *lib, hid_t group, const char *name, int left) {
    H5L_info2_t info;
    vol_link_value value;
    if (left == 0 || lib->H5Lget_info2(group, name, &info, H5P_DEFAULT) < 0 ||
        (info.type != H5L_TYPE_SOFT && info.type != H5L_TYPE_EXTERNAL))
        return false;
    const size_t size = info.u.val_size;
    char *text = calloc(1, size + 1);
    bool dangles = false;
    if (text && lib->H5Lget_val(group, name, text, size, H5P_DEFAULT) >= 0) {
        if (info.type == H5L_TYPE_SOFT)
            dangles = path_dangles(lib, group, text, left - 1);
        else if (vol_link_unpack(text, size, &value))
            dangles = external_dangles(lib, group, &value, left - 1);
    }
    free(text);
    return dangles;
}

bool vol_link_dangles(h5_lib *lib, hid_t group, const char *name) {
    enum { FOLLOWED = 16 }; /* as HDF5 follows at most */
    vol_silence silence;
    vol_silence_begin(lib, &silence);
    const bool dangles = link_dangles(lib, group, name, FOLLOWED);
    vol_silence_end(lib, &silence);
    return dangles;
}
