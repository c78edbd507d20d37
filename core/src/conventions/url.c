/* SPDX-License-Identifier: MIT */
/*
 * URLs of stores, and names of both kinds, by their words alone.
 *
 * A program that is given a URL must not ask hosts for what may be none of its business, and cannot
 * look upwards for the root of a hierarchy as in a directory: each look is a request. So the part
 * of the path that is named as stores are ends the store, the last one if there are several.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/url.h"
#include "zarrbridge/conventions.h"

/* A part of a URL: places in its text. */
typedef struct part {
    size_t start, end;
} part;

/* Host, query and options are no part of the path. */
static part path_of(const char *url) {
    const char *scheme = strstr(url, "://");
    const size_t host = scheme ? (size_t)(scheme + 3 - url) : 0;
    return (part){host + strcspn(url + host, "/?#"), zb__url_path_end(url)};
}

static void drop_slashes(const char *url, part *path) {
    while (path->end > path->start && url[path->end - 1] == '/')
        path->end--;
}

static bool ends_in(const char *url, part name, const char *suffix) {
    const size_t size = strlen(suffix);
    return name.end - name.start >= size && strncasecmp(url + name.end - size, suffix, size) == 0;
}

/* The last name in a path without slashes at its end. */
static part last_name(const char *url, part path) {
    size_t start = path.end;
    while (start > path.start && url[start - 1] != '/')
        start--;
    return (part){start, path.end};
}

const char *zb_document_name(unsigned index) {
    static const char *const names[] = {"zarr.json", ".zgroup", ".zarray", ".zmetadata"};
    return index < sizeof names / sizeof *names ? names[index] : NULL;
}

size_t zb_document_start(const char *path, size_t length) {
    const size_t start = last_name(path, (part){0, length}).start;
    const char *name;
    for (unsigned i = 0; (name = zb_document_name(i)) != NULL; i++) {
        if (length - start == strlen(name) && memcmp(path + start, name, length - start) == 0)
            return start;
    }
    return length;
}

/* Takes away the name of a document, which stands for the node that it describes. */
static bool drop_document(const char *url, part *path) {
    drop_slashes(url, path);
    const size_t start = zb_document_start(url, path->end);
    if (start == path->end || start < path->start)
        return false;
    path->end = start;
    drop_slashes(url, path);
    return true;
}

/* The end of the last part that is named as stores are; 0 without one. */
static size_t store_end(const char *url, part path) {
    for (; path.end > path.start; drop_slashes(url, &path)) {
        const part name = last_name(url, path);
        if (ends_in(url, name, ".zarr") || ends_in(url, name, ".zarr.zip") ||
            ends_in(url, name, ".ozx"))
            return name.end;
        path.end = name.start;
    }
    return 0;
}

bool zb_url_is_zarr(const char *url) {
    part path = path_of(url);
    return zb_name_is_url(url) && (drop_document(url, &path) || store_end(url, path) > 0);
}

bool zb_name_is_zarr(const char *name) {
    part path = {0, zb_name_is_url(name) ? zb__url_path_end(name) : strlen(name)};
    drop_slashes(name, &path);
    return ends_in(name, last_name(name, path), ".zarr");
}

bool zb_url_is_writable(const char *url) {
    part path = path_of(url);
    drop_document(url, &path);
    const size_t end = store_end(url, path);
    const part store = {path.start, end > 0 ? end : path.end};
    return (strncasecmp(url, "s3://", 5) == 0 || strncasecmp(url, "az://", 5) == 0) &&
           !zb_name_is_archive(url, store.end);
}

static int digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Names of nodes are text; in the path of an http URL their characters may be percent-encoded. Keys
   of S3 are written as they are. */
static char *node_path(const char *url, part inner) {
    const bool encoded = strncasecmp(url, "http", 4) == 0;
    char *node = malloc(inner.end - inner.start + 1), *to = node;
    if (!node)
        return NULL;
    for (size_t i = inner.start; i < inner.end; i++) {
        char c = url[i];
        const bool at_start = to == node || to[-1] == '/';
        if (c == '/' && (at_start || i + 1 == inner.end))
            continue; /* one slash between names */
        if (encoded && c == '%' && i + 2 < inner.end) {
            const int high = digit(url[i + 1]), low = digit(url[i + 2]);
            if (high >= 0 && low >= 0 && high + low > 0) {
                c = (char)(high * 16 + low);
                i += 2;
            }
        }
        *to++ = c;
    }
    *to = '\0';
    return node;
}

enum zb_code zb_url_split(const char *url, char **root, char **node, zb_error *err) {
    part path = path_of(url);
    const size_t tail = path.end; /* the query, which goes with all keys, and the fragment */
    const size_t length = strlen(url);
    drop_document(url, &path);
    const size_t end = store_end(url, path), cut = end > 0 ? end : path.end;
    *root = malloc(cut + length - tail + 1);
    *node = node_path(url, (part){cut, path.end});
    if (!*root || !*node) {
        free(*root);
        free(*node);
        *root = *node = NULL;
        return zb_fail(err, ZB_ENOMEM, "no memory for a URL");
    }
    memcpy(*root, url, cut);
    memcpy(*root + cut, url + tail, length - tail + 1);
    return ZB_OK;
}

char *zb_name_without_secrets(const char *name) {
    if (!zb_name_is_url(name))
        return strdup(name);
    const part path = path_of(name);
    char *shown = strndup(name, path.end);
    char *host = shown ? strstr(shown, "://") : NULL;
    char *user = host ? memrchr(host, '@', path.start - (size_t)(host - shown)) : NULL;
    if (user) /* what stands before the host */
        memmove(host + 3, user + 1, strlen(user + 1) + 1);
    return shown;
}

static void cut_suffix(char *name) {
    char *dot = strrchr(name, '.');
    if (dot)
        *dot = '\0';
}

char *zb_name_of_root(const char *name) {
    char *path = zb_name_without_secrets(name);
    if (!path)
        return NULL;
    for (size_t end = strlen(path); end > 0 && path[end - 1] == '/'; end--)
        path[end - 1] = '\0';
    char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
    const part whole = {0, strlen(last)};
    if (ends_in(last, whole, ".zarr.zip"))
        cut_suffix(last);
    cut_suffix(last);
    char *root = strdup(*last && strcmp(last, ".") != 0 ? last : "data");
    free(path);
    return root;
}
