/* SPDX-License-Identifier: MIT */
#include "store/foreign.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/names.h"

/* ---- Names that are written in another way -------------------------------------------------- */

/* Where a name begins with this word, what is behind it; else NULL. */
static const char *behind(const char *name, const char *word) {
    const size_t length = strlen(word);
    return strncasecmp(name, word, length) == 0 ? name + length : NULL;
}

/* A shell replaces the sign where it is not quoted; the name that a program gets has it no more. */
static enum zb_code look_at_home(const char *name, zb_error *err) {
    const char *home = secure_getenv("HOME");
    struct stat st;
    if (name[0] != '~' || name[1] != '/' || stat(name, &st) == 0)
        return ZB_OK;
    zb_fail(err, ZB_ENOTFOUND,
            "there is no '%s': only a shell knows ~ as the home directory, and not between quotes: "
            "write '%s%s'",
            name, home ? home : "/home/...", name + 1);
    if (err)
        err->sys_errno = ENOENT;
    return ZB_ENOTFOUND;
}

static enum zb_code look_at_words(const char *name, zb_error *err) {
    const char *url = behind(name, "zarr:"), *shown = url ? url : name;
    const char *path = behind(shown, "file://");
    if (path)
        return zb_fail(err, ZB_EUNSUPPORTED, "'%s' is a URL for a local path: write '%s'", name,
                       behind(path, "localhost/") ? path + strlen("localhost") : path);
    if (url && (zb_name_is_url(url) || access(name, F_OK) != 0))
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "'%.*s': zarr: stands before URLs in names for HDF5 programs alone: write "
                       "'%.*s'",
                       (int)strcspn(name, "?#"), name, (int)strcspn(url, "?#"), url);
    return look_at_home(name, err);
}

/* ---- Names that are no directories -------------------------------------------------------- */

/* As much of a file as is looked at. References are a JSON object that says so near its start. */
#define HEAD_BYTES 65536

/* A scheme, and "://". One letter could be a drive's. */
static bool is_url(const char *path) {
    size_t length = 0;
    while (isalnum((unsigned char)path[length]) ||
           (length && strchr("+-.", path[length]) && path[length] != '\0'))
        length++;
    return length > 1 && strncmp(path + length, "://", 3) == 0;
}

/* The number of bytes; 0 for what cannot be read. Special files are not touched. */
static size_t read_head(const char *path, char *head, size_t size) {
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file < 0 ? 0 : read(file, head, size);
    if (file >= 0)
        close(file);
    return got > 0 ? (size_t)got : 0;
}

static bool begins(const char *head, size_t size, const char *with, size_t length) {
    return size >= length && memcmp(head, with, length) == 0;
}

static bool has(const char *head, size_t size, const char *word) {
    return memmem(head, size, word, strlen(word)) != NULL;
}

/* Version 0 maps keys to places, version 1 has that map as a member. */
static bool is_references(const char *head, size_t size) {
    size_t at = 0;
    while (at < size && strchr(" \t\r\n", head[at]) && head[at])
        at++;
    return at < size && head[at] == '{' &&
           (has(head, size, "\"refs\"") || has(head, size, ".zgroup\"") ||
            has(head, size, ".zarray\"") || has(head, size, ".zmetadata\""));
}

static enum zb_code fail_references(const char *path, zb_error *err) {
    return zb_fail(err, ZB_EUNSUPPORTED,
                   "'%s' is a kerchunk reference file, which leads to chunks in other files and "
                   "is not read here: write a store of Zarr version 3 from it with xarray",
                   path);
}

static enum zb_code look_at_head(const char *path, const char *head, size_t size, zb_error *err) {
    if (begins(head, size, "PK\3\4", 4) || begins(head, size, "PK\5\6", 4))
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "'%s' is a zip file, not a directory: what is in it is read, and "
                       "changed where it is unpacked",
                       path);
    if (begins(head, size, "\x89HDF\r\n\x1a\n", 8))
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "'%s' is an HDF5 file, not a Zarr store: h5repack with "
                       "HDF5_VOL_CONNECTOR=zarr makes one of it",
                       path);
    if (begins(head, size, "CDF", 3))
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "'%s' is a netCDF file of the classic format, not a Zarr store: nccopy -k "
                       "nc4 with HDF5_VOL_CONNECTOR=zarr makes one of it",
                       path);
    const char *slash = strrchr(path, '/');
    if (strcmp(slash ? slash + 1 : path, "zarr.json") == 0)
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "'%s' is the document of a Zarr node: name the directory that it is in",
                       path);
    if (is_references(head, size))
        return fail_references(path, err);
    struct stat st;
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
        return zb_fail_errno(err, ENOTDIR,
                             "'%s' is a file, and neither a zip archive nor a directory with a "
                             "store in it",
                             path);
    return ZB_OK;
}

enum zb_code zb__foreign_file(const char *path, zb_error *err) {
    const int shown = (int)strcspn(path, "?#"); /* what follows may be secret */
    if (zb_name_is_url(path))
        return zb_fail(err, ZB_EUNSUPPORTED, "'%.*s' is a URL, not the path of a directory", shown,
                       path);
    enum zb_code code = look_at_words(path, err);
    if (code)
        return code;
    if (is_url(path))
        return zb_fail(
            err, ZB_EUNSUPPORTED,
            "'%.*s' is a URL of a kind that is not read here: https://, http://, s3:// and az:// "
            "are, and GDAL reads others by its virtual file systems (/vsigs/, /vsiadls/)",
            shown, path);
    char *head = malloc(HEAD_BYTES);
    if (!head)
        return ZB_OK; /* the caller's own error will do */
    code = look_at_head(path, head, read_head(path, head, HEAD_BYTES), err);
    free(head);
    return code;
}

