/* SPDX-License-Identifier: MIT */
/*
 * Doors: see zarrbridge/door.h, and docs/doors.md for the form.
 *
 * A door is known to be the one that was made by the number of its file (inode), which renames and
 * moves keep and copies do not. Where a file system or a backup gives another number, the name
 * tells.
 */
#include "zarrbridge/door.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "door/image.h"
#include "hierarchy/path.h"
#include "store/fs_store.h"
#include "util/utf8.h"
#include "zarrbridge/change.h"
#include "zarrbridge/hierarchy.h"
#include "zarrbridge/json.h"
#include "zarrbridge/location.h"
#include "zarrbridge/sys/hierarchy.h"
#include "zarrbridge/sys/staging.h"
#include "zarrbridge/sys/store.h"

/* The last bytes of a door: this, the size of the text before it, and a line break. */
#define MAGIC "zarrbridge-door-1 "
#define DIGITS 8
#define TRAILER_BYTES (sizeof MAGIC - 1 + DIGITS + 1)

/* Stores beside one door's place. */
#define MOST_BESIDE 1000

/* A target is in the attributes and in the text, where escapes may make six bytes of one. */
#define TARGET_MAX_BYTES 1024

/* ---- Reading ---- */

typedef struct file_bytes {
    char data[ZB_DOOR_MAX_BYTES];
    size_t size;
    struct stat info;
} file_bytes;

static bool may_be_door(const struct stat *info) {
    return S_ISREG(info->st_mode) && info->st_size > (off_t)TRAILER_BYTES &&
           info->st_size <= ZB_DOOR_MAX_BYTES;
}

/* False for files that are no doors, and for those that cannot be read. */
static bool read_bytes(const char *path, file_bytes *out) {
    if (stat(path, &out->info) != 0 || !may_be_door(&out->info))
        return false;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    const ssize_t size = fstat(fd, &out->info) == 0 && may_be_door(&out->info)
                             ? pread(fd, out->data, sizeof out->data, 0)
                             : -1;
    close(fd);
    out->size = size > 0 ? (size_t)size : 0;
    return size == (ssize_t)out->info.st_size;
}

/* The text of a door, which is in the bytes; NULL in other files. */
static const char *find_text(const file_bytes *bytes, size_t *size) {
    const char *trailer = bytes->data + bytes->size - TRAILER_BYTES;
    const size_t room = bytes->size - TRAILER_BYTES;
    char digits[DIGITS + 1] = "", *end;
    if (memcmp(bytes->data, ZB__HDF5_SIGNATURE, 8) != 0 ||
        memcmp(trailer, MAGIC, sizeof MAGIC - 1) != 0)
        return NULL;
    memcpy(digits, trailer + sizeof MAGIC - 1, DIGITS);
    *size = strtoul(digits, &end, 10);
    return *end == '\0' && *size <= room ? trailer - *size : NULL;
}

/* The text of the door at a path, likewise. */
static const char *read_text(const char *path, file_bytes *bytes, size_t *size) {
    return read_bytes(path, bytes) ? find_text(bytes, size) : NULL;
}

bool zb_path_is_door(const char *path) {
    file_bytes bytes;
    size_t size;
    return read_text(path, &bytes, &size) != NULL;
}

/* ---- Rules ---- */

/* Beside the door or below: a relative path that goes up nowhere. */
static bool stays_near(const char *target) {
    if (*target == '/' || zb_name_is_url(target))
        return false;
    for (const char *part = target; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0'))
            return false;
    }
    return true;
}

/* real: the door itself, not a symbolic link that leads to it. */
static enum zb_code find_store(const char *real, zb_door *door, zb_error *err) {
    if (*door->target == '/' || zb_name_is_url(door->target)) {
        door->store = strdup(door->target);
        return door->store ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for a path");
    }
    const int above = (int)(zb__path_name(real) - real);
    const bool is_here = strcmp(door->target, ".") == 0;
    if (asprintf(&door->store, "%.*s%s", is_here && above > 1 ? above - 1 : above, real,
                 is_here ? "" : door->target) < 0)
        door->store = NULL;
    return door->store ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for a path");
}

static enum zb_code check(const char *path, const struct stat *info, enum zb_doors which,
                          const zb_door *door, zb_error *err) {
    if (which != ZB_DOORS_ANY && info->st_uid != geteuid() && !stays_near(door->target))
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "the door '%s' belongs to another user and leads to '%s', which is neither "
                       "beside nor below it: open that by its own name, or say doors=any",
                       path, door->target);
    if (!zb_name_is_url(door->store) && access(door->store, F_OK) != 0)
        return zb_fail(err, ZB_ENOTFOUND,
                       "the door '%s' leads to '%s', which is not there: move the store there, or "
                       "make a new door with `zarrbridge door`",
                       path, door->store);
    return ZB_OK;
}

