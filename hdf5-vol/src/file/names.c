/* SPDX-License-Identifier: MIT */
/* The names of files: see names.h. */
#include "file/names.h"

#include "objects/tokens.h"
#include "zarrbridge/conventions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* ---- URLs ---- */

#define PREFIX "zarr:"

/* The URL behind "zarr:", also when a program has taken the name for a path, put a directory before
   it and made one slash of two. malloc'ed; NULL when there is none. */
static char *prefixed_url(const char *name) {
    char *url = NULL;
    for (const char *at = name; (at = strstr(at, PREFIX)) != NULL; at++) {
        const char *scheme = at + strlen(PREFIX);
        const size_t size = strcspn(scheme, ":/");
        const char *rest = scheme + size + 1;
        if ((at > name && at[-1] != '/') || scheme[size] != ':' || *rest != '/')
            continue;
        if (asprintf(&url, "%.*s://%s", (int)size, scheme, rest + strspn(rest, "/")) < 0)
            return NULL;
        if (zb_name_is_url(url))
            return url;
        free(url);
        url = NULL;
    }
    return NULL;
}

/* The URL that a name is or holds; malloc'ed. NULL for other names. */
static char *url_of(const char *name) {
    return zb_name_is_url(name) ? strdup(name) : prefixed_url(name);
}

bool vol_filename_is_url(const char *name) {
    if (zb_name_is_url(name))
        return zb_url_is_zarr(name);
    char *url = prefixed_url(name);
    free(url);
    return url != NULL;
}

/* ---- Paths ---- */

static bool holds(const char *directory, const char *name) {
    char *document = NULL;
    if (asprintf(&document, "%s/%s", directory, name) < 0)
        return false;
    struct stat info;
    bool found = stat(document, &info) == 0 && S_ISREG(info.st_mode);
    free(document);
    return found;
}

bool vol_filename_is_zarr(const char *name) {
    if (vol_filename_is_url(name))
        return true;
    for (unsigned i = 0; zb_document_name(i) != NULL; i++)
        if (holds(name, zb_document_name(i)))
            return true;
    return zb_place_is_zip(name);
}

static char *without_document(const char *path) {
    const size_t start = zb_document_start(path, strlen(path));
    if (path[start] == '\0')
        return strdup(path);
    char *above = start > 0 ? strndup(path, start > 1 ? start - 1 : 1) : strdup(".");
    if (above && holds(above, path + start))
        return above;
    free(above);
    return strdup(path);
}

/* A URL keeps its document: zb_url_split knows it. */
char *vol_filename_plain(const char *name) {
    char *url = url_of(name), *plain = NULL;
    if (!url)
        return without_document(name);
    if (zb_name_is_url(name) || zb_url_is_zarr(url))
        return url;
    if (asprintf(&plain, PREFIX "%s", url) < 0)
        plain = NULL;
    free(url);
    return plain;
}

char *vol_filename_in_messages(const char *name) {
    char *url = url_of(name), *root = NULL, *node = NULL, *whole = NULL;
    if (!url)
        return strdup(name);
    if (zb_url_split(url, &root, &node, NULL) == ZB_OK) {
        char *shown = zb_name_without_secrets(root);
        if (shown && asprintf(&whole, "%s%s%s", shown, *node ? "/" : "", node) < 0)
            whole = NULL;
        free(shown);
    }
    free(node);
    free(root);
    free(url);
    return whole;
}

/* The length of a path without the slashes at its end. */
static size_t trimmed_length(const char *path) {
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    return length;
}

static bool has_suffix(const char *path, const char *suffix) {
    const size_t length = trimmed_length(path), size = strlen(suffix);
    return length >= size && strncasecmp(path + length - size, suffix, size) == 0;
}

bool vol_filename_becomes_zip(const char *name) {
    return !vol_filename_is_url(name) && zb_path_becomes_zip(name);
}

/* The absolute path of something that need not exist, in a directory that does. malloc'ed. */
static enum zb_code resolve(const char *path, char **out, zb_error *err) {
    *out = realpath(path, NULL);
    if (*out)
        return ZB_OK;
    size_t end = trimmed_length(path), start = end;
    while (start > 0 && path[start - 1] != '/')
        start--;
    char *above = strndup(start ? path : ".", start ? start : 1);
    char *resolved = above ? realpath(above, NULL) : NULL;
    enum zb_code code = ZB_OK;
    if (!resolved)
        code = zb_fail_errno(err, errno, "the directory of '%s'", path);
    else if (asprintf(out, "%s/%.*s", resolved[1] ? resolved : "", (int)(end - start),
                      path + start) < 0)
        code = zb_fail(err, ZB_ENOMEM, "no memory for a path");
    free(resolved);
    free(above);
    return code;
}

void vol_location_clear(vol_location *location) {
    free(location->root);
    free(location->node);
    *location = (vol_location){NULL, NULL};
}

static enum zb_code location_new(const char *root, vol_location *out, zb_error *err) {
    *out = (vol_location){strdup(root), strdup("")};
    if (out->root && out->node)
        return ZB_OK;
    vol_location_clear(out);
    return zb_fail(err, ZB_ENOMEM, "no memory for a path");
}

