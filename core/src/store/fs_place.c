/* SPDX-License-Identifier: MIT */
/*
 * Places to write: the descriptor of a directory, opened beneath the root and made where it is
 * missing, and a single name in it. Creating, renaming and unlinking a name never follow a link.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fs_dirty.h"
#include "store/fs_path.h"
#include "store/fs_place.h"
#include "store/fs_store.h"

#define DIRECTORY (O_PATH | O_DIRECTORY | O_CLOEXEC)

/* Makes the directory `path`, of which all but the last part is there. Returns an O_PATH descriptor
   or -1 with errno: EEXIST where anything has its name, ENOENT where more is missing. */
static int make_new(zb__fs *fs, const char *path) {
    char parent[PATH_MAX] = "";
    const char *name = zb__fs_name_of(path);
    if (name > path)
        memcpy(parent, path, (size_t)(name - path) - 1);
    int above = *parent ? zb__fs_openat(fs->root, parent, DIRECTORY) : fs->root;
    if (above < 0)
        return -1;
    int made = mkdirat(above, name, 0777);
    if (made == 0) {
        zb__fs_mark_dirty(fs, parent);
        made = zb__fs_open_name(above, name, DIRECTORY | O_NOFOLLOW, 0);
    }
    int saved = errno;
    if (above != fs->root)
        close(above);
    errno = saved;
    return made;
}

/* The same for a directory that may have been made meanwhile. */
static int make_last(zb__fs *fs, const char *path) {
    int made = make_new(fs, path);
    return made >= 0 || errno != EEXIST ? made : zb__fs_openat(fs->root, path, DIRECTORY);
}

/* Makes the directory `path` and those above it, from the root on. Returns an O_PATH descriptor or
   -1 with errno. Each step opens the existing directory by its whole path, so that links inside the
   store work. */
static int make_directories(zb__fs *fs, const char *path) {
    char prefix[PATH_MAX] = "", parent[PATH_MAX] = "";
    int at = zb__fs_open_name(fs->root, ".", DIRECTORY, 0);
    for (const char *part = path; at >= 0;) {
        size_t length = strcspn(part, "/");
        memcpy(prefix, path, (size_t)(part - path) + length);
        prefix[(size_t)(part - path) + length] = '\0';
        bool made = mkdirat(at, prefix + (part - path), 0777) == 0;
        int saved = errno;
        close(at);
        if (made)
            zb__fs_mark_dirty(fs, parent);
        errno = saved;
        if (!made && errno != EEXIST)
            return -1;
        at = zb__fs_openat(fs->root, prefix, DIRECTORY);
        if (at < 0 || part[length] == '\0')
            break;
        strcpy(parent, prefix);
        part += length + 1;
    }
    return at;
}

static bool has_part_of_ours(const char *key) {
    char part[NAME_MAX + 1];
    for (size_t length; *key; key += length + (key[length] == '/')) {
        length = strcspn(key, "/");
        if (length > NAME_MAX)
            continue;
        memcpy(part, key, length);
        part[length] = '\0';
        if (zb__fs_is_ours(part))
            return true;
    }
    return false;
}

/* Fills in all but the descriptor. */
static enum zb_code name_place(const char *key, zb__fs_place *place, zb_error *err) {
    if (has_part_of_ours(key))
        return zb_fail(err, ZB_EINVAL, "'%s' has a name that is kept for temporary files", key);
    place->name = zb__fs_name_of(key);
    place->made = false;
    size_t length = place->name > key ? (size_t)(place->name - key) - 1 : 0;
    if (length >= sizeof place->path || strlen(place->name) > NAME_MAX)
        return zb__fs_fail_write(err, ENAMETOOLONG, "write", key);
    memcpy(place->path, key, length);
    place->path[length] = '\0';
    return ZB_OK;
}

enum zb_code zb__fs_make_place(zb__fs *fs, const char *key, zb__fs_place *place, zb_error *err) {
    enum zb_code code = name_place(key, place, err);
    if (code)
        return code;
    errno = EEXIST; /* the root is there */
    place->dir = *place->path ? make_new(fs, place->path) : -1;
    place->made = true;
    if (place->dir >= 0)
        return ZB_OK;
    return errno == EEXIST ? zb_fail(err, ZB_ECONFLICT, "there is something at '%s'", place->path)
                           : zb__fs_fail_write(err, errno, "make the directory of", key);
}

enum zb_code zb__fs_open_place(zb__fs *fs, const char *key, bool make, zb__fs_place *place,
                               zb_error *err) {
    enum zb_code code = name_place(key, place, err);
    if (code)
        return code;
    const bool is_below = *place->path;
    place->dir = zb__fs_openat(fs->root, is_below ? place->path : ".", DIRECTORY);
    for (int i = 0; place->dir < 0 && errno == ENOENT && make && is_below && i < ZB__FS_TRIES;
         i++) {
        place->dir = make_last(fs, place->path);
        if (place->dir < 0 && errno == ENOENT)
            place->dir = make_directories(fs, place->path);
        place->made = true;
    }
    if (place->dir >= 0)
        return ZB_OK;
    return make ? zb__fs_fail_write(err, errno, "make the directory of", key)
                : zb__fs_fail(err, errno, "find the directory of", key);
}

enum zb_code zb__fs_check_place(const zb__fs *fs, const char *path, int dir, const char *key,
                                zb_error *err) {
    struct stat ours, now;
    if (fstat(dir, &ours) == 0 &&
        fstatat(fs->root, *path ? path : ".", &now, AT_NO_AUTOMOUNT) == 0 &&
        zb__fs_same_file(&ours, &now))
        return ZB_OK;
    return zb_fail(err, ZB_ECONFLICT, "the directory of '%s' was erased or moved meanwhile", key);
}