/* ---- The text ---- */

static bool is_copy(const zb_json *text, const char *real, const struct stat *info) {
    char number[24];
    const char *inode = zb_json_string(zb_json_get(text, "inode")),
               *name = zb_json_string(zb_json_get(text, "name"));
    snprintf(number, sizeof number, "%ju", (uintmax_t)info->st_ino);
    if (inode && strcmp(inode, number) == 0)
        return false;
    return !name || strcmp(zb__path_name(real), name) != 0;
}

static enum zb_code take(const char *path, const char *real, const struct stat *info,
                         const zb_json *text, zb_door *out, zb_error *err) {
    const char *target = zb_json_string(zb_json_get(text, "target"));
    if (!target || !*target)
        return zb_fail(err, ZB_EFORMAT, "the door '%s' does not say where it leads", path);
    out->is_copy = is_copy(text, real, info);
    out->target = strdup(target);
    return out->target ? find_store(real, out, err)
                       : zb_fail(err, ZB_ENOMEM, "no memory for a path");
}

void zb_door_clear(zb_door *door) {
    free(door->target);
    free(door->store);
    *door = (zb_door){.target = NULL};
}

enum zb_code zb_door_read(const char *path, enum zb_doors which, zb_door *out, zb_error *err) {
    file_bytes bytes;
    size_t size;
    zb_json *json;
    *out = (zb_door){.target = NULL};
    const char *text = read_text(path, &bytes, &size);
    if (!text)
        return zb_fail(err, ZB_ENOTFOUND, "'%s' is no door to a Zarr store", path);
    enum zb_code code = zb_json_parse(text, size, &json, err);
    if (code)
        return zb_error_prefix(err, code, "the door '%s'", path);
    char *real = realpath(path, NULL);
    code = real ? take(path, real, &bytes.info, json, out, err)
                : zb_fail_errno(err, errno, "the door '%s'", path);
    free(real);
    zb_json_free(json);
    return code ? code : check(path, &bytes.info, which, out, err);
}

/* ---- Making ---- */

static bool is_utf8(const char *text) {
    return zb__is_utf8(text, strlen(text));
}

/* A name of its own that is no UTF-8 cannot be noted. */
static char *print_text(const char *path, const char *target, ino_t inode) {
    char number[24];
    snprintf(number, sizeof number, "%ju", (uintmax_t)inode);
    zb_json_writer *writer = zb_json_writer_new();
    zb_json_begin_object(writer);
    zb_json_write_name(writer, "target");
    zb_json_write_string(writer, target);
    char *place = zb_door_place(path);
    if (place && is_utf8(zb__path_name(place))) {
        zb_json_write_name(writer, "name");
        zb_json_write_string(writer, zb__path_name(place));
    }
    free(place);
    zb_json_write_name(writer, "inode");
    zb_json_write_string(writer, number);
    zb_json_end_object(writer);
    return zb_json_writer_end(writer, NULL);
}

/* The image, the text between line breaks, and the trailer. NULL without memory. */
static char *print_door(const char *path, const char *target, ino_t inode, size_t *size) {
    const zb__door_attribute attributes[] = {
        {"about", "This file is a door. Its data are in a Zarr store, to which it leads."},
        {"leads_to", target},
        {"how", "Programs see the store with zarrbridge's plugin for HDF5 and the environment "
                "variable HDF5_VOL_CONNECTOR=zarr. `zarrbridge doctor` tells what is missing."},
    };
    zb__text door = {.data = NULL};
    char *text = print_text(path, target, inode);
    if (!text)
        return NULL;
    const size_t bytes = strlen(text) + 1;
    zb__door_image(&door, attributes, sizeof attributes / sizeof *attributes,
                   1 + bytes + TRAILER_BYTES);
    zb__text_addf(&door, "\n%s\n" MAGIC "%0*zu\n", text, DIGITS, bytes);
    free(text);
    return zb__text_take(&door, size);
}

static enum zb_code write_all(int fd, const char *path, const char *data, size_t size,
                              zb_error *err) {
    int failed = zb__fs_write_parts(fd, &(zb_part){.data = data, .size = size}, 1);
    if (!failed && (fchmod(fd, 0444) != 0 || fsync(fd) != 0))
        failed = errno;
    return failed ? zb_fail_errno(err, failed, "cannot write the door '%s'", path) : ZB_OK;
}

static bool may_replace(const char *path) {
    struct stat info;
    return lstat(path, &info) != 0 || (S_ISREG(info.st_mode) && info.st_size == 0) ||
           zb_path_is_door(path);
}

