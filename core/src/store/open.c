/* SPDX-License-Identifier: MIT */
/* Stores by their names. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "zarrbridge/store.h"

bool zb_path_is_zip(const char *path) {
    unsigned char head[4];
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) /* special files are not touched */
        return false;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const bool read_all = file >= 0 && read(file, head, sizeof head) == (ssize_t)sizeof head;
    if (file >= 0)
        close(file);
    return read_all && (memcmp(head, "PK\3\4", 4) == 0 || memcmp(head, "PK\5\6", 4) == 0);
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
        code = zb_store_open_zip(outer, slash + 1, path, out, err);
        zb_store_release(outer);
    }
    free(full);
    return code;
}

enum zb_code zb_store_open(const char *path, zb_store **out, zb_error *err) {
    return zb_path_is_zip(path) ? open_zip(path, out, err) : zb_store_open_fs(path, out, err);
}
