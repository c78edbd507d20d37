/* SPDX-License-Identifier: MIT */
/* See comments.h. */
#include "copy/comments.h"

#include "hdf5/errors.h"
#include "objects/comment.h"
#include "objects/locate.h"

#include <stdlib.h>

herr_t vol_comment_to_hdf5(vol_node *node, void *object, H5I_type_t type, hid_t dxpl) {
    h5_lib *lib = node->file->lib;
    const char *text = vol_comment(node);
    const H5VL_loc_params_t self = vol_self(type);
    H5VL_native_object_optional_args_t comment = {.set_comment = {.comment = text}};
    H5VL_optional_args_t args = {.op_type = H5VL_NATIVE_OBJECT_SET_COMMENT, .args = &comment};
    return *text ? lib->H5VLobject_optional(object, &self, lib->native, &args, dxpl, NULL) : 0;
}

static herr_t keep(vol_node *node, const char *text) {
    zb_error err = {0};
    if (vol_comment_set(node, text, &err) == ZB_OK)
        return 0;
    VOL_PUSH_ZB(node->file->lib, SYM, CANTCOPY, &err);
    return -1;
}

herr_t vol_comment_from_hdf5(hid_t source, vol_node *node) {
    h5_lib *lib = node->file->lib;
    const ssize_t length = lib->H5Oget_comment(source, NULL, 0);
    if (length <= 0)
        return length < 0 ? -1 : 0;
    char *text = malloc((size_t)length + 1);
    if (!text) {
        VOL_PUSH(lib, SYM, CANTCOPY, "no memory for the comment of '%s'", node->path);
        return -1;
    }
    const herr_t result =
        lib->H5Oget_comment(source, text, (size_t)length + 1) < 0 ? -1 : keep(node, text);
    free(text);
    return result;
}