/* A rename replaces what is there, a link does not. */
static enum zb_code put_in_place(const char *staged, const char *path, bool replaces,
                                 zb_error *err) {
    if (replaces && !may_replace(path))
        return zb_fail(err, ZB_ECONFLICT, "'%s' is a file with a content of its own, and no door",
                       path);
    if (replaces && rename(staged, path) == 0)
        return ZB_OK;
    if (!replaces && link(staged, path) == 0)
        return ZB_OK;
    return errno == EEXIST ? zb_fail(err, ZB_ECONFLICT, "there is a file '%s' already", path)
                           : zb_fail_errno(err, errno, "cannot make the door '%s'", path);
}

enum zb_code zb_door_make(const char *path, const char *target, bool replaces, zb_error *err) {
    struct stat info;
    zb_staging staging;
    size_t size;
    if (!*target || strlen(target) > TARGET_MAX_BYTES || !is_utf8(target))
        return zb_fail(err, ZB_EINVAL, "a door leads to a name in UTF-8 of 1 to %d bytes",
                       TARGET_MAX_BYTES);
    enum zb_code code = zb_staging_make(path, false, &staging, err);
    if (code)
        return code;
    if (fstat(staging.fd, &info) != 0)
        code = zb_fail_errno(err, errno, "cannot make the door '%s'", path);
    char *data = code ? NULL : print_door(path, target, info.st_ino, &size);
    if (!code && !data)
        code = zb_fail(err, ZB_ENOMEM, "no memory for a door");
    if (!code)
        code = write_all(staging.fd, path, data, size, err);
    if (!code)
        code = put_in_place(staging.path, path, replaces, err);
    free(data);
    if (code || !replaces)
        zb_staging_remove(&staging);
    else
        zb_staging_close(&staging);
    return code;
}

/* ---- Copies of doors ---- */

/* The length of a path without what NCO adds to the name of a file that it makes: ".pid", a number,
   a program's name and ".tmp". */
static size_t length_without_nco(const char *path) {
    const size_t length = strlen(path);
    const char *name = zb__path_name(path), *found = NULL;
    for (const char *at = name; (at = strstr(at, ".pid")) != NULL; at++)
        found = at;
    const size_t digits = found ? strspn(found + 4, "0123456789") : 0;
    const bool is_nco = found && found > name && digits > 0 && found[4 + digits] == '.' &&
                        length > 4 && strcmp(path + length - 4, ".tmp") == 0;
    return is_nco ? (size_t)(found - path) : length;
}

char *zb_door_place(const char *path) {
    return strndup(path, length_without_nco(path));
}

char *zb_door_beside(const char *path) {
    const int length = (int)length_without_nco(path);
    struct stat info;
    for (unsigned i = 1; i <= MOST_BESIDE; i++) {
        char number[16] = "", *store;
        if (i > 1)
            snprintf(number, sizeof number, ".%u", i);
        if (asprintf(&store, "%.*s%s.zarr", length, path, number) < 0)
            return NULL;
        if (lstat(store, &info) != 0)
            return store;
        free(store);
    }
    return NULL;
}

static enum zb_code copy_store(const char *from_name, const char *to_name, zb_error *err) {
    zb_hierarchy *from = NULL, *to = NULL;
    enum zb_code code = zb_hierarchy_open(from_name, &from, err);
    if (!code)
        code = zb_hierarchy_create(to_name, NULL, &to, err);
    if (!code)
        code = zb_node_copy(from, "", to, "", err);
    if (!code)
        code = zb_hierarchy_commit(to, err);
    if (!code)
        code = zb_hierarchy_flush(to, err);
    if (code && to) { /* this call has made it */
        (void)zb_node_delete(to, "", NULL);
        (void)zb_store_remove_directory(to_name);
    }
    zb_hierarchy_release(to);
    zb_hierarchy_release(from);
    return code;
}

/* The door itself, not a symbolic link to it, gets the store. */
static enum zb_code own(const char *path, const char *given, zb_door *door, zb_error *err) {
    char *store = zb_door_beside(path);
    if (!store)
        return zb_fail(err, ZB_ECONFLICT, "no name is free for a store beside '%s'", path);
    enum zb_code code = copy_store(door->store, store, err);
    if (!code)
        code = zb_door_make(path, zb__path_name(store), true, err);
    if (code)
        zb_error_prefix(err, code, "'%s' is a copy of a door, and cannot have a store of its own",
                        path);
    free(store);
    if (code)
        return code;
    zb_door_clear(door);
    return zb_door_read(given, ZB_DOORS_OWN, door, err);
}

enum zb_code zb_door_own(const char *path, zb_door *door, zb_error *err) {
    char *real = realpath(path, NULL);
    const enum zb_code code =
        real ? own(real, path, door, err) : zb_fail_errno(err, errno, "the door '%s'", path);
    free(real);
    return code;
}
