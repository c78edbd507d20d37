/* SPDX-License-Identifier: MIT */
/* Objects from one directory store to another, without their bytes passing through the program. */
#include <errno.h>
#include <sys/stat.h>

#include "store/fs_store.h"

static bool is_unchanged(int fd, const struct stat *before) {
    struct stat now;
    return fstat(fd, &now) == 0 && now.st_size == before->st_size &&
           now.st_mtim.tv_sec == before->st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == before->st_mtim.tv_nsec;
}

/* What waits for a flush is copied from its temporary file, as readers of that store see it. One
   that is changed in place meanwhile is left to the caller. */
enum zb_code zb__fs_copy(zb_store *store, const char *key, zb_store *from, const char *from_key,
                         zb_error *err) {
    zb_object *object;
    zb_object_info info;
    if (from->ops != store->ops)
        return zb_fail(err, ZB_EUNSUPPORTED, "store %s is no directory", from->label);
    enum zb_code code = zb__fs_open_path((zb__fs *)from, from_key, &object, &info, err);
    if (code)
        return code;
    struct stat before;
    const int fd = ((const zb__fs_object *)object)->fd;
    const zb_put_file file = {.fd = fd, .size = info.size};
    const zb_put put = {.key = key, .file = &file, .in_order = true};
    code = fstat(fd, &before) == 0 ? zb__fs_put(store, &put, err)
                                   : zb_fail_errno(err, errno, "cannot stat '%s'", from_key);
    if (!code && !is_unchanged(fd, &before))
        code = zb_fail(err, ZB_EUNSUPPORTED, "'%s' is being changed", from_key);
    zb__fs_close(object);
    return code;
}
