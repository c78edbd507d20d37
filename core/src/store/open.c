/* SPDX-License-Identifier: MIT */
/* Stores by their names. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/module.h"
#include "util/url.h"

bool zb_name_is_archive(const char *name, size_t length) {
    return length > 4 && name[length - 5] != '/' &&
           (strncasecmp(name + length - 4, ".zip", 4) == 0 ||
            strncasecmp(name + length - 4, ".ozx", 4) == 0);
}

/* Another program may stand in front of an archive. The end record is behind all else, but for a
   comment. */
static bool ends_as_zip(int file, off_t size) {
    enum { END = 22, LONGEST = END + UINT16_MAX };
    const size_t wanted = size < LONGEST ? (size_t)size : LONGEST;
    char *tail = malloc(wanted);
    const bool found = tail && pread(file, tail, wanted, size - (off_t)wanted) == (ssize_t)wanted &&
                       memmem(tail, wanted, "PK\5\6", 4) != NULL;
    free(tail);
    return found;
}

enum zb_code zb_path_may_write(const char *path, zb_error *err) {
    return zb_name_is_url(path) || faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0
               ? ZB_OK
               : zb_fail_errno(err, errno, "cannot open '%s' for writing", path);
}

bool zb_path_is_zip(const char *path) {
    unsigned char head[4];
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) /* special files are not touched */
        return false;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const bool read_all = file >= 0 && read(file, head, sizeof head) == (ssize_t)sizeof head;
    const bool begins =
        read_all && (memcmp(head, "PK\3\4", 4) == 0 || memcmp(head, "PK\5\6", 4) == 0);
    const bool ends = read_all && !begins && zb_name_is_archive(path, strlen(path)) &&
                      ends_as_zip(file, st.st_size);
    if (file >= 0)
        close(file);
    return begins || ends;
}

bool zb_path_becomes_zip(const char *path) {
    struct stat st;
    return zb_name_is_archive(path, strlen(path)) && (stat(path, &st) != 0 || !S_ISDIR(st.st_mode));
}

/* The archive is an object of the store that its directory is. */
static enum zb_code open_zip(const char *path, zb_store **out, zb_error *err) {
    zb_store *outer;
    char *full = realpath(path, NULL);
    if (!full)
        return zb_fail_errno(err, errno, "cannot open '%s'", path);
    char *slash = strrchr(full, '/');
    *slash = '\0';
    enum zb_code code = zb_store_open_fs(*full ? full : "/", &outer, err);
    if (!code) {
        code = zb_store_open_zip(outer, slash + 1, NULL, path, out, err);
        zb_store_release(outer);
    }
    free(full);
    return code;
}

/* ---- URLs ---- */

/* The end of a URL's path without slashes. */
static size_t end_of_path(const char *url) {
    size_t end = zb__url_path_end(url);
    while (end > 0 && url[end - 1] == '/')
        end--;
    return end;
}

/* An archive is below a host or a bucket. */
static bool names_zip(const char *url, size_t end) {
    const char *host = strstr(url, "://") + 3;
    return host < url + end && memchr(host, '/', (size_t)(url + end - host)) &&
           zb_name_is_archive(url, end);
}

/* The archive is an object of the folder that it is in. Query and options are the folder's. */
static enum zb_code open_zip_url(const char *url, size_t end, const zb_store_settings *settings,
                                 zb_store **out, zb_error *err) {
    zb_store *outer;
    char *folder = NULL, *name = NULL;
    const char *slash = memrchr(url, '/', end);
    if (asprintf(&folder, "%.*s%s", (int)(slash - url), url, url + end + strspn(url + end, "/")) <
            0 ||
        asprintf(&name, "%.*s", (int)(url + end - slash - 1), slash + 1) < 0) {
        free(folder);
        return zb_fail(err, ZB_ENOMEM, "no memory for a name");
    }
    enum zb_code code = zb__module_open(folder, settings, &outer, err);
    if (!code) {
        char *label = NULL;
        code = asprintf(&label, "%s/%s", outer->label, name) < 0
                   ? zb_fail(err, ZB_ENOMEM, "no memory for a name")
                   : zb_store_open_zip(outer, name, NULL, label, out, err);
        free(label);
        zb_store_release(outer);
    }
    free(folder);
    free(name);
    return code;
}

static enum zb_code open_url(const char *url, const zb_store_settings *settings, zb_store **out,
                             zb_error *err) {
    const size_t end = end_of_path(url);
    if (names_zip(url, end))
        return open_zip_url(url, end, settings, out, err);
    return zb__module_open(url, settings, out, err);
}

enum zb_code zb_store_open_with(const char *name, const zb_store_settings *settings, zb_store **out,
                                zb_error *err) {
    if (zb_name_is_url(name))
        return open_url(name, settings, out, err);
    /* Nearly all are directories: what a name leads to is looked at where it is none. */
    enum zb_code code = zb_store_open_fs(name, out, err);
    return code && zb_path_is_zip(name) ? open_zip(name, out, err) : code;
}