enum zb_code zb__foreign_references(const char *path, zb_error *err) {
    const size_t length = strlen(path);
    if (length < 5 || strcasecmp(path + length - 5, ".json") != 0)
        return ZB_OK;
    char *head = malloc(HEAD_BYTES);
    const bool is_one = head && is_references(head, read_head(path, head, HEAD_BYTES));
    free(head);
    return is_one ? fail_references(path, err) : ZB_OK;
}

/* ---- Directories -------------------------------------------------------------------------- */

static bool there(zb_store *store, const char *key) {
    zb_object_info info;
    return zb_store_stat(store, key, &info, NULL) == ZB_OK;
}

static bool says(zb_store *store, const char *key, const char *word) {
    char *text = NULL;
    size_t size = 0;
    bool found =
        zb_store_get(store, key, HEAD_BYTES, "of a sign", &text, &size, NULL, NULL) == ZB_OK &&
        has(text, size, word);
    free(text);
    return found;
}

/* The directories of an Icechunk repository. */
typedef struct icechunk {
    bool snapshots, manifests, refs_or_repo;
} icechunk;

static int note_name(void *context, const zb_list_entry *entry) {
    icechunk *found = context;
    found->snapshots |= strcmp(entry->name, "snapshots") == 0;
    found->manifests |= strcmp(entry->name, "manifests") == 0;
    found->refs_or_repo |= strcmp(entry->name, "refs") == 0 || strcmp(entry->name, "repo") == 0;
    return 0;
}

static bool is_icechunk(zb_store *store) {
    icechunk found = {.snapshots = false};
    return store->hints.can_list && zb_store_list(store, "", note_name, &found, NULL) == ZB_OK &&
           found.snapshots && found.manifests && found.refs_or_repo;
}

/* ---- Directories without a document --------------------------------------------------------- */

/* As many directories are asked for a document of their own. */
#define MOST_LOOKS 100

typedef struct nearby {
    zb__names directories; /* MOST_LOOKS at most */
    bool any;              /* there is an entry */
} nearby;

/* A store may hold a lock while it lists, so that nothing is asked of it here. */
static int note_directory(void *context, const zb_list_entry *entry) {
    nearby *found = context;
    found->any = true;
    if (entry->is_prefix)
        (void)zb__names_add(&found->directories, (zb__name){.text = strdup(entry->name)}, NULL);
    return found->directories.count == MOST_LOOKS;
}

/* The name of a directory with a document, or NULL. */
static const char *find_inside(zb_store *store, const zb__names *directories) {
    for (size_t i = 0; i < directories->count; i++) {
        char *key;
        if (asprintf(&key, "%s/zarr.json", directories->name[i].text) < 0)
            return NULL;
        const bool is_there = there(store, key);
        free(key);
        if (is_there)
            return directories->name[i].text;
    }
    return NULL;
}

/* Of a directory that a person may have mistaken for a store. Elsewhere the error names the object
   that was asked for. */
static void describe_missing(zb_store *store, zb_error *err) {
    nearby found = {.directories = {.count = 0}};
    if (!err || !store->hints.is_local || !store->hints.can_list)
        return;
    const bool listed = zb_store_list(store, "", note_directory, &found, NULL) == ZB_OK;
    const char *inside = find_inside(store, &found.directories);
    const int saved = err->sys_errno;
    if (inside)
        zb_fail(err, ZB_ENOTFOUND,
                "this is not a Zarr store: its zarr.json would be '%s/zarr.json'; there is one in "
                "'%s/%s'",
                store->label, store->label, inside);
    else
        zb_fail(err, ZB_ENOTFOUND,
                "this is not a Zarr store: its zarr.json would be '%s/zarr.json'%s", store->label,
                listed && !found.any ? ", and the directory is empty" : "");
    err->sys_errno = saved;
    zb__names_free(&found.directories);
}

static enum zb_code look_at_signs(zb_store *store, zb_error *err) {
    if (says(store, ".zmetadata", "\"record_size\""))
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "this is a kerchunk reference directory (Parquet), which leads to chunks in "
                       "other files and is not read here");
    if (there(store, ".zmetadata"))
        return zb_fail(
            err, ZB_EUNSUPPORTED,
            "there is .zmetadata of Zarr version 2 without the documents that it repeats "
            "(.zgroup, .zarray), which are what is read: copy the whole store");
    if (says(store, "attributes.json", "\"n5\"") || says(store, "attributes.json", "\"blockSize\""))
        return zb_fail(err, ZB_EUNSUPPORTED, "this is N5, not Zarr");
    if (strcmp(store->ops->name, "zip") == 0)
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "this is a zip file without a Zarr node at its root, or in the one folder "
                       "there");
    if (is_icechunk(store))
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "this is an Icechunk repository, which is not read here: write its content "
                       "to a plain store of Zarr version 3");
    return ZB_OK;
}

enum zb_code zb__foreign_root(zb_store *store, zb_error *err) {
    const enum zb_code code = look_at_signs(store, err);
    if (code)
        return code;
    describe_missing(store, err);
    return ZB_ENOTFOUND;
}