/* Changes take the lock of version 3's hierarchy, to which groups of version 2 do not belong. */
static bool holds_document(void *unused, const char *directory) {
    (void)unused;
    return holds(directory, "zarr.json");
}

enum zb_code vol_location_find(const char *name, vol_location *out, zb_error *err) {
    if (vol_filename_becomes_zip(name)) /* a store by itself, wherever it lies */
        return location_new(name, out, err);
    *out = (vol_location){NULL, NULL};
    char *full = url_of(name);
    enum zb_code code = full ? ZB_OK : resolve(name, &full, err);
    if (!code)
        code = zb_path_split(full, holds_document, NULL, &out->root, &out->node, err);
    free(full);
    return code;
}

enum zb_code vol_location_read(const char *name, vol_location *out, zb_error *err) {
    return vol_filename_is_url(name) ? vol_location_find(name, out, err)
                                     : location_new(name, out, err);
}

enum zb_code vol_filename_look(const char *name, const char *remote, zb_error *err) {
    zb_hierarchy *hierarchy = NULL;
    zb_node *node = NULL;
    vol_location location;
    enum zb_code code = vol_location_read(name, &location, err);
    if (code)
        return code;
    code = zb_hierarchy_open_with(location.root, &(zb_store_settings){.options = remote},
                                  &hierarchy, err);
    if (!code)
        code = zb_node_open(hierarchy, location.node, &node, err);
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
    vol_location_clear(&location);
    return code;
}

bool vol_filename_explain(const char *name, zb_error *err) {
    struct stat info;
    const bool is_directory = stat(name, &info) == 0 && S_ISDIR(info.st_mode);
    if (!zb_name_explain(name, err)) {
        const enum zb_code code = vol_filename_look(name, NULL, err);
        if (code != ZB_EUNSUPPORTED && !(is_directory && code == ZB_ENOTFOUND))
            return false;
    }
    if (is_directory && (err->code == ZB_ENOTFOUND || err->code == ZB_EINVAL))
        err->sys_errno = EISDIR;
    return true;
}

bool vol_filename_becomes_zarr(const char *name) {
    vol_location where;
    if (has_suffix(name, ".zarr") || has_suffix(name, ".zarr.zip") || has_suffix(name, ".ozx") ||
        vol_filename_is_url(name))
        return true;
    const bool inside = vol_location_find(name, &where, NULL) == ZB_OK && *where.node;
    vol_location_clear(&where);
    return inside;
}

static bool is_writable_url(const char *name) {
    char *url = url_of(name);
    const bool is = url && zb_url_is_writable(url);
    free(url);
    return is;
}

enum zb_code vol_filename_check_changes(const char *name, zb_error *err) {
    if (is_writable_url(name))
        return ZB_OK;
    if (vol_filename_is_url(name)) {
        char *shown = vol_filename_in_messages(name);
        zb_fail(
            err, ZB_EUNSUPPORTED,
            "'%s' is on a web server or in a zip archive, where stores are read but not "
            "changed: write to a local directory or an s3:// or az:// name, and copy that there",
            shown ? shown : "the URL");
        free(shown);
        return ZB_EUNSUPPORTED;
    }
    if (zb_path_is_zip(name))
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "'%s' is a zip archive, which is read but not changed: unpack it, or write "
                       "a copy (`zarrbridge copy`)",
                       name);
    return ZB_OK;
}

/* ---- Numbers and names of what is behind a name ---- */

/* Of URLs the words count, without what may be another one each day (a query). */
static uint64_t number_of_url(const char *name) {
    char *shown = vol_filename_in_messages(name);
    const uint64_t hash = vol_hash(VOL_HASH_START, shown ? shown : "", shown ? strlen(shown) : 0);
    free(shown);
    return hash;
}

/* Of directories the place, whichever path led there; of archives the path, since another file
   takes their place when they are made anew. */
static uint64_t number_of_path(const char *path) {
    struct stat info = {0};
    char *full;
    if (vol_filename_becomes_zip(path) && resolve(path, &full, NULL) == ZB_OK) {
        const uint64_t hash = vol_hash(VOL_HASH_START, full, strlen(full));
        free(full);
        return hash;
    }
    if (stat(path, &info) != 0)
        return VOL_HASH_START;
    const uint64_t hash = vol_hash(VOL_HASH_START, &info.st_dev, sizeof info.st_dev);
    return vol_hash(hash, &info.st_ino, sizeof info.st_ino);
}

uint64_t vol_filename_number(const char *name) {
    const uint64_t hash = vol_filename_is_url(name) ? number_of_url(name) : number_of_path(name);
    return hash | UINT64_C(1) << 62; /* native files are numbered from 1 */
}

static char *place_of(const char *name) {
    char *full;
    if (vol_filename_is_url(name))
        return vol_filename_in_messages(name);
    return resolve(name, &full, NULL) == ZB_OK ? full : NULL;
}

static bool is_at_or_below(const char *place, const char *above) {
    const size_t length = trimmed_length(above);
    return strncmp(place, above, length) == 0 && (!place[length] || place[length] == '/');
}

bool vol_filename_overlaps(const char *one, const char *other) {
    char *a = place_of(one), *b = place_of(other);
    const bool overlaps = a && b && (is_at_or_below(a, b) || is_at_or_below(b, a));
    free(a);
    free(b);
    return overlaps;
}
