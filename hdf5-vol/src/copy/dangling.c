/* SPDX-License-Identifier: MIT */
/* Links that lead nowhere: see dangling.h. */
#include "copy/dangling.h"

#include "copy/links.h"
#include "file/linked_file.h"
#include "hdf5/errors.h"

#include <stdlib.h>
#include <string.h>

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

static char *name_of_file(h5_lib *lib, hid_t object) {
    const ssize_t length = lib->H5Fget_name(object, NULL, 0);
    char *name = length > 0 ? calloc(1, (size_t)length + 1) : NULL;
    if (name && lib->H5Fget_name(object, name, (size_t)length + 1) < 0)
        *name = '\0';
    return name;
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
    char *holder = name_of_file(lib, group);
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
