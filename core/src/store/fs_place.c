/* SPDX-License-Identifier: MIT */
/*
 * Places to write: the descriptor of a directory, opened beneath the root and made where it is
 * missing, and a single name in it. Creating, renaming and unlinking a name never follow a link.
 *
 * A path may lead to another directory at any moment, as nodes are moved and deleted. Where the
 * caller names a home, the directory is asked for its identity by its descriptor: from a key's
 * directory the home is so many steps up ("../.."), wherever both are by now. So one system call
 * proves that what is done through the descriptor is done in the home.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fs_path.h"
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

enum zb_code zb__fs_name_place(const char *key, zb__fs_place *place, zb_error *err) {
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
    enum zb_code code = zb__fs_name_place(key, place, err);
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

/* The directory that the path leads to; -1 with errno. One from before does no harm to those who
   know their home by its identity. */
static int open_there(zb__fs *fs, const zb__fs_place *place) {
    const char *path = *place->path ? place->path : ".";
    const bool is_sure = zb__fs_is_sure(fs, place->path);
    const int dir = zb__fs_openat(fs->root, path, DIRECTORY);
    if (is_sure || dir >= 0 || (errno != ENOENT && errno != ESTALE))
        return dir;
    zb__fs_refresh_way(fs, fs->root, place->path, NULL);
    return zb__fs_openat(fs->root, path, DIRECTORY);
}

static int open_or_make(zb__fs *fs, bool make, zb__fs_place *place) {
    int dir = open_there(fs, place);
    for (int i = 0; dir < 0 && errno == ENOENT && make && *place->path && i < ZB__FS_TRIES; i++) {
        dir = make_last(fs, place->path);
        if (dir < 0 && errno == ENOENT)
            dir = make_directories(fs, place->path);
        place->made = true;
    }
    return dir;
}

/* After a call that has failed. */
static enum zb_code fail_place(bool make, const char *key, zb_error *err) {
    return make ? zb__fs_fail_write(err, errno, "make the directory of", key)
                : zb__fs_fail(err, errno, "find the directory of", key);
}

enum zb_code zb__fs_open_place(zb__fs *fs, const char *key, bool make, zb__fs_place *place,
                               zb_error *err) {
    enum zb_code code = zb__fs_name_place(key, place, err);
    if (code)
        return code;
    place->dir = open_or_make(fs, make, place);
    return place->dir >= 0 ? ZB_OK : fail_place(make, key, err);
}

/* ---- In a home ---- */

/* The path of the key's directory from its home on: "" for the home itself. Into place->path. */
static const char *path_below(const zb__fs_place *place, const zb_home *home) {
    const char *below = place->path + home->length;
    return *below == '/' ? below + 1 : below;
}

/* True if the directory lies so many levels below its home as the path has parts. */
static bool is_in_home(int dir, const char *below, const zb_home *home) {
    char up[PATH_MAX] = "";
    size_t length = 0;
    for (; *below; below += strcspn(below, "/"), below += *below == '/', length += 3) {
        if (length + 4 > sizeof up)
            return false;
        memcpy(up + length, "../", 4);
    }
    return zb__fs_identify_at(dir, up) == home->identity;
}

/* Makes the directories below the home that are missing; a descriptor of the last one, or -1 with
   errno, ENOTDIR at a link. */
static int make_below(zb__fs *fs, int home, const char *below, zb__fs_place *place) {
    int at = zb__fs_open_name(home, ".", DIRECTORY, 0);
    for (size_t length; at >= 0 && *below; below += length + (below[length] == '/')) {
        char part[NAME_MAX + 1] = "", parent[PATH_MAX] = "";
        length = strcspn(below, "/");
        if (length <= NAME_MAX)
            memcpy(part, below, length);
        if (below > place->path)
            memcpy(parent, place->path, (size_t)(below - place->path) - 1);
        place->made = mkdirat(at, part, 0777) == 0;
        int next = place->made || errno == EEXIST
                       ? zb__fs_open_name(at, part, DIRECTORY | O_NOFOLLOW, 0)
                       : -1;
        int saved = errno;
        close(at);
        if (place->made)
            zb__fs_mark_dirty(fs, parent);
        errno = saved;
        at = next;
    }
    return at;
}

/* A link below the home leads out of it: what the path leads to from the root, and so beneath that,
   has to be what it leads to from the home. */
static int open_linked(zb__fs *fs, int home, const char *below, bool make, zb__fs_place *place) {
    struct stat from_home, from_root;
    const int dir = open_or_make(fs, make, place);
    if (dir < 0 ||
        (fstat(dir, &from_root) == 0 && fstatat(home, below, &from_home, AT_NO_AUTOMOUNT) == 0 &&
         zb__fs_same_file(&from_home, &from_root)))
        return dir;
    close(dir);
    errno = ESTALE;
    return -1;
}

static int open_from_home(zb__fs *fs, int home, const char *below, bool make, zb__fs_place *place) {
    int dir = zb__fs_openat(home, *below ? below : ".", DIRECTORY);
    if (dir < 0 && errno == ENOENT && make)
        dir = make_below(fs, home, below, place);
    const bool is_linked = dir < 0 && (errno == EXDEV || errno == ELOOP || errno == ENOTDIR);
    return is_linked ? open_linked(fs, home, below, make, place) : dir;
}

/* By the home: it is opened first, and all else from there. -1 with errno, ESTALE where the home is
   not at its path. */
static int open_by_home(zb__fs *fs, const zb_home *home, bool make, zb__fs_place *place) {
    char prefix[PATH_MAX] = ".";
    if (home->length > 0) {
        memcpy(prefix, place->path, home->length);
        prefix[home->length] = '\0';
    }
    const int at = zb__fs_openat(fs->root, prefix, DIRECTORY);
    const bool is_gone = at < 0 && (errno == ENOENT || errno == ENOTDIR);
    if (at < 0 && !is_gone)
        return -1;
    int dir = -1;
    if (!is_gone && zb__fs_identify_at(at, "") == home->identity)
        dir = open_from_home(fs, at, path_below(place, home), make, place);
    else
        errno = ESTALE;
    const int saved = errno;
    if (at >= 0)
        close(at);
    errno = saved;
    return dir;
}

enum zb_code zb__fs_open_place_in(zb__fs *fs, const char *key, const zb_home *home, bool make,
                                  zb__fs_place *place, zb_error *err) {
    if (!home->identity)
        return zb__fs_open_place(fs, key, make, place, err);
    enum zb_code code = zb__fs_name_place(key, place, err);
    if (code)
        return code;
    place->dir = open_there(fs, place);
    if (place->dir >= 0 && is_in_home(place->dir, path_below(place, home), home))
        return ZB_OK;
    if (place->dir >= 0)
        close(place->dir);
    place->dir = open_by_home(fs, home, make, place);
    return place->dir >= 0 ? ZB_OK : fail_place(make, key, err);
}

enum zb_code zb__fs_check_place(const zb__fs *fs, const char *path, int dir, const char *key,
                                zb_error *err) {
    struct stat ours, now;
    zb__fs_refresh_way(fs, fs->root, path, NULL);
    if (fstat(dir, &ours) == 0 &&
        fstatat(fs->root, *path ? path : ".", &now, AT_NO_AUTOMOUNT) == 0 &&
        zb__fs_same_file(&ours, &now))
        return ZB_OK;
    return zb__fs_fail(err, ESTALE, "write", key);
}
